"""Pairs of observed agent costs: their import, their statistics, and what they project. Pure arithmetic beside one importer."""
