"""The columns of the table of a study, as pictures of it show them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxloom.study.plots import Plot, Stack
from cxloom.study.points import matches

_UNITS = {"_gb_per_s": "GB/s", "_ns": "ns"}


def shown(rows: Sequence[Mapping[str, Any]], plot: Plot | Stack) -> list[Mapping[str, Any]]:
    """The rows that a picture shows."""
    return [row for row in rows if plot.at is None or matches(row, plot.at)]


def is_share(value: object) -> bool:
    """True for a share as a spec writes it: 25%. Between two of them there are others, so that they are numbers."""
    return isinstance(value, str) and re.fullmatch(r"[0-9.]+ *%", value) is not None


def number(share: str) -> float:
    """The number of a share."""
    return float(share.rstrip(" %"))


def label(column: str) -> str:
    """The name of a column with its unit: latency (ns)."""
    for suffix, unit in _UNITS.items():
        if column.endswith(suffix):
            return f"{column.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return column.replace("_", " ")


def panel_title(plot: Stack, value: str) -> str:
    """What tells a panel from the others: a column and its value; nothing for a single one."""
    return value if plot.panels is None else f"{label(plot.panels)} {value}"
