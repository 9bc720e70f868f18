"""``cxloom import``: what was measured on machines as parts of a spec, and systems of other simulators as specs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, share_of_reads
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.spec.names import listed

if TYPE_CHECKING:
    from cxloom.curves.order import Ordered
    from cxloom.curves.points import Point
    from cxloom.importing.imported import Imported

app = typer.Typer(
    help="Make a spec, or parts of one, of what other tools have written.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def import_() -> None:
    """Make a spec, or parts of one, of what other tools have written."""


Out = Annotated[str, typer.Option(metavar="FILE", help="The table to write, as .csv.")]
For = Annotated[
    str | None,
    typer.Option(
        "--system", metavar="SPEC", help="The system that the medium is for: the way to it is taken off."
    ),
]
Spec = Annotated[str, typer.Option("--out", metavar="SPEC", help="The spec to write, as .yaml.")]
Memory = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --system: the memory that was measured.")
]


@app.command()
def mlc(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Outputs of mlc --loaded_latency; 67%=FILE: of this share of reads."
        ),
    ],
    out: Out,
    reads: Annotated[
        str | None,
        typer.Option(metavar="P", help="Share of reads of the load, where an output does not say it: 67%."),
    ] = None,
    system: For = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Make a `curve` medium of the loaded latencies that Intel's Memory Latency Checker printed.

    cxloom import mlc loaded.txt --system my-server.yaml --memory cxl --out cxl.csv

    Points are put in the order of their bandwidth. Those of an overloaded machine, with less bandwidth at more latency
    than others, are left out and listed. With --system, the time of an idle read outside of the medium is worked out,
    for the medium's `elsewhere`.

    Exit code 0: written. 2: the input is wrong; nothing was written.
    """
    from cxloom.curves.mlc import read_mlc
    from cxloom.spec.reader import file_text

    _check(out, system, memory)
    given = None if reads is None else share_of_reads(reads, "--reads")
    points: list[Point] = []
    for name in files:
        share, file = _of_share(name, given)
        points += read_mlc(file_text(file, "the output of mlc --loaded_latency"), file, share)
    names = ", ".join(Path(_of_share(name, None)[1]).name for name in files)
    _write(points, f"measured by MLC: {names}", files[0], out, system, memory, as_json)


@app.command()
def mess(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files such as bwlat_90.txt, or a folder of them; 90%=FILE: of this share of reads.",
        ),
    ],
    out: Out,
    clock: Annotated[
        str,
        typer.Option(
            metavar="RATE",
            help="The clock in whose cycles latencies are, 2.1GHz; or ns: they are in ns.",
        ),
    ],
    system: For = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Make a `curve` medium of the curves that the Mess benchmark has measured.

    cxloom import mess curves/ --clock 2.1GHz --out cxl.csv

    A file has the bandwidths and latencies of one share of reads, which its name says. As for cxloom import mlc, points
    of an overloaded machine are left out, and --system takes the way to the memory off.

    Exit code 0: written. 2: the input is wrong; nothing was written.
    """
    from cxloom.curves.mess import files_in, read_mess
    from cxloom.spec.reader import file_text

    _check(out, system, memory)
    ghz = None if clock == "ns" else _ghz(clock)
    points: list[Point] = []
    for name in files:
        share, path = _of_share(name, None)
        for file in files_in(path):
            points += read_mess(file_text(file, "a file of the Mess benchmark"), file, ghz, share)
    names = ", ".join(Path(_of_share(name, None)[1]).name for name in files)
    _write(points, f"measured by Mess: {names}", files[0], out, system, memory, as_json)


@app.command()
def esf(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A configuration of the artifact, in TOML.")],
    out: Spec,
    as_json: AsJson = False,
) -> None:
    """Make a spec of a system that was written for the artifact of the ESF paper (Xerxes).

    cxloom import esf configs/sample-topo.toml --out topo.yaml

    Requesters become hosts, buses links, snoop filters those of their memories. What cannot be taken over as it is
    stands in the spec as comments, and is shown.

    Exit code 0: written. 2: the input is wrong; nothing was written.
    """
    from cxloom.importing.esf import read_esf
    from cxloom.importing.esf_system import spec_of
    from cxloom.spec.reader import file_text

    check_forms([Path(out)], "spec", (".yaml", ".yml"))
    check_writable([Path(out)])
    _write_spec(spec_of(read_esf(file_text(file, "a TOML file"), file), Path(out).parent), file, out, as_json)


@app.command()
def simcxl(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A script such as x86-cxl-type3-with-classic.py.")
    ],
    out: Spec,
    arguments: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="NAME=VALUE", help="An argument of its command line. May be repeated."),
    ] = None,
    board: Annotated[
        str | None, typer.Option(metavar="FILE", help="x86_board.py, if its numbers were changed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a spec of a system that was written for SimCXL or CXL-DMSim.

    cxloom import simcxl x86-cxl-run.py --arg is_asic=False --arg num_cpus=12 --out fpga.yaml

    The script is read and never run: its board's memories, caches and cores, and the bridge and device of
    x86_board.py. What cannot be taken over as it is stands in the spec as comments, and is shown.

    Exit code 0: written. 2: the input is wrong; nothing was written.
    """
    from cxloom.importing.simcxl import read_board, read_simcxl
    from cxloom.importing.simcxl_system import spec_of
    from cxloom.spec.reader import file_text

    check_forms([Path(out)], "spec", (".yaml", ".yml"))
    check_writable([Path(out)])
    given = dict(_argument(text) for text in arguments or [])
    read = read_simcxl(file_text(file, "a Python script"), file, given)
    if board is not None:
        read_board(file_text(board, "x86_board.py"), board, read)
    _write_spec(spec_of(read), file, out, as_json)


def _argument(text: str) -> tuple[str, str]:
    name, equals, value = text.lstrip("-").partition("=")
    if not name or not equals:
        raise InputError("not an argument", found=f"'{text}'", allowed="NAME=VALUE", path="--arg")
    return name, value


def _write_spec(made: Imported, file: str, out: str, as_json: bool) -> None:
    """Writes a spec that is valid, and says what could not be taken over."""
    from rich.text import Text

    from cxloom.display.console import output

    made.check(out, file)
    write_text(Path(out), made.text())
    if as_json:
        print(json.dumps({"spec": made.spec, "notes": made.notes}, indent=2))
        return
    console = output()
    console.print(f"{out} is written; not taken over as it is:", markup=False, soft_wrap=True)
    for note in made.notes:
        console.print(Text(f"- {note}"))


def _check(out: str, system: str | None, memory: str | None) -> None:
    check_forms([Path(out)], "table", (".csv",))
    check_writable([Path(out)])
    if (system is None) != (memory is None):
        missing = "--memory" if memory is None else "--system"
        raise InputError(
            "--system and --memory belong together", found=f"no {missing}", allowed="both, or none"
        )


def _ghz(text: str) -> float:
    """A clock such as 2.1GHz, in GHz. Raises InputError."""
    from cxloom.spec.parts import quantity

    if not text.endswith("Hz"):
        raise InputError("not a clock", found=f"'{text}'", allowed="2.1GHz, or ns", path="--clock")
    try:
        found = quantity("frequency", text) / 1e9
    except InputError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise InputError("not a clock", found=f"'{text}'", allowed="2.1GHz, or ns", path="--clock")
    return found


def _write(
    points: list[Point],
    source: str,
    file: str,
    out: str,
    system: str | None,
    memory: str | None,
    as_json: bool,
) -> None:
    """Writes the table of points, and shows what is in it and what is not."""
    from cxloom.curves.medium import refuse_longer_way, table_of, ways_ns
    from cxloom.curves.order import in_order
    from cxloom.system.system import System

    ordered = in_order(points, file)
    ways: dict[str, float] = {}
    if system is not None and memory is not None:
        ways = ways_ns(System.load(system), memory)
        refuse_longer_way(ordered.points, min(ways.values()), memory, file)
    write_text(Path(out), table_of(ordered.points, source))
    if as_json:
        print(json.dumps(_plain(ordered, ways), indent=2))
        return
    _show(ordered, ways, memory, out)


def _of_share(name: str, given: float | None) -> tuple[float | None, str]:
    """The share of reads and the file of an argument such as ``67%=FILE``."""
    share, equals, file = name.partition("%=")
    if not equals or not share.replace(".", "", 1).isdigit():
        return given, name
    return share_of_reads(f"{share}%", "FILE"), file


def _plain(ordered: Ordered, ways: Mapping[str, float]) -> dict[str, object]:
    return {
        "points": len(ordered.points),
        "bent_back": [point.line for point in ordered.bent_back],
        "repeated": [point.line for point in ordered.repeated],
        "elsewhere_ns": min(ways.values(), default=None),
        "ways_ns": dict(ways),
    }


def _places(points: Sequence[Point], ordered: Ordered) -> str:
    """Where points stand: their lines, with their files where there are several."""
    if len({point.file for point in (*ordered.points, *ordered.bent_back, *ordered.repeated)}) > 1:
        return listed([f"{Path(point.file).name}:{point.line}" for point in points], word="and")
    lines = listed([str(point.line) for point in points], word="and")
    return f"line {lines}" if len(points) == 1 else f"lines {lines}"


def _show(ordered: Ordered, ways: Mapping[str, float], memory: str | None, out: str) -> None:
    from rich.text import Text

    from cxloom.display.console import output
    from cxloom.display.plain_table import plain_table, print_whole

    table = plain_table()
    for title in ("reads", "points", "GB/s", "ns"):
        table.add_column(title, justify="right")
    for share in dict.fromkeys(point.reads for point in ordered.points):
        curve = [point for point in ordered.points if point.reads == share]
        table.add_row(
            f"{100 * share:.0f} %",
            str(len(curve)),
            f"{curve[0].bandwidth_gb_per_s:.1f} to {curve[-1].bandwidth_gb_per_s:.1f}",
            f"{min(point.latency_ns for point in curve):.1f} to {max(point.latency_ns for point in curve):.1f}",
        )
    print_whole(table)
    console = output()
    for points, why in (
        (ordered.bent_back, "less bandwidth at more latency than other points: an overload"),
        (ordered.repeated, "the bandwidth of other points, at more latency"),
    ):
        if points:
            console.print(Text(f"left out, {_places(points, ordered)}: {why}", style="dim"), soft_wrap=True)
    least = min(ways.values(), default=None)
    way = "" if least is None else f", elsewhere: {least:.6g}ns"
    medium = f"media: {{kind: curve, file: {out}{way}}}"
    console.print(
        Text("\n" + (medium if memory is None else f"devices:\n  {memory}: {{{medium}}}")), soft_wrap=True
    )
    if least is None:
        note = "latencies as measured have the way to the memory in them: --system and --memory take it off"
        console.print(Text(f"\nnote: {note}", style="dim"), soft_wrap=True)
    farther = [f"from {name} {ns:.6g} ns" for name, ns in ways.items() if ns > min(ways.values())]
    if farther:
        note = (
            f"the way is that from {next(iter(ways))}, the nearest: where others were measured, elsewhere is "
            f"{listed(farther, word='and')}"
        )
        console.print(Text(f"\nnote: {note}", style="dim"), soft_wrap=True)
