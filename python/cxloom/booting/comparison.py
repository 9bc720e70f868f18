"""The kernel's address map held against the spec's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cxloom.base.errors import SimulationError
from cxloom.booting.decoded import KernelMap
from cxloom.booting.machine import InterleaveSet, Machine

_ROUNDS = 64
"""Rounds of an interleave that are looked at from each end of a region (own choice): what a decoder does with
higher bits of an
address does not depend on the lower ones, and each power of two is looked at besides."""


@dataclass(frozen=True)
class MappedSet:
    """An interleave set in the guest."""

    wanted: InterleaveSet
    base: int
    """Its first address of the host."""
    device_bases: Mapping[str, int]
    """Where it begins in each of its devices."""

    def locate(self, offset: int) -> tuple[str, int]:
        """The device that a byte of the set lies in by the spec, and its address there (docs/model/address_map.md)."""
        granularity, ways = self.wanted.granularity, len(self.wanted.targets)
        device = self.wanted.targets[offset // granularity % ways]
        within = offset // (granularity * ways) * granularity + offset % granularity
        return device, self.device_bases[device] + within


def mapped_sets(machine: Machine, kernel: KernelMap) -> list[MappedSet]:
    """The sets of a machine with their places in the guest: each has a window, in order; of a device they take
    parts that
    follow each other. Raises SimulationError if the kernel has other windows."""
    windows = kernel.windows
    sizes = [window.size for window in windows]
    if sizes != [each.size for each in machine.sets]:
        raise SimulationError(
            f"the kernel has windows of {sizes} bytes, and the address map has regions of "
            f"{[each.size for each in machine.sets]}"
        )
    taken: dict[str, int] = {}
    mapped = []
    for wanted, window in zip(machine.sets, windows, strict=True):
        mapped.append(MappedSet(wanted, window.base, {name: taken.get(name, 0) for name in wanted.targets}))
        for name in wanted.targets:
            taken[name] = taken.get(name, 0) + wanted.size // len(wanted.targets)
    return mapped


def check_map(machine: Machine, kernel: KernelMap) -> int:
    """Raises SimulationError if the kernel's decoders lead an address elsewhere than the spec does; gives how many were
    followed."""
    names = {endpoint.serial: endpoint.name for endpoint in machine.endpoints()}
    count = 0
    for mapped in mapped_sets(machine, kernel):
        for offset in _offsets(mapped.wanted):
            count += 1
            expected = mapped.locate(offset)
            found = kernel.locate(mapped.base + offset)
            if found is None or (names[found[0]], found[1]) != expected:
                where = "nowhere" if found is None else f"to {names[found[0]]}, {found[1]:#x}"
                raise SimulationError(
                    f"the kernel's decoders lead byte {offset:#x} of {mapped.wanted.place} {where}; "
                    f"the address map has it at {expected[0]}, {expected[1]:#x}"
                )
    return count


def _offsets(wanted: InterleaveSet) -> Iterator[int]:
    """Bytes of a set: all chunks of the first and last rounds, with their first and last byte, and each power of
    two."""
    step = wanted.granularity
    chunks = wanted.size // step
    rounds = min(chunks, _ROUNDS * len(wanted.targets))
    for chunk in (*range(rounds), *range(chunks - rounds, chunks)):
        yield chunk * step
        yield chunk * step + step - 1
    bit = step
    while bit < wanted.size:
        yield bit
        bit *= 2
