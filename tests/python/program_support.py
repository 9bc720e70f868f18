"""The programs of examples/programs, for the tests that run them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from compiled import ROOT, once, version_of

PROGRAMS = ROOT / "examples" / "programs"
SMALL = {
    "btree": ["3000", "3000"],
    "linear": ["1500", "400"],
    "keyvalue": ["1000", "4000"],
    "transactions": ["1000", "1000"],
    "crosssection": ["8", "200", "1000"],
    "mincostflow": ["500", "2000", "5"],
    "stream": ["5000", "2", "2"],
    "chase": ["1024", "3000"],
    "graph": ["1000", "4000", "2"],
    "embedding": ["1000", "100", "57"],
    "pairs": ["1000", "500", "2"],
}
"""Arguments with which each is done in a moment."""
PERSISTENT = {
    "logappend": ["300", "16"],
    "hashmap": ["100", "500"],
    "cowtree": ["200", "200"],
    "queue": ["300", "8"],
    "kvstore": ["60", "60", "4"],
    "checkpoint": ["3", "8"],
}
"""The same of those with persistent memory."""


@cache
def built_programs() -> Path:
    """The folder of all of them, built."""

    def make(folder: Path) -> None:
        subprocess.run(["make", "-s", "-C", PROGRAMS, f"BUILD={folder}", "all"], check=True)

    sources = [*PROGRAMS.glob("*.[ch]"), *(ROOT / "include" / "cxloom").glob("*.h"), PROGRAMS / "Makefile"]
    return once([version_of("cc"), *sorted(sources)], make)
