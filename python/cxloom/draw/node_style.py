"""How devices look: what they do has a shape and a colour of its own, so that neither is needed to tell them apart.

The colours are those of `display.style`. Load goes from light to dark on light paper and from dark to light on
dark paper, so that it survives a grey print; the colours are from the map "inferno" of N. Smith and S. van der Walt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cxloom.draw.graph import ROOT, Node, Role

Outline = tuple[tuple[float, float], ...]
"""The corners of a shape, the radius of a node being 1."""


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """How a node is drawn."""

    shape: str
    colour: str


def _regular(corners: int, radius: float = 1.0) -> Outline:
    """A regular polygon that stands on its base, or, of four corners, on its tip."""
    turn = -math.pi / 2
    return tuple(
        (
            radius * math.cos(turn + 2 * math.pi * corner / corners),
            radius * math.sin(turn + 2 * math.pi * corner / corners),
        )
        for corner in range(corners)
    )


_HALF_ARROW = ((-1.0, 0.0), (-0.5, -0.62), (-0.5, -0.27), (0.5, -0.27), (0.5, -0.62))
SHAPES: dict[str, Outline] = {
    "square": ((-0.75, -0.75), (0.75, -0.75), (0.75, 0.75), (-0.75, 0.75)),
    "circle": _regular(36, 0.88),
    "module": (
        *((-0.98, -0.5), (0.98, -0.5), (0.98, 0.5), (0.3, 0.5), (0.3, 0.22), (0.06, 0.22), (0.06, 0.5)),
        (-0.98, 0.5),
    ),
    "hexagon": _regular(6),
    "arrow": (*_HALF_ARROW, *((-x, -y) for x, y in _HALF_ARROW)),
    "diamond": _regular(4),
    "triangle": _regular(3),
    "pentagon": _regular(5, 0.95),
}
"""A memory looks like a module, a bus like a double arrow."""

STYLES = {
    ROOT: NodeStyle("square", "#0072b2"),
    "requester": NodeStyle("hexagon", "#cc79a7"),
    "switch": NodeStyle("circle", "#e69f00"),
    "shared-medium": NodeStyle("arrow", "#d55e00"),
    "memory": NodeStyle("module", "#009e73"),
    "io-initiator": NodeStyle("diamond", "#56b4e9"),
    "home": NodeStyle("triangle", "#a89a00"),
}
"""By what a device does first of all: hosts, accelerators, switches, buses, memories, I/O engines, coherency agents."""
_OTHERS = {
    Role.REQUESTER: NodeStyle("hexagon", "#0072b2"),
    Role.MEMORY: NodeStyle("pentagon", "#009e73"),
    Role.FABRIC: NodeStyle("pentagon", "#e69f00"),
    Role.OTHER: NodeStyle("pentagon", "#808890"),
}


def style_of(node: Node) -> NodeStyle:
    """How a node is drawn: by what it does, or what it is for where that is all that is known."""
    return STYLES.get(node.does) or _OTHERS[node.role]


LOADS = (0.02, 0.25, 0.5, 0.75, 0.9)
"""Where one class of load ends and the next begins."""
LOAD_NAMES = ("idle", "to 25 %", "to 50 %", "to 75 %", "to 90 %", "over 90 %")
ON_LIGHT = ("#b9c0c9", "#f0b429", "#ea7a23", "#c93b4b", "#8b1d63", "#3a0a5c")
ON_DARK = ("#4a525c", "#7a3fa8", "#bb3a72", "#e8602d", "#f7a72f", "#fcf3a6")


def load_class(share: float) -> int:
    """The class of a load, from 0 to 5."""
    return sum(share > limit for limit in LOADS)
