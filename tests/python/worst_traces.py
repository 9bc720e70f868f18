"""The worst traces, each looked at by itself; test_trace_errors.py converts them too."""

from __future__ import annotations

import re

from test_trace_errors import CASES
from worst_inputs import Bad, Make


def given(make: Make) -> Make:
    """Makes the trace `given`."""
    return lambda folder: make(folder / "given")


def words(expression: str) -> str:
    """What the command prints on one line of the message that the exception has in one text."""
    return re.split(r", found|; allowed|\.\*|: bad|^:", expression)[0].strip(": ")


TRACES = [
    Bad(f"trace: {name}", words(says), given(make), ("trace", "info", "given"))
    for name, (make, says) in CASES.items()
]
