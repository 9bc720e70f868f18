"""``cxloom compare``: several systems with their work, side by side."""

from __future__ import annotations

import json
import math
import os
import shlex
import string
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import CxloomError, InputError
from cxloom.cli.options import AsJson, Plugins, Quiet, Sets
from cxloom.cli.run import execute, finish, resolve
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.results.outdir import SUMMARY
from cxloom.results.result import Result
from cxloom.running.run import nanoseconds

if TYPE_CHECKING:
    from rich.table import Table

    from cxloom.results.comparison import Comparison, Row

_FORMS = (".csv", ".json")
_LETTERS = string.ascii_uppercase
"""The names of systems in tables, as many as can be compared."""


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC...",
            help="Spec files, shipped presets, or directories that `cxloom run --out` wrote.",
        ),
    ],
    cases: Annotated[
        list[str],
        typer.Option(
            "--with",
            metavar="'PATH=VALUE ...'",
            help="One more system: the first with these values set. May be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    sets: Sets = [],  # noqa: B006
    seed: Annotated[str | None, typer.Option(metavar="N", help="Seed of the random streams of all.")] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="ci=P", help="End each when its mean latency is known so well: ci=1%."),
    ] = None,
    max_time: Annotated[
        str | None, typer.Option(metavar="T", help="End each after this simulated time: 1ms.")
    ] = None,
    out: Annotated[
        list[str],
        typer.Option("--out", metavar="FILE", help="Write the table (.csv) or all (.json). May be repeated."),
    ] = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Compare systems: what differs, and which part of the latency changed.

    Each is run with the same --set, --seed and --until, and compared with the first; results that are there already are
    compared as they are. A sentence for each, then a table.

    cxloom compare local.yaml cxl.yaml

    cxloom compare cxl.yaml --with 'devices.host.queue=64' --with 'devices.host.queue=128 links[*].credits=32'

    Exit code 0: compared. 1: one could not finish. 2: the input is wrong; nothing was written.
    """
    from cxloom.results.comparison import compare as compared

    files = [Path(file) for file in out]
    check_forms(files, "table", _FORMS)
    check_writable(files)
    limit = None if max_time is None else nanoseconds(max_time, "--max-time")
    if len(systems) + len(cases) < 2:
        raise InputError("nothing to compare with", found="one system", allowed="two or more SPEC, or --with")
    if len(systems) + len(cases) > len(_LETTERS):
        found = f"{len(systems) + len(cases)} systems"
        raise InputError(
            "too many to compare", found=found, allowed=f"at most {len(_LETTERS)}; `cxloom sweep` runs more"
        )
    wanted: list[tuple[str, str, list[str]]] = [(system, system, []) for system in systems]
    wanted += [(" ".join(_settings(case)), systems[0], _settings(case)) for case in cases]
    results: dict[str, Result] = {}
    failure: CxloomError | None = None
    stored = [_is_stored(system) for _, system, _ in wanted]
    if any(stored) and (sets or cases or seed is not None or until is not None):
        found = next(system for there, (_, system, _) in zip(stored, wanted, strict=True) if there)
        raise InputError(
            "results that are there are not run again", found=f"'{found}'", allowed="SPEC with options"
        )
    ready = [
        None if there else resolve(system, [*sets, *case], plugins, seed, until)
        for there, (_, system, case) in zip(stored, wanted, strict=True)
    ]  # all are checked before one is run
    for (name, system, _), spec in zip(wanted, ready, strict=True):
        result, failed = (Result.load(system), None) if spec is None else execute(spec, None, quiet, limit)
        failure = failure or failed
        results[_unlike(name, results)] = result
    comparison = compared(results)
    for file in files:
        text = comparison.frame().write_csv() if file.suffix == ".csv" else _json(comparison)
        write_text(file, text)
    if as_json:
        print(_json(comparison), end="")
    elif not quiet:
        _show(comparison)
    finish(failure)


def _settings(case: str) -> list[str]:
    try:
        settings = shlex.split(case)
    except ValueError:
        settings = []
    if not settings:
        raise InputError("no values to set", found=f"'{case}'", allowed="PATH=VALUE ...", path="--with")
    return settings


def _is_stored(system: str) -> bool:
    return os.path.isfile(os.path.join(system, SUMMARY))


def _unlike(name: str, taken: dict[str, Result]) -> str:
    """A name that no other system has: a.yaml, a.yaml (2)."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _json(comparison: Comparison) -> str:
    return json.dumps(comparison.to_json(), indent=2, allow_nan=False) + "\n"


def _show(comparison: Comparison) -> None:
    from rich.measure import Measurement
    from rich.text import Text

    from cxloom.display.console import output

    of_all = [row for row in comparison.rows if not row.is_part]
    parts = [row for row in comparison.rows if row.is_part]
    tables = [_table(comparison, of_all, "measure")]
    tables += [_table(comparison, parts, "changed part of the latency")] if parts else []
    out = output()
    for sentence in comparison.sentences:
        out.print(Text(sentence, style="bold"))
    out.print()
    for letter, name in zip(_LETTERS, comparison.names, strict=False):
        out.print(Text.assemble((letter, "bold"), f"  {name}"), soft_wrap=True)
    for table in tables:
        out.print()
        needed = Measurement.get(out, out.options.update(max_width=1000), table).maximum
        output(at_least=needed).print(table)
    changes = [row.change(at) for row in of_all for at in range(1, len(comparison.names))]
    if any(not change.is_clear and not math.isnan(change.difference) for change in changes):
        out.print(Text("\n?: as far as the runs tell, no change", style="dim"))


def _table(comparison: Comparison, rows: list[Row], title: str) -> Table:
    from rich.text import Text

    from cxloom.display.plain_table import plain_table

    table = plain_table()
    table.add_column(title, no_wrap=True)
    letters = _LETTERS[: len(comparison.names)]
    for letter in letters:
        table.add_column(letter, justify="right", no_wrap=True)
    for letter in letters[1:]:
        table.add_column(f"{letter} - A", justify="right", no_wrap=True)
    for row in rows:
        values = [_value(row, at) for at in range(len(comparison.names))]
        changes = [_change(row, at) for at in range(1, len(comparison.names))]
        table.add_row(Text(f"{row.name}, {row.unit}" if row.unit else row.name), *values, *changes)
    return table


def _value(row: Row, at: int) -> str:
    from cxloom.display.numbers import narrow

    if math.isnan(row.values[at]):
        return "-"
    interval = row.intervals[at]
    half = "" if interval is None else f" ±{narrow((interval[1] - interval[0]) / 2, 2)}"
    return f"{narrow(row.values[at])}{half}"


def _change(row: Row, at: int) -> str:
    from cxloom.display.numbers import narrow

    change = row.change(at)
    if math.isnan(change.difference):
        return "-"
    if row.is_part or change.relative is None:
        return f"{'+' if change.difference > 0 else ''}{narrow(change.difference)}"
    return f"{100 * change.relative:+.1f} %" + ("" if change.is_clear else " ?")
