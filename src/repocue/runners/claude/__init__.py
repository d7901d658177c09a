"""The Claude Code adapter: its events, its usage, its command line, and the runner `repocue-claude-runner`."""
