"""What the processes of a guest do outside of its kernel, by their mappings and the memories that these are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cxloom import _core
from cxloom.base.granules import PAGE
from cxloom.booting.machine import Machine

KERNEL = 1
FIRST_PROCESS = 2
"""What the kernel and the first process are called where times are by process (kKernelProcess of the core)."""


@dataclass(frozen=True)
class MappingUse:
    """A mapping of a process; all of one name count as one."""

    name: str
    """The name of its file; or in brackets: heap, stack, anonymous (memory of no file), page tables (that walks read),
    written by others (what the kernel wrote and this process's accesses wrote back), unknown (made before the program
    began)."""
    bytes: int
    """Bytes of its pages that were accessed beyond the caches."""
    accesses: int
    """Beyond the caches: what the process made there, and what it wrote back of it."""
    memories: Mapping[str, int]
    """These accesses by the memory that they went to; memories that share their pages by their names with a plus sign
    between them."""


@dataclass(frozen=True)
class ProcessUse:
    """A process of the guest, from its `execve` (or fork) to its end, or to its next `execve`."""

    pid: int
    name: str
    """As `/proc/PID/comm` has it."""
    instructions: int
    """What its programs run; what the kernel does for it is the kernel's."""
    accesses: int
    """Beyond the caches."""
    mappings: tuple[MappingUse, ...]
    """The most accessed first."""
    times_ns: tuple[float, ...] = ()
    """Simulated time of its instructions, and of waits for its accesses, on each of the systems."""

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"

    def to_dict(self) -> dict[str, Any]:
        """As results have it."""
        return asdict(self) | {"mappings": [asdict(each) for each in self.mappings]}


def uses_of(
    sieve: _core.ProgramCapture, machine: Machine, times_ns: Sequence[Mapping[int, float]] = ()
) -> tuple[ProcessUse, ...]:
    """The processes that ran while it was recorded, those with the most accesses first. ``times_ns`` are those of each
    system, by process as `Execution.processor_times_ns` has them."""
    mappings: dict[int, list[MappingUse]] = {}
    for process, name, pages, counts in sieve.guest_mappings:
        use = _use(name.decode(errors="replace"), pages, counts, machine)
        mappings.setdefault(process, []).append(use)
    found = [
        ProcessUse(
            pid,
            name.decode(errors="replace"),
            instructions,
            accesses,
            tuple(sorted(mappings.get(number, ()), key=lambda use: (-use.accesses, use.name))),
            tuple(each.get(FIRST_PROCESS + number, 0.0) for each in times_ns),
        )
        for number, (pid, name, instructions, accesses) in enumerate(sieve.guest_processes)
        if instructions
    ]
    return tuple(sorted(found, key=lambda each: (-each.accesses, -each.instructions, each.pid)))


def owners_of(sieve: _core.ProgramCapture, region: int) -> dict[int, str]:
    """For regions of so many bytes, by their numbers, the process and the mapping that access each most."""
    best: dict[int, tuple[int, str]] = {}
    names = [f"{name.decode(errors='replace')} ({pid})" for pid, name, _, _ in sieve.guest_processes]
    for process, name, pages, counts in sieve.guest_mappings:
        by_region: dict[int, int] = {}
        for number, count in zip((pages // (region // PAGE)).tolist(), counts.tolist(), strict=True):
            by_region[number] = by_region.get(number, 0) + count
        said = f"{names[process]} {name.decode(errors='replace')}"
        for number, count in by_region.items():
            if count > best.get(number, (0, ""))[0]:
                best[number] = (count, said)
    return {number: said for number, (_, said) in best.items()}


def _use(name: str, pages: Any, counts: Any, machine: Machine) -> MappingUse:
    memories: dict[str, int] = {}
    for memory, base, size in _memories(machine):
        there = int(counts[(pages >= base // PAGE) & (pages < (base + size) // PAGE)].sum())
        if there:
            memories[memory] = memories.get(memory, 0) + there
    return MappingUse(name, len(pages) * PAGE, int(counts.sum()), memories)


def _memories(machine: Machine) -> Sequence[tuple[str, int, int]]:
    """Names, first addresses and bytes of what the address map has of the machine."""
    ram = [("+".join(node.memories), span.base, span.size) for node in machine.ram for span in node.spans]
    return ram + [("+".join(each.targets), each.base, each.size) for each in machine.sets]
