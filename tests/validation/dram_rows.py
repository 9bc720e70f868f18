"""The parameters of `kind: dram` in the table: one system, a turn of each knob, and what that must do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, host_and_memory
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth, latency, of_memory

AT = "devices.mem.media"


def dram(work: Spec | None = None, **media: Any) -> Spec:
    """A host that keeps one DDR5-4800 channel busy with random accesses."""
    return host_and_memory(
        memory={"media": {"kind": "dram", "preset": "DDR5-4800", **media}},
        host={"queue": 128},
        work={"requests": 3000, "reads": 0.6, "footprint": "1GiB", **(work or {})},
    )


def segment(name: str) -> Measure:
    """Mean of a segment of the latency."""
    return lambda outcome: outcome.segment(name)


def timing_rows() -> Iterator[Turn]:
    """Each constraint, made so long that it binds."""
    busy = dram()
    writes = dram({"reads": 0.0}, posted_writes=False)
    partial = dram({"reads": 0.0, "pattern": "sequential", "size": "32B"}, posted_writes=False)
    full = dram({"reads": 0.0, "pattern": "sequential"}, posted_writes=False)
    in_row = dram({"reads": 1.0, "pattern": "sequential"})
    reads = dram({"reads": 1.0})
    slow = dram({"reads": 1.0, "rate": "10M/s"})
    ranks = dram(ranks=2)
    idle = dram({"rate": "2M/s", "reads": 1.0}, power_down="50ns")
    all_bank = dram(refresh="all-bank")
    turns: list[tuple[str, Spec, int, int]] = [
        ("CL", slow, 40, 44),
        ("CWL", writes, 36, 47),
        ("tRCD", slow, 39, 77),
        ("tRCD_WR", writes, 39, 300),
        ("tRP", reads, 39, 300),
        ("tRAS", reads, 77, 600),
        ("tRTP", reads, 18, 600),
        ("tWR", writes, 72, 900),
        ("tCCD_S", in_row, 8, 12),
        ("tCCD_L", in_row, 12, 100),
        ("tCCD_L_WR", partial, 48, 480),
        ("tCCD_L_WR2", full, 24, 48),
        ("tRTW", busy, 14, 200),
        ("tWTR_S", busy, 6, 24),
        ("tWTR_L", busy, 24, 400),
        ("tRRD_S", reads, 8, 12),
        ("tRRD_L", reads, 12, 200),
        ("tFAW", reads, 32, 200),
        ("tPPD", reads, 2, 50),
        ("tCS", ranks, 2, 40),
        ("tRFC", all_bank, 700, 4000),
        ("tREFI", all_bank, 9360, 1200),
        ("tRFC_SB", reads, 312, 1100),
        ("tREFI_SB", reads, 1170, 330),
        ("tREFSB_ACT", reads, 72, 600),
        ("tXP", idle, 18, 180),
        ("tPD", idle, 18, 5000),
    ]
    stacked = dram({"reads": 1.0}, stack=4)
    # Dies of two ranks take turns, so that refreshes of one stack are due close to each other.
    refreshed = dram({"reads": 1.0}, stack=4, ranks=2)
    refreshed_whole = dram({"reads": 1.0}, stack=4, ranks=2, refresh="all-bank")
    turns += [
        ("tCCD_DLR", stacked, 8, 40),
        ("tCCD_R", stacked, 8, 40),
        ("tRRD_DLR", stacked, 4, 40),
        ("tFAW_DLR", stacked, 16, 160),
        ("tRFC_DLR", refreshed_whole, 238, 2300),
        ("tRFC_SB_DLR", refreshed, 106, 290),
    ]
    # Lines in turns of the banks of one group, each of which waits longer for its own next line.
    of_group: Spec = {"preset": "DDR5-8000", "mapping": "rorabgcobach", "posted_writes": False}
    waits = {"tCCD_L": 200, "tCCD_L_WR": 960, "tCCD_L_WR2": 400, "tCCD_M_WR": 500, "tWTR_L": 800}
    in_group = dram({"reads": 1.0, "pattern": "sequential"}, **of_group, timing=waits)
    mixed = dram({"reads": 0.5, "pattern": "sequential"}, **of_group, timing=waits)
    full = dram({"reads": 0.0, "pattern": "sequential"}, **of_group, timing=waits)
    partial = dram({"reads": 0.0, "pattern": "sequential", "size": "32B"}, **of_group, timing=waits)
    turns += [
        ("tCCD_M", in_group, 16, 150),
        ("tCCD_M_WR", partial, 64, 900),
        ("tCCD_M_WR2", full, 32, 380),
        ("tWTR_M", mixed, 32, 700),
    ]
    for name, base, short, long in turns:
        yield Turn(f"media.dram.timing.{name}", base, f"{AT}.timing.{name}", (short, long), RISES, latency)
    yield Turn("media.dram.timing.tCK", busy, f"{AT}.timing.tCK", ("416ps", "832ps"), FALLS, bandwidth)
    yield Turn("media.dram.timing", busy, f"{AT}.timing", ({}, {"tFAW": 200}), FALLS, bandwidth)


def current_rows() -> Iterator[Turn]:
    """Each current, doubled."""
    busy = dram()
    all_bank = dram(refresh="all-bank")
    slow = {"rate": "5M/s"}
    closed_asleep = dram(slow, power_down="20ns", row_policy="closed")
    open_asleep = dram(slow, power_down="20ns")
    turns: list[tuple[str, Spec, float, float, str]] = [
        ("VDD", busy, 1.1, 1.2, "energy_uj"),
        ("IDD0", busy, 122.0, 244.0, "energy_activate_uj"),
        ("IDD2N", dram(slow, row_policy="closed"), 92.0, 184.0, "energy_background_uj"),
        ("IDD2P", closed_asleep, 88.0, 176.0, "energy_background_uj"),
        ("IDD3N", busy, 142.0, 284.0, "energy_background_uj"),
        ("IDD3P", open_asleep, 140.0, 280.0, "energy_background_uj"),
        ("IDD4R", busy, 530.0, 1060.0, "energy_read_uj"),
        ("IDD4W", busy, 479.0, 958.0, "energy_write_uj"),
        ("IDD5B", all_bank, 277.0, 554.0, "energy_refresh_uj"),
        ("IDD5SB", busy, 135.0, 270.0, "energy_refresh_uj"),
    ]
    for name, base, low, high, measure in turns:
        yield Turn(
            f"media.dram.currents.{name}",
            base,
            f"{AT}.currents.{name}",
            (low, high),
            RISES,
            of_memory(measure),
        )
    yield Turn(
        "media.dram.currents", busy, f"{AT}.currents", ({}, {"IDD0": 244.0}), RISES, of_memory("energy_uj")
    )


def device_rows() -> Iterator[Turn]:
    """What the devices are."""
    name = "media.dram"
    reads = changed(dram({"reads": 1.0}, ranks=1), ("devices.mem.capacity", "8GiB"))
    all_bank = dram({"reads": 1.0}, ranks=1, refresh="all-bank")
    # Two bank groups fewer, and fewer activates of a larger page.
    yield Turn(f"{name}.device_width", reads, f"{AT}.device_width", ("x8", "x16"), FALLS, bandwidth)
    refreshing = of_memory("refresh_share")
    yield Turn(f"{name}.density", all_bank, f"{AT}.density", ("16Gb", "32Gb"), RISES, refreshing)
    yield Turn(f"{name}.stack", reads, f"{AT}.stack", (1, 4), RISES, bandwidth)
    yield Turn(f"{name}.ecc_width", reads, f"{AT}.ecc_width", (0, 8), RISES, of_memory("energy_uj"))


def row_hammer_rows() -> Iterator[Turn]:
    """What is done against rows that are opened too often."""
    name, at = "media.dram.row_hammer", f"{AT}.row_hammer"
    reads = dram({"reads": 1.0})
    one_bank = dram(
        {"reads": 1.0, "pattern": "strided", "stride": "1MiB", "footprint": "4GiB"}, bank_hash="none"
    )
    yield Turn(name, one_bank, at, ({}, {"prac": True}), RISES, latency)
    yield Turn(f"{name}.prac", one_bank, f"{at}.prac", (False, True), RISES, latency)
    alerts = dram({"reads": 1.0}, row_hammer={"prac": True, "alert_at": 1})
    yield Turn(f"{name}.alert_at", alerts, f"{at}.alert_at", (1, 1000), RISES, bandwidth)
    yield Turn(f"{name}.alert_commands", alerts, f"{at}.alert_commands", (1, 4), FALLS, bandwidth)
    managed = changed(reads, (f"{AT}.refresh", "all-bank"))
    yield Turn(f"{name}.raaimt", managed, f"{at}.raaimt", (4, 40), RISES, bandwidth)
    often = changed(managed, (at, {"raaimt": 4}))
    count = of_memory("refresh_managements")
    yield Turn(f"{name}.raammt", often, f"{at}.raammt", (4, 24), FALLS, count)


def scheduler_system() -> Spec:
    """A host that streams beside one that reads at random."""
    work = {"requests": 4000, "reads": 1.0, "footprint": "1GiB"}
    return {
        "devices": {
            "stream": {"kind": "host", "queue": 64},
            "random": {"kind": "host", "queue": 2},
            "bus": {"kind": "bus"},
            "mem": {
                "kind": "memory",
                "capacity": "8GiB",
                "media": {"kind": "dram", "preset": "test-D5", "scheduler": {"kind": "bliss"}},
            },
        },
        "links": [{"between": [name, "bus"]} for name in ("stream", "random", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "stream": {"pattern": "sequential", **work},
            "random": {"pattern": "random", **work, "base": "4GiB"},
        },
    }


def of_random(outcome: Run) -> float:
    """Mean latency of the one that reads at random."""
    return float(outcome.summary["per_requester"]["random"]["latency_ns"]["mean"])


def scheduler_rows() -> Iterator[Turn]:
    """Who goes first."""
    spec = scheduler_system()
    at = f"{AT}.scheduler"
    yield Turn("media.dram.scheduler", spec, at, ("fr-fcfs", "bliss"), FALLS, of_random)
    yield Turn("media.dram.scheduler", dram({"reads": 1.0}), at, ("fr-fcfs", "fcfs"), FALLS, bandwidth)
    yield Turn("schedulers.bliss.threshold", spec, f"{at}.threshold", (4, 64), RISES, of_random)
    yield Turn(
        "schedulers.bliss.clearing_interval", spec, f"{at}.clearing_interval", (100, 1000), FALLS, of_random
    )


def dram_rows() -> Iterator[Turn]:
    """All of them."""
    busy = dram()
    reads = dram({"reads": 1.0})
    writes = dram({"reads": 0.0}, posted_writes=False)
    stream = {"reads": 1.0, "pattern": "sequential"}
    slow_stream = dram({**stream, "rate": "5M/s"}, row_policy={"kind": "timeout"}, refresh="off")
    slow = dram({"reads": 1.0, "rate": "10M/s"})
    slow_writes = changed(slow, ("workload.host.reads", 0.0))
    hits = dram({"pattern": "hot-cold", "hot_footprint": 0.0001, "hot_requests": 0.95, "reads": 1.0})
    # Rows that lie a power of two apart fall on one bank, unless hashed.
    conflicts = dram({"pattern": "strided", "stride": "1MiB", "reads": 1.0, "footprint": "4GiB"})
    mixed = dram({"reads": 0.5, "rate": "100M/s"})
    all_bank = dram({"reads": 1.0}, refresh="all-bank")
    name = "media.dram"
    yield Turn(f"{name}.preset", reads, f"{AT}.preset", ("DDR5-4800", "DDR5-5600"), RISES, bandwidth)
    yield Turn(f"{name}.channels", reads, f"{AT}.channels", (1, 2), RISES, bandwidth)
    yield Turn(f"{name}.channels", reads, f"{AT}.channels", (2, 3), RISES, bandwidth)
    # Lines of which a plain modulo takes one sub-channel of eight.
    strides = dram({"pattern": "strided", "stride": "32KiB", "reads": 1.0, "footprint": "4GiB"}, channels=4)
    yield Turn(f"{name}.channel_hash", strides, f"{AT}.channel_hash", ("none", "fold"), RISES, bandwidth)
    lpddr5 = changed(dram({"reads": 1.0}, preset="LPDDR5-6400"), ("devices.mem.capacity", "2GiB"))
    yield Turn(f"{name}.burst_length", lpddr5, f"{AT}.burst_length", (16, 32), RISES, bandwidth)
    yield Turn(f"{name}.buffer_delay", slow, f"{AT}.buffer_delay", ("0ns", "10ns"), RISES, latency)
    yield from device_rows()
    yield Turn(f"{name}.ranks", reads, f"{AT}.ranks", (1, 2), RISES, bandwidth)
    yield Turn(
        f"{name}.mapping", dram(stream), f"{AT}.mapping", ("rorabacobgch", "chrabgbacoro"), FALLS, bandwidth
    )
    yield Turn(f"{name}.bank_hash", conflicts, f"{AT}.bank_hash", ("none", "xor"), RISES, bandwidth)
    far = changed(conflicts, ("workload.host.stride", "16MiB"))  # the lowest bits of the row stay the same
    yield Turn(f"{name}.bank_hash", far, f"{AT}.bank_hash", ("xor", "fold"), RISES, bandwidth)
    # As it is shipped, unless a mapping says where each bit goes.
    written = changed(far, (f"{AT}.mapping", "rorabacobgch"))
    yield Turn(f"{name}.bank_hash", far, f"{AT}.bank_hash", ("none", ...), RISES, bandwidth)
    yield Turn(f"{name}.bank_hash", written, f"{AT}.bank_hash", (..., "fold"), RISES, bandwidth)
    yield Turn(f"{name}.row_policy", slow, f"{AT}.row_policy", ("open", "closed"), FALLS, latency)
    after = f"{AT}.row_policy.after"
    yield Turn("row_policies.timeout.after", slow_stream, after, ("50ns", "50us"), FALLS, latency)
    for kind in ("fr-fcfs", "bliss"):
        capped = changed(hits, (f"{AT}.scheduler", {"kind": kind}))
        hit_rate = of_memory("row_hit_rate")
        cap = f"{AT}.scheduler.age_cap"
        yield Turn(f"schedulers.{kind}.age_cap", capped, cap, ("0ns", "100us"), RISES, hit_rate)
    yield Turn(f"{name}.read_queue", reads, f"{AT}.read_queue", (1, 64), RISES, bandwidth)
    yield Turn(f"{name}.write_queue", writes, f"{AT}.write_queue", (2, 64), RISES, bandwidth)
    high = changed(mixed, (f"{AT}.write_low", 0.0))
    yield Turn(
        f"{name}.write_high", high, f"{AT}.write_high", (0.1, 0.9), RISES, of_memory("write_queue_mean")
    )
    yield Turn(
        f"{name}.write_low", mixed, f"{AT}.write_low", (0.0, 0.7), RISES, of_memory("write_queue_mean")
    )
    # One of the two only writes: the other waits for its runs.
    beside = changed(
        scheduler_system(),
        ("workload.stream.reads", 0.0),
        (f"{AT}.scheduler", {"kind": "fr-fcfs"}),
    )
    yield Turn(f"{name}.turn", beside, f"{AT}.turn", (16, 256), RISES, of_random)
    alone = dram({"reads": 0.1})
    short = dram({"reads": 0.1}, turn=16)
    yield Turn(f"{name}.lull", short, f"{AT}.lull", (16, 2048), RISES, bandwidth)
    yield Turn(f"{name}.longest_turn", alone, f"{AT}.longest_turn", (32, 4096), RISES, bandwidth)
    yield Turn(f"{name}.posted_writes", slow_writes, f"{AT}.posted_writes", (True, False), RISES, latency)
    yield Turn(f"{name}.refresh", busy, f"{AT}.refresh", ("off", "all-bank"), FALLS, bandwidth)
    yield Turn(
        f"{name}.refresh_postpone", all_bank, f"{AT}.refresh_postpone", (0, 4), FALLS, of_memory("refreshes")
    )
    yield Turn(
        f"{name}.power_down", slow, f"{AT}.power_down", (..., "30ns"), RISES, of_memory("power_down_share")
    )
    tight = dram({"reads": 1.0}, preset="LPDDR5-6400")
    tight = changed(tight, ("devices.mem.capacity", "2GiB"))
    two_cycle = f"{AT}.two_cycle_commands"
    yield Turn(f"{name}.two_cycle_commands", tight, two_cycle, ("split-activate", "all"), FALLS, bandwidth)
    yield from scheduler_rows()
    yield from row_hammer_rows()
    yield from timing_rows()
    yield from current_rows()
