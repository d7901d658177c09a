"""A stand-in for the RepoCue executable of `--cue-binary`, with one part of its own and faults on request.

Everything but `cue --view task` is handed to the real command line. The task cue is made here by plain means, from
`git show` and `repocue status`; FAKE_CUE names a fault to build into it. Run as
``python fake_cue.py REAL… -- refresh|cue OPTIONS``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from hashlib import sha256
from typing import Any


def digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def show(root: str, path: str) -> bytes:
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=root, check=True, capture_output=True).stdout


def encoded(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def source_id(source: dict[str, Any]) -> str:
    return source["path"] + ("" if source["lines"] is None else "#L{}-L{}".format(*source["lines"]))


def made(real: list[str], arguments: list[str]) -> dict[str, Any]:
    root, cache = option(arguments, "--repository"), option(arguments, "--cache-dir")
    with open(option(arguments, "--task-file"), "rb") as file:
        task = json.load(file)["task"]
    shared = ["--repository", root, "--cache-dir", cache, "--format", "json"]
    status = json.loads(subprocess.run([*real, "status", *shared], check=True, capture_output=True).stdout)
    declared = show(root, task["declaration"])
    declaration = json.loads(declared)
    tags = set(task["selector"]["tags"])
    items = [item for item in declaration["items"] if tags & set(item["tags"])]
    blocks: dict[str, dict[str, Any]] = {}
    sources = {}
    for item in items:
        for source in item["sources"]:
            data = show(root, source["path"])
            lines = data.splitlines(keepends=True)
            first, last = source["lines"] or (1, len(lines))
            part = b"".join(lines[first - 1 : last])
            name = source_id(source)
            blocks[name] = {
                "id": name,
                "path": source["path"],
                "first_line": first,
                "last_line": last,
                "sha256": digest(part),
                "text": part.decode(),
            }
            sources[name] = {"id": name, "block": name, "sha256": digest(part)}
    ordered = sorted(blocks, key=lambda name: (blocks[name]["path"], blocks[name]["first_line"]))
    repository = {name: status["repository"][name] for name in ("id", "name", "branch", "head", "dirty")}
    return {
        "schema_version": "repocue/task-cue-1",
        "kind": "task",
        "declaration": {
            "path": task["declaration"],
            "contract": "repocue/task-context-1",
            "id": declaration["id"],
            "sha256": digest(declared),
        },
        "items": sorted(
            (
                {name: item[name] for name in ("id", "kind", "summary", "tags")}
                | {"sources": [source_id(source) for source in item["sources"]]}
                for item in items
            ),
            key=lambda item: item["id"],
        ),
        "blocks": [blocks[name] for name in ordered],
        "sources": [sources[name] for name in ordered],
        "task": {name: task[name] for name in ("id", "kind", "question")},
        "repository": repository,
        "snapshot": status["snapshot"],
        "basis": {name: status["basis"][name] for name in ("status_digest", "repository_digest", "observed_at")},
        "freshness": status["freshness"],
        "budget": {"max_tokens": int(option(arguments, "--max-tokens")), "estimated_tokens": 0},
        "warnings": [],
    }


def settle(document: dict[str, Any]) -> None:
    while document["budget"]["estimated_tokens"] != (tokens := -(-len(encoded(document)) // 4)):
        document["budget"]["estimated_tokens"] = tokens


def spoil(document: dict[str, Any], fault: str, root: str) -> None:
    """Build a fault into the cue, or into the world around it."""
    if fault == "other-bytes":
        block = document["blocks"][0]
        block["text"] = block["text"].replace("a", "o")
        block["sha256"] = document["sources"][0]["sha256"] = digest(block["text"].encode())
    elif fault == "fewer-items":
        gone = document["items"].pop()
        document["sources"] = [source for source in document["sources"] if source["id"] not in gone["sources"]]
        document["blocks"] = [block for block in document["blocks"] if block["id"] not in gone["sources"]]
    elif fault == "other-summary":
        document["items"][0]["summary"] = "What somebody else wrote."
    elif fault == "other-kind":
        document["items"][0]["kind"] = "invariant"
    elif fault == "other-tags":
        document["items"][0]["tags"].append("more")
    elif fault == "other-declaration-id":
        document["declaration"]["id"] = "another"
    elif fault == "other-declaration":
        document["declaration"]["sha256"] = digest(b"")
    elif fault == "other-question":
        document["task"]["question"] += "?"
    elif fault == "other-budget":
        document["budget"]["max_tokens"] += 1
    elif fault == "other-head":
        document["repository"]["head"] = "0" * 40
    elif fault == "other-snapshot":
        document["snapshot"] = "snapshot-000099"
    elif fault == "stale":
        document["freshness"] = "refresh-needed"
    elif fault == "touch-repository":
        with open(os.path.join(root, "untracked"), "wb") as file:
            file.write(b"new")


def main() -> int:
    split = sys.argv.index("--")
    real, arguments = sys.argv[1:split], sys.argv[split + 1 :]
    log = os.environ.get("FAKE_CUE_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"arguments": arguments, "environment": sorted(os.environ)}) + "\n")
    if arguments[0] != "cue":
        return subprocess.run([*real, *arguments]).returncode
    fault = os.environ.get("FAKE_CUE", "")
    if fault == "hang":
        time.sleep(600)
    if fault == "exit":
        print("it broke", file=sys.stderr)
        return 7
    if fault == "error":
        error = {
            "schema_version": "repocue/error-1",
            "code": "budget.too-small",
            "message": "too small",
            "hint": "more",
        }
        sys.stderr.write(json.dumps(error, separators=(",", ":")) + "\n")
        return 1
    document = made(real, arguments)
    spoil(document, fault, option(arguments, "--repository"))
    settle(document)
    data = encoded(document)
    if fault == "not-canonical":
        data = data.replace(b":", b": ", 1)
    elif fault == "garbage":
        data = b"\xff not json"
    elif fault == "silent":
        data = b""
    elif fault == "flood":
        data = b" " * (17 << 20)
    sys.stdout.buffer.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
