"""A disk that is full while a trace is kept of a program: no trace, an error, and the result all the same."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from exec_support import memory_program, spec
from test_trace_emulator import needs_qemu
from typer.testing import CliRunner

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.cli.app import app
from cxloom.execution import execute
from cxloom.trace.parquet import ParquetWriter


@pytest.fixture(params=["write", "__exit__"])
def full(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the first rows, or only where the file is ended."""

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ParquetWriter, request.param, no_room)


@needs_qemu
@pytest.mark.usefixtures("full")
def test_a_full_disk_takes_the_trace_and_not_the_result(tmp_path: Path) -> None:
    system, trace = cx.load(spec(tmp_path)), tmp_path / "trace.parquet"
    alone = execute([memory_program()], [system])
    found = execute([memory_program()], [system], record=trace)
    assert found.accesses == alone.accesses
    assert found.executions[0].time_ns == alone.executions[0].time_ns
    assert alone.unrecorded is None
    assert str(found.unrecorded) == f"{trace}: no space left on device"
    assert list(tmp_path.glob("*trace*")) == []


@needs_qemu
@pytest.mark.usefixtures("full")
def test_the_command_shows_and_writes_its_result_before_the_error(tmp_path: Path) -> None:
    out, trace = tmp_path / "result.json", tmp_path / "trace.parquet"
    options = ["--system", str(spec(tmp_path)), "--record", str(trace), "--out", str(out)]
    done = CliRunner().invoke(app, ["exec", *options, "--", memory_program()])
    assert "instructions" in done.stderr
    assert isinstance(done.exception, InputError)  # of which the command makes its exit code 2
    assert str(done.exception) == f"{trace}: no space left on device"
    assert json.loads(out.read_text())["accesses"] > 0
