"""How much RAM is left to programs: the rest is taken, so that they need memory on CXL, or swap."""

from __future__ import annotations

import re

from cxloom.base.errors import InputError
from cxloom.booting.guest import Guest
from cxloom.booting.machine import Machine

_HUGE = 2 << 20
_PIECE = 64 << 10
_MINIMUM_KB = 4096
"""Free memory that only the kernel takes (vm.min_free_kbytes). It sets it to tens of megabytes for huge pages."""
_KEPT = 2 * _MINIMUM_KB << 10
"""Free bytes below which the kernel takes memory back: a half more than that minimum, and what processors hold."""
_FOLDER = "/cxloom/taken"
_LEAST = 8 << 20
"""The kernel and its tools want some megabytes (own choice)."""


def room_of(text: str | None, machine: Machine) -> int | None:
    """The bytes that `--room` says; None if it is not given. Raises InputError, also if the first node has no more."""
    if text is None:
        return None
    from cxloom.spec.parts import quantity

    try:
        room = int(quantity("bytes", text))
    except InputError as error:
        raise InputError(
            error.problem, found=error.found, allowed="a size such as 64MiB", path="--room"
        ) from None
    if room < _LEAST:
        raise InputError(
            "too little room for a program", found=text, allowed=f"{_LEAST >> 20}MiB or more", path="--room"
        )
    if room >= machine.ram[0].size:
        raise InputError(
            "nothing is to be taken of the host's own memory, which is no larger than that",
            found=text,
            allowed=f"less than {machine.ram[0].size >> 20}MiB",
            path="--room",
        )
    return room


def leave_room(guest: Guest, nodes: int, room: int) -> None:
    """Takes RAM until programs have so much of the first node, and nothing of others: huge pages that nobody uses, as
    far as memory is not in pieces, and files of ramfs, neither of which is swapped.

    Raises InputError if there is less already, and SimulationError if the kernel does not give so much away.
    """
    guest.run("echo 3 >/proc/sys/vm/drop_caches; echo 1 >/proc/sys/vm/compact_memory", "freeing memory")
    guest.run(f"echo {_MINIMUM_KB} >/proc/sys/vm/min_free_kbytes", "setting the kernel's own part")
    guest.run(f"mkdir -p {_FOLDER} && mount -t ramfs ramfs {_FOLDER}", "taking memory")
    for node in range(nodes):
        wanted = _KEPT + (room if node == 0 else 0)
        free = _free(guest, node)
        if free < wanted:
            raise InputError(
                "the guest has not so much memory free",
                found=f"{max(0, free - _KEPT) >> 20} MiB",
                allowed="less, or a larger capacity of the host's own memory",
                path="--room",
            )
        pages = f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages"
        guest.run(f"echo {(free - wanted) // _HUGE} >{pages}", "taking memory")
        pieces = max(0, _free(guest, node) - wanted) // _PIECE
        guest.run(
            f"numactl --membind={node} dd if=/dev/zero of={_FOLDER}/node{node} bs={_PIECE} count={pieces}",
            "taking memory",
        )


def _free(guest: Guest, node: int) -> int:
    listed = guest.run(f"cat /sys/devices/system/node/node{node}/meminfo", "reading how much memory is free")
    found = re.search(r"MemFree:\s+(\d+) kB", listed)
    return int(found[1]) << 10 if found is not None else 0
