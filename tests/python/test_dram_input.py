"""What a person may get wrong about DRAM is refused with the reason, and what it measures is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.system.simulation import describe

EXAMPLE = Path(__file__).parents[2] / "examples" / "dram.yaml"
MEDIA = "devices.mem.media"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (f"{MEDIA}.preset", "DDR5-4880", ["unknown DRAM preset", "did you mean 'DDR5-4800'?"]),
        (f"{MEDIA}.preset", "HBM2-200", ["did you mean 'HBM2-2000'?"]),
        (f"{MEDIA}.mapping", "rochrababg", ["gives 0 bits to 'co', which has 6"]),
        (f"{MEDIA}.mapping", "rochrababgcoxx", ["no field of an address: 'xx'"]),
        (f"{MEDIA}.channels", 0, ["channels", "at least 1"]),
        (f"{MEDIA}.channels", 65, ["channels", "64"]),
        (f"{MEDIA}.timing", {"tCCD_L": 4}, ["media.timing", "contradict", "tCCD_L at least 8"]),
        (f"{MEDIA}.timing", {"tRAS": 20}, ["tRAS is less than tRCD"]),
        (f"{MEDIA}.timing", {"tRSA": 20}, ["did you mean 'tRAS'?"]),
        (f"{MEDIA}.row_policy", "opne", ["did you mean 'open'?"]),
        (
            "devices.mem.capacity",
            "512GiB",
            ["larger than its DRAM", "at most 256GiB", "ranks: 8, each 32GiB"],
        ),
        (f"{MEDIA}.density", "48Gb", ["8Gb, 12Gb, 16Gb, 24Gb or 32Gb"]),
        (f"{MEDIA}.density", "12Gb", ["media.density", "no such devices", "8Gb, 16Gb, 24Gb or 32Gb"]),
        (f"{MEDIA}.device_width", "x2", ["x4, x8, x12 or x16"]),
        (f"{MEDIA}.stack", 3, ["a power of two"]),
        (f"{MEDIA}.ecc_width", 4, ["media.ecc_width", "no whole devices of x8", "allowed: 0 or 8"]),
        (f"{MEDIA}.timing", {"tFAW_DLR": 20}, ["media.timing.tFAW_DLR", "no effect", "stack: 2 or more"]),
        (f"{MEDIA}.timing", {"tRFC": 700}, ["media.timing.tRFC", "no effect", "refresh: all-bank"]),
        (f"{MEDIA}.timing", {"tXP": 20}, ["media.timing.tXP", "no effect", "power_down"]),
        (f"{MEDIA}.row_timeout", "1us", ["media.row_timeout", "matches nothing"]),
        (f"{MEDIA}.row_policy", {"kind": "open", "after": "1us"}, ["row_policy.after", "unknown key"]),
        (f"{MEDIA}.refresh", "all-bnak", ["did you mean 'all-bank'?"]),
        (
            f"{MEDIA}",
            {"kind": "dram", "preset": "DDR4-3200", "refresh": "same-bank"},
            ["has no same-bank refresh"],
        ),
        (f"{MEDIA}.two_cycle_commands", "both", ["unknown choice", "split-activate"]),
    ],
)
def test_mistakes_are_refused(path: str, value: object, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        cx.run(cx.load(EXAMPLE).set(path, value))
    for each in words:
        assert each in str(caught.value)


def described(media: dict[str, object], capacity: str | None = None) -> tuple[str, list[str]]:
    """What `check` says of a host and a memory of DRAM: its addresses, and what is left over."""
    description = describe(memory_of(media, capacity).resolve())
    return description["addresses"], [note for note in description["notes"] if "media hold" in note]


def memory_of(media: dict[str, object], capacity: str | None = None) -> cx.System:
    """A host and a memory of DRAM."""
    own = {} if capacity is None else {"capacity": capacity}
    system = cx.System().host("host").memory("mem", media={"kind": "dram", **media}, **own)
    return system.connect("host", "mem").map("mem").workload("host", pattern="random", requests=10)


@pytest.mark.parametrize(
    ("media", "capacity"),
    [
        ({"preset": "DDR5-4800"}, "16GiB"),
        ({"preset": "DDR4-3200"}, "8GiB"),
        ({"preset": "DDR5-4800", "channels": 2, "ranks": 2}, "64GiB"),
        ({"preset": "DDR5-4800", "density": "24Gb"}, "24GiB"),
        ({"preset": "DDR5-4800", "device_width": "x4", "density": "32Gb", "ranks": 2}, "128GiB"),
        ({"preset": "DDR4-3200", "device_width": "x4", "stack": 4, "ranks": 2, "ecc_width": 8}, "128GiB"),
        ({"preset": "HBM3-6400", "channels": 16}, "16GiB"),
    ],
)
def test_a_memory_is_as_large_as_its_dram(media: dict[str, object], capacity: str) -> None:
    gibibytes = int(capacity.removesuffix("GiB"))
    for written in (None, capacity):
        assert described(media, written) == (f"0x0-{hex(gibibytes * 2**30 - 1)}", [])


def test_ranks_follow_from_what_is_written_and_the_rest_is_said() -> None:
    assert described({"preset": "DDR5-4800"}, "64GiB")[1] == []  # four ranks
    note = "mem uses 48GiB of the 64GiB that its media hold"
    assert described({"preset": "DDR5-4800"}, "48GiB")[1] == [note]
    assert note in cx.run(memory_of({"preset": "DDR5-4800"}, "48GiB"))["notes"]


@pytest.mark.parametrize(
    ("media", "capacity", "built_of"),
    [
        ({"preset": "DDR5-4800", "channels": 2}, "128GiB", "2 x DDR5-4800, 4 ranks of 8 devices, 16Gb x8"),
        (
            {"preset": "DDR4-3200", "device_width": "x4", "ecc_width": 8, "stack": 2},
            "32GiB",
            "1 x DDR4-3200, 1 rank of 18 devices, 8Gb x4, ECC among them, stacks of 2",
        ),
        ({"preset": "HBM3-6400", "channels": 8}, "8GiB", "8 x HBM3-6400, 1 rank"),
    ],
)
def test_check_says_what_dram_is_built_of(media: dict[str, object], capacity: str, built_of: str) -> None:
    description = describe(memory_of(media, capacity).resolve())
    assert description["media"] == [{"memory": "mem", "capacity": capacity, "media": built_of}]


def test_what_it_reports_is_declared_and_adds_up() -> None:
    declared = [each["name"] for each in _core.declarations()["media"]["dram"]["statistics"]]
    memory = cx.run(EXAMPLE)["per_memory"]["mem"]
    of_row_hammer = {"refresh_managements", "row_alerts"}  # reported where activates are managed
    assert set(declared) - of_row_hammer <= set(memory)
    parts = sum(
        memory[f"energy_{part}_uj"] for part in ("background", "activate", "read", "write", "refresh")
    )
    assert memory["energy_uj"] == pytest.approx(parts)
    bursts = memory["row_hits"] + memory["row_misses"] + memory["row_conflicts"]
    moved = memory["media_read_gb_per_s"] + memory["media_write_gb_per_s"]
    assert memory["data_bus_utilization"] == pytest.approx(moved / (2 * 38.4), rel=1e-3)
    assert memory["row_hit_rate"] == pytest.approx(memory["row_hits"] / bursts)
    assert memory["media_read_gb_per_s"] == pytest.approx(memory["read_gb_per_s"], rel=0.02)
