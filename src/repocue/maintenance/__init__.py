"""Keeping the picture: init, status, refresh, rebaseline and metrics, from git and the store and nothing else."""
