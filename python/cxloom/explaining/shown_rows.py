"""Which resources a table shows: of many of a kind the fullest, and how many more there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cxloom.bottleneck.resource import Resource

OF_A_KIND = 4
"""Rows of a kind; of one more than that all are shown."""
IN_USE = 0.01
"""A resource has a row from this share on, or if it was tried."""


class Row(NamedTuple):
    """A row of the table."""

    first: Resource
    """The resource; of several the fullest."""
    resources: int
    """How many resources the row is about."""


def rows(resources: Sequence[Resource], always: Collection[str], tried: Collection[str]) -> Iterator[Row]:
    """The rows, in the order of the resources: one each, and one for the others of their kind behind them.

    Args:
        resources: in the order of a request's way, of a stage the fuller first.
        always: names of those that have a row however many there are.
        tried: names of those that have a row though they are hardly in use; the first of a kind.
    """
    kinds: dict[tuple[str, int], list[Resource]] = {}
    for each in resources:
        if each.busy >= IN_USE or each.name in tried:
            kinds.setdefault((each.kind, each.stage), []).append(each)
    shown = set()
    others = {}
    for several in kinds.values():
        wanted = sorted(several, key=lambda each: (each.name not in always, each.name not in tried))
        most = OF_A_KIND if len(several) > OF_A_KIND + 1 else len(several)
        shown |= {each.name for each in wanted[:most]}
        left = [each for each in several if each.name not in shown]
        if left:
            others[left[0].name] = len(left)
    for each in resources:
        if each.name in shown:
            yield Row(each, 1)
        elif each.name in others:
            yield Row(each, others[each.name])
