"""Runs points in processes of this machine, each with a pipe of its own: one that is killed costs its point alone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import IO, Self

from cxloom.base.errors import NOWHERE, InputError, SimulationError, is_nowhere, shown
from cxloom.sweeping import worker
from cxloom.sweeping.interrupts import interrupts_blocked
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.work import Job, Report, Task, raise_if_unwritable

_STARTS = 5
"""So many workers may end at their start while none says anything: then something is wrong with all of them."""
_LAST_WORDS = 2000
"""Bytes at the end of what a worker wrote that are looked at when it has died."""
_TICK = 0.2
"""Seconds after which progress is shown though nothing has happened."""


class Supervisor:
    """The runner of one machine.

    As a context it keeps its workers from one run to the next of the same job, for whoever chooses points by what
    others gave: a process takes longer to start than many a point to run.

    Args:
        jobs: points at a time; by default one for each processor that this process may use.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._keeps = False
        self._kept: _Crew | None = None

    @property
    def at_once(self) -> int:
        """How many points are run at a time."""
        return self._jobs

    def run(self, job: Job, schedule: Schedule, watch: Callable[[], None]) -> None:
        """Carries out all tasks of a schedule; `watch` is called now and then.

        Whatever ends it, an exception of `watch` included, ends the workers. Raises InputError if a point cannot be
        stored, SimulationError if no worker can be started.
        """
        if is_nowhere():
            raise InputError(NOWHERE, allowed="one that exists: the processes of a sweep begin in it")
        with self._crew(job) as crew:
            while not schedule.is_done:
                while crew.has_room and (task := schedule.next()) is not None:
                    crew.give(replace(task, threads=threads_each(min(self._jobs, schedule.left))))
                for member, said in crew.listen(_TICK):
                    if isinstance(said, Report) and said.what == "expected":
                        schedule.expects(said)
                    elif isinstance(said, Report):
                        raise_if_unwritable(said, job)
                        schedule.ended(said)
                    elif said is None and member.task is not None and member.is_ready:
                        schedule.died(member.task.key, member.obituary())
                    elif said is None and member.task is not None:
                        schedule.dropped(member.task.key)
                watch()

    @contextlib.contextmanager
    def _crew(self, job: Job) -> Iterator[_Crew]:
        """The workers for a job: those that were kept, or new ones. Whatever goes wrong ends them."""
        crew = self._kept if self._kept is not None and self._kept.job == job else None
        if crew is None:
            self._dismiss()
            crew = _Crew(job, self._jobs)
        self._kept = crew
        try:
            yield crew
        except BaseException:
            self._dismiss()
            raise
        if not self._keeps:
            self._dismiss()

    def _dismiss(self) -> None:
        if self._kept is not None:
            self._kept.end()
            self._kept = None

    def __enter__(self) -> Self:
        self._keeps = True
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._keeps = False
        self._dismiss()


def threads_each(points: int) -> int:
    """How many threads play each of so many points side by side: so many as have a processor each, at least one.

    More would only wait for each other, and one alone has the processors of all. The results are the same.
    """
    return max(1, len(os.sched_getaffinity(0)) // points)


class _Member:
    """A worker, as its supervisor sees it."""

    def __init__(self, job: Job, lifeline: int) -> None:
        self.task: Task | None = None
        self.is_ready = False
        self.pipe, theirs = Pipe()
        self.words: IO[bytes] = tempfile.TemporaryFile()
        with interrupts_blocked():  # Ctrl-C is the supervisor's to hear
            self.process = subprocess.Popen(
                worker.command(theirs.fileno(), lifeline),
                stdin=subprocess.DEVNULL,
                stdout=self.words,
                stderr=self.words,
                pass_fds=(theirs.fileno(), lifeline),
            )
        theirs.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is heard of by its end
            self.pipe.send(job)

    def give(self, task: Task) -> None:
        """Gives it a task."""
        self.task = task
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(task)

    def hear(self) -> object:
        """The worker's next message, or None: it is dead."""
        try:
            said: object = self.pipe.recv()
        except (EOFError, OSError):  # the latter in the midst of a message
            self.process.wait()
            return None
        self.is_ready = True
        if isinstance(said, Report) and said.what != "expected":
            self.task = None
        return said

    def obituary(self) -> str:
        """The cause of its death, and its last message."""
        code = self.process.returncode
        cause = f"killed by {signal.Signals(-code).name}" if code < 0 else f"it ended with code {code}"
        self.words.seek(0, os.SEEK_END)
        self.words.seek(max(0, self.words.tell() - _LAST_WORDS))
        lines = self.words.read().decode(errors="replace").strip().splitlines()
        return f"{cause}: {shown(lines[-1])}" if lines else cause

    def end(self) -> None:
        """Kills it, if it lives: nothing that it does needs a good end."""
        self.process.kill()
        self.process.wait()
        self.pipe.close()
        self.words.close()


class _Crew:
    """The workers of a job.

    Args:
        job: what they know beforehand.
        most: so many are started, each when there is a task for it.
    """

    def __init__(self, job: Job, most: int) -> None:
        self.job = job
        self._most = most
        self._members: dict[Connection, _Member] = {}
        self._lifeline: tuple[int, int] = os.pipe()
        self._stillborn = 0

    @property
    def has_room(self) -> bool:
        """Whether somebody could begin a task."""
        return len(self._members) < self._most or any(self._idle())

    def give(self, task: Task) -> None:
        """Gives a task to one who has none, or to a new worker."""
        member = next(self._idle(), None)
        if member is None:
            member = _Member(self.job, self._lifeline[0])
            self._members[member.pipe] = member
        member.give(task)

    def listen(self, seconds: float) -> Iterator[tuple[_Member, object]]:
        """The next message of each worker; None is the last of one, which is gone then.

        Raises SimulationError if they die at their start.
        """
        for pipe in wait(list(self._members), seconds):
            assert isinstance(pipe, Connection)
            member = self._members[pipe]
            said = member.hear()
            yield member, said
            self._stillborn = self._stillborn + (not member.is_ready) if said is None else 0
            if self._stillborn == _STARTS:
                raise SimulationError(f"no worker can be started: {member.obituary()}")
            if said is None:
                del self._members[pipe]
                member.end()

    def _idle(self) -> Iterator[_Member]:
        return (member for member in self._members.values() if member.task is None)

    def end(self) -> None:
        """Ends them all."""
        for member in self._members.values():
            member.end()
        for end in self._lifeline:
            os.close(end)
