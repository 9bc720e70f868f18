"""Processors of presets in the place of a host's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exec_support import spec
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.execution import replay
from cxloom.execution.processor import Processor
from cxloom.spec import presets
from cxloom.trace import READ, TraceBatch, write_trace

NAMES = [name.removeprefix("server/") for name in presets.names() if name.startswith("server/")]


@pytest.mark.parametrize("name", NAMES)
def test_a_processor_is_that_of_its_preset(name: str) -> None:
    processor = Processor.load(name)
    [host] = [
        device
        for device in cx.System.load(f"server/{name}").resolve().plain()["devices"].values()
        if device["kind"] == "host"
    ]
    assert set(processor.values) == {"core", "cache", "queue", "process_time"}
    for key, value in processor.values.items():
        assert value == host[key]
    assert Processor.load(f"server/{name}") == processor


def test_those_of_the_papers_are_there() -> None:
    assert {"xeon-gold-6416h", "xeon-platinum-8468v", "epyc-9354"} <= set(NAMES)
    with pytest.raises(InputError, match="no such processor") as caught:
        Processor.load("xeon-gold-6416")
    assert "xeon-gold-6416h" in str(caught.value)


def test_a_replay_takes_its_time_in_the_socket(tmp_path: Path) -> None:
    """A chase of lines that no cache has: 5 ns in the host of the file; 26 ns, and 20 ns to look up, in that socket."""
    trace = tmp_path / "trace.parquet"
    count = 2000
    lines = [64 * (97 * i % count) for i in range(count)]
    write_trace(trace, [TraceBatch.of(lines, READ, dependence=[0] + [1] * (count - 1), instruction_gap=1)])
    system = [cx.load(str(spec(tmp_path)))]
    own = replay(trace, system).executions[0].time_ns / count
    other = replay(trace, system, processor=Processor.load("xeon-gold-6416h")).executions[0].time_ns / count
    assert own == pytest.approx(90, rel=0.02)
    assert other == pytest.approx(own - 5 + 26 + 20, rel=0.03)


@needs_qemu
def test_the_command_takes_one(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """A quarter of the clock is four times the cycle; and its caches are in front of what is simulated."""
    out = tmp_path / "out.json"
    both = {}
    for core in ("xeon-gold-6416h", "epyc-9354"):
        outcome = cxloom("exec", "--system", spec(tmp_path), "--core", core, "--out", out, "--", "/bin/true")
        assert outcome.code == 0, outcome.err
        both[core] = json.loads(out.read_text())["systems"][0]["per_requester"]["host"]["core"]
    assert both["xeon-gold-6416h"]["instructions"] == pytest.approx(
        both["epyc-9354"]["instructions"], rel=0.01
    )
    assert both["xeon-gold-6416h"]["time_ns"] != both["epyc-9354"]["time_ns"]
    wrong = cxloom("exec", "--system", spec(tmp_path), "--core", "epyc", "--", "/bin/true")
    assert wrong.code == 2
    assert "no such processor" in wrong.err
