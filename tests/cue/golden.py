"""Golden cues: exact bytes under tests/golden/cue, remade only with REPOCUE_REMAKE_GOLDEN=1."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "cue")


def check(name: str, document: bytes) -> None:
    """Fail unless `document` is the golden one of that name; with the switch set, write it instead."""
    path = os.path.join(FOLDER, f"{name}.json")
    if os.environ.get("REPOCUE_REMAKE_GOLDEN") == "1":
        os.makedirs(FOLDER, exist_ok=True)
        with open(path, "wb") as file:
            file.write(document)
        return
    with open(path, "rb") as file:
        assert document == file.read(), f"{name} is not its golden document; REPOCUE_REMAKE_GOLDEN=1 would remake it"
