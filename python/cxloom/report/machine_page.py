"""The page of a program in a guest: that of a program, and what processes and their mappings have of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cxloom.booting.timed import MachineResult
from cxloom.display.numbers import percent, size
from cxloom.report.execution_page import execution_page
from cxloom.report.machine_table import KERNEL, rows_of
from cxloom.report.page import Cell, Section, table

_MOST = 200  # rows of mappings


def machine_page(found: MachineResult) -> str:
    """The text of the page."""
    whole = replace(found.result, notes=(found.sentence(), *found.result.notes))
    if not found.processes:
        return execution_page(whole)
    return execution_page(whole, [Section("processes", "Processes", _processes(found))], found.owners)


def _processes(found: MachineResult) -> str:
    instructions, accesses = found.result.instructions or 1, found.result.accesses or 1
    ran = [
        ("", KERNEL, found.kernel_instructions, found.kernel_accesses),
        *((str(each.pid), each.name, each.instructions, each.accesses) for each in found.processes),
    ]
    rows: list[list[Any]] = [
        [
            Cell(name, look="text"),
            pid,
            Cell(f"{own:,}", own),
            Cell(percent(own / instructions), own / instructions),
            Cell(f"{beyond:,}", beyond),
            Cell(percent(beyond / accesses), beyond / accesses),
        ]
        for pid, name, own, beyond in ran
    ]
    heads = ["process", "number", "instructions", "share", "accesses", "share"]
    text = (
        "What runs outside of the kernel is its process's; what the kernel does for a process is the kernel's. "
        "Accesses are those beyond the caches of the cores."
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
        f'<p class="soft">{text}</p>{table(heads, rows, caption="Processes, the most accesses first")}'
        f"{table(own, mapped, caption='Mappings, the most accessed first')}"
    )
