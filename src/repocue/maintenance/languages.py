"""Language names from file names alone, as the `identify` library gives them. No file is opened."""

from __future__ import annotations

import os

_KINDS = frozenset(
    ("binary", "directory", "executable", "file", "header", "image", "non-executable", "socket", "symlink", "text")
)
"""Words of the library that say what kind of file it is, not which language."""


class Languages:
    """Names languages, by the library's own rules.

    `library` is its name and version: another version may name files differently, so it is kept with what was named.
    """

    def __init__(self) -> None:
        from identify import extensions, identify

        self._tags = identify.tags_from_filename
        self._whole_names = frozenset(extensions.NAMES)
        self.library = library()

    def key(self, file_name: str) -> str:
        """What of a file's name decides its language: two names with one key have one language.

        That is the name itself where the library knows it or one of its parts as a whole (`Dockerfile.dev`), else
        its suffix, and "" for a name without one.
        """
        parts = file_name.split(".")
        if not self._whole_names.isdisjoint(parts) or file_name in self._whole_names:
            return file_name
        if parts[0]:
            return parts[-1] if len(parts) > 1 else ""
        # A name whose only dots are its first characters has no suffix, as os.path.splitext has it.
        return parts[-1] if any(parts[:-1]) else ""

    def name(self, file_name: str) -> str | None:
        """The language of a file with this name (without folders), or None where the library knows none.

        Where it gives several names (`c` and `c++` for `.h`), the shortest is taken, of equals the bytewise first.
        """
        tags = self._tags(file_name)
        if "binary" in tags or not tags:
            return None
        names = sorted(tags - _KINDS, key=lambda tag: (len(tag), tag))
        return names[0] if names else "text"


def library() -> str:
    """Name and version of the library, e.g. `identify 2.6.20`."""
    import identify

    # Its folder's neighbour says the version; asking importlib.metadata would cost as much as a small scan.
    folder = os.path.dirname(os.path.dirname(os.path.abspath(identify.__file__ or "")))
    found = [name for name in os.listdir(folder) if name.startswith("identify-") and name.endswith(".dist-info")]
    if len(found) == 1:
        return "identify " + found[0].removeprefix("identify-").removesuffix(".dist-info")
    from importlib.metadata import version

    return "identify " + version("identify")
