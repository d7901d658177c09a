"""A run reserves its attempt, checks sources and state, sends once and keeps everything; the key is kept nowhere."""

from __future__ import annotations

import base64
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from repocue.domain.times import epoch_ms
from repocue.errors import EvaluationError, EvidenceError, UsageError
from repocue.evaluation.cache import endpoint as endpoints
from repocue.evaluation.cache import run as runs
from repocue.evaluation.cache import tls
from repocue.evaluation.cache.limits import DEFAULT_LIMITS, SendLimits
from repocue.evaluation.shared import attempt
from tests.cache import samples
from tests.cache.provider import Authority, Peer, Provider
from tests.cache.scene import Result, Scene, answer
from tests.support.repos import git

KEY = "sk-ant-api03-Zq7uYw0pLmN4xVbC8dEfG2hJkR5sT1aQ9oIiUyXcWvB6nMzP3"
STEPS = ["baseline-a", "baseline-b", "cache-a", "cache-b"]

Prepared = Callable[..., str]


def good(peer: Peer) -> None:
    peer.read_request()
    peer.respond(samples.encoded(samples.message(json.dumps(answer()))), fields=b"request-id: req_011CX\r\n")


def perform(
    scene: Scene,
    authority: Authority,
    folder: str,
    url: str,
    *,
    step: str = "baseline-a",
    key: Callable[[], str | None] = lambda: KEY,
    **more: Any,
) -> dict[str, Any]:
    return runs.run(
        runs.Run(
            prepared_directory=folder,
            step=step,
            endpoint=endpoints.parse(url),
            context=tls.context(authority.file),
            key=key,
            environ=scene.env,
            version="0",
            **more,
        )
    )


def command(scene: Scene, authority: Authority, folder: str, url: str, step: str, **env: str) -> Result:
    return scene.repocue(
        "evaluate-cache",
        "run",
        "--input-directory",
        folder,
        "--step",
        step,
        "--endpoint",
        url,
        "--endpoint-ca",
        authority.file,
        env={"ANTHROPIC_API_KEY": KEY} | env,
    )


def state(folder: str, step: str = "baseline-a") -> str:
    return attempt.examine(
        os.path.join(folder, "attempts"),
        step,
        journal_version="repocue/cache-journal-1",
        attempt_version="repocue/manifest-1",
    ).state


def kept(folder: str, name: str, step: str = "baseline-a") -> bytes:
    with open(os.path.join(folder, "attempts", step, name), "rb") as file:
        return file.read()


def every_byte(folder: str) -> bytes:
    found = []
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                found.append(name.encode() + file.read())
    return b"".join(found)


# --- the good path


def test_the_frozen_bytes_are_sent_and_the_answer_is_kept_with_all_that_was_seen(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        seen = perform(shared_scene, authority, folder, provider.url())
    with open(os.path.join(folder, "requests", "baseline-a.json"), "rb") as file:
        assert provider.requests[0].partition(b"\r\n\r\n")[2] == file.read()
    assert b"\r\nx-api-key: " + KEY.encode() + b"\r\n" in provider.requests[0]
    assert reader.read_canonical(kept(folder, "observation.json"), contract="repocue/cache-observation-1") == seen
    body = samples.encoded(samples.message(json.dumps(answer())))
    assert kept(folder, "response.body") == body
    assert seen["response"] == {
        "file": "response.body",
        "bytes": len(body),
        "sha256": samples.digest(body),
        "withheld": False,
    }
    assert (seen["outcome"], seen["reason"], seen["status"], seen["request_id"]) == ("complete", None, 200, "req_011CX")
    assert (seen["request_bytes_written"], seen["request_complete"]) == (len(provider.requests[0]), True)
    times = [epoch_ms(seen[name]) for name in ("started_at", "http_started_at", "http_finished_at", "finished_at")]
    assert times == sorted(times)
    assert seen["duration_ms"] == times[2] - times[1]
    with open(os.path.join(folder, "preparation.json"), "rb") as file:
        frozen = json.load(file)["basis"]
    for name in ("basis_before", "basis_after"):
        assert seen[name]["state_fingerprint"] == frozen["state_fingerprint"]
    assert state(folder) == "complete"
    assert sorted(os.listdir(os.path.join(folder, "attempts", "baseline-a"))) == [
        "attempt.json",
        "journal.json",
        "observation.json",
        "response.body",
    ]


def test_the_journal_names_the_request_and_where_it_goes(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        perform(shared_scene, authority, folder, provider.url())
    journal = reader.read(kept(folder, "journal.json"), contract="repocue/cache-journal-1")
    with open(os.path.join(folder, "requests", "baseline-a.record.json"), "rb") as file:
        record = json.load(file)
    assert (journal["request_sha256"], journal["request_bytes"]) == (record["body_sha256"], record["body_bytes"])
    assert (journal["endpoint"], journal["loopback"]) == (provider.url(), True)
    reader.read(kept(folder, "attempt.json"), contract="repocue/manifest-1")


def test_the_command_prints_the_observation_and_ends_well(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        result = command(shared_scene, authority, folder, provider.url(), "baseline-a")
    assert (result.code, result.stderr) == (0, b"")
    assert result.stdout == kept(folder, "observation.json")


def test_an_attempt_that_is_not_complete_prints_its_observation_and_fails(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()

    def refuse(peer: Peer) -> None:
        peer.read_request()
        peer.respond(b'{"type":"error"}', status="529 Overloaded")

    with Provider(authority.server(), refuse) as provider:
        result = command(shared_scene, authority, folder, provider.url(), "baseline-a")
    assert (result.code, result.error["code"]) == (1, "evaluation.step-failed")
    assert result.stdout == kept(folder, "observation.json")
    assert (result.document["outcome"], result.document["status"]) == ("http-status", 529)
    assert len(provider.requests) == 1


# --- order, and once


def test_steps_run_in_their_frozen_order_each_once(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        for step in ("baseline-b", "cache-a", "cache-b"):
            with pytest.raises(EvaluationError) as caught:
                perform(shared_scene, authority, folder, provider.url(), step=step)
            assert caught.value.code == "evaluation.order"
        assert os.listdir(os.path.join(folder, "attempts")) == []
        for step in STEPS:
            assert perform(shared_scene, authority, folder, provider.url(), step=step)["outcome"] == "complete"
            with pytest.raises(EvaluationError) as caught:
                perform(shared_scene, authority, folder, provider.url(), step=step)
            assert caught.value.code == "evaluation.attempted"
        assert len(provider.requests) == 4


def test_a_step_follows_a_failed_one_and_an_unfinished_one(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        seen = perform(shared_scene, authority, folder, provider.url(), key=lambda: None)
        assert seen["outcome"] == "key-missing"
        os.mkdir(os.path.join(folder, "attempts", "baseline-b"))
        assert perform(shared_scene, authority, folder, provider.url(), step="cache-a")["outcome"] == "complete"
    assert len(provider.requests) == 1


def test_a_step_whose_evidence_was_taken_away_is_not_sent_again(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        for step in STEPS[:2]:
            perform(shared_scene, authority, folder, provider.url(), step=step)
        shutil.rmtree(os.path.join(folder, "attempts", "baseline-a"))
        with pytest.raises(EvaluationError, match="evidence of baseline-a is gone"):
            perform(shared_scene, authority, folder, provider.url())
        assert len(provider.requests) == 2


def test_two_runs_at_once_do_not_overlap(shared_scene: Scene, authority: Authority, prepared: Prepared) -> None:
    folder = prepared()
    release = threading.Event()

    def wait(peer: Peer) -> None:
        peer.read_request()
        release.wait(30)
        peer.respond(b"{}")

    with Provider(authority.server(), wait) as provider:
        first = threading.Thread(target=perform, args=(shared_scene, authority, folder, provider.url()))
        first.start()
        assert provider.received.wait(30)
        try:
            for step in STEPS[:2]:
                with pytest.raises(EvaluationError) as caught:
                    perform(shared_scene, authority, folder, provider.url(), step=step)
                assert caught.value.code == "evaluation.busy"
        finally:
            release.set()
            first.join()
    assert len(provider.requests) == 1
    assert os.listdir(os.path.join(folder, "attempts")) == ["baseline-a"]


# --- what fails before an attempt is reserved


def untouched(folder: str) -> bool:
    return os.listdir(os.path.join(folder, "attempts")) == []


def test_an_unknown_step_is_a_usage_error_and_reserves_nothing(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    for step in ("other", "", "../requests", "BASELINE-A"):
        with pytest.raises(UsageError):
            perform(shared_scene, authority, folder, "https://127.0.0.1:1/", step=step)
    assert untouched(folder)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--endpoint", "https://example.org/v1/messages"], "usage.endpoint"),
        (["--endpoint", "http://127.0.0.1/v1/messages"], "usage.endpoint"),
        (["--endpoint-ca", "ca.pem"], "usage.endpoint-ca"),
        (["--endpoint", "https://api.anthropic.com/v1/messages", "--endpoint-ca", "ca.pem"], "usage.endpoint-ca"),
        (["--endpoint", "https://127.0.0.1:1/", "--endpoint-ca", "missing.pem"], "usage.endpoint-ca"),
        (["-C", "."], "usage"),
    ],
)
def test_bad_arguments_fail_with_usage_before_anything_is_reserved(
    shared_scene: Scene, prepared: Prepared, arguments: list[str], code: str
) -> None:
    folder = prepared()
    result = shared_scene.repocue(
        "evaluate-cache", "run", "--input-directory", folder, "--step", "baseline-a", *arguments
    )
    assert (result.code, result.error["code"], result.stdout) == (2, code, b"")
    assert untouched(folder)


def test_an_altered_prepared_folder_is_refused_before_anything_is_reserved(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    path = Path(folder, "requests", "cache-b.json")
    path.write_bytes(path.read_bytes().replace(b"5m", b"1h"))
    with pytest.raises(EvidenceError, match=r"requests/cache-b\.json"):
        perform(shared_scene, authority, folder, "https://127.0.0.1:1/")
    assert untouched(folder)


def test_a_prepared_folder_moved_into_the_checkout_is_refused(scene: Scene, authority: Authority) -> None:
    folder = shutil.move(scene.prepared(), os.path.join(scene.root, "inside"))
    with pytest.raises(EvaluationError) as caught:
        perform(scene, authority, folder, "https://127.0.0.1:1/")
    assert caught.value.code == "evaluation.inside-checkout"
    assert untouched(folder)


# --- what fails in the attempt, before the key is asked for


def forbidden() -> str | None:
    raise AssertionError("the key was read before the local checks had passed")


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda root: Path(root, "README.md").write_text("other\n"), "basis-changed"),
        (lambda root: Path(root, "new").write_text("untracked\n"), "basis-changed"),
        (lambda root: git(root, "commit", "-q", "--allow-empty", "-m", "x"), "basis-changed"),
        (lambda root: git(root, "checkout", "-q", "-b", "other"), "basis-changed"),
        (lambda root: Path(root, ".git", "index").write_bytes(b"broken"), "basis-unreadable"),
    ],
)
def test_a_repository_in_another_state_is_the_attempts_outcome_and_the_key_is_not_read(
    scene: Scene, authority: Authority, change: Callable[[str], Any], outcome: str
) -> None:
    folder = scene.prepared()
    change(scene.root)
    with Provider(authority.server(), good) as provider:
        seen = perform(scene, authority, folder, provider.url(), key=forbidden)
    assert (seen["outcome"], provider.connections) == (outcome, 0)
    assert (seen["http_started_at"], seen["http_finished_at"], seen["duration_ms"]) == (None, None, None)
    assert (seen["basis_before"] is None) == (outcome == "basis-unreadable")
    assert state(folder) == "complete"


def test_a_source_whose_blob_is_gone_is_noticed_although_the_state_looks_the_same(
    scene: Scene, authority: Authority
) -> None:
    """The fingerprint knows a blob by its id; the bytes that HEAD gives are compared as well."""
    folder = scene.prepared()
    objects = os.path.join(scene.root, ".git", "objects")
    oid = git(scene.root, "rev-parse", "HEAD:README.md").decode().strip()
    for name in os.listdir(os.path.join(objects, "pack")):
        moved = shutil.move(os.path.join(objects, "pack", name), scene.folder / name)
        if name.endswith(".pack"):
            git(scene.root, "unpack-objects", "-q", stdin=Path(moved).read_bytes())
    os.unlink(os.path.join(objects, oid[:2], oid[2:]))
    with Provider(authority.server(), good) as provider:
        seen = perform(scene, authority, folder, provider.url(), key=forbidden)
    assert (seen["outcome"], provider.connections) == ("source-changed", 0)
    assert "README.md" in seen["reason"]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [(None, "key-missing"), ("", "key-missing"), ("two\nlines", "key-unusable"), ("ü", "key-unusable")],
)
def test_a_missing_or_unusable_key_is_the_attempts_outcome_and_nothing_is_sent(
    shared_scene: Scene, authority: Authority, prepared: Prepared, value: str | None, outcome: str
) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        seen = perform(shared_scene, authority, folder, provider.url(), key=lambda: value)
    assert (seen["outcome"], provider.connections, state(folder)) == (outcome, 0, "complete")


def test_a_key_that_stands_in_the_frozen_request_is_not_sent(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared(system=f"Never show {KEY} of the benchmark sample.")
    with Provider(authority.server(), good) as provider:
        seen = perform(shared_scene, authority, folder, provider.url())
    assert (seen["outcome"], provider.connections) == ("key-in-request", 0)


@pytest.mark.parametrize("key", ["sk'\"$%", "main", "k", "whatdoesthesampledo"])
def test_a_key_is_not_taken_for_words_of_the_request(
    shared_scene: Scene, authority: Authority, prepared: Prepared, key: str
) -> None:
    folder = prepared()

    def deny(peer: Peer) -> None:
        peer.read_request()
        peer.respond(b"{}", status="401 No")

    with Provider(authority.server(), deny) as provider:
        seen = perform(shared_scene, authority, folder, provider.url(), key=lambda: key)
    assert (seen["outcome"], seen["status"], len(provider.requests)) == ("http-status", 401, 1)


# --- what fails on the way


def test_an_answer_that_the_disk_has_no_room_for_leaves_a_visible_attempt_and_says_that_it_was_sent(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    arguments = ["--input-directory", folder, "--step", "baseline-a", "--endpoint-ca", authority.file]

    def flood(peer: Peer) -> None:
        peer.read_request()
        peer.respond(b"x" * 200_000)

    with Provider(authority.server(), flood) as provider:
        done = subprocess.run(
            [*shared_scene.exe, "evaluate-cache", "run", *arguments, "--endpoint", provider.url()],
            env=shared_scene.env | {"ANTHROPIC_API_KEY": KEY},
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        )
        error = json.loads(done.stderr)
        assert (done.returncode, done.stdout, error["code"]) == (1, b"", "evaluation.write-failed")
        assert "response.body" in error["message"]
        assert "was sent" in error["hint"]
        assert state(folder) == "incomplete"
        with pytest.raises(EvaluationError, match="attempted already"):
            perform(shared_scene, authority, folder, provider.url())
    assert len(provider.requests) == 1


def test_a_connection_that_fails_leaves_all_http_values_empty(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()
    seen = perform(shared_scene, authority, folder, "https://127.0.0.1:1/v1/messages")
    assert seen["outcome"] == "connect-failed"
    assert [seen[name] for name in ("http_started_at", "http_finished_at", "duration_ms", "status", "response")] == (
        [None] * 5
    )
    assert (seen["request_bytes_written"], seen["request_complete"]) == (0, False)
    assert seen["basis_after"] is not None


@pytest.mark.parametrize(
    ("status", "outcome"), [("302 Found", "redirect"), ("400 Bad", "http-status"), ("201 Made", "http-status")]
)
def test_another_status_than_200_is_not_complete_and_its_body_is_kept(
    shared_scene: Scene, authority: Authority, prepared: Prepared, status: str, outcome: str
) -> None:
    folder = prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.respond(b'{"type":"error"}', status=status, fields=b"location: https://127.0.0.1:1/\r\n")

    with Provider(authority.server(), script) as provider:
        seen = perform(shared_scene, authority, folder, provider.url())
    assert seen["outcome"] == outcome
    assert kept(folder, "response.body") == b'{"type":"error"}'
    assert (len(provider.requests), provider.connections) == (1, 1)


def test_a_repository_changed_while_the_provider_answers_is_noticed_and_the_answer_kept(
    scene: Scene, authority: Authority
) -> None:
    folder = scene.prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        Path(scene.root, "new").write_text("meanwhile")
        peer.respond(samples.encoded(samples.message()))

    with Provider(authority.server(), script) as provider:
        seen = perform(scene, authority, folder, provider.url())
    assert (seen["outcome"], seen["status"], seen["response"]["withheld"]) == ("basis-changed", 200, False)
    assert seen["basis_before"]["state_fingerprint"] != seen["basis_after"]["state_fingerprint"]


def test_a_truncated_answer_keeps_what_came(shared_scene: Scene, authority: Authority, prepared: Prepared) -> None:
    folder = prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")

    with Provider(authority.server(), script) as provider:
        seen = perform(shared_scene, authority, folder, provider.url())
    assert (seen["outcome"], seen["status"], seen["response"]["bytes"]) == ("response-truncated", 200, 1)
    assert kept(folder, "response.body") == b"{"


def test_the_bounds_of_sending_are_those_given(shared_scene: Scene, authority: Authority, prepared: Prepared) -> None:
    folder = prepared()
    size = len(samples.encoded(samples.message(json.dumps(answer()))))
    for step, limit, outcome in (("baseline-a", size, "complete"), ("baseline-b", size - 1, "response-too-large")):
        limits = replace(DEFAULT_LIMITS, send=SendLimits(response_body_bytes=limit))
        with Provider(authority.server(), good) as provider:
            seen = perform(shared_scene, authority, folder, provider.url(), step=step, limits=limits)
        assert (seen["outcome"], seen["response"]["bytes"]) == (outcome, min(size, limit))


# --- the key


DISGUISES = {
    "plain": KEY,
    "JSON escapes": "".join(f"\\u{ord(letter):04x}" for letter in KEY),
    "base64": base64.b64encode(f"x-api-key:{KEY}".encode()).decode(),
    "percent": "".join(f"%{ord(letter):02X}" for letter in KEY),
    "white space": " ".join(KEY),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_body_that_repeats_the_key_is_withheld_and_the_key_is_in_no_file(
    shared_scene: Scene, authority: Authority, prepared: Prepared, name: str
) -> None:
    folder = prepared()

    def script(peer: Peer) -> None:
        peer.read_request()
        peer.respond(
            b'{"type":"error","error":{"message":"' + DISGUISES[name].encode() + b'"}}',
            status="401 Unauthorized",
            fields=b"request-id: %s\r\n" % KEY.encode(),
        )

    with Provider(authority.server(), script) as provider:
        seen = perform(shared_scene, authority, folder, provider.url())
    assert (seen["outcome"], seen["status"], seen["request_id"]) == ("credential-echo", 401, None)
    assert (seen["response"]["withheld"], seen["response"]["file"]) == (True, None)
    assert not os.path.exists(os.path.join(folder, "attempts", "baseline-a", "response.body"))
    assert KEY[:24].encode() not in every_byte(folder)
    assert DISGUISES[name][:24].encode() not in every_byte(folder)


def test_the_key_is_in_no_file_message_argument_or_child_environment(
    shared_scene: Scene, authority: Authority, prepared: Prepared, tmp_path: Path
) -> None:
    """Through the command line, with a git that writes down how it was started, for a good and a bad end."""
    folder = prepared()
    log = tmp_path / "git.log"
    real = shutil.which("git")
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\n{{ echo "$@"; env; }} >>"{log}"\nexec "{real}" "$@"\n')
    spy.chmod(0o755)
    path = f"{spy.parent}{os.pathsep}{shared_scene.env['PATH']}"

    def broken(peer: Peer) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\n" + KEY.encode() + b"\r\n\r\n")

    for step, script in (("baseline-a", good), ("baseline-b", broken)):
        with Provider(authority.server(), script) as provider:
            result = command(shared_scene, authority, folder, provider.url(), step, PATH=path)
        assert len(provider.requests) == 1
        assert KEY.encode() not in result.stdout + result.stderr
    assert log.stat().st_size > 0
    assert KEY not in log.read_text()
    assert KEY.encode() not in every_byte(folder)


def test_not_even_a_fault_of_our_own_shows_the_key(
    shared_scene: Scene, authority: Authority, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    import traceback

    from repocue.evaluation.cache import exchange

    def fault(_self: Any) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(exchange.Exchange, "run", fault)
    folder = prepared()
    with (
        Provider(authority.server(), lambda peer: peer.wait_until_left()) as provider,
        pytest.raises(ZeroDivisionError) as caught,
    ):
        perform(shared_scene, authority, folder, provider.url())
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY.encode() not in every_byte(folder)
    assert json.loads(kept(folder, "observation.json"))["outcome"] == "internal-error"
    assert state(folder) == "complete"


# --- interruptions


@contextmanager
def started(scene: Scene, authority: Authority, folder: str, url: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [
            *scene.exe,
            "evaluate-cache",
            "run",
            "--input-directory",
            folder,
            "--step",
            "baseline-a",
            "--endpoint",
            url,
            "--endpoint-ca",
            authority.file,
        ],
        env=scene.env | {"ANTHROPIC_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_provider_thinks_ends_in_a_recorded_attempt(
    shared_scene: Scene, authority: Authority, prepared: Prepared, number: signal.Signals
) -> None:
    folder = prepared()

    def silent(peer: Peer) -> None:
        peer.read_request()
        peer.wait_until_left()

    with Provider(authority.server(), silent) as provider:
        with started(shared_scene, authority, folder, provider.url()) as process:
            assert provider.received.wait(30)
            assert KEY.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
            process.send_signal(number)
            output, _ = process.communicate(timeout=60)
        assert process.returncode == 130
    seen = json.loads(output)
    assert (seen["outcome"], seen["request_complete"], seen["status"]) == ("interrupted", True, None)
    assert state(folder) == "complete"
    assert len(provider.requests) == 1


def test_a_kill_while_the_provider_thinks_leaves_a_visible_attempt_that_is_never_sent_again(
    shared_scene: Scene, authority: Authority, prepared: Prepared
) -> None:
    folder = prepared()

    def silent(peer: Peer) -> None:
        peer.read_request()
        peer.wait_until_left()

    with Provider(authority.server(), silent) as provider:
        with started(shared_scene, authority, folder, provider.url()) as process:
            assert provider.received.wait(30)
            process.kill()
            process.communicate()
        assert state(folder) == "incomplete"
        with pytest.raises(EvaluationError) as caught:
            perform(shared_scene, authority, folder, provider.url())
        assert caught.value.code == "evaluation.attempted"
    assert len(provider.requests) == 1


KILLED_AT = """
import os, signal, sys
left = [int(sys.argv[1])]
def watched(function):
    def call(*arguments, **named):
        if armed[0]:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
        return function(*arguments, **named)
    return call
armed = [False]
from repocue.evaluation.cache import endpoint, run, tls
from repocue.evaluation.shared import files
for name in ("mkdir", "rename", "fsync"):
    setattr(os, name, watched(getattr(os, name)))
folder, url, ca, key = sys.argv[2:6]
armed[0] = True
run.run(run.Run(prepared_directory=folder, step="baseline-a", endpoint=endpoint.parse(url), context=tls.context(ca),
                key=lambda: key, environ=dict(os.environ), version="0"))
"""


def test_killed_at_every_journal_instant_an_attempt_is_absent_or_visible_and_sent_at_most_once(
    shared_scene: Scene, authority: Authority, prepare_once: Prepared, tmp_path: Path
) -> None:
    """Every creation, rename and sync on disk is an instant; the process is killed just before each in turn."""
    source = prepare_once()
    states = []
    for instant in range(60):
        folder = shutil.copytree(source, tmp_path / str(instant))
        with Provider(authority.server(), good) as provider:
            done = subprocess.run(
                [sys.executable, "-c", KILLED_AT, str(instant), str(folder), provider.url(), authority.file, KEY],
                env=shared_scene.env,
                capture_output=True,
                timeout=60,
            )
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
            found = state(str(folder))
            states.append((found, len(provider.requests)))
            if found == "absent":
                assert provider.requests == []
            else:
                with pytest.raises(EvaluationError, match="attempted already"):
                    perform(shared_scene, authority, str(folder), provider.url())
            assert len(provider.requests) == states[-1][1] <= 1
        if done.returncode == 0:
            break
    assert states[0] == ("absent", 0)
    assert states[-1] == ("complete", 1)
    assert {("incomplete", 0), ("incomplete", 1)} <= set(states)
    assert states == sorted(states, key=[("absent", 0), ("incomplete", 0), ("incomplete", 1), ("complete", 1)].index)


def test_text_says_what_happened_in_a_few_lines(shared_scene: Scene, authority: Authority, prepared: Prepared) -> None:
    folder = prepared()
    with Provider(authority.server(), good) as provider:
        result = shared_scene.repocue(
            *("evaluate-cache", "run", "--input-directory", folder, "--step", "baseline-a"),
            *("--endpoint", provider.url(), "--endpoint-ca", authority.file, "--format", "text"),
            env={"ANTHROPIC_API_KEY": KEY},
        )
    assert result.code == 0
    text = result.stdout.decode()
    assert text.startswith("Step baseline-a: complete\n")
    assert "handed over, to its last byte" in text
    assert "req_011CX" in text
