"""Words on runs that can go on after an interruption: what is there already, and how to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cxloom.base.errors import SimulationError
from cxloom.base.words import counted
from cxloom.cli.interrupt import terminable
from cxloom.display.console import messages
from cxloom.sweeping.schedule import Schedule


@contextmanager
def resumable(directory: Path) -> Iterator[None]:
    """While it is entered, Ctrl-C and SIGTERM end with a SimulationError that says how to go on."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt:
        raise SimulationError(
            f"interrupted: what is finished is in {directory}; the same command goes on from there"
        ) from None


def said_of(directory: Path, quiet: bool) -> Callable[[Schedule], None]:
    """Says how many of the points are there before the others are begun, unless none is."""

    def say(schedule: Schedule) -> None:
        if schedule.already and not quiet:
            whole = schedule.already + schedule.total
            messages().print(f"{counted(schedule.already, 'point')} of {whole:,} in {directory} already")

    return say
