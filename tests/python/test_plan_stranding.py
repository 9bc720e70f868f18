"""What is stranded, and what is in use over time: demand by hand whose levels are worked out beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plan_support import GIB, Row, found_of, plan_of

from cxloom.planning.levels import level_of, time_covered

NONE = {"none": {"kind": "none"}}


def test_stranding_is_what_is_free_while_all_cores_are_sold(tmp_path: Path) -> None:
    """Servers of 4 cores and 16 GiB. Server 0: 4 cores and 6 GiB from 0 to 10: 10 GiB stranded.

    Server 1: 3 cores from 0 to 20 and the last one from 5 to 20, with 8 + 4 GiB: 4 GiB stranded for 15 of 20 s. DRAM is
    sized to 12 GiB, the most that a server needs: 6 GiB for 10 s and 0 for 15 s.
    """
    rows: list[Row] = [(0, 10, 4, 6, 0, 0), (0, 20, 3, 8, 0, 1), (5, 20, 1, 4, 0, 1)]
    found = found_of(plan_of(tmp_path, rows, NONE, servers={"dram": "16GiB"}), "none")
    assert found["today"]["dram_bytes"] == 32 * GIB
    assert found["today"]["stranded_mean_share"] == pytest.approx((10 * 10 + 4 * 15) / 20 / 32)
    assert found["today"]["stranded_p95_share"] == pytest.approx(
        14 / 32
    )  # from 5 to 10 s: a quarter of the time
    assert found["dram"]["per_server_bytes"] == 12 * GIB
    assert found["stranded"]["dram_mean_bytes"] == pytest.approx(6 * 10 / 20 * GIB)


def test_spare_cores_count_as_sold(tmp_path: Path) -> None:
    """With one core free the server is sold out only if it may have one to spare."""
    rows: list[Row] = [(0, 10, 3, 6, 0, 0), (0, 10, 1, 1, 0, 1)]
    strict = plan_of(tmp_path, rows, NONE, servers={"dram": "16GiB"})
    loose = plan_of(tmp_path, rows, NONE, servers={"dram": "16GiB", "spare_cores": 1})
    assert found_of(strict, "none")["today"]["stranded_mean_share"] == 0
    assert found_of(loose, "none")["today"]["stranded_mean_share"] == pytest.approx(10 / 32)


def test_a_pool_is_stranded_when_all_of_its_servers_are_sold_out(tmp_path: Path) -> None:
    """Server 0 is sold out from 0 to 20, server 1 from 10 to 20. The pool has 8 GiB, of which 8 are in use until 10 s
    and 2 afterwards: 6 GiB are stranded for half of the time. Of devices of their own, server 0's is for 10 s."""
    rows: list[Row] = [(0, 20, 3, 2, 1, 0), (0, 10, 1, 6, 1, 0), (10, 20, 1, 1, 0, 0), (10, 20, 4, 1, 0, 1)]
    designs = {"pool": {"kind": "multi-headed", "heads": 2}, "direct": {"kind": "direct"}}
    plan = plan_of(tmp_path, rows, designs)
    assert found_of(plan)["stranded"]["pool_mean_bytes"] == pytest.approx(6 * 10 / 20 * GIB)
    # Server 1's device, as large as that of server 0, is stranded with all of its 8 GiB.
    assert found_of(plan, "direct")["stranded"]["pool_mean_bytes"] == pytest.approx((6 + 8) * 10 / 20 * GIB)


def test_use_is_a_mean_over_time_and_a_peak(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 4, 1, 0), (5, 10, 1, 8, 1, 1), (0, 20, 1, 1, 0, 0)]
    pool = found_of(plan_of(tmp_path, rows, {"pool": {"kind": "multi-headed", "heads": 2}}))["pool"]
    assert pool["used_mean_bytes"] == pytest.approx((4 * 10 + 8 * 5) / 20 * GIB)
    assert pool["used_peak_bytes"] == 12 * GIB
    assert pool["used_mean_share"] == pytest.approx(4 / 12)


def test_warm_up_and_what_comes_after_the_end_do_not_count(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 9, 1, 0), (10, 30, 1, 4, 1, 0), (30, 40, 1, 9, 1, 0)]
    plan = plan_of(
        tmp_path,
        rows,
        {"pool": {"kind": "multi-headed", "heads": 2}},
        demand={"warmup": "10s", "until": "30s"},
        sizing={"probability": 1},
    )
    found = found_of(plan)
    assert found["vms"]["asked"] == 1
    assert found["pool"]["used_peak_bytes"] == 4 * GIB
    assert found["pool"]["bytes"] == 4 * GIB


def test_who_ended_in_the_warm_up_is_not_counted_while_its_slices_are_not_free(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 10, 1, 15, 1, 0), (15, 30, 1, 10, 1, 0)]
    design = {"pool": {"kind": "multi-headed", "heads": 2, "release_delay": "10s"}}
    pool = found_of(plan_of(tmp_path, rows, design, demand={"warmup": "15s"}))["pool"]
    assert pool["sum_of_peaks_bytes"] == pool["bound_bytes"] == 10 * GIB
    assert pool["bytes"] == 25 * GIB  # from 15 GiB on the second lacks what the first has


def test_levels_step_at_instants() -> None:
    """2 from 1 to 3, and 3 more from 2 on; what is given and taken at 3 is one step."""
    times, steps = np.array([1.0, 2, 3, 3]), np.array([2.0, 3, -2, 2])
    level = level_of(times, steps, 0, 5)
    assert level.times.tolist() == [0, 1, 2, 3]
    assert level.values.tolist() == [0, 2, 5, 5]
    assert level.mean() == (2 + 5 * 3) / 5
    assert (level.peak(), level.peak_time()) == (5, 2)
    assert [level.quantile(share) for share in (0.2, 0.3, 0.4, 0.41, 1)] == [0, 2, 2, 5, 5]
    assert level_of(times, steps, 1.5, 2.5).values.tolist() == [2, 5]


def test_covered_time_counts_overlaps_once() -> None:
    assert time_covered(np.array([0.0, 2, 8]), np.array([4.0, 3, 9]), 1, 10) == 4
    assert time_covered(np.zeros(0), np.zeros(0), 0, 10) == 0
