"""How much of a declared resource is in use, by the measures in a summary that its declaration names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cxloom import _core
from cxloom.base.wires import in_use, slots_in_use
from cxloom.bottleneck.resource import FULL
from cxloom.spec import declared

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

_WAITING = 0.3
"""The share of waiting in a request's time somewhere from which what it waits for is full. Own choice."""


class Use(NamedTuple):
    """What is in use of a resource."""

    share: float
    level: str
    """The use as people read it."""
    grows: bool = True
    """In proportion to what requests take of it."""


def of(resource: _core.InventoryResource, summary: Summary) -> Use | None:
    """None if it has no limit, or the run did not measure it: its device did nothing, or nobody waited."""
    capacity, paths = resource["capacity"], resource["measures"]
    if capacity is None or _of_several(paths, summary):
        return None
    values = [_at(summary, path) for path in paths]
    if any(value is None for value in values):
        return None
    if resource["each"] is not None:
        capacity *= _at(summary, resource["each"]) or 1
    use = _WAYS[resource["occupancy"]](resource, values, capacity, summary)
    if use is None:
        return None
    if resource["occupancy"] == "share" and paths[0][0] == "per_link":
        ways = _at(summary, paths[0][:2])
        way = ways[paths[0][2]]
        if (slots := slots_in_use(way)) is not None:
            return use._replace(share=in_use(way, ways), level=f"slots {100 * slots:.0f} %, {use.level}")
    if resource["remark"] is None:
        return use
    share = _at(summary, resource["remark"]) or 0.0
    return use._replace(level=f"{use.level}, {100 * share:.0f} % {resource['remark_text']}")


def _of_several(paths: Sequence[Sequence[str]], summary: Summary) -> bool:
    """A measure of the whole system is that of a requester where there is no other."""
    return any(len(path) == 1 for path in paths) and len(summary["per_requester"]) > 1


def _at(summary: Summary, path: Sequence[str]) -> Any:
    found: Any = summary
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _level(_resource: _core.InventoryResource, values: list[Any], capacity: float, _summary: Any) -> Use:
    used = sum(values)
    return Use(used / capacity, f"{used:.1f} of {capacity:.0f}")


def _share(_resource: _core.InventoryResource, values: list[Any], _capacity: float, _summary: Any) -> Use:
    used = sum(values)
    return Use(used, f"{100 * used:.0f} % busy")


def _bandwidth(_resource: _core.InventoryResource, values: list[Any], capacity: float, _summary: Any) -> Use:
    used = sum(values)
    return Use(used / capacity, f"{used:.1f} of {capacity:.1f} GB/s")


def _rate(_resource: _core.InventoryResource, values: list[Any], capacity: float, summary: Summary) -> Use:
    used = _a_second(sum(values), summary)
    return Use(used / capacity, f"{used / 1e6:.4g} of {capacity / 1e6:.4g} M/s")


def _held(resource: _core.InventoryResource, values: list[Any], capacity: float, summary: Summary) -> Use:
    """Each of those counted has one for all segments behind that in which it waited for it: Little's law."""
    parts = _at(summary, [*resource["measures"][0][:-1], "breakdown_ns"])
    held = sum(parts.get(name) or 0.0 for name in _behind(resource["wait"]))
    used = _a_second(sum(values), summary) * held / 1e9
    return Use(used / capacity, f"{used:.1f} of {capacity:.0f}")


def _time(_resource: _core.InventoryResource, values: list[Any], _capacity: float, summary: Summary) -> Use:
    longest = max(max(each.values(), default=0.0) if isinstance(each, Mapping) else each for each in values)
    share = longest / summary["simulated_time_ns"] if summary["simulated_time_ns"] else 0.0
    return Use(min(1.0, share), f"exhausted {100 * share:.0f} % of the time", False)


def _ratio(
    resource: _core.InventoryResource, values: list[Any], _capacity: float, _summary: Any
) -> Use | None:
    failed, wanted = values
    if not wanted:
        return None
    share = min(1.0, failed / wanted)
    return Use(share, f"{100 * share:.0f} % {resource['remark_text']}", False)


def _waiting(
    resource: _core.InventoryResource, values: list[Any], _capacity: float, _summary: Any
) -> Use | None:
    return waiting(values[0], resource["wait"])


def waiting(parts: Mapping[str, float | None], wait: str) -> Use:
    """What is full where requests wait for it: the share of their time at its place, by their segments."""
    segments = declared.segments()
    here = [name for name, segment in segments.items() if segment["place"] == segments[wait]["place"]]
    spent = sum(parts.get(name) or 0.0 for name in here)
    share = (parts.get(wait) or 0.0) / spent if spent else 0.0
    level = f"requests wait {100 * share:.0f} % of the time there"
    return Use(min(1.0, share / _WAITING) * FULL, level, False)


_WAYS = {
    "level": _level,
    "share": _share,
    "bandwidth": _bandwidth,
    "rate": _rate,
    "held": _held,
    "time": _time,
    "ratio": _ratio,
    "waiting": _waiting,
}
"""By the words for `Occupancy` in core/component/resource.hpp."""


def _behind(segment: str) -> list[str]:
    """The segments that come after one on a request's way."""
    names = list(declared.segments())
    return names[names.index(segment) + 1 :]


def _a_second(count: float, summary: Summary) -> float:
    time = summary["simulated_time_ns"]
    return 1e9 * float(count) / time if time else 0.0
