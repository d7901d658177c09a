"""A prepared folder, read back and made again from its parts: what was frozen is what is handed to a runner.

Reads files and nothing else: no git, process, network, credential or write.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from repocue.contracts import canonical, reader
from repocue.contracts.types.task import TaskBenchmark, TaskPolicy
from repocue.domain import tokens
from repocue.errors import EvaluationError, EvidenceError
from repocue.evaluation.shared import files, manifest, task_cues
from repocue.evaluation.task import benchmark as benchmarks
from repocue.evaluation.task import cues, layout, prompt
from repocue.evaluation.task.limits import TaskLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A prepared folder whose every frozen file was checked. `data` holds the bytes of what runners are handed, by the
    layout's names; `cues` are the parsed cues."""

    folder: str
    benchmark: TaskBenchmark
    policy: TaskPolicy | None
    record: dict[str, Any]
    cues: dict[layout.Arm, dict[str, Any]]
    data: dict[str, bytes]

    @property
    def name(self) -> str:
        """The folder's own name."""
        return os.path.basename(self.folder)

    @property
    def attempts(self) -> str:
        """The folder that holds the attempts."""
        return os.path.join(self.folder, layout.ATTEMPTS)

    @property
    def order(self) -> layout.Order:
        """The order in which the arms run."""
        order: layout.Order = self.record["order"]
        return order

    @property
    def repeat(self) -> int:
        """Which repetition this is."""
        repeat: int = self.record["repeat"]
        return repeat

    @property
    def basis(self) -> dict[str, str]:
        """The state that both attempts are about."""
        basis: dict[str, str] = self.record["basis"]
        return basis

    @property
    def paid_sha256(self) -> str:
        """The digest of the paid side as it is frozen: what pairs of different benchmarks must share."""
        policy: dict[str, Any] = reader.read_json(self.data[layout.POLICY], subject="the frozen policy")
        return canonical.digest_of(policy["paid"])

    @property
    def rubric_sha256(self) -> str | None:
        """The digest of the rubric's UTF-8 bytes; None where there is none."""
        rubric = self.benchmark.rubric
        return None if rubric is None else canonical.digest(rubric.encode())

    def prompt(self, arm: layout.Arm) -> bytes:
        """What the adapter of an arm must submit."""
        return prompt.prompt(self.data[layout.TASK], self.data[layout.CUES[arm]])

    def inputs(self, arm: layout.Arm) -> dict[str, bytes]:
        """What a runner is handed, by the names in an attempt's input folder."""
        return {
            layout.TASK: self.data[layout.TASK],
            layout.CUE: self.data[layout.CUES[arm]],
            layout.ANSWER_SCHEMA: self.data[layout.ANSWER_SCHEMA],
            layout.POLICY: self.data[layout.POLICY],
        }

    def source_ids(self) -> list[str]:
        """The ids of the sources that the selector takes, which answers of both arms may cite."""
        return task_cues.delivered_sources(self.cues["task"])


def load(folder: str, limits: TaskLimits) -> Prepared:
    """Read and check the prepared folder `folder`.

    Every file is compared with the manifest, every file of ours with its canonical form, and every derived one with
    what its parts make. Raises EvidenceError, ContractError or EvaluationError naming the file that differs.
    """
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise EvaluationError(
            f"{files.shown(folder)} is no folder.",
            code="evaluation.input",
            hint="Name a folder that 'repocue evaluate-task' printed as prepared_directory, or the one it lies in.",
        )
    sealed = manifest.verify(
        folder, layout.MANIFEST, schema_version=layout.MANIFEST_VERSION, leave_out=(layout.ATTEMPTS,)
    )
    names = {entry["path"] for entry in sealed["files"]}
    _check_names(folder, names)
    data = {name: _read(folder, name, limits) for name in sorted(names)}
    benchmark = benchmarks.read(data[layout.BENCHMARK], limits=limits, subject=_subject(folder, layout.BENCHMARK))
    record = reader.read_canonical(
        data[layout.PREPARATION],
        contract=layout.PREPARATION_VERSION,
        kind="record",
        subject=_subject(folder, layout.PREPARATION),
    )
    paid = _paid(folder, data, limits)
    if data[layout.POLICY] != canonical.document(benchmarks.frozen_policy(benchmark, paid)):
        raise _altered(folder, layout.POLICY, "is not what benchmark and paid policy make")
    if data[layout.TASK] != prompt.task_text(benchmark):
        raise _altered(folder, layout.TASK, "is not what the benchmark makes")
    schema = reader.read_json(data[layout.ANSWER_SCHEMA], subject=_subject(folder, layout.ANSWER_SCHEMA))
    if canonical.document(schema) != data[layout.ANSWER_SCHEMA]:
        raise _altered(folder, layout.ANSWER_SCHEMA, "is not in the form in which RepoCue writes it")
    prepared = Prepared(
        folder=folder,
        benchmark=benchmark,
        policy=benchmarks.paid_policy(paid),
        record=record,
        cues={
            arm: cues.read(data[name], benchmark, arm, limits=limits, subject=_subject(folder, name))
            for arm, name in layout.CUES.items()
        },
        data=data,
    )
    _check_record(prepared)
    return prepared


def _paid(folder: str, data: dict[str, bytes], limits: TaskLimits) -> dict[str, Any] | None:
    given = data.get(layout.PAID_POLICY)
    if given is None:
        return None
    return benchmarks.read_policy(given, limits=limits, today=None, subject=_subject(folder, layout.PAID_POLICY))


def _check_record(prepared: Prepared) -> None:
    """Raises EvidenceError unless the record describes the files beside it."""
    data, record, cue = prepared.data, prepared.record, prepared.cues["task"]
    expected = {
        "benchmark_id": prepared.benchmark.id,
        "snapshot": cue["snapshot"],
        "benchmark_sha256": canonical.digest(data[layout.BENCHMARK]),
        "policy_sha256": canonical.digest(data[layout.POLICY]),
        "task_sha256": canonical.digest(data[layout.TASK]),
        "answer_schema_sha256": canonical.digest(data[layout.ANSWER_SCHEMA]),
        "cue_prefix_sha256": cues.prefix_digest(cue),
        "prompts": [_prompt(prepared, arm) for arm in layout.arms(prepared.order)],
        "sources": [{"id": source["id"], "sha256": source["sha256"]} for source in cue["sources"]],
    }
    for name, value in expected.items():
        if record[name] != value:
            raise _altered(prepared.folder, layout.PREPARATION, f"names another {name} than its files have")
    for name, file in (("refresh", layout.REFRESH), *layout.CUES.items()):
        if record["processes"][name]["stdout_sha256"] != canonical.digest(data[file]):
            raise _altered(prepared.folder, layout.PREPARATION, f"names another output of {name} than was kept")
    for arm in layout.ARMS:
        if prepared.cues[arm]["snapshot"] != record["snapshot"]:
            raise _altered(prepared.folder, layout.CUES[arm], "shows another snapshot than was prepared")
    if not 1 <= prepared.repeat <= prepared.benchmark.repeats:
        raise _altered(prepared.folder, layout.PREPARATION, "names a repeat that the benchmark does not have")


def _prompt(prepared: Prepared, arm: layout.Arm) -> dict[str, Any]:
    whole = prepared.prompt(arm)
    return {
        "arm": arm,
        "cue_sha256": canonical.digest(prepared.data[layout.CUES[arm]]),
        "prompt_sha256": canonical.digest(whole),
        "prompt_bytes": len(whole),
        "estimated_tokens": tokens.estimate(len(whole)),
    }


def _check_names(folder: str, found: set[str]) -> None:
    expected = {layout.PREPARATION, layout.BENCHMARK, layout.POLICY, layout.TASK, layout.ANSWER_SCHEMA, layout.REFRESH}
    expected |= set(layout.CUES.values())
    for name in sorted((found - {layout.PAID_POLICY}) ^ expected):
        raise _altered(folder, name, "is missing" if name in expected else "belongs to no prepared folder")


def _read(folder: str, name: str, limits: TaskLimits) -> bytes:
    return files.read_file(os.path.join(folder, name), limit_bytes=limits.child_stdout_bytes)


def _subject(folder: str, name: str) -> str:
    return files.shown(os.path.join(folder, name))


def _altered(folder: str, name: str, why: str) -> EvidenceError:
    return EvidenceError(f"{_subject(folder, name)} {why}.", code="evidence.altered")
