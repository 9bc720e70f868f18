"""Graphs of what includes or imports what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Graph = Mapping[str, Iterable[str]]


def circle_in(graph: Graph) -> list[str]:
    """Files that lead back to the first of them; none if there is no circle."""
    done: set[str] = set()
    way: list[str] = []

    def visit(file: str) -> list[str]:
        if file in way:
            return [*way[way.index(file) :], file]
        if file in done:
            return []
        way.append(file)
        for other in graph.get(file, ()):
            if circle := visit(other):
                return circle
        done.add(way.pop())
        return []

    return next((circle for file in graph if (circle := visit(file))), [])
