"""Estimates where caches are outside: each on its own, and as an access alone. What programs are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from embed_support import compiled, copied, resolved, run

SYSTEM: dict[str, Any] = {
    "devices": {
        "left": {"kind": "host", "external_cache": True},
        "right": {"kind": "host", "external_cache": True},
        "plain": {"kind": "host"},
        "switch": {"kind": "switch"},
        "pool": {"kind": "memory", "capacity": "1MiB", "dcoh": {"filter": {"entries": 4}}},
    },
    "links": [{"between": [name, "switch"]} for name in ("left", "right", "plain", "pool")],
    "address_map": [{"to": "pool", "coherence": "hdm-db"}],
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return compiled(Path(__file__).parent / "programs" / "idle.c", folder / "idle", copied(folder))


@pytest.mark.parametrize("test", ["estimates", "refused"])
def test_idle_systems(tmp_path: Path, cxloom: Callable[..., Any], program: Path, test: str) -> None:
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SYSTEM))
    spec = resolved(cxloom, tmp_path / "s.yaml", tmp_path / "s.json")
    spec.write_text(spec.read_text().replace('"pool"', '"pool.0"'))  # of a program that writes specs itself
    done = run(program, test, spec)
    assert done.returncode == 0, done.stdout + done.stderr
