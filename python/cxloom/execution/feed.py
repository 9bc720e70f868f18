"""Plays the accesses of a program on several systems at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.execution.objects import ByRule
from cxloom.execution.placed_program import PlacedProgram
from cxloom.execution.result import Execution
from cxloom.execution.sampling import Sampler
from cxloom.results.threads import OF_PROGRAM, in_one_thread
from cxloom.system.simulation import errors_placed
from cxloom.trace.format import TraceBatch
from cxloom.trace.objects import Directory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cxloom.base.summary import Summary

Part: TypeAlias = "_core.Accesses | dict[str, NDArray[Any]]"
"""Some accesses, as the core or NumPy has them."""
_EVENTS = 50_000
"""The most events of a turn of a simulation."""
_FIRST_EVENTS, _TURNS = 500, 100
"""Turns have so many events at first, then a share of what was played: a short program has its course, too."""


def batch_of(part: Part) -> TraceBatch:
    """The part as columns of NumPy."""
    return TraceBatch(**part) if isinstance(part, dict) else TraceBatch(*part.columns())


class _Shared:
    """One stream of accesses for several simulations; what all have had is forgotten."""

    def __init__(
        self, source: Iterator[Part], consumers: int, want: Callable[[int], None] = lambda _thread: None
    ) -> None:
        """``want`` is called with the thread whose records the next part should have."""
        self._source = source
        self._want = want
        self.wanted = [0] * consumers
        """The thread whose records each waits for; 0: of any."""
        self._held: deque[Part] = deque()
        self._before = 0  # parts that are forgotten
        self.taken = [0] * consumers
        """Parts that each has had."""

    def next(self, consumer: int) -> Part | None:
        """The next part for one of them; None at the end."""
        place = self.taken[consumer] - self._before
        if place == len(self._held):
            self._want(self.wanted[consumer])
            part = next(self._source, None)
            if part is None:
                return None
            self._held.append(part)
        part = self._held[place]
        self.taken[consumer] += 1
        while min(self.taken) > self._before:
            self._held.popleft()
            self._before += 1
        return part


class _Feed:
    """The input of one of the simulations."""

    def __init__(
        self,
        shared: _Shared,
        number: int,
        placed: PlacedProgram,
        objects: Callable[[], Directory | None],
        frame: int,
    ) -> None:
        self._shared = shared
        self._number = number
        self._placed = placed
        self._objects = objects
        self._frame = frame
        self._by_rule: ByRule | None = None
        self.failure: InputError | None = None
        """The error of the program, and not of the system."""

    def __call__(self) -> Part | None:
        try:
            return self._next()
        except InputError as error:
            self.failure = error
            raise

    def _next(self) -> Part | None:
        part = self._shared.next(self._number)
        if part is None or not self._placed.rules:
            return part
        if self._by_rule is None:
            directory = self._objects()
            assert directory is not None
            self._by_rule = ByRule(self._placed.rules, directory, self._placed.fits, self._frame)
        return self._by_rule(batch_of(part)).columns()

    def want(self, thread: int) -> None:
        """The simulation cannot go on without what this thread does next."""
        self._shared.wanted[self._number] = thread


@contextmanager
def _errors_placed(placed: PlacedProgram, feed: _Feed) -> Iterator[None]:
    """Gives errors of the system their place in its spec; errors of the program have none there."""
    try:
        with errors_placed(placed.resolved):
            yield
    except InputError:
        failure, feed.failure = feed.failure, None  # whose frames hold the simulation, which holds the feed
        if failure is not None:
            raise failure from None
        raise


def play(
    placed: Sequence[PlacedProgram],
    parts: Iterator[Part],
    sampler: Sampler | None,
    want: Callable[[int], None] = lambda _thread: None,
    objects: Callable[[], Directory | None] = lambda: None,
    frame: int = 4096,
    past: Callable[[int, int], None] = lambda _done, _whole: None,
) -> tuple[tuple[Execution, list[float]], ...]:
    """Gives the parts to all systems, and says when each was answered if there is a sampler, which chooses of them.
    Those that have had the least go on first, so that little has to be held. ``past`` hears how many steps of how many
    were played of what flash has been through before.
    """
    chosen = parts if sampler is None else sampler.parts(map(batch_of, parts), lambda: want(0))
    shared = _Shared(chosen, len(placed), want)
    feeds = [_Feed(shared, number, each, objects, frame) for number, each in enumerate(placed)]
    simulations = []
    for each, feed in zip(placed, feeds, strict=True):
        with _errors_placed(each, feed):
            spec = each.resolved.lean()
            spec["run"] = {
                **spec.get("run", {}),
                "threads": 1,
            }  # what the program does next is told meanwhile
            simulations.append(_core.Simulation(spec, {each.host: feed}, sampler is not None))
            whole = left = simulations[-1].past_left()
            while left > 0:  # in slices: Ctrl-C is heard between them
                simulations[-1].play_past(_EVENTS)
                left = simulations[-1].past_left()
                past(whole - left, whole)
    running = set(range(len(simulations)))
    reached: list[list[tuple[float, int]]] = [[] for _ in simulations]
    played = [0] * len(simulations)
    while running:
        number = min(running, key=lambda each: (shared.taken[each], each))
        turn = min(_EVENTS, max(_FIRST_EVENTS, played[number] // _TURNS))
        played[number] += turn
        with _errors_placed(placed[number], feeds[number]):
            if simulations[number].advance(turn):
                running.remove(number)
        made = simulations[number].progress()
        reached[number].append((made["time_ns"], made["completed"]))
    return tuple(
        (
            Execution(each.name, _summary(simulation, each), each.host, each.pages, progress=tuple(points)),
            [] if sampler is None else simulation.batch_times(each.host),
        )
        for each, simulation, points in zip(placed, simulations, reached, strict=True)
    )


def _summary(simulation: _core.Simulation, placed: PlacedProgram) -> Summary:
    """The results of a simulation, and why it had one thread if its spec asks for more."""
    summary: Summary = simulation.summary()
    cost = in_one_thread(placed.resolved.threads(), OF_PROGRAM)
    if cost:
        summary["cost"] = cost
    return summary
