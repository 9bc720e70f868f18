"""A persist buffer step by step, by the rules of docs/model/persist.md alone: closed loops of persists of lines that
never come twice, and one host that reads and persists lines drawn from few.

Studies and tests take from here what has no closed form.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

T = 1.173
"""Tag and data time: what the controller takes for a write, or for a read that it answers; nanoseconds."""
PERSIST = 151.173
"""A persist that waits for nothing, and a read that the buffer answers, over one switch."""
MISS = 390.0
"""A read that memory answers, over one switch."""


def thresholds(entries: int) -> tuple[int, int]:
    """More Dirty entries than the first begin a batch, which leaves the second: 80 % and 60 %, rounded down."""
    return entries * 4 // 5, entries * 3 // 5


def forwarded(
    at_a_time: int, entries: int, drain: float, persists: int = 20_000, warmup: int = 2000
) -> float:
    """Persists per nanosecond, `at_a_time` of them, each followed by the next, of lines that never come twice, through
    a buffer that forwards. `drain` is the time from the beginning of a drain to its answer."""
    most, least = thresholds(entries)
    comes = [0.0] * at_a_time
    ends: list[float] = []  # of drains
    dirty, empty, free, begun = 0, entries, 0.0, 0.0
    for number in range(persists):
        now = max(heapq.heappop(comes), free)
        while ends and ends[0] <= now:
            heapq.heappop(ends)
            empty += 1
        if empty == 0:
            if dirty > 0:
                dirty -= 1
                heapq.heappush(ends, now + drain)
            now = heapq.heappop(ends)
            empty += 1
        empty -= 1
        dirty += 1
        free = now + T
        if dirty > most:
            for _ in range(dirty - least):
                heapq.heappush(ends, free + drain)
            dirty = least
        if number == warmup:
            begun = now
        heapq.heappush(comes, now + PERSIST)
    return (persists - 1 - warmup) / (now - begun)


@dataclass(frozen=True, slots=True)
class Shares:
    """What became of accesses at the buffer."""

    coalesced: float
    """The share of persists."""
    read_hits: float
    """The share of reads that came to the buffer."""


class _Lines:
    """The lines that a buffer has, while accesses are made one at a time: there is always an Empty entry."""

    def __init__(self, entries: int, drain: float, *, forward: bool) -> None:
        self.most, self.least = thresholds(entries)
        self.drain = drain
        self.forward = forward
        self.dirty: dict[int, None] = {}  # least recently used first
        self.until: dict[int, float] = {}  # in Drain until then

    def _end_drains(self, now: float) -> None:
        for line, end in list(self.until.items()):
            if end > now:
                continue
            del self.until[line]
            if line in self.dirty and not self.forward:  # its second entry drains at once
                del self.dirty[line]
                if end + self.drain > now:
                    self.until[line] = end + self.drain

    def read(self, line: int, now: float) -> bool:
        """Whether it is answered here."""
        self._end_drains(now)
        if line in self.dirty:
            self.dirty[line] = self.dirty.pop(line)
        return line in self.dirty or line in self.until

    def persist(self, line: int, now: float) -> bool:
        """Whether it coalesces."""
        self._end_drains(now)
        found = line in self.dirty
        self.dirty.pop(line, None)
        if not self.forward and not found and line not in self.until:
            self.until[line] = now + T + self.drain
            return False
        self.dirty[line] = None
        if self.forward and len(self.dirty) > self.most:
            for old in [each for each in self.dirty if each not in self.until][
                : len(self.dirty) - self.least
            ]:
                del self.dirty[old]
                self.until[old] = now + T + self.drain
        return found


def random_lines(
    lines: int, *, forward: bool, cache: str = "none", accesses: int = 400_000, entries: int = 16
) -> Shares:
    """Half reads, half persists of lines drawn from `lines`, one at a time, with a drain of 380 ns. `cache` of the
    host: "none", or one that holds all lines, of which a flush "drop"s or "keep"s them. A persist reads its line first
    if the cache does not have it."""
    draw = random.Random(1)
    buffer = _Lines(entries, 380.0, forward=forward)
    cached: set[int] = set()
    look_up = 0.0 if cache == "none" else 12.0
    now = 0.0
    warmup = 20 * lines
    persists = coalesced = reads = hits = 0
    for number in range(accesses + warmup):
        line = draw.randrange(lines)
        is_read = draw.random() < 0.5
        counts = number >= warmup
        if line in cached:
            now += 10.0 + look_up
        elif is_read or cache != "none":
            hit = buffer.read(line, now)
            reads += counts
            hits += counts and hit
            now += look_up + (PERSIST if hit else MISS)
        if cache != "none":
            cached.add(line)
        if not is_read:
            found = buffer.persist(line, now)
            persists += counts
            coalesced += counts and found
            now += look_up + PERSIST
            if cache == "drop":
                cached.discard(line)
    return Shares(coalesced / persists, hits / reads if reads else 0.0)
