"""The command line: its commands put together, and its exit codes.

0 finished; 1 the simulation could not finish; 2 the user's input is wrong, or its output cannot be written. Anything
else is a bug, with a traceback.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from cxloom.base.errors import CxloomError, InputError, SimulationError, reason_of
from cxloom.cli.at_once import ended_at_once, interruptible
from cxloom.cli.plain_text import take_text_as_it_is
from cxloom.cli.streams import Output, UnwritableError

COMMANDS = {
    "run": ("cxloom.cli.run", "Simulate SPEC; show where the time went."),
    "check": ("cxloom.cli.check", "Check SPEC without running it."),
    "presets": ("cxloom.cli.presets", "List shipped systems, or print one with its sources."),
    "components": ("cxloom.cli.components", "List kinds and their parameters."),
    "schema": ("cxloom.cli.schema", "Print the JSON Schema of specs, or of files of KV caches."),
    "trace": ("cxloom.cli.trace", "Look at memory traces, convert them, record them."),
    "resolve": ("cxloom.cli.resolve", "Print a spec as programs without Python read it."),
    "exec": ("cxloom.cli.exec", "Run a program on a simulated system."),
    "boot": ("cxloom.cli.boot", "Boot a stock Linux on a machine with the CXL devices of SPEC."),
    "measure": ("cxloom.cli.measure", "Measure SPEC as MLC, LMbench and STREAM do."),
    "explain": ("cxloom.cli.explain", "Say what limits SPEC, why, and what would move the limit."),
    "compare": (
        "cxloom.cli.compare",
        "Compare systems: what differs, and which part of the latency changed.",
    ),
    "find": ("cxloom.cli.find", "Find how far a value can go under a condition, or the best values."),
    "fit": ("cxloom.cli.fit", "Fit parameters of SPEC to what was measured on a machine."),
    "advise": ("cxloom.cli.advise", "Say where the data of SPEC should live, and what that gains."),
    "epochs": ("cxloom.cli.epochs", "Play the tiering of SPEC for minutes."),
    "offload": ("cxloom.cli.offload", "Plan models that do not fit into their GPU."),
    "kv": ("cxloom.cli.kv", "Play requests to a language model with a KV cache in tiers."),
    "import": ("cxloom.cli.import_", "Make a spec, or parts of one, of what other tools have written."),
    "tasks": ("cxloom.cli.tasks", "Import traces of training as graphs of tasks."),
    "sweep": ("cxloom.cli.sweep", "Simulate SPEC at many points, in parallel."),
    "plan": ("cxloom.cli.plan", "Plan a pool of memory for the demand of many servers."),
    "study": ("cxloom.cli.study", "Run published experiments."),
    "energy": ("cxloom.cli.energy", "Run SPEC, and say what each of its ports, switches and memories needs."),
    "crash": ("cxloom.cli.crash", "Let the power fail during a run of SPEC."),
    "draw": ("cxloom.cli.draw", "Draw the devices and links of SPEC."),
    "report": ("cxloom.cli.report", "Write one HTML page of results."),
    "cite": ("cxloom.cli.cite", "Print what to cite for RESULT, as BibTeX."),
    "demo": ("cxloom.cli.demo", "Show and draw what cxloom does."),
}
"""The module of each command, and its line in the list of commands."""


class _Command(TyperCommand):
    """A command whose module is loaded when it is called: nobody waits for the libraries of the others."""

    def __init__(self, name: str) -> None:
        self._module, about = COMMANDS[name]
        super().__init__(name, short_help=about)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with ended_at_once():  # what reads the arguments is loaded, too
            return loaded(self._module, str(self.name)).make_context(info_name, args, parent=parent, **extra)


def loaded(module: str, name: str) -> Any:
    """The command `name` of a module: the module's `app`, or else its function of that name."""
    found = import_module(module)
    app = getattr(found, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(getattr(found, name))
    command = typer.main.get_command(app)
    take_text_as_it_is(command)
    return command


_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""The error for wrong arguments of a command, for which Typer has no public name."""


_OF_RUN = {"--threads": "run.threads=N", "--seed": "run.seed=N"}
"""Options that `cxloom run` has, and others only as a key of the spec."""


class _Commands(TyperGroup):
    """Ctrl-C outside of a simulation is an end like any other that the user asked for: code 1, not Typer's 130."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": {name: _Command(name) for name in COMMANDS}})
        take_text_as_it_is(self)

    def invoke(self, ctx: Any) -> Any:
        try:
            with interruptible():
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


def command(out: Output) -> int:
    """Runs the command of `sys.argv`, which prints on `out`; gives its exit code."""
    try:
        # Typer takes the name of the process, which may be any program that calls this.
        code = app(prog_name="cxloom", standalone_mode=False)
        out.flush()
    except (CxloomError, MemoryError, UnwritableError, _UsageError) as error:
        return _failed(error, out)
    except OSError as error:
        return _failed(InputError(reason_of(error), file=error.filename), out)
    return code if isinstance(code, int) else 0


def _failed(error: Exception, out: Output) -> int:
    """Says what went wrong, after what is known; gives the exit code."""
    from cxloom.cli.messages import show_error

    if isinstance(error, UnwritableError):
        if not error.reader_left:
            show_error(InputError(str(error)))
        return 1 if error.reader_left else 2
    try:
        out.flush()
    except UnwritableError as unwritten:
        _failed(unwritten, out)
    if isinstance(error, MemoryError):
        show_error(SimulationError("the memory is used up"))
        return 1
    if isinstance(error, CxloomError):
        show_error(error)
        return 2 if isinstance(error, InputError) else 1
    _show_usage(error)
    return 2


def _show_usage(error: Any) -> None:
    """Prints what is wrong with the arguments, or the help of a command that was given none."""
    message, context = error.format_message(), error.ctx
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
        return
    from cxloom.cli.messages import show_error

    asked = f"see {context.command_path} --help" if context is not None else ""
    key = _OF_RUN.get(getattr(error, "option_name", ""))
    if key is not None and any("--set" in each.opts for each in context.command.params):
        asked = f"--set {key}; {asked}"
    show_error(InputError(message[:1].lower() + message[1:].rstrip("."), allowed=asked))
