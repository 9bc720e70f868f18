"""Whether decoders of host bridges and switches can spread a region over its devices as the spec has it.

Each level takes the lowest bits of the chunk's number that the levels above it left: the window goes round the host
bridges, each bridge round its root ports, each switch round its devices (CXL 3.x, 9.13.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.booting.machine import UNIT, InterleaveSet, Machine

WAYS = (1, 2, 4, 8, 16)
"""The ways that QEMU's devices decode; 3, 6 and 12 of CXL are not among them."""
GRANULARITIES = tuple(256 << step for step in range(7))
"""256 B to 16 KiB."""
MOST_DECODERS = 4
"""The decoders of a device of QEMU, each for one region."""


@dataclass(frozen=True)
class Level:
    """What the decoder of one level does: round how many, and after how many bytes."""

    ways: int
    granularity: int


def levels(machine: Machine, wanted: InterleaveSet) -> dict[str, Level]:
    """The decoders for a set: of the `window`, of each `bridge NAME`, of each `device NAME`; and of the switches.

    Raises InputError, at the region's place, if there are none for it.
    """
    routes = [machine.route(target) for target in wanted.targets]
    ways = len(routes)
    if ways not in WAYS:
        raise _refused(
            wanted, f"QEMU's devices decode no interleave of {ways} ways", allowed=", ".join(map(str, WAYS))
        )
    bridges = [bridge for bridge, _ in routes]
    step = wanted.granularity
    found = {"window": Level(_turns(wanted, "host bridges", bridges), step)}
    step *= found["window"].ways
    for bridge in dict.fromkeys(bridges):
        ports = [port for its, port in routes if its == bridge]
        turns = _turns(wanted, f"root ports of {machine.bridges[bridge].name}", ports)
        found[f"bridge {machine.bridges[bridge].name}"] = Level(turns, step)
        for port in dict.fromkeys(ports):
            found[f"port {bridge}.{port}"] = Level(ports.count(port), step * turns)
    for target in wanted.targets:
        found[f"device {target}"] = Level(ways, wanted.granularity)
    for name, level in found.items():
        if level.ways > 1 and level.granularity not in GRANULARITIES:
            raise _refused(
                wanted,
                f"the decoder of {name} would take turns of {level.granularity} B",
                allowed="256 B to 16 KiB at each level, by powers of two",
            )
    if wanted.size % (ways * UNIT):
        raise _refused(
            wanted,
            "a region that decoders cannot have",
            found=f"{wanted.size} B over {counted(ways, 'device')}",
            allowed=f"a multiple of {ways * 256} MiB",
        )
    return found


def check_decoders(machine: Machine) -> None:
    """Raises InputError for a set that decoders cannot do, or a device in more sets than it has decoders."""
    uses: dict[str, int] = {}
    for each in machine.sets:
        levels(machine, each)
        for target in each.targets:
            uses[target] = uses.get(target, 0) + 1
            if uses[target] > MOST_DECODERS:
                raise _refused(
                    each,
                    f"too many regions of '{target}'",
                    found=str(uses[target]),
                    allowed=f"{MOST_DECODERS}, the decoders of a device of QEMU",
                )


def _turns(wanted: InterleaveSet, what: str, chosen: Sequence[int]) -> int:
    """How many a level goes round, given which of them each target is below. Raises InputError for another order."""
    order = list(dict.fromkeys(chosen))
    turns = len(order)
    if (
        turns not in WAYS
        or len(chosen) % turns
        or any(each != order[place % turns] for place, each in enumerate(chosen))
    ):
        raise _refused(
            wanted,
            f"decoders go round the {what} in turn, and the targets of this region do not",
            found=", ".join(wanted.targets),
            allowed="targets whose neighbours in the list are below different ones, the same number below each",
        )
    return turns


def _refused(wanted: InterleaveSet, problem: str, *, found: str = "", allowed: str = "") -> InputError:
    return InputError(problem, found=found, allowed=allowed, path=wanted.place)
