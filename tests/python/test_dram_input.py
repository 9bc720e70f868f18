"""What a person may get wrong about DRAM is refused with the reason, and what it measures is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.errors import InputError

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
        (f"{MEDIA}.channels", 3, ["a power of two"]),
        (f"{MEDIA}.timing", {"tCCD_L": 4}, ["media.timing", "contradict", "tCCD_L at least 8"]),
        (f"{MEDIA}.timing", {"tRAS": 20}, ["tRAS is less than tRCD"]),
        (f"{MEDIA}.timing", {"tRSA": 20}, ["did you mean 'tRAS'?"]),
        (f"{MEDIA}.row_policy", "opne", ["did you mean 'open'?"]),
        ("devices.mem.capacity", "64GiB", ["larger than its DRAM", "at most 32GiB"]),
    ],
)
def test_mistakes_are_refused(path: str, value: object, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        cx.run(cx.load(EXAMPLE).set(path, value))
    for each in words:
        assert each in str(caught.value)


def test_what_it_reports_is_declared_and_adds_up() -> None:
    declared = [each["name"] for each in _core.declarations()["media"]["dram"]["statistics"]]
    memory = cx.run(EXAMPLE)["per_memory"]["mem"]
    assert set(declared) <= set(memory)
    parts = sum(
        memory[f"energy_{part}_uj"] for part in ("background", "activate", "read", "write", "refresh")
    )
    assert memory["energy_uj"] == pytest.approx(parts)
    bursts = memory["row_hits"] + memory["row_misses"] + memory["row_conflicts"]
    moved = memory["media_read_gb_per_s"] + memory["media_write_gb_per_s"]
    assert memory["data_bus_utilization"] == pytest.approx(moved / (2 * 38.4), rel=1e-3)
    assert memory["row_hit_rate"] == pytest.approx(memory["row_hits"] / bursts)
    assert memory["media_read_gb_per_s"] == pytest.approx(memory["read_gb_per_s"], rel=0.02)
