"""Commands that do something themselves and have subcommands too."""

from __future__ import annotations

import click

from repocue.errors import UsageError


def refuse_options(ctx: click.Context) -> None:
    """Raises UsageError where options of the command itself were typed in front of a subcommand, to which they mean
    nothing."""
    typed = [
        parameter.opts[-1] if len(parameter.opts) == 1 else parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name is not None
        and isinstance(parameter, click.Option)
        and parameter.expose_value
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if typed:
        raise UsageError(
            f"{', '.join(typed)} belongs to a run and means nothing to {ctx.invoked_subcommand}.",
            hint=f"Options of {ctx.invoked_subcommand} follow its name.",
        )
