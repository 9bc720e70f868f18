"""``cxloom sweep``: a spec at many points, in parallel, into a directory from which it can go on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.cli.options import SPEC, OnDask, Plugins, PointsAtATime, Quiet, whole_number
from cxloom.cli.progress import SweepBar
from cxloom.cli.resume import resumable, said_of
from cxloom.cli.writing import check_forms, check_writable, refuse_empty, write_text
from cxloom.display.console import messages
from cxloom.spec import presets
from cxloom.spec.plugins import load_plugins
from cxloom.sweeping import manifest as manifests
from cxloom.sweeping import rows
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.engine import WHOLE, Engine, Shard
from cxloom.sweeping.interval import aggregated
from cxloom.sweeping.points_table import show_sweep
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.space import MOST_POINTS, Axis
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.sweep import engine_of, seed_of, settings_of
from cxloom.sweeping.table import Columns
from cxloom.sweeping.work import Sweep
from cxloom.system.system import System

FOLDER = Path("build/sweeps")
"""Where a sweep is stored, in a folder of the name of its spec, by default."""


def _shard(text: str) -> Shard:
    """The shard written as ``I/N``."""
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise typer.BadParameter(f"not a shard, found '{text}'; allowed: I/N, with I from 1 to N")
    return Shard(int(match[1]), int(match[2]))


def sweep(
    spec: Annotated[
        str | None,
        SPEC,
    ] = None,
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="PATH=VALUES",
            help="Values of a path, such as devices.host.queue=1,2,4. May be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    table: Annotated[
        str | None, typer.Option("--points", metavar="FILE", help="Points as rows: .csv, .parquet or .yaml.")
    ] = None,
    drawn: Annotated[
        list[str],
        typer.Option(
            "--draw",
            metavar="PATH=LOW..HIGH",
            help="Draw values at random; evenly in the logarithm with :log.",
        ),
    ] = [],  # noqa: B006
    samples: Annotated[
        int | None,
        typer.Option("--samples", parser=whole_number(1), metavar="N", help="How many points --draw draws."),
    ] = None,
    draw_seed: Annotated[
        int,
        typer.Option("--draw-seed", parser=whole_number(0), metavar="N", help="Another one draws others."),
    ] = 1,
    seeds: Annotated[
        int,
        typer.Option("--seeds", parser=whole_number(1), metavar="N", help="Run each point under N seeds."),
    ] = 1,
    measures: Annotated[
        list[str],
        typer.Option(
            "--measure",
            metavar="PATH",
            help="A further column, such as per_memory.mem0.queue_mean. May be repeated.",
        ),
    ] = [],  # noqa: B006
    jobs: PointsAtATime = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The store; by default build/sweeps/NAME.")
    ] = None,
    shard: Annotated[
        Shard,
        typer.Option(
            "--shard", parser=_shard, metavar="I/N", help="Run only the I-th of N parts, for job arrays."
        ),
    ] = "1/1",  # type: ignore[assignment]
    dask: OnDask = None,
    most_points: Annotated[
        int,
        typer.Option(
            "--max-points", parser=whole_number(1), metavar="N", help="Refuse a sweep of more points."
        ),
    ] = MOST_POINTS,
    rebuild: Annotated[
        str | None,
        typer.Option("--rebuild", metavar="DIR", help="Derive the tables of a store again; run nothing."),
    ] = None,
    csv: Annotated[
        str | None,
        typer.Option("--csv", metavar="FILE", help="Write the table as CSV, too: a row for each point."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as one JSON object.")] = False,
    quiet: Quiet = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Simulate SPEC at many points, in parallel.

    Points that are in the directory already are not run again: the same command goes on after an interruption.

    Exit code 0: every point finished. 1: one did not (a deadlock, a wrong input, a process that died, Ctrl-C); its row
    says why. 2: the input is wrong, nothing was run.
    """
    spreadsheet = None if csv is None else Path(csv)
    if spreadsheet is not None:
        check_forms([spreadsheet], "table", (".csv",), "--csv")
        check_writable([spreadsheet])
    if rebuild is not None:
        _rebuild(rebuild, spec, spreadsheet, as_json, quiet)
        return
    if spec is None:
        raise InputError("no spec is named", allowed="a spec file, a preset, or --rebuild DIR")
    refuse_empty(out, "--out")
    load_plugins(plugins)
    template = System.load(spec).template()
    settings = settings_of(
        grid=[Axis.parse(text) for text in sets],
        rows=None if table is None else rows.read(table),
        drawn=[Draws.parse(text) for text in drawn],
        samples=samples,
        draw_seed=draw_seed,
        seeds=seeds,
        first_seed=seed_of(template),
        most=most_points,
    )
    name = spec if spec in presets.names() else Path(spec).stem
    engine = engine_of(template, settings, FOLDER / name if out is None else Path(out), name, measures)
    runner = Supervisor(jobs) if dask is None else Cluster(dask, jobs)
    with resumable(engine.directory), SweepBar(quiet) as bar:
        begun = said_of(engine.directory, quiet)
        engine.carry_out(Sweep(template), runner, shard=shard, begun=begun, watch=bar.update)
    _finish(engine, shard, spreadsheet, as_json, quiet)


def _finish(engine: Engine, shard: Shard, csv: Path | None, as_json: bool, quiet: bool) -> None:
    """Writes what can be derived, shows it, and ends with the exit code."""
    result = SweepResult(engine)
    written = engine.write_tables(result.columns)
    if csv is not None:
        write_text(csv, result.frame().write_csv())
    if as_json:
        print(json.dumps(_as_json(engine, result), indent=2, allow_nan=False))
    elif not quiet:
        show_sweep(result, engine.manifest.measures)
        if written:
            print(
                f"\nThe table is in {written[0]}"
                + "".join(f", the means over seeds in {p}" for p in written[1:])
            )
        elif "missing" in result.statuses:
            missing = counted(result.statuses.count("missing"), "point")
            part = f"shard {shard.index}/{shard.count} is done; " if shard != WHOLE else ""
            print(
                f"\n{part}{missing} of others missing; whoever comes last writes the table in {engine.directory}"
            )
        else:
            print(f"\nAnother sweep was begun in {engine.directory}: its table is not replaced")
    if csv is not None and not (as_json or quiet):
        print(f"As CSV: {csv}")
    for measure, near in result.without_measure().items():
        meant = f"; did you mean '{near}'?" if near else ""
        messages().print(f"note: no point has the measure '{measure}'{meant}", markup=False, soft_wrap=True)
    keys = set(shard.share([point.key for point in engine.manifest.points if point.key is not None]))
    own = [
        status
        for point, status in zip(engine.manifest.points, result.statuses, strict=True)
        if point.key is None or point.key in keys
    ]
    if any(status != "finished" for status in own):
        raise typer.Exit(1)


def _rebuild(directory: str, spec: str | None, csv: Path | None, as_json: bool, quiet: bool) -> None:
    if spec is not None:
        raise InputError("a spec beside --rebuild", found=spec, allowed="the directory knows its points")
    folder = Path(directory)
    _finish(Engine(folder, manifests.read(folder)), WHOLE, csv, as_json, quiet)


def _as_json(engine: Engine, result: SweepResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "directory": str(engine.directory),
        "points": [
            {"set": dict(at), **row}
            for at, row in zip(result.points, _rows(result.columns, result.points), strict=True)
        ],
    }
    if result.has_seeds:
        means = aggregated(result.columns)
        found["aggregate"] = [
            {name: values[row] for name, values in means.items()} for row in range(len(means["seeds"]))
        ]
    return found


def _rows(columns: Columns, points: list[Any]) -> list[dict[str, Any]]:
    axes = {path for point in points for path in point}
    names = [name for name in columns if name not in axes]
    return [{name: columns[name][row] for name in names} for row in range(len(points))]
