"""Runs points on a Dask cluster: of this machine, or of many, such as the nodes of a Slurm job.

The machines share the directory of the sweep, as every worker stores what it has finished. Each gets what the points
have in common once, as a plug-in of Dask, which workers that come later or come back get, too.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, SimulationError
from cxloom.sweeping.interrupts import interrupts_blocked
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.work import Bench, Job, Report, Task, raise_if_unwritable

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local"
"""Instead of an address: a cluster of the processors of this machine, which ends with the sweep."""
_TICK = 0.2
"""Seconds after which progress is shown though nothing has happened."""
_PATIENCE = 10
"""Seconds that a scheduler may take to answer."""
_COUNTED = 2.0
"""Seconds after which the processors of the cluster are counted again: some may have come or gone."""


class Cluster:
    """The runner of a Dask cluster.

    Args:
        address: of its scheduler, ``tcp://HOST:8786``; or the file that ``dask scheduler --scheduler-file`` wrote; or
            "local"; or a `distributed.Client`.
        jobs: processes of a local cluster; by default one for each processor.

    Raises InputError if Dask is not installed, or the scheduler is not there.
    """

    def __init__(self, address: str | Client, jobs: int | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise InputError(
                "Dask is not installed", allowed="pip install 'cxloom[cluster]'", path="--dask"
            ) from None
        self._jobs = jobs
        if not isinstance(address, (str, distributed.Client)):
            raise InputError(
                "not a cluster", allowed="an address, a file, 'local' or a Client", path="cluster"
            )
        self._address = address

    @property
    def at_once(self) -> int:
        """Several points at once: how many is known when the cluster is there."""
        return 2

    def run(self, job: Job, schedule: Schedule, watch: Callable[[], None]) -> None:
        """Carries out all tasks of a schedule; `watch` is called now and then.

        Raises InputError if the scheduler is not there, a point cannot be stored, or a worker has another cxloom;
        SimulationError if the cluster goes away.
        """
        from distributed import wait

        with self._client() as client, _shared(client, job) as name:
            running: dict[Future, Task] = {}
            processors, counted = 0, -_COUNTED
            while not schedule.is_done:
                if time.monotonic() > counted + _COUNTED:
                    processors, counted = sum(client.nthreads().values()), time.monotonic()
                while len(running) < processors and (task := schedule.next()) is not None:
                    running[client.submit(_carried_out, name, task, pure=False)] = task
                watch()
                if not running:  # there is no worker yet, or none any more
                    time.sleep(_TICK)
                    continue
                with contextlib.suppress(TimeoutError):
                    wait(list(running), timeout=_TICK, return_when="FIRST_COMPLETED")
                for future in [each for each in running if each.done()]:
                    _ended(future, running.pop(future), schedule, job)

    @contextlib.contextmanager
    def _client(self) -> Iterator[Client]:
        """The client of the cluster, which is ended if it was begun here."""
        import dask
        from distributed import Client, LocalCluster

        if isinstance(self._address, Client):
            yield self._address
            return
        if self._address == LOCAL:
            jobs = self._jobs or len(os.sched_getaffinity(0))
            quiet: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
            # How often a point is tried is the schedule's to say.
            settings = dask.config.set({"distributed.scheduler.allowed-failures": 0})
            # Its start lets the thread that starts it hear Ctrl-C, which else would be that which starts the workers.
            resource_tracker.ensure_running()
            with settings, interrupts_blocked():
                cluster = LocalCluster(jobs, threads_per_worker=1, **quiet)
            with settings, cluster, Client(cluster) as client:
                yield client
            return
        is_file = os.path.isfile(self._address)
        try:
            client = Client(**{"scheduler_file" if is_file else "address": self._address}, timeout=_PATIENCE)
        except (OSError, ValueError, TypeError) as error:
            problem = f"no Dask scheduler there: {str(error).splitlines()[0]}"
            raise InputError(problem, found=self._address, allowed="tcp://HOST:8786", path="--dask") from None
        with client:
            yield client


def _ended(future: Future, task: Task, schedule: Schedule, job: Job) -> None:
    """Tells a schedule what became of a task."""
    from distributed import KilledWorker

    if future.status == "finished":
        report: Report = future.result()
        raise_if_unwritable(report, job)
        schedule.ended(report)
        return
    if future.status != "error":
        raise SimulationError(
            f"the cluster has dropped a point ({future.status}): is its scheduler still there?"
        )
    error = future.exception()
    if isinstance(error, InputError):
        raise error
    died = isinstance(error, KilledWorker)
    schedule.died(task.key, "its worker was killed" if died else f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def _shared(client: Client, job: Job) -> Iterator[str]:
    """Gives a job to every worker that there is and will be; the name that tasks find it by."""
    from distributed import WorkerPlugin

    class Shared(WorkerPlugin):  # type: ignore[misc]
        """The common state of the points, and a bench for each thread that carries some out."""

        def __init__(self) -> None:
            self.name = f"cxloom-{uuid.uuid4().hex}"
            self.job = job

        def setup(self, worker: Any) -> None:
            """The worker has begun."""
            self.local = threading.local()

        def bench(self) -> Bench:
            """The bench of this thread. Raises InputError if a plug-in is gone, or this is another cxloom."""
            if not hasattr(self.local, "bench"):
                self.local.bench = Bench(self.job)
            bench: Bench = self.local.bench
            return bench

    plugin = Shared()
    client.register_plugin(plugin)
    try:
        yield plugin.name
    finally:
        with contextlib.suppress(Exception):  # whatever it is, the cluster may be gone
            client.unregister_worker_plugin(plugin.name)


def _carried_out(name: str, task: Task) -> Report:
    """Carries out a task on a worker, with what the plug-in of this name knows."""
    from distributed import get_worker

    report: Report = get_worker().plugins[name].bench().carry_out(task)
    return report
