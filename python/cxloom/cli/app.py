"""The command line: its commands put together, and its exit codes.

0 finished; 1 the simulation could not finish; 2 the user's input is wrong. Anything else is a bug, with a traceback.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cxloom import __version__
from cxloom.cli import check, components, demo, run, schema, study
from cxloom.cli.messages import show_error
from cxloom.errors import InputError, SimulationError
from cxloom.trace.cli import app as trace_app


class _Commands(TyperGroup):
    """Ctrl-C outside of a simulation is an end like any other that the user asked for: code 1, not Typer's 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SimulationError("interrupted") from None


app = typer.Typer(
    cls=_Commands,
    help="Simulate systems with CXL: bandwidth, latency, and where every nanosecond went.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("check")(check.check)
app.command("components")(components.components)
app.command("schema")(schema.schema)
app.add_typer(trace_app, name="trace")
app.add_typer(study.app, name="study")
app.command("demo")(demo.demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cxloom {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    del version


def main() -> None:
    """Runs the command of `sys.argv` and exits with its code."""
    try:
        app()
    except InputError as error:
        show_error(error)
        raise SystemExit(2) from None
    except SimulationError as error:
        show_error(error)
        raise SystemExit(1) from None
