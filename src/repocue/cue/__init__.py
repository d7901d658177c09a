"""Token-budgeted JSON projections of a snapshot, and the one engine that fits them to a budget."""
