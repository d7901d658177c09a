"""Pure values and rules: no I/O, nothing from third parties, no name of an agent, model or tokenizer."""
