"""The packaged structural oracle, against Python's own parser and against Bash itself."""
