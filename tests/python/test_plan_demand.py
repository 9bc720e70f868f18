"""Demand: what is drawn has the means that it is asked for, and traces become what they say."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cxloom.base.errors import InputError
from cxloom.planning.demand import Demand
from cxloom.planning.generated import arrival_rate
from cxloom.planning.placement import REFUSED, placed
from cxloom.planning.plan_file import Plan, planned, read
from cxloom.planning.point import PlanRun
from cxloom.spec.override import Override

GIB = 2**30
DAY = 86400.0
SIZES = [{"cores": 1, "memory": "4GiB", "weight": 3}, {"cores": 4, "memory": "8GiB", "pool_share": 1}]


def plan_of(demand: dict[str, Any], **servers: Any) -> Plan:
    given = {"count": 10, "cores": 20, **servers}
    return planned(read({"servers": given, "demand": demand, "designs": {"none": {"kind": "none"}}}))


def drawn(seed: int = 1, **changes: Any) -> Demand:
    given = {"duration": "50d", "rate": "10/h", "lifetime": {"mean": "2h"}, "sizes": SIZES, **changes}
    return plan_of({"pool_share": 0.5, "generate": given}).demanded(seed)


def test_arrivals_and_lives_have_their_means() -> None:
    """12,000 VMs: a Poisson count has that mean and deviation 110; that of lives deviates by sd / sqrt(n)."""
    demand = drawn()
    lives = demand.end - demand.start
    assert len(demand) == pytest.approx(12_000, abs=4 * 110)
    assert lives.mean() == pytest.approx(
        7200, rel=0.12
    )  # lognormal: sd 2.9 means, 3 % of the mean, 4 of these
    assert demand.cores.mean() == pytest.approx((3 * 1 + 4) / 4, abs=4 * 1.3 / 110)
    assert set(zip(demand.memory / GIB, demand.pool_share, strict=True)) == {(4, 0.5), (8, 1)}


def test_lives_spread_as_their_distribution_says() -> None:
    fixed, exponential, narrow, wide = (
        np.log(each.end - each.start)
        for each in (
            drawn(lifetime={"mean": "2h", "distribution": "fixed"}),
            drawn(lifetime={"mean": "2h", "distribution": "exponential"}),
            drawn(lifetime={"mean": "2h", "sigma": 0.5}),
            drawn(lifetime={"mean": "2h", "sigma": 1.5}),
        )
    )
    assert fixed.std() == pytest.approx(0, abs=1e-9)
    assert narrow.std() == pytest.approx(0.5, rel=0.05)
    assert wide.std() == pytest.approx(1.5, rel=0.05)
    assert exponential.std() == pytest.approx(math.pi / math.sqrt(6), rel=0.1)  # of a log of an exponential


def test_arrivals_swing_as_a_sine() -> None:
    """In the first half of each period come 1/2 + swing / pi of the VMs."""
    for swing in (0.0, 0.6):
        for period in ("1d", "10d"):
            demand = drawn(swing=swing, period=period)
            length = DAY * int(period[:-1])
            first = ((demand.start % length) < length / 2).mean()
            assert first == pytest.approx(0.5 + swing / math.pi, abs=4 * 0.5 / 110)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_sizes_are_correlated_by_powers(correlation: float) -> None:
    """Sizes k arrivals apart by the k-th power; how often each is drawn stays."""
    cores = drawn(correlation=correlation, rate="40/h").cores.astype(float)
    apart = cores - cores.mean()
    for lag in (1, 2, 3):
        found = (apart[lag:] * apart[:-lag]).mean() / apart.var()
        assert found == pytest.approx(correlation**lag, abs=0.05)
    assert (cores == 1).mean() == pytest.approx(0.75, abs=0.05)


def test_cores_sold_are_rate_times_life_times_size() -> None:
    """Little: 80 % of 200 cores = rate x 2 h x 1.75 cores."""
    given = plan_of(
        {
            "pool_share": 0.5,
            "generate": {"duration": "1d", "cores_sold": 0.8, "lifetime": {"mean": "2h"}, "sizes": SIZES},
        }
    )
    assert given.demand.generate is not None
    assert arrival_rate(given.demand.generate, given.servers) == pytest.approx(160 / (7200 * 1.75))


def test_seeds_draw_other_vms_and_repeat_them() -> None:
    assert np.array_equal(drawn(1).start, drawn(1).start)
    assert len(drawn(1)) != len(drawn(2))


def traced(folder: Path, text: str, name: str = "vms.csv", dram: str | None = None, **changes: Any) -> Demand:
    (folder / name).write_text(text)
    servers = {"count": 4} | ({} if dram is None else {"dram": dram})
    return plan_of({"trace": str(folder / name), **changes}, **servers).demanded(1)


OWN = "start,end,cores,memory\n10,20,2,4\n0,30,1,8\n"


def test_a_trace_is_sorted_and_has_its_units(tmp_path: Path) -> None:
    demand = traced(tmp_path, OWN, pool_share="25%", time_unit="1h", memory_unit="512MiB")
    assert demand.start.tolist() == [0, 36000]
    assert demand.end.tolist() == [30 * 3600, 20 * 3600]
    assert demand.memory.tolist() == [4 * GIB, 2 * GIB]
    assert demand.cores.tolist() == [1, 2]
    assert demand.pool_share.tolist() == [0.25, 0.25]
    assert (demand.begin, demand.finish) == (0, 30 * 3600)


def test_counting_begins_at_a_time_of_the_trace(tmp_path: Path) -> None:
    """VMs that ran before have negative starts, as in the trace of Azure for packing."""
    text = "start,end,cores,memory\n-900,20,1,1\n5,50,1,1\n"
    demand = traced(tmp_path, text, pool_share=1, since="0d", warmup="4s", until="30s")
    assert (demand.begin, demand.finish) == (4, 30)
    assert demand.start.tolist() == [-900, 5]
    late = text.replace("-900", "1000").replace("20", "2000").replace("5,50", "1500,1600")
    demand = traced(tmp_path, late, pool_share=1, warmup="100s", until="1800s")
    assert (demand.begin, demand.finish) == (1100, 1800)


def test_what_is_counted_does_not_depend_on_the_vms_that_are_kept(tmp_path: Path) -> None:
    text = "start,end,cores,memory\n" + "".join(f"{i},{i + 9},1,1\n" for i in range(50))
    (tmp_path / "vms.csv").write_text(text)
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1, "keep": "20%"})
    for seed in range(4):
        demand = plan.demanded(seed)
        assert (demand.begin, demand.finish) == (0, 58)


def test_vms_that_no_server_takes_are_counted(tmp_path: Path) -> None:
    (tmp_path / "vms.csv").write_text("start,end,cores,memory\n0,9,1,2\n0,9,1,9\n0,9,30,1\n")
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1}, dram="8GiB")
    vms = PlanRun(plan, "none", 1).carried_out()["vms"]
    assert (vms["too_large"], vms["refused_by_servers"], vms["asked"]) == (2, 2, 3)


def test_columns_have_names_of_ones_own(tmp_path: Path) -> None:
    text = "from,end,cores,memory,share,where\n0,5,1,2,0.5,3\n"
    demand = traced(tmp_path, text, columns={"start": "from", "pool_share": "share", "server": "where"})
    assert (demand.pool_share.tolist(), demand.server.tolist()) == ([0.5], [3])


def test_parquet_and_packed_csv_are_read_as_csv_is(tmp_path: Path) -> None:
    import gzip

    import polars as pl

    (tmp_path / "vms.csv.gz").write_bytes(gzip.compress(OWN.encode()))
    packed = plan_of({"trace": str(tmp_path / "vms.csv.gz"), "pool_share": 1})
    assert packed.demanded(1).memory.tolist() == [8 * GIB, 4 * GIB]
    pl.read_csv(OWN.encode()).write_parquet(tmp_path / "vms.parquet")
    plan = plan_of({"trace": str(tmp_path / "vms.parquet"), "pool_share": 1})
    assert plan.demanded(1).memory.tolist() == traced(tmp_path, OWN, pool_share=1).memory.tolist()


AZURE = "a,b,c,{start},{end},9.1,0.5,2.2,Unknown,{cores},{memory}\n"


def test_public_traces_of_azure(tmp_path: Path) -> None:
    """Rows as those of vmtable.csv: the last buckets of 2019 have no end."""
    old = AZURE.format(start=0, end=600, cores=2, memory=3.5) + AZURE.format(
        start=300, end=300, cores=1, memory=1.75
    )
    demand = traced(tmp_path, old, format="azure-2017", pool_share=0.5)
    assert (demand.cores.tolist(), demand.memory.tolist()) == (
        [2],
        [3.5 * GIB],
    )  # the other lives for no time
    new = AZURE.format(start=0, end=600, cores=">24", memory=">64")
    demand = traced(tmp_path, new, format="azure-2019", pool_share=0.5)
    assert (demand.cores.tolist(), demand.memory.tolist()) == ([30], [70 * GIB])


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        (
            "azure-2017",
            AZURE.format(start=0, end=600, cores=2, memory=4)
            + AZURE.format(start=0, end=6, cores=">24", memory=4),
            r"cores: not a number in row 2, found '>24'; allowed: .*format: azure-2019",
        ),
        (
            "azure-2019",
            AZURE.format(start="vmcreated", end="vmdeleted", cores="cores", memory="memory"),
            r"row 1, found 'vmcreated'; allowed: .*without a header; .* format: columns",
        ),
        ("azure-2019", "0,600,2,4\n", r"not the trace azure-2019, found 4 columns; allowed: the 11 columns"),
        ("azure-2019", "", "no VMs; allowed: a row for each"),
    ],
)
def test_what_is_not_the_public_trace_is_refused_with_what_it_may_be(
    tmp_path: Path, form: str, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        traced(tmp_path, text, format=form, pool_share=0.5)


PACKING = """
CREATE TABLE vmType (id INTEGER PRIMARY KEY, vmTypeId, machineId, core, memory, hdd, ssd, nic);
CREATE TABLE vm (vmId INTEGER PRIMARY KEY, tenantId, vmTypeId, priority, starttime, endtime);
INSERT INTO vmType VALUES (1, 7, 0, 0.3333333333, 0.25, 0, 0, 0), (2, 7, 1, 0.5, 0.5, 0, 0, 0);
INSERT INTO vmType VALUES (3, 8, 0, 0.0625, 0.125, 0, 0, 0);
INSERT INTO vm VALUES (1, 1, 7, 0, 2.5, 3), (2, 1, 8, 1, -4, 20), (3, 1, 8, 0, 1, NULL), (4, 1, 9, 0, 1, 2);
"""


def packing(folder: Path, script: str = PACKING, **changes: Any) -> Demand:
    file = folder / "zone.sqlite"
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as base:
        base.executescript(script)
    given = {"trace": str(file), "format": "azure-packing-2020", "pool_share": 1, **changes}
    return plan_of(given, cores=24, dram="64GiB").demanded(1)


def test_the_trace_for_packing_has_shares_of_a_server(tmp_path: Path) -> None:
    """A third of 24 cores is 8, a sixteenth is 1.5 and takes 2; machine 0 has types of three VMs, machine 1 of one."""
    demand = packing(tmp_path)
    assert demand.start.tolist() == [-4 * DAY, DAY, 2.5 * DAY]
    assert demand.end.tolist() == [20 * DAY, 90 * DAY, 3 * DAY]
    assert demand.cores.tolist() == [2, 2, 8]
    assert demand.memory.tolist() == [8 * GIB, 8 * GIB, 16 * GIB]
    assert (demand.begin, demand.finish) == (0, 14 * DAY)
    other = packing(tmp_path, machine=1, since="1d", until="3d")
    assert (other.cores.tolist(), other.memory.tolist()) == ([12], [32 * GIB])
    assert (other.begin, other.finish) == (DAY, 3 * DAY)


@pytest.mark.parametrize(
    ("script", "changes", "said"),
    [
        (PACKING, {"machine": 5}, r"demand.machine: no such machine .* found 5; .*0 \(3 VMs\), 1 \(1 VMs\)"),
        (PACKING, {"time_unit": "1d"}, "'time_unit' has no effect with a public format"),
        ("CREATE TABLE vm (vmId);", {}, "not the trace azure-packing-2020, found no such table: vmType"),
        (PACKING.partition("INSERT INTO vm VALUES")[0], {}, "no VMs"),
        (PACKING.replace("2.5, 3", "'noon', 3"), {}, "not numbers.*noon"),
        (PACKING.replace("0.125", "-1"), {}, "memory: not possible in row 2"),
    ],
)
def test_what_is_no_trace_for_packing_is_refused(
    tmp_path: Path, script: str, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        packing(tmp_path, script, **changes)


def test_a_trace_for_packing_is_a_file_of_sqlite_and_of_servers_with_dram(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the trace azure-packing-2020, found file is not a database"):
        traced(tmp_path, OWN * 40, "zone.sqlite", format="azure-packing-2020", pool_share=1, dram="1GiB")
    with pytest.raises(InputError, match="'dram' is missing"):
        traced(tmp_path, OWN, "zone.sqlite", format="azure-packing-2020", pool_share=1)
    absent = {"trace": str(tmp_path / "none"), "format": "azure-packing-2020", "pool_share": 1}
    plan = plan_of(absent, dram="1GiB")
    with pytest.raises(InputError, match="unable to open database file"):
        plan.demanded(1)
    with pytest.raises(InputError, match="'machine' has no effect with format: columns"):
        traced(tmp_path, OWN, pool_share=1, machine=1)


def test_buckets_of_other_traces_are_no_numbers(tmp_path: Path) -> None:
    """What the last bucket counts as is known of Azure's alone."""
    with pytest.raises(InputError, match="not a number in row 1, found '>24'"):
        traced(tmp_path, "start,end,cores,memory\n0,9,>24,4\n", pool_share=0.5)


def test_vms_are_kept_by_a_draw(tmp_path: Path) -> None:
    text = "start,end,cores,memory\n" + "".join(f"{i},{i + 9},1,1\n" for i in range(2000))
    whole, part = traced(tmp_path, text, pool_share=1), traced(tmp_path, text, pool_share=1, keep="10%")
    assert len(whole) == 2000
    assert len(part) == pytest.approx(200, abs=4 * 14)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start,end,cores,memory\n0,5,1\n", "not a table of VMs|not a number in row 1"),
        ("start,end,cores,memory\n0,5,1,4\n3,9,2,\n", "not a number in row 2, found nothing"),
        ("start,end,cores,memory\n0,5,1,x\n", "memory: not a number in row 1, found 'x'"),
        ("start,end,cores,memory\n5,0,1,4\n", "end: not possible in row 1, found 0"),
        ("start,end,cores,memory\n0,5,1.5,4\n", "cores: not possible in row 1, found 1.5"),
        ("start,end,cores,memory\n0,5,1,0\n", "memory: not possible in row 1, found 0"),
        ("start,end,cores,memory,server\n0,5,1,1,4\n", "server: not possible in row 1, found 4"),
        ("start,end,cores,memory,pool_share\n0,5,1,1,2\n", "pool_share: not possible in row 1, found 2"),
        ("start,end,core,memory\n0,5,1,4\n", "no column 'cores'.*did you mean 'core'"),
        ("start,end,cores,memory\n", "no VMs"),
        ("start,end,cores,memory\n5,5,1,1\n", "no VM lives for any time"),
    ],
)
def test_a_trace_that_is_none_is_refused_with_its_row(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        traced(tmp_path, text, pool_share=0.5)


@pytest.mark.parametrize(
    ("rule", "servers"),
    [("first-fit", [0, 1, 0]), ("best-fit", [0, 1, 1]), ("worst-fit", [0, 1, 0])],
)
def test_placement_by_rule(tmp_path: Path, rule: str, servers: list[int]) -> None:
    """The 8 cores of each: 5 and then 6 leave 3 on server 0 and 2 on server 1, where 2 more fit best."""
    text = "start,end,cores,memory\n0,9,5,1\n1,9,6,1\n2,9,2,1\n"
    (tmp_path / "vms.csv").write_text(text)
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1}, count=2, cores=8, placement=rule)
    assert placed(plan.demanded(1), plan.servers).server.tolist() == servers


def test_no_core_is_sold_twice_and_who_waits_is_put_in_when_it_is_free(tmp_path: Path) -> None:
    text = "start,end,cores,memory\n0,10,8,1\n2,20,8,1\n3,8,8,1\n"
    (tmp_path / "vms.csv").write_text(text)
    given = {"trace": str(tmp_path / "vms.csv"), "pool_share": 1}
    refuse = plan_of(given, count=1, cores=8)
    wait = plan_of(given, count=1, cores=8, when_full="wait")
    on = placed(refuse.demanded(1), refuse.servers)
    assert on.server.tolist() == [0, REFUSED, REFUSED]
    on = placed(wait.demanded(1), wait.servers)
    assert on.server.tolist() == [0, 0, REFUSED]  # the third one's time is over before there is room
    assert on.start.tolist()[:2] == [0, 10]


def test_nobody_passes_those_who_wait(tmp_path: Path) -> None:
    """The second waits for the first one's cores, and the third, for which there is room, behind it."""
    text = "start,end,cores,memory\n0,10,6,1\n1,29,8,1\n2,60,2,1\n3,6,8,1\n"
    (tmp_path / "vms.csv").write_text(text)
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1}, count=1, cores=8, when_full="wait")
    on = placed(plan.demanded(1), plan.servers)
    assert on.start.tolist()[:3] == [0, 10, 29]
    assert on.server.tolist() == [0, 0, 0, REFUSED]


def test_who_waits_moves_up_when_one_before_it_gives_up(tmp_path: Path) -> None:
    text = "start,end,cores,memory\n0,50,6,1\n1,5,8,1\n2,60,2,1\n"
    (tmp_path / "vms.csv").write_text(text)
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1}, count=1, cores=8, when_full="wait")
    assert placed(plan.demanded(1), plan.servers).start.tolist() == [0, 1, 5]


def test_dram_of_today_limits_what_fits(tmp_path: Path) -> None:
    text = "start,end,cores,memory\n0,10,1,6\n0,10,1,6\n"
    (tmp_path / "vms.csv").write_text(text)
    plan = plan_of({"trace": str(tmp_path / "vms.csv"), "pool_share": 1}, count=1, dram="8GiB")
    assert placed(plan.demanded(1), plan.servers).server.tolist() == [0, REFUSED]


def test_overrides_reach_sizes_in_their_list() -> None:
    root = read(
        {
            "servers": {"count": 1, "cores": 8},
            "demand": {
                "pool_share": 1,
                "generate": {"duration": "1d", "rate": "1/h", "lifetime": {"mean": "1h"}, "sizes": SIZES},
            },
            "designs": {"none": {"kind": "none"}},
        }
    )
    plan = planned(root, [Override.parse("demand.generate.sizes.0.memory=2GiB")])
    assert plan.demand.generate is not None
    assert plan.demand.generate.sizes[0].memory == 2 * GIB
