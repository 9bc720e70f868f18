"""What the guest's kernel is told of its own balancing of pages."""

from __future__ import annotations

import pytest

from cxloom.base.errors import InputError
from cxloom.booting.balancing import Balancing


def values(balancing: Balancing) -> dict[str, int]:
    """What is written into each knob, by its last name."""
    pairs = (command.removeprefix("echo ").split(" >") for command in balancing.commands())
    return {file.rpartition("/")[2]: int(value) for value, file in pairs}


def test_a_kernel_is_left_as_it_is_set_itself() -> None:
    assert Balancing().commands() == []


@pytest.mark.parametrize(
    ("mode", "balancing", "demotion"), [("off", 0, 0), ("numa", 1, 0), ("demotion", 0, 1), ("tiering", 2, 1)]
)
def test_each_mode_sets_both_switches(mode: str, balancing: int, demotion: int) -> None:
    found = values(Balancing(mode))
    assert (found["numa_balancing"], found["demotion_enabled"]) == (balancing, demotion)
    assert (found["scan_delay_ms"], found["scan_period_max_ms"], found["scan_size_mb"]) == (1000, 60000, 256)


@pytest.mark.parametrize(
    ("factor", "delay", "longest", "at_once"),
    # The kernel looks at 2560 MB in a second of its clock at most: at a tenth of the period it has to do so each time.
    [(2, 2000, 120000, 256), (0.1, 100, 6000, 256), (0.01, 10, 600, 25), (0.00001, 1, 1, 2)],
)
def test_periods_are_scaled_and_looks_stay_as_short(
    factor: float, delay: int, longest: int, at_once: int
) -> None:
    found = values(Balancing("tiering", factor))
    assert found["scan_delay_ms"] == found["scan_period_min_ms"] == found["hot_threshold_ms"] == delay
    assert (found["scan_period_max_ms"], found["scan_size_mb"]) == (longest, at_once)


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_what_is_no_factor_is_refused(factor: float) -> None:
    with pytest.raises(InputError, match="no factor"):
        Balancing("tiering", factor).check("kernel")


@pytest.mark.parametrize("mode", [None, "tiering"])
def test_large_pages_are_set_whatever_is_balanced(mode: str | None) -> None:
    first, *others = Balancing(mode, large_pages="never").commands()
    assert first == "echo never >/sys/kernel/mm/transparent_hugepage/enabled"
    assert others == Balancing(mode).commands()


@pytest.mark.parametrize("memory", ["kernel", "device", "swap"])
def test_large_pages_are_for_every_mode_of_memory(memory: str) -> None:
    Balancing(large_pages="always").check(memory)
    with pytest.raises(InputError, match="no such setting of large pages"):
        Balancing(large_pages="off").check(memory)
