"""Every key of a plan moves a result in the direction that it has to: none is without effect, and none is forgotten."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from validation.examples import some

from cxloom.base.errors import InputError
from cxloom.planning import designs, inputs
from cxloom.planning.plan_file import planned, read
from cxloom.planning.point import PlanRun
from cxloom.planning.prices import Prices
from cxloom.spec.override import Override

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"
PLAN: Mapping[str, Any] = {
    "servers": {"count": 8, "cores": 16, "dram": "64GiB"},
    "demand": {
        "pool_share": "50%",
        "generate": {
            "duration": "3d",
            "cores_sold": 0.8,
            "lifetime": {"mean": "4h"},
            "sizes": [
                {"cores": 2, "memory": "4GiB", "weight": 3},
                {"cores": 2, "memory": "16GiB"},
                {"cores": 8, "memory": "32GiB"},
            ],
        },
    },
    "designs": {
        "none": {"kind": "none"},
        "direct": {"kind": "direct"},
        "heads": {"kind": "multi-headed", "heads": 4},
        "switch": {"kind": "switched"},
        "sparse": {"kind": "sparse", "links": 2, "heads": 4},
    },
    "sizing": {"probability": "99%"},
}

ROWS: list[tuple[str, str, list[Any], str, str]] = [
    # key, design, values, result, and how it goes from one value to the next
    ("servers.count", "heads", [8, 16], "bought_bytes", "more"),
    ("servers.cores", "heads", [16, 32], "pool.used_mean_bytes", "more"),
    ("servers.dram", "none", ["64GiB", "32GiB"], "vms.refused_by_servers", "more"),
    ("servers.placement", "none", ["best-fit", "worst-fit"], "today.stranded_mean_share", "less"),
    ("servers.placement", "none", ["first-fit", "worst-fit"], "today.stranded_mean_share", "less"),
    ("servers.spare_cores", "none", [0, 2], "today.stranded_mean_share", "more"),
    ("servers.when_full", "none", ["refuse", "wait"], "vms.waited", "more"),
    ("demand.pool_share", "heads", [0.2, 0.8], "pool.bytes", "more"),
    ("demand.pool_share", "heads", [0.2, 0.8], "dram.per_server_bytes", "less"),
    ("demand.warmup", "heads", ["0s", "2d"], "vms.asked", "less"),
    ("demand.until", "heads", ["3d", "1d"], "vms.asked", "less"),
    ("demand.generate.duration", "heads", ["3d", "6d"], "vms.asked", "more"),
    ("demand.generate.cores_sold", "heads", [0.3, 0.8], "pool.used_mean_bytes", "more"),
    ("demand.generate.sizes.0.weight", "heads", [3, 30], "pool.used_mean_bytes", "less"),
    ("demand.generate.sizes.1.pool_share", "heads", [0.5, 1], "pool.used_mean_bytes", "more"),
    ("demand.generate.sizes.1.memory", "heads", ["16GiB", "24GiB"], "pool.used_mean_bytes", "more"),
    ("demand.generate.sizes.0.cores", "heads", [1, 4], "vms.asked", "less"),
    ("demand.generate.lifetime.mean", "heads", ["4h", "8h"], "vms.asked", "less"),
    ("designs.heads.slice", "heads", ["1GiB", "16GiB"], "pool.always_bytes", "more"),
    ("designs.heads.release_delay", "heads", ["0s", "2h"], "pool.always_bytes", "more"),
    ("designs.heads.heads", "heads", [2, 8], "pool.always_bytes", "less"),
    ("designs.heads.devices", "heads", [1, 2], "price.devices", "more"),
    ("designs.heads.retimers", "heads", [0, 1], "price.retimers", "more"),
    ("designs.heads.device_price", "heads", [100, 200], "price.devices", "more"),
    ("designs.direct.devices", "direct", [1, 2], "parts.cables", "more"),
    ("designs.switch.servers", "switch", [2, 8], "pool.always_bytes", "less"),
    ("designs.switch.devices", "switch", [1, 4], "parts.switch_ports", "more"),
    ("designs.switch.ports", "switch", [9, 32], "price.switch_ports", "more"),
    ("designs.sparse.links", "sparse", [1, 4], "pool.bound_bytes", "less"),
    ("designs.sparse.heads", "sparse", [1, 8], "pool.always_bytes", "less"),
    ("designs.sparse.graph", "sparse", ["spread", "random"], "pool.always_bytes", "other"),
    ("designs.sparse.graph_seed", "sparse", [1, 3], "pool.always_bytes", "other"),
    ("sizing.probability", "heads", [0.5, 0.9, 0.99, 1], "pool.bytes", "more"),
    ("sizing.of", "heads", ["vms", "time"], "pool.bytes", "other"),
    ("prices.dram_per_gib", "heads", [4, 8], "price.dram", "more"),
    ("prices.dram_per_gib", "heads", [4, 8], "price.pool_dram", "more"),
    ("prices.pool_dram_per_gib", "heads", [4, 8], "price.pool_dram", "more"),
    ("prices.device", "heads", [50, 100], "price.devices", "more"),
    ("prices.head", "heads", [50, 100], "price.devices", "more"),
    ("prices.switch_port", "switch", [50, 100], "price.switch_ports", "more"),
    ("prices.cable", "heads", [50, 100], "price.cables", "more"),
    ("prices.retimer", "heads", [0, 10], "price.total", "same"),  # without retimers
    ("run.seed", "heads", [1, 2], "vms.asked", "other"),
]

ELSEWHERE = {
    "demand.generate.rate": "test_plan_demand.py",
    "demand.generate.lifetime.distribution": "test_plan_demand.py",
    "demand.generate.lifetime.sigma": "test_plan_demand.py",
    "demand.generate.swing": "test_plan_demand.py",
    "demand.generate.period": "test_plan_demand.py",
    "demand.generate.correlation": "test_plan_demand.py",
    **{f"demand.columns.{key}": "test_plan_demand.py" for key in inputs.Columns.model_fields},
    **{
        f"demand.{key}": "test_plan_demand.py"
        for key in ("trace", "format", "machine", "time_unit", "memory_unit", "keep")
    },
    "demand.since": "test_plan_demand.py",
    "designs.heads.device": "test_plan_latency.py",
    "designs.heads.phy": "test_plan_latency.py",
    "designs.switch.switching_time": "test_plan_latency.py",
    **{f"traffic.{key}": "test_plan_latency.py" for key in inputs.Traffic.model_fields},
    "sizing.batches": "here",
    "run.seeds": "test_plan_command.py",
    "prices.currency": "test_plan_command.py",
}
"""Keys whose effect another test shows."""


def keys() -> Iterator[str]:
    """Every key of a plan, by a path at which it can be set in PLAN."""

    def of(model: type[BaseModel], path: str, leave: tuple[str, ...] = ()) -> Iterator[str]:
        yield from (f"{path}.{key}" for key in model.model_fields if key not in leave)

    yield from of(inputs.Servers, "servers")
    yield from of(inputs.Demand, "demand", ("generate", "columns"))
    yield from of(inputs.Columns, "demand.columns")
    yield from of(inputs.Generate, "demand.generate", ("lifetime", "sizes"))
    yield from of(inputs.Lifetime, "demand.generate.lifetime")
    yield from of(inputs.VmSize, "demand.generate.sizes.0")
    yield from of(inputs.Sizing, "sizing")
    yield from of(inputs.Traffic, "traffic")
    yield from of(Prices, "prices")
    yield from of(inputs.Run, "run")
    common = ("kind", *designs.Pooled.model_fields)
    yield from of(designs.Pooled, "designs.heads")
    for name, kind in (
        ("direct", designs.Direct),
        ("heads", designs.MultiHeaded),
        ("switch", designs.Switched),
        ("sparse", designs.Sparse),
    ):
        yield from of(kind, f"designs.{name}", common)


def without_index(path: str) -> str:
    return path.replace("sizes.1", "sizes.0")


def test_no_key_is_forgotten() -> None:
    shown = {without_index(row[0]) for row in ROWS} | set(ELSEWHERE)
    assert set(keys()) - shown == set()
    assert shown - set(keys()) == set()


def test_every_key_is_on_the_page() -> None:
    page = PAGE.read_text()
    missing = [path for path in keys() if f"`{path.rpartition('.')[2]}`" not in page]
    assert missing == []


def result(design: str, path: str, value: Any) -> dict[str, Any]:
    plan = planned(read(PLAN), [Override.of(path, value)])
    return PlanRun(plan, design, plan.run.seed).carried_out()


@pytest.mark.parametrize(("path", "design", "values", "at", "goes"), some(ROWS))
def test_a_key_moves_its_result(path: str, design: str, values: list[Any], at: str, goes: str) -> None:
    found = []
    for value in values:
        number: Any = result(design, path, value)
        for step in at.split("."):
            number = number[step]
        found.append(number)
    pairs = list(itertools.pairwise(found))
    assert all(math.isfinite(number) for number in found)
    if goes == "more":
        assert all(one < other for one, other in pairs), found
    elif goes == "less":
        assert all(one > other for one, other in pairs), found
    else:
        assert all((one == other) is (goes == "same") for one, other in pairs), found


def without(path: str) -> dict[str, Any]:
    """The plan without a key."""
    given: Any = json.loads(json.dumps(PLAN))
    *above, key = path.split(".")
    at = given
    for step in above:
        at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    at.pop(key, None)
    assert isinstance(given, dict)
    return given


@pytest.mark.parametrize("path", sorted({row[0] for row in ROWS}))
def test_a_null_is_as_if_the_key_were_not_there(path: str) -> None:
    def found(tree: Mapping[str, Any], *sets: Override) -> Any:
        try:
            plan = planned(read(tree), sets)
        except InputError as error:
            return error.problem
        return [getattr(plan, name) for name in vars(plan) if name != "root"]

    value = next(row[2][0] for row in ROWS if row[0] == path)
    assert found(PLAN, Override.of(path, value), Override.of(path, None)) == found(without(path))


def test_a_section_is_taken_back_and_a_design_says_its_kind() -> None:
    given = {**PLAN, "traffic": {"per_gib": "30MB/s"}}
    assert planned(read(given)).traffic is not None
    assert planned(read(given), [Override.of("traffic", None)]).traffic is None
    assert planned(read({**given, "name": None})).name == "plan"
    with pytest.raises(InputError, match=r"designs\.heads: 'kind' is missing"):
        planned(read(given), [Override.of("designs.heads", None)])


def test_a_graph_that_is_none_is_said_once() -> None:
    with pytest.raises(InputError) as caught:
        planned(read(PLAN), [Override.of("designs.sparse.graph", "spred")])
    assert caught.value.path == "designs.sparse.graph"
    assert caught.value.allowed == "spread or random"


def test_more_batches_are_other_draws(tmp_path: Path) -> None:
    rows = ["start,end,cores,memory"] + [f"{i * 60},{i * 60 + 600},1,{1 + i // 10}" for i in range(200)]
    (tmp_path / "vms.csv").write_text("\n".join(rows))
    given = {**PLAN, "demand": {"trace": str(tmp_path / "vms.csv"), "pool_share": 1}}
    ends = []
    for batches in (4, 20):
        plan = planned(read(given), [Override.of("sizing.batches", batches)])
        ends.append(PlanRun(plan, "heads", 1).carried_out()["pool"]["demand"]["ci95"])
    assert ends[0] != ends[1]
