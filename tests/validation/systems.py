"""Systems under test as plain specs, and running them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cxloom import _core

Spec = dict[str, Any]
LINE = 64

PERSIST_SEGMENTS = ["persist_queue", "persist_buffer"]
"""Those that only systems with persist buffers have."""

SEGMENTS = [
    segment["name"] for segment in _core.declarations()["segments"] if segment["name"] not in PERSIST_SEGMENTS
]


@dataclass
class Run:
    """A finished run: its summary, the rows it kept, and when its last event was."""

    summary: Spec
    requests: dict[str, np.ndarray]
    series: dict[str, np.ndarray]
    commands: dict[str, np.ndarray]
    nodes: list[str]
    links: list[str]
    sampled: list[str]
    end_ns: float
    expected: int
    completed: int
    spec: Spec = field(repr=False)
    protocol: tuple[dict[str, np.ndarray], list[str]] = field(repr=False)
    """The rows of its log, and the states that they count."""

    @property
    def bandwidth(self) -> float:
        """Payload in bytes per nanosecond."""
        return float(self.summary["bandwidth_gb_per_s"])

    @property
    def rate(self) -> float:
        """Requests per nanosecond."""
        return float(self.summary["requests"] / self.summary["simulated_time_ns"])

    @property
    def latency(self) -> float:
        """Mean latency, ns."""
        return float(self.summary["latency_ns"]["mean"])

    def segment(self, name: str) -> float:
        """Mean of one segment of the latency, ns."""
        return float(self.summary["breakdown_ns"].get(name, 0.0))

    def directions(self) -> dict[str, Spec]:
        """The measures of every direction of every link, by `from->to`."""
        return {way: m for link in self.summary["per_link"].values() for way, m in link.items()}

    @property
    def tables(self) -> tuple[dict[str, np.ndarray], ...]:
        """What it recorded."""
        return self.requests, self.series, self.commands

    def canonical(self) -> bytes:
        """Everything that two equal runs must have in common, as bytes."""
        text = json.dumps([self.summary, self.nodes, self.links], sort_keys=True).encode()
        tables = [table[key].tobytes() for table in self.tables for key in sorted(table)]
        return b"\0".join([text, *tables])


def run(spec: Spec, feeds: Mapping[str, Any] | None = None, slice_events: int = 1_000_000) -> Run:
    """Plays `spec` to its end."""
    return finished(_core.Simulation(spec, dict(feeds or {})), spec, slice_events)


def logged(spec: Spec, feeds: Mapping[str, Any] | None = None) -> Run:
    """Plays `spec` to its end, with a log of its messages."""
    simulation = _core.Simulation(spec, dict(feeds or {}))
    simulation.log_protocol([])
    return finished(simulation, spec)


def finished(simulation: _core.Simulation, spec: Spec, slice_events: int = 1_000_000) -> Run:
    """Plays a simulation of `spec` to its end."""
    while not simulation.advance(slice_events):
        pass
    progress = simulation.progress()
    return Run(
        summary=simulation.summary(),
        requests=simulation.take_requests(),
        series=simulation.take_series(),
        commands=simulation.take_commands(),
        nodes=list(simulation.node_names()),
        links=list(simulation.link_names()),
        sampled=list(simulation.probe_names()),
        end_ns=progress["time_ns"],
        expected=-1 if progress["expected"] is None else progress["expected"],
        completed=progress["completed"],
        spec=spec,
        protocol=simulation.take_protocol(),
    )


def changed(spec: Spec, *changes: tuple[str, Any]) -> Spec:
    """A copy of `spec` with values set by path: `("links.0.credits", 4)`. A value of `...` removes the key."""
    result = copy.deepcopy(spec)
    for path, value in changes:
        *parents, last = path.split(".")
        at: Any = result
        for key in parents:
            at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
        if value is ...:
            at.pop(last, None)
        elif isinstance(at, list):
            at[int(last)] = copy.deepcopy(value)
        else:
            at[last] = copy.deepcopy(value)
    return result


FREE = {"header": "0B", "data_header": "0B"}


def host_and_memory(
    link: Spec | None = None,
    memory: Spec | None = None,
    host: Spec | None = None,
    work: Spec | None = None,
    **run_params: Any,
) -> Spec:
    """One host linked to one memory."""
    return {
        "devices": {
            "host": {"kind": "host", **(host or {})},
            "mem": {"kind": "memory", "capacity": "16GiB", **(memory or {})},
        },
        "links": [{"between": ["host", "mem"], **(link or {})}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "requests": 1000, **(work or {})}},
        "run": run_params,
    }


def host_bus_memories(
    bus: Spec | None = None,
    memories: int = 4,
    host: Spec | None = None,
    work: Spec | None = None,
    **run_params: Any,
) -> Spec:
    """One host, a bus, memories: the validation system of ESF."""
    names = [f"mem{i}" for i in range(memories)]
    return {
        "devices": {
            "host": {"kind": "host", **(host or {})},
            "bus": {"kind": "bus", **(bus or {})},
            **{name: {"kind": "memory"} for name in names},
        },
        "links": [
            {"between": ["host", "bus"], "port_delay": "25ns"},
            *({"between": ["bus", n]} for n in names),
        ],
        "address_map": [{"to": names}],
        "workload": {"host": {"pattern": "random", "requests": 1000, **(work or {})}},
        "run": run_params,
    }


def generated(kind: str, /, work: Spec | None = None, run_params: Spec | None = None, **params: Any) -> Spec:
    """A generated topology in which every requester has the same work."""
    parts = _core.expand_topology({"kind": kind, **params})
    parts["links"] = list(parts["links"])
    hosts = [name for name in parts["devices"] if name.startswith("host")]
    return {
        **parts,
        "workload": {host: {"pattern": "random", "requests": 1000, **(work or {})} for host in hosts},
        "run": run_params or {},
    }


def feed(addresses: Iterable[int], **columns: Any) -> Callable[[], Spec | None]:
    """A trace for `feeds`: these addresses, in one batch. Other columns are a value for all or one each."""
    at = np.asarray(list(addresses), dtype=np.uint64)
    defaults = {
        "kind": (0, np.uint8),
        "size": (LINE, np.uint16),
        "thread": (0, np.uint32),
        "instruction_gap": (0, np.uint32),
        "dependence": (0, np.uint32),
        "timestamp": (-1, np.int64),
        "role": (0, np.uint8),
        "cycles": (0, np.uint32),
        "dependence_cycles": (0, np.uint16),
    }
    batch: Spec = {"address": at}
    for name, (value, dtype) in defaults.items():
        batch[name] = np.broadcast_to(np.asarray(columns.get(name, value), dtype=dtype), at.shape).copy()
    batches = iter([batch])
    return lambda: next(batches, None)


WORK = {"requests": 2000, "reads": 0.5, "footprint": "1MiB"}


def rows(spec: Spec) -> Spec:
    """The same, with a row for each request."""
    return changed(spec, ("outputs.requests", True))


def direct(**more: Any) -> Spec:
    """A host and a memory."""
    work = {**WORK, **more.get("work", {})}
    return rows(host_and_memory(more.get("link"), more.get("memory"), more.get("host"), work))
