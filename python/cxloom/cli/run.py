"""``cxloom run``: simulate a spec."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cxloom.base.errors import CxloomError, InputError, SimulationError
from cxloom.cli.interrupt import Interrupt
from cxloom.cli.options import Plugins, Quiet, Sets, Spec, TailShare, tail_share
from cxloom.cli.progress import ProgressBar
from cxloom.display.console import messages
from cxloom.results.outdir import OutputDirectory, is_stored
from cxloom.results.result import Result
from cxloom.running.protocol_log import LogRequest, ProtocolLog
from cxloom.running.run import Progress, UnfinishedError, UnwrittenError, asked_tables, nanoseconds, simulate
from cxloom.spec.node import Origin
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins
from cxloom.spec.reader import read_value
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import build
from cxloom.system.system import System

Logs = Annotated[
    list[str],
    typer.Option(
        "--log",
        metavar="protocol[=FILE]|address=N",
        help="Log the messages of the protocol: on standard error; with --out in protocol.parquet among the results; "
        "or into FILE (.txt, .log or .parquet). With address=0x1000, only those of that line. May be repeated.",
    ),
]


def run(
    spec: Spec,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the random streams.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the results into this directory.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON object.")] = False,
    quiet: Quiet = False,
    max_time: Annotated[
        str | None, typer.Option(metavar="T", help="End after this simulated time: 1ms.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="ci=P", help="End when the mean latency is known so well: ci=1%.")
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto", help="Threads that play this simulation, at most; results are the same."
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Simulate every line of a graph of tasks: tasks.exact=true.")
    ] = False,
    tail: TailShare = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Compare with this system, without --set: a spec file, a preset, or a directory that --out wrote.",
        ),
    ] = None,
    logs: Logs = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Simulate SPEC; show where the time went.

    A trace of a workload is played as fast as the host's queue allows, or at its times. What a program takes is another
    question: cxloom exec --replay TRACE (docs/traces.md).

    Exit code 0: finished. 1: it could not finish (deadlock, --max-time, Ctrl-C); what was measured is labelled
    truncated. 2: the input is wrong, nothing was written.
    """
    limit = None if max_time is None else nanoseconds(max_time, "--max-time")
    log = LogRequest.parse(logs)
    share = tail_share(tail, as_json)
    if against is not None and as_json:
        raise InputError("--against is no part of --json", allowed="a table; `cxloom compare --json`")
    always = ["tasks.exact=true"] if exact else []
    resolved = resolve(spec, [*sets, *always], plugins, seed, until, threads)
    if exact and not _has_graph(resolved):
        raise InputError(
            "every line is simulated: the spec has no graph of tasks",
            found="--exact",
            allowed="a spec with tasks, or no --exact",
        )
    base: Result | Resolved | None = None
    if against is not None:
        stored = is_stored(against)
        base = Result.load(against) if stored else resolve(against, always, plugins, seed, until, threads)
    result, failure = execute(resolved, out, quiet, limit, log)
    if as_json:
        result.write_json(sys.stdout)
    elif not quiet:
        result.show()
        if share is not None and not result.truncated:
            from cxloom.results.tail_table import show_tail

            show_tail(result.tail(share))
        if against is not None and base is not None and failure is None:
            failure = _show_beside(spec, result, against, base, limit)
        if out is not None and not isinstance(failure, InputError):
            print(f"\nResults are in {out}")
    finish(failure)


def _has_graph(resolved: Resolved) -> bool:
    """Whether it has tasks to play."""
    tasks = resolved.root.get("tasks")
    return tasks is not None and any(tasks.get(key) is not None for key in ("graph", "file"))


def _show_beside(
    spec: str, result: Result, against: str, base: Result | Resolved, max_time_ns: float | None
) -> CxloomError | None:
    """Shows results beside those of another system, which is run now if it has none; gives why it is unfinished."""
    from cxloom.cli.comparison import show_comparison
    from cxloom.results.comparison import compare

    failure = None
    if isinstance(base, Resolved):
        base, failure = execute(base, None, False, max_time_ns)
    if failure is None:
        print()
        show_comparison(compare({against: base, spec if spec != against else f"{spec} as set": result}))
    return failure


def finish(failure: CxloomError | None) -> None:
    """Ends a command whose results are printed: with what kept the run from its end, or them from being written."""
    sys.stdout.flush()
    if isinstance(failure, InputError):
        raise failure
    if failure is not None:
        from rich.text import Text

        messages().print(Text.assemble(("unfinished", "bold yellow"), f": {failure}"))
        raise typer.Exit(1)


def resolve(
    spec: str,
    sets: list[str],
    plugins: list[str],
    seed: str | None = None,
    until: str | None = None,
    threads: str | None = None,
    case: Sequence[str] = (),
) -> Resolved:
    """The spec with what the command line sets, of which `case` is that of a --with. Raises InputError."""
    load_plugins(plugins)
    overrides = [Override.parse(text) for text in sets] + [Override.parse(text, "--with") for text in case]
    for option, value in (("seed", seed), ("threads", threads)):
        if value is not None:
            origin = Origin(path=f"run.{option}", note=f"from --{option} {value}")
            overrides.append(Override(f"run.{option}", read_value(value, origin)))
    if until is not None:
        overrides.append(Override.until(until, "from --until "))
    return System.load(spec).resolve(overrides)


class HaltedError(SimulationError):
    """A run was ended by a signal: whoever sent it wants no further one begun."""


def execute(
    resolved: Resolved,
    out: str | None,
    quiet: bool,
    max_time_ns: float | None = None,
    wanted: LogRequest | None = None,
) -> tuple[Result, CxloomError | None]:
    """Runs with a progress bar, stopping at Ctrl-C; gives the results, and why they are unfinished or unwritten."""
    simulation = build(resolved)
    if out is None and not quiet and (tables := asked_tables(resolved)):
        *others, last = [f"outputs.{name}" for name in tables]
        names = " and ".join([", ".join(others), last] if others else [last])
        from rich.text import Text

        note = f"note: {names} would go into a file: give --out DIR; the rows are dropped"
        messages().print(Text(note, style="dim"))
    shown = out is None
    scrolls = shown and wanted is not None and wanted.plain
    with (
        OutputDirectory.optional(out) as directory,
        ProtocolLog.optional(wanted, simulation, directory, shown) as log,
        Interrupt() as interrupt,
        ProgressBar(quiet or scrolls) as bar,
    ):

        def watch(progress: Progress) -> str | None:
            bar.update(progress)
            return interrupt.reason

        try:
            result = simulate(
                resolved, simulation, directory, log, max_time_ns=max_time_ns, watch=watch, keep=False
            )
        except (UnfinishedError, UnwrittenError) as error:
            return error.result, error
        interrupted = interrupt.reason is not None
    if not result.truncated:
        return result, None
    return result, (HaltedError if interrupted else SimulationError)(result.stop_reason)
