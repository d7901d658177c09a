"""Evaluations: prepare outside the checkout, run one external thing at a time, keep what happened, recompute."""
