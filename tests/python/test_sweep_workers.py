"""Workers that are kept from one run to the next, for whoever chooses points by what others gave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sweep_support import LATENCY, REST_NS, SPEC, children, engine, records_of

import cxloom as cx
from cxloom.sweeping.engine import Engine
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import Axis
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.work import Sweep

TEMPLATE = cx.System.from_yaml(SPEC).template()


def played(directory: Path, latency: int, runner: Supervisor) -> Engine:
    """A round of one point."""
    made = engine(TEMPLATE, directory, [Axis.of(LATENCY, [f"{latency}ns"])])
    made.carry_out(Sweep(TEMPLATE), runner)
    return made


def test_workers_are_kept_while_the_job_is_the_same(tmp_path: Path) -> None:
    before = set(children(os.getpid()))
    crews = []
    with Supervisor(2) as runner:
        for latency in (45, 60, 75):
            [record] = records_of(played(tmp_path / "one", latency, runner))
            assert record is not None
            assert record.summary is not None
            assert record.summary["latency_ns"]["mean"] == REST_NS + latency
            crews.append(set(children(os.getpid())) - before)
        played(tmp_path / "other", 45, runner)
        crews.append(set(children(os.getpid())) - before)
    assert len(crews[0]) == 1, "one point at a time needs no second worker"
    assert crews[0] == crews[1] == crews[2]
    assert crews[3].isdisjoint(crews[0]), "those of another directory store elsewhere"
    assert set(children(os.getpid())) <= before


def test_what_goes_wrong_ends_them(tmp_path: Path) -> None:
    def interrupted(_schedule: Schedule) -> None:
        raise KeyboardInterrupt

    before = set(children(os.getpid()))
    with Supervisor(1) as runner:
        played(tmp_path / "out", 45, runner)
        second = engine(TEMPLATE, tmp_path / "out", [Axis.of(LATENCY, ["60ns"])])
        with pytest.raises(KeyboardInterrupt):
            second.carry_out(Sweep(TEMPLATE), runner, watch=interrupted)
        assert set(children(os.getpid())) <= before
        played(tmp_path / "out", 60, runner)


def test_without_a_context_nobody_stays(tmp_path: Path) -> None:
    before = set(children(os.getpid()))
    played(tmp_path / "out", 45, Supervisor(1))
    assert set(children(os.getpid())) <= before


def test_one_that_dies_between_two_runs_is_replaced(tmp_path: Path) -> None:
    before = set(children(os.getpid()))
    with Supervisor(1) as runner:
        played(tmp_path / "out", 45, runner)
        [worker] = set(children(os.getpid())) - before
        os.kill(worker, 9)
        [record] = records_of(played(tmp_path / "out", 60, runner))
    assert record is not None
    assert record.status == "finished"
