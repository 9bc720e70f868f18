"""Systems in which some or all requests take no time: no command divides by it, and none makes a rate of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

INSTANT = {"controller_time": "0ns", "media": {"kind": "fixed", "latency": "0ns"}}


def own_memory() -> dict[str, Any]:
    """An accelerator that uses its own memory, which answers at once."""
    return {
        "devices": {
            "acc": {"kind": "accelerator", "process_time": "0ns", "memory": {"capacity": "1MiB", **INSTANT}},
            "mem": {"kind": "memory"},
        },
        "links": [{"between": ["acc", "mem"]}],
        "address_map": [{"to": "acc"}],
        "workload": {"acc": {"pattern": "random", "footprint": "1KiB", "requests": 1000}},
    }


def cached(memory: dict[str, Any] | None = None, warmup: int = 1000) -> dict[str, Any]:
    """A host whose cache answers at once; behind it memory that may take time, and may not."""
    return {
        "devices": {
            "host": {
                "kind": "host",
                "process_time": "0ns",
                "cache": {"size": "4KiB", "access_time": "0ns"},
            },
            "mem": {"kind": "memory", **(memory or {})},
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "footprint": "1KiB", "requests": 1000}},
        "run": {"warmup": warmup},
    }


# With a warm-up of so many requests in flight the window has one miss, whose halves are 0 and more.
SYSTEMS = {
    "nothing takes time": own_memory(),
    "hits take none": cached(),
    "hits that were warmed up": cached(warmup=2000),
    "neither hits nor misses": cached(INSTANT),
}
COMMANDS = (
    ("run",),
    ("run", "--json"),
    ("explain", "--json", "--jobs", "1"),
    *(("measure", tool, "--json", "--jobs", "1") for tool in ("latency", "stream")),
)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_command_answers_in_finite_numbers(
    name: str, cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    spec = tmp_path / "system.yaml"
    spec.write_text(json.dumps(SYSTEMS[name]))
    for command, *options in COMMANDS:
        done = cxloom(command, spec, *options)
        assert done.code in (0, 1), done.err
        assert "Traceback" not in done.err
        assert not re.search(r"\b(inf|nan)\b", done.out), done.out
        if "--json" in options and done.code == 0:
            json.loads(done.out, parse_constant=pytest.fail)


def test_what_takes_no_time_has_no_bandwidth(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = tmp_path / "system.yaml"
    spec.write_text(json.dumps(own_memory()))
    notes = cx.run(str(spec)).summary["notes"]
    assert sum("the measured window has no length" in note for note in notes) == 1
    for tool in ("bandwidth", "stream"):
        done = cxloom("measure", spec, tool, "--jobs", 1)
        assert done.code == 1
        assert "no request that was measured takes any time" in done.err
    done = cxloom("explain", spec)
    assert done.code == 1
    assert "no request that was measured takes any time" in done.err


def test_completions_at_one_instant_may_have_taken_time(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    """64 requests in flight that never wait for each other complete together, and then the next 64."""
    spec = tmp_path / "system.yaml"
    lockstep = {
        "devices": {
            "host": {"kind": "host", "queue": 64, "process_time": "10ns"},
            "mem": {"kind": "memory", "media": {"kind": "fixed", "latency": "45ns"}},
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": 50, "footprint": "1MiB"}},
        "run": {"warmup": 64},
    }
    spec.write_text(json.dumps(lockstep))
    summary = cx.run(str(spec)).summary
    assert summary["simulated_time_ns"] == 0
    assert summary["latency_ns"]["mean"] > 45
    [note] = [each for each in summary["notes"] if "no length" in each]
    assert "completed at the instant at which it opened" in note
    assert "measure more requests" in note
    assert "takes time" not in note
    done = cxloom("explain", spec)
    assert done.code == 1
    assert "completed at the instant at which the window opened" in done.err
    assert "measure more requests" in done.err
    assert cxloom("explain", spec, "--jobs", 1, "--set", "workload.host.requests=5000").code == 0
    done = cxloom("energy", spec)
    assert done.code == 1
    assert "there is no power, as all requests that were measured completed at the instant" in done.err


def test_a_half_of_no_latency_is_no_base_of_a_percentage() -> None:
    notes = cx.run(cx.System.from_yaml(json.dumps(cached()))).summary["notes"]
    assert any("the mean latency of its first half is not 0 as that of the other" in note for note in notes)
