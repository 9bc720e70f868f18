"""What may be written where: the parameters that the core's components declare, found by a path in a spec."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cxloom import _core
from cxloom.spec.node import Node, Path

Field: TypeAlias = Mapping[str, Any]
"""One declared parameter; the keys are those of FieldInfo in core/base/schema.hpp."""
Fields: TypeAlias = Mapping[str, Field]
Measure: TypeAlias = Mapping[str, Any]
"""One declared measure; the keys are those of MeasureInfo in core/base/measure.hpp."""


@functools.cache
def declarations() -> Mapping[str, Any]:
    """All that the core declares (see `_core.declarations`), asked for once. `forget` after loading a plug-in."""
    return _core.declarations()


@functools.cache
def generation() -> object:
    """What stands for the declarations that there are now: after `forget` it is another object."""
    return object()


def forget() -> None:
    """Ask the core again next time: a plug-in may have registered more kinds."""
    declarations.cache_clear()
    generation.cache_clear()


def sections() -> Mapping[str, Mapping[str, Any]]:
    """The top-level keys of a spec, each with what it is for and how it is written (core/system/spec/section.hpp)."""
    found: Mapping[str, Mapping[str, Any]] = declarations()["sections"]
    return found


def entries() -> Mapping[str, str]:
    """What the parameters of sections are known by (``link``, ``run``, ...), and what each is, in words."""
    says = {
        "one": "What `{0}` takes",
        "each": "What an entry of `{0}` takes",
        "by_name": "What every entry of `{0}` takes",
    }
    return {
        about["entry"]: says[about["form"]].format(key)
        + (f", besides `{about['besides']}`" if about["besides"] else "")
        for key, about in sections().items()
        if about["entry"]
    }


def categories() -> Mapping[str, str]:
    """The categories of kinds (``devices``, ``media``, ``schedulers``, ...), each with a title."""
    found: Mapping[str, str] = declarations()["categories"]
    return found


def kinds(category: str) -> Mapping[str, Any]:
    """The kinds in a category, with what each declares."""
    found: Mapping[str, Any] = declarations()[category]
    return found


def tables() -> Mapping[str, Sequence[Measure]]:
    """The tables of rows that a run writes, by the names of their files, and the columns of each."""
    found: Mapping[str, Sequence[Measure]] = declarations()["tables"]
    return {f"{name}.parquet": columns for name, columns in found.items()}


def segments() -> Mapping[str, Mapping[str, Any]]:
    """What a latency consists of, along a request's way: what each is, its place, and whether it is waiting."""
    return {each["name"]: each for each in declarations()["segments"]}


def statistics(measures: Iterable[Measure], prefix: str = "") -> Iterator[tuple[str, Measure]]:
    """Declared measures, those within others too, each with its path; ``*`` stands for any name."""
    for measure in measures:
        path = prefix + measure["name"]
        yield path, measure
        yield from statistics(measure["parts"], f"{path}.*." if measure["by_name"] else f"{path}.")


def fields(info: Mapping[str, Any] | None) -> Fields:
    """The fields that a kind, a section or a parameter with parameters of its own declares, by name."""
    return {} if info is None else {field["name"]: field for field in info["fields"]}


def says_default(field: Field, value: object) -> bool:
    """Whether a value is the default in words, as it is shown: ``unlimited``, or ``none`` of "none: it is whole"."""
    words = str(field["default"])
    return isinstance(value, str) and words != "" and value in (words, words.partition(": ")[0])


def kind_fields(category: str, kind: object) -> Fields:
    """The fields of a kind; none if there is no such kind."""
    return fields(kinds(category).get(kind)) if isinstance(kind, str) else {}


def workload_fields(entry: Node) -> Fields:
    """The fields of a workload entry: those of its pattern, and those that all entries have."""
    pattern = entry.get("pattern")
    return {**fields(declarations()["workload"]), **kind_fields("patterns", pattern and pattern.value)}


def files(root: Node) -> Iterator[tuple[Path, Node]]:
    """The files that parameters of devices name: their paths in the spec, and the nodes with their names."""
    for path, node in of_devices(root, "file"):
        if isinstance(node.value, str):
            yield path, node


def of_devices(root: Node, kind: str) -> Iterator[tuple[Path, Node]]:
    """What is written for parameters of devices of one type: paths in the spec, and nodes."""
    yield from _found_in_devices(root, kind, functools.partial(_of_type, kind))


_Finder: TypeAlias = "Callable[[Path, Node, Fields], Iterator[tuple[Path, Node]]]"


def _found_in_devices(root: Node, what: str, find: _Finder) -> Iterator[tuple[Path, Node]]:
    def found_in(device: Node) -> list[tuple[Path, Node]]:
        return list(find((), device, kind_fields("devices", kind_of(device))))

    devices = root.get("devices")
    known = what, generation()
    for name, device in devices.map().items() if devices is not None else ():
        for path, node in device.once(known, functools.partial(found_in, device)):
            yield ("devices", name, *path), node


def _of_type(kind: str, path: Path, node: Node, declared: Fields) -> Iterator[tuple[Path, Node]]:
    entries = node.value if isinstance(node.value, dict) else {}
    for key, value in entries.items():
        field = declared.get(key)
        if field is None:
            continue
        if field["type"] == kind:
            yield (*path, key), value
        else:
            yield from _of_type(kind, (*path, key), value, inside(field, value))


def fields_at(root: Node, path: Path) -> Fields:
    """The keys that may be written in the map at `path`; empty where nothing is declared."""
    if not path:
        return {
            name: {"name": name, "type": "map", "doc": about["doc"]} for name, about in sections().items()
        }
    section = sections().get(str(path[0]))
    here: Node | None = root
    declared: Fields = {}
    for depth, step in enumerate(path):
        here = here.get(step) if here is not None else None
        if section is None:
            continue
        if depth == 0:
            if section["form"] in ("one", "kind"):
                declared = entry_fields(section, here)
        elif depth == 1 and section["form"] in ("each", "by_name"):
            declared = entry_fields(section, here)
        elif isinstance(step, str):
            declared = inside(declared.get(step), here)
        elif path[0] == "workload" and here is not None:  # a phase: a pattern of its own
            declared = workload_fields(here)
    return declared


def around(root: Node, path: Path) -> Path | None:
    """The nearest map around the one that a key was written in, by its path, which takes that key; None: none does."""
    for depth in range(len(path) - 2, 0, -1):
        if path[-1] in fields_at(root, path[:depth]):
            return path[:depth]
    return None


def entry_fields(section: Mapping[str, Any], entry: Node | None) -> Fields:
    """The fields of an entry of a section, or of a section that is one."""
    if section["category"]:
        return kind_fields(section["category"], kind_of(entry))
    if section["entry"] == "workload":
        return {} if entry is None else workload_fields(entry)
    return fields(declarations()[section["entry"]])


def inside(field: Field | None, value: Node | None) -> Fields:
    """The fields of what is written for a parameter that has parameters of its own."""
    if field is None:
        return {}
    if field["type"] == "kind":
        return kind_fields(field["category"], kind_of(value) or field["default"])
    if field["type"] == "any" and field["category"]:  # read by another part: `link` of a topology
        return fields(declarations()[field["category"]])
    return fields(field)


def kind_of(node: Node | None) -> object:
    """The kind that a map or its short form names; None if it names none."""
    if node is None:
        return None
    if isinstance(node.value, str):  # `media: fixed` is short for {kind: fixed}
        return node.value
    kind = node.get("kind")
    return None if kind is None else kind.value
