"""``cxloom measure``: a system measured as MLC, LMbench and STREAM measure machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxloom.base.errors import InputError
from cxloom.base.words import of_both
from cxloom.cli.options import Against, Plugins, PointsAtATime, Quiet, Sets, Spec, share_of_reads, written_to
from cxloom.cli.pages import FLAGS, placement
from cxloom.cli.progress import SweepBar
from cxloom.cli.writing import check_writable
from cxloom.display.notes import folded
from cxloom.measure import PATTERNS, TOOLS, chosen, one_of, refuse_both
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.measure.bench import Bench
    from cxloom.measure.measurement import Measurement

TAKES = {
    "latency": ("--from",),
    "matrix": (),
    "sizes": ("--from", "--largest"),
    "loaded": ("--from", "--reads", "--pattern", "--threads"),
    "bandwidth": ("--pattern", "--threads"),
    "stream": ("--stores", "--threads", "--pages", *FLAGS.values()),
}
"""The options of each tool, besides the common ones."""


def measure(
    spec: Spec,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help=f"One of {', '.join(TOOLS)}.")],
    requester: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="The requester that measures; by default the first."),
    ] = None,
    memories: Annotated[
        list[str],
        typer.Option(
            "--memory", metavar="NAME", help="The memory to go to; by default all. May be repeated."
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    reads: Annotated[
        str | None,
        typer.Option(
            "--reads",
            metavar="P",
            help="Of loaded: share of reads of the load, or several: 67%, 0%,50%,100%.",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option("--pattern", metavar="KIND", help="Of loaded and bandwidth: random or sequential."),
    ] = None,
    stores: Annotated[
        str | None, typer.Option("--stores", metavar="KIND", help="Of stream: allocate or streaming.")
    ] = None,
    pages: Annotated[
        str | None,
        typer.Option(
            "--pages",
            metavar="PLACEMENT",
            help="Of stream: where the pages of its arrays are, as addresses of a workload: "
            "'{kind: interleave, nodes: [a, b], weights: [3, 1]}'.",
        ),
    ] = None,
    membind: Annotated[
        str | None,
        typer.Option("--membind", metavar="MEM,MEM,...", help="Of stream: in these memories alone."),
    ] = None,
    preferred: Annotated[
        str | None,
        typer.Option("--preferred", metavar="MEM", help="Of stream: in this memory as long as it has room."),
    ] = None,
    interleave: Annotated[
        str | None,
        typer.Option("--interleave", metavar="MEM,MEM,...", help="Of stream: in these memories in turn."),
    ] = None,
    largest: Annotated[
        str | None, typer.Option("--largest", metavar="SIZE", help="Of sizes: the largest, such as 64MiB.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            metavar="N",
            help="Of loaded, bandwidth and stream: threads of each requester with cores; by default one for each core.",
        ),
    ] = None,
    jobs: PointsAtATime = None,
    out: Annotated[
        list[str],
        written_to("Write the picture (.svg, .png, .pdf) or the rows (.json, .csv)."),
    ] = [],  # noqa: B006
    against: Against = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as one JSON object.")] = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Measure SPEC as MLC, LMbench and STREAM do.

    latency: idle, to each memory. matrix: from each requester to each memory. sizes: over the size of what is read,
    through the caches. loaded: of a probe, over the bandwidth of all. bandwidth: the peak, by the mix of reads and
    writes. stream: the four kernels of STREAM, on each memory or with pages placed over several. The workload and the
    events of SPEC are left out.

    Where requests are answered with an error there is no number, and a note says so. Exit code 0: measured. 1: a point
    could not finish, or there is no number at all: all requests were answered with an error, or nothing takes time
    where a bandwidth is asked for. 2: the input is wrong, as that of a system without a requester or memory for it;
    nothing was written.
    """
    from cxloom.measure.bench import Bench
    from cxloom.measure.measurement import form_of

    one_of(tool, TOOLS, "TOOL")
    given = {
        "--from": requester,
        "--reads": reads,
        "--pattern": pattern,
        "--stores": stores,
        "--largest": largest,
        "--threads": threads,
        "--pages": pages,
        "--membind": membind,
        "--preferred": preferred,
        "--interleave": interleave,
    }
    for option, value in given.items():
        if value is not None and option not in TAKES[tool]:
            raise InputError(f"{tool} takes no {option}", allowed=", ".join(TAKES[tool]), path=option)
    given["pages"] = placement(pages, {"bind": membind, "preferred": preferred, "interleave": interleave})
    refuse_both(memories, given["pages"])
    for file in out:
        form_of(Path(file))
    check_writable(map(Path, out))
    load_plugins(plugins)
    if against is not None and as_json:
        raise InputError("--against is no part of --json", allowed="a table, or each by itself")
    overrides = [Override.parse(text) for text in sets]
    wanted = [(spec, overrides)] if against is None else [(against, []), (spec, overrides)]
    for system, over in wanted:
        System.load(system).resolve(over)  # what is wrong with one is said before another is measured
    found = []
    for system, over in wanted:
        with SweepBar(quiet, tool) as bar:
            bench = Bench(
                system, memories=memories, jobs=jobs, threads=threads, watch=bar.update, overrides=over
            )
            found.append(_TOOLS[tool](bench, given))
    *base, measured = found
    for file in out:
        measured.save(file)
    if as_json:
        print(json.dumps(measured.to_json(), indent=2, allow_nan=False))
    elif not quiet:
        _show(measured, out, [against or "", spec], *base)


def _show(measured: Measurement, out: list[str], systems: list[str], base: Measurement | None = None) -> None:
    """Prints what was measured; beside `base`, the same of the first of two systems, if there is one."""
    from rich.text import Text

    from cxloom.display.console import output

    console = output()
    if base is None:
        console.print(Text.assemble((measured.title, "bold"), f", {measured.system}\n"))
        console.print(measured.table())
    else:
        from cxloom.display.plain_table import print_whole
        from cxloom.measure.beside import beside

        console.print(Text(measured.title, style="bold"))
        for letter, system in zip("AB", systems, strict=True):
            console.print(Text.assemble((letter, "bold"), f"  {system}"), soft_wrap=True)
        console.print()
        print_whole(beside(base, measured))
    for note in folded(measured.notes if base is None else of_both(base.notes, measured.notes)):
        console.print(Text(f"\nnote: {note}", style="dim"))
    if out:
        print(f"\nWritten: {', '.join(out)}")


def _shares(text: str | None) -> list[float]:
    shares = [
        share_of_reads(each.strip(), "--reads") for each in ("100%" if text is None else text).split(",")
    ]
    if len(set(shares)) < len(shares):
        raise InputError("a share of reads twice", found=f"'{text}'", allowed="each once", path="--reads")
    return shares


def _latency(bench: Bench, given: dict[str, Any]) -> Measurement:
    from cxloom.measure import idle_latency

    return idle_latency.latency(bench, chosen(bench, given["--from"]))


def _matrix(bench: Bench, _given: dict[str, Any]) -> Measurement:
    from cxloom.measure import idle_latency

    return idle_latency.matrix(bench)


def _sizes(bench: Bench, given: dict[str, Any]) -> Measurement:
    from cxloom.measure import size_sweep
    from cxloom.measure.bench import byte_count

    largest = None if given["--largest"] is None else byte_count(given["--largest"], "--largest")
    return size_sweep.sizes(bench, chosen(bench, given["--from"]), largest)


def _loaded(bench: Bench, given: dict[str, Any]) -> Measurement:
    from cxloom.measure import loaded_latency

    pattern = one_of(given["--pattern"] or "random", PATTERNS, "--pattern")
    return loaded_latency.loaded(bench, chosen(bench, given["--from"]), _shares(given["--reads"]), pattern)


def _bandwidth(bench: Bench, given: dict[str, Any]) -> Measurement:
    from cxloom.measure import peak

    return peak.bandwidth(bench, one_of(given["--pattern"] or "sequential", PATTERNS, "--pattern"))


def _stream(bench: Bench, given: dict[str, Any]) -> Measurement:
    from cxloom.measure import peak

    stores = one_of(given["--stores"] or "allocate", peak.STORES, "--stores")
    option = next((flag for flag in FLAGS.values() if given[flag] is not None), "--pages")
    return peak.stream(bench, stores, given["pages"], option)


_TOOLS: dict[str, Callable[[Bench, dict[str, Any]], Measurement]] = {
    "latency": _latency,
    "matrix": _matrix,
    "sizes": _sizes,
    "loaded": _loaded,
    "bandwidth": _bandwidth,
    "stream": _stream,
}
