"""What processes of a guest and their mappings have of a program's accesses, as people see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cxloom.base.words import counted
from cxloom.display.numbers import duration, significant, size
from cxloom.display.tables import Column, laid_out

if TYPE_CHECKING:
    from rich.console import Console

    from cxloom.booting.timed import MachineResult

KERNEL = "the kernel"
_UNKNOWN = "not told apart"
_ROWS = 10  # that are shown on a terminal
_LEAST = 0.005  # a share of a memory that is said


@dataclass(frozen=True)
class Row:
    """A mapping of a process, or the kernel."""

    process: str
    mapping: str
    """Empty: of the kernel."""
    bytes: int
    accesses: int
    where: str
    """The memories that the accesses go to, with their shares if there are several."""


def rows_of(found: MachineResult) -> list[Row]:
    """All that made accesses, those with the most first."""
    rows = [
        Row(str(process), each.name, each.bytes, each.accesses, _where(each.memories))
        for process in found.processes
        for each in process.mappings
    ]
    rows.append(Row(KERNEL, "", 0, found.kernel_accesses, ""))
    return sorted((each for each in rows if each.accesses), key=lambda each: -each.accesses)


@dataclass(frozen=True)
class Turn:
    """A process or the kernel, and its part of the time of the processors."""

    name: str
    pid: str
    """Empty: of the kernel, or of nobody who is known."""
    instructions: int
    accesses: int
    times_ns: tuple[float, ...]
    """On each of the systems."""

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})" if self.pid else self.name

    @property
    def slowdown(self) -> float | None:
        """Its time on the last system / that on the first."""
        return self.times_ns[-1] / self.times_ns[0] if self.times_ns and self.times_ns[0] else None


def turns_of(found: MachineResult) -> list[Turn]:
    """All that ran, those that took the most time on the last system first. Their times sum to that of the
    processors."""
    turns = [
        Turn(KERNEL, "", found.kernel_instructions, found.kernel_accesses, found.kernel_ns),
        *(
            Turn(each.name, str(each.pid), each.instructions, each.accesses, each.times_ns)
            for each in found.processes
        ),
    ]
    unknown = found.result.instructions - sum(each.instructions for each in turns)
    if unknown > 0:
        accesses = found.result.accesses - sum(each.accesses for each in turns)
        times = tuple(
            whole - sum(each.times_ns[system] for each in turns)
            for system, whole in enumerate(found.processor_ns)
        )
        turns.append(Turn(_UNKNOWN, "", unknown, accesses, times))
    return sorted(turns, key=lambda each: ([-ns for ns in each.times_ns[-1:]], -each.accesses))


def show_times(found: MachineResult, console: Console) -> None:
    """Shows how much of the time of the processors each process has; nothing if processes are not told apart."""
    if not found.processes or not found.processor_ns or not found.processor_ns[-1]:
        return
    turns = turns_of(found)
    shown = turns if len(turns) <= _ROWS else turns[: _ROWS - 1]
    if left := turns[len(shown) :]:
        sums = tuple(map(sum, zip(*(each.times_ns for each in left), strict=True)))
        instructions, accesses = sum(each.instructions for each in left), sum(each.accesses for each in left)
        shown = [*shown, Turn(counted(len(left), "other"), "", instructions, accesses, sums)]
    whole = found.processor_ns[-1]
    columns = {
        "process": [str(each) for each in shown],
        "time": [duration(each.times_ns[-1]) for each in shown],
        "share": [f"{each.times_ns[-1] / whole:.1%}" for each in shown],
        "slowdown": ["" if each.slowdown is None else significant(each.slowdown) for each in shown],
        "instructions": [f"{each.instructions:,}" for each in shown],
    }
    lines = laid_out(
        [
            Column(head, cells, may_shrink=head == "process", right=head != "process")
            for head, cells in columns.items()
        ],
        console.width,
    )
    console.print("Time of the processors, by process:", highlight=False, markup=False)
    for line in lines:
        console.print(line, highlight=False, markup=False)


def show_processes(found: MachineResult, console: Console) -> None:
    """Shows which mappings of which processes are accessed most; nothing if processes are not told apart."""
    rows = rows_of(found)
    if not found.processes or not rows:
        return
    shown = rows if len(rows) <= _ROWS else rows[: _ROWS - 1]
    left = rows[len(shown) :]
    whole = found.result.accesses
    columns = {
        "process": [each.process for each in shown],
        "mapping": [each.mapping for each in shown],
        "touched": [size(each.bytes) if each.bytes else "" for each in shown],
        "accesses": [f"{each.accesses:,}" for each in shown],
        "share": [f"{each.accesses / whole:.1%}" for each in shown],
        "in": [each.where for each in shown],
    }
    if left:
        accesses = sum(each.accesses for each in left)
        last = (counted(len(left), "other"), "", "", f"{accesses:,}", f"{accesses / whole:.1%}", "")
        for cells, cell in zip(columns.values(), last, strict=True):
            cells.append(cell)
    numbers = ("touched", "accesses", "share")
    lines = laid_out(
        [
            Column(head, cells, may_shrink=head in ("process", "mapping"), right=head in numbers)
            for head, cells in columns.items()
        ],
        console.width,
    )
    console.print("Accesses beyond the caches, by process and mapping:", highlight=False, markup=False)
    for line in lines:
        console.print(line, highlight=False, markup=False)


def _where(memories: Mapping[str, int]) -> str:
    whole = sum(memories.values())
    shares = {name: count / whole for name, count in memories.items() if count >= _LEAST * whole}
    first = sorted(shares, key=lambda name: -shares[name])
    return first[0] if len(first) == 1 else ", ".join(f"{name} {shares[name]:.0%}" for name in first)
