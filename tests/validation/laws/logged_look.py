"""A look at a run with its protocol log.

The log tells when each message was sent and acted on, and in which part of the run the latter was. So what is counted
as a device acts is told exactly; what is counted as a message is sent is, but for those that are sent at the very ends
of the window.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from validation.laws.look import Array, Look
from validation.systems import Run, Spec
from validation.unloaded import bytes_of

from cxloom import _core

REQUESTS = {
    "MemRd",
    "MemRdData",
    "MemInv",
    "RdCurr",
    "RdShared",
    "RdAny",
    "RdOwn",
    "RdOwnNoData",
    "ItoMWr",
    "WrInv",
    "Atomic",
}
QUESTIONS = {"RdCurr", "RdShared", "RdOwnNoData"}
"""What an accelerator asks the host about its own memory (HDM-D); else they are requests."""
SNOOPS = {"BISnpCur", "BISnpData", "BISnpInv", "BISnpInvBlk", "SnpCur", "SnpData", "SnpInv"}
INVALIDATING = {"BISnpInv", "BISnpInvBlk", "SnpInv"}
"""Questions aside: homes count those that take lines from caches that they follow."""
LINES = {"MemData", "H2D-Data", "Cmp-S", "Cmp-E", "GO-S", "GO-E"}
"""What a line comes with."""
WINDOW = 1
SNP_INV = 3


class Snoop(NamedTuple):
    """A snoop and its answer."""

    home: str
    peer: str
    address: int
    lines: int
    invalidates: bool
    sent: int
    answered: int
    in_window: bool
    """The answer was taken in the window."""
    evicts: bool
    """So that another line could have the entry."""


class Message(NamedTuple):
    """A row of the log."""

    time: int
    sent: int
    source: str
    destination: str
    opcode: str
    address: int
    lines: int
    snp: int
    meta: int
    part: int
    before: str
    after: str


class LoggedLook(Look):
    """A run with its log."""

    def __init__(self, outcome: Run) -> None:
        super().__init__(outcome)
        columns, states = outcome.protocol
        opcodes, nodes = _core.Simulation.opcode_names(), outcome.nodes
        self.log = [
            Message(
                time,
                sent,
                nodes[a],
                nodes[b],
                opcodes[op],
                address,
                lines,
                snp,
                meta,
                part,
                states[i],
                states[j],
            )
            for time, sent, a, b, op, address, lines, snp, meta, part, i, j in zip(
                *(
                    columns[name].tolist()
                    for name in (
                        *("time_ps", "sent_ps", "source", "destination", "opcode"),
                        *("address", "lines", "snp", "meta"),
                        *("part", "before", "after"),
                    )
                ),
                strict=True,
            )
        ]

    @cached_property
    def to(self) -> dict[str, list[Message]]:
        """The rows of each destination."""
        to: dict[str, list[Message]] = defaultdict(list)
        for m in self.log:
            to[m.destination].append(m)
        return to

    # --- When ---

    @cached_property
    def opened(self) -> tuple[int, int]:
        """The window opened between these times."""
        length = round(self.length * 1000)
        times: dict[int, Any] = {part: [m.time for m in self.log if m.part == part] for part in range(3)}
        low = max([0, *times[0][-1:], *(time - length for time in times[WINDOW][-1:])])
        high = min(
            [*times[WINDOW][:1], *(time - length for time in times[2][:1]), *([0] if self.whole else [])],
            default=0,
        )
        return low, max(low, high)

    def sent_in_window(self, times: Any) -> tuple[int, int]:
        """How many of these times are in the window, at least and at most."""
        at: Array = np.asarray(list(times), dtype=np.int64)
        low, high = self.opened
        length = round(self.length * 1000)
        surely = (at > high) & (at < low + length)
        perhaps = (at >= low) & (at <= high + length)
        return int(surely.sum()), int(perhaps.sum())

    def counts_sent(self, value: int, times: Any) -> None:
        """The value is how many of these times are in the window."""
        low, high = self.sent_in_window(times)
        if low == high:
            self.equal(value, low)
        self.within(value, low, high)

    # --- What ---

    @cached_property
    def regions(self) -> list[tuple[int, Spec]]:
        """Each region with its end: they lie one behind the other."""
        ends: list[tuple[int, Spec]] = []
        for region in self.spec["address_map"]:
            devices = [self.device(name) for name in region["to"]]
            sizes = [bytes_of(device.get("memory", device)["capacity"]) for device in devices]
            ends.append((sum(sizes) + (ends[-1][0] if ends else 0), region))
        return ends

    def by_bias(self, m: Message) -> bool:
        """Whether a message is about a line that is kept coherent by bias."""
        return bool(next(of for end, of in self.regions if m.address < end)["coherence"] == "hdm-d")

    def is_snoop(self, m: Message) -> bool:
        """A snoop, or a question."""
        return m.opcode in SNOOPS or (m.opcode in QUESTIONS and self.by_bias(m))

    def is_request(self, m: Message) -> bool:
        """A request to a home."""
        return m.opcode in REQUESTS and not (m.opcode in QUESTIONS and self.by_bias(m))

    def has_bias(self, home: str | None) -> bool:
        """Whether this home, or any, keeps memory coherent by bias."""
        return any(
            "bias" in self.device(name).get("memory", {})
            for name in ([home] if home else self.summary["per_home"])
        )

    def requests(self, home: str) -> list[Message]:
        """The requests that a home took up in the window."""
        return [
            m
            for m in self.to[home]
            if m.part == WINDOW
            and (self.is_request(m) or (m.opcode in ("MemWr", "MemAtomic") and m.snp == SNP_INV))
        ]

    def lines_at(self, home: str) -> set[int]:
        """The lines that a home was asked for."""
        return {m.address // 64 for m in self.to[home] if self.is_request(m)}

    @cached_property
    def sent_snoops(self) -> list[Message]:
        """The rows of snoops."""
        return [m for m in self.log if self.is_snoop(m)]

    @cached_property
    def snoops(self) -> list[Snoop]:
        """All snoops, in the order of their answers. One at a time is under way for a line and a cache."""
        sent: dict[tuple[str, str, int], list[Message]] = defaultdict(list)
        answered: dict[tuple[str, str, int], list[Message]] = defaultdict(list)
        for m in self.log:
            if self.is_snoop(m):
                sent[m.source, m.destination, m.address].append(m)
            elif m.opcode.startswith(("BIRsp", "Rsp", "MemRdFwd")):
                answered[m.destination, m.source, m.address].append(m)
        assert {key: len(of) for key, of in sent.items()} == {key: len(of) for key, of in answered.items()}
        return [
            Snoop(
                *key,
                snoop.lines,
                snoop.opcode in INVALIDATING,
                snoop.sent,
                answer.time,
                answer.part == WINDOW,
                "+evict" in answer.before and snoop.opcode in SNOOPS,
            )
            for key, of in sent.items()
            for snoop, answer in zip(of, answered[key], strict=True)
        ]

    def snoops_of(self, home: str | None) -> list[Snoop]:
        """Those of a home, or of all."""
        return [snoop for snoop in self.snoops if home in (None, snoop.home)]

    def home(self, name: str) -> dict[str, Any]:
        """The parameters of a home."""
        device = self.device(name)
        memory = device.get("memory", {})
        params: dict[str, Any] = device.get("dcoh", device.get("home_agent", memory.get("bias", device)))
        return params
