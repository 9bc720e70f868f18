"""Sampling of a long program: windows of it are simulated, and how well the time of the whole is known is said.

The records of a program, what misses the caches of its cores, are cut into periods. Of each period one
window, at a place that is drawn, is simulated in detail, behind records in detail that fill queues and rows
of the DRAM again, and in front of some that compete with its last ones as they did in the program. Of what is
skipped the caches of the cores have seen all, as they filter while the program runs, and the first access to
each page is made, so that pages get the frames that they would have got. Beginning and end of a program are
simulated as a whole, and so is a program that is not long, and what threads do side by side: who of them
comes first goes by the simulated time, which a sample does not have.

A stream of M windows takes the sum of what each takes: the time up to the last answer to one of its reads,
less that of the one before. Of this, b is the share of the instructions, which is known of all of the stream;
the rest, y, is estimated by the mean of those n windows that were simulated:

    T = sum of b + M mean(y),    var T = M^2 (1 - n/M) v / n,    v = sum over k of (y[k+1] - y[k])^2 / (2 (n - 1))

with v of successive differences, as windows of one period each follow the program's course (K. Wolter,
"Introduction to Variance Estimation", 2nd edition, 2007, section 8.2). Of a slowdown R = T2 / T1 the windows
are the same on both systems: v is that of y2 - R y1 (W. Cochran, "Sampling Techniques", 3rd edition, 1977,
section 6.3).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from cxloom.base.granules import PAGE
from cxloom.spec.parts import forgets, part_of
from cxloom.sweeping.interval import student_t
from cxloom.trace.format import ALL_BEFORE, CALL, GO_ON, TraceBatch, joined, reaches_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Parts: TypeAlias = "Iterator[dict[str, NDArray[Any]]]"
_GAP, _AROUND, _WINDOW, _WHOLE = range(4)
_ALONE = 0.95
"""A thread is alone that has so much of the records."""


@dataclass(frozen=True)
class Sampling:
    """How a long program is sampled. Numbers count records: misses, write-backs, and what threads report besides."""

    head: int = 500_000
    """From the start that are simulated as a whole."""
    period: int = 25_000
    window: int = 1_000
    """Records of each period that are simulated and measured."""
    warm_up: int = 2_000
    """In front of each window, simulated."""
    cool_down: int = 1_000
    """Behind each window, simulated: write-backs, and accesses that wait for nothing, overtake those before them
    that wait for an address or a miss register, as far as the window of the core and its store buffer reach.
    Without them the last answers of a window come too early, or too late because of what a sample has next. A core
    of 512 instructions has as many misses under way, and as many write-backs."""
    periods: int = 20
    """Below so many behind the head all is simulated."""
    seed: int = 1
    """The seed of the places of the windows."""


@dataclass(frozen=True)
class Piece:
    """Records that a simulation is given together."""

    kind: int
    cycles: int
    """Cycles of all threads in which nothing waits for memory."""


@dataclass(frozen=True)
class Interval:
    """A number that was estimated, and between which others it is with 95 % confidence."""

    value: float
    low: float
    high: float


class Sampler:
    """Chooses what of a program is simulated; :attr:`pieces` says what was given, piece by piece."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self._seen: set[int] = set()  # pages
        self._begun = 0  # number of the first record of the detailed run at hand
        self._number = 0
        self._last = _GAP
        self.pieces: list[Piece] = []
        self.records = 0
        """In all."""
        self.simulated = 0
        """Records that were given."""
        self.sampled = 0
        """Records of the periods of which windows were simulated."""
        self.sampled_cycles = 0
        self.cycles = 0
        """Cycles of all records."""
        self.side_by_side = 0
        """Records that were simulated as a whole because several threads ran at the same time."""
        self._records_of: Counter[int] = Counter()  # by thread
        self._timed_of: Counter[int] = Counter()  # of these, those that were given with their times
        self._mixture = _Mixture(sampling.period)

    def parts(self, batches: Iterable[TraceBatch], in_turn: Callable[[], None] = lambda: None) -> Parts:
        """What is simulated of the batches. ``in_turn`` is called where a batch is not given before the next one is
        taken, so that nobody can want the records of a certain thread."""
        import numpy as np

        random = np.random.default_rng(self.sampling.seed)
        stream = _Stream(iter(batches), in_turn)
        yield from self._head(stream)
        held: deque[TraceBatch] = deque()
        place: int | None = None  # of the window of the next period
        left = 0  # of the records behind the window before, those in the next period
        together = self._mixture.together
        while True:
            if together:
                yield from self._together(stream)
            chunk = stream.take(self.sampling.period)
            if chunk is None:
                break
            self._note(chunk)
            held.append(chunk)
            together = _Mixture(1).add(chunk)
            if together:
                if place is not None:
                    yield from self._period(held.popleft(), place, None, left)
                    place = None
                while held:
                    yield from self._given(_WHOLE, self._continued(held.popleft()))
                continue
            if place is None and len(held) <= self.sampling.periods:
                continue
            if place is None:
                place, left = self._drawn(random), 0
            while len(held) > 1:
                whole = len(held[1]) == self.sampling.period
                following = self._drawn(random) if whole else None
                yield from self._period(held.popleft(), place, following, left)
                left = self._left_behind(place)
                if following is None:
                    place = None
                    break
                place = following
        if place is not None:
            yield from self._period(held.popleft(), place, None, left)
        for chunk in held:
            yield from self._given(_WHOLE, self._continued(chunk))

    def weights(self) -> dict[int, float]:
        """How many records of each thread stand for one that was simulated with its time."""
        return {thread: self._records_of[thread] / count for thread, count in self._timed_of.items()}

    def _head(self, stream: _Stream) -> Parts:
        left = self.sampling.head
        while left > 0:
            batch = stream.next(left)
            if batch is None:
                return
            left -= len(batch)
            self._mixture.add(batch)
            self._note(batch)
            yield from self._given(_WHOLE, batch)

    def _together(self, stream: _Stream) -> Parts:
        """What threads do side by side, until one is alone; each batch before the next one is taken."""
        self._mixture.together = True
        while self._mixture.together:
            batch = stream.next(self.sampling.period)
            if batch is None:
                return
            self.side_by_side += len(batch)
            self._mixture.add(batch)
            self._note(batch)
            yield from self._given(_WHOLE, self._continued(batch))

    def _drawn(self, random: np.random.Generator) -> int:
        return int(random.integers(0, self.sampling.period - self.sampling.window + 1))

    def _left_behind(self, place: int) -> int:
        """The records behind a window that are in the next period."""
        return max(0, place + self.sampling.window + self.sampling.cool_down - self.sampling.period)

    def _note(self, batch: TraceBatch) -> None:
        import numpy as np

        self.records += len(batch)
        _count_threads(self._records_of, batch)
        self.cycles += int(batch.cycles.sum(dtype=np.uint64))

    def _first_touches(self, batch: TraceBatch) -> NDArray[np.int64]:
        """Places of the first accesses to pages."""
        import numpy as np

        reaches = np.flatnonzero(reaches_memory(batch.role))
        pages, places = np.unique(batch.address[reaches] // np.uint64(PAGE), return_index=True)
        new = [
            place
            for page, place in zip(pages.tolist(), places.tolist(), strict=True)
            if page not in self._seen
        ]
        self._seen.update(pages.tolist())
        return reaches[new]

    def _period(self, chunk: TraceBatch, place: int, following: int | None, left: int) -> Parts:
        """A period with its window, what is ``left`` behind the one before, and the warm-up of the next one's as far
        as it is in it; None: all that follows is simulated as a whole."""
        import numpy as np

        size, window, warm_up = len(chunk), self.sampling.window, self.sampling.warm_up
        kinds = np.full(size, _GAP)
        kinds[:left] = _AROUND
        kinds[max(0, place - warm_up) : place + window + self.sampling.cool_down] = _AROUND
        if following is None or following < warm_up:
            kinds[max(0, size + (following or 0) - warm_up) :] = _AROUND
        kinds[place : place + window] = _WINDOW
        self.sampled += size
        self.sampled_cycles += int(chunk.cycles.sum(dtype=np.uint64))
        kept = kinds != _GAP
        kept[self._first_touches(chunk)] = True
        kept |= (chunk.role == CALL) | (chunk.role == GO_ON)
        chunk = self._cut(chunk, kinds)
        edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), size]
        for start, stop in pairwise(edges):
            part = chunk.slice(start, stop)
            kind = int(kinds[start])
            if kind == _GAP:
                part = TraceBatch(*(column[kept[start:stop]] for column in part.columns().values()))
            yield from self._given(kind, part)

    def _cut(self, chunk: TraceBatch, kinds: NDArray[np.int64]) -> TraceBatch:
        """Dependences on what is not simulated, or was long ago, are none; between the windows no time passes."""
        import numpy as np

        detailed = kinds != _GAP
        before = np.concatenate([[self._last != _GAP], detailed[:-1]])
        numbers = self._number + np.arange(len(chunk))
        begins = np.where(detailed & ~before, numbers, -1)
        begins[0] = max(begins[0], self._begun)
        begun = np.maximum.accumulate(begins)
        needed = chunk.dependence.astype(np.int64)
        lost = (needed != ALL_BEFORE) & (~detailed | (needed > numbers - begun))
        columns = chunk.columns() | {
            "dependence": np.where(lost, 0, chunk.dependence).astype(np.uint32),
            "dependence_cycles": np.where(lost, 0, chunk.dependence_cycles).astype(np.uint16),
            "cycles": np.where(detailed, chunk.cycles, 0).astype(np.uint32),
            "instruction_gap": np.where(detailed, chunk.instruction_gap, 0).astype(np.uint32),
        }
        self._number += len(chunk)
        self._begun = int(begun[-1])
        self._last = int(kinds[-1])
        return TraceBatch(**columns)

    def _continued(self, chunk: TraceBatch) -> TraceBatch:
        """What is simulated as a whole, behind the head or behind a warm-up."""
        import numpy as np

        if self.sampled == 0:
            return chunk
        return self._cut(chunk, np.full(len(chunk), _WHOLE))

    def _given(self, kind: int, part: TraceBatch) -> Parts:
        import numpy as np

        if len(part) == 0:
            return
        if self.sampled == 0:
            self._first_touches(part)
            self._number += len(part)
            self._last = _WHOLE
        self.simulated += len(part)
        if kind != _GAP:
            _count_threads(self._timed_of, part)
        self.pieces.append(Piece(kind, int(part.cycles.sum(dtype=np.uint64))))
        yield part.columns()


def _count_threads(counts: Counter[int], batch: TraceBatch) -> None:
    import numpy as np

    threads, numbers = np.unique(batch.thread, return_counts=True)
    for thread, number in zip(threads.tolist(), numbers.tolist(), strict=True):
        counts[thread] += number


class _Stream:
    """Batches, of which as many records are taken as are wanted."""

    def __init__(self, batches: Iterator[TraceBatch], in_turn: Callable[[], None]) -> None:
        self._batches = batches
        self._in_turn = in_turn
        self._left: TraceBatch | None = None

    def next(self, most: int) -> TraceBatch | None:
        """The records at hand, or the next ones; None at the end."""
        batch = self._left
        while batch is None or len(batch) == 0:
            batch = next(self._batches, None)
            if batch is None:
                return None
        self._left = batch.slice(most, len(batch)) if len(batch) > most else None
        return batch.slice(0, most)

    def take(self, count: int) -> TraceBatch | None:
        """So many; fewer at the end, and None if there are none."""
        parts: list[TraceBatch] = []
        while count > 0:
            self._in_turn()
            part = self.next(count)
            if part is None:
                break
            parts.append(part)
            count -= len(part)
        return joined(parts) if parts else None


class _Mixture:
    """Whether several threads share the records, looked at whenever there are enough of them."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._counts: Counter[int] = Counter()
        self.together = False

    def add(self, batch: TraceBatch) -> bool:
        """More records."""
        _count_threads(self._counts, batch)
        total = self._counts.total()
        if total >= self._least:
            self.together = max(self._counts.values()) < _ALONE * total
            self._counts.clear()
        return self.together


class Timing:
    """What a system took for the pieces of a sampled program."""

    def __init__(self, sampler: Sampler, latest_ns: Sequence[float], end_ns: float, cycle_ns: float) -> None:
        """``latest_ns`` has of each piece when its last answer came, ``end_ns`` when the last thread ended."""
        # Each period with a simulated window is of one thread, or nearly so.
        share = cycle_ns
        self.windows = sampler.sampled / sampler.sampling.window
        """In the periods of which windows were simulated."""
        self.known_ns = share * sampler.sampled_cycles
        self.rest_ns: list[float] = []
        """The time that each simulated window took beyond its instructions."""
        at = 0.0
        for piece, latest in zip(sampler.pieces, latest_ns, strict=True):
            # Where nothing was answered nothing waited for memory.
            after = max(at, latest) if latest > 0 else at + share * piece.cycles
            if piece.kind == _WHOLE:
                self.known_ns += after - at
            elif piece.kind == _WINDOW:
                self.rest_ns.append(after - at - share * piece.cycles)
            at = after
        self.known_ns += end_ns - at

    def total_ns(self) -> float:
        """The estimate of the whole."""
        return self.known_ns + self.windows * sum(self.rest_ns) / len(self.rest_ns)

    def time(self) -> Interval:
        """The time of the whole program."""
        return _around(self.total_ns(), self._half(self.rest_ns))

    def slowdown(self, base: Timing) -> Interval:
        """This system's time / the other's, of the same pieces."""
        ratio = self.total_ns() / base.total_ns()
        differences = [b - ratio * a for a, b in zip(base.rest_ns, self.rest_ns, strict=True)]
        return _around(ratio, self._half(differences) / base.total_ns())

    def _half(self, values: Sequence[float]) -> float:
        return half_width(values, self.windows)


def half_width(values: Sequence[float], population: float) -> float:
    """Half of the interval of the sum of ``population`` numbers, of which ``values`` are a sample in their order."""
    count = len(values)
    if count < 2:
        return math.inf
    variance = sum((b - a) ** 2 for a, b in pairwise(values)) / (2 * (count - 1))
    left = max(0.0, 1 - count / population)
    return student_t(count - 1) * population * math.sqrt(left * variance / count)


def _around(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


def keeps_state(spec: Mapping[str, Any]) -> bool:
    """Whether what a program left in a system longer ago than a warm-up is matters to what comes: caches, flash."""
    return any(_remembers(spec, name) for name in spec["devices"])


def _remembers(spec: Mapping[str, Any], device: str) -> bool:
    if part_of(spec, device, "cache") is not None:
        return True
    memory = part_of(spec, device, "memory")
    if memory is None:  # of a memory whose kind declares no medium nothing is known
        return any(device in region["to"] for region in spec.get("address_map", ()))
    return not forgets(memory)
