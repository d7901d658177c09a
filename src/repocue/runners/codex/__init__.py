"""The Codex CLI adapter: its events, its usage, its command line, and the runner `repocue-codex-runner`."""
