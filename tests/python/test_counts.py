"""One of a thing is one thing: counts agree with their nouns wherever they are said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.words import counted

Call = Callable[..., Any]
SPEC = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem], delay: 1ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, reads: 100%, requests: 1, footprint: 64B}}
"""


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "link", "0 links"),
        (1, "link", "1 link"),
        (12_000, "link", "12,000 links"),
        (2, "access", "2 accesses"),
        (2, "switch", "2 switches"),
        (2, "memory", "2 memories"),
        (2, "way", "2 ways"),
        (1, "entry", "1 entry"),
    ],
)
def test_the_plural_is_of_all_but_one(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_one_of_everything(tmp_path: Path, cxloom: Call) -> None:
    spec, trace, study = tmp_path / "s.yaml", tmp_path / "t.trace", tmp_path / "study.yaml"
    spec.write_text(SPEC)
    trace.write_text("0x40 R 1\n")
    study.write_text("system: s.yaml\nexpect: [{measure: requests, value: 1, tolerance: 0%, source: spec}]\n")
    assert "2 devices (1 host, 1 memory), 1 link\n" in cxloom("check", spec).out
    ran = " ".join(cxloom("run", spec).out.split())
    assert "1 request in" in ran
    assert "treated as infinite (no queueing): links host->mem, mem->host" in ran
    assert "1: 1 read, 0 writes" in cxloom("trace", "info", trace).out
    assert "1 page of 4 KiB" in cxloom("trace", "info", trace).out
    assert ": 1 access, " in cxloom("trace", "convert", trace, tmp_path / "u.trace", "--tick", "1ns").out
    assert "1 expectation: 1 met" in cxloom("study", "run", study).out
    study.write_text(study.read_text().replace("value: 1", "value: 2"))
    assert "1 expectation: 1 failed" in cxloom("study", "run", study).out
    assert repr(cx.run(spec)).startswith("<Result: 1 request, ")
    assert repr(cx.load(spec)) == "<System: 2 device entries, 1 link entry>"
    assert cx.run(spec)._repr_html_().startswith("<p>1 request in ")


def test_one_link_without_a_limit(tmp_path: Path) -> None:
    text = SPEC.replace("delay: 1ns", "delay: 1ns, bandwidth: 8GB/s, reverse: {bandwidth: unlimited}")
    notes = cx.run(cx.System.from_yaml(text))["notes"]
    assert any("treated as infinite (no queueing): link mem->host" in note for note in notes), notes


def test_one_request_of_a_stuck_run() -> None:
    text = SPEC.replace("requests: 1", "requests: 1000")
    text = text.replace("host}", "host, queue: 1}").replace("delay: 1ns", "delay: 15us")
    with pytest.raises(cx.SimulationError, match=r"links delivered 1 message \(at 20us, 1 request under way"):
        cx.run(cx.System.from_yaml(text + "run: {livelock_deliveries: 1}\n"))
