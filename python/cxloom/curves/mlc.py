"""The output of Intel's Memory Latency Checker, as its versions 3.5 to 3.11 print loaded latencies.

Its table has a row for each delay between two accesses of a loading thread, in units of its own; the latency of the
probe in ns; and the bandwidth in MB/s, of a million bytes. What else a whole run prints is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cxloom.base.errors import InputError
from cxloom.curves.points import Point

_TITLE = re.compile(r"loaded latenc|^\W*inject\b", re.IGNORECASE)
_OTHER_TITLE = re.compile(r"^\s*measuring\b", re.IGNORECASE)
_READ_ONLY = re.compile(r"read-only traffic", re.IGNORECASE)
_MIX = re.compile(r"\b(\d+):(\d+)\s+reads?\b", re.IGNORECASE)
_ROW = re.compile(r"^\W*\d{5}(?![0-9.])(.*)")
"""A row that is cut off is one, too: it lacks its last number, or both."""
_CELL = re.compile(r"[^\s|\";]+")
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
_UNITS = re.compile(r"\((\w+)\)\s+(\w+)/s(ec)?\b")
"""The units of a table, in the second line of its head."""
_MOST_DIGITS = 12
"""More before the point are no measurement."""
_MB_PER_GB = 1000


def read_mlc(text: str, file: str, reads: float | None = None) -> list[Point]:
    """The points of all tables of loaded latencies in an output.

    Args:
        text: what MLC printed.
        file: its name, for errors.
        reads: the share of reads of the load, where the output does not say it (MLC's -W); it must agree where it does.

    Raises InputError if there is no such table, a row is cut off, or the share of reads is unknown.
    """
    points = list(_points(text, file, reads))
    if not points:
        raise InputError(
            "no table of loaded latencies",
            allowed="the output of mlc --loaded_latency: rows of a delay, a latency in ns and a bandwidth in MB/sec",
            file=file,
        )
    return points


def _points(text: str, file: str, given: float | None) -> Iterator[Point]:
    within, share = False, given
    for number, line in enumerate(text.splitlines(), start=1):
        if _TITLE.search(line):  # the title, and the head of the table
            share = share if within else given
            within = True
        elif _OTHER_TITLE.match(line):
            within = False
        if (said := _share_in(line)) is not None and within:
            if given is not None and abs(said - given) > 0.01:
                raise InputError(
                    "another share of reads than the one that is given",
                    found=f"{100 * said:.0f} % in the file, {100 * given:.0f} % given",
                    file=file,
                    line=number,
                )
            share = said
        if within and (units := _UNITS.search(line)) is not None and units.group(1, 2) != ("ns", "MB"):
            raise InputError(
                "a table in other units than those of MLC",
                found=f"'{units[0]}'",
                allowed="latencies in (ns) and bandwidths in MB/sec, of a million bytes",
                file=file,
                line=number,
            )
        row = _ROW.match(line)
        if row is None or not within:
            continue
        if share is None:
            raise InputError(
                "the share of reads of this load is not in the file",
                allowed="--reads 67%, as the -W of MLC was: -W2 67%, -W3 75%, -W4 60%, -W5 50%",
                file=file,
                line=number,
            )
        yield _point(row.group(1), share, file, number)


def _point(row: str, reads: float, file: str, line: int) -> Point:
    cells = _CELL.findall(row)[:2]
    latency, bandwidth = (_number(cell) for cell in (*cells, "", "")[:2])
    made = Point(reads, bandwidth / _MB_PER_GB, latency, line, file)
    if not (made.bandwidth_gb_per_s > 0 and made.latency_ns > 0):
        raise InputError(
            "not a latency in ns and a bandwidth in MB/sec",
            found=f"'{' '.join(cells)[:60]}'",
            allowed="two numbers above 0, with a point before decimals and nothing between thousands",
            file=file,
            line=line,
        )
    return made


def _number(text: str) -> float:
    """A number as MLC prints them; 0 for anything else."""
    plain = _NUMBER.fullmatch(text) is not None and len(text.partition(".")[0]) <= _MOST_DIGITS
    return float(text) if plain else 0.0


def _share_in(line: str) -> float | None:
    """The share of reads that a line of the output tells."""
    if _READ_ONLY.search(line):
        return 1.0
    mix = _MIX.search(line)
    if mix is None or not int(mix.group(1)) + int(mix.group(2)):
        return None
    return int(mix.group(1)) / (int(mix.group(1)) + int(mix.group(2)))
