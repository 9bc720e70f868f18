"""``cxloom plan`` as people type it: results, resuming, mistakes, the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from points_here import PointsHere

import cxloom as cx
from cxloom.base.errors import InputError, InputErrors
from cxloom.planning.outcome import _mean, outcome_of
from cxloom.planning.plan import job_of
from cxloom.planning.plan_file import planned, read
from cxloom.planning.point import DESIGN, SEED, PlanRun
from cxloom.sweeping.plan import Point
from cxloom.sweeping.store import Record

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "plan"
Call = Callable[..., Any]
PLAN = """\
servers: {count: 4, cores: 16}
demand:
  pool_share: 50%
  generate:
    duration: 1d
    rate: 6/h
    lifetime: {mean: 4h}
    sizes: [{cores: 2, memory: 8GiB}, {cores: 4, memory: 32GiB}]
designs:
  none: {kind: none}
  pool: {kind: multi-headed, heads: 4}
traffic: {per_gib: 20MB/s, requests: 2000}
"""


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are computed in this process; one test has the workers that users have."""
    for module in ("cxloom.cli.plan", "cxloom.planning.plan"):
        monkeypatch.setattr(f"{module}.Supervisor", PointsHere)


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    return file


def test_a_plan_is_a_table_json_a_page_and_a_store(plan_file: Path, cxloom: Call) -> None:
    out, page = plan_file.parent / "out", plan_file.parent / "page.html"
    first = cxloom("plan", plan_file, "--out", out, "--jobs", 1, "--html", page)
    assert first.code == 0, first.err
    assert re.search(r"^pool +\d", first.out, re.MULTILINE)
    assert "Prices that are estimates" in first.out
    found = json.loads((out / "plan.json").read_text())
    none, pool = found["designs"]
    assert none["relative_price"] == 1
    assert pool["latency"]["idle_ns"] == pytest.approx(283, abs=1)
    assert pool["bought_bytes"] == pool["dram"]["all_bytes"] + pool["pool"]["bytes"]
    assert {row["by"] for row in found["prices"]["parts"]} == {"estimate", "as dram_per_gib"}
    assert "Memory of devices, and the share that it serves" in page.read_text()
    again = cxloom("plan", plan_file, "--out", out, "--json")
    assert "2 points of 2" in again.err
    assert json.loads(again.out) == found
    assert cxloom("report", out, "--figures", out / "figures").code == 0
    assert (out / "report.html").read_text() == page.read_text()
    assert (out / "figures" / "enough.pdf").exists()


@pytest.mark.usefixtures("_here")
def test_what_is_lost_of_a_store_alone_is_computed_again(plan_file: Path, cxloom: Call) -> None:
    out = plan_file.parent / "out"
    whole = cxloom("plan", plan_file, "--out", out, "--jobs", 1, "--json").out
    kept, gone = sorted((out / "points").glob("*.json"))
    gone.write_text(gone.read_text()[:100])  # as a killed machine may leave it
    before = kept.stat().st_mtime_ns
    again = cxloom("plan", plan_file, "--out", out, "--jobs", 1, "--json")
    assert "1 point of 2" in again.err
    assert again.out == whole
    assert kept.stat().st_mtime_ns == before


@pytest.mark.usefixtures("_here")
def test_sweeps_plan_for_each_value_and_share_what_does_not_change(plan_file: Path, cxloom: Call) -> None:
    out = plan_file.parent / "out"
    done = cxloom(
        "plan", plan_file, "--out", out, "--jobs", 1, "--json", "--sweep", "designs.pool.heads=1,2,4",
        "--set", "demand.pool_share=80%",
    )  # fmt: skip
    assert done.code == 0, done.err
    designs = json.loads(done.out)["designs"]
    pools = [each for each in designs if each["design"] == "pool"]
    assert [each["set"] for each in pools] == [{"designs.pool.heads": heads} for heads in (1, 2, 4)]
    sizes = [each["pool"]["always_bytes"] for each in pools]
    assert sizes == sorted(sizes, reverse=True)
    assert len(list((out / "points").glob("*.json"))) == 4  # none is the same with all of them


@pytest.mark.usefixtures("_here")
def test_python_gives_what_the_command_gives(plan_file: Path, cxloom: Call) -> None:
    out = plan_file.parent / "out"
    done = cxloom("plan", plan_file, "--out", out, "--jobs", 1, "--json", "--set", "run.seeds=3")
    found = cx.plan(plan_file, set={"run.seeds": 3}, jobs=1, out=out)
    assert found.to_json() == json.loads(done.out)
    pool = found.designs[1]
    low, high = pool.ci95["pool.bytes"]
    assert low < pool.found["pool"]["bytes"] < high
    single = [
        PlanRun(planned(read(plan_file)), "pool", seed).carried_out()["pool"]["bytes"] for seed in (1, 2, 3)
    ]
    assert pool.found["pool"]["bytes"] == pytest.approx(sum(single) / 3)
    assert "<table>" in found._repr_html_()


def wrong(change: Callable[[dict[str, Any]], object]) -> str:
    given = yaml.safe_load(PLAN)
    change(given)
    return yaml.safe_dump(given, sort_keys=False)


def put(path: str, value: Any) -> Callable[[dict[str, Any]], object]:
    *above, last = path.split(".")

    def change(given: dict[str, Any]) -> None:
        for step in above:
            given = given[step]
        given[last] = value

    return change


MISTAKES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (put("servers.core", 4), r"yaml:\d+: servers.core: unknown key 'core'.*did you mean 'cores'"),
    (put("demands", 4), r"yaml:\d+: demands: unknown key 'demands'.*did you mean 'demand'"),
    (put("servers.dram", "512GHz"), r"servers.dram: not a size, found '512GHz'; allowed: such as 24GiB"),
    (put("servers.dram", 512), r"servers.dram: not a size, found '512'"),
    (put("servers.dram", "0GiB"), r"servers.dram: out of bounds, found 0GiB; allowed: greater than 0"),
    (put("servers.cores", 0), r"servers.cores: out of bounds, found 0"),
    (lambda given: given["servers"].pop("count"), r"servers.count: a value is missing"),
    (lambda given: given.pop("demand"), r"'demand' is missing"),
    (put("designs", {}), r"designs: no designs"),
    (put("designs.pool", {"kind": "ring"}), r"designs.pool.kind: unknown kind, found 'ring'"),
    (put("designs.pool", {}), r"designs.pool: 'kind' is missing"),
    (put("designs.pool.devices", 0), r"designs.pool.devices: out of bounds, found 0"),
    (
        put("designs.pool.heads", 3),
        r"designs.pool.heads: 4 servers are not shared out evenly, found 3 to a pool",
    ),
    (put("designs.pool.slice", "0B"), r"designs.pool.slice: out of bounds"),
    (
        put("designs.pool.device", "expander/x16-ddr"),
        r"designs.pool.device: .*did you mean 'expander/x16-ddr5'",
    ),
    (
        put("designs.pool.device", "dmsim/switch"),
        r"designs.pool.device: not one host, one memory and their link",
    ),
    (
        put("designs.pool.release_delay", "5GiB"),
        r"release_delay: not a time, found '5GiB'; allowed: such as 90s",
    ),
    (put("designs.other", {"kind": "none"}), r"designs: two designs without a pool"),
    (put("designs.s", {"kind": "sparse", "links": 2}), r"designs.s: 'heads' is missing"),
    (
        put("designs.s", {"kind": "sparse", "links": 3, "heads": 5}),
        r"designs.s.heads: the links of all servers",
    ),
    (
        put("designs.s", {"kind": "sparse", "links": 4, "heads": 8}),
        r"designs.s.links: more links of a server",
    ),
    (
        put("designs.s", {"kind": "sparse", "graph": [[0]]}),
        r"designs.s.graph: not a list of devices for each",
    ),
    (
        put("designs.s", {"kind": "sparse", "graph": [[0], [0], [0], [2]]}),
        r"no server is linked to, found no 1",
    ),
    (put("designs.s", {"kind": "switched", "ports": 4}), r"designs.s.ports: more servers and devices than"),
    (put("demand.generate.rate", "6"), r"demand.generate.rate: not a rate, found '6'; allowed: such as 2/s"),
    (
        put("demand.generate.cores_sold", 0.5),
        r"demand.generate: how many VMs arrive is not said, or said twice",
    ),
    (put("demand.generate.lifetime.mean", "4"), r"demand.generate.lifetime.mean: not a time"),
    (put("demand.generate.sizes", []), r"demand.generate.sizes"),
    (put("demand.generate.sizes", [{"cores": 2}]), r"demand.generate.sizes\[0\].memory: a value is missing"),
    (put("demand.generate.sizes", [{"cores": 32, "memory": "1GiB"}]), r"a VM that fits no server"),
    (
        put("servers.dram", "16GiB"),
        r"demand.generate.sizes: a VM that fits no server, found 32.*; allowed: at most 16",
    ),
    (
        put("designs.pool.phy", "pcie5-x99"),
        r"yaml:\d+: designs.pool.phy: not a physical layer, found 'pcie5-x99'",
    ),
    (
        put("designs.s", {"kind": "switched", "switching_time": "5 apples"}),
        r"yaml:\d+: designs.s.switching_time: unknown unit 'apples'",
    ),
    (
        put("designs.s", {"kind": "sparse", "graph": [[0]] * 4, "graph_seed": 2}),
        r"designs.s.graph_seed: 'graph_seed' has no effect with a graph that is written",
    ),
    (
        put("demand.generate.lifetime", {"mean": "4h", "distribution": "fixed", "sigma": 1}),
        r"demand.generate.lifetime.sigma: 'sigma' has no effect with lives that are fixed",
    ),
    (put("demand.generate.period", "2d"), r"demand.generate.period: 'period' has no effect without swing"),
    (put("demand.since", "1d"), r"demand.since: 'since' has no effect without a trace"),
    (put("sizing", {"batches": 4}), r"sizing.batches: 'batches' has no effect without a trace"),
    (
        lambda given: (
            put("demand", {"trace": "vms.csv", "keep": 0.5})(given),
            put("sizing", {"batches": 4})(given),
            put("run", {"seeds": 2})(given),
        ),
        r"sizing.batches: 'batches' has no effect with several seeds",
    ),
    (put("prices", {"head": "5usd"}), r"prices.head: not a number, found '5usd'$"),
    (put("servers.cores", "many"), r"servers.cores: not a whole number, found 'many'$"),
    (
        lambda given: (
            put("servers.count", 128)(given),
            put("designs.s", {"kind": "sparse", "links": 1, "heads": 64})(given),
        ),
        r"designs.s.heads: too many heads of a device, found 64; allowed: at most 63",
    ),
    (
        lambda given: (
            put("servers.count", 2048)(given),
            put("designs.s", {"kind": "sparse", "links": 1, "heads": 4})(given),
        ),
        r"designs.s.graph: too many servers for a graph that is dealt, found 2,048",
    ),
    (
        put("designs.s", {"kind": "sparse", "links": 2, "heads": 2, "slice": "4B"}),
        r"yaml:\d+: designs.s.slice: more slices than the bound is computed with",
    ),
    (put("demand.trace", "vms.csv"), r"demand: where VMs come from is not said, or said twice"),
    (put("demand.keep", 0.5), r"demand.keep: 'keep' has no effect without a trace"),
    (lambda given: given["demand"].pop("pool_share"), r"demand: 'pool_share' is missing"),
    (put("demand.pool_share", 1.5), r"demand.pool_share: out of bounds, found 1.5"),
    (put("demand.warmup", "2d"), r"demand: nothing is left to count, found from 2d to 1d"),
    (put("demand.generate.sizes", []), r"sizes: too few entries, found 0; allowed: at least 1"),
    (put("demand.trace", {"file": "vms.csv"}), r"demand.trace: not a text, found a map"),
    (put("sizing", {"probability": "0%"}), r"sizing.probability: out of bounds"),
    (put("sizing", {"of": "vm"}), r"sizing.of: unknown choice, found 'vm'; allowed: vms or time; did you"),
    (put("traffic", {"reads": 1}), r"traffic: no traffic"),
    (put("traffic.per_gib", 5), r"traffic.per_gib: not a bandwidth, found '5'|traffic.per_gib"),
    (put("prices", {"dram": 5}), r"prices.dram: unknown key 'dram'.*did you mean 'dram_per_gib'"),
    (put("prices", {"head": -5}), r"prices.head: out of bounds, found -5"),
    (put("servers.spare_cores", 16), r"servers.spare_cores: a server that is always sold out"),
]


@pytest.mark.parametrize(("change", "said"), MISTAKES)
def test_mistakes_are_named_with_their_line(
    change: Callable[[dict[str, Any]], object], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(wrong(change))
    with pytest.raises(InputError) as caught:
        job_of(file, tmp_path / "out")
    assert re.search(said, str(caught.value)), caught.value
    assert re.search(r"plan.yaml(:\d+)?: ", str(caught.value))
    assert not (tmp_path / "out").exists()


def test_all_mistakes_are_said_at_once(tmp_path: Path, cxloom: Call) -> None:
    def change(given: dict[str, Any]) -> None:
        put("servers.core", 4)(given)
        put("designs.pool.head", 4)(given)
        put("sizing", {"of": "jobs"})(given)

    file = tmp_path / "plan.yaml"
    file.write_text(wrong(change))
    message = " ".join(cxloom("plan", file).err.split())
    for name in ("servers.core", "designs.pool.head", "sizing.of"):
        assert name in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("devices: {h: {kind: host}}\n", "a system, and not a pool for many servers allowed: cxloom run"),
        ("title: x\nsystem: {}\n", "a study, and not a pool"),
        ("- a\n", "not a spec"),
        ("", "the file is empty"),
        ("\0\1", "binary file"),
    ],
)
def test_a_file_that_is_no_plan_is_led_to_its_command(
    text: str, said: str, tmp_path: Path, cxloom: Call
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(text)
    done = cxloom("plan", file)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_plan_given_to_run_is_led_here(plan_file: Path, cxloom: Call) -> None:
    done = cxloom("run", plan_file)
    assert done.code == 2
    assert "a pool for many servers, and not a system allowed: cxloom plan" in " ".join(done.err.split())


def test_wrong_sets_and_sweeps_are_named(plan_file: Path, cxloom: Call) -> None:
    done = cxloom("plan", plan_file, "--set", "designs.pol.heads=2")
    assert (done.code, "did you mean 'pool'" in " ".join(done.err.split())) == (2, True)
    done = cxloom("plan", plan_file, "--sweep", "designs.pool.heads=2,3")
    assert (done.code, "not shared out evenly" in " ".join(done.err.split())) == (2, True)


def test_a_trace_that_is_cut_off_is_refused_before_anything_runs(tmp_path: Path, cxloom: Call) -> None:
    whole = (EXAMPLES / "vms.csv").read_text()
    (tmp_path / "vms.csv").write_text(whole[: len(whole) // 2 + 21])
    file = tmp_path / "plan.yaml"
    file.write_text((EXAMPLES / "trace.yaml").read_text())
    done = cxloom("plan", file, "--out", tmp_path / "out")
    assert done.code == 2
    assert "vms.csv" in done.err
    assert not (tmp_path / "out").exists()
    (tmp_path / "vms.csv").unlink()
    assert "no such file" in cxloom("plan", file, "--out", tmp_path / "out").err


@pytest.mark.usefixtures("_here")
def test_the_example_with_a_trace_is_two_servers_in_turns() -> None:
    found = cx.plan(EXAMPLES / "trace.yaml", jobs=1)
    none, direct, shared = found.designs
    assert shared.found["pool"]["bytes"] == direct.found["pool"]["bytes"] / 2
    assert none.found["today"] is None
    low, high = shared.found["pool"]["demand"]["ci95"]
    assert low <= shared.found["pool"]["demand"]["bytes"] <= high


@pytest.mark.usefixtures("_here")
def test_more_seeds_go_on_from_the_directory_of_one(tmp_path: Path) -> None:
    """A point that is stored serves both: of one demand its own interval is said, of several that of the seeds."""
    lines = [f"{i * 60},{i * 60 + 600},1,{1 + i % 7},1" for i in range(40)]
    (tmp_path / "vms.csv").write_text("\n".join(["start,end,cores,memory,pool_share", *lines]))
    given = {
        "servers": {"count": 2, "cores": 16},
        "demand": {"trace": str(tmp_path / "vms.csv"), "keep": "80%"},
        "designs": {"pool": {"kind": "multi-headed", "heads": 2}},
    }
    one = cx.plan(given, jobs=1, out=tmp_path / "out").designs[0]
    two = cx.plan(given, jobs=1, out=tmp_path / "out", set={"run.seeds": 2}).designs[0]
    assert one.found["pool"]["demand"]["bytes"] > 0
    assert "demand" not in two.found["pool"]
    assert "pool.bytes" in two.ci95


@pytest.mark.usefixtures("_here")
def test_a_sweep_says_each_setting_for_itself() -> None:
    """A size that serves fewer is cheaper, and no better for it: the cheapest design is one of its setting."""
    given = put_in(PLAN, ("traffic", None))
    found = cx.plan(
        given, jobs=1, sweep={"sizing.probability": ["100%", "50%"], "prices.dram_per_gib": [5, 7]}
    )
    assert [len(designs) for designs in found.settings] == [2, 2, 2, 2]
    assert found.sentence.startswith("Under each of 4 settings: ")
    for designs in found.settings:
        best = min(designs, key=lambda each: each.found["price"]["total"])
        assert f"{best.name}, probability {best.at['sizing.probability']}" in found.sentence
        assert best.relative_price is not None
    notes = [note for note in found.notes if "Sized so that" in note]
    assert notes[0].startswith(
        "probability 100%, dram_per_gib 5; probability 100%, dram_per_gib 7: Sized so that 100 %"
    )
    assert len(notes) == 2
    parts = found.to_json()["prices"]["parts"]
    assert [(row["price"], row["set"]["sizing.probability"]) for row in parts if row["part"] == "dram_per_gib"] == [
        (5, "100%"), (7, "100%"), (5, "50%"), (7, "50%"),
    ]  # fmt: skip
    assert [row["part"] for row in parts].count("head") == 1


def put_in(text: str, *changes: tuple[str, Any]) -> dict[str, Any]:
    """A file as a map, with sections set; None: without it."""
    given: dict[str, Any] = yaml.safe_load(text)
    return {key: value for key, value in (given | dict(changes)).items() if value is not None}


@pytest.mark.usefixtures("_here")
def test_the_sentence_of_a_long_sweep_ends() -> None:
    given = put_in(PLAN, ("traffic", None), ("designs", {"none": {"kind": "none"}}))
    said = cx.plan(given, jobs=1, sweep={"prices.dram_per_gib": list(range(1, 10))}).sentence
    assert said.startswith("Under each of 9 settings: none, dram_per_gib 1 (no pool) costs the least: ")
    assert said.count("costs the least") == 6
    assert said.endswith("; 3 more are in the table.")


def test_each_error_of_a_point_is_an_error_of_its_own() -> None:
    plan = planned(read(yaml.safe_load(PLAN)))
    point = Point({DESIGN: "pool", SEED: 1}, "key", None)
    with pytest.raises(InputErrors) as caught:
        outcome_of([plan], [point], [Record("refused", "one is wrong\nanother is wrong")])
    assert [str(each) for each in caught.value.errors] == [
        "designs.pool: one is wrong",
        "designs.pool: another is wrong",
    ]


def test_prices_in_several_currencies_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"prices.currency: prices in several currencies, found EUR and USD"):
        cx.plan(yaml.safe_load(PLAN), sweep={"prices.currency": ["EUR", "USD"]}, out=tmp_path / "out")


def test_a_mean_is_of_the_seeds_that_have_a_number() -> None:
    ci95: dict[str, Any] = {}
    found = _mean(
        {"wait": None, "never": None},
        [{"wait": None, "never": None}, {"wait": 2.0, "never": None}, {"wait": 4.0, "never": None}],
        "",
        ci95,
    )
    assert found == {"wait": 3.0, "never": None}
    assert set(ci95) == {"wait"}


def test_the_block_of_the_page_is_a_plan(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plan.md").read_text()
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    plan = planned(read(yaml.safe_load(block)))
    assert set(plan.designs) == {"none", "direct", "heads", "switch", "sparse"}
    assert planned(read(EXAMPLES / "rack.yaml")).servers == plan.servers
