"""The interval of a bandwidth where requests move different amounts: hits none, accesses of a trace what they ask."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from validation.systems import Spec, host_and_memory

import cxloom as cx


def cached(seed: int, tmp_path: Path) -> Spec:
    """An open loop, half of whose reads hit."""
    return host_and_memory(
        {"bandwidth": "64GB/s"},
        host={"queue": 64, "cache": {"size": "64KiB", "ways": 8}},
        work={"pattern": "random", "footprint": "128KiB", "requests": 5000, "rate": "20M/s"},
        warmup=4000,
        seed=seed,
    )


def mixed(seed: int, tmp_path: Path) -> Spec:
    """Accesses of 8 and of 4096 bytes."""
    draw = random.Random(seed)
    sizes = [draw.choice((8, 4096)) for _ in range(5000)]
    trace = tmp_path / f"{seed}.txt"
    header = "# cxloom-trace 2: address kind timestamp size\n"
    trace.write_text(
        header + "".join(f"{4096 * i:#x} R {1000 * 200 * i} {size}\n" for i, size in enumerate(sizes))
    )
    spec = host_and_memory({"bandwidth": "64GB/s"}, host={"queue": 64}, seed=seed)
    spec["workload"] = {"host": {"trace": str(trace)}}
    return spec


@pytest.mark.parametrize("made", [cached, mixed])
def test_intervals_hold_where_requests_move_different_amounts(
    made: Callable[[int, Path], Spec], tmp_path: Path
) -> None:
    def played(seed: int) -> Spec:
        (tmp_path / "s.json").write_text(json.dumps(made(seed, tmp_path)))
        return dict(cx.run(tmp_path / "s.json").summary)

    summaries = [played(seed) for seed in range(30)]
    for part in (lambda each: each, lambda each: each["per_requester"]["host"]):
        truth = fmean(part(each)["bandwidth_gb_per_s"] for each in summaries)
        ends = [part(each)["bandwidth_ci95"] for each in summaries]
        assert sum(low <= truth <= high for low, high in ends) >= 26
        assert fmean(high - low for low, high in ends) < 0.12 * truth
