"""Write docs/contracts/ anew, or with --check say which of its pages are stale or left over."""

from __future__ import annotations

import os
import sys

from repocue.contracts import pages

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = "docs/contracts"


def differences() -> dict[str, str | None]:
    """Path to the text it must have; None for a page that no contract has any more."""
    wanted = pages.pages()
    found: dict[str, str | None] = {}
    folder = os.path.join(ROOT, FOLDER)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if f"{FOLDER}/{name}" not in wanted:
            found[f"{FOLDER}/{name}"] = None
    for path, text in wanted.items():
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8", newline="\n") as file:
                if file.read() == text:
                    continue
        except FileNotFoundError:
            pass
        found[path] = text
    return found


def main(arguments: list[str]) -> int:
    """Bring the pages up to date, or only compare them; returns the exit code."""
    different = differences()
    if arguments == ["--check"]:
        if different:
            print(f"stale: {', '.join(different)}; run `make docs` and commit what it writes", file=sys.stderr)
        return 1 if different else 0
    os.makedirs(os.path.join(ROOT, FOLDER), exist_ok=True)
    for path, text in different.items():
        if text is None:
            os.remove(os.path.join(ROOT, path))
            continue
        with open(os.path.join(ROOT, path), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    print(f"contract pages: {len(different)} written" if different else "contract pages: up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
