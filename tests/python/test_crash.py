"""``cxloom crash`` and `cxloom.crash.power_failures`: what is reported, its history, mistakes, progress and Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from validation.examples import pairs

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.crash.power_failures import Crashes, LostLine, Progress, crash
from cxloom.crash.table import to_text
from cxloom.spec.override import Override

SPEC = """
devices:
  host[0-1]: {kind: host, queue: 8}
  sw: {kind: switch, persist_buffer: {policy: forward}}
  pm: {kind: memory, media: {kind: nvm, write_buffer: 0}}
links:
  - {between: ["host[*]", sw], port_delay: 25ns}
  - {between: [sw, pm], port_delay: 25ns}
address_map: [{to: pm, persistence: media}]
workload:
  host0: {pattern: random, persists: 50%, reads: 100%, epoch: 2, footprint: 2KiB, requests: 1000}
  host1: {pattern: random, persists: 50%, reads: 100%, epoch: 2, footprint: 2KiB, requests: 1000}
"""


def test_power_that_fails_loses_nothing() -> None:
    system = cx.System.from_yaml(SPEC)
    drawn = crash(system, drawn=50, cuts=2)
    assert (drawn.instants, drawn.lost_instants, drawn.lines, drawn.other_ends) == (50, 0, (), 0)
    assert 50 < drawn.recoveries <= 150
    assert drawn.longest_recovery_ns >= 380.0  # D of docs/model/persist.md, the drain of a line
    assert drawn.history is None
    few = [Override.parse(f"workload.host{i}.requests=10") for i in range(2)]
    every = crash(system, every_event=True, overrides=few)
    assert every.instants > 50
    assert (every.lost_instants, every.other_ends) == (0, 0)
    assert every.recoveries > crash(system, every_event=True, cuts=0, overrides=few).recoveries
    assert crash(system, at=0.0).recoveries == 0


COHERENT = """
devices:
  host[0-1]: {kind: host, queue: 4, completion_timeout: 5us, cache: {size: 1KiB, ways: 4}}
  sw: {kind: switch}
  pm: {kind: memory, media: {kind: nvm, write_buffer: 0}, dcoh: {filter: {entries: 16, ways: 4}}}
links:
  - {between: ["host[*]", sw], port_delay: 25ns}
  - {between: [sw, pm], port_delay: 25ns}
address_map: [{to: pm, coherence: hdm-db, persistence: media}]
workload:
  "host[*]": {pattern: random, persists: 50%, epoch: 2, footprint: 2KiB, requests: 300, reads: 60%}
events:
  - {at: 10us, fail: {link: [host0, sw], reroute_time: 1us}}
  - {at: 14us, repair: {link: [host0, sw]}}
"""


def test_coherent_memory_keeps_what_was_flushed_beside_a_failure() -> None:
    drawn = crash(cx.System.from_yaml(COHERENT), drawn=100)
    assert (drawn.lost_instants, drawn.lines, drawn.recoveries) == (0, (), 0)


def test_stores_past_the_caches_are_durable_once_they_are_answered() -> None:
    """What combining buffers still hold has not been answered, and is not missed; what a lost switch held is."""
    system = cx.System.from_yaml(SPEC)
    past = [
        Override.of(
            f"workload.host{i}",
            {
                "pattern": "random",
                "reads": "0%",
                "size": "16B",
                "stores": "non-temporal",
                "fence_every": 8,
                "base": f"{2 * i}KiB",
                "footprint": "2KiB",
                "requests": 100,
            },
        )
        for i in range(2)
    ]
    drawn = crash(system, drawn=100, overrides=past)
    assert (drawn.lost_instants, drawn.other_ends) == (0, 0)
    assert drawn.recoveries > 0
    assert crash(system, at=1e9, lose="sw", overrides=past).lost_instants == 1


# A persist takes 151.173 ns with the buffer in the first switch; the media have it a good deal later.
def test_a_lost_switch_has_a_history() -> None:
    found = crash(cx.System.from_yaml(SPEC), at=1e9, lose="sw")
    assert found.lost_instants == 1
    assert len(found.lines) == found.most_lines > 0
    assert {line.rule for line in found.lines} == {"answered"}
    history = found.history
    assert history is not None
    assert history.shortest
    [request] = history.requests
    assert (request.kind, request.size) == ("flush", 64)
    assert history.lost_at_ns == pytest.approx(151.173)
    assert history.lines == (LostLine(request.address, 0, 1, "answered"),)
    assert [(step.device, step.does) for step in history.steps] == [
        (request.device, "writes"),
        ("sw", "holds"),
        (request.device, "is answered for"),
    ]
    assert history.of_requests > 1
    again = crash(cx.System.from_yaml(SPEC), at=1e9, lose="sw").history
    assert again == history
    assert crash(cx.System.from_yaml(SPEC), at=1e9, lose="sw", history=False).history is None


# The requests of a trace are those that its run had made, whatever its pages are placed by.
def test_a_history_is_of_any_workload(tmp_path: Path) -> None:
    trace = tmp_path / "t.txt"
    trace.write_text(
        "# cxloom-trace 2: address kind dependence\n" + "0x40 R 0\n" * 5 + "0x80 F 1\n0xc0 F all\n"
    )
    replay = SPEC[: SPEC.index("  host0: {pattern")] + "  host1: {trace: t.txt}\n"
    (tmp_path / "s.yaml").write_text(replay)
    history = crash(cx.load(tmp_path / "s.yaml"), at=1e9, lose="sw").history
    assert history is not None
    assert [(each.device, each.kind) for each in history.requests] == [("host1", "flush")]
    placed = SPEC.replace("footprint: 2KiB, r", "footprint: 8KiB, addresses: first-touch, r")
    history = crash(cx.System.from_yaml(placed), at=1e9, lose="sw").history
    assert history is not None
    assert len(history.requests) == 1


def test_the_command_prints_a_table(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "s.yaml").write_text(SPEC)
    outcome = cxloom("crash", tmp_path / "s.yaml", "--random", "5")
    assert (outcome.code, outcome.err) == (0, "")
    assert "5 instants, and nothing that had been answered or read was lost" in outcome.out
    outcome = cxloom("crash", tmp_path / "s.yaml", "--at", "1ms", "--lose", "sw")
    assert outcome.code == 1
    assert "sw was lost at 1 instant" in outcome.out
    assert "The shortest history that shows it: 1 request of host" in outcome.out
    rows = outcome.out[outcome.out.index("       ns") :].splitlines()
    assert re.split(r"\s+", rows[0].strip()) == ["ns", "who", "does", "line", "version"]
    assert re.match(r"\s+0\.000 host[01]\s+writes\s+0x[0-9a-f]+ +1$", rows[1])
    assert re.match(r"\s+151\.173 host[01]\s+is answered for 0x[0-9a-f]+ +1$", rows[3])
    assert re.match(r"\s+151\.173 sw\s+is lost$", rows[4])
    assert re.match(r"\s+recovery leaves\s+0x[0-9a-f]+ +0$", rows[5])
    assert "version 0 is left; version 1 had been answered" in rows[7]


def test_the_command_prints_json(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "s.yaml").write_text(SPEC)
    outcome = cxloom("crash", tmp_path / "s.yaml", "--at", "1ms", "--lose", "sw", "--json")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert (found["lost_instants"], found["lost_switch"], found["recovery_cuts"]) == (1, "sw", 1)
    assert set(found["lost_lines"][0]) == {"address", "recovered_version", "needed_version", "rule"}
    assert len(found["history"]["requests"]) == 1
    outcome = cxloom("crash", tmp_path / "s.yaml", "--at", "1ms", "--lose", "sw", "--json", "--no-history")
    assert json.loads(outcome.out)["history"] is None


def test_mistakes_get_an_answer(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "s.yaml").write_text(SPEC)
    volatile = SPEC.replace(", persist_buffer: {policy: forward}", "").replace(", persistence: media", "")
    (tmp_path / "v.yaml").write_text(volatile.replace("persists: 50%, ", "").replace("epoch: 2, ", ""))
    for arguments, said in [
        (["s.yaml"], ["--at", "one of --at TIME"]),
        (["s.yaml", "--at", "1us", "--random", "3"], ["one of --at TIME"]),
        (["s.yaml", "--every-event", "--random", "3"], ["one of --at TIME"]),
        (["s.yaml", "--random", "0"], ["--random", "whole number from 1 on", "'0'"]),
        (["s.yaml", "--random", "many"], ["--random", "whole number from 1 on", "'many'"]),
        (["s.yaml", "--at", "soon"], ["--at", "soon"]),
        (["s.yaml", "--at", "-1ns"], ["--at", "-1ns"]),
        (["s.yaml", "--at", "1us", "--cuts", "-1"], ["--cuts", "whole number from 0 on", "'-1'"]),
        (["s.yaml", "--at", "1us", "--cuts", "2.5"], ["--cuts", "whole number from 0 on", "'2.5'"]),
        (["s.yaml", "--random", "3", "--seed", "x"], ["--seed", "whole number from 0 on", "'x'"]),
        (
            ["s.yaml", "--at", "1us", "--lose", "swe"],
            ["error: --lose: unknown device", "'swe'", "mean 'sw'?"],
        ),
        (["s.yaml", "--at", "1us", "--lose", "pm"], ["--lose", "'pm' has no persist buffer", "one of sw"]),
        (["s.yaml", "--at", "1us", "--set", "devices.sw.ports=x"], ["devices.sw"]),
        (["v.yaml", "--at", "1us"], ["v.yaml:", "no memory is persistent", "persistence: media"]),
    ]:
        outcome = cxloom("crash", tmp_path / arguments[0], *arguments[1:])
        assert outcome.code == 2, arguments
        assert outcome.out == "", arguments
        for words in said:
            assert words in outcome.err, (arguments, outcome.err)
        assert "outputs.versions" not in outcome.err  # nobody has set it


def test_an_instant_behind_the_end_is_noted() -> None:
    system = cx.System.from_yaml(SPEC)
    late = crash(system, at=1e9)
    end = late.past_end_ns
    assert end is not None
    assert 1000.0 < end < 1e9
    assert f"the run had ended before, at {end:.3f} ns" in to_text(late)
    assert crash(system, at=end + 1.0).past_end_ns == end
    for early in (crash(system, at=end - 1.0), crash(system, drawn=3)):
        assert early.past_end_ns is None
        assert "ended" not in to_text(early)


def test_a_switch_is_known_before_anything_runs() -> None:
    told: list[Progress] = []

    def watch(progress: Progress) -> None:
        told.append(progress)

    with pytest.raises(InputError, match="'pm' has no persist buffer"):
        crash(cx.System.from_yaml(SPEC), drawn=10, lose="pm", watch=watch)
    assert told == []


def test_progress_is_told_and_may_end_it() -> None:
    system = cx.System.from_yaml(SPEC)
    told: list[Progress] = []

    def watch(progress: Progress) -> str | None:
        told.append(progress)
        return "enough" if progress.doing == "instant" and progress.done == 7 else None

    found = crash(system, drawn=20, watch=watch)
    assert (found.instants, found.stopped) == (7, "enough")
    assert [each.done for each in told if each.doing == "instant"][-1] == 7
    assert {each.total for each in told if each.doing == "instant"} == {20}


def test_a_search_that_is_ended_says_so() -> None:
    def watch(progress: Progress) -> str | None:
        return "enough" if "history" in progress.doing else None

    found = crash(cx.System.from_yaml(SPEC), at=1e9, lose="sw", watch=watch)
    assert found.history is not None
    assert (found.history.runs, found.history.shortest) == (1, False)
    assert found.stopped is None  # all instants were looked at
    assert "A shorter history" in to_text(found)


def test_ctrl_c_prints_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SPEC.replace("requests: 1000", "requests: 100000"))
    process = subprocess.Popen(
        [sys.executable, "-m", "cxloom", "crash", str(tmp_path / "s.yaml"), "--every-event", "--cuts", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "interrupted: ending the search" in err
    assert "not all instants were looked at: interrupted" in out


ENGINE = """
devices:
  host: {kind: host, queue: 8}
  other: {kind: host}
  engine: {kind: io-engine, traffic: TRAFFIC, rate: 2GB/s, target: other}
  sw: {kind: switch, persist_buffer: {policy: forward}}
  pm: {kind: memory, media: MEDIA}
links:
  - {between: [host, sw], port_delay: 25ns}
  - {between: [sw, pm], port_delay: 25ns}
  - {between: [engine, sw]}
  - {between: [other, sw]}
address_map: [{to: pm, persistence: media}]
workload:
  host: {pattern: log-append, footprint: 2KiB, requests: 1000}
"""


# Nothing ends such an engine but the workload's end, and nothing works when the power comes back: what a buffer kept is
# drained as if there was no engine, one line in D of docs/model/persist.md.
@pytest.mark.parametrize("traffic", ["dma-read", "dma-write"])
def test_recovery_waits_for_no_traffic_without_end(traffic: str) -> None:
    text = ENGINE.replace("TRAFFIC", traffic).replace("MEDIA", "{kind: nvm, write_buffer: 0}")
    found = crash(cx.System.from_yaml(text), at=160.0)
    assert found.recoveries > 0
    assert found.longest_recovery_ns == pytest.approx(380.0)
    assert (found.lost_instants, found.other_ends) == (0, 0)


@pytest.mark.parametrize(
    ("command", "sent"), pairs([["crash", "--at", "160ns"], ["run"]], [signal.SIGINT, signal.SIGTERM])
)
def test_a_signal_is_answered_before_the_run_too(
    tmp_path: Path, command: list[str], sent: signal.Signals
) -> None:
    """The past of this flash takes a minute or so; a crash plays it again at each recovery."""
    flash = "{kind: flash, write_buffer: 0, overwritten: 1000}, capacity: 256GiB"
    (tmp_path / "s.yaml").write_text(ENGINE.replace("TRAFFIC", "dma-read").replace("MEDIA", flash))
    process = subprocess.Popen(
        [sys.executable, "-m", "cxloom", command[0], str(tmp_path / "s.yaml"), *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=4)
    process.send_signal(sent)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1, err
    assert ("interrupted" if sent == signal.SIGINT else "terminated") in out + err


def test_the_report_says_what_is_left_out() -> None:
    found = crash(cx.System.from_yaml(SPEC), at=1e9, lose="sw", history=False)
    many = replace(found, lines=tuple(LostLine(64 * i, 0, 1, "read") for i in range(25)), other_ends=2)
    assert isinstance(many, Crashes)
    text = to_text(many)
    assert "and 5 lines more" in text
    assert "version 1 had been read, and is known to have followed version 0" in text
    assert "at 2 instants a recovery that was cut short came to another end" in text
