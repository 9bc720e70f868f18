"""The output of STREAM, versions 5.9 and 5.10: the best rate of each of its four kernels.

Rates are in MB/s, of a million bytes, and count what the kernels read and write, but not the lines that stores fetch.
"""

from __future__ import annotations

import re

from cxloom.base.errors import InputError
from cxloom.curves.points import KernelRate

KERNELS = ("copy", "scale", "add", "triad")
_HEAD = re.compile(r"^\s*Function\s+(Best )?Rate\b", re.MULTILINE)
_ROW = re.compile(r"^\s*(Copy|Scale|Add|Triad):\s*(\S*)", re.IGNORECASE)
_FAILED = re.compile(r"^\s*Failed Validation", re.IGNORECASE)
_MB_PER_GB = 1000


def is_stream(text: str) -> bool:
    """Whether a text has what STREAM printed."""
    return _HEAD.search(text) is not None


def read_stream(text: str, file: str) -> list[KernelRate]:
    """The best rate of each kernel, in the order of STREAM.

    Args:
        text: what STREAM printed.
        file: its name, for errors.

    Raises InputError if a kernel is missing or stands there twice, a rate is no number above zero, or the run did not
    validate: STREAM computed something else then.
    """
    found: dict[str, KernelRate] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if _FAILED.match(line):
            raise InputError(
                "the run did not validate", found=f"'{line.strip()[:60]}'", file=file, line=number
            )
        if (row := _ROW.match(line)) is None:
            continue
        kernel = row[1].lower()
        if kernel in found:
            raise InputError(
                f"'{row[1]}' a second time", allowed="the output of one run", file=file, line=number
            )
        found[kernel] = KernelRate(kernel, _rate(row[2], file, number), number)
    missing = [kernel for kernel in KERNELS if kernel not in found]
    if missing:
        raise InputError(
            f"no rate of {', '.join(missing)}",
            allowed="the four kernels of STREAM: Copy: 12345.6 ...",
            file=file,
        )
    return [found[kernel] for kernel in KERNELS]


def _rate(text: str, file: str, line: int) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise InputError(
            "not a rate in MB/s", found=f"'{text}'", allowed="a number above 0", file=file, line=line
        )
    return rate / _MB_PER_GB
