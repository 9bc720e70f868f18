"""Objects of a program from a file: `cxloom exec --out`, or a profile of the same form by another tool.

Nothing but their sizes, accesses and shares of reads is known: they become a workload whose accesses are drawn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from cxloom.base.errors import InputError
from cxloom.measure.bench import Bench, offered
from cxloom.spec.node import Node, described, from_plain
from cxloom.spec.override import Override
from cxloom.spec.parts import Part
from cxloom.spec.reader import file_text, read_text

FORM = "name, bytes, accesses and perhaps reads, as `cxloom exec --out FILE.json` has them"
REQUESTS = 40_000
"""Requests that are made of the objects (own choice: their peak and their mix, not the program's length)."""
_WARMUP = 8_000
_KEYS = ("name", "bytes", "accesses", "reads")


@dataclass(frozen=True)
class ObjectOfProfile:
    """An object as a profile has it."""

    name: str
    bytes: int
    accesses: float
    reads: float
    written: Node = field(repr=False, compare=False)
    """Where the file has it."""


@dataclass(frozen=True)
class Profile:
    """The objects of a program."""

    objects: tuple[ObjectOfProfile, ...]
    page: int
    """Bytes of a page."""
    threads: int
    written: Node = field(repr=False, compare=False)
    """The file."""

    def pages_of(self, each: ObjectOfProfile) -> int:
        """Pages that an object takes."""
        return -(-each.bytes // self.page)

    def workload(self, cores: int | None) -> dict[str, Any]:
        """Accesses to whole pages that are drawn by these; threads at most as many as there are cores, none without."""
        page = f"{self.page}B"
        work: dict[str, Any] = {
            "pattern": "objects",
            "requests": REQUESTS,
            "addresses": {"kind": "preferred"},
            "page": page,
            "align": page,
            "objects": [
                {
                    "name": each.name,
                    "size": f"{self.pages_of(each) * self.page}B",
                    "accesses": each.accesses,
                    "reads": each.reads,
                }
                for each in self.objects
            ],
        }
        threads = min(self.threads, cores or 1)
        return work | ({"threads": threads, "shared_footprint": True} if threads > 1 else {})

    def overrides(self, bench: Bench, host: str) -> list[Override]:
        """What the spec has in place of its own workload, each value with its place in the file.

        The host has no caches, nor prefetchers, as all accesses are those beyond them. Raises InputError for objects
        that its memory has no room for.
        """
        self._refuse_too_large(sum(of.get(host, 0) // self.page for of in offered(bench.spec).values()))
        part = bench.part(host)
        core = part.below("core")
        cores = None if core is None else core.count("cores") or 1
        work = self.workload(cores)
        listed = self.written.map()["objects"]
        entries = [
            Node({key: _at(value, each.written, key) for key, value in said.items()}, each.written.place)
            for each, said in zip(self.objects, work["objects"], strict=True)
        ]
        values = {key: _at(value, self.written, key) for key, value in work.items() if key != "objects"}
        values["objects"] = Node(list(entries), listed.origin, listed.key)
        return [
            Override.of("workload", {host: {}}),
            Override(f"workload.{host}", Node(values, listed.place)),
            Override.of("run.warmup", _WARMUP),
            *_without(part, "cache", None),
            *(() if core is None else _without(core, "caches", [])),
        ]

    def _refuse_too_large(self, room: int) -> None:
        """Raises InputError for objects of more pages than this."""
        allowed = f"at most {room * self.page} bytes, in whole pages of {self.page}"
        for each in self.objects:
            if self.pages_of(each) > room:
                raise each.written.map()["bytes"].place.error(
                    "the object is larger than the memory of its host", found=str(each.bytes), allowed=allowed
                )
        if (pages := sum(map(self.pages_of, self.objects))) > room:
            raise self.written.map()["objects"].place.error(
                "the objects are larger, together, than the memory of their host",
                found=f"{pages * self.page} bytes in whole pages",
                allowed=allowed,
            )


_WRITTEN = {"size": "bytes", "page": "page_bytes", "align": "page_bytes"}
"""What keys of a workload are called in a profile, if not the same."""


def _at(value: Any, written: Node, key: str) -> Node:
    """A value of the workload, at the place of what it was made of."""
    source: Mapping[str, Node] = written.map()
    found = source.get(_WRITTEN.get(key, key))
    return from_plain(value, written.place if found is None else found.place)


def _without(part: Part, key: str, nothing: Any) -> list[Override]:
    """A parameter set to nothing where it was written."""
    return [Override.of(f"{part.at}.{key}", nothing)] if key in part.written else []


def read_profile(path: str | os.PathLike[str]) -> Profile:
    """The objects that a file names. Raises InputError, with file and line, for one that names none."""
    name = os.fspath(path)
    root = read_text(file_text(path, "a JSON or YAML file"), name)
    listed = root.map().get("objects")
    if listed is None:
        raise root.place.error("no objects", allowed=f"objects: a list of entries with {FORM}")
    objects = tuple(_object(each) for each in listed.list())
    if not any(each.accesses for each in objects):
        raise listed.place.error("no object is accessed", allowed=f"entries with {FORM}")
    if not isfinite(sum(each.accesses for each in objects)):
        raise listed.place.error("too many accesses to be added", allowed="a finite sum of them")
    names = [each.name for each in objects]
    for node, each in zip(listed.list(), objects, strict=True):
        if names.count(each.name) > 1:
            raise node.place.error(
                "two objects of one name", found=f"'{each.name}'", allowed="a name for each"
            )
    page = _whole(root, "page_bytes", 4096)
    if page & (page - 1):
        raise root.map()["page_bytes"].place.error(
            "not the size of a page", found=str(page), allowed="a power of two, such as 4096"
        )
    return Profile(objects, page, _whole(root, "threads", 1), root)


def _object(node: Node) -> ObjectOfProfile:
    entries = node.map()
    for key in entries:
        if key not in _KEYS:
            raise entries[key].place.error("an unknown key of an object", found=f"'{key}'", allowed=FORM)
    for key in _KEYS[:3]:
        if key not in entries:
            raise node.place.error(f"an object without {key}", allowed=FORM)
    name = entries["name"].text()
    if not name:
        raise entries["name"].place.error("an object without a name", found="''", allowed="a name for each")
    return ObjectOfProfile(
        name,
        _whole(node, "bytes", 1),
        _number(entries["accesses"], "a number of accesses, 0 or more, not infinite", sys.float_info.max),
        _number(entries["reads"], "a share of reads from 0 to 1", 1.0) if "reads" in entries else 1.0,
        node,
    )


def _whole(node: Node, key: str, otherwise: int) -> int:
    found = node.map().get(key)
    if found is None:
        return otherwise
    if not isinstance(found.value, int) or isinstance(found.value, bool) or found.value < 1:
        raise found.place.error(
            "not a count", found=described(found.value), allowed="a whole number from 1 on"
        )
    return found.value


def _number(node: Node, allowed: str, most: float) -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise node.place.error("not a number of this", found=described(value), allowed=allowed)
    return float(value)


def check_host(bench: Bench, host: str | None) -> None:
    """Raises InputError if it is not said which of several requesters the program is of."""
    if host is None and len(bench.requesters) > 1:
        raise InputError(
            "which device runs the program?", allowed=" or ".join(bench.requesters), path="--host"
        )
