"""The plan of a sweep: each of its points resolved, checked as far as that is cheap, and given its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom.base.errors import InputError, together
from cxloom.spec.resolve import Template
from cxloom.sweeping.identity import Identity
from cxloom.sweeping.space import Setting, overrides_of, paths_of, plain_of


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a sweep."""

    at: Mapping[str, Any]
    """The settings of the point: plain values by path."""
    key: str | None
    """The key of its file in the store; None if it is refused before it is run."""
    error: str | None
    """Why it is refused, if it is known beforehand."""
    work: Any = None
    """The argument of `Source.resolve`, which makes its spec in another process."""


def planned(template: Template, settings: Sequence[Setting], identity: Identity) -> list[Point]:
    """The points with these settings.

    Raises InputError, so that nothing is run, for a path that matches nothing at any point that sets it, and if every
    point is refused. One that is refused beside others has its error instead of a key.
    """
    points, errors = [], []
    unmatched: dict[str, InputError] = {}
    matched: set[str] = set()
    for setting in settings:
        at = plain_of(setting)
        try:
            resolved = template.resolve(overrides_of(setting))
            matched |= at.keys()
            if wrong := resolved.errors():
                raise together(wrong)
            points.append(Point(at, identity.key(resolved), None, setting))
        except InputError as error:
            errors.append(error)
            points.append(Point(at, None, str(error)))
            lost = {each.unmatched: each for each in getattr(error, "errors", (error,)) if each.unmatched}
            matched |= at.keys() - lost.keys() if lost else set()
            unmatched = lost | unmatched
    if errors and len(errors) == len(points):
        raise errors[0]
    if nowhere := [unmatched[path] for path in paths_of(settings) if path in unmatched.keys() - matched]:
        raise together(nowhere)
    return points
