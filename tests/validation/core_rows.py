"""The parameters of the cores of a requester in the table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

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
    yield row(f"{name}.core.fill_buffers", cores, f"{at}.core.fill_buffers", (2, 16), RISES)
    yield from prefetch_rows_of_cores(name, f"{at}.core", cores)
    yield row(f"{name}.core.store_buffer", stores, f"{at}.core.store_buffer", (2, 16), RISES)
    yield from program_rows(name, at, base)


def prefetch_rows_of_cores(name: str, at: str, cores: Spec) -> Iterator[Turn]:
    """What the caches of a core ask for ahead, of a pattern."""
    work = {"pattern": "sequential", "reads": 1.0, "footprint": "16MiB", "requests": 4000}
    core = {"fill_buffers": 2, "window": 16, "caches": [{"prefetch": "none"}]}
    lines = changed(cores, (at, core), ("workload.host", work))
    key = f"{name}.core.caches"
    yield Turn(f"{key}.prefetch", lines, f"{at}.caches.0.prefetch", ("none", "streamer"), RISES, bandwidth)
    # None of the lines behind a random one is used: who is told so asks for fewer, and does more with as many accesses.
    useless = {"kind": "next-line", "degree": 4}
    random = {**work, "pattern": "random", "footprint": "64MiB"}
    randomly = changed(lines, (f"{at}.caches.0.prefetch", useless), ("workload.host", random))
    yield Turn(f"{key}.throttle", randomly, f"{at}.caches.0.throttle", (False, True), RISES, instructions)


def instructions(outcome: Any) -> float:
    """Instructions of the cores in the window."""
    return float(outcome.summary["per_requester"]["host"]["core"]["instructions"])
