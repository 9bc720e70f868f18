"""Bad input through the command: exit code 2, the place, the key, the nearest name, and nothing written.

Most of it is in the table of the worst inputs (worst_inputs.py); here is what takes more than one command to show.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from worst_inputs import WORKLOAD

Call = Callable[..., object]


def test_a_directory_and_a_near_name_are_named(tmp_path: Path, spec_file: Path, cxloom: Call) -> None:
    assert "a directory, not a file" in cxloom("run", tmp_path).err
    outcome = cxloom("run", tmp_path / "sytem.yaml")
    assert outcome.code == 2
    assert "did you mean 'system.yaml'?" in outcome.err


GOOD = b"0x40 R 0\n" * 300_000  # more than is read at a time


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"0x0 R 0\nhello\n", ["app.trace:2: "]),
        (b"0x0 R 0\n0x40 Q 0\n", ["app.trace:2: ", "'Q'"]),
        (GOOD + b"0x40 Q 0\n", ["app.trace:300001: ", "'Q'"]),
        (b"0xffffffffffff0000 R 0\n", ["s.yaml:12:", "workload.host", "access 0 ", "0xffffffffffff0000"]),
        (GOOD + b"0xffffffffffff0000 R 0\n", ["s.yaml:12:", "access 300000 ", "0xffffffffffff0000"]),
    ],
)
def test_a_trace_that_turns_bad_on_the_way_leaves_nothing(
    spec_text: str, tmp_path: Path, cxloom: Call, content: bytes, words: list[str]
) -> None:
    (tmp_path / "app.trace").write_bytes(content)
    spec = tmp_path / "s.yaml"
    spec.write_text(spec_text.replace(WORKLOAD, "trace: app.trace").replace("warmup: 200", "warmup: 0"))
    outcome = cxloom("run", spec, "--out", tmp_path / "results")
    assert outcome.code == 2, outcome.err
    for each in words:
        assert each in outcome.err
    assert not (tmp_path / "results").exists()


def test_a_truncated_trace_is_refused(spec_text: str, tmp_path: Path, cxloom: Call) -> None:
    whole = Path(__file__).parents[2] / "examples" / "redis.parquet"
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:100_000])
    spec = tmp_path / "s.yaml"
    spec.write_text(spec_text.replace(WORKLOAD, "trace: cut.parquet"))
    outcome = cxloom("run", spec, "--out", tmp_path / "results")
    assert outcome.code == 2
    assert f"error: {spec}:12:" in outcome.err
    assert "cut.parquet" in outcome.err
    assert not (tmp_path / "results").exists()


def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, spec_file: Path, cxloom: Call
) -> None:
    (tmp_path / "file").write_text("x")
    for out, words in (
        (tmp_path / "file", "not a directory"),
        (tmp_path / "file" / "below", "cannot be written"),
    ):
        outcome = cxloom("run", spec_file, "--out", out)
        assert outcome.code == 2
        assert outcome.out == ""
        assert words in outcome.err
        assert str(out) in outcome.err
    outcome = cxloom("run", spec_file, "--out", "/proc/cxloom")
    assert outcome.code == 2
    assert (tmp_path / "file").read_text() == "x"


def test_a_directory_with_other_peoples_files_of_our_names_is_refused(
    tmp_path: Path, spec_text: str, cxloom: Call
) -> None:
    spec = tmp_path / "spec.yaml"  # a name that a result has too
    spec.write_text(spec_text)
    outcome = cxloom("run", spec, "--out", tmp_path)
    assert outcome.code == 2
    assert "holds a file 'spec.yaml'" in outcome.err
    assert spec.read_text() == spec_text
    assert sorted(os.listdir(tmp_path)) == ["spec.yaml"]
