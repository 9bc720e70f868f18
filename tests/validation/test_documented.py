"""What is documented of a parameter is accepted: its default, its least value, each of its choices.

What is refused all the same, because of another parameter, its description says: it names that parameter, or what it is
a multiple of. So whoever reads `cxloom components` knows what a run refuses.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.base.errors import InputError

DECLARED = _core.declarations()
NEEDED: dict[str, dict[str, Any]] = {
    "devices.io-engine": {"target": "mem", "rate": "1GB/s"},
    "media.dram": {"preset": "DDR5-4800"},
    "media.curve": {"file": "curve.csv"},
    "media.cached": {"size": "1GiB", "cache": {"kind": "fixed"}, "backing": {"kind": "fixed"}},
    "media.inline-ecc": {"backing": {"kind": "fixed"}},
    "media.compressed": {"backing": {"kind": "fixed"}},
    "placements.bind": {"nodes": ["mem"]},
    "placements.ranges": {"ranges": [{"base": 0, "size": "1MiB", "place": {"kind": "first-touch"}}]},
    "patterns.objects": {"objects": [{"name": "a", "size": "1MiB"}]},
    "topologies.chain": {"switches": 4},
    "topologies.ring": {"switches": 4},
    "topologies.tree": {"leaves": 4},
    "topologies.spine-leaf": {"leaves": 4, "spines": 2, "devices_per_leaf": 4},
    "topologies.fully-connected": {"switches": 4},
    "topologies.mesh": {"size": [2, 2]},
    "topologies.torus": {"size": [2, 2]},
    "topologies.hypercube": {"dimensions": 2},
    "topologies.fat-tree": {"ports": 4},
    "topologies.dragonfly": {"switches_per_group": 2, "global_links": 1, "devices_per_switch": 2},
}
"""What a kind cannot do without."""
SECOND = {
    "throttle": {"rate": "2GB/s"},
    "qos": {"optimal": 2, "moderate": 8, "severe": 100},
    "memory": {"capacity": "1GiB"},
}
"""What a map of parameters cannot do without."""
PLACES = {
    "schedulers": "scheduler",
    "row_policies": "row_policy",
    "refresh_policies": "refresh",
}


def spec_with(category: str, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A small valid spec in which a kind has these values."""
    host: dict[str, Any] = {"kind": "host"}
    switch: dict[str, Any] = {"kind": "switch"}
    memory: dict[str, Any] = {"kind": "memory", "capacity": "1GiB"}
    work: dict[str, Any] = {"pattern": "random", "requests": 100, "footprint": "1MiB"}
    spec: dict[str, Any] = {
        "devices": {"host": host, "sw": switch, "mem": memory},
        "links": [{"between": ["host", "sw"]}, {"between": ["sw", "mem"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": work},
    }
    entry = {"kind": kind, **values}
    if category == "devices":
        own = {"host": host, "switch": switch, "memory": memory}.get(kind)
        if own is None:
            spec["devices"]["x"] = entry
            spec["links"].append({"between": ["x", "sw"]})
        else:
            own |= values
        if "persist_buffer" in values:
            spec["address_map"][0]["persistence"] = "media"
    elif category == "media":
        memory["media"] = entry
    elif category in PLACES:
        memory["media"] = {"kind": "dram", "preset": "DDR5-4800", PLACES[category]: entry}
    elif category == "victims":
        host["cache"] = {"policy": entry}
    elif category == "prefetchers":
        host["cache"] = {"prefetch": entry}
    elif category == "arbitration":
        switch |= {"queueing": "voq", "arbitration": entry}
    elif category == "patterns":
        work |= {"pattern": kind, **values}
        if kind == "log-append":
            spec["address_map"][0]["persistence"] = "media"
        if kind in ("objects", "share"):
            del work["footprint"]
    elif category == "placements":
        work["addresses"] = entry
    elif category == "tiering":
        spec["devices"]["far"] = {**memory}
        spec["links"].append({"between": ["sw", "far"], "delay": "100ns"})
        spec["address_map"].append({"to": ["far"]})
        work |= {"addresses": "first-touch", "tiering": entry}
    elif category == "topologies":
        return {"topology": entry, "workload": {"host*": work}}
    return spec


def parameters(
    fields: list[dict[str, Any]], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for field in fields:
        path = (*before, field["name"])
        if field["type"] == "map":
            yield from parameters(field["fields"], path)
        elif field["type"] not in ("list", "any", "weights", "text", "file", "kind"):
            yield path, field


def documented(field: Mapping[str, Any]) -> list[Any]:
    """Values that its documentation shows: no words that say where a default comes from."""
    shown = [field["default"], field["minimum"], *field["choices"]]
    texts = [
        text
        for text in shown
        if text and not re.search(r"[ ;(]", text) and text not in ("none", "never", "any")
    ]
    numbers = {"integer": int, "real": float, "fraction": float}
    read = numbers.get(field["type"], str)
    if field["type"] == "boolean":
        return [text == "true" for text in texts]
    return [read(text) if re.fullmatch(r"[0-9.]+", text) else text for text in dict.fromkeys(texts)]


def refusal(category: str, kind: str, path: tuple[str, ...], value: Any) -> InputError | None:
    values: dict[str, Any] = copy.deepcopy(NEEDED.get(f"{category}.{kind}", {}))
    at = values
    for step in path[:-1]:
        at = at.setdefault(step, dict(SECOND.get(step, {})))
    at[path[-1]] = value
    try:
        cx.System._of(node_of(spec_with(category, kind, values))).check()
    except InputError as error:
        return error
    return None


def node_of(spec: Mapping[str, Any]) -> Any:
    from cxloom.spec.node import Origin, from_plain

    return from_plain(spec, Origin())


def names(fields: list[dict[str, Any]]) -> Iterator[str]:
    for field in fields:
        yield field["name"]
        yield from names(field["fields"])


def docs_of(fields: list[dict[str, Any]], name: str) -> Iterator[str]:
    for field in fields:
        if field["name"] == name:
            yield field["doc"]
        yield from docs_of(field["fields"], name)


KINDS = [
    (category, kind)
    for category in DECLARED["categories"]
    for kind in DECLARED[category]
    if category not in ("collectors", "routing") and (category, kind) != ("media", "curve")
]
KNOWN = (
    {"cache", "events", "devices"}
    | {
        name
        for category in DECLARED["categories"]
        for kind in DECLARED[category].values()
        for name in names(kind["fields"])
    }
    | set(names(DECLARED["workload"]["fields"]))
)


@pytest.mark.parametrize(("category", "kind"), KINDS, ids=lambda part: str(part))
def test_what_is_documented_is_accepted_or_said_to_depend(category: str, kind: str) -> None:
    assert refusal_of_base(category, kind) is None
    fields = DECLARED[category][kind]["fields"]
    undocumented = []
    for path, field in parameters(fields):
        for value in documented(field):
            error = refusal(category, kind, path, value)
            if error is None or "more than the memory of this machine" in str(error):
                continue
            said = set(re.findall(r"\w+", f"{error.problem} {error.allowed}")) - {path[-1]}
            named = [(error.path or "").rpartition(".")[2], *said]
            docs = " ".join([field["doc"], *(doc for name in named for doc in docs_of(fields, name))])
            if "more than 0" in str(error.allowed) and "more than 0" in docs:
                continue  # the bound itself is left out
            if not said & KNOWN & set(re.findall(r"\w+", docs)):
                undocumented.append(f"{'.'.join(path)}: {value}: {error}")
    assert undocumented == []


def refusal_of_base(category: str, kind: str) -> InputError | None:
    try:
        needed = NEEDED.get(f"{category}.{kind}", {})
        cx.System._of(node_of(spec_with(category, kind, needed))).check()
    except InputError as error:
        return error
    return None
