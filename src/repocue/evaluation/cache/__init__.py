"""`evaluate-cache`: prompt-cache experiments with exact bytes, one request at a time (seed, "Explicit prompt-cache
evaluation")."""
