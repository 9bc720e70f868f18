"""A file with what was measured on a machine, of whatever tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cxloom.base.errors import InputError
from cxloom.curves.lmbench import is_lmbench, read_lmbench
from cxloom.curves.mlc import read_mlc
from cxloom.curves.order import Ordered, in_order
from cxloom.curves.points import KernelRate, SizePoint
from cxloom.curves.stream import is_stream, read_stream
from cxloom.curves.table import read_table
from cxloom.spec.reader import file_text

_MLC = re.compile(r"^(\W*inject\b|.*loaded latenc)", re.IGNORECASE | re.MULTILINE)


def read_curve(path: str, reads: float | None = None) -> Ordered:
    """The points of a file, in the order of a curve: a table, or the output of Intel's Memory Latency Checker.

    Args:
        path: the file.
        reads: the share of reads of the load, where the file does not say it.

    Raises InputError for a file that is none of them, and for one with fewer than two points of a share of reads.
    """
    return _curve(file_text(path, "a table of a curve, or the output of mlc --loaded_latency"), path, reads)


def read_measured(
    path: str, reads: float | None = None
) -> Ordered | Sequence[SizePoint] | Sequence[KernelRate]:
    """What a file says of a machine: a curve as of `read_curve`, LMbench's latencies over sizes, or STREAM's rates.

    Args:
        path: the file.
        reads: the share of reads of the load, where the file does not say it; of a curve alone.

    Raises InputError for a file that is none of them.
    """
    text = file_text(path, "a table of a curve, or the output of MLC, lat_mem_rd or STREAM")
    if not is_lmbench(text) and not is_stream(text):
        return _curve(text, path, reads)
    if reads is not None:
        raise InputError(
            "a share of reads is of a load, and this file has none",
            allowed="--reads beside a curve of latency by bandwidth",
            path="--reads",
        )
    return read_lmbench(text, path) if is_lmbench(text) else read_stream(text, path)


def _curve(text: str, path: str, reads: float | None) -> Ordered:
    points = (read_mlc if _MLC.search(text) else read_table)(text, path, reads)
    return in_order(points, path)
