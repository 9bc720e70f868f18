"""How many examples and cases a test has: a slice of them in every run of the tests, all with CXLOOM_SLOW=1.

`make python-tests-long` runs the whole. Hypothesis draws the same ones each time, so that the slice is the beginning
of the whole. With CXLOOM_HYPOTHESIS=long, tests that do not say a number search on (conftest.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

WHOLE = bool(os.environ.get("CXLOOM_SLOW"))
DRAWN = 6
"""One of so many examples is drawn."""
SLICE = 3
"""One of so many rows, or columns of a row, is tried."""
slow = pytest.mark.skipif(not WHOLE, reason="slow: set CXLOOM_SLOW=1")
"""Leaves a test out of the slice."""


def examples(whole: int) -> int:
    """How many to draw of so many, at least one."""
    return whole if WHOLE else -(-whole // DRAWN)


Row = TypeVar("Row")
Column = TypeVar("Column")


def some(rows: Iterable[Row], one_of: int = SLICE) -> list[Row]:
    """All of them; of the slice the first one and every third from there, or one of so many."""
    return [row for at, row in enumerate(rows) if WHOLE or at % one_of == 0]


def pairs(rows: Iterable[Row], columns: Iterable[Column]) -> list[tuple[Row, Column]]:
    """Each row with each column; of the slice, each row with every third column, beginning with another one."""
    return [
        (row, column)
        for at, row in enumerate(rows)
        for beside, column in enumerate(columns)
        if WHOLE or (at + beside) % SLICE == 0
    ]
