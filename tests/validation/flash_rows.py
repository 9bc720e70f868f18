"""The parameters of NAND flash in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Spec, direct
from validation.turns import DIFFERS, FALLS, RISES, Measure, Turn, bandwidth, latency, of_memory

AT = "devices.mem.media"
SMALL: Spec = {
    "kind": "flash",
    "preset": "z-nand",
    "channels": 2,
    "packages": 1,
    "dies": 2,
    "planes": 2,
    "pages": 16,
}


def flash(work: Spec | None = None, **media: Any) -> Spec:
    """One page after the other, 16 at a time, of a memory of 2 MiB."""
    usual = {"requests": 1500, "size": "4KiB", "footprint": "2MiB", **(work or {})}
    memory = {"capacity": "2MiB", "media": {**SMALL, **media}}
    return direct(memory=memory, work=usual, host={"queue": 64})


def turned(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure, **more: Any) -> Turn:
    """A row."""
    return Turn(f"media.flash.{key}", base, f"{AT}.{key}", values, effect, measure, **more)


def geometry_rows() -> Iterator[Turn]:
    """How much works at the same time, and in which pieces."""
    reads = flash({"reads": 1.0})
    one = flash({"reads": 1.0}, channels=1, dies=1, planes=1)
    yield turned("channels", one, (1, 4), RISES, bandwidth)
    yield turned("packages", one, (1, 2), RISES, bandwidth)
    yield turned("dies", one, (1, 2), RISES, bandwidth)
    yield turned("planes", one, (1, 2), RISES, bandwidth)
    yield turned(
        "plane_work", flash({"reads": 1.0}, channels=1, dies=1), ("one", "multi-plane"), RISES, bandwidth
    )
    yield turned("plane_work", flash({"reads": 1.0}), ("multi-plane", "independent"), RISES, bandwidth)
    yield turned("page", flash({"reads": 1.0, "size": "512B"}, sector="512B"), ("4KiB", "8KiB"), RISES,
                 of_memory("read_amplification"))  # fmt: skip
    small = flash({"reads": 1.0, "size": "512B"})
    yield turned("sector", small, ("4KiB", "512B"), FALLS, latency)
    yield turned("read_time", reads, ("3us", "25us"), RISES, latency)
    yield turned("command_time", reads, ("290ns", "2us"), RISES, latency)
    yield turned("bus_bandwidth", reads, ("0.8GB/s", "1.6GB/s"), RISES, bandwidth)
    yield turned("preset", flash({"reads": 1.0}), ("z-nand", "slc"), RISES, latency)


def worn(**media: Any) -> Spec:
    """Random writes that have to collect blocks."""
    work = {"reads": 0.0, "requests": 3000}
    usual = {"blocks": 12, "over_provisioning": 0.4, "planes": 1, "pages": 16}
    return flash(work, **{key: value for key, value in {**usual, **media}.items() if value is not None})


def translation_rows() -> Iterator[Turn]:
    """Collection, wear and the write buffer."""
    base = worn(write_buffer=4)
    moved, buffered = of_memory("pages_moved"), of_memory("write_buffer_mean")
    yield turned("program_time", base, ("100us", "200us"), FALLS, bandwidth)
    yield turned("erase_time", base, ("1ms", "5ms"), FALLS, bandwidth)
    yield turned("copyback", worn(write_buffer=4, bus_bandwidth="0.05GB/s"), (False, True), RISES, bandwidth)
    yield turned("over_provisioning", worn(blocks=None), ("30%", "100%"), FALLS, moved)
    yield turned("blocks", worn(over_provisioning=0.4), (12, 16), FALLS, of_memory("erases_mean"))
    yield turned("pages", worn(blocks=None), (16, 32), FALLS, of_memory("block_erases"))
    yield turned("collection", base, ("greedy", "fifo"), RISES, moved)
    yield turned("collection", base, ("greedy", "cost-benefit"), DIFFERS, moved)
    yield turned("free_blocks", worn(blocks=24, over_provisioning=1.0), (2, 5), RISES, moved)
    loop = {"reads": 0.0, "requests": 3000, "footprint": "64KiB"}
    hot = flash(loop, blocks=12, over_provisioning=0.4, planes=1, write_buffer=4)
    most = of_memory("erases_max")
    yield turned("wear_levelling", hot, ("none", "dynamic"), FALLS, most)
    yield turned("wear_levelling", hot, ("dynamic", "static"), FALLS, most, also=((f"{AT}.wear_gap", 2),))
    static = flash(loop, blocks=12, over_provisioning=0.4, planes=1, write_buffer=4, wear_levelling="static")
    yield turned("wear_gap", static, (2, 40), RISES, most)
    yield turned("endurance", hot, (100_000, 2), RISES, of_memory("worn_blocks"))
    yield turned("write_buffer", base, (4, 64), RISES, buffered)
    # Over some times that a program takes; what comes faster is merged on its way to a die.
    slow = {"reads": 0.5, "requests": 2000, "rate": "0.5M/s", "size": "64B", "footprint": "128KiB"}
    again = flash(slow, sector="64B")
    yield turned("hold", again, (0, 40), RISES, of_memory("merged_writes"))
    in_buffer = flash({"reads": 0.5, "requests": 2000, "footprint": "128KiB"})
    yield turned("buffer_time", in_buffer, ("100ns", "20us"), RISES, latency)
    yield turned("filled", flash({"reads": 1.0}), (0.0, 1.0), RISES, of_memory("page_reads"))
    fresh = flash({"reads": 0.0}, blocks=40, over_provisioning=1.0)
    yield turned("overwritten", fresh, (0.0, 3.0), RISES, moved)


def flash_rows() -> Iterator[Turn]:
    """All of them."""
    yield from geometry_rows()
    yield from translation_rows()
