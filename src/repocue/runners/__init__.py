"""Running an external agent once, and saying truthfully what was observed.

The runner protocol (environment in, one observation out), process supervision, the reading of agents' event streams and
command texts, and the adapters for Codex and Claude Code.
"""
