"""`repocue-codex-runner`: one fresh, ephemeral, read-only run of `codex exec`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from repocue.errors import EvaluationError
from repocue.runners import adapter
from repocue.runners.adapter import Launch, Settings
from repocue.runners.codex import events
from repocue.runners.codex.settings import RECONNECTS, Questions, link_login, settings_for
from repocue.runners.observed import AgentStream
from repocue.runners.policy import READ_ONLY, Policy

BINARY = "REPOCUE_CODEX_BIN"
MODEL = "REPOCUE_CODEX_MODEL"
EFFORT = "REPOCUE_CODEX_REASONING_EFFORT"
TIER = "REPOCUE_CODEX_SERVICE_TIER"
SCHEMA_FILE = "REPOCUE_CODEX_OUTPUT_SCHEMA_FILE"

TIERS = {"standard": "default", "fast": "fast"}
"""The service tier of each speed."""


class CodexAgent:
    """The Codex CLI, driven through `codex exec --json`."""

    name = "repocue-codex-runner"
    version = "3"
    program = "the Codex CLI"
    stream_format = "codex-exec-json"
    sandbox = READ_ONLY
    limitations: Sequence[str] = (
        "Token counters are those of completed-turn events; the CLI's hidden context and its provider requests are not "
        "exposed.",
        "The Codex CLI writes zero for a counter that the provider did not send and counts a request without usage as "
        "zero, so observed counters can be too low without a sign of it.",
        "A command that the sandbox stopped, a refused escalation and an unknown tool leave no event, so counts of "
        "commands and tool calls can be too low.",
        "The model and the service tier that served the run are not in the event stream, and the reasoning effort is "
        "passed on unchecked: what is recorded is what was asked for.",
    )

    def settings(self, environ: Mapping[str, str]) -> tuple[str, str, str, str | None]:
        """Model, effort, speed and the answer schema's path from the adapter's variables."""
        tier = environ.get(TIER) or "default"
        speed = next((speed for speed, value in TIERS.items() if value == tier), None)
        if speed is None:
            raise EvaluationError(
                f"{TIER} is {tier!r}, neither {' nor '.join(TIERS.values())}", code="runner.environment"
            )
        return (
            adapter.required(environ, MODEL, "the model to run"),
            adapter.required(environ, EFFORT, "the reasoning effort to ask for"),
            speed,
            environ.get(SCHEMA_FILE) or None,
        )

    def variables(self, settings: Policy) -> Mapping[str, str]:
        """The adapter's variables that a policy decides."""
        return {MODEL: settings.model, EFFORT: settings.reasoning_effort, TIER: TIERS[settings.speed]}

    def launch(self, settings: Settings, repository: str, environ: Mapping[str, str], folder: str) -> Launch:
        """The command line for what the installed program knows, with a home and a temporary folder of its own."""
        binary = adapter.program_path(environ, BINARY, "codex")
        user_home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME") or os.sep, ".codex")
        places = {name: os.path.join(folder, name) for name in ("questions", "home", "tmp")}
        for place in places.values():
            os.mkdir(place, 0o700)
        link_login(user_home, places["home"])
        asking = adapter.child_environment(environ, {"CODEX_HOME": places["questions"], "TMPDIR": places["tmp"]})
        tier = TIERS[settings.speed]
        known = Questions(binary, asking, folder).all(settings_for(settings.reasoning_effort, tier), repository)
        schema = os.path.join(folder, "schema.json")
        with open(schema, "xb") as file:
            file.write(settings.answer_schema)
        arguments = [binary, "exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules"]
        arguments += ["--strict-config"] if "--strict-config" in known.flags else []
        arguments += ["--color", "never"] if "--color" in known.flags else []
        arguments += ["--sandbox", READ_ONLY, "--model", settings.model]
        for setting in known.settings:
            arguments += ["-c", setting.argument]
        arguments += ["--disable", RECONNECTS] if RECONNECTS in known.features else []
        arguments += ["--cd", repository, "--output-schema", schema, "-"]
        return Launch(
            command=arguments,
            recorded=["<schema>" if part == schema else part for part in arguments],
            env=adapter.child_environment(environ, {"CODEX_HOME": places["home"], "TMPDIR": places["tmp"]}),
            cli_version=known.version,
            findings=known.findings,
        )

    def read(self, stdout: bytes) -> AgentStream:
        """The run that a complete event stream describes."""
        return events.read_stream(stdout)

    def failure(self, stdout: bytes) -> str | None:
        """The program's own last word on a failure."""
        return events.failure(stdout)

    def service_tier(self, speed: str) -> str | None:
        """The service tier that is asked for."""
        return TIERS[speed]


def main() -> int:
    """The console script."""
    return adapter.main(CodexAgent(), sys.argv[1:], os.environ, sys.stdout.buffer, sys.stderr)
