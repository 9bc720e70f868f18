"""How a program in a guest ends whose accesses are taken: here none reports any."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from cxloom.base.errors import InputError, SimulationError
from cxloom.booting.reported import CLOCK, MARKS, ReportedMachine, reported_machine
from cxloom.trace.capturing import CoreOfTrace


def ends(
    run: Callable[[], int],
    region: str | None = None,
    going: Callable[[], bool] = lambda: True,
    stop: Callable[[], None] = lambda: None,
) -> ReportedMachine:
    """The machine after a program that does this."""
    with reported_machine(CoreOfTrace({}).program, region, False) as machine:
        machine.prepare([], run, stop)
        assert list(machine.accesses(going)) == []
    return machine


def test_the_exit_code_is_that_of_the_program() -> None:
    assert ends(lambda: 7).ended.command_code == 7


def test_a_guest_that_ends_is_an_error_where_records_are_read() -> None:
    def dies() -> int:
        raise SimulationError("the guest ended")

    with pytest.raises(SimulationError, match="the guest ended"):
        ends(dies)


def test_a_guest_that_ends_leaves_no_reports() -> None:
    """Error and recorder do not know each other: both would be there when the command ends, and be called leaks."""

    def dies() -> int:
        raise SimulationError("the guest ended")

    def reported() -> weakref.ref[ReportedMachine]:
        with reported_machine(CoreOfTrace({}).program, None, False) as machine:
            machine.prepare([], dies, lambda: None)
            with pytest.raises(SimulationError):
                list(machine.accesses(lambda: True))
            return weakref.ref(machine)

    gc.collect()
    gc.disable()
    try:
        assert reported()() is None
    finally:
        gc.enable()


def test_marks_that_are_not_reached_are_an_error() -> None:
    with pytest.raises(InputError, match="the region of interest was not reached"):
        ends(lambda: 0, MARKS)


def test_an_interrupt_before_the_program_ends_the_guest_and_gives_no_zeros() -> None:
    ended = threading.Event()

    def waits() -> int:
        ended.wait(30)
        return 0

    with pytest.raises(SimulationError, match="interrupted before the program began"):
        ends(waits, going=lambda: False, stop=ended.set)
    assert ended.is_set()


def test_the_plugin_is_told_where_it_shares_memory() -> None:
    with reported_machine(CoreOfTrace({}).program, None, False) as machine:
        reporting = machine.reporting()
    assert reporting.clock == CLOCK
    assert reporting.preload is None


def test_the_plugin_of_several_processors_has_the_clock() -> None:
    """It comes before the C library, which QEMU reads its clock from; no option of QEMU has one for several."""
    with reported_machine(CoreOfTrace({}).program, None, False, 2) as machine:
        reporting = machine.reporting()
        kind, value = reporting.plugin
        assert kind == "-plugin"
        library, _, folder = value.partition(",folder=")
        assert Path(folder).is_dir()
        assert reporting.preload == Path(library)
        assert reporting.preload.resolve().exists()
        assert reporting.clock == ()
        assert "tsc=reliable" not in reporting.kernel
