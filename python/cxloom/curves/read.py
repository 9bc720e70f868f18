"""A file with a measured curve, of whatever tool."""

from __future__ import annotations

import re

from cxloom.curves.mlc import read_mlc
from cxloom.curves.order import Ordered, in_order
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
    text = file_text(path, "a table of a curve, or the output of mlc --loaded_latency")
    points = (read_mlc if _MLC.search(text) else read_table)(text, path, reads)
    return in_order(points, path)
