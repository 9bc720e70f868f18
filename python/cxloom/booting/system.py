"""The machine of a resolved spec, with errors at their places in it."""

from __future__ import annotations

from collections.abc import Sequence

from cxloom.base.errors import InputError
from cxloom.booting.from_spec import machine_of
from cxloom.booting.machine import Machine
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import describe

_BOOTED = ("devices", "links", "address_map")
"""Sections that say what there is; the others say what is done on it, and a program does something else there."""


def machine_of_system(
    resolved: Resolved, host: str | None = None, local: Sequence[str] | None = None
) -> Machine:
    """The machine that one host of a system sees, as `machine_of` has it.

    Raises InputError, with file, line and key, for what a machine of QEMU cannot have.
    """
    found = bare(resolved)
    try:
        return machine_of(found.plain(), describe(found), host, local)
    except InputError as error:
        raise error if error.path.startswith("--") else found.placed(error) from None


def bare(resolved: Resolved) -> Resolved:
    """A system without what is done on it."""
    entries = {key: node for key, node in resolved.root.map().items() if key in _BOOTED}
    return Resolved(resolved.root.with_entries(entries))
