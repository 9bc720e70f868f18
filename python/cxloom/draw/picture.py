"""A picture of a system before it is SVG or anything else: marks, lines and labels with their places in pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cxloom.base.words import counted
from cxloom.draw.graph import Edge, Graph, Node, Role
from cxloom.draw.labels import Label, labels
from cxloom.draw.layout import laid_out
from cxloom.draw.layout_shapes import SIZE
from cxloom.draw.node_style import NodeStyle, style_of
from cxloom.draw.routes import Way

UNIT = 60.0
"""Pixels of the unit of places."""
PAGE = 1000.0
"""A picture is mostly seen so many pixels wide; letters are legible there."""
MANY = 200
"""So many lines are drawn fainter."""
NARROW = 330.0
"""A picture on a telephone is so many pixels wide."""
_LETTERS = 12.0
_WIDER = 1.15
"""A picture that is so many times as wide as high is turned for a telephone: its rows become columns."""
_MARGIN = 0.75
_LARGEST_DISC = 0.42
_LEAST_SHOWN = 0.002
"""Shorter queues, as a share of the longest, are not shown."""
_NARROWEST, _NARROWEST_LOADED = 7.0, 10.5
"""Room for the legend, without and with the classes of load."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy a system was: what the colours and sizes of a picture stand for."""

    links: Mapping[tuple[str, str], float]
    """Busy share of a direction, by the name of the link and the device that sends; none without a bandwidth."""
    nodes: Mapping[str, float]
    """Busy share of a device that is a wire itself: a bus."""
    queues: Mapping[str, float]
    """What waits at a device on average."""
    about: Callable[[str], str]
    """What there is to say of a device or of a link, by its name."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A node: its place, its look, what it is called, and what there is to say of it."""

    x: float
    y: float
    style: NodeStyle
    kind: str
    count: int
    title: str
    queue: float
    """Radius of what shows its queue, in pixels."""
    load: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: its way, and how busy it is in the direction from each end; None where it has no bandwidth."""

    way: Way
    count: int
    title: str
    loads: tuple[float | None, float | None] | None


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn, in pixels from the upper left."""

    width: float
    height: float
    radius: float
    letters: float
    """Height of the letters."""
    marks: Sequence[Mark]
    lines: Sequence[Line]
    labels: Sequence[Label]
    kinds: Mapping[str, NodeStyle]
    """What there is of kinds, for a legend."""
    loaded: bool
    largest_queue: float
    about: str
    """What there is to see, for those who do not see it."""


def picture(graph: Graph, load: Load | None = None, *, narrow: bool = False) -> Picture:
    """The picture of a graph; with a load, links show how busy they were and nodes what waited there.

    With `narrow` it is for a telephone: what is wide stands upright, and letters are larger, so that fewer names stand
    there.
    """
    layout = laid_out(graph)
    margin = 0.4 * _MARGIN if narrow else _MARGIN
    low = _low(layout.places, layout.ways)
    places = layout.places - low + margin
    ways = [way.moved(1, margin - low) for way in layout.ways]
    width, height = _extent(places, ways, margin)
    turned = narrow and width > _WIDER * height
    if turned:
        places, ways = places[:, ::-1], [Way(way.points[:, ::-1], way.is_curve) for way in ways]
        width, height = height, width
    letters = _LETTERS / UNIT * max(1.0, width * UNIT / (NARROW if narrow else PAGE))
    queues = [_queue(node, load) for node in graph.nodes]
    largest = max(queues, default=0.0)
    discs = [_disc(queue, largest) for queue in queues]
    texts = labels(graph, places, ways, letters, np.maximum(discs, SIZE), turned)
    left = min([0.0, *(label.x - label.width / 2 - 0.1 for label in texts)])
    right = max([width, *(label.x + label.width / 2 + 0.1 for label in texts)])
    top = min([0.0, *(label.y - label.height for label in texts)])
    bottom = max([height, *(label.y + label.height for label in texts)])
    least = (_NARROWEST if load is None else _NARROWEST_LOADED) * letters * UNIT / _LETTERS
    free = 0.0 if narrow else max(0.0, least - (right - left)) / 2
    left, right = left - free, right + free
    shift = np.array([-left, -top])
    marks = [
        Mark(
            float(place[0] + shift[0]) * UNIT,
            float(place[1] + shift[1]) * UNIT,
            style_of(node),
            node.kind,
            len(node.names),
            _title(node, load),
            UNIT * disc,
            None
            if load is None
            else max((load.nodes[name] for name in node.names if name in load.nodes), default=None),
        )
        for node, place, disc in zip(graph.nodes, places, discs, strict=True)
    ]
    lines = [
        Line(way.moved(UNIT, shift * UNIT), len(edge.links), _edge_title(edge, load), _loads(edge, load))
        for edge, way in zip(graph.edges, ways, strict=True)
    ]
    texts = [
        Label(
            label.node,
            label.text,
            (label.x + shift[0]) * UNIT,
            (label.y + shift[1]) * UNIT,
            label.width * UNIT,
            label.height * UNIT,
        )
        for label in texts
    ]
    kinds = {node.kind: style_of(node) for node in sorted(graph.nodes, key=_by_role)}
    return Picture(
        (right - left) * UNIT,
        (bottom - top) * UNIT,
        SIZE * UNIT,
        letters * UNIT,
        marks,
        lines,
        texts,
        kinds,
        load is not None,
        largest,
        about_of(graph),
    )


def pictures(graph: Graph, load: Load | None = None) -> tuple[Picture, Picture]:
    """The picture for a screen and that for a telephone."""
    return picture(graph, load), picture(graph, load, narrow=True)


def _by_role(node: Node) -> int:
    return list(Role).index(node.role)


def _low(places: np.ndarray, ways: Sequence[Way]) -> np.ndarray:
    lowest: np.ndarray = np.vstack([places, *(way.samples(12) for way in ways)]).min(axis=0)
    return lowest


def _extent(places: np.ndarray, ways: Sequence[Way], margin: float) -> tuple[float, float]:
    width, height = np.vstack([places, *(way.samples(12) for way in ways)]).max(axis=0) + margin
    return float(width), float(height)


def _queue(node: Node, load: Load | None) -> float:
    return 0.0 if load is None else max(load.queues.get(name, 0.0) for name in node.names)


def _disc(queue: float, largest: float) -> float:
    """Radius of what shows a queue: its area grows with the queue, and shows beside the node."""
    share = queue / largest if largest else 0.0
    return (SIZE**2 + (_LARGEST_DISC**2 - SIZE**2) * share) ** 0.5 if share > _LEAST_SHOWN else 0.0


def _title(node: Node, load: Load | None) -> str:
    what = (
        f"{node.label}: {node.kind}"
        if len(node.names) == 1
        else f"{node.label}: {len(node.names)} x {node.kind}"
    )
    if load is None:
        return what
    return "\n".join([what, *filter(None, (load.about(name) for name in node.names[:8]))])


def _edge_title(edge: Edge, load: Load | None) -> str:
    names = [name for name, _, _ in edge.links]
    if load is None:
        return names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}: {len(names)} links"
    return "\n".join(filter(None, (load.about(name) for name in names[:4]))) or names[0]


def _loads(edge: Edge, load: Load | None) -> tuple[float | None, float | None] | None:
    if load is None:
        return None
    there = [load.links.get((name, first)) for name, first, _ in edge.links]
    back = [load.links.get((name, last)) for name, _, last in edge.links]
    return _most(there), _most(back)


def _most(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return max(known) if known else None


def about_of(graph: Graph) -> str:
    """What there is, counted."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        counts[node.kind] = counts.get(node.kind, 0) + len(node.names)
    links = sum(len(edge.links) for edge in graph.edges)
    return ", ".join([*(counted(count, kind) for kind, count in counts.items()), counted(links, "link")])


def count_size(count: int, radius: float) -> float:
    """Height of the letters of a number that fits into a node."""
    return min(10.0, 2.4 * radius / len(str(count)))


def loads_of(picture: Picture) -> list[float | None]:
    """The loads that are shown: of directions of links, None for one without a bandwidth, and of buses."""
    found: list[float | None] = [load for line in picture.lines for load in line.loads or ()]
    return found + [mark.load for mark in picture.marks if mark.load is not None]


def busiest(line: Line) -> float:
    """The load of the busier direction: busy lines are drawn over idle ones."""
    return max((load or 0.0 for load in line.loads or ()), default=0.0)
