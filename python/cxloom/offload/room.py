"""Room for a plan that is divided: objects of it spill over from node to node as those of the whole do.

Memory is not divided with the plan. Of a node that the whole may fill, all but its part is taken by an object that
nobody moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxloom.base.granules import LINE
from cxloom.offload.target import Target
from cxloom.offload.task_graph import TaskGraph

PAGE = 4096
"""Bytes of a page of objects: `tasks.page`."""


def objects_of(graph: TaskGraph, on: Target, scale: int) -> list[dict[str, Any]]:
    """The objects of a graph, divided by the scale, behind those that take what memory has more than its part."""
    sizes = {name: whole_lines(size / scale) for name, size in graph.objects.items()}
    objects = [_object(name, size, on.place_of(name), on.host) for name, size in sizes.items()]
    return [*(_taken(graph, on, scale) if scale > 1 else []), *objects]


def _taken(graph: TaskGraph, on: Target, scale: int) -> list[dict[str, Any]]:
    whole = sum(_pages(size) for size in graph.objects.values())
    taken = []
    for node, room in on.room.items():
        pages = room // PAGE
        # Each divided object is rounded up to a page: what fits as a whole fits divided.
        left = pages // scale + len(graph.objects)
        if whole > pages > left:
            place = {"kind": "bind", "nodes": [node]}
            taken.append(_object(f"taken of {node}", (pages - left) * PAGE, place, on.host))
    return taken


def _object(name: str, size: int, place: Mapping[str, Any], host: str) -> dict[str, Any]:
    return {"name": name, "size": f"{size}B", "host": host, "addresses": dict(place)}


def whole_lines(size: float) -> int:
    """Bytes in whole lines."""
    return LINE * max(1, round(size / LINE))


def _pages(size: float) -> int:
    return -(-whole_lines(size) // PAGE)
