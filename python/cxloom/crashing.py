"""Power that fails at instants of a run: what recovery finds, against what was said to be durable."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.building import build, errors_placed
from cxloom.spec.resolve import Override, Resolved

if TYPE_CHECKING:
    from cxloom import _core
    from cxloom.system import System

_SLICE = 100_000
"""Events of a run at a time."""


@dataclass(frozen=True)
class Crashes:
    """What was found at all instants that were looked at."""

    instants: int
    """How many there were."""
    lost_instants: int
    """Those at which lines were lost."""
    first_ns: float | None
    """The first of these; None: nothing was lost."""
    lines: tuple[tuple[int, int], ...]
    """Address of each line that was lost then, and the version that recovery found."""
    most_lines: int
    """The most lines that were lost at one instant."""

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        lines = [{"address": address, "recovered_version": version} for address, version in self.lines]
        return {
            "instants": self.instants,
            "lost_instants": self.lost_instants,
            "first_ns": self.first_ns,
            "lost_lines": lines,
            "most_lost_lines": self.most_lines,
        }


def crash(
    system: System,
    *,
    at: float | None = None,
    every_event: bool = False,
    drawn: int | None = None,
    lose: str | None = None,
    seed: int = 1,
    overrides: list[Override] | None = None,
    watch: Callable[[int], None] = lambda _instants: None,
) -> Crashes:
    """Lets the power fail at instants of a run of `system`, each time for itself.

    Args:
        system: what runs.
        at: the instant, in ns.
        every_event: before each event of the run, and at its end.
        drawn: so many instants, drawn with equal chance from the whole run by `seed`.
        lose: the switch that is lost with its persist buffer, while the power holds.
        seed: of the draws.
        overrides: laid over the spec.
        watch: is told how many instants have been looked at.

    Raises:
        InputError: for a spec that cannot be run, one without persistent memory, or a switch that there is not.
        SimulationError: if the run cannot finish.
    """
    versions = Override.parse("outputs.versions=true")
    resolved = system.resolve([*(overrides or []), versions])
    with errors_placed(resolved):
        found = _Found(lose, watch)
        for simulation in _stops(resolved, at, every_event, drawn, seed):
            found.look(simulation)
        return found.crashes()


class _Found:
    """Adds up what the instants show."""

    def __init__(self, lose: str | None, watch: Callable[[int], None]) -> None:
        self._lose, self._watch = lose, watch
        self._instants = self._lost = self._most = 0
        self._first: tuple[float, tuple[tuple[int, int], ...]] | None = None

    def look(self, simulation: _core.Simulation) -> None:
        """Power fails now."""
        lost = (
            simulation.lost_at_power_loss() if self._lose is None else simulation.lost_with_switch(self._lose)
        )
        self._instants += 1
        if lost:
            self._lost += 1
            self._most = max(self._most, len(lost))
            if self._first is None:
                self._first = float(simulation.progress()["time_ns"]), tuple(lost)
        self._watch(self._instants)

    def crashes(self) -> Crashes:
        first = self._first or (None, ())
        return Crashes(self._instants, self._lost, first[0], first[1], self._most)


def _stops(
    resolved: Resolved, at: float | None, every_event: bool, drawn: int | None, seed: int
) -> Iterator[_core.Simulation]:
    """One run, given at each instant."""
    if every_event:
        simulation = build(resolved)
        over = False
        while not over:
            yield simulation
            over = simulation.advance(1)
        yield simulation
        return
    if drawn is None:
        instants = [at or 0.0]
    else:
        draw = random.Random(seed)
        end = _end_of(resolved)
        instants = sorted(draw.uniform(0.0, end) for _ in range(drawn))
    simulation = build(resolved)
    for instant in instants:
        simulation.run_until(instant)
        yield simulation


def _end_of(resolved: Resolved) -> float:
    """When the run ends, in ns."""
    simulation = build(resolved)
    while not simulation.advance(_SLICE):
        pass
    return float(simulation.progress()["time_ns"])
