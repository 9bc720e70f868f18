"""Minutes of tiering: what epochs must give exactly, how far they are from lines, what moves, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_tiering_kinds import FAR_FIRST, HEMEM, LINUX, ORACLE, SCANNED
from tiering_support import PAGE, as_written
from validation.examples import pairs

import cxloom as cx
from cxloom.epochs.split import by_epochs, by_lines, difference, moved_apart

Spec = dict[str, Any]
EXACT = ("faults", "protected_pages", "pages_moved", "promoted_bytes", "demoted_bytes", "pages")
PROMOTES = {"kind": "promote-on-fault", "period": "100us", "scan": "64KiB"}
HOT_PAGES = {"kind": "hot-pages", "every": 4, "hot": 4, "period": "200us", "keep_free": "16KiB"}
KINDS = {
    **LINUX,
    "hemem": HEMEM,
    "oracle": {**ORACLE, "least": 8},
    "promote-on-fault": PROMOTES,
    "hot-pages": HOT_PAGES,
}
HOT = {"pattern": "hot-cold", "hot_footprint": 0.25, "hot_requests": 0.9, "footprint": "1MiB"}
"""256 pages, of which 64 take nine tenths."""


def spec_of(work: Spec, tiering: Any, **more: Any) -> Spec:
    """Like `tiering_support.system`, as it is written."""
    near = more.pop("near", "1MiB")
    spec = as_written({**work, "tiering": tiering, "kernel": more.pop("kernel", {})}, near, **more)
    if "phases" in work:
        del spec["workload"]["host"]["footprint"]
    return spec


def both(spec: Spec, window: int = 5000) -> tuple[Spec, Spec]:
    """By epochs and line by line."""
    return by_epochs(spec, {"window": window, "tolerance": 0.02}), by_lines(spec, "host")


def played(spec: Spec, **params: Any) -> Spec:
    """By epochs, without a copy."""
    found = cx.play_epochs(cx.System.from_yaml(json.dumps(spec)), check=None, **params)
    return dict(found.found)


# --- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*SCANNED, "promote-on-fault"])
def test_pages_in_turn_fault_as_by_lines(kind: str) -> None:
    """Sixteen pages, one access each in turn, all of which pass between two scans: a pass faults once on each."""
    work = {"pattern": "strided", "stride": "4KiB", "addresses": "first-touch", "requests": 2500}
    epochs, lines = both(spec_of(work, KINDS[kind], **FAR_FIRST))
    assert {key: epochs[key] for key in EXACT} == {key: lines[key] for key in EXACT}
    assert (
        epochs["faults"]
        == epochs["protected_pages"]
        == (48 if kind == "autonuma" else 32 if kind == "tpp" else 16)
    )
    assert epochs["pages"] == {"near": 16, "far": 0}
    # The first fault of a burst finds the others waiting, or not: a microsecond each at most.
    assert epochs["time_s"] == pytest.approx(lines["time_s"], rel=0.02)


def test_a_pass_faults_on_each_page_that_was_accessed_once() -> None:
    """One hot page in a cold hundred: in a period of 1000 accesses, the share 1 - (1 - p)^1000 of the pages."""
    policy = {"kind": "promote-on-fault", "period": "1ms", "scan": "1MiB"}
    work = {"pattern": "random", "footprint": "1MiB", "requests": 40_000}
    near = played(spec_of({**work, "addresses": {"kind": "bind", "nodes": ["far"]}}, policy), duration="1s")
    # 245 ns an access, and 1 us a fault, which all pages of the first scan have within the first passes.
    assert near["protected_pages"] == 256
    assert near["faults"] == 256
    assert near["promoted_bytes"] == 256 * PAGE


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_conserved(kind: str) -> None:
    work = {**HOT, "requests": 100_000, "addresses": "first-touch"}
    found = played(spec_of(work, KINDS[kind], near="512KiB", **FAR_FIRST), duration="1s", epoch="1ms")
    capacity = {"near": 128, "far": 256}
    for row in found["epochs"]:
        assert sum(row["pages"].values()) == 256
        for name, frames in capacity.items():
            assert row["pages"][name] + row["free_bytes"][name] // PAGE in (frames, frames - 1)
        assert sum(row["access_shares"].values()) == pytest.approx(1)
    assert found["accesses"] == 100_000 == sum(row["accesses"] for row in found["epochs"])
    for key in ("faults", "protected_pages", "scanned_pages", "samples", "pages_moved", "promoted_bytes"):
        assert found[key] == sum(row[key] for row in found["epochs"]), key
    moved = found["promoted_bytes"] - found["demoted_bytes"]
    assert found["pages"]["near"] * PAGE == moved
    assert found["faults"] <= found["protected_pages"] <= found["faults"] + 256
    assert found["pages_moved"] > 0


@pytest.mark.parametrize("kind", ["memory-tiering", "hot-pages"])
def test_studies_are_the_same_each_time(kind: str) -> None:
    work = {**HOT, "requests": 60_000, "addresses": "first-touch"}
    first, second = (
        played(spec_of(work, KINDS[kind], near="512KiB", **FAR_FIRST), duration="1s") for _ in "12"
    )
    assert json.dumps(first) == json.dumps(second)
    seeded = played(
        spec_of(work, KINDS[kind], near="512KiB", run={"seed": 2, "warmup": 0}, **FAR_FIRST), duration="1s"
    )
    assert json.dumps(seeded) != json.dumps(first)


def of_many_pages(page: str, host: Spec, threads: int = 1, window: int = 5000) -> tuple[Spec, Spec]:
    """6 GiB / 4 in pages of that size, which leave the near memory all the while, by epochs and by lines."""
    work: Spec = {"pattern": "random", "footprint": "1536MiB", "page": page, "requests": 200_000}
    work |= {"addresses": "first-touch"} | (
        {"threads": threads, "shared_footprint": True} if threads > 1 else {}
    )
    policy = {"kind": "hemem", "period": "100us", "keep_free": "512MiB"}
    spec = spec_of(work, policy, near="1GiB", host=host)
    spec["devices"]["far"]["capacity"] = "4GiB"
    return both(spec, window)


@pytest.mark.parametrize("page", ["64KiB", "256KiB"])
def test_a_program_stands_still_for_one_of_its_many_pages(page: str) -> None:
    """Without cores it makes as many accesses beside a move as there are pages, on average; a window has 512, and was
    over before the first of them had moved."""
    epochs, lines = of_many_pages(page, {"queue": 32})
    assert lines["pages_moved"] > 20
    assert epochs["pages_moved"] == pytest.approx(lines["pages_moved"], rel=0.15)
    assert epochs["time_s"] == pytest.approx(lines["time_s"], rel=0.15)


def test_threads_stand_still_for_a_page_each_at_its_time() -> None:
    """Beside pages as few as those of a window threads come to less: that was four times the time."""
    epochs, lines = of_many_pages("256KiB", {"queue": 32, "core": {"cores": 4}}, threads=4)
    assert 0.45 < epochs["time_s"] / lines["time_s"] < 1.6


def test_moves_of_a_fast_program_take_their_time() -> None:
    """A window of 1000 accesses is over in microseconds, and a move of 64 KiB takes 22: 64 times 16 lines, each read at
    145 ns and written at 45, or the other way round, and 3 us before."""
    epochs, _ = of_many_pages("64KiB", {"queue": 32}, window=1000)
    (costs,) = epochs["costs"]
    assert costs["move_ns"] == pytest.approx(3000 + 64 * (145 + 45), rel=0.6)
    assert costs["rate_while_moving"] < 0.5


# --- how far from lines -----------------------------------------------------------------------------------------------

CORED = {"queue": 32, "core": {"cores": 4}}
CLOSE = {  # of time, with a queue and with cores
    "autonuma": (0.06, 0.16),
    "memory-tiering": (0.04, 0.12),
    "tpp": (0.08, 0.14),
    "hemem": (0.03, 0.08),
    "oracle": (0.05, 0.05),
    "promote-on-fault": (0.09, 0.04),
    "hot-pages": (0.08, 0.08),
}
"""Faults come each microsecond here, and take most of the time: what is far apart is how they meet one another."""


@pytest.mark.parametrize(("kind", "host"), pairs(KINDS, [{"queue": 1}, {"queue": 16}, CORED]))
def test_epochs_are_close_to_lines(kind: str, host: Spec) -> None:
    """256 pages that begin far, of which 64 are hot, and room for 128 in the near memory."""
    if kind == "oracle" and "core" in host:
        pytest.skip("it knows one thread")
    work = {**HOT, "requests": 60_000, "addresses": "first-touch"}
    work |= {"threads": 4, "shared_footprint": True} if "core" in host else {}
    policy = KINDS[kind] if kind not in SCANNED else {**KINDS[kind], "scan_size": "256KiB"}
    epochs, lines = both(spec_of(work, policy, near="512KiB", host=host, **FAR_FIRST))
    most = CLOSE[kind]["core" in host]
    assert abs(difference(epochs["time_s"], lines["time_s"]) or 0) <= most
    # What comes in a given time comes as often, and more the longer that takes.
    for key in ("faults", "pages_moved"):
        assert epochs[key] == pytest.approx(lines[key], rel=0.05 + 1.2 * most, abs=4), key
    assert moved_apart(epochs["pages"], lines["pages"]) <= 0.08
