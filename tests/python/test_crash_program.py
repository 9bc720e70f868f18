"""A program with persistent memory while the power fails: it loses nothing, and variants that forget a step do."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from program_support import PROGRAMS, built_programs
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.crash.power_failures import crash

SPEC = PROGRAMS / "persistent.yaml"
SIZE = ["40", "30", "4", "1"]


@pytest.fixture(scope="module")
def kvstore() -> Path:
    return built_programs() / "kvstore"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """examples/programs/crash_program.py."""
    spec = importlib.util.spec_from_file_location("crash_program", PROGRAMS / "crash_program.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["crash_program"] = module
    spec.loader.exec_module(module)
    return module


def found(example: ModuleType, command: list[str], fault: list[str], folder: Path, instants: int) -> str:
    history = example.History.of([*command, *fault], folder)
    run = example.Run(history, str(SPEC), [*command, *fault], folder)
    return str(example.crashes(history, run, command, folder, instants, 1))


@needs_qemu
@pytest.mark.parametrize("log", ["undo", "redo"])
def test_a_program_recovers_whenever_the_power_fails(
    kvstore: Path, example: ModuleType, tmp_path: Path, log: str
) -> None:
    assert found(example, [str(kvstore), *SIZE, log], [], tmp_path, 150) == ""


@needs_qemu
@pytest.mark.parametrize("log", ["undo", "redo"])
@pytest.mark.parametrize("fault", ["fence", "flush"])
def test_a_step_that_is_left_out_is_found(
    kvstore: Path, example: ModuleType, tmp_path: Path, log: str, fault: str
) -> None:
    """By itself the program is right: nothing shows but the power that fails."""
    command = [str(kvstore), *SIZE, log]
    assert subprocess.run([*command, fault], capture_output=True, check=False).returncode == 0
    assert "which is wrong" in found(example, command, [fault], tmp_path, 400)


def test_the_history_has_the_flushes_of_each_transaction(
    kvstore: Path, example: ModuleType, tmp_path: Path
) -> None:
    """Five values of the log, its count, five values, its count; fences behind the second, third and each count."""
    history = example.History.of([str(kvstore), *SIZE, "undo"], tmp_path)
    assert len(history.flushes) == 30 * 12
    assert history.fences[:4] == [5, 6, 11, 12]
    assert history.acknowledged == [(12 * number, number) for number in range(1, 31)]
    redo = example.History.of([str(kvstore), *SIZE, "redo"], tmp_path)
    assert redo.acknowledged == [(12 * number - 6, number) for number in range(1, 31)]


def test_the_system_of_the_example_keeps_what_it_has_answered_for() -> None:
    """The trace of the study, whose requests persist three thousand times."""
    crashes = crash(cx.load(str(SPEC)), drawn=40)
    assert (crashes.instants, crashes.lost_instants) == (40, 0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["/no/such/program"], "'/no/such/program' cannot be run: no such file or directory"),
        (["false"], "the program fails without a crash"),
        (["true"], "the program writes no history of its persists"),
        (["--instants", "0", "true"], "invalid whole number from 1 on value: '0'"),
        (["--instants", "-5", "true"], "invalid whole number from 1 on value: '-5'"),
    ],
)
def test_what_cannot_be_looked_at_is_no_loss(arguments: list[str], problem: str) -> None:
    """The code 1 says that something is lost."""
    script = PROGRAMS / "crash_program.py"
    options = arguments[:-1]
    outcome = subprocess.run(
        [sys.executable, script, *options, "--", arguments[-1]], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 2
    assert problem in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("ending", "refused"), [("exit 2", True), ("kill -SEGV $$", True), ("exit 1", False), ("exit 0", False)]
)
def test_only_a_recovery_that_ends_with_1_has_lost_something(
    example: ModuleType, tmp_path: Path, ending: str, refused: bool
) -> None:
    program = tmp_path / "recovers"
    program.write_text(f"#!/bin/sh\necho what it says\n{ending}\n")
    program.chmod(0o755)
    history = example.History(flushes=[example.Flush(0, bytes(64))])

    class Run:
        made, answered, end, told = (0,), (100,), 100, ()

    if refused:
        with pytest.raises(InputError, match=r"the recovery .* ends with"):
            example.crashes(history, Run(), [str(program)], tmp_path, 3, 1)
    else:
        said = example.crashes(history, Run(), [str(program)], tmp_path, 3, 1)
        assert ("what it says" in said) == (ending == "exit 1")
