"""The next point: the longest first, one whose process died again and at last alone.

How long a point takes is found by running it. Every point is begun once, as a pilot. A pilot that is short is
finished, which costs nothing. One that sees, after 50 ms, that it has not come through a tenth gives up and says how
long the whole will take; so a pilot never costs more than a tenth of its point. When all have been begun, the long ones
are run, the longest first. Then no processor is left with a long point at the end while the others have nothing to do.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace

from cxloom.sweeping.work import Report, Task

ATTEMPTS = 3
"""How often a point whose process dies is run beside others; then once more, alone: there may be memory for one."""
_NEARLY = 0.9
"""How far a point is that takes longer than was expected."""


class Schedule:
    """The points that are left to run, and those under way.

    Args:
        tasks: what is to be done, in the order in which it is begun.
        already: how many points need not be run.
    """

    def __init__(self, tasks: Sequence[Task], already: int = 0) -> None:
        self.already = already
        self._fresh = deque(tasks)
        self._long: list[tuple[float, int, Task]] = []
        self._again: deque[Task] = deque()
        self._alone: deque[Task] = deque()
        self._running: dict[str, Task] = {}
        self._solitary = ""  # the key of the task that runs alone
        self._deaths: Counter[str] = Counter()
        self._order = {task.key: index for index, task in enumerate(tasks)}
        self._estimates: dict[str, float] = {}
        self._spent = 0.0
        self._begun: dict[str, float] = {}
        self.total = len(tasks)
        self.stored = 0
        self.lost: dict[str, str] = {}
        """The points that are given up, by key, each with what its last process died of."""

    def next(self) -> Task | None:
        """The task to begin now; None if there is none before another task ends, or at all."""
        task = self._next()
        if task is not None:
            self._running[task.key] = task
            self._begun[task.key] = time.monotonic()
        return task

    def ended(self, report: Report) -> None:
        """A task has come to an end."""
        task = self._running.pop(report.key)
        self._estimates.pop(report.key, None)
        del self._begun[report.key]
        if report.what == "postponed":
            self._estimates[report.key] = report.seconds
            heapq.heappush(self._long, (-report.seconds, self._order[task.key], replace(task, pilot=False)))
        else:
            self._spent += report.seconds
            self.stored += 1

    def expects(self, report: Report) -> None:
        """A task under way has said how long it takes."""
        self._estimates[report.key] = report.seconds

    def died(self, key: str, reason: str) -> None:
        """The process that ran a task is gone."""
        task = replace(self._running.pop(key), pilot=False)
        self._deaths[key] += 1
        if self._deaths[key] < ATTEMPTS:
            self._again.append(task)
        elif self._deaths[key] == ATTEMPTS:
            self._alone.append(task)
        else:
            self._estimates.pop(key, None)
            self.lost[key] = reason

    def dropped(self, key: str) -> None:
        """A task comes back as it was: it was not begun."""
        self._fresh.appendleft(self._running.pop(key))

    @property
    def attempts(self) -> int:
        """How many processes a lost point has cost."""
        return ATTEMPTS + 1

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.left == 0

    @property
    def left(self) -> int:
        """How many have not come to their end, those under way among them."""
        return self.total - self.stored - len(self.lost)

    @property
    def running(self) -> int:
        """How many tasks are under way."""
        return len(self._running)

    @property
    def guesses(self) -> bool:
        """Whether nothing is known of what points take: neither has one ended, nor has one said so."""
        return self.stored == 0 and not self._estimates

    def cost(self) -> tuple[float, float]:
        """CPU seconds of finished points, and of all points.

        A point that has not been begun counts as the mean of the others, one under way as what it has come through. One
        that takes longer than was expected is taken to be nearly done.
        """
        known = self._spent + sum(self._estimates.values())
        count = self.stored + len(self._estimates)
        mean = known / count if count else 1.0
        done, whole = self._spent, known + mean * (self.total - count - len(self.lost))
        now = time.monotonic()
        for key in self._running:
            took = now - self._begun[key]
            done += took
            whole += max(0.0, took / _NEARLY - self._estimates.get(key, mean))
        return done, whole

    def _next(self) -> Task | None:
        if self._solitary in self._running:
            return None
        if self._again:
            return self._again.popleft()
        if self._fresh:
            return self._fresh.popleft()
        if self._long:
            return heapq.heappop(self._long)[2]
        if self._alone and not self._running:
            self._solitary = self._alone[0].key
            return self._alone.popleft()
        return None
