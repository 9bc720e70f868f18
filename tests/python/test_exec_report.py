"""The page of a program on simulated systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import PROGRAM, Browser
from exec_support import spec
from page_faults import faults
from test_sampling import SMALL, records

import cxloom as cx
from cxloom import _core
from cxloom.execution import replay
from cxloom.execution.result import REGION, ExecutionResult
from cxloom.report.execution_page import _curve, execution_page, groups, groups_of
from cxloom.report.execution_table import sentence
from cxloom.trace import write_trace

PLOTS = ("breakdown", "moved", "hot")


@pytest.fixture(scope="module", params=["exact", "sampled"])
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ExecutionResult:
    """The result of a program on a near and a far memory."""
    folder = tmp_path_factory.mktemp("page")
    systems = [cx.load(str(spec(folder))), cx.load(str(spec(folder, "far", "250ns")))]
    trace = folder / "trace.parquet"
    write_trace(trace, [records(60_000)], {"command": "a-program <of> 'two words'"})
    return replay(trace, systems, sampling=SMALL if request.param == "sampled" else None)


def test_every_part_of_the_time_is_in_one_group(result: ExecutionResult) -> None:
    members = [part for group in groups().values() for part in group]
    segments = {segment["name"] for segment in _core.declarations()["segments"]}
    assert sorted(members) == sorted(
        {*segments, "busy", "dependent computation", "page walks", "waiting for an MSHR", "kernel", "idle"}
    )
    near, far = map(groups_of, result.executions)
    assert sum(near.values()) == pytest.approx(1)
    assert far["memory"] > near["memory"] > 0.3
    for execution in result.executions:
        assert sum(execution.times_ns().values()) == pytest.approx(execution.time_ns)  # of one thread


def test_regions_and_progress(result: ExecutionResult) -> None:
    batch = records(60_000)
    numbers, counts = np.unique(batch.address // REGION, return_counts=True)
    assert dict(result.regions) == dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    for execution in result.executions:
        times, answered = zip(*execution.progress, strict=True)
        assert list(times) == sorted(times)
        if execution.sampled is None:
            assert answered[-1] == result.accesses
            assert times[-1] == pytest.approx(execution.time_ns, rel=0.01)


def test_a_short_program_has_its_course(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.parquet", [records(2_000)])
    short = replay(tmp_path / "trace.parquet", [cx.load(str(spec(tmp_path)))])
    times, rates = _curve(short.executions[0], 1.0)
    assert len(times) >= 8
    width = times[1] - times[0]
    assert times[0] == pytest.approx(width / 2)
    assert sum(rates) * width == pytest.approx(64 * short.executions[0].progress[-1][1])


def test_the_page_says_it_all(result: ExecutionResult) -> None:
    page = execution_page(result)
    assert "a-program '&lt;of&gt;' 'two words'" in page.replace("&#x27;", "'")
    for name in PLOTS:
        assert page.count(f'id="{name}"') == 1
    assert "slowdown" in page
    assert "Most of the time on far" in page
    assert ("(95 %)" in page) == (result.executions[0].sampled is not None)
    assert "of the records were simulated" in page or result.executions[0].sampled is None


def test_a_system_that_is_played_twice_has_its_notes_once(tmp_path: Path) -> None:
    """As where pages are elsewhere the second time."""
    write_trace(tmp_path / "trace.parquet", [records(2_000)])
    system = cx.load(str(spec(tmp_path, **{", bandwidth: 64GB/s": ""})))
    notes = replay(tmp_path / "trace.parquet", [system, system]).notes
    assert len([note for note in notes if "bandwidth unset" in note]) == 1


def test_hot_memory_of_a_machine_has_addresses(tmp_path: Path) -> None:
    """Its trace says that addresses are physical: they are in no order of first touch."""
    trace, systems = tmp_path / "trace.parquet", [cx.load(str(spec(tmp_path)))]
    write_trace(trace, [records(2_000)], {"address space": "physical, of the address map"})
    page = execution_page(replay(trace, systems, pages=["as-is"]))
    assert "in the order of first touch" not in page
    write_trace(trace, [records(2_000)], {"address space": "virtual"})
    assert "in the order of first touch" in execution_page(replay(trace, systems))


@pytest.mark.skipif(PROGRAM is None, reason="no chromium: scripts/bootstrap.sh browser")
def test_it_opens_without_a_word_and_shows_every_plot(result: ExecutionResult, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(execution_page(result), encoding="utf-8")
    browser = Browser()
    try:
        browser.open(file)
        assert browser.said == []
        assert browser.value("document.querySelectorAll('.plot svg.chart').length") >= len(PLOTS)
        for name in PLOTS:
            _, _, width, height = browser.box(f"#{name}")
            assert width > 300
            assert height > 150
        for width in (1400, 390):
            browser.resize(width, 844)
            browser.wait_for(lambda: faults(browser) == [], f"at {width}: {faults(browser)}")
    finally:
        browser.close()


def test_the_command_writes_the_page(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    trace, page = tmp_path / "trace.parquet", tmp_path / "folder" / "page.html"
    write_trace(trace, [records(2_000)])
    outcome = cxloom("exec", "--system", spec(tmp_path), "--replay", trace, "--html", page)
    assert outcome.code == 0, outcome.err
    assert "<title>A program</title>" in page.read_text()


def test_the_bottleneck_is_of_those_who_have_something_to_do(result: ExecutionResult) -> None:
    """What is waited for counts, and not for how long nothing is done."""
    one = result.executions[1]
    idle = one.core | {"idle_ns": 3 * one.core["time_ns"], "time_ns": 4 * one.core["time_ns"]}
    summary = one.summary | {"per_requester": {one.host: {"core": idle}}}
    four = replace(one, summary=summary, sampled=None)
    assert four.parts()["idle"] == pytest.approx(0.75)
    said = sentence(four, "far")
    assert said.startswith("Most of the time on far, but for idle time, (")
    alone = replace(one, sampled=None)
    assert said.rpartition("(")[2] == sentence(alone, "far").rpartition("(")[2]
