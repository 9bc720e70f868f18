"""Which publications a system stands on: the sources of the parameters that its components have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cxloom import _core
from cxloom.citing.publications import PUBLICATIONS, Publication
from cxloom.spec import declared
from cxloom.spec.resolved import Resolved


@dataclass(frozen=True, slots=True)
class Cited:
    """A publication, and the parameters whose values, or defaults, are from it."""

    publication: Publication
    parameters: tuple[str, ...]
    """Each as KIND.PARAMETER, in the order of their components."""


@dataclass(frozen=True, slots=True)
class Citations:
    """What is to be cited for a system."""

    cited: tuple[Cited, ...]
    elsewhere: tuple[str, ...]
    """Sources that are no publication: data sheets, own choices, sources of Linux that name a file."""

    def bibtex(self) -> str:
        """cxloom, and the publications, each behind a comment that says what is from it."""
        entries = (f"% {', '.join(each.parameters)}\n{each.publication.bibtex()}" for each in self.cited)
        return "\n\n".join([software(), *entries]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The citations for programs."""
        return {
            "software": software(),
            "cited": [
                {
                    "key": each.publication.key,
                    "parameters": list(each.parameters),
                    "bibtex": each.publication.bibtex(),
                }
                for each in self.cited
            ],
            "elsewhere": list(self.elsewhere),
        }


def software() -> str:
    """The entry of cxloom itself, in the version that runs."""
    fields = (
        ("author", "{The cxloom developers}"),
        ("title", "{cxloom: a simulator of CXL-enabled systems}"),
        ("version", _core.__version__),
        ("note", "BSD-3-Clause"),
    )
    return Publication("cxloom", "cxloom", "software", fields).bibtex()


def cited_by(*systems: Resolved) -> Citations:
    """What is to be cited for results of a system, or of several.

    The sources are those that the components of the system declare for their parameters (``cxloom components``), for
    the values that were written and for those by default alike: both are compared with them.
    """
    sources: dict[str, list[str]] = {}
    for resolved in systems:
        for parameter, source in _sources(resolved.plain()):
            sources.setdefault(source, []).append(parameter)
    cited = []
    for publication in PUBLICATIONS:
        names = [name for source, of in sources.items() if publication.names(source) for name in of]
        if names:
            cited.append(Cited(publication, tuple(dict.fromkeys(names))))
    elsewhere = [source for source in sources if not any(each.names(source) for each in PUBLICATIONS)]
    return Citations(tuple(cited), tuple(elsewhere))


def _sources(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The parameters of a spec that have a source, and the sources."""
    seen: set[tuple[str, str]] = set()  # the kinds of parts; a system may have thousands of one
    for device in spec.get("devices", {}).values():
        yield from _of_kind("devices", device, seen)
    for link in spec.get("links", []):
        yield from _of_fields("link", declared.fields(declared.declarations()["link"]), link, seen)
    for work in spec.get("workload", {}).values():
        yield from _of_kind("patterns", {**work, "kind": work.get("pattern")}, seen)
        yield from _of_fields("workload", declared.fields(declared.declarations()["workload"]), work, seen)
    routing = declared.fields(declared.declarations()["run"]).get("routing")
    if routing is not None:
        yield from _of_kind(routing["category"], _chosen(spec.get("run", {}).get("routing"), routing), seen)


def _of_kind(
    category: str, written: Mapping[str, Any], seen: set[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    kind = written.get("kind")
    info = declared.kinds(category).get(str(kind)) if category in declared.categories() else None
    if info is not None:
        yield from _of_fields(str(kind), declared.fields(info), written, seen)


def _of_fields(
    name: str, fields: declared.Fields, written: Mapping[str, Any], seen: set[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for key, field in fields.items():
        value = written.get(key)
        optional = field["default"] in ("none", "") and not field["required"]
        there = value is not None or not (optional and (field["fields"] or field["category"]))
        if not there:
            continue
        if field["source"] and (name, key) not in seen:
            seen.add((name, key))
            yield f"{name}.{key}", str(field["source"])
        if field["type"] == "kind":
            yield from _of_kind(field["category"], _chosen(value, field), seen)
        elif field["fields"]:
            for each in value if isinstance(value, list) else [value]:
                inner = each if isinstance(each, Mapping) else {}
                yield from _of_fields(f"{name}.{key}", declared.fields(field), inner, seen)


def _chosen(value: Any, field: declared.Field) -> Mapping[str, Any]:
    """The kind that is written, or the default, with its parameters."""
    if isinstance(value, Mapping):
        return {"kind": field["default"], **value}
    return {"kind": field["default"] if value is None else value}
