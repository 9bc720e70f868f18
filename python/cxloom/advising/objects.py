"""The objects of a workload: what each takes of the memory, and how it is accessed in each phase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.execution.objects import ObjectUse
from cxloom.spec import declared
from cxloom.spec.parts import quantity

Spec = Mapping[str, Any]


@dataclass(frozen=True)
class PlacedObject:
    """An object whose pages are to be placed."""

    requester: str
    name: str
    bytes: int
    accesses: tuple[float, ...]
    """In each phase; requests, or what is in proportion to them."""
    reads: float = 1.0
    """Share of reads among them."""
    width: int = 64
    """Bytes of an access."""
    dependent: bool = False
    """Each of its accesses waits for the one before."""
    sequential: bool = False
    rest: bool = False
    """All of the requester's pages that are in no other object."""
    threads: int = 1
    """Threads that access it."""
    page: int = 4096
    """Bytes of a page."""

    @property
    def pages(self) -> int:
        """Its pages."""
        return -(-self.bytes // self.page)

    @property
    def total(self) -> float:
        """Accesses of all phases."""
        return sum(self.accesses)


def objects_of(spec: Spec) -> list[PlacedObject]:
    """The objects of the requesters of a resolved spec, in its order.

    A pattern without objects is one: all that its requester has. Raises InputError for a trace, whose names this does
    not know, where nothing is accessed, and for objects that share a page.
    """
    found = [each for name, work in spec["workload"].items() for each in _of_requester(name, work)]
    if not any(each.total for each in found):
        raise InputError("no object is accessed", allowed="objects with accesses", path="workload")
    return found


def objects_of_program(
    host: str, uses: Sequence[ObjectUse], threads: int = 1, page: int = 4096
) -> list[PlacedObject]:
    """The objects of a recorded program of so many threads, by what of it was accessed; a `page` has so many bytes.

    Raises InputError if there are none.
    """
    if not uses:
        raise InputError(
            "the trace does not say which objects its pages are of",
            allowed="one that `cxloom exec --record` or `cxloom trace capture` recorded",
            path="--replay",
        )
    return [
        PlacedObject(host, use.name, use.bytes, (float(use.accesses),), use.reads, threads=threads, page=page)
        for use in uses
    ]


def _of_requester(requester: str, work: Spec) -> list[PlacedObject]:
    at = f"workload.{requester}"
    if "trace" in work:
        raise InputError(
            "a trace in a workload has no names of objects",
            allowed="a pattern, or --replay TRACE with the trace of a program",
            path=f"{at}.trace",
        )
    if (kind := work.get("pattern")) and "engine" in _traits(kind) and not _has_footprint(kind):
        raise InputError(
            "what hosts share has one place for all of them, which is not advised",
            found=kind,
            allowed="patterns of one requester; `cxloom sweep` over `base` tries other places",
            path=f"{at}.pattern",
        )
    phases: list[Spec] = work.get("phases", [work])
    scale = 1.0
    if "phases" in work and work.get("requests"):
        scale = float(work["requests"]) / sum(float(phase["requests"]) for phase in phases)
    made: dict[tuple[bool, str], PlacedObject] = {}  # the rest may be called as an object is
    spans: list[tuple[int, int]] = []
    for number, phase in enumerate(phases):
        _refuse_shared_pages(work, phase, f"{at}.phases[{number}]" if "phases" in work else at)
        requests = float(phase["requests"]) * scale
        parts = _parts(phase)
        if "engine" in _traits(phase["pattern"]):  # a descriptor is an access of each of its ranges
            requests *= len(parts)
        whole = sum(share(part.get("accesses", 1.0)) for part in parts) or 1.0
        for part in parts:
            each = _object(requester, work, phase, part)
            if each.rest:
                spans.append(_span(phase))
            accesses = [0.0] * len(phases)
            accesses[number] = requests * share(part.get("accesses", 1.0)) / whole
            known = made.get((each.rest, each.name))
            made[each.rest, each.name] = _joined(each, tuple(accesses), known)
    covered = _covered(spans)
    return [
        PlacedObject(**(vars(each) | {"bytes": covered})) if each.rest else each for each in made.values()
    ]


def _traits(kind: str) -> Sequence[str]:
    traits: Sequence[str] = declared.kinds("patterns")[kind].get("traits", ())
    return traits


def _has_footprint(kind: str) -> bool:
    return "footprint" in declared.kind_fields("patterns", kind)


def _parts(phase: Spec) -> list[Spec]:
    """The objects of a pattern, and the ranges of a copy engine, which are called as their keys are."""
    if "engine" not in _traits(phase["pattern"]):
        parts: list[Spec] = phase.get("objects", [{}])
        return parts
    fields = declared.kind_fields("patterns", phase["pattern"])
    size = phase.get("footprint", fields["footprint"]["default"])
    block = {"kind": "sequential", "size": phase.get("size", fields["size"]["default"])}
    ranges = [("source", 1.0), ("destination", 0.0)]
    return [
        {"name": name, "size": size, "pattern": block, "reads": reads}
        for name, reads in ranges
        if name in fields
    ]


def _refuse_shared_pages(work: Spec, phase: Spec, at: str) -> None:
    """Raises InputError if an object begins within a page: it has no place of its own."""
    page = page_of(work)
    fields = declared.kind_fields("patterns", "objects")
    align = int(quantity("bytes", phase.get("align", fields["align"]["default"])))
    until = int(_core.parse("address", phase.get("base", 0)), 0)
    for part in phase.get("objects", []):
        begin = -(-until // align) * align
        if begin % page:
            raise InputError(
                "an object begins within a page, part of which is of another",
                found=f"'{part['name']}' at {begin:#x}, with pages of {page} B",
                allowed=f"align: {page}B of the objects, or smaller pages",
                path=f"{at}.align" if "align" in phase else f"{at}.objects",
            )
        until = begin + int(quantity("bytes", part["size"]))


def rates_of(spec: Spec) -> dict[str, float]:
    """Requests per nanosecond of the requesters whose requests arrive at a rate."""
    field = declared.fields(declared.declarations()["workload"])["rate"]
    written = {name: work.get("rate") for name, work in spec["workload"].items()}
    rates = {
        name: quantity("frequency", value) / 1e9
        for name, value in written.items()
        if value is not None and not declared.says_default(field, value)
    }
    return {name: rate for name, rate in rates.items() if isfinite(rate)}


def page_of(work: Spec) -> int:
    """Bytes of a page of a workload."""
    field = declared.fields(declared.declarations()["workload"])["page"]
    return int(quantity("bytes", work.get("page", field["default"])))


def _object(requester: str, work: Spec, phase: Spec, part: Spec) -> PlacedObject:
    """One without its accesses; without a name it is the whole of a pattern."""
    if part:
        written = part.get("pattern", "random")
        pattern = written if isinstance(written, Mapping) else {"kind": written}
        kind, keys, reads = str(pattern["kind"]), pattern, part.get("reads", 1.0)
    else:
        kind, keys, reads = str(phase["pattern"]), phase, phase.get("reads", 1.0)
    return PlacedObject(
        requester,
        str(part["name"]) if part else requester,
        int(quantity("bytes", part["size"])) if part else 0,
        (),
        share(reads),
        int(quantity("bytes", keys.get("size", "64B"))),
        "dependent" in _traits(kind),
        kind in ("sequential", "strided"),
        not part,
        int(work.get("threads", 1)),
        page_of(work),
    )


def _joined(each: PlacedObject, accesses: tuple[float, ...], known: PlacedObject | None) -> PlacedObject:
    """An object with the accesses of another phase; its mix is the mean, and it waits where most of it does."""
    if known is None:
        return PlacedObject(**(vars(each) | {"accesses": accesses}))
    both = tuple(a + b for a, b in zip(accesses, known.accesses, strict=True))
    new, whole = sum(accesses), sum(both) or 1.0
    more = each if new > known.total else known
    reads = (each.reads * new + known.reads * known.total) / whole
    return PlacedObject(**(vars(more) | {"accesses": both, "reads": reads}))


def _span(phase: Spec) -> tuple[int, int]:
    field = declared.kind_fields("patterns", phase["pattern"]).get("footprint")
    size = phase.get("footprint", "" if field is None else field["default"])
    base = int(_core.parse("address", phase.get("base", 0)), 0)
    return base, base + int(quantity("bytes", size or "64B"))


def _covered(spans: Iterable[tuple[int, int]]) -> int:
    covered, until = 0, 0
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, until))
        until = max(until, end)
    return covered


def share(value: Any) -> float:
    """A share or a count, as a spec has it."""
    text = str(value)
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
