"""Time that is passed over beside memories that are refreshed: refreshes come when they would have come."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from test_task_windows import GRAPHS, compute, played, reads, server
from validation.examples import pairs, some

Spec = dict[str, Any]

DDR5_CYCLE = 1950
"""ns in which DDR5-4800 refreshes each of four sets of its banks once, by same-bank refresh: tREFI2 (JESD79-5)."""


def refreshed(spec: Spec, near: str = "DDR5-4800", far: str = "DDR5-4800", **more: Any) -> Spec:
    """The same with DRAM in both memories."""
    spec = copy.deepcopy(spec)
    for name, preset in (("near", near), ("far", far)):
        spec["devices"][name]["media"] = {"kind": "dram", "preset": preset, **more}
    return spec


def chain(time: str, size: str, number: int = 6) -> Spec:
    """Kernels of so many bytes, each behind the processor for that time."""
    graph = []
    for i in range(number):
        graph.append(compute(f"x{i}", time, *([f"r{i - 1}"] if i else [])))
        graph.append(reads(f"r{i}", "a", size, f"x{i}"))
    return server(*graph)


def both(spec: Spec) -> tuple[Spec, Spec]:
    """Every line, and windows, which are within their stated error and 1 %."""
    lines, windows = played(spec, exact=True), played(spec, exact=False)
    apart = abs(windows["time_ns"] - lines["time_ns"])
    print(f"{lines['time_ns']:.0f} ns, apart {apart:.1f}, stated {windows['error_ns']:.1f}")
    assert apart <= windows["error_ns"]
    assert apart < 0.01 * lines["time_ns"]
    return lines, windows


@pytest.mark.parametrize("time", ["500ns", "2us", "3us", "7.1us", "8us", "50us", "333us", "1001us"])
@pytest.mark.parametrize("size", ["64KiB", "256KiB"])
def test_phases_of_processors_leave_refreshes_where_they_are(time: str, size: str) -> None:
    """Shorter than a cycle of refreshes, and longer: kernels simulated as a whole begin and end as they would have.

    One whole cycle of each phase is left, and what is passed over is whole cycles: of 50 us 24.
    """
    lines, windows = both(refreshed(chain(time, size)))
    assert windows["per_task"] == lines["per_task"]
    assert windows["error_ns"] == 0
    phase = float(time.removesuffix("ns")) if time.endswith("ns") else 1000 * float(time.removesuffix("us"))
    whole = max(int(phase // DDR5_CYCLE) - 1, 0) * DDR5_CYCLE
    assert windows["skipped_ns"] == pytest.approx(6 * whole)


@pytest.mark.parametrize("name", some(name for name in GRAPHS if name != "dram"))
def test_windows_of_lines_beside_refreshes(name: str) -> None:
    both(refreshed(GRAPHS[name]))


@pytest.mark.parametrize(
    ("name", "refresh"), pairs(["one", "chain", "two"], ["same-bank", "all-bank", "off"])
)
def test_each_kind_of_refresh_has_its_cycle(name: str, refresh: str) -> None:
    _, windows = both(refreshed(GRAPHS[name], refresh=refresh))
    if name == "chain":
        assert windows["skipped_ns"] > 0.5 * windows["time_ns"]


def test_two_memories_have_a_cycle_in_common() -> None:
    """That of DDR4-3200 is 7.8 us, four times that of DDR5: what is passed over is whole cycles of it."""
    _, windows = both(refreshed(chain("50us", "64KiB"), far="DDR4-3200"))
    assert windows["skipped_ns"] == pytest.approx(6 * 5 * 7800)  # six in 50 us, and one is left
    both(refreshed(GRAPHS["chain"], far="DDR4-3200"))


def test_memories_out_of_step_are_in_the_error() -> None:
    """1.95 us and a tREFI of 10371 clocks, 4.321 us, have no cycle in common that is short."""
    spec = refreshed(chain("333us", "64KiB"))
    spec["devices"]["far"]["media"]["timing"] = {"tREFI": 10371}
    spec["devices"]["far"]["media"]["refresh"] = "all-bank"
    _, windows = both(spec)
    assert windows["error_ns"] > 0
    assert windows["skipped_ns"] > 0


def test_what_is_passed_over_of_transfers_is_whole_cycles() -> None:
    _, windows = both(refreshed(server(reads("r", "b", "24MiB"))))
    cycles = windows["skipped_ns"] / DDR5_CYCLE
    assert cycles > 10
    assert cycles == pytest.approx(round(cycles), abs=1e-6)
