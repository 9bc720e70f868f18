"""What a bit and a second cost where the core counts no energy: ports, switches, retimers, media without currents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from cxloom.base.errors import InputError
from cxloom.spec import paths
from cxloom.spec.node import Node, Origin, from_plain
from cxloom.spec.quantities import checked
from cxloom.spec.reader import read_file

Amount = Annotated[float, Field(ge=0)]

# PEX88096 and PEX88024, PCIe 4.0, typical: 36 W with 96 lanes, 11 W with 24 (Linley newsletter, 24 September 2019), so
# 0.347 W a lane of 2 x 16 Gb/s, and 2.67 W without lanes. PEX8796, PCIe 3.0, has 18.6 W (product brief): 4 % less.
_PORT_PJ = (36 - 11) / (96 - 24) / 32e9 * 1e12
_SWITCH_W = 11 - 24 * (36 - 11) / (96 - 24)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class MediaFigures(_Section):
    """A medium whose energy the core does not count."""

    read_pj_per_bit: Amount = 0.0
    """Picojoules a bit that the medium reads."""
    write_pj_per_bit: Amount = 0.0
    """Picojoules a bit that the medium writes."""
    idle_w: Amount = 0.0
    """Watts at all times."""


class Figures(_Section):
    """Energy of what the core counts none for."""

    port_pj_per_bit: Amount = _PORT_PJ
    """Picojoules a port of a physical link needs for a bit that it sends, and for one that it receives, with the logic
    behind it. By default 10.85, of two PCIe 4.0 switches."""
    port_idle_share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """What a port needs while there is nothing to send, as a share of what it needs then. A PCIe link in L0 sends idle
    symbols or flits all the time: 1."""
    switch_w: Amount = _SWITCH_W
    """Watts of a switch without its ports. By default 2.67, of the same switches."""
    retimer_pj_per_bit: Amount = _PORT_PJ
    """Picojoules a retimer needs for a bit of one direction. By default as much as a port."""
    controller_w: Amount | None = None
    """Watts of the controller of each memory that a physical link leads to, without its port; not counted without."""
    links: dict[str, Amount] = {}
    """Picojoules a bit of both ends together, by the names of links that are not physical (globs)."""
    media: dict[str, MediaFigures] = {}
    """Media whose energy the core does not count, by the names of memories (globs)."""


Value = TypeVar("Value")


def matching(table: Mapping[str, Value], name: str) -> Value | None:
    """The value whose glob matches a name, the last one of several."""
    found = [value for glob, value in table.items() if fnmatchcase(name, glob)]
    return found[-1] if found else None


def read(given: str | os.PathLike[str] | Mapping[str, Any] | None) -> Figures:
    """The figures of a YAML file, or of a map; the defaults without one. Raises InputError at what is wrong."""
    if given is None:
        return Figures()
    root = from_plain(dict(given), Origin()) if isinstance(given, Mapping) else read_file(given)
    try:
        return _figures(root)
    except InputError as error:
        raise paths.located(root, error) from None


def _figures(root: Node) -> Figures:
    values: dict[str, Any] = {key: node.plain() for key, node in root.map().items()}
    media = values.get("media")
    if isinstance(media, dict):
        values["media"] = {
            name: checked(MediaFigures, each, f"media.{name}") if isinstance(each, dict) else each
            for name, each in media.items()
        }
    return checked(Figures, values)
