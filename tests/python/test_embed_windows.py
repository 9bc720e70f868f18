"""Measured windows that a program begins beside a workload of the spec: they measure, and change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from embed_support import compiled, copied, resolved, run

SYSTEM: dict[str, Any] = {
    "devices": {
        "host": {"kind": "host"},
        "background": {"kind": "host"},
        "bus": {"kind": "bus"},
        "memory": {"kind": "memory", "capacity": "1GiB"},
    },
    "links": [
        {"between": ["host", "bus"], "bandwidth": "8GB/s"},
        {"between": ["background", "bus"], "bandwidth": "8GB/s"},
        {"between": ["bus", "memory"], "bandwidth": "8GB/s"},
    ],
    "address_map": [{"to": "memory"}],
    "workload": {"background": {"pattern": "sequential", "requests": 300}},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    source = Path(__file__).parent / "programs" / "windows.c"
    return compiled(source, folder / "windows", copied(folder))


@pytest.mark.parametrize("warmup", [{}, {"warmup": 40}, {"warmup_time": "700ns"}])
def test_windows_change_nothing(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, warmup: dict[str, Any]
) -> None:
    """The workload makes its 300 requests, and as many before them, whatever windows measure."""
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SYSTEM | {"run": warmup}))
    spec = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json")
    alone = run(program, 0, spec)
    assert alone.returncode == 0, alone.stdout[:2000]
    latencies, *_ = alone.stdout.split()
    whole = json.loads(alone.stdout.split("\n", 1)[1])
    for every in (200_000, 1_000_000, 10_000_000):
        done = run(program, every, spec)
        assert done.returncode == 0, done.stdout[:2000]
        figures, rest = done.stdout.split("\n", 1)
        numbers = figures.split()
        assert numbers[0] == latencies
        # Nothing is lost between windows, and 12 us have no gaps: the driven host may be given more at any time.
        assert float(numbers[1]) == 100
        assert float(numbers[2]) >= 300
        assert float(numbers[2]) == 300 or warmup
        assert float(numbers[3]) == pytest.approx(12_000)
        assert not any("of its trace" in note or "ended after" in note for note in json.loads(rest)["notes"])
    assert whole["per_requester"]["background"]["requests"] >= 290
