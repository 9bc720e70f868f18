"""What a bit and a second cost where the core counts no energy: ports, switches, retimers, media without currents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.spec import paths
from cxloom.spec.node import Node, Origin, described, from_plain
from cxloom.spec.quantities import checked
from cxloom.spec.reader import compose, file_text

Amount = Annotated[float, Field(ge=0, le=1e6, strict=True)]

# PEX88096 and PEX88024, PCIe 4.0, typical: 36 W with 96 lanes, 11 W with 24 (Linley newsletter, 24 September 2019), so
# 0.347 W a lane of 2 x 16 Gb/s, and 2.67 W without lanes.
_PORT_PJ = (36 - 11) / (96 - 24) / 32e9 * 1e12
_SWITCH_W = 11 - 24 * (36 - 11) / (96 - 24)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class MediaFigures(_Section):
    """A medium whose energy the core does not count."""

    read_pj_per_bit: Amount
    """Picojoules a bit that the medium reads."""
    write_pj_per_bit: Amount
    """Picojoules a bit that the medium writes."""
    idle_w: Amount = 0.0
    """Watts at all times."""


class Figures(_Section):
    """Energy of what the core counts none for."""

    port_pj_per_bit: Amount = _PORT_PJ
    """Picojoules a port of a physical link needs for a bit that it sends, and for one that it receives, with the logic
    behind it. By default 10.85, of two PCIe 4.0 switches."""
    port_idle_share: Annotated[float, Field(ge=0, le=1, strict=True)] = 1.0
    """What a port needs while there is nothing to send, as a share of what it needs then. A PCIe link in L0 sends idle
    symbols or flits all the time: 1."""
    switch_w: Amount = _SWITCH_W
    """Watts of a switch without its ports. By default 2.67, of the same switches."""
    retimer_pj_per_bit: Amount = _PORT_PJ
    """Picojoules a retimer needs for a bit of one direction. By default as much as a port."""
    controller_w: Amount | None = None
    """Watts of the controller of each memory device at a physical link, without its port; not counted without."""
    links: dict[str, Amount] = {}
    """Picojoules a bit of both ends together, by the names of links that are not physical (globs)."""
    media: dict[str, MediaFigures] = {}
    """Media whose energy the core does not count, by the names of memories (globs); of several in one memory
    `NAME.cache` and `NAME.backing`."""


MAPS = ("links", "media")
"""Figures by name."""


def tree(given: str | os.PathLike[str] | Mapping[str, Any] | None) -> Node:
    """Figures as they were written: of a YAML file, or of a map; nothing without one. Raises InputError."""
    if given is None or isinstance(given, Mapping):
        return from_plain(dict(given or {}), Origin())
    name = file_name(given, "a YAML file of figures, or a map", "figures")
    read = compose(file_text(name), lambda line, column: Origin(file=name, line=line, column=column))
    if read is None:
        return from_plain({}, Origin(file=name))
    if not isinstance(read.value, dict):
        found = described(read.value)
        raise read.origin.error("not figures", found=found, allowed="key: value pairs, such as switch_w: 4")
    return read


def figures_of(root: Node) -> Figures:
    """The figures of a tree, by default those of `Figures`. Raises InputError at what is wrong."""
    values: dict[str, Any] = {key: node.plain() for key, node in root.map().items()}
    try:
        for key in MAPS:
            if values.get(key, {}) is None:
                del values[key]
            elif not isinstance(values.get(key, {}), dict):
                _refuse(values[key], key, "names")
        values["media"] = {name: _medium(name, each) for name, each in values.get("media", {}).items()}
        return checked(
            Figures, values if values["media"] else {k: v for k, v in values.items() if k != "media"}
        )
    except InputError as error:
        raise paths.located(root, error) from None


def _medium(name: str, given: Any) -> MediaFigures:
    if not isinstance(given, dict):
        _refuse(given, f"media.{name}", "read_pj_per_bit, write_pj_per_bit and idle_w")
    return checked(MediaFigures, given, f"media.{name}")


def _refuse(found: Any, path: str, allowed: str) -> None:
    raise InputError("not a map", found=described(found), allowed=f"a map of {allowed}", path=path)
