"""Summary recomputes everything from frozen files, and marks exactly the step whose evidence cannot be used."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.domain.times import epoch_ms
from repocue.errors import ContractError, EvaluationError, EvidenceError, RepoCueError
from repocue.evaluation.cache.limits import DEFAULT_LIMITS
from repocue.evaluation.cache.summary import summarize
from repocue.evaluation.shared import manifest
from tests.cache import samples
from tests.cache.provider import Authority, Peer, Provider
from tests.cache.scene import SOURCES, Scene, answer
from tests.cache.test_run import STEPS, perform

Prepared = Callable[..., str]

WRITES = samples.usage(
    input_tokens=200,
    cache_creation_input_tokens=1000,
    cache_creation={"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 0},
)
READS = samples.usage(input_tokens=200, cache_read_input_tokens=1000)
USAGES = (samples.usage(), samples.usage(), WRITES, READS)
"""A cycle: 1200 ordinary tokens without the cache; with it 200, and 1000 written once and then read."""


def respond(peer: Peer, message: Mapping[str, Any], status: str = "200 OK") -> None:
    peer.read_request()
    peer.respond(samples.encoded(message), status=status)


def run_steps(
    scene: Scene, authority: Authority, folder: str, messages: Sequence[Mapping[str, Any] | None], **more: Any
) -> str:
    """Run as many steps as there are messages, each answered with its own; None answers with status 500."""
    with open(os.path.join(folder, "benchmark.json"), "rb") as file:
        names = [step["id"] for step in json.load(file)["steps"]]
    for name, message in zip(names, messages, strict=False):

        def script(peer: Peer, message: Mapping[str, Any] | None = message) -> None:
            if message is None:
                respond(peer, {"type": "error"}, status="500 No")
            else:
                respond(peer, message)

        with Provider(authority.server(), script) as provider:
            perform(scene, authority, folder, provider.url(), step=name, **more)
        assert not provider.failures
    return folder


def message(usage: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    text = changes.pop("text", json.dumps(answer()))
    return samples.message(text, **({} if usage is None else {"usage": dict(usage)}), **changes)


@pytest.fixture(scope="session")
def ran_once(
    shared_scene: Scene, authority: Authority, prepare_once: Prepared, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., str]:
    """A folder whose four steps ran with `USAGES` and the right answer."""
    made: dict[str, str] = {}

    def ran(**changes: Any) -> str:
        key = repr(sorted(changes.items()))
        if key not in made:
            folder = shutil.copytree(prepare_once(**changes), tmp_path_factory.mktemp("ran") / "folder")
            made[key] = run_steps(shared_scene, authority, str(folder), [message(usage) for usage in USAGES])
        return made[key]

    return ran


@pytest.fixture
def ran(ran_once: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """A copy of it, for one test to spoil."""
    return lambda **changes: shutil.copytree(ran_once(**changes), tmp_path / "ran")


def step(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in document["steps"] if step["id"] == name)
    return found


def names_of(reasons: Sequence[str]) -> list[str]:
    return [reason.partition(":")[0] for reason in reasons]


def bundle(document: Mapping[str, Any], path: Path, **changes: Any) -> str:
    """An assessment of every answer in the summary, as compliant; `changes` go into every entry."""
    entries = [
        {"step": entry["id"], **entry["binding"]}
        | {"correctness": None, "compliance": "compliant", "evidence": ["It answers what was asked."]}
        | changes
        for entry in document["steps"]
        if entry["binding"] is not None
    ]
    path.write_bytes(
        samples.encoded(
            {
                "schema_version": "repocue/cache-evaluation-1",
                "kind": "assessment-bundle",
                "assessor": "someone else",
                "assessed_at": None,
                "entries": entries,
            }
        )
    )
    return str(path)


# --- one whole cycle, by hand


def test_a_cycle_worked_by_hand_with_independent_assessments_shows_savings(
    ran_once: Callable[..., str], tmp_path: Path
) -> None:
    """Rates are 2, 2.50, 4, 0.10 and 10 USD per million.

    Without: 1200 * 2 + 150 * 10 = 3900 millionths, twice. With: 200 * 2 + 1000 * 2.50 + 1500 = 4400, then
    200 * 2 + 1000 * 0.10 + 1500 = 2000. The cycle saves 7800 - 6400 = 1400.
    """
    first = summarize(ran_once())
    assert first["verdict"]["status"] == "not-established"
    assert names_of(first["verdict"]["reasons"]) == ["compliance-unknown"]
    document = summarize(ran_once(), assessment_file=bundle(first, tmp_path / "bundle.json"))
    reader.check(document, contract="repocue/cache-evaluation-1", kind="summary")
    assert [entry["usd"] for entry in document["steps"]] == ["0.0039", "0.0039", "0.0044", "0.002"]
    assert document["pairs"] == [
        {
            "cycle": 1,
            "complete": True,
            "baseline_usd": "0.0078",
            "cache_usd": "0.0064",
            "difference_usd": "0.0014",
            "initial_request_usd": "0.0044",
            "subsequent_requests_usd": "0.002",
            "observed_reuse_count": 1,
            "quality": {"delivery": True, "correctness": True, "compliance": True},
        }
    ]
    assert document["inventory"] == {"known_usd": "0.0142", "complete_usd": "0.0142"}
    assert document["verdict"] == {
        "status": "savings",
        "reasons": ["median-difference-usd: 0.0014 over 1 complete cycles"],
    }
    assert document["not_observed"] == [
        "account billing",
        "CPU",
        "memory",
        "filesystem I/O",
        "task-ready latency",
        "time to first token",
    ]


def test_every_step_shows_status_usage_and_the_latest_access_before_it(ran_once: Callable[..., str]) -> None:
    document = summarize(ran_once())
    assert [entry["status"] for entry in document["steps"]] == ["complete"] * 4
    assert step(document, "cache-a")["usage"] == {
        "input_tokens": 200,
        "cache_creation_input_tokens": 1000,
        "ephemeral_5m_input_tokens": 1000,
        "ephemeral_1h_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 150,
        "thinking_tokens": 0,
    }
    assert [entry["last_access"] for entry in document["steps"][:3]] == [None, None, None]
    seen = []
    for name in ("cache-a", "cache-b"):
        with open(os.path.join(ran_once(), "attempts", name, "observation.json"), "rb") as file:
            observation = json.load(file)
        seen.append(observation["http_started_at"])
        assert step(document, name)["duration_ms"] == observation["duration_ms"]
    assert step(document, "cache-b")["last_access"] == {
        "step": "cache-a",
        "http_started_at": seen[0],
        "gap_ms": epoch_ms(seen[1]) - epoch_ms(seen[0]),
    }


def test_an_answered_loopback_endpoint_is_said_not_to_be_the_provider(ran_once: Callable[..., str]) -> None:
    assert any(
        "loopback" in limitation and "cache-b" in limitation for limitation in summarize(ran_once())["limitations"]
    )


def test_the_summary_names_what_it_is_about(ran_once: Callable[..., str]) -> None:
    document = summarize(ran_once())
    with open(os.path.join(ran_once(), "benchmark.json"), "rb") as file:
        digest = samples.digest(file.read())
    assert document["benchmark"] == {
        "id": "sample",
        "sha256": digest,
        "model": "claude-sonnet-5-5",
        "api_version": "2023-06-01",
        "ttl": "5m",
        "required_pairs": 1,
        "rates_record": "sample-rates",
    }


def test_a_folder_where_nothing_ran_has_nothing_known(prepare_once: Prepared) -> None:
    document = summarize(prepare_once())
    assert {entry["status"] for entry in document["steps"]} == {"not-attempted"}
    assert {count for entry in document["steps"] for count in entry["usage"].values()} == {None}
    assert document["inventory"] == {"known_usd": None, "complete_usd": None}
    assert document["verdict"]["status"] == "not-established"


# --- usage and cost of one step


@pytest.fixture
def first_step(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> Callable[..., tuple[dict[str, Any], dict[str, Any]]]:
    """Run the first step of a benchmark against one answer; (the step, the whole summary)."""

    def first(
        given: Mapping[str, Any] | None, changes: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        folder = run_steps(shared_scene, authority, prepared(**(changes or {})), [given])
        document = summarize(folder)
        return document["steps"][0], document

    return first


First = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


def test_an_unknown_counter_stays_unknown_and_suppresses_cost_and_complete_total(first_step: First) -> None:
    found, document = first_step(message(samples.usage(cache_read_input_tokens=None)))
    assert found["usage"]["cache_read_input_tokens"] is None
    assert found["usage"]["cache_creation_input_tokens"] == 0
    assert (found["usd"], found["status"]) == (None, "complete")
    assert found["reasons"] == ["usage-incomplete: cache_read_input_tokens unknown"]
    assert document["inventory"] == {"known_usd": None, "complete_usd": None}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"model": "claude-sonnet-5-5-20261007"}, "model-mismatch"),
        ({"usage": samples.usage(service_tier="priority")}, "service-tier"),
        ({"usage": samples.usage(speed="fast")}, "speed"),
        ({"usage": samples.usage(inference_geo="us")}, "inference-geo"),
        ({"usage": samples.usage(server_tool_use={"web_search_requests": 2, "web_fetch_requests": 0})}, "server-tools"),
    ],
)
def test_what_the_rates_do_not_say_suppresses_the_cost_and_is_named(
    first_step: First, change: dict[str, Any], name: str
) -> None:
    found, document = first_step(message(**change))
    assert (found["usd"], names_of(found["reasons"])) == (None, [name])
    assert found["usage"]["input_tokens"] == 1200
    assert found["status"] == "complete"
    assert document["inventory"]["complete_usd"] is None


def test_absent_lifetimes_follow_the_one_lifetime_that_a_step_named(first_step: First) -> None:
    """A baseline step named none; the same numbers in a cache step are certain."""
    usage = samples.usage(cache_creation_input_tokens=30, cache_creation=None)
    found, _ = first_step(message(usage))
    assert (found["usage"]["ephemeral_5m_input_tokens"], found["usd"]) == (None, None)
    steps = [{"id": "probe-a", "arm": "probe", "cycle": None, "prompt": "a"}]
    found, _ = first_step(message(usage), {"steps": steps, "ttl": "1h"})
    assert (found["usage"]["ephemeral_5m_input_tokens"], found["usage"]["ephemeral_1h_input_tokens"]) == (0, 30)
    assert found["usd"] == str(Decimal(1200 * 2 + 30 * 4 + 150 * 10) / 1_000_000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"type":"message"',
        samples.encoded(message()).replace(b'"id":"msg_01"', b'"id":"msg_01","id":"msg_01"'),
        samples.encoded(message(samples.usage(input_tokens=-1))),
        samples.encoded(message(samples.usage(input_tokens=True))),
        samples.encoded(message(samples.usage(input_tokens="1200"))),
        samples.encoded(message(samples.usage(input_tokens=2**60))),
        samples.encoded(message()).replace(b'"input_tokens":1200', b'"input_tokens":1e3'),
        samples.encoded(message()).replace(b'"input_tokens":1200', b'"input_tokens":NaN'),
        samples.encoded(message(samples.usage(cache_creation_input_tokens=7))),
        samples.encoded(message()).replace(b'"msg_01"', b"[" * 40_000 + b"]" * 40_000),
    ],
    ids=lambda body: f"{body[:20]!r}-{len(body)}",
)
def test_a_response_that_cannot_be_used_fails_its_step_and_leaves_its_cost_unknown(
    shared_scene: Scene, authority: Authority, prepared: Prepared, body: bytes
) -> None:
    folder = prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.respond(body)

    with Provider(authority.server(), script) as provider:
        perform(shared_scene, authority, folder, provider.url())
    document = summarize(folder)
    found = document["steps"][0]
    assert (found["status"], found["usd"], names_of(found["reasons"])) == ("failed", None, ["response-unusable"])
    assert set(found["usage"].values()) == {None}
    assert found["binding"] is None


def test_without_rates_usage_is_shown_and_no_cost_known(first_step: First) -> None:
    found, document = first_step(message(), {"rates": None})
    assert (found["usage"]["input_tokens"], found["usd"]) == (1200, None)
    assert "rates-missing" in names_of(document["verdict"]["reasons"])


def test_an_error_answer_has_no_usage_and_suppresses_the_complete_total(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    document = summarize(run_steps(shared_scene, authority, prepared(), [message(), None]))
    found = document["steps"][1]
    assert (found["status"], found["usd"]) == ("failed", None)
    assert found["reasons"] == ["http-status: the provider answered with HTTP status 500"]
    assert document["inventory"] == {"known_usd": "0.0039", "complete_usd": None}


def test_an_attempt_that_never_began_http_adds_and_suppresses_nothing(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = run_steps(shared_scene, authority, prepared(), [message()])
    perform(shared_scene, authority, folder, "https://127.0.0.1:1/", step="baseline-b")
    perform(shared_scene, authority, folder, "https://127.0.0.1:1/", step="cache-a", key=lambda: None)
    document = summarize(folder)
    assert [entry["status"] for entry in document["steps"]] == ["complete", "failed", "failed", "not-attempted"]
    assert document["inventory"] == {"known_usd": "0.0039", "complete_usd": "0.0039"}
    assert document["pairs"][0]["complete"] is False
    assert document["pairs"][0]["quality"]["delivery"] is False


def test_a_state_that_changed_during_the_request_fails_the_step_and_keeps_its_cost(
    scene: Scene, authority: Authority
) -> None:
    folder = scene.prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        Path(scene.root, "new").write_text("x")
        peer.respond(samples.encoded(message()))

    with Provider(authority.server(), script) as provider:
        perform(scene, authority, folder, provider.url())
    found = summarize(folder)["steps"][0]
    assert (found["status"], found["usd"], names_of(found["reasons"])) == ("failed", "0.0039", ["basis-changed"])


# --- answers


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (
            message(content=[{"type": "thinking", "thinking": "…", "signature": "s"}, {"type": "text", "text": "{}"}]),
            ["answer-not-text-only"],
        ),
        (message(content=[]), ["answer-not-text-only"]),
        (message(stop_reason="max_tokens"), ["answer-not-ended"]),
        (message(stop_reason="refusal"), ["answer-not-ended"]),
        (message(text="not json"), ["answer-invalid"]),
        (message(text="```json\n{}\n```"), ["answer-invalid"]),
        (message(text=json.dumps(answer() | {"more": 1})), ["answer-invalid"]),
        (message(text=json.dumps(answer(schema_version="REPOCUE/CACHE-ANSWER-1"))), ["answer-invalid"]),
        (message(text=json.dumps(answer(benchmark_id="other"))), ["benchmark-id-differs"]),
        (message(text=json.dumps(answer() | {"items": answer()["items"][:1]})), ["items-missing"]),
        (
            message(text=json.dumps(answer() | {"items": [*answer()["items"], {"id": "more", "sources": []}]})),
            ["items-not-required"],
        ),
        (
            message(
                text=json.dumps(answer() | {"items": [answer()["items"][1], {"id": "main", "sources": SOURCES[1:2]}]})
            ),
            ["sources-missing"],
        ),
        (message(text=json.dumps(answer(claims=[{"text": "x", "sources": []}]))), ["claim-without-source"]),
        (message(text=json.dumps(answer(claims=[{"text": "x", "sources": ["no.py"]}]))), ["source-not-delivered"]),
    ],
)
def test_a_wrong_answer_fails_the_deterministic_check_while_usage_and_cost_stay(
    first_step: First, given: dict[str, Any], names: list[str]
) -> None:
    found, document = first_step(given)
    assert names_of(found["reasons"]) == names
    assert (found["status"], found["usd"], found["usage"]["output_tokens"]) == ("complete", "0.0039", 150)
    assert document["pairs"][0]["quality"]["correctness"] is False
    assert document["inventory"]["complete_usd"] == "0.0039"


EXPLANATION = {"task": samples.task("explanation"), "rubric": "Names the argument count."}


def test_an_explanation_is_judged_by_the_independent_assessment_alone(ran: Callable[..., str], tmp_path: Path) -> None:
    folder = ran(**EXPLANATION)
    first = summarize(folder)
    assert first["pairs"][0]["quality"] == {"delivery": True, "correctness": None, "compliance": None}
    assert step(first, "cache-a")["binding"]["rubric_sha256"] == samples.digest("Names the argument count.")
    for correctness, expected in (("correct", True), ("incorrect", False), (None, None)):
        path = bundle(first, tmp_path / f"{correctness}.json", correctness=correctness)
        assert summarize(folder, assessment_file=path)["pairs"][0]["quality"]["correctness"] is expected


def test_an_explanation_need_not_list_the_required_items_but_cites_only_what_was_delivered(first_step: First) -> None:
    given = answer() | {"items": []}
    assert first_step(message(text=json.dumps(given)), EXPLANATION)[0]["reasons"] == []


def test_an_assessment_cannot_make_a_failed_deterministic_check_good(
    shared_scene: Scene, authority: Authority, prepared: Prepared, tmp_path: Path
) -> None:
    wrong = message(text=json.dumps(answer() | {"items": []}))
    folder = run_steps(shared_scene, authority, prepared(), [wrong, message(), message(WRITES), message(READS)])
    path = bundle(summarize(folder), tmp_path / "bundle.json", correctness="correct")
    document = summarize(folder, assessment_file=path)
    assert document["pairs"][0]["quality"] == {"delivery": True, "correctness": False, "compliance": True}
    assert names_of(document["verdict"]["reasons"]) == ["correctness-failed"]


def test_a_non_compliant_answer_keeps_savings_from_being_established(
    ran_once: Callable[..., str], tmp_path: Path
) -> None:
    path = bundle(summarize(ran_once()), tmp_path / "bundle.json", compliance="non-compliant")
    assert names_of(summarize(ran_once(), assessment_file=path)["verdict"]["reasons"]) == ["compliance-failed"]


@pytest.mark.parametrize(
    "member",
    [
        "benchmark_sha256",
        "rubric_sha256",
        "request_sha256",
        "response_sha256",
        "answer_sha256",
        "source_ids",
        "state_fingerprint",
    ],
)
def test_an_assessment_bound_to_anything_else_is_rejected_with_the_member(
    ran_once: Callable[..., str], tmp_path: Path, member: str
) -> None:
    value: Any = SOURCES[:1] if member == "source_ids" else samples.digest("other")
    path = bundle(summarize(ran_once()), tmp_path / "bundle.json", **{member: value})
    document = summarize(ran_once(), assessment_file=path)
    assert step(document, "cache-a")["reasons"] == [f"assessment-rejected: it is bound to another {member}"]
    assert document["verdict"]["status"] == "not-established"


def test_the_model_that_answered_is_no_assessor(ran_once: Callable[..., str], tmp_path: Path) -> None:
    folder = ran_once()
    path = Path(bundle(summarize(folder), tmp_path / "assessments.json"))
    path.write_bytes(samples.encoded(json.loads(path.read_bytes()) | {"assessor": "Claude-Sonnet-5-5"}))
    with pytest.raises(EvaluationError, match="the model that answered"):
        summarize(folder, assessment_file=str(path))


def test_assessments_of_unknown_steps_and_of_no_answer_are_rejected_and_named(
    shared_scene: Scene, authority: Authority, prepared: Prepared, ran_once: Callable[..., str], tmp_path: Path
) -> None:
    path = Path(bundle(summarize(ran_once()), tmp_path / "bundle.json"))
    document = json.loads(path.read_bytes())
    document["entries"][0]["step"] = "no-such-step"
    path.write_bytes(samples.encoded(document))
    summary = summarize(ran_once(), assessment_file=str(path))
    assert any("no-such-step" in limitation for limitation in summary["limitations"])
    untouched = summarize(prepared(), assessment_file=str(path))
    assert names_of(step(untouched, "cache-a")["reasons"]) == ["assessment-rejected"]


def test_an_assessment_file_that_breaks_its_contract_or_bound_is_refused(
    ran_once: Callable[..., str], tmp_path: Path
) -> None:
    path = Path(bundle(summarize(ran_once()), tmp_path / "bundle.json"))
    data = path.read_bytes()
    size = len(data)
    summarize(ran_once(), assessment_file=str(path), limits=replace(DEFAULT_LIMITS, assessment_bytes=size))
    with pytest.raises(EvaluationError):
        summarize(ran_once(), assessment_file=str(path), limits=replace(DEFAULT_LIMITS, assessment_bytes=size - 1))
    document = json.loads(data)
    document["entries"].append(document["entries"][0])
    for broken in (data[:-2], samples.encoded(document), data.replace(b"compliant", b"fine"), b"{}"):
        path.write_bytes(broken)
        with pytest.raises(ContractError):
            summarize(ran_once(), assessment_file=str(path))


# --- evidence that cannot be used


def flips(data: bytes, source: random.Random, count: int) -> list[bytes]:
    """The data with one byte changed: the first, the last, and some between."""
    places = {0, len(data) - 1, *(source.randrange(len(data)) for _ in range(count))}
    return [
        data[:place] + bytes([data[place] ^ (1 << source.randrange(8))]) + data[place + 1 :] for place in sorted(places)
    ]


def files_below(folder: str) -> list[str]:
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def check_flips(folder: str, count: int) -> None:
    source = random.Random(11)
    intact = summarize(folder)
    for name in files_below(folder):
        path = Path(folder, name)
        data = path.read_bytes()
        for changed in flips(data, source, count):
            path.write_bytes(changed)
            if name.startswith("attempts/"):
                document = summarize(folder)
                spoiled = name.split("/")[1]
                for entry, before in zip(document["steps"], intact["steps"], strict=True):
                    if entry["id"] == spoiled:
                        assert entry["status"] == "incomplete"
                        assert name in entry["reasons"][0]
                        assert set(entry["usage"].values()) == {None}
                    else:
                        assert {key: entry[key] for key in entry if key != "last_access"} == {
                            key: before[key] for key in before if key != "last_access"
                        }
                assert document["inventory"]["complete_usd"] is None
            else:
                with pytest.raises(RepoCueError) as caught:
                    summarize(folder)
                assert name in caught.value.message
        path.write_bytes(data)
    assert summarize(folder) == intact


def test_a_flipped_byte_of_any_file_is_refused_or_marks_exactly_its_step(ran: Callable[..., str]) -> None:
    check_flips(ran(), 8)


@pytest.mark.deep
def test_many_flipped_bytes_of_every_file_are_refused_or_mark_exactly_their_step(ran: Callable[..., str]) -> None:
    check_flips(ran(), 400)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: os.unlink(folder / "cue.json"), "cue.json"),
        (lambda folder: (folder / "more.json").write_bytes(b"{}"), "more.json"),
        (lambda folder: (folder / "requests" / "more.json").write_bytes(b"{}"), "requests/more.json"),
        (lambda folder: os.unlink(folder / "manifest.json"), "manifest.json"),
        (lambda folder: os.truncate(folder / "requests" / "cache-a.json", 100), "requests/cache-a.json"),
    ],
)
def test_a_missing_added_or_cut_frozen_file_is_refused_by_name(
    ran: Callable[..., str], change: Callable[[Path], Any], named: str
) -> None:
    folder = ran()
    change(Path(folder))
    with pytest.raises(EvidenceError) as caught:
        summarize(folder)
    assert named in caught.value.message


def reseal(folder: str) -> None:
    """What a careful forger does: make the manifest agree again."""
    os.unlink(os.path.join(folder, "manifest.json"))
    manifest.write(folder, "manifest.json", {"schema_version": "repocue/manifest-1"}, leave_out=("attempts",))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("requests/cache-a.json", b'"ttl":"5m"', b'"ttl":"1h"'),
        ("requests/baseline-a.json", b"List the items.", b"List the itemz."),
        ("requests/cache-a.record.json", b'"arm":"cache"', b'"arm":"probe"'),
        ("benchmark.json", b'"2.50"', b'"2.51"'),
        ("cue.json", b'"snapshot-000001"', b'"snapshot-000002"'),
        ("answer-schema.json", b'"uncertainties"', b'"uncertaintiez"'),
        ("preparation.json", b'"reusable_identity":"sha256:', b'"reusable_identity":"sha256:0'),
        ("refresh.json", b"unchanged", b"published"),
    ],
)
def test_a_resealed_change_of_one_part_no_longer_makes_the_other_parts(
    ran: Callable[..., str], name: str, old: bytes, new: bytes
) -> None:
    folder = ran()
    path = Path(folder, name)
    data = path.read_bytes()
    assert old in data
    changed = data.replace(old, new)
    path.write_bytes(changed[: len(data)] if name == "preparation.json" else changed)
    if name == "preparation.json":
        document = json.loads(data)
        document["reusable_identity"] = samples.digest("other")
        path.write_bytes(samples.encoded(document))
    reseal(folder)
    with pytest.raises(RepoCueError):
        summarize(folder)


NOTHING_SENT = dict.fromkeys(
    ("http_started_at", "http_finished_at", "duration_ms", "status", "request_id", "response", "basis_after")
) | {"request_bytes_written": 0, "request_complete": False}
"""An attempt that stopped before its request, beside the response of the one that did not."""


def reseal_attempt(folder: str, step_id: str) -> None:
    where = os.path.join(folder, "attempts", step_id)
    os.unlink(os.path.join(where, "attempt.json"))
    manifest.write(where, "attempt.json", {"schema_version": "repocue/manifest-1"})


@pytest.mark.parametrize(
    "change",
    [
        {"step": "cache-a"},
        {"started_at": "2026-11-30T00:00:00.000Z"},
        {"http_started_at": None},
        {"duration_ms": 999_999},
        {"request_complete": False},
        {"status": 500},
        {"basis_after": None},
        {"reason": "it failed"},
        {"outcome": "http-status"},
        {"response": None},
        {"response": {"file": "journal.json", "bytes": 1, "sha256": samples.digest("x"), "withheld": False}},
        {"response": {"file": "response.body", "bytes": 1, "sha256": samples.digest("x"), "withheld": False}},
        {"request_bytes_written": -1},
        {"request_bytes_written": 1},
        {"outcome": "connect-failed", "reason": "nobody listens"},
        {"basis_after": {"repository_digest": samples.digest("other")}},
        NOTHING_SENT | {"outcome": "key-missing", "reason": "no key"},
        {"more": 1},
    ],
    ids=repr,
)
def test_a_resealed_observation_that_contradicts_itself_marks_its_step(
    ran: Callable[..., str], change: dict[str, Any]
) -> None:
    folder = ran()
    path = Path(folder, "attempts", "baseline-b", "observation.json")
    seen = json.loads(path.read_bytes())
    if change.get("basis_after"):  # all but one digest as they were
        change = {
            "basis_after": seen["basis_after"] | {"repository_digest": change["basis_after"]["repository_digest"]}
        }
    path.write_bytes(samples.encoded(seen | change))
    reseal_attempt(folder, "baseline-b")
    document = summarize(folder)
    assert [entry["status"] for entry in document["steps"]] == ["complete", "incomplete", "complete", "complete"]
    assert names_of(document["steps"][1]["reasons"]) == ["evidence-contradicts"]
    assert document["inventory"] == {"known_usd": "0.0103", "complete_usd": None}


@pytest.mark.parametrize(
    "place",
    [
        ("basis", "status_digest"),
        ("basis", "repository_digest"),
        ("repository", "id"),
        ("processes", "cue", "stdout_bytes"),
        ("processes", "refresh", "estimated_tokens"),
    ],
    ids=repr,
)
def test_a_resealed_preparation_must_speak_of_what_was_kept(prepared: Prepared, place: tuple[str, ...]) -> None:
    folder = prepared()
    path = Path(folder, "preparation.json")
    document = json.loads(path.read_bytes())
    *folders, name = place
    part = document
    for member in folders:
        part = part[member]
    part[name] = part[name] + 1 if isinstance(part[name], int) else part[name][:-24] + "0" * 24
    path.write_bytes(samples.encoded(document))
    reseal(folder)
    with pytest.raises(EvidenceError, match=r"preparation\.json"):
        summarize(folder)


def reseal_journal(folder: str, step_id: str, change: Mapping[str, Any]) -> None:
    path = Path(folder, "attempts", step_id, "journal.json")
    journal = json.loads(path.read_bytes()) | change
    del journal["self_sha256"]
    path.write_bytes(manifest.sealed(journal))
    reseal_attempt(folder, step_id)


@pytest.mark.parametrize(
    "change",
    [
        {"loopback": False},
        {"endpoint": "https://api.anthropic.com/v1/messages"},
        {"endpoint": "https://elsewhere.example/v1/messages", "loopback": False},
        {"more": 1},
    ],
    ids=repr,
)
def test_a_resealed_journal_that_contradicts_itself_marks_its_step(
    ran: Callable[..., str], change: dict[str, Any]
) -> None:
    folder = ran()
    reseal_journal(folder, "baseline-b", change)
    found = step(summarize(folder), "baseline-b")
    assert (found["status"], names_of(found["reasons"])) == ("incomplete", ["evidence-contradicts"])


def test_no_savings_are_seen_between_a_fixture_and_the_provider(ran: Callable[..., str], tmp_path: Path) -> None:
    folder = ran()
    for name in ("baseline-a", "baseline-b"):
        change = {"endpoint": "https://api.anthropic.com/v1/messages", "loopback": False}
        reseal_journal(folder, name, change)
    path = bundle(summarize(folder), tmp_path / "assessments.json")
    verdict = summarize(folder, assessment_file=path)["verdict"]
    assert (verdict["status"], names_of(verdict["reasons"])) == ("not-established", ["endpoints-mixed"])


def test_a_clock_that_was_set_back_between_steps_leaves_no_gap_to_tell(ran: Callable[..., str]) -> None:
    folder = ran()
    path = Path(folder, "attempts", "cache-b", "observation.json")
    seen = json.loads(path.read_bytes())
    names = ("started_at", "finished_at", "http_started_at", "http_finished_at")
    path.write_bytes(samples.encoded(seen | {name: "2001" + seen[name][4:] for name in names}))
    reseal_journal(folder, "cache-b", {"started_at": "2001" + seen["started_at"][4:]})
    found = step(summarize(folder), "cache-b")
    assert (found["status"], found["usd"], found["last_access"]) == ("complete", "0.002", None)
    assert names_of(found["reasons"]) == ["clock-stepped"]
    assert "cache-a" in found["reasons"][0]


@pytest.mark.parametrize("how", ["gone", "link", "file"])
def test_a_folder_whose_attempts_cannot_be_told_is_refused(ran: Callable[..., str], tmp_path: Path, how: str) -> None:
    folder = ran()
    attempts = os.path.join(folder, "attempts")
    os.rename(attempts, tmp_path / "moved")
    if how == "link":
        os.symlink(tmp_path / "moved", attempts)
    elif how == "file":
        Path(attempts).write_bytes(b"")
    with pytest.raises(EvidenceError, match="attempts"):
        summarize(folder)


def test_an_attempt_exchanged_for_another_steps_is_noticed(ran: Callable[..., str]) -> None:
    folder = ran()
    attempts = Path(folder, "attempts")
    shutil.rmtree(attempts / "cache-b")
    shutil.copytree(attempts / "cache-a", attempts / "cache-b")
    found = step(summarize(folder), "cache-b")
    assert (found["status"], names_of(found["reasons"])) == ("incomplete", ["evidence-contradicts"])


def test_unfinished_and_missing_attempts_are_visible_and_suppress_the_complete_total(ran: Callable[..., str]) -> None:
    folder = ran()
    os.unlink(os.path.join(folder, "attempts", "cache-b", "attempt.json"))
    shutil.rmtree(os.path.join(folder, "attempts", "baseline-b"))
    document = summarize(folder)
    assert [(entry["status"], names_of(entry["reasons"])) for entry in document["steps"]] == [
        ("complete", []),
        ("incomplete", ["attempt-missing"]),
        ("complete", []),
        ("incomplete", ["attempt-incomplete"]),
    ]
    assert document["inventory"] == {"known_usd": "0.0083", "complete_usd": None}


def test_what_stands_among_the_attempts_and_belongs_to_no_step_is_named(ran: Callable[..., str]) -> None:
    folder = ran()
    Path(folder, "attempts", "notes.txt").write_bytes(b"")
    document = summarize(folder)
    assert any("notes.txt" in limitation for limitation in document["limitations"])
    assert document["inventory"] == {"known_usd": "0.0142", "complete_usd": "0.0142"}


def test_a_folder_among_the_attempts_may_be_one_of_unknown_cost(ran: Callable[..., str]) -> None:
    folder = ran()
    os.rename(os.path.join(folder, "attempts", "cache-b"), os.path.join(folder, "attempts", "stranger"))
    document = summarize(folder)
    assert any("stranger" in limitation for limitation in document["limitations"])
    assert document["inventory"] == {"known_usd": "0.0122", "complete_usd": None}


def test_reasons_show_a_providers_words_short_and_harmless(first_step: First) -> None:
    content = [{"type": f"\x1b{number}" * 999} for number in range(999)]
    for told in (message(stop_reason="\x1b[2J" * 9999), message() | {"content": content}):
        reasons = first_step(told)[0]["reasons"]
        assert reasons
        assert all(len(reason) < 9000 and reason.isprintable() for reason in reasons), reasons


@pytest.mark.parametrize("place", ["missing", "file", "empty"])
def test_what_is_no_prepared_folder_is_one_clear_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RepoCueError):
        summarize(str(tmp_path / place))


# --- nothing but reading


WATCHED = """
import json, os, sys
forbidden = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.", "os.mkdir", "os.rename",
             "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime", "os.putenv")
seen = []
def watch(event, arguments):
    if event.startswith(forbidden):
        seen.append(event)
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(f"open for writing {arguments[0]!r}")
sys.dont_write_bytecode = True
sys.argv = ["repocue", "evaluate-cache", "summary", "--input-directory", sys.argv[1]]
from repocue.cli.app import run
sys.addaudithook(watch)
code = run(sys.argv[1:])
print(json.dumps({"code": code, "seen": seen, "key": "ANTHROPIC_API_KEY" in os.environ,
                  "loaded": sorted({"h11", "ssl", "socket", "subprocess", "repocue.git.process"} & set(sys.modules))}),
      file=sys.stderr)
"""


def test_summary_starts_sends_and_writes_nothing(ran_once: Callable[..., str], shared_scene: Scene) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, ran_once()], env=shared_scene.env, capture_output=True, timeout=60
    )
    report = json.loads(done.stderr.splitlines()[-1])
    assert report["code"] == 0
    assert report["seen"] == []
    assert not {"h11", "ssl", "repocue.git.process"} & set(report["loaded"])
    assert json.loads(done.stdout)["kind"] == "summary"


def test_summary_works_on_a_read_only_copy_without_the_repository(
    ran: Callable[..., str], shared_scene: Scene, tmp_path: Path
) -> None:
    folder = ran()
    for at, _, names in os.walk(folder):
        for name in names:
            os.chmod(os.path.join(at, name), 0o400)
        os.chmod(at, 0o500)
    try:
        environment = {"PATH": "/nonexistent", "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", "repocue", "evaluate-cache", "summary", "--input-directory", folder],
            env=environment,
            cwd="/",
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
    finally:
        for at, _, _ in os.walk(folder):
            os.chmod(at, 0o700)


def test_the_same_files_give_the_same_bytes(ran_once: Callable[..., str], shared_scene: Scene) -> None:
    first, second = (shared_scene.summary(ran_once()) for _ in range(2))
    assert first.stdout == second.stdout
    assert first.document == summarize(ran_once())


# --- text


def test_text_has_one_table_of_steps_and_one_of_pairs(
    ran_once: Callable[..., str], shared_scene: Scene, tmp_path: Path
) -> None:
    path = bundle(summarize(ran_once()), tmp_path / "bundle.json")
    text = shared_scene.summary(ran_once(), "--assessment-file", path, "--format", "text").stdout.decode()
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[3:7]] == STEPS
    assert "0.0039" in lines[3]
    assert "after cache-a, within" in lines[6]
    header = next(place for place, line in enumerate(lines) if line.startswith("cycle"))
    assert lines[header + 1].split() == ["1", "yes", "0.0078", "0.0064", "0.0014", "0.0044", "0.002", "1"] + ["yes"] * 3
    assert "Known cost 0.0142 USD; complete cost 0.0142 USD" in lines
    assert "Verdict: savings" in lines
    assert any(line.startswith("Not observed: account billing, CPU, memory") for line in lines)


def test_text_obeys_no_control_characters_from_outside(first_step: First) -> None:
    from repocue.cli.evaluate_cache_text import summary

    found, document = first_step(message(model="\x1b[31mred\u202e"))
    assert names_of(found["reasons"]) == ["model-mismatch"]
    text = summary(document)
    assert "\x1b" not in text
    assert "\u202e" not in text
