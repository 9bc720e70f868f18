"""``cxloom exec``: run a program on a simulated system."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from cxloom.base.errors import InputError, SimulationError
from cxloom.cli.interrupt import Interrupt
from cxloom.cli.messages import ANSWERED_WITH_ERRORS, show_error
from cxloom.cli.options import Plugins, ResultPage
from cxloom.cli.pages import errors_at, option_of, placement, read_placement
from cxloom.cli.program_options import (
    AllowErrors,
    Core,
    Exact,
    Interleave,
    Membind,
    Preferred,
    Record,
    ResultFile,
)
from cxloom.cli.progress import ProgramLines
from cxloom.cli.trace import levels_of
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.display.console import messages
from cxloom.execution import execute, replay
from cxloom.execution.objects import Rule
from cxloom.execution.processor import Processor
from cxloom.execution.sampling import Sampling
from cxloom.report.execution_table import show
from cxloom.spec.plugins import load_plugins
from cxloom.system.system import System
from cxloom.trace.capturing import CacheLevel


def _refuse_beside_replay(options: Mapping[str, Any]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        allowed = "these options with a program; a trace has them from its recording"
        raise InputError("a replay with options of a recording", found=" and ".join(given), allowed=allowed)


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("exec", context_settings={"allow_interspersed_args": False})
def exec_(
    spec: Annotated[
        str,
        typer.Option("--system", metavar="SPEC", help="The system: a spec file, or a shipped preset."),
    ],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="PROGRAM ARGS", help="What to run, after --.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Compare with the same program on this system.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The device that runs it; the only host by default."),
    ] = None,
    pages: Annotated[
        str | None,
        typer.Option(
            metavar="PLACEMENT",
            help="Where its pages are, as addresses of a workload: "
            "'{kind: interleave, nodes: [a, b], weights: [3, 1]}'. "
            "Without --against it is compared with pages in the nearest memory.",
        ),
    ] = None,
    membind: Membind = None,
    preferred: Preferred = None,
    interleave: Interleave = None,
    places: Annotated[
        list[str],
        typer.Option(
            "--place",
            metavar="NAME=MEM,MEM,...",
            help="Where the pages of single objects go, by their names in the results, with * and ?: "
            "'map:build_*=cxl', 'data:table=local'. May be repeated; the first match wins, and --pages or its "
            "like for the rest.",
        ),
    ] = [],  # noqa: B006
    core: Core = None,
    page_tables: Annotated[
        str | None,
        typer.Option(
            "--page-tables",
            metavar="PLACEMENT",
            help="Where the pages of its page tables are, in the words of --pages; by default with the "
            "others. They are read by a core with a tlb.",
        ),
    ] = None,
    caches: Annotated[
        list[str],
        typer.Option(
            "--levels",
            metavar="LEVEL,LEVEL,...",
            help="The caches that each core has for itself, the nearest first, "
            f"{CacheLevel.FORM.partition(',')[0]}; those of the host's core by default.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    region: Annotated[
        str | None,
        typer.Option(
            "--roi",
            metavar="SYMBOL",
            help="Only this function of the program or of a library of it counts, with all that it calls, or, as "
            "'marks', what is between the marks of <cxloom/roi.h>.",
        ),
    ] = None,
    record: Record = None,
    trace: Annotated[
        str | None,
        typer.Option(
            "--replay",
            metavar="TRACE",
            help="Instead of a program: play the trace of one, recorded by --record or `cxloom trace capture`.",
        ),
    ] = None,
    exact: Exact = False,
    allow_errors: AllowErrors = False,
    out: ResultFile = None,
    html: ResultPage = None,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Run a program on a simulated system.

    QEMU emulates the x86-64 Linux program, and what it does to memory is simulated: how long it would take there, and
    where its time would go, is shown on standard error. Standard input and output are the program's. Ctrl-C ends the
    program and shows what it did up to then. Exit code: the program's own, 128 and the signal's number if one ended it,
    0 after a replay; 1: interrupted, or the program cannot be followed; 2: QEMU or the program is missing, or the input
    is wrong; 125: memory of a system answered accesses of the program with errors, so that its time there means
    nothing, and nothing is written.

    How well a memory takes a trace that nothing holds back is another question: cxloom run, with the trace as the
    workload of a host (docs/traces.md).
    """
    if (command is None) == (trace is None):
        raise InputError("what is to be run?", allowed="either PROGRAM ARGS after --, or --replay TRACE")
    if trace is not None:
        _refuse_beside_replay({"--levels": caches, "--roi": region, "--record": record})
    levels = levels_of(caches) if caches else ()
    check_forms([] if out is None else [out], "result", (".json",))
    check_forms([] if html is None else [html], "page", (".html", ".htm"), "--html")
    check_writable([file for file in (out, html) if file is not None])
    load_plugins(plugins)
    flags = {"bind": membind, "preferred": preferred, "interleave": interleave}
    place = placement(pages, flags)
    rules = tuple(map(Rule.parse, places))
    tables = None if page_tables is None else read_placement(page_tables, "--page-tables")
    near = "first-touch" if against is not None or (place is None and not rules) else "preferred"
    placed = place is not None or bool(rules) or tables is not None
    compared = against if against is not None else spec if placed else None
    systems = _told_apart([name for name in (compared, spec) if name is not None])
    rest = "preferred" if rules and against is None else "first-touch"
    placements = [near] * (len(systems) - 1) + [rest if place is None else place]
    lines = ProgramLines()
    with Interrupt("the program") as interrupt, errors_at(option_of(flags), rules):
        common: dict[str, Any] = {
            "host": host,
            "pages": placements,
            "places": [()] * (len(systems) - 1) + [rules],
            "processor": None if core is None else Processor.load(core),
            "page_tables": tables,
            "sampling": None if exact else Sampling(),
            "interrupted": lambda: interrupt.reason is not None,
            "watch": lines.update,
            "watch_past": lines.past,
        }
        if trace is not None:
            result = replay(trace, systems, **common)
        else:
            result = execute(command or [], systems, caches=levels, region=region, record=record, **common)
    wrong = result.errors()
    if wrong and not allow_errors:
        for system, said in wrong.items():
            show_error(SimulationError(f"the program cannot run on {system}: {said}"))
        raise typer.Exit(ANSWERED_WITH_ERRORS)
    show(result, messages())
    if out is not None:
        write_text(out, json.dumps(result.to_dict(), indent=2) + "\n")
    if html is not None:
        from cxloom.report.execution_page import execution_page

        write_text(html, execution_page(result))
    if result.unrecorded is not None:
        raise result.unrecorded
    raise typer.Exit(0 if result.ended is None else result.ended.command_code)


def _told_apart(specs: Sequence[str]) -> list[System]:
    """The systems; several that have one name, or none, are called as their files are."""
    systems = [System.load(spec) for spec in specs]
    if len(set(specs)) == 1:
        return systems
    names = {str(system.resolve().plain().get("name", "")) for system in systems}
    if len(names) == len(systems):
        return systems
    return [system.set("name", spec) for spec, system in zip(specs, systems, strict=True)]
