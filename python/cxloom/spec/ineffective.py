"""Settings of one layer of a spec that another laid over it leaves without effect.

The core refuses a key that other keys leave without effect: whoever wrote it expects something of it. That is no
mistake where it had an effect when it was written: a preset sets ``power_down`` and the time to come back from it, and
the file over it ``power_down: null``. Such a key is left out of the resolved spec, which then loads alone to the same
system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cxloom.base.errors import InputError
from cxloom.spec import declared, paths
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved

TIMEOUTS = ("completion_timeout", "answer_timeout")
"""Parameters of requesters and homes that have an effect where something fails."""


def left_out(
    layers: Sequence[Node],
    overrides: Sequence[Override],
    resolve: Callable[[Sequence[Node], Sequence[Override]], Resolved],
) -> Resolved:
    """The spec that `resolve` gives, without what upper layers leave without effect."""
    resolved = resolve(layers, overrides)
    if len(layers) == 1 and all(_is_beside(override) for override in overrides):
        return resolved
    timeouts = _sets_events(layers, overrides)
    found = _without_effect(resolved, timeouts)
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
        below.append((spec, _without_effect(spec, timeouts)))
    while lost := [path for path in sorted(found) if _had_effect(path, resolved, below)]:
        root = resolved.root
        for path in lost:
            root = paths.without(root, path)
        resolved = Resolved(root)
        found = _without_effect(resolved, timeouts)  # of some entries the core names one key at a time
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


def _without_effect(resolved: Resolved, timeouts: bool) -> set[str]:
    """The paths of the keys without effect; with `timeouts` also of those that only a failure ends."""
    found = {error.path for error in resolved.entry_errors() if error.is_idle}
    return found | set(_idle_timeouts(resolved.root)) if timeouts else found


def _sets_events(layers: Sequence[Node], overrides: Sequence[Override]) -> bool:
    """Whether an upper layer says anything of events."""
    return any(each.path.split(".")[0].partition("[")[0] == "events" for each in overrides) or any(
        layer.get("events") is not None for layer in layers[1:]
    )


def _idle_timeouts(root: Node) -> Iterator[str]:
    """The paths of timeouts in a system in which nothing fails.

    The core refuses them when it has built the system (core/system/events/failure_actions.cpp), and not as one of the
    errors of entries.
    """
    if something_fails(root):
        return
    devices = root.get("devices")
    if devices is not None and isinstance(devices.value, dict):
        for name, device in devices.map().items():
            yield from _timeouts_in(device, f"devices.{name}")


def something_fails(root: Node) -> bool:
    """Whether events may leave a request without an answer, for which timeouts are.

    The core knows of which memory a surprise removal is a failure; here each is taken for one.
    """
    events = root.get("events")
    for event in events.list() if events is not None and isinstance(events.value, list) else ():
        removal = event.get("unbind")
        surprise = removal.get("surprise") if removal is not None else None
        if event.get("fail") is not None or (surprise is not None and surprise.value == "true"):
            return True
    return False


def _timeouts_in(node: Node, path: str) -> Iterator[str]:
    if isinstance(node.value, dict):
        for key, below in node.map().items():
            if key in TIMEOUTS:
                yield f"{path}.{key}"
            else:
                yield from _timeouts_in(below, f"{path}.{key}")


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
