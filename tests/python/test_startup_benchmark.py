"""The inputs of benchmarks/startup.py: what `make bench` alone runs goes wrong where nobody sees it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cxloom as cx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
startup = pytest.importorskip("startup")


def test_writes_inputs_that_its_commands_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "ACCESSES", 100)
    startup.write_inputs(tmp_path)
    specs = {part for command in startup.COMMANDS.values() for part in command if part.endswith(".yaml")}
    assert specs == {"readme.yaml", "replay.yaml", "parquet.yaml", "switches.yaml"}
    for trace in ("replay.yaml", "parquet.yaml"):
        assert cx.run(cx.load(tmp_path / trace)).summary["requests"] == 100
    for spec in ("readme.yaml", "switches.yaml"):
        cx.load(tmp_path / spec)
