"""Power that fails at instants of a run: what recovery finds, against what was said to be durable."""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from cxloom.base.errors import InputError
from cxloom.running.run import Progress as RunProgress
from cxloom.running.run import play_past
from cxloom.spec.override import Override
from cxloom.spec.parts import has_persistent_memory
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import build, errors_placed, open_feeds

if TYPE_CHECKING:
    from cxloom import _core
    from cxloom.system.system import System

_SLICE = 100_000
"""Events of a run at a time."""

CUTS = 1
"""How often the power fails again during a recovery, one after the other, unless somebody says."""


@dataclass(frozen=True, slots=True)
class LostLine:
    """A line recovered to a version older than one acknowledged."""

    address: int
    recovered_version: int
    """The version in memory: its n-th write; 0 is what was there at first."""
    needed_version: int
    """The version that stands against it."""
    rule: Literal["answered", "read"]
    """Why: the write of the needed version was answered, or a read had brought it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a history."""

    device: str
    kind: str
    """read, write, atomic or flush."""
    address: int
    size: int
    fence: bool
    """Whether a request waits for all requests of its device before it."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happened to a line."""

    time_ns: float
    device: str
    does: str
    """reads, writes, gets (a read's answer), is answered for (a write); of a buffer holds (Dirty), drains (Drain) and
    releases (Empty); of a memory stores."""
    address: int
    version: int


@dataclass(frozen=True)
class History:
    """The shortest history that shows a loss: without any one of its requests nothing is lost."""

    requests: tuple[Request, ...]
    steps: tuple[Step, ...]
    lost_at_ns: float
    """The first instant at which lines are lost."""
    lines: tuple[LostLine, ...]
    """The lines that are lost then."""
    of_requests: int
    """How many requests the run had made when the loss was seen."""
    runs: int
    """Runs that the search took."""
    shortest: bool
    """False: the search was ended."""

    def to_json(self) -> dict[str, Any]:
        """Its fields as plain values."""
        return {
            "requests": [asdict(each) for each in self.requests],
            "steps": [asdict(each) for each in self.steps],
            "lost_at_ns": self.lost_at_ns,
            "lost_lines": [asdict(each) for each in self.lines],
            "of_requests": self.of_requests,
            "runs": self.runs,
            "shortest": self.shortest,
        }


@dataclass(frozen=True)
class Crashes:
    """The findings at all instants that were looked at."""

    instants: int
    """How many there were."""
    lost_instants: int
    """Instants at which lines were lost."""
    first_ns: float | None
    """The first of these; None: nothing was lost."""
    lines: tuple[LostLine, ...]
    """The lines that were lost then."""
    most_lines: int
    """The most lines that were lost at one instant."""
    cuts: int
    """How often in a row power failed again during recovery, at most."""
    recoveries: int
    """Recoveries that were begun, at all instants."""
    longest_recovery_ns: float
    """The longest time from the first drain to the last answer."""
    other_ends: int
    """Instants at which a recovery that was cut came to other contents of memory than one that was not."""
    lose: str | None
    """The switch that was lost; None: the power failed."""
    history: History | None
    """The shortest that shows a loss; None: there is no loss, or nobody wants to know."""
    stopped: str | None
    """Why not all instants were looked at; None: all were."""
    past_end_ns: float | None = None
    """When the run ended, if the instant that was asked for is behind that; None: it is not."""

    def to_json(self) -> dict[str, Any]:
        """Its fields as plain values."""
        return {
            "instants": self.instants,
            "lost_instants": self.lost_instants,
            "first_ns": self.first_ns,
            "lost_lines": [asdict(each) for each in self.lines],
            "most_lost_lines": self.most_lines,
            "recovery_cuts": self.cuts,
            "recoveries": self.recoveries,
            "longest_recovery_ns": self.longest_recovery_ns,
            "other_ends": self.other_ends,
            "lost_switch": self.lose,
            "history": None if self.history is None else self.history.to_json(),
            "stopped": self.stopped,
            "past_end_ns": self.past_end_ns,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is."""

    doing: str
    """The thing that is counted, in the singular."""
    done: int
    total: int | None


Watch = Callable[[Progress], str | None]
"""Looks now and then; says why all shall end now, or None to go on."""


class _EndedError(Exception):
    """`watch` has said, in the middle of something, that all shall end. The reason is its text."""


def crash(
    system: System,
    *,
    at: float | None = None,
    every_event: bool = False,
    drawn: int | None = None,
    lose: str | None = None,
    cuts: int = CUTS,
    history: bool = True,
    seed: int = 1,
    overrides: list[Override] | None = None,
    watch: Watch = lambda _progress: None,
) -> Crashes:
    """Lets the power fail at instants of a run of `system`, each time for itself.

    Args:
        system: what runs.
        at: the instant, in ns.
        every_event: before each event of the run, and at its end.
        drawn: so many instants, drawn with equal chance from the whole run by `seed`.
        lose: the switch that is lost with its persist buffer, while the power holds.
        cuts: how often power fails again during a recovery, and during the one after it: at each instant of it, or with
            `drawn` at drawn ones.
        history: look for the shortest history of the first loss.
        seed: of the draws.
        overrides: laid over the spec.
        watch: is called with the progress, and may end it.

    Raises:
        InputError: for a spec that cannot be run, one without persistent memory, or a switch that there is not.
        SimulationError: if the run cannot finish.
    """
    given = overrides or []
    _check_persistence(system.resolve(given))
    # One thread: what is lost at an instant is looked at between events.
    resolved = system.resolve(
        [*given, Override.parse("outputs.versions=true"), Override.parse("run.threads=1")]
    )
    if lose is not None:
        _check_switch(resolved, lose)
    with errors_placed(resolved):
        found = _Found(resolved, lose, cuts, None if drawn is None else seed, history, watch)
        stopped = None
        try:
            for simulation, progress in _stops(resolved, at, every_event, drawn, seed, watch):
                if simulation is not None:
                    found.look(simulation)
                    if at is not None:
                        found.note_end(simulation, at)
                _go_on(watch, progress)
        except _EndedError as ended:
            stopped = str(ended)
        return found.crashes(stopped)


def _go_on(watch: Watch, progress: Progress) -> None:
    """Raises _EndedError if all shall end now."""
    if (reason := watch(progress)) is not None:
        raise _EndedError(reason)


def _check_persistence(resolved: Resolved) -> None:
    """Raises InputError for a spec without persistent memory."""
    if has_persistent_memory(resolved.plain()):
        return
    error = InputError(
        "no memory is persistent: nothing could be lost",
        allowed="a region with persistence: media or controller",
        path="address_map",
    )
    raise resolved.placed(error)


def _check_switch(resolved: Resolved, lose: str) -> None:
    """Raises InputError for a switch that cannot be lost, before anything runs."""
    with errors_placed(resolved):
        simulation = build(resolved)
    try:
        simulation.lose_power(0, lambda: None, None, lose)
    except InputError as error:
        raise InputError(
            error.problem,
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
            path="--lose",
        ) from None


class _Found:
    """Adds up what the instants show."""

    def __init__(
        self,
        resolved: Resolved,
        lose: str | None,
        cuts: int,
        seed: int | None,
        history: bool,
        watch: Watch,
    ) -> None:
        self._resolved, self._history, self._watch = resolved, history, watch
        self._lose, self._cuts, self._seed = lose, cuts, seed
        self._instants = self._lost = self._most = self._recoveries = self._other_ends = 0
        self._longest = 0.0
        self._past_end: float | None = None
        self._first: tuple[float, tuple[LostLine, ...]] | None = None
        self._search: tuple[_core.LossSearch, list[str]] | None = None

    def look(self, simulation: _core.Simulation) -> None:
        """Power fails now."""
        looks = itertools.count(1)

        def look() -> None:
            _go_on(self._watch, Progress("recovery step", next(looks), None))

        found = simulation.lose_power(self._cuts, look, self._seed, self._lose)
        self._instants += 1
        self._recoveries += found["recoveries"]
        self._longest = max(self._longest, found["longest_ns"])
        self._other_ends += not found["one_end"]
        if not found["lost"]:
            return
        self._lost += 1
        self._most = max(self._most, len(found["lost"]))
        if self._first is not None:
            return
        self._first = float(simulation.progress()["time_ns"]), _lines(found["lost"])
        if self._history:
            search = simulation.loss_search(open_feeds(self._resolved), self._lose)
            self._search = search, simulation.node_names()

    def note_end(self, simulation: _core.Simulation, at: float) -> None:
        """The run, which has come to `at`, may have ended before; its own clock says `at` in any case."""
        if not simulation.advance(1, at):
            return
        whole = _begun(self._resolved, self._watch)
        while not whole.advance(_SLICE):
            _go_on(self._watch, _requests(whole))
        if (end := float(whole.progress()["time_ns"])) < at:
            self._past_end = end

    def crashes(self, stopped: str | None) -> Crashes:
        """All of it, with the shortest history of the first loss."""
        first = self._first or (None, ())
        history = None
        if self._search is not None and stopped is None:
            history = _shortest(*self._search, self._watch)
        return Crashes(
            instants=self._instants,
            lost_instants=self._lost,
            first_ns=first[0],
            lines=first[1],
            most_lines=self._most,
            cuts=self._cuts,
            recoveries=self._recoveries,
            longest_recovery_ns=self._longest,
            other_ends=self._other_ends,
            lose=self._lose,
            history=history,
            stopped=stopped,
            past_end_ns=self._past_end,
        )


def _lines(lost: list[dict[str, Any]]) -> tuple[LostLine, ...]:
    return tuple(LostLine(**each) for each in lost)


def _shortest(search: _core.LossSearch, nodes: list[str], watch: Watch) -> History | None:
    """The history at the end of the search, or where it was ended; None: the requests alone do not show the loss."""
    requests = search.left
    over = False
    runs = itertools.count(1)
    with contextlib.suppress(_EndedError):
        while not over:
            progress = Progress("shorter history", next(runs), None)
            over = search.step(functools.partial(_go_on, watch, progress))
            _go_on(watch, progress)
    found = search.history()
    if "steps" not in found:
        return None
    steps = ({**each, "device": nodes[each["node"]]} for each in found["steps"])
    return History(
        requests=tuple(Request(**each) for each in found["requests"]),
        steps=tuple(Step(**{key: value for key, value in each.items() if key != "node"}) for each in steps),
        lost_at_ns=found["lost_at_ns"],
        lines=_lines(found["lost_lines"]),
        of_requests=requests,
        runs=found["runs"],
        shortest=over,
    )


def _requests(simulation: _core.Simulation) -> Progress:
    made = simulation.progress()
    return Progress("request", made["completed"], made["expected"])


def _begun(resolved: Resolved, watch: Watch) -> _core.Simulation:
    """A run behind what its media have been through before it."""
    simulation = build(resolved)

    def looked(progress: RunProgress) -> str | None:
        done, whole = progress.past or (0, 0)
        return watch(Progress("earlier write", done, whole))

    if (reason := play_past(simulation, looked)) is not None:
        raise _EndedError(reason)
    return simulation


def _stops(
    resolved: Resolved, at: float | None, every_event: bool, drawn: int | None, seed: int, watch: Watch
) -> Iterator[tuple[_core.Simulation | None, Progress]]:
    """One run, given at each instant, and how far it is; without the run where only that is reported."""
    simulation = _begun(resolved, watch)
    if every_event:
        over, count = False, 0
        while not over:
            count += 1
            yield simulation, Progress("instant", count, None)
            over = simulation.advance(1)
        yield simulation, Progress("instant", count + 1, None)
        return
    if drawn is None:
        instants = [at or 0.0]
    else:
        draw = random.Random(seed)
        whole = _begun(resolved, watch)
        while not whole.advance(_SLICE):
            yield None, _requests(whole)
        end = float(whole.progress()["time_ns"])
        instants = sorted(draw.uniform(0.0, end) for _ in range(drawn))
    for count, instant in enumerate(instants, 1):
        while _advance(simulation, instant):
            yield None, Progress("instant", count - 1, len(instants))
        yield simulation, Progress("instant", count, len(instants))


def _advance(simulation: _core.Simulation, instant: float) -> bool:
    """Goes on for a slice; whether there may be more to do up to that instant."""
    before = simulation.progress()["events"]
    over = simulation.advance(_SLICE, instant)
    return not over and simulation.progress()["events"] - before == _SLICE
