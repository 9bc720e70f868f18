"""Demand from a trace: a table of VMs or jobs, in columns of one's own or those of a public trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from cxloom.base.errors import InputError, reason_of
from cxloom.planning import inputs, packing
from cxloom.planning.demand import ANY, Demand, Floats, in_order
from cxloom.spec.names import listed, nearest

_AZURE = (
    "vmid",
    "subscriptionid",
    "deploymentid",
    "vmcreated",
    "vmdeleted",
    "maxcpu",
    "avgcpu",
    "p95maxcpu",
    "vmcategory",
    "cores",
    "memory",
)
"""The columns of a vmtable.csv of Azure's public traces of 2017 and 2019, which have no header."""
_PUBLIC = {"start": "vmcreated", "end": "vmdeleted", "cores": "cores", "memory": "memory"}
_LAST_BUCKETS = {"cores": {">24": "30"}, "memory": {">64": "70"}}
"""The last buckets of 2019 have no upper end: the values are those of the notebook that Azure publishes beside it."""
_NEEDED = ("start", "end", "cores", "memory")


def traced(given: inputs.Demand, file: Path, servers: inputs.Servers, seed: int) -> Demand:
    """The VMs of a trace. Raises InputError, with the file and its row, for one that is none."""
    if given.format == packing.FORMAT:
        given = _with_units_of_packing(given)
        table, names = packing.packed(file, given, servers), {key: key for key in _NEEDED}
    else:
        table, names = _table(given, file)
    if table.height == 0:
        raise InputError("no VMs", allowed="a row for each", file=file)
    numbers = {key: _numbers(table, name, file, given.format) for key, name in names.items()}
    # Both are of the whole trace, so that what is counted does not depend on which VMs are kept.
    begin = float(numbers["start"].min()) * given.time_unit if given.since is None else given.since
    finish = float(numbers["end"].max()) * given.time_unit if given.until is None else given.until
    if given.keep < 1:
        kept = np.random.default_rng(seed).uniform(size=table.height) < given.keep
        numbers = {key: values[kept] for key, values in numbers.items()}
        if not kept.any():
            raise InputError("no VM is kept", found=f"{given.keep:g}", allowed="more", path="demand.keep")
    start, end = numbers["start"] * given.time_unit, numbers["end"] * given.time_unit
    cores, memory = numbers["cores"], numbers["memory"] * given.memory_unit
    share = numbers.get("pool_share")
    if share is None:
        if given.pool_share is None:
            raise InputError(
                "'pool_share' is missing",
                allowed="the part of memory that may lie in the pool, such as 50%, or a column of the trace",
                path="demand",
            )
        share = np.full(len(start), given.pool_share)
    server = numbers.get("server", np.full(len(start), float(ANY)))
    rows = np.flatnonzero(kept) if given.keep < 1 else np.arange(len(start))
    _check(rows, file, names, start, end, cores, memory, share, server, servers.count)
    lives = end > start  # in steps of five minutes some end as they start, and take nothing
    if not lives.any():
        raise InputError("no VM lives for any time", allowed="ends after starts", file=file)
    return in_order(
        start[lives],
        end[lives],
        cores[lives].astype(np.int64),
        memory[lives],
        share[lives],
        server[lives].astype(np.int64),
        begin=begin + given.warmup,
        finish=finish,
    )


def _with_units_of_packing(given: inputs.Demand) -> inputs.Demand:
    """Its table is in seconds and bytes; what was recorded of it counts unless the plan says otherwise."""
    return given.model_copy(
        update={
            "time_unit": 1.0,
            "memory_unit": 1.0,
            "since": 0.0 if given.since is None else given.since,
            "until": packing.LENGTH * 86400 if given.until is None else given.until,
        }
    )


def _table(given: inputs.Demand, file: Path) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table as texts or numbers, and the column of each thing that is known of a VM."""
    public = given.format != "columns"
    try:
        if file.suffix == ".parquet":
            table = pl.read_parquet(file)
        elif file.suffix in (".csv", ".gz"):
            with file.open("rb") as content:
                table = pl.read_csv(
                    content.read(),
                    has_header=not public,
                    infer_schema=False,
                    truncate_ragged_lines=False,
                )
        else:
            raise InputError(
                "unsupported trace format",
                found=f"'{file.name}'",
                allowed=".csv, .csv.gz or .parquet",
                file=file,
            )
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None
    except pl.exceptions.NoDataError:
        raise InputError("no VMs", allowed="a row for each", file=file) from None
    except (pl.exceptions.PolarsError, ValueError) as error:
        said = str(error).strip().partition("\n")[0]
        raise InputError(
            "not a table of VMs", found=said, allowed="rows of equal length", file=file
        ) from None
    if public:
        if table.width != len(_AZURE):
            found = f"{table.width} columns"
            allowed = f"the {len(_AZURE)} columns of vmtable.csv: {', '.join(_AZURE)}"
            raise InputError(f"not the trace {given.format}", found=found, allowed=allowed, file=file)
        table.columns = list(_AZURE)
        return table, dict(_PUBLIC)
    wanted = given.columns.model_dump()
    for key in _NEEDED:
        _refuse_missing(wanted[key], key, table.columns, file)
    for key in given.columns.model_fields_set:
        _refuse_missing(wanted[key], key, table.columns, file)
    return table, {key: name for key, name in wanted.items() if name in table.columns}


def _refuse_missing(name: str, key: str, columns: Sequence[str], file: Path) -> None:
    if name not in columns:
        raise InputError(
            f"no column '{name}'",
            found=listed(columns, word="and"),
            allowed=f"it, or demand.columns.{key}: the name of the one that has it",
            suggestion=nearest(name, columns),
            file=file,
        )


def _numbers(table: pl.DataFrame, name: str, file: Path, form: str) -> Floats:
    column = table[name]
    if column.dtype == pl.String:
        last: Mapping[str, str] = _LAST_BUCKETS.get(name, {}) if form == "azure-2019" else {}
        column = column.str.strip_chars().replace(last)
        numbers = column.cast(pl.Float64, strict=False)
    else:
        try:
            numbers = column.cast(pl.Float64)
        except pl.exceptions.PolarsError:
            raise InputError(
                "not numbers", found=str(column.dtype), path=name, file=file, allowed="numbers"
            ) from None
    values = numbers.to_numpy().astype(float)
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = table[name][row]
        raise InputError(
            f"not a number in row {row + 1}",
            found="nothing" if found is None else f"'{found}'",
            allowed=_instead(found, row, name, form),
            path=name,
            file=file,
        )
    return values


def _instead(found: object, row: int, name: str, form: str) -> str:
    """What somebody may have who has no number there."""
    if form == "azure-2017" and found in _LAST_BUCKETS.get(name, {}):
        return "a number; buckets are of format: azure-2019"
    if form != "columns" and row == 0:
        return "a number: vmtable.csv is published without a header; one with a header is of format: columns"
    return "a number: the file may be cut off here, or the VM have no end"


def _check(
    rows: np.ndarray,
    file: Path,
    names: Mapping[str, str],
    start: Floats,
    end: Floats,
    cores: Floats,
    memory: Floats,
    share: Floats,
    server: Floats,
    servers: int,
) -> None:
    """Raises InputError, with the row, for a VM that cannot be."""
    checks = (
        ("end", end, end >= start, "no end before the start"),
        ("cores", cores, (cores >= 1) & (cores == np.floor(cores)), "a whole number from 1 on"),
        ("memory", memory, memory > 0, "more than none"),
        ("pool_share", share, (share >= 0) & (share <= 1), "0 to 1"),
        (
            "server",
            server,
            (server >= ANY) & (server < servers) & (server == np.floor(server)),
            f"a server from 0 to {servers - 1}; -1: the scheduler chooses",
        ),
    )
    for key, values, right, allowed in checks:
        if not right.all():
            at = int(np.argmin(right))
            raise InputError(
                f"not possible in row {rows[at] + 1}",
                found=f"{values[at]:g}",
                allowed=allowed,
                path=names.get(key, key),
                file=file,
            )
