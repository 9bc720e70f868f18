"""The command line: its commands put together, and its exit codes.

0 finished; 1 the simulation could not finish; 2 the user's input is wrong. Anything else is a bug, with a traceback.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from cxloom.errors import InputError, SimulationError

COMMANDS = {
    "run": ("cxloom.cli.run", "Simulate SPEC; show where the time went."),
    "check": ("cxloom.cli.check", "Check SPEC without running it."),
    "components": ("cxloom.cli.components", "List kinds and their parameters."),
    "schema": ("cxloom.cli.schema", "Print the JSON Schema of specs."),
    "trace": ("cxloom.trace.cli", "Look at memory traces, convert them, record them."),
    "study": ("cxloom.cli.study", "Run published experiments."),
    "demo": ("cxloom.cli.demo", "Show and draw what cxloom does."),
}
"""Of each command the module that it is in, and what the list of commands says of it."""


class _Command(TyperCommand):
    """A command whose module is loaded when it is called: nobody waits for the libraries of the others."""

    def __init__(self, name: str) -> None:
        self._module, about = COMMANDS[name]
        super().__init__(name, short_help=about)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return loaded(self._module, str(self.name)).make_context(info_name, args, parent=parent, **extra)


def loaded(module: str, name: str) -> Any:
    """The command `name` of a module: the module's `app`, or else its function of that name."""
    found = import_module(module)
    app = getattr(found, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(getattr(found, name))
    return typer.main.get_command(app)


class _Commands(TyperGroup):
    """Ctrl-C outside of a simulation is an end like any other that the user asked for: code 1, not Typer's 130."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": {name: _Command(name) for name in COMMANDS}})

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


def _show_version(wanted: bool) -> None:
    if wanted:
        from cxloom import __version__

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
        from cxloom.cli.messages import show_error

        show_error(error)
        raise SystemExit(2) from None
    except SimulationError as error:
        from cxloom.cli.messages import show_error

        show_error(error)
        raise SystemExit(1) from None
