"""Which publications a system stands on: the sources of the parameters that its components have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from cxloom import _core
from cxloom.citing.effects import Entry, Step, is_off
from cxloom.citing.publications import PUBLICATIONS, Publication
from cxloom.spec import declared
from cxloom.spec.ineffective import TIMEOUTS, something_fails
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
    the values that were written and for those by default alike: both are compared with them. What is off, or has no
    effect beside the other parameters, is left out.
    """
    found: dict[_Source, None] = {}
    for resolved in systems:
        found |= dict.fromkeys(_sources(resolved))
    cited = []
    for publication in PUBLICATIONS:
        names = [each.parameter for each in found if each.is_of(publication)]
        if names:
            cited.append(Cited(publication, tuple(dict.fromkeys(names))))
    texts = dict.fromkeys(each.text for each in found)
    elsewhere = [text for text in texts if not any(each.names(text) for each in PUBLICATIONS)]
    return Citations(tuple(cited), tuple(elsewhere))


class _Source(NamedTuple):
    """The source of a parameter."""

    parameter: str
    text: str
    preset: str
    """The preset of the kind that has the parameter: a text names the standards of all of them."""

    def is_of(self, publication: Publication) -> bool:
        return publication.names(self.text) and publication.is_about(self.preset)


def _sources(resolved: Resolved) -> Iterator[_Source]:
    """The parameters of a spec that have a source and an effect, and the sources."""
    spec = resolved.plain()
    sources = _Sources(something_fails(resolved.root))
    for entry in _unlike("devices", spec.get("devices", {}).items()):
        yield from sources.of_kind("devices", entry.plain, entry, ())
    fields = declared.fields(declared.declarations()["link"])
    for entry in _unlike("links", (("", link) for link in spec.get("links", []))):
        yield from sources.of_fields("link", fields, entry.plain, entry, ())
    fields = declared.fields(declared.declarations()["workload"])
    for entry in _unlike("workload", spec.get("workload", {}).items()):
        pattern = {**entry.plain, "kind": entry.plain.get("pattern")}
        yield from sources.of_kind("patterns", pattern, entry, ())
        yield from sources.of_fields("workload", fields, entry.plain, entry, ())
    routing = declared.fields(declared.declarations()["run"]).get("routing")
    if routing is not None:
        run = spec.get("run", {})
        chosen = _chosen(run.get("routing"), routing)
        yield from sources.of_kind(routing["category"], chosen, Entry("run", "", run), ("routing",))


def _unlike(section: str, entries: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Entry]:
    """An entry of each form: a system may have a million links of one, which have the same sources."""
    forms: set[str] = set()
    for name, plain in entries:
        form = json.dumps({key: value for key, value in plain.items() if key != "between"}, sort_keys=True)
        if form not in forms:
            forms.add(form)
            yield Entry(section, name, plain)


class _Sources:
    """Goes through entries, of a parameter of a kind once."""

    def __init__(self, fails: bool) -> None:
        self._fails = fails
        self._seen: set[_Source] = set()

    def of_kind(
        self, category: str, written: Mapping[str, Any], entry: Entry, at: tuple[Step, ...]
    ) -> Iterator[_Source]:
        kind = written.get("kind")
        info = declared.kinds(category).get(str(kind)) if category in declared.categories() else None
        if info is not None:
            yield from self.of_fields(str(kind), declared.fields(info), written, entry, at)

    def of_fields(
        self,
        name: str,
        fields: declared.Fields,
        written: Mapping[str, Any],
        entry: Entry,
        at: tuple[Step, ...],
    ) -> Iterator[_Source]:
        for key, field in fields.items():
            value = written.get(key)
            optional = str(field["default"]).partition(":")[0] in ("none", "") and not field["required"]
            there = value is not None or not (optional and (field["fields"] or field["category"]))
            if not there:
                continue
            source = _Source(f"{name}.{key}", str(field["source"]), str(written.get("preset", "")))
            if source.text and source not in self._seen and self._counts(field, value, entry, (*at, key)):
                self._seen.add(source)
                yield source
            if field["type"] == "kind":
                yield from self.of_kind(field["category"], _chosen(value, field), entry, (*at, key))
            elif field["fields"]:
                for index, each in enumerate(value if isinstance(value, list) else [value]):
                    inner = each if isinstance(each, Mapping) else {}
                    below = (*at, key, index) if isinstance(value, list) else (*at, key)
                    yield from self.of_fields(f"{name}.{key}", declared.fields(field), inner, entry, below)

    def _counts(self, field: declared.Field, value: Any, entry: Entry, path: tuple[Step, ...]) -> bool:
        """Whether a parameter has an effect in a run: it is not off, other keys leave it one, and what it is about may
        happen."""
        if path[-1] in TIMEOUTS and not self._fails:
            return False
        default = str(field["default"])
        if value is not None:
            return field["type"] == "choice" or not is_off(value)
        return not is_off(default) and entry.has_effect(path, default)


def _chosen(value: Any, field: declared.Field) -> Mapping[str, Any]:
    """The kind that is written, or the default, with its parameters."""
    if isinstance(value, Mapping):
        return {"kind": field["default"], **value}
    return {"kind": field["default"] if value is None else value}
