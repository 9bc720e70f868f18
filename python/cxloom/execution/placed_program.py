"""A system that is made ready to run a program: its host, its core, and where the program's pages go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.summary import Summary
from cxloom.execution.objects import Rule, placement_by
from cxloom.execution.processor import Processor
from cxloom.spec.names import listed
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.override import Override
from cxloom.spec.parts import has_persistent_memory, part_of
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import errors_placed
from cxloom.system.system import System
from cxloom.trace.capturing import CoreOfTrace

HUGE_PAGE = "2MiB"
"""The page size of programs whose pages are all huge."""
PAGE_TABLES = "tables"
"""Their name among the objects of a program."""


@dataclass(frozen=True)
class PlacedProgram:
    """A system that is to run a program."""

    name: str
    resolved: Resolved
    host: str
    core: CoreOfTrace
    pages: str
    rules: Sequence[Rule]
    others: Sequence[str]
    """Other devices with work in the spec, which is not played."""
    fits: set[str] = field(default_factory=set)
    """Patterns of the rules for which there was an object."""

    def without_access(self, summary: Summary) -> list[str]:
        """Memories that its placement names, and that served nothing: its host may have no way to them."""
        addresses = self.resolved.plain()["workload"][self.host].get("addresses")
        nodes = addresses.get("nodes", []) if isinstance(addresses, Mapping) else []
        served = {name: each["reads"] + each["writes"] for name, each in summary["per_memory"].items()}
        return [str(node) for node in nodes if served.get(str(node)) == 0]


def prepare_all(
    systems: Sequence[System],
    pages: Sequence[Any] | None,
    host: str | None,
    places: Sequence[Sequence[Rule]] | None,
    processor: Processor | None,
    page_tables: Any,
) -> list[PlacedProgram]:
    if not systems:
        raise InputError("no system", allowed="at least one")
    placements = pages if pages is not None else ["first-touch"] * len(systems)
    if len(placements) != len(systems):
        raise InputError(
            "not a placement of pages for each system", found=str(len(placements)), allowed=str(len(systems))
        )
    rules = places if places is not None else [()] * len(systems)
    tables = [None] * (len(systems) - 1) + [page_tables]
    each = zip(systems, placements, rules, tables, strict=True)
    return [_prepared(*parts, host, processor) for parts in each]


def is_persistent(placed: PlacedProgram) -> bool:
    """Whether flushes of lines can make something durable there."""
    return has_persistent_memory(placed.resolved.plain())


def notes_on_places(placed: Sequence[PlacedProgram], summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Sentences on places that were asked for and made no difference, and on work that is not played."""
    unused = {str(rule): None for each in placed for rule in each.rules if rule.pattern not in each.fits}
    notes = [f"no object of the program fits --place {rule}" for rule in unused]
    for each, summary in zip(placed, summaries, strict=True):
        if idle := each.without_access(summary):
            notes.append(f"no access went to {listed(idle, word='or')}, where '{each.pages}' puts pages, too")
    if alone := list(dict.fromkeys(name for each in placed for name in each.others)):
        notes.append(
            f"the program runs alone: the workload of {listed(alone, word='and')} is not played; --record keeps a "
            "trace, which is a workload beside others"
        )
    return tuple(dict.fromkeys(notes))


def core_of(placed: Sequence[PlacedProgram]) -> CoreOfTrace:
    """The core of all programs, which must agree."""
    first = placed[0].core
    if any(each.core.program != first.program for each in placed):
        raise InputError(
            "the cores of the systems differ in how they run instructions",
            found=" and ".join(each.name for each in placed),
            allowed="the same width, window, store buffer, caches, tlb and prediction of branches in all",
        )
    return first


def _prepared(
    system: System,
    pages: Any,
    rules: Sequence[Rule],
    page_tables: Any,
    host: str | None,
    processor: Processor | None,
) -> PlacedProgram:
    resolved = system.resolve()
    spec = resolved.plain()
    parts = {name: part_of(spec, name, "requester") for name in spec["devices"]}
    requesters = {name: part for name, part in parts.items() if part is not None}
    if host is None:
        if len(requesters) != 1:
            raise InputError(
                "which device runs the program?",
                found=f"{len(requesters)} devices that make requests",
                allowed=" or ".join(requesters) or "a system with a host",
                path="--host",
            )
        (host,) = requesters
    if host not in requesters:
        raise InputError(f"'{host}' makes no requests", allowed=" or ".join(requesters), path="--host")
    part = requesters[host]
    with errors_placed(resolved):
        values = part.written.get("core", {}) if processor is None else processor.values["core"]
        core = CoreOfTrace(values, f"{part.at}.core")
    work = {"trace": "the program"}
    if core.has_huge_pages:
        work["page"] = HUGE_PAGE
    overrides = [Override.of("workload", {host: work}), Override.of("run.warmup", 0)]
    addresses = f"workload.{host}.addresses"
    if rules:
        overrides.append(_by_option(addresses, placement_by(rules, "first-touch"), "--place"))
        addresses += ".otherwise"
    overrides.append(_by_option(addresses, pages, "--pages"))
    if page_tables is not None:
        _check_page_tables(values, rules, host)
        overrides.append(_by_option(f"workload.{host}.page_tables", page_tables, "--page-tables"))
    if processor is not None:
        overrides += [Override.of(f"{part.at}.{key}", value) for key, value in processor.values.items()]
    elif "core" not in part.written:
        overrides.append(Override.of(f"{part.at}.core", {}))
    resolved = system.resolve(overrides)
    name = str(resolved.plain().get("name", "")) or "the system"
    text = ", ".join([*map(str, rules), _text_of(pages)])
    if page_tables is not None:
        text += f", page tables {_text_of(page_tables)}"
    others = [
        each for each, work in (spec.get("workload") or {}).items() if work is not None and each != host
    ]
    return PlacedProgram(name, resolved, host, core, text, rules, others)


def _by_option(path: str, value: Any, option: str) -> Override:
    """What is wrong with it is the option's fault."""
    return Override(path, from_plain(value, Origin(path=option)))


def _check_page_tables(core: Mapping[str, Any], rules: Sequence[Rule], host: str) -> None:
    """Whether they are read, and are put nowhere else. Raises InputError."""
    if core.get("tlb") is None:
        raise InputError(
            f"the core of '{host}' reads no page tables",
            allowed="a core with a tlb, such as core: {tlb: {}}",
            path="--page-tables",
        )
    twice = [str(rule) for rule in rules if rule.pattern == PAGE_TABLES]
    if twice:
        raise InputError(
            "page tables are put in two places",
            found=f"--place {twice[0]} beside --page-tables",
            allowed="one of the two",
            path="--page-tables",
        )


def _text_of(pages: Any) -> str:
    """A placement in a few words: ``bind cxl``."""
    if not isinstance(pages, Mapping):
        return str(pages)
    rest = [value for key, value in pages.items() if key != "kind"]
    words = [",".join(map(str, each)) if isinstance(each, list) else str(each) for each in rest]
    return " ".join([str(pages.get("kind", "")), *words])
