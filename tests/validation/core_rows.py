"""The parameters of the cores of a requester in the table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from validation.program_rows import program_rows
from validation.systems import Spec, changed, feed
from validation.turns import FALLS, RISES, Turn, bandwidth


def core_rows(name: str, at: str, base: Spec) -> Iterator[Turn]:
    """Those of one kind of requester, which is at `at` in `base`."""
    cores = changed(base, (f"{at}.core", {}))
    trace = changed(cores, ("workload.host", {"trace": "gaps"}))
    row = partial(Turn, measure=bandwidth)
    # A read in every 50 instructions. Two overlap in a window of 64, and what is between them retires first.
    gaps = partial(row, feeds=lambda: {"host": feed(range(0, 64_000, 64), instruction_gap=50)}, effect=RISES)
    short = changed(trace, (f"{at}.core.window", 64))
    slow = changed(trace, (f"{at}.core.cycles_per_instruction", 20.0))
    stores = changed(cores, ("workload.host.reads", 0.0))
    yield row(f"{name}.core", base, f"{at}.core", (..., {"mshrs": 2}), FALLS)
    yield gaps(f"{name}.core.clock", slow, f"{at}.core.clock", ("1G/s", "4G/s"))
    yield gaps(f"{name}.core.width", short, f"{at}.core.width", (4, 16))
    key = f"{name}.core.cycles_per_instruction"
    yield gaps(key, trace, f"{at}.core.cycles_per_instruction", (20.0, 1.0))
    yield row(f"{name}.core.window", cores, f"{at}.core.window", (2, 16), RISES)
    yield row(f"{name}.core.mshrs", cores, f"{at}.core.mshrs", (2, 16), RISES)
    yield row(f"{name}.core.store_buffer", stores, f"{at}.core.store_buffer", (2, 16), RISES)
    yield from program_rows(name, at, base)
