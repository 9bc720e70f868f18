"""What a run refuses or notes of its work is said by the commands that look at the same system before."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Outcome

import cxloom as cx
from cxloom.trace import open_trace, text

SYSTEM = """\
devices:
  host: {kind: host}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
links: [{between: [host, mem]}]
address_map: [{to: mem, persistence: media}]
"""
REFUSED = "nobody makes requests"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A file with a system without a workload."""
    path = tmp_path / "spec.yaml"
    path.write_text(SYSTEM)
    return path


@pytest.mark.parametrize("workload", ["{}", "null"])
@pytest.mark.parametrize(
    "command", [["run"], ["check"], ["explain", "--jobs", "1"], ["energy"], ["crash", "--at", "1us"]]
)
def test_a_workload_of_nobody_is_refused_by_all(
    spec: Path, cxloom: Callable[..., Outcome], command: list[str], workload: str
) -> None:
    spec.write_text(SYSTEM + f"workload: {workload}\n")
    name, *options = command
    done = cxloom(name, spec, *options)
    assert done.code == 2
    assert f"{spec}:6:1: workload: {REFUSED}" in done.err


def test_a_system_without_a_workload_is_one_for_other_tools(
    spec: Path, cxloom: Callable[..., Outcome]
) -> None:
    for command in (["run"], ["explain", "--jobs", "1"], ["crash", "--at", "1us"]):
        name, *options = command
        done = cxloom(name, spec, *options)
        assert (done.code, REFUSED in done.err) == (2, True), done.err
    done = cxloom("check", spec)
    assert done.code == 0
    assert f"note: {REFUSED}: run, sweep, explain and crash refuse this system" in done.out
    assert cxloom("measure", spec, "latency", "--jobs", "1").code == 0


@pytest.mark.parametrize("lacks", ["memory", "requesters"])
def test_measuring_what_is_not_there_is_a_wrong_input(
    spec: Path, cxloom: Callable[..., Outcome], lacks: str
) -> None:
    text = SYSTEM.replace("address_map: [{to: mem, persistence: media}]\n", "")
    if lacks == "requesters":
        text = "devices: {mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}}\n"
    spec.write_text(text)
    done = cxloom("measure", spec, "latency", "--jobs", "1")
    assert done.code == 2
    assert f"error: {spec}: " in done.err
    assert "2: the input is wrong, as that of a system without a requester or memory for it" in " ".join(
        cxloom("measure", "--help").out.split()
    )


TRACE = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n" + "".join(
    f"{time},a,0,Read,{4096 * time},64,1\n" for time in (10, 20, 15, 30, 25)
)
SAID = "2 requests with a time before that of the request above: taken as at the same time"


@pytest.mark.parametrize("requests", ["", ", requests: 4"])
@pytest.mark.parametrize("command", ["run", "check"])
def test_times_that_go_back_are_noted_once(
    spec: Path, cxloom: Callable[..., Outcome], command: str, requests: str
) -> None:
    (spec.parent / "disk.csv").write_text(TRACE)
    spec.write_text(SYSTEM + f"workload: {{host: {{trace: disk.csv, replay: timestamps{requests}}}}}\n")
    done = cxloom(command, spec, "--json")
    assert done.code == 0, done.err
    notes = json.loads(done.out)["notes"]
    assert [note for note in notes if "a time before" in note] == [f"host from the trace disk.csv: {SAID}"]
    assert " ".join(cxloom(command, spec).out.split()).count(SAID) == 1
    spec.write_text(spec.read_text().replace("timestamps", "closed"))
    assert SAID not in " ".join(cxloom(command, spec).out.split()), "they are not played"


@pytest.mark.parametrize("rounds", ["repeat: 2", "repeat: 2, requests: 6", "repeat: forever, requests: 6"])
def test_times_that_go_back_are_noted_of_a_trace_that_repeats(
    spec: Path, monkeypatch: pytest.MonkeyPatch, rounds: str
) -> None:
    """The last round ends before the first request that goes back; what the first round saw is said all the same."""
    monkeypatch.setattr(text, "BLOCK", 16)  # a line at a time, as of a file that is longer than a block
    (spec.parent / "disk.csv").write_text(TRACE)
    spec.write_text(SYSTEM + f"workload: {{host: {{trace: disk.csv, replay: timestamps, {rounds}}}}}\n")
    system = cx.load(spec)
    for notes in (cx.run(system).summary["notes"], system.check()["notes"]):
        assert [note for note in notes if "a time before" in note] == [
            f"host from the trace disk.csv: {SAID}"
        ]


def test_a_reader_keeps_what_the_longest_pass_remarked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK", 16)
    (tmp_path / "disk.csv").write_text(TRACE)
    reader = open_trace(tmp_path / "disk.csv")
    passed = []
    for most in (2, 3, 5, 1):
        assert len([*itertools.islice(reader, most)]) == most
        passed.append(list(reader.remarks))
    assert passed == [[], [SAID.replace("2 requests", "1 request")], [SAID], [SAID]]
