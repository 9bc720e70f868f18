"""How large pools are: closed forms of demand that is written by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plan_support import GIB, Row, found_of, plan_of

from cxloom.base.errors import InputError
from cxloom.planning.allocation import spread_over
from cxloom.planning.bound import fits, least_room
from cxloom.planning.designs import Sparse
from cxloom.planning.reach import reach_of, sparse_lists

IN_TURNS: list[Row] = [(at, at + 10, 4, 8, 1.0, (at // 10) % 2) for at in range(0, 100, 10)]
"""Two servers of which one or the other has 8 GiB, in turns, and never both: anti-correlated."""
SHARED = {"kind": "multi-headed", "heads": 2}
DIRECT = {"kind": "direct"}


def test_two_servers_in_turns_need_half_of_what_they_need_apart(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, IN_TURNS, {"direct": DIRECT, "pool": SHARED})
    apart, together = found_of(plan, "direct")["pool"], found_of(plan)["pool"]
    assert apart["sum_of_peaks_bytes"] == apart["bytes"] == 16 * GIB
    assert together["bytes"] == 8 * GIB == apart["bytes"] / 2
    assert together["bound_bytes"] == 8 * GIB


def test_two_servers_at_once_need_what_they_need_apart(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 4, 8, 1.0, 0), (0, 10, 4, 8, 1.0, 1)]
    plan = plan_of(tmp_path, rows, {"direct": DIRECT, "pool": SHARED})
    assert found_of(plan)["pool"]["bytes"] == found_of(plan, "direct")["pool"]["bytes"] == 16 * GIB


def test_without_a_pool_each_server_has_its_peak(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, IN_TURNS, {"none": {"kind": "none"}})
    found = found_of(plan, "none")
    assert found["dram"]["per_server_bytes"] == 8 * GIB
    assert (
        found["dram"]["all_bytes"] == found["dram"]["sum_of_peaks_bytes"] == found["bought_bytes"] == 16 * GIB
    )
    assert found["pool"]["bytes"] == found["pool"]["devices"] == 0


def test_what_may_be_pooled_is_and_the_rest_is_dram(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 10, 0.3, 0), (0, 10, 1, 6, 0.0, 1)]
    found = found_of(plan_of(tmp_path, rows, {"pool": SHARED}))
    assert found["pool"]["bytes"] == 3 * GIB
    assert found["dram"]["per_server_bytes"] == 7 * GIB  # of server 0; server 1 has 6


def test_slices_are_whole(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 5, 1.0, 0), (0, 10, 1, 5, 1.0, 1)]
    found = found_of(plan_of(tmp_path, rows, {"pool": {**SHARED, "slice": "2GiB"}}))
    assert found["pool"]["bytes"] == 2 * 6 * GIB  # 5 GiB are three slices of 2 GiB


def test_a_delay_of_release_keeps_slices_from_others(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, IN_TURNS, {"pool": SHARED, "slow": {**SHARED, "release_delay": "5s"}})
    assert found_of(plan)["pool"]["bytes"] == 8 * GIB
    assert found_of(plan, "slow")["pool"]["bytes"] == 16 * GIB  # while the next one has its own already


def test_devices_of_a_unit_share_what_it_needs(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 5, 1.0, 0)]
    found = found_of(plan_of(tmp_path, rows, {"pool": {"kind": "switched", "devices": 2}}))
    assert found["pool"]["per_device_bytes"] == 3 * GIB
    assert found["pool"]["devices"] == 2


# Enough with a probability.


def ten_vms(of_them: float) -> list[Row]:
    """Ten VMs one after the other on one server: nine of 1 GiB for 10 s each, one of more for 10 s."""
    return [(10 * i, 10 * i + 10, 1, of_them if i == 5 else 1, 1.0, 0) for i in range(10)]


@pytest.mark.parametrize("of", ["vms", "time"])
@pytest.mark.parametrize(("probability", "gib"), [(1.0, 8), (0.95, 8), (0.9, 1), (0.5, 1)])
def test_enough_for_a_share_is_the_quantile(tmp_path: Path, of: str, probability: float, gib: int) -> None:
    """One of ten VMs, and a tenth of the time, needs 8 GiB."""
    sizing = {"probability": probability, "of": of}
    plan = plan_of(tmp_path, ten_vms(8), {"pool": {"kind": "multi-headed", "heads": 2}}, sizing=sizing)
    found = found_of(plan)
    assert found["pool"]["bytes"] == gib * GIB
    assert found["pool"]["always_bytes"] == 8 * GIB
    assert found["vms"]["refused_by_pool"] == (1 if gib == 1 else 0)


def test_vms_that_no_server_takes_are_not_served_by_a_size(tmp_path: Path) -> None:
    """One of ten VMs runs: nine tenths of those that run are this one."""
    rows: list[Row] = [(0, 10, 4, 8, 0.5, 0)] * 10
    found = found_of(plan_of(tmp_path, rows, {"pool": SHARED}, sizing={"probability": 0.9}))
    assert found["pool"]["per_device_bytes"] == found["dram"]["per_server_bytes"] == 4 * GIB
    assert (found["vms"]["refused"], found["vms"]["refused_by_servers"]) == (9, 9)


def test_vms_that_ask_for_nothing_are_not_served_by_a_size(tmp_path: Path) -> None:
    """One of ten has memory on devices: a device for nine tenths of those that have is one for this one."""
    rows: list[Row] = [(10 * i, 10 * i + 10, 1, 8, 1.0 if i == 5 else 0.0, 0) for i in range(10)]
    assert (
        found_of(plan_of(tmp_path, rows, {"pool": SHARED}, sizing={"probability": 0.9}))["pool"]["bytes"]
        == 8 * GIB
    )


def test_time_and_vms_differ_where_the_large_one_is_short(tmp_path: Path) -> None:
    """The large one is one of seven VMs and a thousandth of the time."""
    rows: list[Row] = [(0, 1, 1, 8, 1.0, 0), *((1 + i, 1000, 1, 1, 1.0, i % 2) for i in range(6))]
    shared = {"pool": {"kind": "multi-headed", "heads": 2}}
    by_time = plan_of(tmp_path, rows, shared, sizing={"probability": 0.99, "of": "time"})
    by_vms = plan_of(tmp_path, rows, shared, sizing={"probability": 0.99, "of": "vms"})
    assert found_of(by_time)["pool"]["bytes"] == 6 * GIB
    assert found_of(by_vms)["pool"]["bytes"] == 8 * GIB


def test_who_waits_is_served_when_there_is_room(tmp_path: Path) -> None:
    """8 of 9 GiB are enough for half of the VMs: the second of two comes at 4 s and has its memory at 10 s."""
    rows: list[Row] = [(0, 10, 1, 8, 1.0, 0), (4, 20, 1, 8, 1.0, 1)]
    given = {"pool": SHARED}
    sizing = {"probability": 0.5}
    refused = found_of(plan_of(tmp_path, rows, given, sizing=sizing))["vms"]
    waited = found_of(plan_of(tmp_path, rows, given, sizing=sizing, servers={"when_full": "wait"}))["vms"]
    assert (refused["refused"], refused["waited"]) == (1, 0)
    assert (waited["refused"], waited["waited"], waited["wait_mean_s"]) == (0, 1, 6)


def test_who_waits_until_its_end_is_refused(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 8, 1.0, 0), (4, 9, 1, 8, 1.0, 1)]
    plan = plan_of(
        tmp_path, rows, {"pool": SHARED}, sizing={"probability": 0.5}, servers={"when_full": "wait"}
    )
    assert found_of(plan)["vms"]["refused"] == 1


# Sparse pods.


def random_rows(seed: int, servers: int, count: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(count):
        start = float(rng.integers(0, 200))
        rows.append(
            (
                start,
                start + int(rng.integers(1, 40)),
                1,
                int(rng.integers(1, 12)),
                1.0,
                int(rng.integers(servers)),
            )
        )
    return rows


@pytest.mark.parametrize("probability", [1.0, 0.9])
@pytest.mark.parametrize("devices", [1, 2, 4])
def test_a_graph_with_all_links_is_the_one_big_pool(tmp_path: Path, devices: int, probability: float) -> None:
    """Where each server has each device, an allocator that spreads over all of them refuses only when all is in use."""
    all_links = [list(range(devices))] * 4
    plan = plan_of(
        tmp_path,
        random_rows(3, 4, 120),
        {"pool": {"kind": "sparse", "graph": all_links}, "switch": {"kind": "switched", "devices": devices}},
        servers={"count": 4, "cores": 64},
        sizing={"probability": probability},
    )
    sparse, one = found_of(plan)["pool"], found_of(plan, "switch")["pool"]
    for key in ("bytes", "always_bytes", "bound_bytes", "devices"):
        assert sparse[key] == one[key], key


def test_more_servers_to_a_pool_never_need_more(tmp_path: Path) -> None:
    designs = {f"of{n}": {"kind": "multi-headed", "heads": n} for n in (1, 2, 4, 8, 16)}
    plan = plan_of(tmp_path, random_rows(5, 16, 400), designs, servers={"count": 16, "cores": 64})
    sizes = [found_of(plan, name)["pool"]["bytes"] for name in designs]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_more_links_never_need_more_by_the_bound(tmp_path: Path) -> None:
    """Rings of ever more neighbours: each has the links of the one before."""
    designs = {
        f"of{k}": {"kind": "sparse", "graph": [[(s + i) % 8 for i in range(k)] for s in range(8)]}
        for k in (1, 2, 4, 8)
    }
    plan = plan_of(tmp_path, random_rows(7, 8, 200), designs, servers={"count": 8, "cores": 64})
    found = {name: found_of(plan, name)["pool"] for name in designs}
    bounds = [each["bound_bytes"] for each in found.values()]
    assert bounds == sorted(bounds, reverse=True)
    assert all(
        each["always_bytes"] >= each["bound_bytes"] and each["bound_is_exact"] for each in found.values()
    )


def test_more_slices_than_flows_count_to_are_refused() -> None:
    links = ((0, 1), (1,))
    assert least_room(np.array([2**30, 2**29]), links, 2) == 3 * 2**28
    with pytest.raises(InputError, match=r"slice: more slices .* found 3,221,225,472 in use at once"):
        least_room(np.array([2**31, 2**30]), links, 2)


def test_the_bound_is_halls_condition() -> None:
    """Three servers, of which two have one device together: they bound it, however much the third has."""
    links = ((0,), (0,), (0, 1, 2))
    asked = np.array([5, 4, 3])
    assert least_room(asked, links, 3) == 9  # servers 0 and 1: 9 slices of one device
    assert fits(asked, links, 3, 9)
    assert not fits(asked, links, 3, 8)
    assert least_room(np.array([1, 1, 8]), links, 3) == 4  # all: 10 of three devices, rounded up


def test_the_bound_is_the_brute_force_of_all_sets() -> None:
    """Hall's condition for sets of servers, one by one: demand of the set / its devices, rounded up."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        servers, units = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        links = tuple(
            tuple(sorted(rng.choice(units, size=int(rng.integers(1, units + 1)), replace=False).tolist()))
            for _ in range(servers)
        )
        asked = rng.integers(0, 9, size=servers)
        worst = 0
        for chosen in range(1, 1 << servers):
            members = [s for s in range(servers) if chosen >> s & 1]
            devices = {unit for s in members for unit in links[s]}
            worst = max(worst, -(-int(asked[members].sum()) // len(devices)))
        assert least_room(asked, links, units) == worst


@pytest.mark.parametrize(
    ("used", "slices", "given"),
    [
        ([0, 0, 0], 3, {0: 1, 1: 1, 2: 1}),
        ([5, 0, 2], 4, {1: 3, 2: 1}),  # one up to 2, then both to 3
        ([5, 0, 2], 2, {1: 2}),
        ([1, 1, 9], 5, {0: 3, 1: 2}),
    ],
)
def test_slices_go_to_the_least_used(used: list[int], slices: int, given: dict[int, int]) -> None:
    assert dict(spread_over((0, 1, 2), slices, used, 100) or ()) == given


def test_slices_are_all_or_none() -> None:
    assert spread_over((0, 1), 4, [8, 8], 10) is not None
    assert spread_over((0, 1), 5, [8, 8], 10) is None


@pytest.mark.parametrize("graph", ["spread", "random"])
@pytest.mark.parametrize(
    ("servers", "links", "heads"), [(96, 8, 4), (12, 3, 4), (8, 8, 8), (9, 4, 6), (4, 1, 2)]
)
def test_dealt_graphs_are_regular(servers: int, links: int, heads: int, graph: str) -> None:
    given = Sparse.model_validate({"kind": "sparse", "links": links, "heads": heads, "graph": graph})
    lists = sparse_lists(given, servers)
    assert all(len(set(units)) == links for units in lists)
    counts = np.bincount([unit for units in lists for unit in units])
    assert counts.tolist() == [heads] * (servers * links // heads)
    assert reach_of(given, servers).device_count == servers * links // heads


def test_spread_shares_fewer_devices_than_chance() -> None:
    """Pairs of servers with more than one device in common: each such pair has a way less to others."""

    def doubled(graph: str, seed: int = 1) -> int:
        given = Sparse.model_validate(
            {"kind": "sparse", "links": 8, "heads": 4, "graph": graph, "graph_seed": seed}
        )
        sets = [set(units) for units in sparse_lists(given, 96)]
        return sum(len(one & other) > 1 for i, one in enumerate(sets) for other in sets[:i])

    assert doubled("spread") < doubled("random") / 4
    assert sparse_lists(Sparse(kind="sparse", links=8, heads=4, graph_seed=2), 96) != sparse_lists(
        Sparse(kind="sparse", links=8, heads=4, graph_seed=1), 96
    )
