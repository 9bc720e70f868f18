"""The machine of a resolved spec, with errors at their places in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cxloom.base.errors import InputError
from cxloom.booting.from_spec import machine_of
from cxloom.booting.machine import Machine
from cxloom.spec.parts import part_of
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import describe

MOST_PROCESSORS = 64
"""Processors of a machine whose host does not say how many cores it has: as many as cores have by default."""
_BOOTED = ("devices", "links", "address_map")
"""Sections that say what there is; the others say what is done on it, and a program does something else there."""


def machine_of_system(
    resolved: Resolved,
    host: str | None = None,
    local: Sequence[str] | None = None,
    processors: int = 1,
) -> Machine:
    """The machine that one host of a system sees, as `machine_of` has it, with so many processors.

    Raises InputError, with file, line and key, for what a machine of QEMU cannot have, and for more processors than the
    host has cores.
    """
    found = bare(resolved)
    described = describe(found)  # whose errors are placed
    try:
        machine = machine_of(found.plain(), described, host, local)
    except InputError as error:
        raise error if error.path.startswith("--") else found.placed(error) from None
    part = part_of(found.plain(), machine.host, "requester")
    core = part.below("core") if part is not None else None
    cores = (core.count("cores") if core is not None else None) or MOST_PROCESSORS
    if not 1 <= processors <= cores:
        raise InputError(
            f"more processors than {machine.host} has cores"
            if processors > cores
            else "no number of processors",
            found=str(processors),
            allowed=f"1 to {cores}",
            path="--processors",
        )
    return replace(machine, processors=processors)


def bare(resolved: Resolved) -> Resolved:
    """A system without what is done on it."""
    entries = {key: node for key, node in resolved.root.map().items() if key in _BOOTED}
    return Resolved(resolved.root.with_entries(entries))
