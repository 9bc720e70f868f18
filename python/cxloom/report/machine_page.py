"""The page of a program in a guest: that of a program, and what processes and their mappings have of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cxloom.booting.timed import MachineResult
from cxloom.display.numbers import duration, percent, significant, size
from cxloom.report.execution_page import execution_page
from cxloom.report.machine_table import Turn, rows_of, turns_of
from cxloom.report.page import Cell, Section, table

_MOST = 200  # rows of mappings


def _share(count: int, whole: int) -> list[Cell]:
    share = count / (whole or 1)
    return [Cell(f"{count:,}", count), Cell(percent(share), share)]


def _time(turn: Turn, found: MachineResult) -> list[Cell]:
    if not turn.times_ns:
        return [Cell("")] * 3
    own, whole = turn.times_ns[-1], found.processor_ns[-1] or 1.0
    slowdown = turn.slowdown
    factor = Cell("") if slowdown is None else Cell(significant(slowdown), slowdown)
    return [Cell(duration(own), own), Cell(percent(own / whole), own / whole), factor]


def machine_page(found: MachineResult) -> str:
    """The text of the page."""
    whole = replace(found.result, notes=(found.sentence(), *found.result.notes))
    if not found.processes:
        return execution_page(whole)
    return execution_page(whole, [Section("processes", "Processes", _processes(found))], found.owners)


def _processes(found: MachineResult) -> str:
    accesses = found.result.accesses or 1
    rows: list[list[Any]] = [
        [
            Cell(each.name, look="text"),
            each.pid,
            *_time(each, found),
            *_share(each.instructions, found.result.instructions),
            *_share(each.accesses, found.result.accesses),
        ]
        for each in turns_of(found)
    ]
    heads = ["process", "number", "time", "share", "slowdown", "instructions", "share", "accesses", "share"]
    text = (
        "What runs outside of the kernel is its process's; what the kernel does for a process is the kernel's. "
        "Time is that of instructions and of waits for their accesses; the times sum to those of all processors, but "
        "when they had nothing to do. Accesses are those beyond the caches of the cores."
    )
    mapped: list[list[Any]] = [
        [
            Cell(each.process, look="text"),
            Cell(each.mapping, look="text"),
            Cell(size(each.bytes), each.bytes),
            Cell(f"{each.accesses:,}", each.accesses),
            Cell(percent(each.accesses / accesses), each.accesses / accesses),
            Cell(each.where, look="text"),
        ]
        for each in rows_of(found)[:_MOST]
        if each.mapping
    ]
    own = ["process", "mapping", "touched", "accesses", "share", "in"]
    return (
        f'<p class="soft">{text}</p>{table(heads, rows, caption="Processes, the most time first")}'
        f"{table(own, mapped, caption='Mappings, the most accessed first')}"
    )
