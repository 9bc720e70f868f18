"""Sweeps on a Dask cluster: what comes out is what comes out of one machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sweep_support import LATENCY, SPEC, Poisoned, command, engine, records_of, stored
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.space import Axis
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.work import Job

distributed = pytest.importorskip("distributed")

Call = Callable[..., Any]
SETS = (
    f"--set={LATENCY}=45ns,60ns",
    "--set=run.seed=1,2,3,4,5",
    "--set=workload.host.requests=20000",
    "--quiet",
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers of one thread each, with what Dask does after a death unless it is told otherwise."""
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def test_a_cluster_gives_the_bytes_of_one_machine(tmp_path: Path, client: Any) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    subprocess.run(command(spec, *SETS, "--out", tmp_path / "one"), check=True)
    address = client.scheduler.address
    subprocess.run(command(spec, *SETS, "--out", tmp_path / "many", "--dask", address), check=True)
    for name in ("results.parquet", "sweep.json"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert stored(tmp_path / "many") == stored(tmp_path / "one")
    summaries = [cx.SweepResult.load(str(tmp_path / name)).summary(7) for name in ("one", "many")]
    assert summaries[0] == summaries[1]


def test_a_terminal_sends_ctrl_c_to_a_local_cluster_too(tmp_path: Path) -> None:
    """Its workers hear nothing of it: one of them once printed a traceback over the message."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    process = subprocess.Popen(
        command(
            spec,
            *SETS[:2],
            "--set=workload.host.requests=1000000",
            "--quiet",
            "--out",
            tmp_path / "out",
            "--dask",
            "local",
        ),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not stored(tmp_path / "out"):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert (
        err
        == f"error: interrupted: what is finished is in {tmp_path / 'out'}; the same command goes on from there\n"
    )


@slow
def test_a_worker_of_a_cluster_may_be_killed(tmp_path: Path, client: Any) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    out = tmp_path / "out"
    sets = (*SETS[:-2], "--set=workload.host.requests=400000", "--quiet")
    process = subprocess.Popen(command(spec, *sets, "--out", out, "--dask", client.scheduler.address))
    while len(stored(out)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    pids = list(client.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    assert process.wait(timeout=120) == 0
    assert len(stored(out)) == 10


@slow
def test_a_point_that_kills_workers_is_lost_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cxloom.sweeping.schedule.ATTEMPTS", 1)  # Dask takes seconds to start a worker again
    system = cx.System.from_yaml(SPEC)
    template = system.template()
    found = engine(template, tmp_path, [Axis.of("run.seed", range(1, 6))])
    found.carry_out(Poisoned(template, "run.seed", [3]), Cluster("local", 2))
    records = records_of(found)
    assert [record and record.status for record in records] == ["finished"] * 2 + ["lost"] + ["finished"] * 2
    assert records[2] is not None
    assert records[2].error == "its process died 2 times, the last time alone: its worker was killed"


def test_a_client_may_be_given(client: Any) -> None:
    result = cx.sweep(cx.System.from_yaml(SPEC), {LATENCY: ["45ns", "145ns"]}, cluster=client)
    assert result.frame()["latency_ns.mean"].to_list() == pytest.approx([197, 297])
    assert client.status == "running"  # it is its owner's to end


def test_a_worker_with_another_build_is_refused(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    def another(*given: Any) -> Job:
        job = Job(*given)
        return replace(job, identity=replace(job.identity, core="another"))

    monkeypatch.setattr("cxloom.sweeping.engine.Job", another)
    template = cx.System.from_yaml(SPEC).template()
    for runner in (Cluster(client), Supervisor(1)):
        found = engine(template, tmp_path, [Axis.of("run.seed", [1])])
        with pytest.raises(cx.CxloomError, match="a worker has another cxloom"):
            found.carry_out(Poisoned(template, "run.seed", []), runner)
        assert stored(tmp_path) == set()


def test_a_scheduler_that_is_not_there(tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC)
    monkeypatch.setattr("cxloom.sweeping.cluster._PATIENCE", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "gone.json"):
        done = cxloom("sweep", tmp_path / "spec.yaml", *SETS, "--out", tmp_path / "out", "--dask", address)
        assert done.code == 2, done
        assert "no Dask scheduler there" in done.err
    with pytest.raises(InputError, match="not a cluster"):
        Cluster(3)  # type: ignore[arg-type]


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="Dask is not installed") as error:
        Cluster("local")
    assert error.value.allowed == "pip install 'cxloom[cluster]'"
