"""What is counted of a snapshot: expected values are written out by hand for a small tree with odd names."""

from __future__ import annotations

import os
from importlib.metadata import version

from repocue.domain.state import FileRow
from repocue.maintenance import summary
from repocue.maintenance.documents import rank


def row(path: str, size: int | None = 10, mode: str | None = "100644") -> FileRow:
    return FileRow(path, "100644", "1" * 40, (), mode, "1" * 40 if mode else None, size if mode else None, "..")


ROWS = [
    row("README.md", 100),
    row("src/app/main.py", 300),
    row("src/app/run", 5, "100755"),
    row("src/lib.py", 50),
    row("src/gone.py", mode=None),
    row("docs/README.rst", 40),
    row("docs/guide/intro.md", 60),
    row("link.md", 9, "120000"),
    row("vendor/sub", 0, "160000"),
    row('"d\\377/a.py"', 7),
    row('"\\"q/x"', 1),
    row("image.png", 1000),
    row("Makefile", 20),
    row("unknown.zzz", None),
]


def test_files_bytes_languages_and_directories_are_those_of_the_present_files() -> None:
    found = summary.summarize(ROWS)
    assert found.tracked_files == 14
    assert found.present_files == 13
    assert found.size_bytes == 100 + 300 + 5 + 50 + 40 + 60 + 9 + 0 + 7 + 1 + 1000 + 20
    # Regular files alone have a language; most bytes first.
    assert found.languages == (
        ("python", 3, 357),
        ("markdown", 2, 160),
        ("rst", 1, 40),
        ("makefile", 1, 20),
    )
    # In the order of the raw bytes, not of the quoted texts: `"q/` first, `d\xff/` after `docs/`.
    assert found.top_level == (
        ('"\\"q/"', 1),
        ("Makefile", 1),
        ("README.md", 1),
        ("docs/", 2),
        ('"d\\377/"', 1),
        ("image.png", 1),
        ("link.md", 1),
        ("src/", 3),
        ("unknown.zzz", 1),
        ("vendor/", 1),
    )
    assert found.directories == (
        ('"\\"q"', "docs", '"d\\377"', "src", "vendor"),
        ("docs/guide", "src/app"),
    )
    assert found.depth_two_total == 2


def test_documents_are_ranked_root_files_then_nested_readmes_then_others() -> None:
    paths = [
        "a/b/README.md",
        "z/README",
        "docs/guide.md",
        "README.txt",
        "ARCHITECTURE.md",
        "AGENTS.md",
        "CHANGELOG",
        "CONTRIBUTING.md",
        "sub/CHANGELOG.md",
        "Readme.adoc",
        "readme.py",
        "notes.txt",
        "README.png",
    ]
    found = summary.summarize([row(path) for path in paths])
    assert found.documents == (
        # depth 0, bytewise
        "AGENTS.md",
        "ARCHITECTURE.md",
        "CHANGELOG",
        "README.txt",
        "Readme.adoc",
        # nested README files, by depth
        "z/README",
        "a/b/README.md",
        # the rest, by depth, then bytewise
        "CONTRIBUTING.md",
        "docs/guide.md",
        "sub/CHANGELOG.md",
    )
    assert found.documents_total == 10


def test_documents_are_cut_at_their_bound_and_counted_in_full() -> None:
    found = summary.summarize([row(f"docs/{number:04d}.md") for number in range(250)])
    assert found.documents == tuple(f"docs/{number:04d}.md" for number in range(200))
    assert found.documents_total == 250


def test_directories_of_depth_two_are_cut_at_their_bound_and_counted_in_full() -> None:
    found = summary.summarize([row(f"d/{number:04d}/x") for number in range(2100)])
    assert found.directories == (("d",), tuple(f"d/{number:04d}" for number in range(2000)))
    assert found.depth_two_total == 2100


def test_the_language_library_is_named_with_its_version() -> None:
    assert summary.summarize([]).language_library == "identify " + version("identify")


def test_names_that_are_not_utf8_are_ranked_by_their_bytes() -> None:
    assert rank('"\\377/README.md"') == (1, 1, b"\xff/README.md")
    assert os.fsencode("README.md") == rank("README.md")[2]
