"""Inline ECC before DRAM: where lines of ECC lie, and what they cost there."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import cxloom as cx

Params = dict[str, Any]
PLACE = ["channel", "sub_channel", "rank", "bank_group", "bank", "row", "column"]
DDR4 = {"preset": "DDR4-3200"}
DDR5 = {"preset": "DDR5-4800", "channels": 3}  # 3 x 2 x 8 bank groups: 48 lines before a row goes on
LPDDR = {"preset": "LPDDR5X-8533", "channels": 8}
PLAIN = {"preset": "DDR4-3200", "mapping": "rochrababgco"}  # lines side by side in a row follow each other


def played(
    dram: Params, capacity: str, data_lines: int | None = None, queue: int = 1, **work: Any
) -> cx.Result:
    """Reads of DRAM without refresh, behind inline ECC if lines of data have one."""
    media: Params = {"kind": "dram", "refresh": "off", **dram}
    if data_lines:
        media = {"kind": "inline-ecc", "data_lines": data_lines, "cache": "16KiB", "backing": media}
    system = cx.System()
    system.host("host", queue=queue)
    system.memory("mem", capacity=capacity, controller_time="0ns", media=media)
    system.connect("host", "mem")
    system.map("mem")
    system.workload("host", **{"footprint": capacity, **work})
    system.set("outputs.commands", True)
    return cx.run(system)


def bursts_of(result: cx.Result) -> pl.DataFrame:
    return result.commands().filter(pl.col("command").is_in(["RD", "RDA"])).select(PLACE)


@pytest.mark.parametrize("data_lines", [7, 8])
@pytest.mark.parametrize(
    ("dram", "stripe", "bursts"),
    [(DDR4, 4, 1), (DDR5, 48, 1), (LPDDR, 32, 2), (PLAIN, 1, 1)],
    ids=["ddr4", "ddr5", "lpddr5x", "column-lowest"],
)
def test_every_line_has_a_place_of_its_own(dram: Params, stripe: int, bursts: int, data_lines: int) -> None:
    # A block is a stripe of groups, whose lines are a stripe apart. The last block is there in part.
    lines = 1008
    blocks, rest = divmod(lines, stripe * data_lines)
    result = played(dram, f"{lines * 64}B", data_lines, pattern="sequential", requests=lines)
    reads = bursts_of(result)
    assert len(reads) == bursts * (lines + blocks * stripe + min(rest, stripe))
    assert len(reads.unique()) == len(reads)


def test_the_last_groups_of_the_media_follow_each_other() -> None:
    # 89478485 groups of nine lines are whole in 48 GiB. The last 5 are no block of 48.
    groups = (48 << 30) // (9 * 64)
    assert groups % 48 == 5
    lines = 8 * (5 + 2 * 48)
    result = played(
        DDR5,
        f"{groups * 512}B",
        8,
        pattern="sequential",
        requests=lines,
        base=f"{groups * 512 - 64 * lines}B",
        footprint=f"{64 * lines}B",
    )
    reads = bursts_of(result)
    assert len(reads) == len(reads.unique()) == lines + lines // 8


@pytest.mark.parametrize("dram", [DDR4, DDR5, LPDDR, PLAIN], ids=["ddr4", "ddr5", "lpddr5x", "column-lowest"])
def test_a_line_of_ecc_is_in_the_row_of_its_data(dram: Params) -> None:
    result = played(dram, "3584MiB", 7, pattern="random", requests=1000)
    measures = result.summary["per_memory"]["mem"]
    assert measures["ecc_hit_rate"] < 0.01
    # One activate opens the row for both.
    assert measures["backing_activates"] == pytest.approx(1000, rel=0.01)


def test_reads_that_activates_bind_lose_nothing() -> None:
    # DDR4-3200: 4 x 64 B / tFAW = 12.05 GB/s, and the pins carry twice as much.
    work = {"pattern": "random", "requests": 4000, "queue": 256}
    without = played(DDR4, "3584MiB", **work).bandwidth
    assert without == pytest.approx(4 * 64 / (34 * 0.625), rel=0.03)
    assert played(DDR4, "3584MiB", 7, **work).bandwidth == pytest.approx(without, rel=0.03)
