"""The processors that come with cxloom, for the hosts of other systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxloom.base.errors import InputError
from cxloom.spec import presets
from cxloom.spec.names import nearest
from cxloom.spec.parts import part_of
from cxloom.system.system import System

FOLDER = "server/"
"""The folder of the presets that have a processor."""
_PARTS = ("core", "cache", "queue", "process_time")


@dataclass(frozen=True)
class Processor:
    """What a socket has in front of its memory: cores, their caches, the level that they share, and the way to it."""

    name: str
    values: Mapping[str, Any]
    """Parameters of a host, as a spec has them."""

    @classmethod
    def load(cls, name: str) -> Processor:
        """That of the only host of a shipped preset, whose name may be without its folder. Raises InputError."""
        names = [each.removeprefix(FOLDER) for each in presets.names() if each.startswith(FOLDER)]
        short = name.removeprefix(FOLDER)
        if short not in names:
            raise InputError(
                "there is no such processor",
                found=repr(name),
                allowed=", ".join(names),
                suggestion=nearest(short, names) or "",
                path="--core",
            )
        spec = System.load(FOLDER + short).resolve().plain()
        [host] = [part for name in spec["devices"] if (part := part_of(spec, name, "requester")) is not None]
        return cls(short, {key: host.written[key] for key in _PARTS if key in host.written})
