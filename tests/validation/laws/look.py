"""What a law can look at: the run, its spec, the rows of its requests."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from validation.systems import LINE, PERSIST_SEGMENTS, SEGMENTS, Run, Spec
from validation.unloaded import bytes_of

from cxloom import _core

Array = NDArray[Any]
HUBS = ("bus", "switch", "root-port")


class Look:
    """A finished run, and sums over it that many laws use."""

    def __init__(self, outcome: Run) -> None:
        self.outcome = outcome
        self.spec: Spec = outcome.spec
        self.summary: Spec = outcome.summary
        self.all_rows = outcome.requests
        """The rows of all requests, also of those answered without data."""
        self.wrong = self.all_rows["error"].astype(bool)
        """The rows of these."""
        self.rows = {name: column[~self.wrong] for name, column in self.all_rows.items()}
        """The rows of requests answered with data: all means, percentiles and bandwidths are of these."""
        self.length = float(outcome.summary["simulated_time_ns"])
        self.path: tuple[str, ...] = ()
        self.decisive = False

    # --- What a law says ---

    def equal(self, value: Any, expected: Any, rel: float = 1e-9, abs: float = 1e-9) -> None:
        """The value is this."""
        self.decisive = True
        if isinstance(expected, float | np.floating):
            expected = pytest.approx(float(expected), rel=rel, abs=abs)
        assert value == expected, ".".join(self.path)

    def within(self, value: float, low: float, high: float = float("inf")) -> None:
        """The value lies between these."""
        slack = 1e-9 * (1 + max(abs(low), abs(value)))
        assert low - slack <= value <= high + slack, (".".join(self.path), low, value, high)

    # --- What kind of run it is ---

    def device(self, name: str) -> Spec:
        """A device of the spec."""
        device: Spec = self.spec["devices"][name]
        return device

    @cached_property
    def whole(self) -> bool:
        """The window is the whole run: one requester, from its first request to its last answer."""
        return len(self.spec["workload"]) == 1 and self.spec["run"]["warmup"] == 0

    @cached_property
    def copied(self) -> int:
        """Lines of pages that moved from memory to memory, in the whole run."""
        return self._lines_moved(cached=False)

    @cached_property
    def copied_in_caches(self) -> int:
        """Those that went through a cache: some of them it had, and a write of a line may read it first."""
        return self._lines_moved(cached=True)

    def _lines_moved(self, cached: bool) -> int:
        return sum(
            self.page_lines(name) * each.get("pages_moved", 0)
            for name, each in self.summary["per_requester"].items()
            if ("cache" in self.device(name)) == cached
        )

    def page_lines(self, name: str) -> int:
        """Lines of a page of a requester's program."""
        return bytes_of(self.spec["workload"][name].get("page", "4KiB")) // LINE

    @cached_property
    def copied_late(self) -> int:
        """Those that may have been copied outside of the window: a page goes on moving when the work is over."""
        to_the_end = self.whole and self.outcome.end_ns <= self.length * (1 + 1e-9)
        return 0 if to_the_end else self.copied

    @cached_property
    def given_up(self) -> int:
        """Lines at most of pages that stayed, of which some had been copied when another was answered with an error."""
        if not self.summary["errors"]["requests"] and not self.spec.get("events"):
            return 0
        return sum(
            self.page_lines(name) * each.get("pages_not_moved", 0)
            for name, each in self.summary["per_requester"].items()
        )

    @cached_property
    def exact(self) -> bool:
        """All messages are those of the rows: whole, and no write-backs, prefetches, failures, I/O or atomics."""
        cached_writes = any(
            "cache" in self.device(name) and work.get("reads", 1.0) < 1
            for name, work in self.spec["workload"].items()
        )
        besides = (
            cached_writes
            or self.buffers
            or self.summary["per_io"]
            or self.summary["errors"]["requests"]
            or self.atomics
        )
        return (
            self.whole
            and not besides
            and not self.prefetching
            and not self.copied
            and not self.copied_in_caches
        )

    @cached_property
    def buffers(self) -> bool:
        """Some switch has a persist buffer."""
        return any("persist_buffer" in device for device in self.spec["devices"].values())

    @cached_property
    def buffered(self) -> Array:
        """The requests that a persist buffer answered."""
        if not self.buffers:
            return np.zeros(len(self.rows["id"]), dtype=bool)
        return np.asarray((self.rows["persist_buffer_ps"] > 0) & (self.rows["controller_ps"] == 0))

    @cached_property
    def prefetching(self) -> list[str]:
        """The requesters whose caches ask for lines ahead of their use."""

        def kind(prefetch: Any) -> str:
            return prefetch if isinstance(prefetch, str) else str(prefetch["kind"])

        return [
            name
            for name in self.spec["workload"]
            if kind(self.device(name).get("cache", {}).get("prefetch", "none")) != "none"
        ]

    @cached_property
    def atomics(self) -> bool:
        """Somebody makes atomic operations."""
        return any(work.get("atomics") for work in self.spec["workload"].values())

    def link(self, name: str) -> Spec:
        """A link of the spec by its name in the result."""
        index = list(self.summary["per_link"]).index(name)
        link: Spec = self.spec["links"][index]
        return link

    @cached_property
    def _described(self) -> Spec:
        anything = {
            "pattern": "random",
            "requests": 1,
            "footprint": "4KiB",
        }  # for traces, which are elsewhere
        work = {name: anything if "trace" in work else work for name, work in self.spec["workload"].items()}
        description: Spec = _core.check({**self.spec, "workload": work})
        return description

    def ns_per_byte(self, link: str, way: str) -> float:
        """Nanoseconds a byte takes in one direction of a link; 0 if it has no limit."""
        index = list(self.summary["per_link"]).index(link)
        [end] = [end for end in self._described["links"][index]["ends"] if end["name"] == way]
        return ns_per_byte(end["bandwidth"])

    # --- Sums over what it measured ---

    @cached_property
    def ways(self) -> list[tuple[str, str, Spec]]:
        """Sender, receiver and measures of every direction of every link."""
        return [
            (*name.split("->"), measures)  # type: ignore[misc]
            for link in self.summary["per_link"].values()
            for name, measures in link.items()
        ]

    def leaving(self, node: str, key: str) -> float:
        """The sum of a measure over the directions that leave a node."""
        return float(sum(measures[key] for sender, _, measures in self.ways if sender == node))

    def entering(self, node: str, key: str) -> float:
        """The sum of a measure over the directions that lead to a node."""
        return float(sum(measures[key] for _, receiver, measures in self.ways if receiver == node))

    def over(self, part: str, key: str) -> float:
        """The sum of a measure over all components of a part of the summary."""
        return float(sum(measures.get(key, 0) for measures in self.summary[part].values()))

    # --- The rows ---

    def ns(self, *segments: str, of: Array | None = None) -> float:
        """The sum of segments over requests, those of a mask or all, in ns."""
        total = sum(self.rows[f"{segment}_ps"][... if of is None else of].sum() for segment in segments)
        return float(total) / 1000

    @cached_property
    def latency(self) -> Array:
        """The latency of each request, in ns."""
        return (self.rows["completed_ps"] - self.rows["created_ps"]) / 1000

    @cached_property
    def served(self) -> Array:
        """The requests that a memory served."""
        return self.rows["controller_ps"] > 0 if self.controllers_take_time else self.rows["media_ps"] >= 0

    @cached_property
    def controllers_take_time(self) -> bool:
        """So that a row tells whether its request has been with one."""
        owners = [
            d.get("memory", d)
            for d in self.spec["devices"].values()
            if d["kind"] == "memory" or "memory" in d
        ]
        return all(owner.get("controller_time") not in ("0ns", "0ps") for owner in owners)

    @cached_property
    def cached(self) -> Array:
        """The requests of requesters with a cache."""
        nodes = [
            self.outcome.nodes.index(n) for n, device in self.spec["devices"].items() if "cache" in device
        ]
        return np.isin(self.rows["requester"], nodes)

    @cached_property
    def size(self) -> Array:
        """What each request moved if a memory served it: a line behind a cache, or the bytes of an atomic operation."""
        return np.where(self.cached & ~self.made, LINE, self.rows["size"])

    @cached_property
    def made(self) -> Array:
        """The atomic operations that a memory made."""
        near = [
            self.outcome.nodes.index(n)
            for n, device in self.spec["devices"].items()
            if "cache" in device and device.get("atomics", "cache") == "cache"
        ]
        return (self.rows["kind"] == 2) & self.served & ~np.isin(self.rows["requester"], near)

    @cached_property
    def memory_reads(self) -> Array:
        """The requests that read memory: behind a cache all, but for atomic operations of the memory."""
        return (self.cached | (self.rows["kind"] == 0)) & ~self.made

    @cached_property
    def payload(self) -> int | None:
        """The payload of every message with data, if they have one in common."""
        sizes = {
            LINE if "cache" in self.device(name) else int(work.get("size", "64B").removesuffix("B"))
            for name, work in self.spec["workload"].items()
        }
        return sizes.pop() if len(sizes) == 1 and not self.summary["per_io"] and not self.atomics else None

    def all_of(self, column: str, name: str) -> Array:
        """The rows, of all, whose requester or target this is."""
        return np.asarray(self.all_rows[column] == self.outcome.nodes.index(name))

    def of(self, column: str, name: str) -> Array:
        """The requests whose requester or target this is."""
        return np.asarray(self.rows[column] == self.outcome.nodes.index(name))

    def commands(self, memory: str, *names: str) -> int:
        """DRAM commands of a memory in the window, of these names."""
        table, known = self.outcome.commands, list(_core.Simulation.command_names())
        wanted = [i for i, name in enumerate(known) if name in names]
        own = table["memory"] == self.outcome.nodes.index(memory)
        return int((own & (table["part"] == 1) & np.isin(table["command"], wanted)).sum())

    def check_errors(self, value: Any, of: Array, precision: float, keys: tuple[str, ...]) -> None:
        """A count or latency of requests answered without data, of those in a mask over all rows."""
        rows = self.all_rows
        latency = (rows["completed_ps"] - rows["created_ps"])[of & self.wrong] / 1000
        if keys == ("requests",):
            self.equal(value, len(latency))
        else:
            self.check_values(value, latency, precision, keys[-1])

    def check_latency(self, value: Spec, of: Array, precision: float, key: str) -> None:
        """One key of a latency, over the requests of a mask."""
        self.check_values(value, self.latency[of], precision, key)

    def check_values(self, value: Any, latency: Array, precision: float, key: str) -> None:
        """One key of the distribution of these latencies."""
        latency = np.sort(latency)
        if not len(latency):
            self.equal(value, None)
        elif key in ("mean", "min", "max"):
            self.equal(value, float(getattr(latency, key)()))
        else:
            share = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}[key]
            exact = latency[max(int(np.ceil(share * len(latency) - 1e-9)) - 1, 0)]
            self.equal(value, float(exact), rel=precision, abs=0.001)

    def check_breakdown(self, value: float | None, of: Array, segment: str) -> None:
        """The mean of a segment over the requests of a mask."""
        assert segment in SEGMENTS or (self.buffers and segment in PERSIST_SEGMENTS)
        count = int(of.sum())
        self.equal(value, self.ns(segment, of=of) / count if count else None)

    def check_levels(self, measures: Spec, mean: str, *quantiles: str) -> None:
        """Mean, percentiles and largest height of one level over time bound each other.

        Heights from 16 on are told to one part in eight.
        """
        *heights, top = (measures[key] for key in quantiles)
        assert [*heights, top] == sorted([*heights, top]), self.path
        shares = [_SHARES[key.rsplit("_", 1)[1]] for key in quantiles[:-1]]
        # At least so long the level is at each height or above, and at most so long above it.
        low = max(
            ((1 - share) * 0.93 * height for share, height in zip(shares, heights, strict=True)), default=0.0
        )
        high, below = 0.0, 0.0
        for share, height in zip(shares, heights, strict=True):
            high, below = high + (share - below) * 1.07 * height, share
        self.within(measures[mean], low, high + (1 - below) * top)


_SHARES = {"p50": 0.5, "p99": 0.99}


def ns_per_byte(text: str) -> float:
    """Nanoseconds a byte takes at a bandwidth as a spec says it; 0 if it has no limit."""
    if text == "unlimited":
        return 0.0
    for unit, scale in (
        ("TB/s", 1e3),
        ("GB/s", 1.0),
        ("MB/s", 1e-3),
        ("kB/s", 1e-6),
        ("KB/s", 1e-6),
        ("B/s", 1e-9),
    ):
        if text.endswith(unit):
            return 1.0 / (float(text.removesuffix(unit)) * scale)
    raise AssertionError(text)
