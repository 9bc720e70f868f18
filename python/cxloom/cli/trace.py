"""``cxloom trace``: look at traces, convert them, record them."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from cxloom.base.errors import InputError, shown
from cxloom.base.words import counted
from cxloom.cli.interrupt import Interrupt
from cxloom.cli.options import AsJson, whole_number
from cxloom.cli.progress import ProgramLines, ReadingBar
from cxloom.spec.node import Origin
from cxloom.spec.reader import read_value
from cxloom.trace.capturing import SOURCES, CacheLevel, CaptureResult, Sample
from cxloom.trace.capturing import capture as record
from cxloom.trace.format import TraceBatch
from cxloom.trace.measuring import TraceInfo
from cxloom.trace.measuring import info as measure
from cxloom.trace.reader import FORMATS, TraceReader
from cxloom.trace.writer import convert as rewrite

app = typer.Typer(
    help="Look at memory traces, convert them, record them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Tick = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="How long a tick takes, where the trace counts ticks or cycles: such as 625ps, 416.667ps or 2.4GHz.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="F", help=f"Form of the trace, if the content does not identify it: {', '.join(FORMATS)}."
    ),
]
Levels = Annotated[
    str | None,
    typer.Option(
        metavar="N,N,...",
        help="For ramulator2-read-write: how many channels, ranks, bank groups, banks, rows and columns there are.",
    ),
]


@app.command("info")
def info(
    path: Annotated[
        str, typer.Argument(metavar="TRACE", help="A trace in any form; - for text on standard input.")
    ],
    tick: Tick = None,
    format: Format = None,
    levels: Levels = None,
    as_json: AsJson = False,
) -> None:
    """Measure TRACE: accesses, footprint, threads, time.

    Exit code 2: it cannot be read or is no trace.
    """
    with _terminable(), _options_named():
        found = measure(path, tick=tick, format=format, levels=_numbers(levels), watch=_progress("reading"))
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        _print_rows(_info_rows(found))


@app.command("convert")
def convert(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A trace in any form; - for text on standard input.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET", help="What to write: NAME.parquet, or NAME.txt or NAME.trace for text."
        ),
    ],
    tick: Tick = None,
    format: Format = None,
    levels: Levels = None,
) -> None:
    """Write the trace SOURCE again as TARGET, in the form that its name asks for.

    Exit code 2: SOURCE cannot be read or is no trace, or TARGET cannot be written; then TARGET is as it was.
    """
    remarks: list[str] = []
    shows = _progress("converting")

    def watch(reader: TraceReader, batches: Iterator[TraceBatch]) -> Iterator[TraceBatch]:
        yield from shows(reader, batches)
        remarks.extend(reader.remarks)

    with _terminable(), _options_named():
        count = rewrite(source, target, tick=tick, format=format, levels=_numbers(levels), watch=watch)
    print(f"{shown(str(target))}: {counted(count, 'access')}, {_bytes(target.stat().st_size)}")
    for remark in remarks:
        print(f"remark: {remark}")


@app.command("capture", context_settings={"allow_interspersed_args": False})
def capture(
    command: Annotated[list[str], typer.Argument(metavar="PROGRAM ARGS", help="What to run, after --.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The trace to write; PROGRAM.parquet by default."),
    ] = None,
    caches: Annotated[
        list[str],
        typer.Option(
            "--levels",
            "--cache",
            metavar="LEVEL,LEVEL,...",
            help="Record what misses these caches, the nearest first, such as L1:48KiB:12,L2:2MiB:16; a level is "
            f"{CacheLevel.FORM.partition(',')[0]}.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    skip: Annotated[
        int,
        typer.Option(
            parser=whole_number(0), metavar="N", help="Leave out the first N accesses; caches warm up."
        ),
    ] = 0,
    limit: Annotated[
        int | None,
        typer.Option(parser=whole_number(1), metavar="N", help="End the program after N accesses."),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            "--roi",
            metavar="SYMBOL",
            help="Record this function of the program or of a library of it, with all that it calls, or, as 'marks', "
            "what is between the marks of <cxloom/roi.h>.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="W/P",
            help="Record the last W of every P instructions, such as 1M/100M; the caches fill all the time.",
        ),
    ] = None,
    core: Annotated[
        str | None,
        typer.Option(
            metavar="CORE",
            help="The core whose cycles are recorded, as core of a host has it: '{width: 4, window: 224}'. Its own "
            "caches filter if --levels names none.",
        ),
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option("--virtual", help="Keep the program's addresses, instead of frames by first touch."),
    ] = False,
    source: Annotated[
        str, typer.Option("--with", metavar="EMULATOR", help=f"What runs the program: {', '.join(SOURCES)}.")
    ] = SOURCES[0],
) -> None:
    """Run a program and record what it does to memory, or what of that misses its caches.

    QEMU emulates the program, its threads and the programs that it starts; it runs some hundred times slower. Standard
    input and output are the program's; what was recorded is shown on standard error. Ctrl-C ends the program and keeps
    what was recorded. Exit code: the program's own, 128 and the signal's number if one ended it, 0 if it was ended at
    the limit; 1: interrupted, or the program cannot be followed; 2: QEMU or the program is missing, or a cache cannot
    be.
    """
    levels = levels_of(caches)
    with _option("--sample"):
        windows = Sample.parse(sample) if sample is not None else None
    shape = None if core is None else read_value(core, Origin(path="--core", note="from --core")).plain()
    if shape is not None and not isinstance(shape, dict):
        raise InputError("not a core", found=str(core), allowed="such as '{width: 4}'", path="--core")
    target = out if out is not None else Path(f"{Path(command[0]).name}.parquet")
    with (
        Interrupt("the capture") as interrupt,
        _option("", {"region": "--roi", "sample": "--sample", "core": "--core"}),
    ):
        result = record(
            command,
            target,
            caches=levels,
            skip=skip,
            limit=limit,
            virtual=virtual,
            region=region,
            sample=windows,
            core=shape,
            watch=ProgramLines().update,
            interrupted=lambda: interrupt.reason is not None,
            source=source,
        )
    _print_rows(_capture_rows(target, result), sys.stderr)
    raise typer.Exit(result.ended.command_code)


def levels_of(texts: list[str]) -> list[CacheLevel]:
    """The levels of --levels. Raises InputError if one is none."""
    levels = []
    for text in (level for some in texts for level in some.split(",")):
        with _option("--levels"):
            levels.append(CacheLevel.parse(text))
    return levels


@contextlib.contextmanager
def _option(name: str, names: Mapping[str, str] | None = None) -> Iterator[None]:
    """Names the option that an InputError is about, as the command line has it."""
    try:
        yield
    except InputError as error:
        error.path = (names or {}).get(error.path, error.path) or name
        raise


def _numbers(levels: str | None) -> list[int]:
    """The numbers of --levels. Raises InputError if they are none."""
    parts = levels.split(",") if levels is not None else []
    if not all(part.isascii() and part.isdigit() and len(part) < 20 for part in parts):
        raise InputError(
            "not numbers", found=f"'{levels}'", allowed="numbers such as 1,2,8,4,65536,128", path="--levels"
        )
    return [int(part) for part in parts]


@contextlib.contextmanager
def _options_named() -> Iterator[None]:
    """Names the option that an InputError is about as the command line has it."""
    try:
        yield
    except InputError as error:
        if error.path.partition("[")[0] in ("tick", "format", "levels"):
            error.path = f"--{error.path}"
        raise


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """While it is entered, SIGTERM is like Ctrl-C, and both end a wait for input: what is half-written goes."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    # SIGINT too: Polars, once imported, has a handler that leaves a blocked read blocked.
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _info_rows(found: TraceInfo) -> Iterator[tuple[str, str]]:
    size = "" if found.file_bytes is None else f", {_bytes(found.file_bytes)}"
    yield "trace", f"{found.path} ({found.format}{size})"
    atomics = f", {counted(found.atomics, 'atomic')}" if found.atomics else ""
    flushes = f", {counted(found.flushes, 'flush')}" if found.flushes else ""
    kinds = f"{counted(found.reads, 'read')}, {counted(found.writes, 'write')}{atomics}{flushes}"
    yield "accesses", f"{found.accesses:,}: {kinds}"
    yield "read share", f"{found.read_share:.1%}"
    sizes = (
        f"{found.size_min} B"
        if found.size_min == found.size_max
        else f"{found.size_min} to {found.size_max} B"
    )
    yield "size", f"{sizes} each, {_bytes(found.bytes)} in all"
    pages = counted(found.pages, "page")
    yield "footprint", f"{_bytes(found.footprint_bytes)} in lines of 64 B, {pages} of 4 KiB"
    yield "addresses", f"{found.lowest_address:#x} to {found.highest_address:#x}"
    each = ", ".join(f"{thread}: {count:,}" for thread, count in list(found.threads.items())[:8])
    yield "threads", f"{len(found.threads)} ({each}{', ...' if len(found.threads) > 8 else ''})"
    if found.instructions:
        mean, most = found.instruction_gap_mean, found.instruction_gap_max
        yield "instructions", f"{found.instructions:,}; {mean:.1f} an access, at most {most:,}"
        yield "per 1000 instr.", f"{1000 / mean:.2f} accesses"
    else:
        yield "instructions", "not given"
    yield "dependences", f"{found.dependences:,}" if found.dependences else "not given"
    if found.fences:
        yield "fences", f"{found.fences:,}"
    if found.cycles:
        yield "cycles", f"{found.cycles:,} of its threads, where nothing waits for memory"
    if found.notes:
        yield "notes", f"{found.notes:,} of calls, branches and progress: no accesses"
    if found.first_tick is not None:
        yield (
            "timestamps",
            f"{found.first_tick:,} to {found.last_tick:,} ticks; --tick says how long one takes",
        )
    elif found.first_timestamp_ps is None or found.span_ps is None:
        yield "timestamps", "not given"
    else:
        given = "" if found.timestamps == found.accesses else f" ({counted(found.timestamps, 'access')})"
        last = found.first_timestamp_ps + found.span_ps
        yield "timestamps", f"{_time(found.first_timestamp_ps)} to {_time(last)}{given}"
    yield from (("remark", remark) for remark in found.remarks)
    yield from sorted(found.metadata.items())


def _capture_rows(out: Path, result: CaptureResult) -> Iterator[tuple[str, str]]:
    yield "trace", f"{out} ({_bytes(out.stat().st_size)})"
    yield "accesses", f"{result.accesses:,} in {counted(result.instructions, 'instruction')}"
    for counts in result.levels:
        share = counts.misses / max(1, counts.hits + counts.misses)
        text = f"{counted(counts.hits, 'hit')}, {counted(counts.misses, 'miss')} ({share:.1%}), "
        text += counted(counts.write_backs, "write-back")
        if counts.prefetches:
            used = counts.useful / max(1, counts.useful + counts.useless)
            text += f", {counted(counts.prefetches, 'line')} prefetched ({used:.1%} of those that ended were used)"
        yield str(counts.level), text
    if result.loads is not None and result.stores is not None:
        did = f"{result.instructions_in_all:,} instructions, {counted(result.loads, 'load')}"
        flushed = f", {counted(result.flushes, 'flush')}" if result.flushes else ""
        yield "in all", f"{did}, {counted(result.stores, 'store')}{flushed}"
    if result.threads is not None and result.processes is not None and result.threads > 1:
        yield "ran", f"{counted(result.threads, 'thread')} of {counted(result.processes, 'program')}"
    if result.escaped:
        yield "not recorded", f"{counted(result.escaped, 'program')} that cannot be emulated"
    yield "program", str(result.ended)
    for note in result.notes:
        yield "note", note


def _print_rows(rows: Iterator[tuple[str, str]], file: TextIO | None = None) -> None:
    for name, text in rows:
        print(f"{shown(name):<16}  {shown(text)}", file=file)


def _progress(verb: str) -> Callable[[TraceReader, Iterator[TraceBatch]], Iterator[TraceBatch]]:
    """Progress while batches pass."""

    def watch(reader: TraceReader, batches: Iterator[TraceBatch]) -> Iterator[TraceBatch]:
        with ReadingBar(verb, reader.length) as bar:
            for batch in batches:
                yield batch
                bar.update(len(batch))

    return watch


def _bytes(count: int) -> str:
    return _scaled(count, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def _time(picoseconds: int) -> str:
    return _scaled(picoseconds, 1000, ("ps", "ns", "us", "ms", "s"))


def _scaled(value: int, step: int, units: Sequence[str]) -> str:
    """A value in the first of the units in which it is below `step`, or in the last."""
    amount = float(value)
    for unit in units[:-1]:
        if amount < step:
            return f"{amount:.4g} {unit}"
        amount /= step
    return f"{amount:,.4g} {units[-1]}"
