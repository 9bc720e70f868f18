"""Time of the processors by process: what records say of whose they are, up to what people see."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from boot_support import TOPOLOGIES, machine
from exec_support import spec
from rich.console import Console
from test_boot_uses import sieve
from test_sampling import records

import cxloom as cx
from cxloom.booting.point import _by_name
from cxloom.booting.timed import MachineResult, TimedProgram
from cxloom.booting.uses import uses_of
from cxloom.cli.boot_timed import Timing, run_timed
from cxloom.cli.progress import ProgramLines
from cxloom.execution.feed import play
from cxloom.execution.placed_program import prepare_all
from cxloom.execution.result import Execution, ExecutionResult, Sampled
from cxloom.execution.sampling import Interval, Sampler, Sampling
from cxloom.report.machine_page import machine_page
from cxloom.report.machine_table import show_times, turns_of
from cxloom.trace import write_trace
from cxloom.trace.format import DTYPES, TraceBatch, joined
from cxloom.trace.reader import open_trace

COUNT = 4000


def of_processes(count: int = COUNT) -> TraceBatch:
    """Records of the kernel, of two processes, and of nobody who is known, in turns of 50."""
    turns = (np.arange(count) // 50 % 4).astype(np.uint16)
    return replace(records(count), process=turns)


def cycles_of(batch: TraceBatch) -> dict[int, int]:
    """As the recorder counts them."""
    assert batch.process is not None
    return {each: int(batch.cycles[batch.process == each].sum()) for each in range(4)}


def played(tmp_path: Path, *batches: TraceBatch, sampler: Sampler | None = None) -> Execution:
    placed = prepare_all([cx.load(str(spec(tmp_path)))], ["as-is"], None, None, None, None)
    ((execution, _),) = play(placed, iter([each.columns() for each in batches]), sampler)
    return execution


@pytest.fixture(scope="module")
def execution(tmp_path_factory: pytest.TempPathFactory) -> Execution:
    return played(tmp_path_factory.mktemp("played"), of_processes())


def busy_and_waiting(execution: Execution) -> float:
    return float(execution.core["time_ns"] - execution.core["idle_ns"])


def test_the_times_of_processes_sum_to_that_of_the_processors(execution: Execution) -> None:
    batch = of_processes()
    times = execution.processor_times_ns(cycles_of(batch))
    assert set(times) == {0, 1, 2, 3}
    assert sum(times.values()) == pytest.approx(busy_and_waiting(execution), rel=1e-9)
    cycle = execution.core["busy_ns"] / int(batch.cycles.sum())
    waits = {int(each): ns for each, ns in execution.core["waits_ns"].items()}
    for process, cycles in cycles_of(batch).items():
        assert times[process] == pytest.approx(cycles * cycle + waits[process], rel=1e-9)


def test_whose_records_are_changes_no_time(execution: Execution, tmp_path: Path) -> None:
    plain = played(tmp_path, records(COUNT))
    assert "waits_ns" not in plain.core
    assert plain.time_ns == execution.time_ns


def test_batches_keep_whose_they_are(execution: Execution, tmp_path: Path) -> None:
    """Joined with others that do not say it, which count as nobody's, and cut again."""
    told, untold = of_processes(100), records(50, seed=2)
    whole = joined([told, untold])
    assert whole.process is not None
    assert (whole.process == [*told.columns()["process"], *[0] * 50]).all()
    assert whole.slice(120, 130).columns()["process"].tolist() == [0] * 10
    assert joined([untold, untold]).process is None
    halves = of_processes().slice(0, 2000), of_processes().slice(2000, COUNT)
    assert played(tmp_path, *halves).core["waits_ns"] == execution.core["waits_ns"]


def test_no_file_says_it(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.parquet", [of_processes(100)])
    assert [list(each.columns()) for each in open_trace(tmp_path / "trace.parquet")] == [list(DTYPES)]


def test_a_sample_has_the_share_of_each(tmp_path: Path) -> None:
    """Windows of a program that is the same all the time wait for each process as the whole does."""
    count = 60_000
    batch = replace(records(count), cycles=np.full(count, 20, np.uint32))
    batch = replace(batch, process=(np.arange(count) // 10 % 4).astype(np.uint16))
    whole = played(tmp_path, batch)
    expected = whole.processor_times_ns(cycles_of(batch))
    sampling = Sampling(head=1000, period=1000, window=100, warm_up=100, cool_down=100, periods=4)
    sampler = Sampler(sampling)
    part = played(tmp_path, batch, sampler=sampler)
    time = Interval(whole.time_ns, whole.time_ns, whole.time_ns)
    cycle = part.core["busy_ns"] / sum(piece.cycles for piece in sampler.pieces)
    part = replace(
        part, sampled=Sampled(time, time, count * 10, cycle, cycle * sampler.cycles, 0.3, sampler.simulated)
    )
    found = part.processor_times_ns(cycles_of(batch))
    assert sum(found.values()) == pytest.approx(whole.time_ns, rel=1e-6)
    for process, ns in expected.items():
        assert found[process] == pytest.approx(ns, rel=0.15)


# --- What people see -------------------------------------------------------------------------------------------------


def result_of(*executions: Execution, instructions: int = 2000, accesses: int = 100) -> ExecutionResult:
    return ExecutionResult(("app",), None, instructions, accesses, executions, 0.1)


@pytest.fixture
def found(execution: Execution) -> MachineResult:
    """app and sh beside a kernel, and 300 instructions of nobody."""
    times: list[dict[int, float]] = [
        {0: 5.0, 1: 100.0, 2: 200.0, 3: 50.0},
        {0: 10.0, 1: 150.0, 2: 600.0, 3: 50.0},
    ]
    uses = uses_of(sieve(), machine(TOPOLOGIES["direct"]), times)
    sums = tuple(sum(each.values()) for each in times)
    kernel = tuple(each[1] for each in times)
    return MachineResult(result_of(execution), 500, 20, {}, {}, 0, uses, {}, kernel, sums)


def test_all_turns_sum_to_the_time_of_the_processors(found: MachineResult) -> None:
    turns = turns_of(found)
    assert [str(each) for each in turns] == ["app (11)", "the kernel", "sh (7)", "not told apart"]
    assert [each.slowdown for each in turns] == [3.0, 1.5, 1.0, 2.0]
    assert sum(each.times_ns[-1] for each in turns) == found.processor_ns[-1]
    assert sum(each.instructions for each in turns) == found.result.instructions
    assert sum(each.accesses for each in turns) == found.result.accesses


def test_the_terminal_has_the_longest_first(found: MachineResult) -> None:
    file = io.StringIO()
    show_times(found, Console(file=file, width=80))
    lines = [line.split() for line in file.getvalue().splitlines()]
    assert lines[1] == ["process", "time", "share", "slowdown", "instructions"]
    assert lines[2] == ["app", "(11)", "600", "ns", "74.1%", "3.00", "1,000"]
    assert lines[5][:3] == ["not", "told", "apart"]


def test_processes_that_do_not_fit_are_summed(found: MachineResult) -> None:
    one = found.processes[1]
    many = replace(found, processes=(found.processes[0], *[replace(one, pid=each) for each in range(20)]))
    many = replace(
        many, processor_ns=tuple(sum(each.times_ns[place] for each in turns_of(many)) for place in (0, 1))
    )
    file = io.StringIO()
    show_times(many, Console(file=file, width=80))
    lines = file.getvalue().splitlines()
    assert len(lines) == 12
    assert lines[-1].split()[:2] == ["13", "others"]


def test_without_times_there_is_no_table(found: MachineResult) -> None:
    file = io.StringIO()
    show_times(replace(found, processes=()), Console(file=file))
    show_times(replace(found, processor_ns=()), Console(file=file))
    assert file.getvalue() == ""


def test_the_page_and_the_file_have_them(found: MachineResult) -> None:
    page = machine_page(found)
    assert "most time first" in page
    assert "not told apart" in page
    plain: dict[str, Any] = found.to_dict()
    assert plain["processor_ns"] == [355.0, 810.0]
    assert plain["kernel"]["times_ns"] == [100.0, 150.0]
    assert [each["times_ns"] for each in plain["processes"]] == [(200.0, 600.0), (50.0, 50.0)]
    assert _by_name(found)["app"] == {"instructions": 1000, "accesses": 46, "time_ns": 600.0}


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_is_without_a_table(
    found: MachineResult, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    timed = cast(TimedProgram, SimpleNamespace(run=lambda *_args, **_options: found))
    nothing = cast(Any, None)
    assert run_timed(Timing(), timed, nothing, nothing, ["app"], None, quiet) == 0
    assert ("Time of the processors" in capsys.readouterr().err) is not quiet


def test_a_quiet_program_says_nothing_of_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXLOOM_PROGRESS", raising=False)
    monkeypatch.setattr("cxloom.cli.progress.FIRST_SECONDS", -1.0)
    ProgramLines(quiet=True).update(1_000_000, 5)
    assert capsys.readouterr().err == ""
    ProgramLines().update(1_000_000, 5)
    assert "1 million instructions, 5 accesses" in capsys.readouterr().err
