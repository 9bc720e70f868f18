"""Threads of one host: one with an access at a time beside others that want more than memory gives.

With cores their accesses share the queue in the order in which they are made (docs/model/core.md), without cores that
of the trace (docs/model/host.md).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from validation.systems import Run, Spec, feed, host_and_memory, run

PROBE = 99
"""The number of the thread."""
PROBES = 20
QUEUE, MSHRS = 64, 48
WIRE, LATENCY = 16.0, 200.0
LOADED = QUEUE * (64 + 16) / WIRE
"""The time of a full queue on the wire, ns."""
DEMAND, WRITE_BACK = 0, 2
"""Roles (AccessRole)."""
KINDS = {"reads": (0, DEMAND), "writes": (1, DEMAND), "write-backs": (1, WRITE_BACK)}


def work(others: str, threads: int, count: int, every: int) -> Run:
    """A chain of reads of one thread, one in so many accesses, and those of the others, which depend on nothing."""
    kind, role = KINDS[others]
    probe = np.arange(count) % every == 0
    spec: Spec = host_and_memory(
        {"bandwidth": f"{WIRE:g}GB/s", "delay": "50ns"},
        {"media": {"kind": "fixed", "latency": "50ns"}},
        {"queue": QUEUE, "core": {"mshrs": MSHRS}},
    )
    spec["workload"]["host"] = {"trace": "of threads"}
    spec["outputs"] = {"requests": True}
    lines = np.random.default_rng(1).integers(0, 1 << 24, count).astype(np.uint64) * 64
    columns = {
        "kind": np.where(probe, 0, kind),
        "role": np.where(probe, DEMAND, role),
        "thread": np.where(probe, PROBE, np.arange(count) % threads),
        "dependence": np.where(probe & (np.arange(count) > 0), every, 0),
        "instruction_gap": 1,
    }
    return run(spec, {"host": feed(lines, **columns)})


def longest_gap(outcome: Run) -> float:
    """Between two answers of the probe, ns: each waits for the one before."""
    rows = outcome.requests
    done = np.sort(rows["completed_ps"][rows["thread"] == PROBE])
    assert len(done) == PROBES
    return float(np.diff(done).max()) / 1000


@pytest.mark.parametrize("others", KINDS)
@pytest.mark.parametrize("threads", [1, 8])
def test_a_thread_waits_for_what_the_others_have_made(others: str, threads: int) -> None:
    """Accesses of their miss registers go before it, or the write-backs that have room; in longer runs no more."""
    made = QUEUE if others == "write-backs" else threads * MSHRS
    most = (math.ceil(made / QUEUE) + 1) * LOADED + LATENCY
    for every in (100, 400):
        assert longest_gap(work(others, threads, PROBES * every, every)) <= most


def test_threads_of_a_trace_without_cores_go_in_its_order() -> None:
    """A chain of every fifth access: each begins when the one before is answered, and four others with it."""
    spec: Spec = host_and_memory(
        {"delay": "50ns"}, {"media": {"kind": "fixed", "latency": "50ns"}}, {"queue": QUEUE}
    )
    spec["workload"]["host"] = {"trace": "of threads"}
    spec["outputs"] = {"requests": True}
    count = 5 * PROBES
    probe = np.arange(count) % 5 == 0
    outcome = run(
        spec,
        {
            "host": feed(
                range(0, 64 * count, 64),
                thread=np.where(probe, PROBE, 1),
                dependence=np.where(probe & (np.arange(count) > 0), 5, 0),
            )
        },
    )
    rows = outcome.requests
    took = (rows["completed_ps"] - rows["created_ps"]) / 1000
    assert took.min() == took.max()  # alone: nothing limits but the order
    assert longest_gap(outcome) == took[0]


def test_an_engine_that_gets_nothing_through_is_named() -> None:
    """A read of an engine that takes longer than the window, beside one whose reads end in it."""
    spec = host_and_memory(work={"requests": 20}, host={"queue": 1})
    spec["devices"]["sw"] = {"kind": "switch"}
    spec["devices"] |= {
        name: {"kind": "io-engine", "target": "mem", "traffic": "dma-read", "outstanding": 1}
        for name in ("near", "far")
    }
    spec["links"] = [{"between": [name, "sw"]} for name in ("host", "mem", "near")]
    spec["links"].append({"between": ["far", "sw"], "delay": "100us"})
    summary = run(spec).summary
    assert summary["per_io"]["near"]["packets"] > 0
    assert summary["per_io"]["far"]["packets"] == 0
    assert [note for note in summary["notes"] if "got nothing through" in note] == [
        "'far' got nothing through in the measured window: none of its CXL.io packets ended"
    ]
