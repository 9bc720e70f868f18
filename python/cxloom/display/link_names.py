"""Names of the directions of links, as people see them."""

from __future__ import annotations


def direction_name(link: str, direction: str) -> str:
    """A direction (``a->b``) of a link (``a-b``); of parallel links the second and those after it have their numbers.

    The link ``a-b#2`` has the direction ``a->b#2``.
    """
    return direction + link[len(direction) - 1 :]
