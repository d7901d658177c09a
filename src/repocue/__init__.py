"""RepoCue: a compact, current picture of a git repository for coding agents, and honest measurements of its worth."""

__version__ = "0.1.0"
