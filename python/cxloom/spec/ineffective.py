"""Settings of one layer of a spec that another laid over it leaves without effect.

The core refuses a key that other keys leave without effect: whoever wrote it expects something of it. That is no
mistake where it had an effect when it was written: a preset sets ``power_down`` and the time to come back from it, and
the file over it ``power_down: null``. Such a key is left out of the resolved spec, which then loads alone to the same
system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cxloom.base.errors import InputError
from cxloom.spec import declared, paths
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved


def left_out(
    layers: Sequence[Node],
    overrides: Sequence[Override],
    resolve: Callable[[Sequence[Node], Sequence[Override]], Resolved],
) -> Resolved:
    """The spec that `resolve` gives, without what upper layers leave without effect."""
    resolved = resolve(layers, overrides)
    if len(layers) == 1 and all(_is_beside(override) for override in overrides):
        return resolved
    found = _without_effect(resolved)
    if not found:
        return resolved
    parts: list[tuple[Sequence[Node], Sequence[Override]]] = [
        (layers[:count], ()) for count in range(1, len(layers))
    ]
    parts += [(layers, overrides[:count]) for count in range(len(overrides))]
    below: list[tuple[Resolved, set[str]]] = []
    for some, over in parts:
        try:
            spec = resolve(some, over)
        except InputError:  # what is no spec yet says nothing of effects
            continue
        below.append((spec, _without_effect(spec)))
    while lost := [path for path in sorted(found) if _had_effect(path, resolved, below)]:
        root = resolved.root
        for path in lost:
            root = paths.without(root, path)
        resolved = Resolved(root)
        found = _without_effect(resolved)  # of some entries the core names one key at a time
    return resolved


def _is_beside(override: Override) -> bool:
    """Whether it is in a section beside the system (`run`, say): its keys leave none of the system's without effect.

    `tasks.exact` leaves `tasks.window` so.
    """
    section = override.path.split(".")[0]
    about = declared.sections().get(section)
    return (
        section != "tasks"
        and about is not None
        and about["form"] in ("text", "one")
        and not about["replaced"]
    )


def _without_effect(resolved: Resolved) -> set[str]:
    """The paths of the keys without effect."""
    return {error.path for error in resolved.entry_errors() if error.is_idle}


def _had_effect(path: str, resolved: Resolved, below: Sequence[tuple[Resolved, set[str]]]) -> bool:
    """True if what is written at a path is in a lower layer, too, and has an effect there."""
    node, rest = paths.follow(resolved.root, path)
    if rest:
        return False
    for spec, ineffective in below:
        lower, missing = paths.follow(spec.root, path)
        if path not in ineffective and not missing and lower.origin == node.origin:
            return True
    return False
