"""Pairs of observed agent costs: their import, their statistics, and what they project."""
