"""Credits of one execution, exactly (seed, "Independent task comparison"). Pure.

::

    credits = ((input - cached_input) * input_rate + cached_input * cached_input_rate + output * output_rate) / 1000000

Cached input is inside input and reasoning inside output, so neither is charged twice. A missing part makes the credits
unknown; nothing stands for it.
"""

from __future__ import annotations

from decimal import Decimal

from repocue.contracts.types.task import TaskPolicy
from repocue.evaluation.shared.exact import priced
from repocue.evaluation.task.benchmark import why_unpriced
from repocue.evaluation.task.usage import Usage


def cost(usage: Usage, policy: TaskPolicy | None) -> Decimal | None:
    """What the tokens cost at the policy's rates; None where a priced category is unknown, and where the rates do not
    match the policy's account, model and speed exactly."""
    if policy is None or policy.rates is None or why_unpriced(policy) is not None:
        return None
    total, cached = usage.input_tokens, usage.cached_input_tokens
    if total is None or cached is None:
        return None
    rates = policy.rates
    return priced(((total - cached, rates.input), (cached, rates.cached_input), (usage.output_tokens, rates.output)))
