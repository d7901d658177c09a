"""The rig for real agents: it says plainly what is missing, and its provider does what a test scripted."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import agents
from tests.support.scripted_provider import Provider, Step, failure, sse


def test_installing_without_npm_fails_with_one_clear_message(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "mkdir", "rm", "mv"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    env = {"PATH": str(tools), "HOME": str(tmp_path), "REPOCUE_TEST_AGENTS_DIR": str(tmp_path / "agents")}
    done = subprocess.run(["sh", str(agents.TOOLS)], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs npm" in done.stderr
    assert not (tmp_path / "agents").exists()


@pytest.mark.parametrize(("required", "outcome"), [("1", pytest.fail.Exception), ("0", pytest.skip.Exception)])
def test_a_missing_program_is_a_failure_where_it_is_required_and_else_a_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("REPOCUE_TEST_AGENTS_DIR", str(tmp_path))
    monkeypatch.setenv("REPOCUE_REQUIRE_AGENTS", required)
    with pytest.raises(outcome, match=f"codex {agents.pinned('codex')} is not installed"):
        agents.codex_binary()


def post(provider: Provider, body: bytes = b"{}") -> tuple[int, bytes]:
    host = provider.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request("POST", "/v1/x", body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_provider_answers_in_order_and_keeps_what_was_sent() -> None:
    script = [Step(body=sse([("a", {"n": 1})])), failure(429, {"slow": "down"}), Step(body=b"half", is_cut=True)]
    with Provider(script) as provider:
        assert post(provider, b'{"first":1}') == (200, b'event: a\ndata: {"n": 1}\n\n')
        assert post(provider) == (429, b'{"slow": "down"}')
        with pytest.raises(http.client.IncompleteRead):
            post(provider)
        assert post(provider)[0] == 500
    assert provider.surplus == 1
    assert provider.requests[0].json == {"first": 1}
    assert [request.path for request in provider.requests] == ["/v1/x"] * 4


def test_a_wrapper_adds_its_flags_to_one_subcommand_alone(tmp_path: Path) -> None:
    script = agents.wrapper(tmp_path / "w", shutil.which("echo") or os.sep, "exec", ["-c", 'a="b c"'])
    assert subprocess.check_output([script, "exec", "x"]) == b'exec -c a="b c" x\n'
    assert subprocess.check_output([script, "other", "x"]) == b"other x\n"
