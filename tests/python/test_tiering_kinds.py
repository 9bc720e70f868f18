"""Kinds of tiering on small systems: their faults, moves and end placement are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tiering_support import FAR, FAULT, FREE, NEAR, PAGE, of_host, rows, system

import cxloom as cx

US = 1000.0  # ns
FAR_FIRST = {"address_map": [{"to": "far"}, {"to": "near"}]}
"""Pages begin in the far memory though no policy of their own puts them there: nobody but the order of the map does."""
ROUND = {"pattern": "strided", "stride": "4KiB", "addresses": "first-touch"}
"""Sixteen pages, one access each in turn."""
EACH = {"scan_size": "64KiB", "period_min": "100us", "period_max": "100us", "period_floor": "1ns"}
"""All sixteen are scanned each 100 us."""
MOVE = 1000 + 2000 + 4 * (NEAR + FAR)
SCANNED = ("autonuma", "memory-tiering", "tpp")
LINUX: dict[str, dict[str, Any]] = {
    "autonuma": {"kind": "autonuma", **EACH, "high_watermark": 0},
    "memory-tiering": {
        "kind": "memory-tiering",
        **EACH,
        "threshold": "90us",
        "threshold_step": "90us",
        "threshold_max": "90us",
        "enough_free": "4KiB",
        "enough_share": 0,
        "high_watermark": 0,
        "promo_watermark": 0,
        "demotion_pause": "10us",
    },
    "tpp": {"kind": "tpp", **EACH, "demote_below": 0, "demotion_pause": "10us"},
}
HEMEM: dict[str, Any] = {
    "kind": "hemem",
    "every": 1,
    "hot_reads": 4,
    "hot_writes": 4,
    "cool": 1000,
    "period": "20us",
    "keep_free": "0B",
}
ORACLE: dict[str, Any] = {"kind": "oracle", "foresees": 2000, "period": "20us", "least": 64}
KINDS = {**LINUX, "hemem": HEMEM, "oracle": ORACLE}


def run(work: dict[str, Any], policy: Any, **more: Any) -> cx.Result:
    costs = {"kernel": {**FREE, "scan": "0ns", "sample": "0ns"}} if policy else {}
    return cx.run(system(work, policy, **costs, **more), requests=True)


def moves_by_scan(frame: pl.DataFrame, period: float) -> list[int]:
    """Accesses that waited for a move behind each scan, in turn."""
    moved = frame.filter(pl.col("latency") == FAULT + MOVE + NEAR)
    scans = (moved["created"] / period).floor().cast(pl.Int64).to_list()
    # An access that was made before the scan is not stopped: each that is was made behind it.
    return [scans.count(scan) for scan in range(1, max(scans, default=0) + 1)]


def test_autonuma_moves_a_page_with_its_second_fault_and_scans_on() -> None:
    """All fault behind the first scan, all fault and move behind the second, and near ones fault behind the third."""
    result = run({**ROUND, "requests": 2500}, LINUX["autonuma"], **FAR_FIRST)
    frame, found = rows(result), of_host(result)
    count = {key: frame.filter(pl.col("latency") == key).height for key in set(frame["latency"])}
    assert count.pop(FAR) > 0
    assert count.pop(NEAR) > 0
    assert count == {FAR + FAULT: 16, FAULT + MOVE + NEAR: 16, NEAR + FAULT: 16}
    assert found["tiering"]["faults"] == found["tiering"]["protected_pages"] == 48
    assert moves_by_scan(frame, 100 * US) == [0, 16]
    assert found["pages"] == {"near": 16, "far": 0}


def test_autonuma_scans_less_often_where_faults_tell_nothing() -> None:
    """One thread, far pages alone, and none moves: each pass but the first doubles the period, up to the longest."""
    policy = {**LINUX["autonuma"], "consecutive": 1000, "period_max": "800us"}
    result = run({**ROUND, "requests": 14_000}, policy, **FAR_FIRST)
    faults = rows(result).filter(pl.col("latency") == FAR + FAULT)["created"].to_list()
    assert of_host(result)["pages_moved"] == 0
    first = [faults[i] / US for i in range(0, len(faults), 16)]
    assert len(first) >= 6
    # Two periods of 100 us: the shortest is that of a program of which nothing is known.
    for found, expected in zip(first, [100, 200, 400, 800, 1600, 2400], strict=False):
        assert expected <= found <= expected + FAR / US


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_autonuma_leaves_the_high_watermark_free(share: float) -> None:
    """Sixteen frames."""
    policy = {**LINUX["autonuma"], "high_watermark": share}
    result = run({**ROUND, "requests": 3000}, policy, near="64KiB", **FAR_FIRST)
    assert of_host(result)["pages"] == {"near": 16 - 16 * share, "far": 16 * share}
    assert of_host(result)["pages_not_moved"] == 0


def test_memory_tiering_takes_all_that_faults_while_enough_is_free() -> None:
    result = run({**ROUND, "requests": 2500}, LINUX["memory-tiering"], **FAR_FIRST)
    found = of_host(result)
    assert moves_by_scan(rows(result), 100 * US) == [16]
    assert (
        found["tiering"]["faults"] == found["tiering"]["protected_pages"] == 16
    )  # near pages are not scanned
    assert found["pages"] == {"near": 16, "far": 0}


FULL: dict[str, Any] = {
    **LINUX["memory-tiering"],
    "enough_free": "1MiB",
    "period_min": "200us",
    "period_max": "200us",
}
"""The near memory never has enough: what comes has to be hot."""


def test_memory_tiering_takes_what_is_accessed_soon() -> None:
    """The k-th page was accessed 1 + (k - 1) (fault + move + near) us behind the scan, and up to 1 us more."""
    policy = {**FULL, "threshold": "5us", "threshold_step": "5us", "threshold_max": "5us"}
    result = run({**ROUND, "requests": 4500}, policy, **FAR_FIRST)
    found = of_host(result)
    scans = moves_by_scan(rows(result), 200 * US)
    assert scans == [1] * len(scans)
    assert len(scans) >= 4
    faults = sum(16 - scan for scan in range(len(scans)))
    assert found["tiering"]["faults"] == faults
    assert found["pages"] == {"near": len(scans), "far": 16 - len(scans)}


def test_memory_tiering_adapts_its_threshold() -> None:
    """Far fewer than the limit are hot: it grows by 5 us, and 10, 15, 20 and 25 us have room for 2 to 5 moves."""
    growing = {"threshold": "5us", "threshold_step": "5us", "threshold_max": "1ms", "adapt": "100us"}
    policy = {**FULL, **growing, "rate_limit": "1GB/s", "rate_window": "100us"}
    result = run({**ROUND, "requests": 5000}, policy, **FAR_FIRST)
    assert moves_by_scan(rows(result), 200 * US)[:4] == [2, 3, 4, 5]
    # More than the limit are hot: it shrinks, to a step at least, which has room for one.
    shrinking = {**growing, "threshold": "25us", "rate_limit": "10MB/s", "rate_window": "10ms"}
    result = run({**ROUND, "requests": 5000}, {**FULL, **shrinking}, **FAR_FIRST)
    # Growing at first, for lack of candidates: 30 us have room for 6, which are more than the 1000 B of 100 us.
    scans = moves_by_scan(rows(result), 200 * US)
    assert scans[:3] == [6, 5, 4]


def test_memory_tiering_keeps_its_rate() -> None:
    """Two pages in 128 us are 64 MB/s."""
    policy = {**FULL, "rate_limit": "64MB/s", "rate_window": "128us"}
    result = run({**ROUND, "requests": 4500}, policy, **FAR_FIRST)
    scans = moves_by_scan(rows(result), 200 * US)
    assert scans == [2] * len(scans)
    assert len(scans) >= 3


def test_tpp_moves_a_page_with_its_second_fault_alone() -> None:
    """The first makes it active."""
    result = run({**ROUND, "requests": 2500}, LINUX["tpp"], **FAR_FIRST)
    found = of_host(result)
    assert moves_by_scan(rows(result), 100 * US) == [0, 16]
    assert found["tiering"]["faults"] == found["tiering"]["protected_pages"] == 32
    assert found["pages"] == {"near": 16, "far": 0}


def trace(tmp_path: Path, pages: list[int]) -> dict[str, Any]:
    """A program that accesses these pages, whose first touches fill the near memory first."""
    path = tmp_path / "trace.txt"
    path.write_text(
        "\n".join(["# cxloom-trace 2: address kind", *(f"0x{page * PAGE:x} R" for page in pages)]) + "\n"
    )
    return {"trace": str(path), "addresses": "first-touch"}


def test_tpp_demotes_before_the_near_memory_is_full(tmp_path: Path) -> None:
    """Sixteen frames, a quarter of which are kept free: four cold pages leave, then one for each of four hot ones."""
    work = trace(tmp_path, [*range(16), *([16, 17, 18, 19] * 1000)])
    found = of_host(run(work, {**LINUX["tpp"], "demote_below": 0.25}, near="64KiB"))
    assert found["tiering"]["promoted_bytes"] == 4 * PAGE
    assert found["tiering"]["demoted_bytes"] == 8 * PAGE
    assert found["pages"] == {"near": 12, "far": 8}


def test_memory_tiering_demotes_for_pages_that_find_no_room(tmp_path: Path) -> None:
    """Three frames are free at the end of a demotion: more than one eighth, and the one that is asked for."""
    work = trace(tmp_path, [*range(16), *([16, 17, 18, 19] * 1000)])
    marks = {"high_watermark": 0.0625, "promo_watermark": 0.125}
    found = of_host(run(work, {**FULL, **EACH, **marks}, near="64KiB"))
    assert found["pages"]["near"] in (13, 14, 15)
    tiering = found["tiering"]
    assert tiering["promoted_bytes"] == 4 * PAGE
    assert found["pages"]["near"] == 16 + (tiering["promoted_bytes"] - tiering["demoted_bytes"]) / PAGE


def test_hemem_moves_what_its_samples_say() -> None:
    """Behind 20 us each page has at least four of 81 samples, and all move at once, without a fault."""
    result = run({**ROUND, "requests": 3000}, HEMEM, **FAR_FIRST)
    found = of_host(result)
    assert found["tiering"]["samples"] == 3000
    assert found["tiering"]["faults"] == found["tiering"]["scanned_pages"] == 0
    assert found["pages_moved"] == 16
    assert found["pages"] == {"near": 16, "far": 0}
    # With 20 us / 16 / 245 ns = 5 samples a page, of one six, none is hot at seven before the second look.
    first = rows(result).filter(pl.col("target") == "near")["created"].min()
    later = rows(run({**ROUND, "requests": 3000}, {**HEMEM, "hot_reads": 7, "hot_writes": 7}, **FAR_FIRST))
    second = later.filter(pl.col("target") == "near")["created"].min()
    assert isinstance(first, float)
    assert isinstance(second, float)
    assert 20 * US <= first < 40 * US <= second < 60 * US


def test_hemem_cools(tmp_path: Path) -> None:
    """Page 0 is accessed as often as all others together. Each time it has four samples all counts are halved."""
    pages = [page for other in range(1, 16) for page in (0, other)] * 60
    hot = {**HEMEM, "hot_reads": 3, "hot_writes": 3}
    work = trace(tmp_path, pages)
    still, cooled = (of_host(run(work, {**hot, "cool": cool}, **FAR_FIRST)) for cool in (1000, 4))
    assert still["pages"] == {"near": 16, "far": 0}
    assert cooled["pages"] == {"near": 1, "far": 15}


def test_an_oracle_moves_the_pages_that_come_often_and_no_others(tmp_path: Path) -> None:
    """Pages 0 to 15 have no accesses to come, 16 to 18 hundreds, and 19 fewer than a move is for."""
    often = [16, 17, 18] * 600
    for place in range(20):
        often[300 + 40 * place] = 19
    work = trace(tmp_path, [*range(20), *often])
    found = of_host(run(work, ORACLE, near="64KiB"))
    assert found["tiering"]["promoted_bytes"] == found["tiering"]["demoted_bytes"] == 3 * PAGE
    assert found["pages"] == {"near": 16, "far": 4}
    assert found["tiering"]["faults"] == found["tiering"]["samples"] == found["tiering"]["scanned_pages"] == 0
    # What it does not foresee it does not move for.
    blind = of_host(run(work, {**ORACLE, "foresees": 150}, near="64KiB"))
    assert blind["pages_moved"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_hot_set_that_moves_is_followed_by_who_makes_room(kind: str, tmp_path: Path) -> None:
    """Four frames are near. Four pages are hot, then four others."""
    work = trace(tmp_path, [*range(12), *([4, 5, 6, 7] * 1500), *([8, 9, 10, 11] * 6000)])
    policy = KINDS[kind]
    if kind == "tpp":
        policy = {**policy, "demote_below": 0.25}
    result = run(work, policy, near="16KiB")
    with_hot = set(rows(result).tail(4)["target"])
    if kind == "autonuma":  # whoever came first stays
        assert of_host(result)["pages_moved"] == 0
        assert with_hot == {"far"}
    else:
        assert of_host(result)["tiering"]["demoted_bytes"] >= 4 * PAGE
        assert "near" in with_hot
        near = rows(result).tail(2000).filter(pl.col("target") == "near").height / 2000
        assert near >= 0.5


def test_a_scan_may_cost_more_than_it_gains() -> None:
    """Pages that are near already: AutoNUMA's faults are all that is different, to the picosecond."""
    work = {**ROUND, "requests": 5000}
    still = rows(run(work, None))["completed"].max()
    scanned = run(work, LINUX["autonuma"])
    faults = of_host(scanned)["tiering"]["faults"]
    assert still == 5000 * NEAR
    assert faults >= 16
    assert rows(scanned)["completed"].max() == pytest.approx(5000 * NEAR + faults * FAULT, abs=1e-6)
    for kind in ("memory-tiering", "tpp"):  # they scan farther nodes alone
        assert rows(run(work, LINUX[kind]))["completed"].max() == still


@pytest.mark.parametrize("kind", SCANNED)
@pytest.mark.parametrize(
    ("addresses", "explicit"),
    [
        ({"kind": "interleave", "nodes": ["near", "far"]}, True),
        ({"kind": "bind", "nodes": ["far"]}, True),
        ({"kind": "preferred", "nodes": ["far"]}, True),
        ({"kind": "preferred", "limit": "16KiB"}, False),
        ("first-touch", False),
        (
            {
                "kind": "ranges",
                "ranges": [{"base": "0x0", "size": "64KiB", "place": {"kind": "bind", "nodes": ["far"]}}],
            },
            True,
        ),
    ],
)
def test_areas_with_a_policy_of_their_own_never_fault(kind: str, addresses: Any, explicit: bool) -> None:
    work = {**ROUND, "requests": 2500, "addresses": addresses}
    found = of_host(run(work, LINUX[kind], **FAR_FIRST))["tiering"]
    assert (found["protected_pages"] == found["faults"] == 0) == explicit
    anyway = of_host(run(work, {**LINUX[kind], "scan_explicit": True}, **FAR_FIRST))["tiering"]
    assert anyway["faults"] > 0


def test_the_rest_of_a_program_with_one_explicit_range_is_scanned() -> None:
    part = {"base": "0x0", "size": "16KiB", "place": {"kind": "bind", "nodes": ["far"]}}
    ranges = {"kind": "ranges", "ranges": [part], "otherwise": "first-touch"}
    found = of_host(
        run({**ROUND, "requests": 2500, "addresses": ranges}, LINUX["memory-tiering"], **FAR_FIRST)
    )
    assert found["pages"] == {"near": 12, "far": 4}
    assert found["tiering"]["faults"] == 12


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_each_time(kind: str) -> None:
    work = {"pattern": "zipf", "requests": 20_000, "reads": "70%", "addresses": "first-touch"}
    host = {"queue": 8, "core": {}}
    first, second = (run(work, KINDS[kind], host=host, near="32KiB", **FAR_FIRST) for _ in range(2))
    assert first.requests().equals(second.requests())
    assert of_host(first) == of_host(second)
    assert of_host(first)["pages_moved"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_huge_pages_move_whole(kind: str) -> None:
    """Four of 2 MiB: one bit, one fault and one move each."""
    work = {
        "pattern": "strided",
        "stride": "2MiB",
        "footprint": "8MiB",
        "page": "2MiB",
        "addresses": "first-touch",
    }
    policy = dict(KINDS[kind])
    policy |= {"scan_size": "8MiB", "period_min": "2ms", "period_max": "2ms"} if kind in SCANNED else {}
    policy |= (
        {"threshold": "1s", "threshold_max": "1s", "enough_free": "2MiB"} if kind == "memory-tiering" else {}
    )
    spec = system({**work, "requests": 80_000}, policy, kernel=FREE, near="16MiB", **FAR_FIRST)
    result = cx.run(spec.set("devices.far.capacity", "16MiB"))
    found = of_host(result)
    assert found["pages"] == {"near": 4, "far": 0}
    assert found["tiering"]["promoted_bytes"] == 4 << 21
    assert found["tiering"]["faults"] == (0 if kind not in SCANNED else found["tiering"]["protected_pages"])
