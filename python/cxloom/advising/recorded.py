"""Advice for a recorded program: the objects are those of its trace, and the runs replay it."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxloom.advising.advice import TITLES, Advice, Outcome, addresses_of, measured, proposed, uniform
from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import objects_of_program
from cxloom.advising.policies import Proposal, nearest, oli, optimum
from cxloom.advising.profile import check_host
from cxloom.base.errors import SimulationError
from cxloom.base.filenames import file_name
from cxloom.execution import replay
from cxloom.execution.objects import Rule
from cxloom.execution.result import Execution
from cxloom.measure import chosen
from cxloom.measure.bench import Bench
from cxloom.spec.override import Override
from cxloom.sweeping.at_points import Watch, unwatched
from cxloom.system.system import System
from cxloom.trace.capturing import CoreOfTrace
from cxloom.trace.reader import open_trace


def advise_recorded(
    system: System | str | os.PathLike[str],
    trace: str | os.PathLike[str],
    *,
    host: str | None = None,
    jobs: int | None = None,
    watch: Watch = unwatched,
    watch_replay: Callable[[int, int], None] = lambda _instructions, _accesses: None,
    overrides: Sequence[Override] = (),
) -> Advice:
    """Proposes where the objects of a program should live, of which `cxloom exec --record` kept a trace.

    As `advise`, with replays of the trace as runs: what is compared is the time that the program takes.

    Args:
        host: the device that runs it; the only one that makes requests by default.
        watch_replay: is called now and then with instructions and accesses that were played.

    Raises InputError also for a trace that names no objects.
    """
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    resolved = system.resolve(overrides)
    whole = System.from_yaml(json.dumps(resolved.plain()))
    bench = Bench(whole, jobs=jobs, watch=watch)
    check_host(bench, host)
    name = chosen(bench, host, "--host")
    first = replay(trace, [whole], host=name, pages=[{"kind": "preferred"}], watch=watch_replay)
    threads = int(first.executions[0].core["threads"])
    objects = objects_of_program(name, first.objects, threads, _page_of(trace))
    nodes, in_flight = measured(bench, objects, resolved, {})
    proposals = [uniform(objects, nodes), oli(objects, nodes), optimum(objects, nodes, in_flight)]
    rules = [(), *(_rules(each, nodes) for each in proposals[1:])]
    pages: list[Any] = [addresses_of(name, proposals[0], nodes), *[{"kind": "preferred"}] * len(rules[1:])]
    others = replay(trace, [whole] * len(pages), host=name, pages=pages, places=rules, watch=watch_replay)
    outcomes, notes = [], [_without_option(note) for note in first.notes]
    for proposal, execution in zip([None, *proposals], [*first.executions, *others.executions], strict=True):
        policy = "first-touch" if proposal is None else proposal.policy
        if execution.summary["errors"]["requests"]:
            if proposal is None:
                raise SimulationError(f"the program cannot run there: {first.errors()}")
            notes.append(f"{TITLES[policy]} is left out: memory answered accesses with errors")
            continue
        outcomes.append(_outcome(policy, proposal, execution, nodes, name))
    best = proposed(outcomes)
    title = str(resolved.plain().get("name", "system"))
    place: Mapping[str, Any] = {name: addresses_of(name, best.proposal, nodes)}
    return Advice(title, nodes, objects, outcomes, best, place, {}, notes, others.threads_lines)


def _without_option(note: str) -> str:
    """A note of `cxloom exec` without what one of its options would do, which stands at its end."""
    return note.partition("; --")[0]


def _page_of(trace: str | os.PathLike[str]) -> int:
    """Bytes of a page of the program."""
    core = open_trace(trace).metadata.get(CoreOfTrace.NAME)
    return (CoreOfTrace() if core is None else CoreOfTrace.parse(core)).page_bytes


def _rules(proposal: Proposal, nodes: Sequence[NodeProfile]) -> tuple[Rule, ...]:
    return tuple(
        Rule(glob.escape(each.name), proposal.place(index, nodes))
        for index, each in enumerate(proposal.objects)
    )


def _outcome(
    policy: str,
    proposal: Proposal | None,
    execution: Execution,
    nodes: Sequence[NodeProfile],
    host: str,
) -> Outcome:
    summary = execution.summary
    pages = summary["per_requester"][host].get("pages") or {}
    first = nearest(nodes, host)[0].name
    near = sum(count for node, count in pages.items() if first in node.split("+"))
    share = near / sum(pages.values()) if pages else 0.0
    return Outcome(
        policy,
        proposal,
        float(summary["bandwidth_gb_per_s"] or 0.0),
        float(summary["latency_ns"]["mean"] or 0.0),
        share,
        1 / execution.time_ns,
    )
