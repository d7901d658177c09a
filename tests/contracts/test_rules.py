"""Rules that look beyond one document: what was asked for, one runner for a set, five reports as one set."""

from __future__ import annotations

from typing import Any

import pytest

from repocue.contracts import canonical
from repocue.contracts.rules import runner
from repocue.contracts.rules.evaluation import legacy_identity_problems
from repocue.contracts.rules.report_set import check_report_set, report_set_problems
from repocue.errors import ContractError
from tests.contracts import documents
from tests.contracts.documents import CONDITIONS, HEAD, SNAPSHOT, text_of

ASKED = runner.Expected(condition="basic", run_index=1, head=HEAD, snapshot=SNAPSHOT)


def test_the_observation_that_was_asked_for_is_read() -> None:
    document = documents.observation(4)
    assert runner.read_observation(text_of(document), expected=ASKED) == document


@pytest.mark.parametrize(
    ("member", "value", "pointer", "words"),
    [
        ("condition", "ranked", "/condition", '"ranked" was asked for, not "basic"'),
        ("run_index", 2, "/run_index", "2 was asked for, not 1"),
        ("head", None, "/metadata/repository_head", f'"" was asked for, not "{HEAD}"'),
        ("snapshot", "snapshot-000003", "/metadata/repocue_snapshot", '"snapshot-000003" was asked for'),
    ],
)
def test_an_observation_of_something_else_is_refused(member: str, value: Any, pointer: str, words: str) -> None:
    asked = {"condition": "basic", "run_index": 1, "head": HEAD, "snapshot": SNAPSHOT, member: value}
    with pytest.raises(ContractError) as caught:
        runner.check_observation(documents.observation(4), expected=runner.Expected(**asked))
    assert (caught.value.code, caught.value.pointer) == ("contract.expectation", pointer)
    assert words in caught.value.message


def test_an_unborn_head_is_written_as_the_empty_text() -> None:
    document = documents.observation(4)
    document["metadata"]["repository_head"] = ""
    runner.check_observation(
        document, expected=runner.Expected(condition="basic", run_index=1, head=None, snapshot=SNAPSHOT)
    )


def test_a_new_execution_refuses_version_3_and_an_import_takes_both() -> None:
    old = documents.observation(3)
    runner.check_observation(old)
    runner.check_observation(documents.observation(4))
    with pytest.raises(ContractError, match=r"repocue/evaluation-runner-4 is wanted here, not repocue/evaluation-runn"):
        runner.check_observation(old, expected=ASKED)


@pytest.mark.parametrize("surplus", [b"{}", b"x", b'{"schema_version":"repocue/evaluation-runner-4"}'])
def test_surplus_output_after_the_one_value_is_refused(surplus: bytes) -> None:
    with pytest.raises(ContractError, match="the runner's output is not JSON: extra data at line 2, column 1"):
        runner.read_observation(text_of(documents.observation(4)) + surplus, expected=ASKED)


def test_counters_unknown_in_version_4_stay_unknown() -> None:
    document = documents.unknown_observation()
    runner.check_observation(document)
    assert document["metrics"]["total_tokens"] is None
    assert "input_tokens" not in document["metrics"]


def test_a_missing_subset_does_not_erase_a_complete_total() -> None:
    document = documents.observation(4)
    for event in document["usage_events"]:
        del event["cached_input_tokens"], event["reasoning_output_tokens"]
    for name in ("cached_input_tokens", "reasoning_output_tokens"):
        del document["metrics"][name]
        document["metrics"]["statuses"][name] = "not_observed"
    runner.check_observation(document)
    assert document["metrics"]["total_tokens"] == 2320


def test_explicit_zeros_are_observed_in_both_versions() -> None:
    for version in (3, 4):
        document = documents.observation(version)
        for event in document["usage_events"]:
            event.update(dict.fromkeys(documents.TOKEN_METRICS[:4], 0))
        document["metrics"].update(dict.fromkeys(documents.TOKEN_METRICS, 0))
        runner.check_observation(document)


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("a", "a"),
        ("./a", "a"),
        ("a//b", "a/b"),
        ("a/../b", "b"),
        ("a/.", "a"),
        ('"x/../\\377"', '"\\377"'),  # quoted as git quotes it
        ('"odd', '"\\"odd"'),  # begins with a quote and is not quoted
    ],
)
def test_paths_are_cleaned_to_one_spelling(path: str, clean: str) -> None:
    assert runner.cleaned(path) == clean


@pytest.mark.parametrize("path", ["..", "../a", "a/../../b", "/a", "//a", '"../\\377"', "a\0b"])
def test_files_outside_the_repository_are_refused_however_they_are_spelled(path: str) -> None:
    document = documents.observation(4)
    document["commands"][1]["files_read"] = [path]
    with pytest.raises(ContractError) as caught:
        runner.check_observation(document)
    assert caught.value.pointer == "/commands/1/files_read/0"


def observations() -> list[documents.Document]:
    return [documents.observation(4, condition) for condition in CONDITIONS]


def test_one_runner_for_all_conditions_passes() -> None:
    runner.check_same_runner(observations())
    runner.check_same_runner([])


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("model", "another", '"another" in condition ranked, "no-model" in direct'),
        ("adapter", "another", '"another" in condition ranked, "scripted" in direct'),
        ("adapter_version", "4", '"4" in condition ranked'),
        ("reasoning_effort", "high", '"high" in condition ranked'),
        ("sandbox", "none", '"none" in condition ranked'),
        ("cli_version", "0.0.2", '"0.0.2" in condition ranked'),
        ("service_tier", "fast", '"fast" in condition ranked, absent in direct'),
        ("repository_head", "", '"" in condition ranked'),
    ],
)
def test_metadata_that_drifts_between_conditions_is_named(member: str, value: str, words: str) -> None:
    five = observations()
    five[3]["metadata"][member] = value
    with pytest.raises(ContractError) as caught:
        runner.check_same_runner(five)
    assert caught.value.pointer == "/metadata/" + member
    assert words in caught.value.message


def test_a_member_that_only_one_condition_lacks_is_drift() -> None:
    five = observations()
    del five[1]["metadata"]["cli_version"]
    assert [problem.pointer for problem in runner.drift_problems(five)] == ["/metadata/cli_version"]


def reports(version: int = 4, *, with_runner: bool = True) -> list[documents.Document]:
    make = documents.report_4 if version == 4 else documents.report_3
    return [make(condition, runner=with_runner) for condition in CONDITIONS]


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("with_runner", [True, False])
def test_five_reports_of_one_state_are_a_set(version: int, with_runner: bool) -> None:
    check_report_set(reports(version, with_runner=with_runner), subject="the set")


def test_a_balanced_set_may_start_in_any_order() -> None:
    five = reports()
    for report, place in zip(five, (3, 4, 5, 1, 2), strict=True):
        report |= {"order_policy": "balanced", "condition_order": place}
    assert list(report_set_problems(five)) == []
    five[0]["condition_order"] = 4
    assert "the positions are [1, 2, 4, 4, 5]" in next(report_set_problems(five)).message


def _change(member: str, value: Any) -> Any:
    def change(five: list[documents.Document]) -> None:
        five[3][member] = value

    return change


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        (lambda five: five.pop(), "/structural-oracle", "missing"),
        (lambda five: five.append(five[0]), "/direct", "more than once"),
        (lambda five: five.__setitem__(3, documents.report_3("ranked")), "/ranked/schema_version", "not mixed"),
        (_change("maintenance_id", "other"), "/ranked/maintenance_id", "one prepared state"),
        (_change("repocue_snapshot", "snapshot-000009"), "/ranked/repocue_snapshot", "one snapshot"),
        (_change("run_index", 2), "/ranked/run_index", "one run"),
        (_change("order_policy", "balanced"), "/ranked/order_policy", "one order"),
        (lambda five: five[3]["repository"].update(tracked_files=0), "/ranked/repository", "one repository state"),
        (lambda five: five[3]["baseline"].update(git_commands=9), "/ranked/baseline", "one baseline"),
        (lambda five: five[3]["update"].update(git_commands=9), "/ranked/update", "one refresh"),
        (lambda five: five[3]["cue"].update(max_tokens=600), "/ranked/cue/max_tokens", "budgets are equal"),
        (lambda five: five[3].pop("runner"), "/ranked/runner", "five agent runs or none"),
        (lambda five: five[3]["runner"]["metadata"].update(model="x"), "/runner/metadata/model", '"x" in condition'),
    ],
)
def test_reports_that_are_no_set_are_refused(change: Any, pointer: str, words: str) -> None:
    five = reports()
    change(five)
    with pytest.raises(ContractError) as caught:
        check_report_set(five, subject="the set")
    assert caught.value.pointer == pointer
    assert words in caught.value.message


def test_no_report_at_all_names_every_condition() -> None:
    assert [problem.pointer for problem in report_set_problems([])] == ["/" + name for name in CONDITIONS]


def test_a_version_3_reports_identity_follows_from_its_own_members() -> None:
    report = documents.report_3()
    assert list(legacy_identity_problems(report)) == []
    report["repository"]["binary_diff_digest"] = documents.digest("edited")
    assert [problem.pointer for problem in legacy_identity_problems(report)] == ["/repository/state_fingerprint"]
    report = documents.report_3()
    report["repocue_snapshot"] = "snapshot-000003"
    assert [problem.pointer for problem in legacy_identity_problems(report)] == ["/maintenance_id"]


def test_checking_changes_nothing() -> None:
    document = documents.observation(4)
    before = canonical.compact(document)
    runner.check_observation(document)
    assert canonical.compact(document) == before
