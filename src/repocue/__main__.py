"""`python -m repocue` is the console script."""

from __future__ import annotations

from repocue.cli.main import main

if __name__ == "__main__":
    main()
