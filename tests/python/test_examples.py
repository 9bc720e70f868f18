"""The examples and the shipped presets work as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cxloom as cx
from cxloom.spec import presets

EXAMPLES = Path(__file__).parents[2] / "examples"


PLAYED = "demo.yaml"
"""`cxloom demo` plays this one: test_cli.py."""


def advises_a_longer_warm_up(result: cx.Result) -> bool:
    """Whether the run was not stationary, and nothing in its spec says why. What is shipped is warm when measured."""
    return any("a longer run.warmup may let it settle" in str(note) for note in result["notes"])


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.yaml") if path.name != PLAYED))
def test_a_spec_runs(name: str) -> None:
    result = cx.run(EXAMPLES / name)
    assert result["completed"]
    assert result.count > 0
    assert not advises_a_longer_warm_up(result)


@pytest.mark.parametrize("name", presets.names())
def test_a_preset_runs(name: str) -> None:
    assert cx.run(cx.System(preset=name))["completed"]
    loaded = cx.run(cx.load(name))
    assert loaded["completed"]
    assert not advises_a_longer_warm_up(loaded)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_a_program_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_validation_preset_has_the_latency_of_its_parts() -> None:
    system = cx.load("esf/validation").set("devices.host.queue", 1)
    system.set("devices.bus.bandwidth", "unlimited").set("devices.mem[*].media.bandwidth", "unlimited")
    # Table III: 10 process, 4 x 25 ports, 2 x 1 bus, 40 controller; and the media's 45
    assert cx.run(system).latency.mean == pytest.approx(10 + 4 * 25 + 2 * 1 + 40 + 45)


def test_local_remote_and_cxl_memory_have_their_published_latencies() -> None:
    system = cx.load("memory/local-remote-cxl").set("devices.host.queue", 1)
    for phase in range(3):
        system.set(f"workload.host.phases[{phase}].reads", 1.0)
    memories = cx.run(system).per_memory
    for name, published in {"local": 114, "remote": 191, "cxl": 214}.items():
        assert memories[name]["requests"] == 4000
        assert memories[name].latency.mean == pytest.approx(published, rel=0.03)
