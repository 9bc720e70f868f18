"""The programs of examples/programs, for the tests that run them."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
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


def build_programs(folder: Path, *names: str) -> Path:
    """Compiles those of these names into `folder`, all if there are none."""
    targets = [str(folder / name) for name in names] or ["all"]
    subprocess.run(["make", "-s", "-C", PROGRAMS, f"BUILD={folder}", *targets], check=True)
    return folder
