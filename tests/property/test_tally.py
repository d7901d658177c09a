"""Law of tallies: a tally adjusted by a delta is the tally counted anew, or says that it cannot be adjusted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.delta import diff
from repocue.domain.state import FileRow
from repocue.maintenance import summary
from repocue.maintenance.languages import Languages
from tests.property.strategies import snapshots
from tests.support.repos import corpus


@given(snapshots(), snapshots(), st.sampled_from([1, 2, 200]))
def test_an_adjusted_tally_is_the_one_counted_anew(
    before: list[FileRow], after: list[FileRow], max_documents: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "MAX_DOCUMENTS", max_documents)
        expected = summary.count(after)
        adjusted = summary.adjust(summary.count(before), diff(before, after))
        if adjusted is None:
            # Allowed only where a document waits for the place of one that went.
            assert summary.count(before).documents_total > max_documents
        else:
            assert adjusted == expected
            assert list(adjusted.top_level.items()) == list(expected.top_level.items())
            assert list(adjusted.languages.items()) == list(expected.languages.items())
            assert list(adjusted.depth_two.items()) == list(expected.depth_two.items())


@pytest.mark.parametrize("name", ["click", "datasette", "ansible", "test262"])
def test_names_that_share_a_key_share_the_language_that_the_library_gives_the_name_itself(name: str) -> None:
    languages = Languages()
    by_key: dict[str, str | None] = {}
    names = {path.rpartition("/")[2] for _, _, path in corpus(name)}
    for file_name in sorted(names):
        key = languages.key(file_name)
        if key not in by_key:
            by_key[key] = languages.name(file_name)
        assert by_key[key] == languages.name(file_name), file_name


@given(
    st.text(alphabet="aM.Rkefil", min_size=1, max_size=12),
    st.sampled_from(["", ".py", "Makefile", "README", ".bashrc"]),
)
def test_a_key_decides_the_language_of_odd_names_too(start: str, end: str) -> None:
    languages = Languages()
    name = start + end
    key = languages.key(name)
    if key != name:
        assert languages.name(name) == languages.name("x." + key if key else "x")
