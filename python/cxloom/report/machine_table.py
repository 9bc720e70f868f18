"""What processes of a guest and their mappings have of a program's accesses, as people see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cxloom.base.words import counted
from cxloom.display.numbers import size
from cxloom.display.tables import Column, laid_out

if TYPE_CHECKING:
    from rich.console import Console

    from cxloom.booting.timed import MachineResult

KERNEL = "the kernel"
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
