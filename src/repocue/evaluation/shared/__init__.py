"""What all evaluations share: isolation from the checkout, durable files, manifests, attempts, publishing."""
