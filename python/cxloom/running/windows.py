"""One run in windows of equal length: what was measured in each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cxloom.running.run import Progress, Watch, next_slice, play_past

if TYPE_CHECKING:
    from cxloom import _core
    from cxloom.base.summary import Summary


_ROUNDED_NS = 2e-3
"""What a number of nanoseconds may lack of a whole number of picoseconds."""


def windows(
    simulation: _core.Simulation,
    measured: tuple[float, float],
    length_ns: float,
    watch: Watch = lambda _progress: None,
) -> Iterator[tuple[float, Summary]]:
    """Plays a simulation to the end of its measured window, and gives the summary of each part of it with when it
    began, in ns from the opening. The last part has what is left: half a length to one and a half.

    Args:
        simulation: as it is built; its rows of requests are lost.
        measured: when the measured window of the same system opened and closed, as ``simulation.window()`` has it at
            the end of a run.
        length_ns: of a part.
        watch: is called now and then with the progress; a reason that it gives ends the run, and the parts with it.
    """
    opened, closed = measured
    if play_past(simulation, watch) is not None:
        return
    parts = max(1, round((closed - opened) / length_ns))
    for part in range(parts):
        until = opened + (part + 1) * length_ns if part + 1 < parts else closed
        ended = _until(simulation, until, watch)
        if ended is None:
            return
        summary = simulation.summary() if ended else simulation.next_part()
        if summary is not None:
            yield part * length_ns, summary
        if ended:
            return


def _until(simulation: _core.Simulation, limit_ns: float, watch: Watch) -> bool | None:
    """Plays up to a time; True: it is over before, None: `watch` ended it."""
    events = 10_000
    while True:
        before = time.perf_counter()
        if simulation.advance(events, limit_ns):
            return True
        progress = Progress(**simulation.progress())
        if watch(progress) is not None:
            return None
        if progress.time_ns >= limit_ns - _ROUNDED_NS:
            return False
        events = next_slice(events, time.perf_counter() - before)
