"""The output of LMbench's lat_mem_rd: the latency of dependent reads over the size of what is read.

A line ``"stride=64`` for each stride, then lines of a size in MiB, to five digits, and a latency in ns. It goes to
standard error, and stands among other benchmarks in the results of a whole run.
"""

from __future__ import annotations

import re

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE, MIB
from cxloom.curves.points import SizePoint

_STRIDE = re.compile(r'^\s*"stride=(\d+)\s*$')
_ROW = re.compile(r"^\s*([0-9]+\.[0-9]+)\s+([0-9.]+)\s*$")


def is_lmbench(text: str) -> bool:
    """Whether a text has what lat_mem_rd printed."""
    return any(_STRIDE.match(line) for line in text.splitlines())


def read_lmbench(text: str, file: str) -> list[SizePoint]:
    """The points of an output, by size.

    Args:
        text: what lat_mem_rd printed, which may stand among other text.
        file: its name, for errors.

    Raises InputError for several strides, a stride below a line of 64 bytes, a row that is cut off or no such numbers,
    and for fewer than two points.
    """
    strides: list[tuple[int, int]] = []
    points: list[SizePoint] = []
    within = False
    for number, line in enumerate(text.splitlines(), start=1):
        if (stride := _STRIDE.match(line)) is not None:
            strides.append((number, int(stride[1])))
            within = True
        elif not line.strip():
            within = within and not points
        elif within:
            points.append(_point(line, file, number))
    _refuse_strides(strides, file)
    if len(points) < 2:
        raise InputError(
            "no latencies over sizes", allowed="lines of a size in MiB and a latency in ns", file=file
        )
    return sorted(points, key=lambda point: point.bytes)


def _point(line: str, file: str, number: int) -> SizePoint:
    row = _ROW.match(line)
    try:
        size, latency = (float(word) for word in row.groups()) if row is not None else (0.0, 0.0)
    except ValueError:
        size = latency = 0.0
    lines = round(size * MIB / LINE)  # five digits of a MiB are ten bytes
    if lines < 1 or latency <= 0:
        raise InputError(
            "not a size in MiB and a latency in ns",
            found=f"'{line.strip()[:60]}'",
            allowed="two numbers above 0, as lat_mem_rd prints them",
            file=file,
            line=number,
        )
    return SizePoint(lines * LINE, latency, number)


def _refuse_strides(strides: list[tuple[int, int]], file: str) -> None:
    if len(strides) > 1:
        found = ", ".join(f"{stride} in line {number}" for number, stride in strides[:4])
        raise InputError(
            "several strides: each has a curve of its own", found=found, allowed="the lines of one", file=file
        )
    for number, stride in strides:
        if stride < LINE:
            raise InputError(
                "the stride is less than a line, so that some reads hit a line that has just been read",
                found=f"{stride} bytes",
                allowed="lat_mem_rd -t SIZE 64, or a larger stride",
                file=file,
                line=number,
            )
