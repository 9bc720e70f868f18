"""The worst traces, each looked at by itself; test_trace_errors.py converts them too."""

from __future__ import annotations

import re

from test_trace_errors import CASES
from worst_inputs import Bad, Make, raw


def given(make: Make) -> Make:
    """Makes the trace `given`."""
    return lambda folder: make(folder / "given")


def words(expression: str) -> str:
    """What the command prints on one line of the message that the exception has in one text."""
    return re.split(r", found|; allowed|\.\*|: bad|^:", expression)[0].strip(": ")


def coordinates(line: str) -> Make:
    """Makes a trace of Ramulator 2's coordinates."""
    return raw(f"R 0,0\nW 1,{line}\n", "given")


LEVELS = ("trace", "info", "given", "--levels")
TRACES = [
    Bad("levels that are no numbers", "not numbers", coordinates("0"), (*LEVELS, "2,x")),
    Bad("levels of nothing", "of a size that cannot be", coordinates("0"), (*LEVELS, "2,0")),
    Bad("levels beyond 64 bits", "of a size that cannot be", coordinates("0"), (*LEVELS, f"2,{2**60}")),
    Bad("one coordinate more", "3 coordinates", coordinates("0,0"), (*LEVELS, "2,2")),
    Bad("a coordinate outside of its level", "bad coordinate", coordinates("2"), (*LEVELS, "2,2")),
    Bad("levels of addresses", "levels of a trace", raw("LD 64", "given"), (*LEVELS, "2")),
    Bad(
        "unknown format of a trace",
        "unknown format 'ramulator'",
        raw("LD 64", "given"),
        ("trace", "info", "given", "--format", "ramulator"),
    ),
    Bad(
        "another format than the trace has",
        "a line of 2 columns",
        raw("LD 64", "given"),
        ("trace", "info", "given", "--format", "dramsim3"),
    ),
    Bad(
        "no Parquet",
        "not a Parquet file",
        raw("LD 64", "given"),
        ("trace", "info", "given", "--format", "parquet"),
    ),
    *(
        Bad(f"trace: {name}", words(says), given(make), ("trace", "info", "given"))
        for name, (make, says) in CASES.items()
    ),
]
