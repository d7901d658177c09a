"""What the installed Codex CLI knows, found out by asking it: flags, features, settings, version, sandbox.

No question here reaches a provider. Settings are tried with `codex exec --strict-config` and an empty prompt, which
ends before any request, and are named by the program itself where it does not know them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repocue.errors import EvaluationError
from repocue.runners.findings import Finding, one_line, warning
from repocue.runners.supervision import Ended, Supervisor

QUESTION_TIMEOUT_S = 60.0

REQUIRED_FLAGS = (
    "--json",
    "--ephemeral",
    "--ignore-user-config",
    "--ignore-rules",
    "--sandbox",
    "--model",
    "--config",
    "--cd",
    "--output-schema",
)

RECONNECTS = "unbounded_connection_retries"
"""The feature that reconnects for ever when the provider cannot be reached."""

UNKNOWN_SETTING = re.compile(r"unknown configuration field [`'\"]([A-Za-z0-9_.]+)[`'\"]")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


@dataclass(frozen=True, slots=True)
class Setting:
    """One `-c name=value`. Without a `necessary` one no run is worth its price; another one is left out, and said."""

    name: str
    value: str
    is_necessary: bool = False
    why: str = ""

    @property
    def argument(self) -> str:
        """The value of the flag."""
        return f"{self.name}={self.value}"


def settings_for(effort: str, tier: str) -> tuple[Setting, ...]:
    """Every setting of a measured run, in the order in which they are given."""
    return (
        Setting("model_reasoning_effort", json.dumps(effort, ensure_ascii=False), is_necessary=True),
        Setting("service_tier", json.dumps(tier), is_necessary=True),
        Setting(
            "agents.enabled", "false", why="sub-agents, whose tokens are not in the stream, could not be turned off"
        ),
        Setting("web_search", '"disabled"', why="web search could not be turned off"),
        Setting("shell_environment_policy.inherit", '"core"', why="commands may see the whole environment"),
        Setting("skills.bundled.enabled", "false", why="bundled skills could not be turned off"),
        Setting("project_doc_max_bytes", "0", why="project documents could not be kept out of the prompt"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was found out. `arguments` go between `exec` and the prompt's `-`."""

    version: str
    flags: frozenset[str]
    features: frozenset[str]
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]


class Questions:
    """Asks the program at `binary`, in `folder`, with an environment of its own home."""

    def __init__(self, binary: str, env: Mapping[str, str], folder: str) -> None:
        self._binary = binary
        self._env = env
        self._folder = folder
        self._supervisor = Supervisor(timeout_s=QUESTION_TIMEOUT_S)

    def ask(self, *arguments: str, cwd: str | None = None) -> Ended:
        """One question; raises NotStarted where the program is missing."""
        return self._supervisor.run([self._binary, *arguments], cwd=cwd or self._folder, env=self._env, stdin=b"")

    def all(self, wanted: Sequence[Setting], repository: str) -> Known:
        """Everything a run needs to know. Raises EvaluationError where the installed program will not do."""
        version = self._version()
        flags = self._flags(version)
        features = self._features()
        self._check_sandbox(repository)
        settings, findings = self._settings(wanted, flags)
        if RECONNECTS not in features:
            findings = (
                *findings,
                warning("setting-unknown", f"This Codex CLI has no feature {RECONNECTS} to turn off."),
            )
        return Known(version=version, flags=flags, features=features, settings=settings, findings=findings)

    def _version(self) -> str:
        ended = self.ask("--version")
        text = one_line(ended.stdout.decode("utf-8", "replace"))
        if not ended.is_success or not text:
            raise EvaluationError(
                f"`{self._binary} --version` {ended.describe()} and named no version", code="runner.agent-unusable"
            )
        match = _VERSION.search(text)
        return match[0] if match else text

    def _flags(self, version: str) -> frozenset[str]:
        ended = self.ask("exec", "--help")
        flags = frozenset(_FLAG.findall(ended.stdout.decode("utf-8", "replace")))
        missing = [flag for flag in REQUIRED_FLAGS if flag not in flags]
        if missing:
            raise EvaluationError(
                f"Codex CLI {version} has no `exec` {', '.join(missing)}; it cannot be measured",
                code="runner.agent-unusable",
                hint="Install a current Codex CLI, or name one with REPOCUE_CODEX_BIN.",
            )
        return flags

    def _features(self) -> frozenset[str]:
        """The features this program lists and has not removed."""
        ended = self.ask("features", "list")
        rows = (line.split() for line in ended.stdout.decode("utf-8", "replace").splitlines())
        return frozenset(row[0] for row in rows if len(row) >= 3 and "removed" not in row[1:])

    def _check_sandbox(self, repository: str) -> None:
        """Run one command in the read-only sandbox. Raises EvaluationError where that fails.

        A program without this question (exit 2, a usage error) is not held to it.
        """
        ended = self.ask("sandbox", "--", "true", cwd=repository)
        if ended.exit_code not in (0, 2):
            raise EvaluationError(
                "the sandbox of the Codex CLI does not work here, so every command of a run would fail: "
                f"{one_line(ended.stderr.decode('utf-8', 'replace'))[-500:] or ended.describe()}",
                code="runner.sandbox",
                hint="Allow user namespaces, or install bubblewrap.",
            )

    def _settings(
        self, wanted: Sequence[Setting], flags: frozenset[str]
    ) -> tuple[tuple[Setting, ...], tuple[Finding, ...]]:
        if "--strict-config" not in flags:
            unchecked = "This Codex CLI cannot check settings; one that it does not know may have no effect."
            return tuple(wanted), (warning("settings-unchecked", unchecked),)
        kept, findings = list(wanted), []
        for _ in wanted:
            refused = self._refused(kept)
            if refused is None:
                break
            if refused.is_necessary:
                raise EvaluationError(
                    f"this Codex CLI does not know the setting {refused.name}, without which no run can be compared",
                    code="runner.agent-unusable",
                )
            kept.remove(refused)
            findings.append(
                warning("setting-unknown", f"This Codex CLI does not know the setting {refused.name}: {refused.why}.")
            )
        return tuple(kept), tuple(findings)

    def _refused(self, settings: Sequence[Setting]) -> Setting | None:
        arguments = [part for setting in settings for part in ("-c", setting.argument)]
        ended = self.ask(
            "exec",
            "--json",
            "--ephemeral",
            "--ignore-user-config",
            "--skip-git-repo-check",
            "--strict-config",
            *arguments,
            "-",
        )
        match = UNKNOWN_SETTING.search(ended.stderr.decode("utf-8", "replace"))
        if match is None:
            return None
        return next((one for one in settings if one.name == match[1] or one.name.startswith(match[1] + ".")), None)


def link_login(user_home: str, fresh_home: str) -> None:
    """Let a fresh CODEX_HOME use the user's login, and nothing else of the user's.

    A link, not a copy: the program renews a login where it finds it, and a renewed copy would leave the user logged
    out. It writes through the link. The file is never read here.
    """
    login = os.path.join(user_home, "auth.json")
    if os.path.isfile(login):
        os.symlink(os.path.realpath(login), os.path.join(fresh_home, "auth.json"))
