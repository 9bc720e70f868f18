"""Programs whose pages are placed by first touch: each has memory of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

MIB = 1 << 20


def system(
    work: dict[str, Any], memories: int = 1, capacity: str = "16MiB", interleave: str = "4KiB"
) -> cx.System:
    """Hosts on a bus with memories, one host for each workload."""
    names = [f"m{i}" for i in range(memories)]
    memory = {"kind": "memory", "capacity": capacity, "media": {"kind": "fixed"}}
    return cx.System.from_yaml(
        json.dumps(
            {
                "devices": {
                    **{name: {"kind": "host"} for name in work},
                    "bus": {"kind": "bus"},
                    **dict.fromkeys(names, memory),
                },
                "links": [{"between": [name, "bus"]} for name in [*work, *names]],
                "address_map": [{"to": names, "interleave": interleave}],
                "workload": {name: {"addresses": "first-touch"} | each for name, each in work.items()},
            }
        )
    )


def trace(path: Path, pages: int) -> str:
    """A trace of one access for each page."""
    path.write_text("".join(f"{0x7F0000000000 + 4096 * page:#x} R 0\n" for page in range(pages)))
    return str(path)


def test_what_fits_together_fits(tmp_path: Path) -> None:
    work = {
        "large": {"trace": trace(tmp_path / "large.trc", 12 * MIB // 4096)},
        "small": {"trace": trace(tmp_path / "small.trc", 16)},
        "drawn": {"pattern": "sequential", "requests": 3 * MIB // 4096, "size": "4KiB", "footprint": "3MiB"},
    }
    result = cx.run(system(work))
    assert result.summary["cost"]["requests"] == 12 * MIB // 4096 + 16 + 3 * MIB // 4096


RANDOM = {"pattern": "random", "footprint": "16MiB"}
HALF = {"pattern": "sequential", "requests": 2048, "size": "4KiB", "footprint": "8MiB"}
DURING = {"touched": "during"}


def test_a_footprint_is_not_what_is_touched(tmp_path: Path) -> None:
    """Programs that touch no more than memory holds fit, though their footprints together exceed it.

    Touched before the run, each page of a footprint has a frame, and there are too few.
    """
    page = {"trace": trace(tmp_path / "page.trc", 1)}
    long = {"trace": trace(tmp_path / "long.trc", 4097), "requests": 3000}
    phases = DURING | {"phases": [RANDOM | {"requests": 500}, HALF | {"requests": 500}]}
    for work in (
        {"a": HALF, "b": RANDOM | DURING | {"requests": 10}},
        {"a": RANDOM | DURING | {"requests": 100}, "b": page},
        {"a": RANDOM | DURING | {"requests": 10_000}, "b": page},
        {"a": long, "b": RANDOM | DURING | {"requests": 1096}},
        {"a": long, "b": phases},
    ):
        assert cx.run(system(work)).summary["completed"], work
    with pytest.raises(cx.InputError, match="out of memory") as raised:
        cx.run(system({"a": RANDOM | {"requests": 100}, "b": page}))
    assert raised.value.path == "workload.a.addresses"
    assert raised.value.found == "page 4096 of 4KiB"


def test_with_a_warm_up_a_program_may_touch_all_of_its_footprint(tmp_path: Path) -> None:
    """Who is warm goes on until the others are: how far is not known beforehand."""
    slow = {"trace": trace(tmp_path / "slow.trc", 100), "rate": "1M/s"}
    work = {"a": HALF | {"requests": 1}, "b": slow}
    assert cx.run(system(work)).summary["cost"]["requests"] == 101
    assert cx.run(system(work).run(warmup=50)).summary["cost"]["requests"] > 2048


def test_who_gets_too_little_is_told_that_memory_was_divided(tmp_path: Path) -> None:
    work = {
        "a": {"trace": trace(tmp_path / "large.trc", 4096)},
        "b": {"trace": trace(tmp_path / "small.trc", 16)},
    }
    with pytest.raises(cx.InputError) as raised:
        cx.run(system(work))
    assert raised.value.path == "workload.a.addresses"
    assert raised.value.found == "page 4081 of 4KiB"
    share = "its share of 4096 frames among 2 programs"
    assert raised.value.allowed == f"at most 4080 pages (16320KiB), {share}"


@pytest.mark.parametrize("interleave", ["256B", "4KiB", "16KiB"])
def test_each_program_is_spread_over_all_memories(interleave: str) -> None:
    work = {
        f"h{i}": {"pattern": "sequential", "requests": 4096, "footprint": "256KiB", "base": "0x7f0000000000"}
        for i in range(4)
    }
    rows = cx.run(system(work, 4, interleave=interleave), requests=True).requests()
    assert len(rows.group_by("requester", "target").len()) == 16


def test_a_programs_frames_are_its_own_whatever_the_others_do(tmp_path: Path) -> None:
    fast: dict[str, Any] = {"trace": trace(tmp_path / "fast.trc", 300)}
    placed: list[dict[tuple[str, int], int]] = []
    for slow in ({}, {"rate": "1M/s"}):
        work = {"fast": fast, "other": {"trace": trace(tmp_path / "other.trc", 200)} | slow}
        rows = cx.run(system(work), requests=True).requests()
        placed.append(
            {(who, nr): at // 4096 for who, nr, at in rows["requester", "id", "address"].iter_rows()}
        )
    both = placed[0].keys() & placed[1].keys()
    assert {who for who, _ in both} == {"fast", "other"}
    assert all(placed[0][each] == placed[1][each] for each in both)
    assert len(set(placed[0].values())) == len(placed[0])


def test_a_footprint_is_of_the_programs_own_addresses() -> None:
    work = {"pattern": "random", "requests": 10, "footprint": "16MiB", "base": "0x7f0000000000"}
    cx.run(system({"h": work}))
    with pytest.raises(cx.InputError) as raised:
        cx.run(system({"h": work | {"footprint": "17MiB"}}))
    assert raised.value.path == "workload.h.footprint"
    assert raised.value.allowed == "at most 16MiB in whole pages of 4KiB"


def test_too_many_pages_are_an_error_that_says_how_many_there_are(tmp_path: Path) -> None:
    work = {"h": {"trace": trace(tmp_path / "large.trc", 4097)}}
    with pytest.raises(cx.InputError) as raised:
        cx.run(system(work))
    error = raised.value
    assert error.path == "workload.h.addresses"
    assert error.found == "page 4097 of 4KiB"
    assert error.allowed == "at most 4096 pages (16MiB)"
