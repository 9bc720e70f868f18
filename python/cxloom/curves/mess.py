"""Files of the Mess benchmark: ``bwlat_90.txt``, the curve of a load of 90 % reads.

Each line has a bandwidth in MB/s, of a million bytes, and a latency; the name has the share of reads. Latencies are in
cycles of the processor in the files that come with its simulators, and in ns where the benchmark was told so: the file
does not say it.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import PurePath

from cxloom.base.errors import InputError
from cxloom.curves.points import Point

_NAME = re.compile(r"bwlat_(\d{1,3})\.txt$")
_MB_PER_GB = 1000
_ROUNDING = 0.01
"""By as much a share may differ from that of a name: names have whole percents."""


def read_mess(
    text: str, file: str, clock_ghz: float | None = None, reads: float | None = None
) -> list[Point]:
    """The points of a file.

    Args:
        text: its lines.
        file: its name, which has the share of reads unless `reads` does.
        clock_ghz: the processor's clock, if latencies are in its cycles; None if they are in ns.
        reads: the share of reads, for a file of another name.

    Raises InputError for a line that has no two numbers above zero, for an unknown share of reads, and for another one
    than the name has.
    """
    named = _NAME.search(PurePath(file).name)
    share = reads if reads is not None else int(named.group(1)) / 100 if named is not None else None
    if share is None or not 0 <= share <= 1:
        raise InputError(
            "the share of reads is not in the name of the file",
            found=f"'{PurePath(file).name}'",
            allowed="bwlat_0.txt to bwlat_100.txt, or the share before it: 90%=FILE",
            file=file,
        )
    if reads is not None and named is not None and abs(reads - int(named.group(1)) / 100) > _ROUNDING:
        raise InputError(
            "another share of reads than in the name of the file",
            found=f"{100 * reads:g} % given, {named.group(1)} % in the name",
            file=file,
        )
    points = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            bandwidth, latency = (float(word) for word in line.split())
        except ValueError:
            bandwidth = latency = 0.0
        if not (0 < bandwidth < math.inf and 0 < latency < math.inf):
            raise InputError(
                "not a bandwidth in MB/s and a latency",
                found=f"'{line.strip()[:60]}'",
                allowed="two numbers above 0",
                file=file,
                line=number,
            )
        points.append(Point(share, bandwidth / _MB_PER_GB, latency / (clock_ghz or 1.0), number, file))
    if not points:
        raise InputError("no points", allowed="lines of a bandwidth in MB/s and a latency", file=file)
    return points


def files_in(path: str) -> list[str]:
    """The file, or the files of curves in a folder, those with more reads first. Raises InputError for none."""
    if not os.path.isdir(path):
        return [path]
    found = sorted(
        (int(match.group(1)), name)
        for name in os.listdir(path)
        if (match := _NAME.fullmatch(name)) is not None
    )
    if not found:
        raise InputError("no curves in this folder", allowed="bwlat_0.txt to bwlat_100.txt", file=path)
    return [os.path.join(path, name) for _, name in reversed(found)]
