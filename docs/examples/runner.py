#!/usr/bin/env python3
"""A RepoCue runner around any agent that reads a prompt on stdin and prints its answer as JSON on stdout."""

import json
import os
import sys

from repocue import runners
from repocue.errors import RepoCueError


def main() -> None:
    request = runners.EvaluationRequest.from_environment(os.environ)
    prompt = runners.evaluation_prompt(request)
    ended = runners.Supervisor(timeout_s=3600).run(
        [os.environ["MY_AGENT"]], cwd=request.repository, env=dict(os.environ), stdin=prompt
    )
    if not ended.is_success:
        sys.exit(f"the agent {ended.describe()}: {ended.stderr.decode(errors='replace')}")
    said = json.loads(ended.stdout)
    used = said["usage"]  # leave out what your agent does not report: unknown is not zero
    observation = runners.build_observation(
        request,
        metadata=runners.Metadata(
            adapter="my-runner", adapter_version="1", model=said["model"], reasoning_effort="default", sandbox="none"
        ),
        usage=[runners.UsageEvent(turn=1, input_tokens=used.get("input"), output_tokens=used.get("output"))],
        answer=said["answer"],
        execution_duration_ms=ended.duration_ms,
        limitations=["The agent reports no commands."],
    )
    runners.write(observation, sys.stdout.buffer)


try:
    main()
except RepoCueError as error:
    sys.exit(error.message)
