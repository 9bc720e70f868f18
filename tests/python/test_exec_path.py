"""Where the time of a run of several processes goes: to those that the end waited for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_programs import PROGRAMS, needs_qemu
from exec_support import SMALL, memory_program, spec
from test_sampling import SMALL as FEW
from test_sampling import records
from validation.examples import some

import cxloom as cx
from cxloom.execution import execute, replay
from cxloom.execution.result import ExecutionResult
from cxloom.report.execution_page import execution_page
from cxloom.trace import CALL, READ, write_trace
from cxloom.trace.format import GO_ON, TraceBatch
from cxloom.trace.threads import ThreadName, in_metadata, recorded

pytestmark = needs_qemu
STEPS = 1_000_000
CHILDREN = 3


@pytest.fixture(scope="module")
def pipes(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("pipes") / "pipes"
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-O1", "-static", PROGRAMS / "pipes.c", "-o", file], check=True)
    return str(file)


def sums(result: ExecutionResult) -> None:
    """The parts are of the time of the run, and each thread has its part of the path."""
    for each in result.executions:
        assert sum(each.times_ns().values()) == pytest.approx(each.time_ns, rel=1e-9)
        shares = [thread.share for thread in each.threads(result.threads)]
        assert sum(shares) == pytest.approx(1.0, rel=1e-9)


def test_the_time_goes_by_in_the_children(pipes: str, tmp_path: Path) -> None:
    """One after the other they run 2 million instructions each, and the parent next to none: the C library's start,
    which all have from it, is less than a tenth of one of them. Parent and children wait for each other by a pipe, and
    by `wait4`."""
    trace = tmp_path / "pipes.parquet"
    result = execute([pipes, str(STEPS)], [cx.load(str(spec(tmp_path)))], record=trace)
    sums(result)
    (run,) = result.executions
    shares = run.threads(result.threads)
    assert {share.name.process for share in shares} == {0, 1, 2, 3}
    assert {share.name.program for share in shares} == {"pipes"}
    children = [share for share in shares if share.name.process > 0]
    assert sum(share.share for share in children) > 0.9
    # A loop of two instructions takes a cycle a step, as its counter does.
    assert run.parts()["busy"] > 0.9
    assert run.path["instructions"] > CHILDREN * 2 * STEPS
    assert 1.8 < run.instructions_per_cycle < 2.2
    for share in children:
        assert share.begun_ns < share.ended_ns
        assert share.busy > 0.9
    again = replay(trace, [cx.load(str(spec(tmp_path)))])
    assert again.threads == result.threads
    assert again.executions[0].core == run.core
    assert again.instructions == result.instructions


def test_processes_of_a_shell(tmp_path: Path) -> None:
    """Most of them live for a moment; together with the shell they are all of the time."""
    line = "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; cat /dev/null | cat"
    result = execute(["sh", "-c", line], [cx.load(str(spec(tmp_path)))])
    sums(result)
    (run,) = result.executions
    assert run.core["threads"] >= 10
    assert run.parts().get("idle", 0.0) < 0.1
    assert run.core["idle_ns"] > run.time_ns  # of all threads that ever lived
    assert run.instructions_per_cycle > 0.1
    programs = {share.name.program for share in run.threads(result.threads)}
    assert {"sh", "true", "cat"} <= programs


def test_threads_that_wait_for_each_other(tmp_path: Path) -> None:
    """Each of two chases in turn is half of the path; one of two side by side is all of it."""
    program = memory_program()
    for command, least in (("in-turn", 0.45), ("pair", 0.0)):
        result = execute(
            [program, command, "8192"], [cx.load(str(spec(tmp_path)))], caches=SMALL, region="marks"
        )
        sums(result)
        (run,) = result.executions
        shares = run.threads(result.threads)
        assert min(share.share for share in shares) >= least
        assert run.parts().get("idle", 0.0) < 0.01
        assert len(shares) == run.core["threads"] > 1


def test_the_command_and_the_page_show_them(pipes: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    out = tmp_path / "out.json"
    page = tmp_path / "page.html"
    outcome = cxloom("exec", "--system", spec(tmp_path), "--out", out, "--html", page, "--", pipes, 50000)
    assert outcome.code == 0, outcome.err
    assert "Critical path on near:" in outcome.err
    for process in (1, 2, 3):
        (line,) = [
            line for line in outcome.err.splitlines() if line.startswith(f"pipes, process {process}, ")
        ]
        assert len(re.findall(r"[0-9.]+%", line)) == 4
    written = json.loads(out.read_text())
    (system,) = written["systems"]
    assert {each["process"] for each in system["threads"]} == {0, 1, 2, 3}
    assert sum(each["share"] for each in system["threads"]) == pytest.approx(1.0)
    assert sum(system["time_parts"].values()) == pytest.approx(1.0)
    assert "pipes, process 3, thread 4" in page.read_text()


def test_a_page_of_one_thread_has_none(tmp_path: Path) -> None:
    result = execute(["/bin/true"], [cx.load(str(spec(tmp_path)))])
    assert result.executions[0].threads(result.threads) == ()
    assert 'id="threads"' not in execution_page(result)
    assert result.executions[0].path == result.executions[0].core


def test_names_of_a_trace() -> None:
    names = (ThreadName(1, 0, "sh"), ThreadName(2, 1, "a b"))
    assert in_metadata(recorded(names, "a.parquet")) == names
    for text in ("", "[[1]]", "{", "[" * 100_000, '[[1, 0, "\\u001b[31m"]]'):
        assert all(each.program.isprintable() for each in in_metadata({"threads": text}))
    assert in_metadata({}) == ()
    assert recorded(names, "a.trace") == {}
    assert [str(each) for each in (*names, ThreadName(3, None, ""))][1:] == [
        "a b, process 1, thread 2",
        "thread 3",
    ]


def test_the_environment_keeps_its_order(tmp_path: Path) -> None:
    """The program keeps it, and so does one that it becomes."""
    environment = dict.fromkeys(("Z", "B", "PATH", "A", "LD_X", "Y", "C"), "1") | {
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ["PATH"],
    }
    for command in (["env"], ["env", "env"]):
        words = [sys.executable, "-m", "cxloom", "exec", "--system", spec(tmp_path), "--", *command]
        own = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        under = subprocess.run(words, env=environment, capture_output=True, check=True).stdout
        expected = own.split()
        if len(command) > 1:  # what is for the loader of the program is not for that of the emulator
            expected = sorted(own.split(), key=lambda each: not each.startswith(b"LD_"))
        assert under.split() == expected


INSTRUCTIONS = {
    "vpxord %zmm0,%zmm0,%zmm0": ("vpxord zmm0, zmm0, zmm0 of AVX512F_512", "-march=x86-64-v3"),
    "vaddps %ymm1,%ymm2,%ymm17": ("vaddps ymm17, ymm2, ymm1 of AVX512F_256", "-march=x86-64-v3"),
    "kmovw %eax,%k1": ("of AVX512F", "-march=x86-64-v3"),
    "sha256rnds2 %xmm0,%xmm1,%xmm2": ("sha256rnds2 xmm2, xmm1 of SHA", "-march=x86-64-v3"),
    "ud2": ("an instruction that QEMU 7.2 does not have, or that is none", "__builtin_trap"),
}


@pytest.mark.parametrize("instruction", some(INSTRUCTIONS))
def test_an_instruction_that_the_emulator_lacks_is_named(
    tmp_path: Path, cxloom: Callable[..., Any], instruction: str
) -> None:
    source, program = tmp_path / "new.c", tmp_path / "new"
    source.write_text(f'int main(void) {{ __asm__ volatile("{instruction}"); return 0; }}\n')
    subprocess.run([shutil.which("cc") or "gcc", "-static", source, "-o", program], check=True)
    for command in (
        ["exec", "--system", spec(tmp_path), "--", program],
        ["trace", "capture", "--out", tmp_path / "t.parquet", "--", "sh", "-c", f"{program}; exit $?"],
    ):
        outcome = cxloom(*command)
        assert outcome.code == 128 + 4
        said = " ".join(outcome.err.split())
        for part in INSTRUCTIONS[instruction]:
            assert part in said


def test_a_sample_knows_how_much_of_the_path_is_in_a_thread(tmp_path: Path) -> None:
    """One thread, then another with five times the records of the same program. Of the first most are simulated as a
    whole, as the head of the program; of the second small windows. Shares by simulated time would be wrong by far."""
    first, second = records(20_000), records(100_000, seed=2)
    turn = TraceBatch.of([7, 7], READ, thread=[1, 2], role=[CALL, GO_ON])
    second = TraceBatch(**(second.columns() | {"thread": np.full(len(second), 2, dtype=np.uint32)}))
    trace = tmp_path / "turns.parquet"
    write_trace(trace, [first, turn, second])
    system = [cx.load(str(spec(tmp_path)))]
    (whole,) = replay(trace, system, sampling=None).executions
    (sample,) = replay(trace, system, sampling=FEW).executions
    assert sample.sampled is not None
    exact = {share.name.number: share.share for share in whole.threads(())}
    assert set(exact) == {1, 2}
    for share in sample.threads(()):
        assert share.share == pytest.approx(exact[share.name.number], abs=0.03)
    by_time = sample.core["per_thread"]["1"]["on_path_ns"] / sample.path["time_ns"]
    assert by_time > exact[1] + 0.1
