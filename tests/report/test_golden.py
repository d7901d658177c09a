"""Whole reports, kept: every member and every number.

Written anew only with REPOCUE_REMAKE_GOLDEN=report in the environment; then the difference is read before it is
committed. Figures that follow from others are worked out by hand in test_figures.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repocue.contracts import canonical
from tests.report import made

FOLDER = Path(__file__).parent.parent / "golden" / "report"
REMAKE = os.environ.get("REPOCUE_REMAKE_GOLDEN") == "report"


@pytest.mark.parametrize("name", made.ALL)
def test_a_report_is_what_was_kept(name: str) -> None:
    text = canonical.document(made.ALL[name](), indent=True)
    path = FOLDER / f"{name}.json"
    if REMAKE:
        path.write_bytes(text)
    assert path.read_bytes() == text
