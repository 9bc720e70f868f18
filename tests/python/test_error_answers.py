"""Requests answered without data are no fast memory: in no tool, whatever makes them fail.

A table of tools and of systems whose accesses fail. A tool that finds nothing else says what happened, and gives no
number for memory that never answered with data.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError
from cxloom.measure.bench import Bench
from cxloom.results.terminal import to_text

Spec = dict[str, Any]
REQUESTS = 300


def system(memory: Spec | None = None, switch: Spec | None = None, link: Spec | None = None) -> Spec:
    """A host, a switch and a memory: an idle read takes 10 + 20 + 50 ns there, and no wire takes time."""
    free = {"delay": "0ns", "port_delay": "0ns"}
    return {
        "name": "failing",
        "devices": {
            "host": {"kind": "host", "process_time": "10ns", "queue": 8},
            "sw": {"kind": "switch", "switching_time": "0ns", **(switch or {})},
            "mem": {
                "kind": "memory",
                "capacity": "1GiB",
                "controller_time": "20ns",
                "media": {"kind": "fixed", "latency": "50ns"},
                **(memory or {}),
            },
        },
        "links": [{"between": ["host", "sw"], **free}, {"between": ["sw", "mem"], **free, **(link or {})}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": REQUESTS, "footprint": "1MiB"}},
    }


LOST = {"phy": "pcie5-x8", "outage": {"at": "1ps", "length": "1s", "fail": True}}
ALWAYS: dict[str, Spec] = {
    "a memory that no virtual switch binds": system(switch={"vcs": [{"upstream": "host", "bind": []}]}),
    "memory of which no extent was given": system({"dynamic_capacity": {}}),
    "a link that is down": system(link=LOST),
}
"""Systems in which no access is answered with data, ever."""
FROM_EVENTS: dict[str, Spec] = {
    "a link that fails": system()
    | {"events": [{"at": "1ps", "fail": {"link": ["sw", "mem"], "reroute_time": "0ns"}}]},
    "a switch that fails": system() | {"events": [{"at": "1ps", "fail": {"device": "sw"}}]},
    "a device that was unbound": system(switch={"vcs": [{"upstream": "host", "bind": ["mem"]}]})
    | {"events": [{"at": "1ps", "unbind": {"switch": "sw", "vcs": 0, "vppb": 0}}]},
}
"""The same by events, which measuring tools leave out: they measure what was there before."""


def spec_of(name: str) -> cx.System:
    """One of these."""
    return cx.System.from_yaml(json.dumps({**ALWAYS, **FROM_EVENTS}[name]))


TOOLS: dict[str, Callable[[cx.System], Any]] = {
    "latency": lambda system: cx.measure.latency(system, requester="host", reads=100, jobs=1),
    "matrix": lambda system: cx.measure.matrix(system, reads=100, jobs=1),
    "sizes": lambda system: cx.measure.sizes(system, requester="host", largest="4KiB", jobs=1),
    "loaded": lambda system: cx.measure.loaded(system, requester="host", jobs=1),
    "bandwidth": lambda system: cx.measure.bandwidth(system, jobs=1),
    "stream": lambda system: cx.measure.stream(system, jobs=1),
    "explain": lambda system: cx.explain(system, jobs=1),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ALWAYS)
def test_no_tool_gives_a_number_where_nothing_answers(name: str, tool: str) -> None:
    if tool != "explain" and name != "a link that is down":  # no page can be there
        with pytest.raises(InputError, match="no memory to measure is for this requester"):
            TOOLS[tool](spec_of(name))
        return
    with pytest.raises(SimulationError, match=r"answered with an error.*of host.* to 0x"):
        TOOLS[tool](spec_of(name))


@pytest.mark.parametrize("name", FROM_EVENTS)
def test_what_events_break_is_measured_before_them_and_not_explained(name: str) -> None:
    measured = cx.measure.latency(spec_of(name), reads=100, jobs=1)
    assert measured.rows[0]["latency_ns"] == 80.0
    assert not measured.without
    with pytest.raises(SimulationError, match="answered with an error"):
        cx.explain(spec_of(name), jobs=1)


@pytest.mark.parametrize("name", [*ALWAYS, *FROM_EVENTS])
def test_a_run_says_so_and_has_no_latency(name: str) -> None:
    result = cx.run(spec_of(name), requests=True)
    summary = result.summary
    assert summary["errors"]["requests"] == REQUESTS
    assert summary["requests"] == summary["reads"] == summary["writes"] == 0
    assert summary["bandwidth_gb_per_s"] == 0
    for part in (summary, summary["read"], summary["per_requester"]["host"], summary["per_memory"]["mem"]):
        assert set(part["latency_ns"].values()) == {None}
    assert set(summary["breakdown_ns"].values()) == {None}
    assert summary["mean_hops"] is None
    assert summary["by_hops"] == {}
    assert summary["stationary"] is None
    assert summary["per_requester"]["host"]["errors"]["requests"] == REQUESTS
    first = summary["errors"]["first"]
    assert first["requester"] == "host"
    assert first["answered_by"] in ("sw", "mem", "host")
    assert any("'host' got no data in the measured window" in note for note in summary["notes"])
    rows = result.requests()
    assert rows["error"].all()
    assert len(rows) == REQUESTS
    said = " ".join(to_text(summary).split())
    assert "300 requests were answered with an error" in said
    ended = "which host ended itself, without a way or an answer in time"
    answered = f"which {first['answered_by']} answered"
    assert (ended if first["answered_by"] == "host" else answered) in said
    assert result.bottleneck is None
    assert "answered with an error" in result._repr_html_()


def test_a_run_is_known_to_no_precision_by_its_errors() -> None:
    spec = spec_of("memory of which no extent was given").set("run.until.ci", "1%")
    result = cx.run(spec.set("workload.host.requests", 20_000))
    assert result.summary["errors"]["requests"] == 20_000
    assert any("too little was measured" in note for note in result.summary["notes"])


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_gives_a_number_for_memory_of_another_host(tool: str, tmp_path: Path) -> None:
    """A pattern is refused beforehand; where a trace goes shows as it is played."""
    spec = system({"logical_devices": [{"capacity": "1GiB", "host": "other"}]})
    spec["devices"]["mem"].pop("capacity")
    spec["devices"]["other"] = {"kind": "host"}
    spec["links"].append({"between": ["other", "sw"]})
    spec["address_map"] = [{"to": "mem", "ld": 0}]
    trace = tmp_path / "trace.txt"
    trace.write_text("".join(f"0x{64 * line:x} R {line}\n" for line in range(50)))
    spec["workload"] = {"host": {"trace": str(trace)}}
    if tool == "explain":
        with pytest.raises(SimulationError, match=r"answered with an error.*of host.* to 0x"):
            TOOLS[tool](spec_from(spec))
        summary = cx.run(spec_from(spec)).summary
        assert (summary["requests"], summary["errors"]["requests"]) == (0, 50)
        assert summary["per_memory"]["mem"]["latency_ns"]["mean"] is None
        assert summary["per_memory"]["mem"]["logical_devices"]["0"]["refused"] == 50
    elif tool in ("latency", "sizes", "loaded"):
        with pytest.raises(InputError, match="no memory to measure is for this requester"):
            TOOLS[tool](spec_from(spec))
    else:  # of the other host, which has it
        measured = TOOLS[tool](spec_from(spec))
        rows = [row for row in measured.rows if row.get("requester") == "host"]
        assert all(row["mem ld 0"] is None for row in rows)
        assert len(rows) == (tool == "matrix")


def half(reads: float = 0.5) -> cx.System:
    """A host with an extent of half of its memory: half of its accesses fail in the controller, after 10 + 20 ns.

    The others take 10 + 20 + 50. One access at a time: nothing waits for anything else.
    """
    spec = system({"capacity": "1MiB", "dynamic_capacity": {"extents": [{"size": "512KiB", "host": "host"}]}})
    spec["devices"]["host"]["queue"] = 1
    spec["workload"]["host"] |= {"requests": 4000, "reads": reads}
    return cx.System.from_yaml(json.dumps(spec))


def test_errors_are_apart_in_every_mean_count_and_rate() -> None:
    result = cx.run(half(), requests=True)
    summary, rows = result.summary, result.requests()
    wrong = rows.filter(rows["error"])
    right = rows.filter(~rows["error"])
    assert len(right) + len(wrong) == 4000
    assert 1800 < len(wrong) < 2200
    parts = [summary, summary["per_requester"]["host"], summary["per_memory"]["mem"]]
    for part in parts:
        assert part["requests"] == len(right)
        assert part["errors"]["requests"] == len(wrong)
        assert {part["latency_ns"][key] for key in ("mean", "min", "p50", "p99", "max")} == {80.0}
        assert {part["errors"]["latency_ns"][key] for key in ("mean", "min", "p50", "p99", "max")} == {30.0}
        assert part["bandwidth_gb_per_s"] * summary["simulated_time_ns"] == pytest.approx(64 * len(right))
    for kind in ("read", "write"):
        part = summary[kind]
        assert part["requests"] == len(right.filter(right["kind"] == kind))
        assert part["errors"]["requests"] == len(wrong.filter(wrong["kind"] == kind))
        assert part["latency_ns"]["mean"] == 80.0
        assert part["errors"]["latency_ns"]["mean"] == 30.0
    # Little's law is of all that held the slot.
    host = summary["per_requester"]["host"]
    held = 80.0 * len(right) + 30.0 * len(wrong)
    assert host["in_flight_mean"] * summary["simulated_time_ns"] == pytest.approx(held)
    assert sum(summary["breakdown_ns"].values()) == pytest.approx(80.0)
    assert summary["stationary"] is True
    assert summary["latency_ns"]["ci95"] == [80.0, 80.0]
    assert "errors" in to_text(summary)


def test_what_is_explained_is_what_was_answered() -> None:
    explained = cx.explain(half(), jobs=1)
    assert explained.throughput > 0
    [note] = [each for each in explained.notes if "answered with an error" in each]
    assert "this is about the others" in note
    assert note in explained.to_json()["notes"]
    assert "answered with an error" in " ".join(str(explained).split())


NO_WAY = "there is no way, or no extent, when the run begins"

POOLED = """\
name: pooled
devices:
  h[0-1]: {kind: host, process_time: 10ns, queue: 8}
  sw: {kind: switch, switching_time: 0ns, vcs: [{upstream: h0, bind: [m0]}, {upstream: h1, bind: [m1]}]}
  m[0-1]: {kind: memory, capacity: 1GiB, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links:
  - {between: ["h[*]", sw], port_delay: 0ns}
  - {between: [sw, "m[*]"], port_delay: 0ns}
address_map: [{to: m0}, {to: m1}]
"""


def test_a_cell_of_memory_that_a_host_may_not_use_has_no_number() -> None:
    measured = cx.measure.matrix(cx.System.from_yaml(POOLED), reads=100, jobs=1)
    assert measured.rows == [
        {"requester": "h0", "m0": 80.0, "m1": None},
        {"requester": "h1", "m0": None, "m1": 80.0},
    ]
    assert set(measured.without) == {"from h0 to m1", "from h1 to m0"}
    assert len(measured.notes) == 2
    assert "h1 80.0" not in " ".join(str(measured).split())
    assert measured.to_json()["without_number"] == measured.without
    assert measured.figure().axes
    latency = cx.measure.latency(cx.System.from_yaml(POOLED), reads=100, jobs=1)
    assert [row["latency_ns"] for row in latency.rows] == [80.0, None]
    assert latency.figure().axes
    loaded = cx.measure.loaded(cx.System.from_yaml(POOLED), jobs=1)
    assert {row["memory"] for row in loaded.rows if row["latency_ns"] is not None} == {"m0"}
    assert loaded.figure().axes


@pytest.mark.parametrize("tool", ["bandwidth", "stream"])
def test_a_memory_is_loaded_by_those_whom_it_answers(tool: str) -> None:
    """Eight in flight of one host, 80 ns each: 8 x 64 B / 80 ns; two reads and a write of triad as well."""
    measured = TOOLS[tool](cx.System.from_yaml(POOLED))
    assert {row["memory"] for row in measured.rows} == {"m0", "m1"}
    bus = "bus_gb_per_s" if tool == "stream" else "bandwidth_gb_per_s"
    assert [row[bus] for row in measured.rows] == pytest.approx([6.4] * len(measured.rows), rel=0.01)
    assert measured.note == f"left out, as {NO_WAY}: h1 to m0; h0 to m1"


LEFT_OUT: dict[str, tuple[Spec, Spec, list[Spec], str]] = {
    "logical devices": (
        {"logical_devices": [{"capacity": "1MiB", "host": "h0"}, {"capacity": "1MiB", "host": "h1"}]},
        {},
        [{"to": "mem", "ld": 0}, {"to": "mem", "ld": 1}],
        "left out, as it is a logical device of h0: h1 and h2 to mem ld 0; "
        "left out, as it is a logical device of h1: h0 and h2 to mem ld 1",
    ),
    "an extent": (
        {"capacity": "1MiB", "dynamic_capacity": {"extents": [{"base": "0B", "size": "1MiB", "host": "h1"}]}},
        {},
        [{"to": "mem"}],
        f"left out, as {NO_WAY}: h0 and h2 to mem",
    ),
    "a link that is down": (
        {"capacity": "1MiB"},
        LOST,
        [{"to": "mem"}],
        "left out, as requests are answered with an error: h2 to mem",
    ),
}
"""A memory of three hosts, the link of the third, the address map, and who does not load the memory."""


@pytest.mark.parametrize("tool", some(["bandwidth", "stream", "loaded"]))
@pytest.mark.parametrize("case", LEFT_OUT)
def test_who_is_left_out_is_told_why(case: str, tool: str) -> None:
    memory, link, address_map, said = LEFT_OUT[case]
    spec = system(memory)
    spec["address_map"] = address_map
    spec["devices"] |= {name: {"kind": "host", "queue": 2} for name in ("h0", "h1", "h2")}
    del spec["devices"]["host"], spec["workload"]
    if "logical_devices" in memory:
        del spec["devices"]["mem"]["capacity"]
    spec["links"] = [{"between": ["mem", "sw"]}, {"between": ["h0", "sw"]}, {"between": ["h1", "sw"]}]
    spec["links"].append({"between": ["h2", "sw"], **link})
    requester = {"requester": "h1"} if tool == "loaded" else {}
    measured = getattr(cx.measure, tool)(cx.System.from_yaml(json.dumps(spec)), jobs=1, **requester)
    assert measured.note == said


def test_a_requester_without_memory_of_its_own_is_told_so() -> None:
    spec = system({"logical_devices": [{"capacity": "1GiB", "host": "other"}]})
    spec["devices"]["mem"].pop("capacity")
    spec["devices"]["other"] = {"kind": "host"}
    spec["links"].append({"between": ["other", "sw"]})
    spec["address_map"] = [{"to": "mem", "ld": 0}]
    spec["workload"] = {"other": spec["workload"]["host"]}
    for tool in ("latency", "sizes", "loaded"):
        with pytest.raises(InputError, match="no memory to measure is for this requester"):
            TOOLS[tool](cx.System.from_yaml(json.dumps(spec)))
    assert {row["requester"] for row in TOOLS["matrix"](cx.System.from_yaml(json.dumps(spec))).rows} == {
        "host",
        "other",
    }


def test_who_got_nothing_in_the_window_is_named_and_has_no_latency() -> None:
    """The slow host's first read takes a second, and the window of the other is over by then."""
    spec = system()
    spec["devices"]["slow"] = {"kind": "host", "process_time": "1s"}
    spec["links"].append({"between": ["slow", "sw"]})
    spec["workload"]["slow"] = {"pattern": "random", "requests": 3, "footprint": "1MiB"}
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    assert result.summary["per_requester"]["slow"]["latency_ns"]["mean"] is None
    [note] = [each for each in result.summary["notes"] if "'slow'" in each]
    assert note == "'slow' got no data in the measured window: no request of it was answered"
    measured = Bench(cx.System.from_yaml(json.dumps(spec)), jobs=1)
    assert measured.requesters == ["host", "slow"]


@pytest.mark.parametrize("tool", ["run", "sweep", "report", "draw", "check", "explain", "measure"])
@pytest.mark.parametrize("name", ["memory of which no extent was given", "a link that fails"])
def test_no_command_ends_in_a_traceback(
    cxloom: Callable[..., Any], tmp_path: Path, name: str, tool: str
) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(spec_of(name).to_yaml())
    out = tmp_path / "out"
    commands: dict[str, list[list[object]]] = {
        "run": [["run", file]],
        "sweep": [["sweep", file, "--set", "devices.host.queue=1,2", "--out", out]],
        "report": [["run", file, "--out", out, "--set", "outputs.requests=true"], ["report", out]],
        "draw": [["draw", file, "--out", tmp_path / "drawn.svg"]],
        "check": [["check", file]],
        "explain": [["explain", file]],
        "measure": [["measure", file, "latency"]],
    }
    for command in commands[tool]:
        done = cxloom(*command)
        broken = tool == "explain" or (tool == "measure" and name == "memory of which no extent was given")
        # Measuring places pages: that there is no memory for them is a fault of the system.
        refused = broken and tool == "measure"
        assert done.code == (2 if refused else 1 if broken else 0), done.err
        assert "Traceback" not in done.err
        if tool == "run":
            assert "answered with an error" in " ".join(done.out.split())
        if broken and not refused:
            assert "answered with an error" in " ".join(done.err.split())
    if tool == "report":
        [page] = list(out.rglob("*.html"))
        assert "were answered with an error" in page.read_text()


def test_a_program_whose_memory_answers_with_errors_ends_so(
    cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    spec = system(link=LOST)  # to memory of which it has no extent no page would go
    spec["devices"]["host"]["core"] = {}
    del spec["workload"]
    file, trace, out = tmp_path / "system.yaml", tmp_path / "trace.txt", tmp_path / "out.json"
    file.write_text(json.dumps(spec))
    trace.write_text("".join(f"0x{64 * line:x} R {line}\n" for line in range(50)))
    run = ["exec", "--system", file, "--replay", trace, "--out", out]
    done = cxloom(*run)
    assert done.code == 125
    assert "50 requests were answered with an error" in " ".join(done.err.split())
    assert "the first was that of host to 0x" in " ".join(done.err.split())
    assert not out.exists()
    told = cxloom(*run, "--allow-errors")
    assert told.code == 0
    assert "note: 50 requests were answered with an error" in " ".join(told.err.split())
    assert json.loads(out.read_text())["systems"][0]["errors"]["requests"] == 50


def test_a_requester_that_fails_wholly_stands_beside_one_that_does_not() -> None:
    """Its row has a count of errors and no latency."""
    spec = system(switch={"vcs": [{"upstream": "host", "bind": ["mem"]}, {"upstream": "other", "bind": []}]})
    spec["devices"]["other"] = spec["devices"]["host"]
    spec["links"].append({"between": ["other", "sw"], "delay": "0ns", "port_delay": "0ns"})
    spec["workload"]["other"] = spec["workload"]["host"]
    [row] = [
        line.split()
        for line in to_text(cx.run(spec_from(spec)).summary).splitlines()
        if line.startswith("other")
    ]
    assert row[1:3] == ["0", str(REQUESTS)]
    assert row[4:7] == ["-", "-", "-"]


def spec_from(spec: Spec) -> cx.System:
    """A system of plain data."""
    return cx.System.from_yaml(json.dumps(spec))
