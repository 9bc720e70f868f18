"""Results do not depend on how the work is divided: a queue of events for each partition, or one for the whole system.

Partitions are played in turns, each for a window as long as the least latency between them: what they send each other
lies in the windows to come. Requests, with all their segments, and the measures of devices and links are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validation.systems import changed
from validation.varied import VARIED

import cxloom as cx
from cxloom import _core
from cxloom.trace import open_trace

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(system: cx.System, divided: bool) -> dict[str, Any]:
    """The requests and measures of a system, and how many partitions it has."""
    resolved = system.resolve()
    feeds = {name: open_trace(workload.map()["trace"].text()) for name, workload in resolved.traces().items()}
    opened = {name: (reader.feed(), reader.length, reader.feed) for name, reader in feeds.items()}
    return _core.play_divided(resolved.lean(), opened, divided)


def assert_same(whole: dict[str, Any], divided: dict[str, Any]) -> None:
    """Divided or not, the outcome is the same."""
    assert len(whole["requests"]["id"]) > 0
    for name, column in whole["requests"].items():
        np.testing.assert_array_equal(divided["requests"][name], column, err_msg=name)
    assert divided["measures"] == whole["measures"]


@pytest.mark.parametrize(
    ("example", "partitions"), [("demo.yaml", 2), ("dram.yaml", 2), ("fabric.yaml", 22), ("system.yaml", 2)]
)
def test_examples(example: str, partitions: int) -> None:
    system = cx.load(EXAMPLES / example).set("run.warmup", 0).set("workload.host*.requests", 1500)
    divided = played(system, divided=True)
    assert divided["partitions"] == partitions
    assert_same(played(system, divided=False), divided)


@pytest.mark.parametrize("name", VARIED)
def test_varied_systems(name: str) -> None:
    spec = changed(VARIED[name], ("run.warmup", 0))
    outcomes = [_core.play_divided(spec, {}, divided) for divided in (False, True)]
    assert_same(*outcomes)


def test_posted_writes_leave_initiator_and_target_apart() -> None:
    """Nothing tells an I/O engine of its writes: it and their target may be played apart."""
    spec: dict[str, Any] = {
        "devices": {
            "host": {"kind": "host"},
            "nic": {"kind": "io-engine", "target": "mem", "rate": "2GB/s"},
            "sw": {"kind": "switch", "queueing": "voq"},
            "mem": {"kind": "memory", "capacity": "1GiB"},
        },
        "links": [
            {"between": [device, "sw"], "bandwidth": "8GB/s", "delay": "5ns", "credits": 8}
            for device in ("host", "nic", "mem")
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "footprint": "1MiB", "requests": 2000}},
    }
    whole, divided = (_core.play_divided(spec, {}, divided) for divided in (False, True))
    assert divided["partitions"] == 4
    assert_same(whole, divided)
