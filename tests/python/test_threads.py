"""`run.threads`: one simulation in several threads, with the same results."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Outcome
from typer.testing import CliRunner

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.cli.app import app
from cxloom.results.threads import threads_lines

FABRIC = """
topology: {kind: chain, switches: 8, placement: paired, switch: {kind: switch, queueing: voq},
           link: {bandwidth: 32GB/s, port_delay: 25ns, credits: 64}, edge_link: {bandwidth: 32GB/s, port_delay: 25ns}}
workload: {"host*": {pattern: random, footprint: 16MiB, reads: 67%, requests: 3000}}
run: {warmup: 200}
"""


def system() -> cx.System:
    """Two windows of it are some hundred events."""
    return cx.System.from_yaml(FABRIC)


def split(result: cx.Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results, and what they cost."""
    summary = json.loads(result.to_json())
    return summary, summary.pop("cost")


def test_results_are_the_same_for_any_number_of_threads() -> None:
    """The hash of the spec, too: it is the same system."""
    one, cost = split(cx.run(system()))
    assert "threads" not in cost
    for threads in (2, 3, "auto"):
        several, cost = split(cx.run(system(), threads=threads))
        assert several == one
        division = cost["threads"]
        assert threads == "auto" or division["parts"] == threads
        if division["parts"] > 1:
            assert sum(division["events_by_part"]) == cost["events"]
            assert division["lookahead_ns"] == 50
            assert 0 < division["windows_side_by_side"] < division["windows"]
            assert division["events_of_busiest"] < division["events_side_by_side"] <= cost["events"]


LARGE = {
    "chain": "kind: chain, switches: 64, placement: paired",
    "spine-leaf": "kind: spine-leaf, leaves: 16, spines: 8, devices_per_leaf: 8",
    "torus": "kind: torus, size: [8, 8], placement: paired",
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("routing", ["deterministic", "random"])
def test_parts_of_large_fabrics_have_the_same_work_in_each_window(name: str, routing: str) -> None:
    """The busier of two parts has 51 % of it, and had 59 to 63 % where spines were taken to be idle."""
    link = "{port_delay: 25ns}"
    given = cx.System.from_yaml(
        f"""
topology: {{{LARGE[name]}, link: {link}, edge_link: {link},
            switch: {{kind: switch, port_bandwidth: 64GB/s, queueing: voq}}}}
workload: {{"host*": {{pattern: random, footprint: 1GiB, reads: 67%, requests: 400}}}}
run: {{threads: 2, routing: {routing}}}
"""
    )
    division = split(cx.run(given))[1]["threads"]
    assert division["windows_side_by_side"] > 40
    assert division["events_of_busiest"] < 0.53 * division["events_side_by_side"]


SMALL = {
    "chain": "kind: chain, switches: 12, placement: paired",
    "spine-leaf": "kind: spine-leaf, leaves: 6, spines: 3, devices_per_leaf: 4",
    "torus": "kind: torus, size: [4, 4], placement: paired",
}


@pytest.mark.parametrize("name", SMALL)
def test_fabrics_with_credits_and_virtual_channels_give_the_same(name: str) -> None:
    """Credits are few, so that queues wait for them in both parts."""
    link = "{port_delay: 25ns, bandwidth: 16GB/s, credits: 6, virtual_channels: 2}"
    given = cx.System.from_yaml(
        f"""
topology: {{{SMALL[name]}, link: {link}, edge_link: {{port_delay: 25ns, bandwidth: 32GB/s}},
            switch: {{kind: switch, queueing: voq}}}}
workload: {{"host*": {{pattern: random, footprint: 64MiB, reads: 67%, requests: 700}}}}
outputs: {{requests: true}}
"""
    )
    one = cx.run(given)
    for threads in (2, 3):
        several = cx.run(given, threads=threads)
        assert one.requests().equals(several.requests())
        results, cost = split(several)
        assert results == split(one)[0]
        assert cost["threads"]["windows_side_by_side"] > 20


def test_tables_are_the_same(tmp_path: Path) -> None:
    """The tables are those of requests and of series, also where simulated time ends the run."""
    given = system().set("outputs.requests", True).set("outputs.series", "1us")
    one, two = cx.run(given), cx.run(given, threads=2, out=tmp_path / "two")
    assert one.requests().equals(two.requests())
    assert one.series().equals(two.series())
    ended, also = (split(cx.run(given, threads=n, max_time="20us"))[0] for n in (1, 2))
    assert ended == also
    assert ended["truncated"]
    resumed = split(cx.run(tmp_path / "two/spec.yaml"))
    assert resumed[0] == split(one)[0]
    assert "threads" in resumed[1]


def test_a_trace_ends_a_divided_run_where_it_ends_another(tmp_path: Path) -> None:
    """Nobody knows beforehand how many accesses it has."""
    trace = tmp_path / "t.trace"
    trace.write_text("".join(f"0x{i * 7919 % 4096 * 64:x} {'RW'[i % 2]}\n" for i in range(4000)))
    given = system().set("workload.host3", {"trace": str(trace)})
    one, _ = split(cx.run(given))
    two, cost = split(cx.run(given, threads=2))
    assert one == two
    assert cost["threads"]["windows_side_by_side"] > 0


def test_what_happens_to_the_system_is_played_in_one_thread_and_the_rest_in_several() -> None:
    events = [
        {"at": "8us", "fail": {"link": ["sw0", "mem0"]}},
        {"at": "9us", "repair": {"link": ["sw0", "mem0"]}},
    ]
    given = system().set("events", events)
    one, _ = split(cx.run(given))
    two, cost = split(cx.run(given, threads=2))
    assert one == two
    assert 0 < cost["threads"]["windows_side_by_side"] < cost["threads"]["windows"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("outputs.sharing", True), "outputs.sharing follows stores through all devices"),
    ],
)
def test_what_cannot_be_divided_is_played_in_one_thread_and_says_why(
    change: tuple[str, Any], reason: str
) -> None:
    given = system().set(*change)
    one, _ = split(cx.run(given))
    two, cost = split(cx.run(given, threads=2))
    assert one == two
    assert cost["threads"] == {"parts": 1, "reason": reason}


LATE = """
devices:
  h0: {kind: host, queue: 2, cache: {size: 64KiB, access_time: 5ns}}
  h1: {kind: host, queue: 2, issue_interval: 500ns}
  s0: {kind: switch}
  s1: {kind: switch}
  m1: {kind: memory, capacity: 1GiB}
links:
  - {between: [h0, s0], delay: 5ns}
  - {between: [h1, s1], delay: 5ns}
  - {between: [m1, s1], delay: 5ns}
  - {between: [s0, s1], delay: 1us}
address_map: [{to: [m1]}]
workload:
  h0:
    requests: 3000
    phases:
      - {requests: 200, pattern: random, footprint: 512MiB}
      - {requests: 20000, pattern: random, footprint: 4KiB}
  h1: {pattern: random, footprint: 1MiB, requests: 20000}
"""


@pytest.mark.parametrize(
    "change", [{}, {"run.until.ci": 0.03}, {"run.warmup": 300}, {"run.warmup_time": "9us"}]
)
def test_who_becomes_a_hundred_times_faster_ends_the_window_where_it_should(change: dict[str, Any]) -> None:
    """Misses take 2 us, and hits 5 ns: what was issued in the windows so far says nothing of the next."""
    given = cx.System.from_yaml(LATE)
    for path, value in change.items():
        given = given.set(path, value)
    one, two = split(cx.run(given)), split(cx.run(given, threads=2))
    assert one[0] == two[0]
    assert two[1]["threads"]["parts"] == 2


def test_of_requests_that_fail_at_one_instant_the_first_is_the_same() -> None:
    """Both hosts are alike, and parts are in another order than hosts."""
    given = cx.System.from_yaml(
        """
devices:
  h0: {kind: host}
  h1: {kind: host}
  s0: {kind: switch}
  s1: {kind: switch}
  s2: {kind: switch}
  m: {kind: memory, capacity: 1GiB}
links:
  - {between: [h0, s1], phy: pcie5-x4, delay: 5ns}
  - {between: [h1, s2], phy: pcie5-x4, delay: 5ns}
  - {between: [s1, s0], phy: pcie5-x4, delay: 50ns, outage: {at: 9us, length: 5us, fail: true}}
  - {between: [s2, s0], phy: pcie5-x4, delay: 50ns, outage: {at: 9us, length: 5us, fail: true}}
  - {between: [m, s0], phy: pcie5-x4, delay: 5ns}
address_map: [{to: [m]}]
workload: {"h*": {pattern: sequential, footprint: 1MiB, requests: 20000}}
"""
    )
    one = split(cx.run(given))[0]
    assert one["errors"]["first"]["requester"] in ("h0", "h1")
    for threads in (2, 3):
        several, cost = split(cx.run(given, threads=threads))
        assert several == one
        assert cost["threads"]["windows_side_by_side"] > 0


@pytest.mark.parametrize(
    "command", [["check"], ["measure"], ["explain"], ["compare"], ["run", "--log", "protocol=FILE"]]
)
def test_other_commands_take_a_spec_with_threads(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(FABRIC.replace("warmup: 200", "warmup: 200, threads: 2").replace("3000", "300"))
    more = {"measure": ["latency"], "compare": [str(file)]}.get(command[0], [])
    words = [word.replace("FILE", str(tmp_path / "log.txt")) for word in command[1:]]
    shown = CliRunner().invoke(app, [command[0], str(file), *more, *words])
    assert shown.exit_code == 0, shown.output


def test_devices_on_one_switch_stay_on_one_thread() -> None:
    given = system().set("topology", {"kind": "switch"})
    assert split(cx.run(given, threads=4))[1]["threads"]["reason"].startswith(
        "all devices hang on one switch"
    )


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["explain"], "allowed: --set run.threads=N; see cxloom explain --help"),
        (["sweep", "--set", "run.seed=1,2"], "allowed: --set run.threads=N; see cxloom sweep --help"),
        (
            ["measure", "loaded"],
            "allowed: a requester with a core (of the simulator: run.threads in the spec)",
        ),
    ],
)
def test_a_command_without_this_option_says_how_to_ask_for_threads(
    words: list[str],
    allowed: str,
    tmp_path: Path,
    cxloom: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also within another program that runs as `python -m`, whose name the command once took."""
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "another")
    file = tmp_path / "chain.yaml"
    file.write_text(FABRIC)
    refused = cxloom(words[0], file, *words[1:], "--threads", "2")
    assert refused.code == 2
    assert allowed in " ".join(refused.err.split())


def test_there_are_no_more_parts_than_switches() -> None:
    division = split(cx.run(system().set("topology.switches", 3), threads=6))[1]["threads"]
    assert (division["parts"], division["reason"]) == (3, "there are 3 groups of devices to divide")


FEW = {f"devices.host{number}.queue": 1 for number in range(8)}
FAILS = [
    {"at": "2us", "fail": {"link": ["sw0", "mem0"]}},
    {"at": "20us", "repair": {"link": ["sw0", "mem0"]}},
]


@pytest.mark.parametrize(
    ("change", "most"),
    [
        ({}, "near_an_end"),
        (FEW, "few_in_a_window"),
        ({"events": FAILS}, "system_events"),
        ({"run.until.ci": 0.0001}, "mean_looked_at"),
        ({"log": "protocol"}, "watched"),
    ],
)
def test_cost_says_why_one_thread_plays_all_parts(change: dict[str, Any], most: str) -> None:
    """Each event was played side by side with others, or it is known why not."""
    given = system()
    for path, value in change.items():
        given = given.set(path, value) if path != "log" else given
    result = cx.run(given, threads=2, log=change.get("log"))
    cost = split(result)[1]
    division = cost["threads"]
    alone = division["events_in_one_thread"]
    assert division["events_side_by_side"] + sum(alone.values()) == cost["events"]
    assert max(alone, key=alone.__getitem__) == most


def test_the_line_says_where_one_thread_played_most(capsys: pytest.CaptureFixture[str]) -> None:
    given = system()
    for path, value in FEW.items():
        given = given.set(path, value)
    cx.run(given, threads=2).show()
    line = " ".join(capsys.readouterr().out.split())
    assert (
        "2 threads; 0% of the events side by side; of the others most where a part has fewer than 50" in line
    )


def test_results_of_before_do_not_say_why() -> None:
    division = {"parts": 2, "events_side_by_side": 20, "events_of_busiest": 11}
    said = threads_lines({"events": 100, "threads": division})
    assert said == ["2 threads; 20% of the events side by side, the busiest part with 55% of them"]


def test_check_says_how_many_parts_threads_may_play(tmp_path: Path) -> None:
    """Devices stay with their switch, so that a switch with its devices is one part."""
    file = tmp_path / "chain.yaml"
    file.write_text(FABRIC)

    def said(*options: str) -> str:
        return " ".join(CliRunner().invoke(app, ["check", str(file), *options]).output.split())

    assert "parts for several threads: 8 (50ns from one to the other at least)" in said()
    one = ["--set", "topology={kind: switch}"]
    assert "parts for" not in said(*one)
    reason = "all devices hang on one switch, or share a wire"
    assert f"parts for several threads: 1: {reason}" in said(*one, "--set", "run.threads=2")
    assert json.loads(said(*one, "--json"))["partitions"] == {"count": 1, "lookahead": None, "reason": reason}


def point_costs(directory: Path) -> list[dict[str, Any]]:
    """The costs of the points of a sweep."""
    files = (directory / "points").glob("*.json")
    return [json.loads(file.read_text())["point"]["cost"] for file in files]


@pytest.mark.parametrize(
    ("processors", "seeds", "parts"),
    [(2, 2, 1), (4, 2, 2), (2, 1, 2), (1, 1, 1)],
)
def test_points_side_by_side_take_no_processors_from_each_other(
    processors: int, seeds: int, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its share of the processors, and one alone has all of them."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(processors)))
    given = system().set("run.threads", 2).set("workload.*.requests", 300)
    result = cx.sweep(given, {"run.seed": [*range(1, seeds + 1)]}, jobs=2, out=tmp_path)
    assert set(result.statuses) == {"finished"}
    divisions = [cost["threads"] for cost in point_costs(tmp_path)]
    assert [division["parts"] for division in divisions] == [parts] * seeds
    reason = "points at a time have no more processors each" if parts == 1 else None
    assert [division.get("reason") for division in divisions] == [reason] * seeds


def test_a_wrong_number_is_refused_in_a_sweep(tmp_path: Path) -> None:
    given = system().set("workload.*.requests", 30)
    result = cx.sweep(given, {"run.threads": [1, 257, 0, "two"]}, out=tmp_path)
    assert result.statuses == ["finished", "refused", "refused", "refused"]


@pytest.mark.parametrize("threads", [0, 257, "many", 2.5])
def test_a_wrong_number_is_refused(threads: Any) -> None:
    with pytest.raises(InputError, match="1 to 256, or auto"):
        cx.run(system(), threads=threads)


def test_the_command_says_what_threads_brought(tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(FABRIC)
    shown = CliRunner().invoke(app, ["run", str(file), "--threads", "2"])
    assert shown.exit_code == 0, shown.output
    assert "2 threads; " in shown.output
    assert "of the events side by side, the busiest part with" in shown.output
    refused = CliRunner().invoke(app, ["run", str(file), "--threads", "none"])
    assert isinstance(refused.exception, InputError)
    assert "--threads none" in str(refused.exception)


OWN_HOME = """
devices:
  h0: {kind: host, queue: 8, process_time: 1ns, home_agent: {}}
  h1: {kind: host, process_time: 1ns}
  "s[0-1]": {kind: switch}
  "m[0-1]": {kind: memory, capacity: 1MiB}
links:
  - {between: [h0, s0], delay: 500ns}
  - {between: [h1, s1], delay: 500ns}
  - {between: [s0, m0], delay: 500ns}
  - {between: [s1, m1], delay: 500ns}
  - {between: [s0, s1], delay: 500ns}
address_map: [{to: m0, coherence: hdm-h, home: h0}, {to: m1}]
workload:
  h0: {pattern: random, footprint: 512KiB, reads: 0, requests: 40000}
  h1: {pattern: random, footprint: 512KiB, base: 1MiB, requests: 60000}
run: {warmup: 0}
"""


def test_a_host_that_is_its_own_home_may_be_answered_before_its_link_is_crossed() -> None:
    """Half of its writes of whole lines take 13 ns at most, where the way over its link and back takes 1,000."""
    one, _ = split(cx.run(cx.System.from_yaml(OWN_HOME)))
    assert one["per_requester"]["h0"]["latency_ns"]["p50"] == pytest.approx(13, rel=0.01)
    several, cost = split(cx.run(cx.System.from_yaml(OWN_HOME), threads=2))
    assert several == one
    assert cost["threads"]["parts"] == 2
