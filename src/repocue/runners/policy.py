"""What a frozen task policy decides for an adapter: model, effort, speed, CLI version, sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repocue.errors import EvaluationError
from repocue.runners.prompt import read_file

POLICY_CONTRACT = "repocue/task-policy-1"
READ_ONLY = "read-only"


class PolicyError(EvaluationError):
    """The policy cannot be followed: it is missing its paid side, or what is here differs from what it names."""

    default_code = "runner.policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The decided settings. `sandbox` is None where the file does not say."""

    model: str
    reasoning_effort: str
    speed: str
    cli_version: str
    sandbox: str | None

    def check_variable(self, environ: Mapping[str, str], name: str, decided: str) -> None:
        """A variable of the adapter may repeat what the policy decides and nothing else. Raises PolicyError."""
        given = environ.get(name)
        if given and given != decided:
            raise PolicyError(
                f"{name} is {given!r}, but the policy decides {decided!r}", hint=f"Unset {name} for a task evaluation."
            )

    def check_cli_version(self, installed: str, program: str) -> None:
        """The installed program must be the version that the policy names. Raises PolicyError."""
        if installed != self.cli_version:
            raise PolicyError(
                f"{program} is version {installed}, but the policy names {self.cli_version}",
                hint="Install that version, or prepare the evaluation anew with the version that is installed.",
            )


def read_policy(path: str) -> Policy:
    """The policy in a prepared folder's `policy.json` (the paid side in its member `paid`), or a paid side alone.

    Raises PolicyError where there is no paid side or a sandbox other than read-only, ContractError where it breaks
    its contract.
    """
    from repocue.contracts import reader

    document = reader.read_json(read_file(path, "the policy"), subject="the policy")
    if not isinstance(document, dict):
        raise PolicyError(f"the policy {path!r} is no object")
    paid = document if document.get("schema_version") == POLICY_CONTRACT else document.get("paid")
    if paid is None:
        raise PolicyError(
            f"the policy {path!r} has no paid side", hint="Prepare the evaluation with --policy-file before running it."
        )
    reader.check(paid, contract=POLICY_CONTRACT, subject="the policy's paid side")
    sandbox = document.get("sandbox")
    if sandbox not in (None, READ_ONLY):
        raise PolicyError(f"the policy asks for the sandbox {sandbox!r}; this runner runs {READ_ONLY!r} alone")
    return Policy(
        model=paid["model"],
        reasoning_effort=paid["reasoning_effort"],
        speed=paid["speed"],
        cli_version=paid["cli_version"],
        sandbox=sandbox,
    )
