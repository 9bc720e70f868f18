"""Proposes where the data of a workload should live, and runs it beside first touch and uniform interleave."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.nodes import profiles
from cxloom.advising.objects import PlacedObject, objects_of, rates_of
from cxloom.advising.policies import Proposal, nearest, oli, optimum
from cxloom.advising.recipe import recipe
from cxloom.base.errors import InputError, SimulationError
from cxloom.base.filenames import file_name
from cxloom.display.numbers import significant
from cxloom.measure.bench import Bench
from cxloom.results.caveats import error_sentence, why_no_length
from cxloom.results.threads import lines_of_runs
from cxloom.spec.names import listed
from cxloom.spec.override import Override
from cxloom.spec.parts import part_of
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml
from cxloom.sweeping.at_points import Watch, summaries_at, unwatched
from cxloom.system.system import System

if TYPE_CHECKING:
    from rich.table import Table

    from cxloom.base.summary import Summary

GAIN = 0.01
"""What a placement has to gain over first touch to be proposed: less is within what runs differ by (own choice)."""
TITLES = {
    "first-touch": "first touch",
    "uniform": "uniform interleave",
    "oli": "object-level interleaving",
    "optimum": "by bandwidth and latency",
}


@dataclass(frozen=True)
class Outcome:
    """A placement, and what its run gave."""

    policy: str
    proposal: Proposal | None
    throughput: float
    """Gigabytes per second; of a program its share of first touch's speed."""
    latency: float
    """Mean nanoseconds of a request; of a program the time that it takes."""
    near: float
    """Share of the pages in the nearest node of each requester."""
    score: float
    """What is compared: more is better."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """Gigabytes per second of each device whose work goes on beside it, and is not placed."""


@dataclass(frozen=True)
class Advice:
    """Where the data should live. Its numbers are defined in ``docs/advise.md``."""

    system: str
    nodes: Sequence[NodeProfile]
    objects: Sequence[PlacedObject]
    outcomes: Sequence[Outcome]
    """First touch, uniform interleave, and what both policies propose."""
    proposed: Outcome
    """The best of them; first touch if none gains."""
    addresses: Mapping[str, Any] = field(default_factory=dict)
    """The placement of each requester's pages, as its `addresses` say it."""
    spec: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: Sequence[str] = ()
    threads: Sequence[str] = ()
    """A line on how the runs were divided among threads, if they were to be."""

    def gain(self, outcome: Outcome) -> float:
        """What a placement gains over first touch, as a share."""
        return outcome.score / self.outcomes[0].score - 1

    @property
    def sentence(self) -> str:
        """The advice in one sentence."""
        others = [each for each in self.outcomes if each is not self.proposed]
        if not others:
            return "Keep first touch: no other placement could be run."
        said = ", ".join(f"{TITLES[each.policy]} {100 * self.gain(each):+.0f} %" for each in others[:3])
        if self.proposed.policy == "first-touch":
            return f"Keep first touch: no other placement gains {100 * GAIN:.0f} % over it ({said})."
        over = ""
        for each in others:
            if each.policy == "uniform":
                over = f" and {100 * (self.proposed.score / each.score - 1):+.0f} % over uniform interleave"
        return (
            f"Place {TITLES[self.proposed.policy]}: {100 * self.gain(self.proposed):+.0f} % over first touch{over}, "
            f"with {100 * self.proposed.near:.0f} % of the pages near."
        )

    @property
    def recipe(self) -> str:
        """The proposed placement on a real machine: commands of numactl, and calls of libnuma."""
        return recipe(self.proposed.proposal, self.nodes)

    def to_json(self) -> dict[str, Any]:
        """The advice for programs."""
        return {
            "system": self.system,
            "sentence": self.sentence,
            "proposed": self.proposed.policy,
            "addresses": dict(self.addresses),
            "nodes": [
                {
                    "name": node.name,
                    "bytes": node.bytes,
                    "bandwidth_gb_per_s": node.bandwidth,
                    "latency_ns": dict(node.latency),
                }
                for node in self.nodes
            ],
            "objects": [
                {
                    "requester": each.requester,
                    "name": each.name,
                    "bytes": each.bytes,
                    "accesses": each.total,
                    "reads": each.reads,
                    "weights": {
                        outcome.policy: outcome.proposal.weights(index)
                        for outcome in self.outcomes
                        if outcome.proposal is not None and outcome.proposal.shares
                    },
                }
                for index, each in enumerate(self.objects)
            ],
            "placements": [
                {
                    "policy": each.policy,
                    "throughput_gb_per_s": each.throughput,
                    "latency_ns": each.latency,
                    "gain": self.gain(each),
                    "near": each.near,
                }
                for each in self.outcomes
            ],
            "recipe": self.recipe.splitlines(),
            "notes": list(self.notes),
        }

    def to_yaml(self) -> str:
        """The spec with the proposed placement."""
        return to_yaml(self.spec)

    def table(self) -> Table:
        """The placements beside each other, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("placement", "GB/s", "latency", "gain", "near"):
            made.add_column(title, justify="left" if title == "placement" else "right")
        for each in self.outcomes:
            made.add_row(
                ("* " if each is self.proposed else "  ") + TITLES[each.policy],
                significant(each.throughput, 4),
                f"{significant(each.latency, 4)} ns",
                f"{100 * self.gain(each):+.1f} %",
                f"{100 * each.near:.0f} %",
            )
        return made

    def table_of_objects(self) -> Table:
        """The objects, and where each policy puts them; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        policies = [each.proposal for each in self.outcomes if each.policy in ("oli", "optimum")]
        for title in ("object", "MiB", "accesses", "reads"):
            made.add_column(title, justify="left" if title == "object" else "right")
        for each in self.outcomes:
            if each.policy in ("oli", "optimum"):
                made.add_column(TITLES[each.policy])
        whole = sum(each.total for each in self.objects) or 1.0
        for index, of in enumerate(self.objects):
            places = [
                ", ".join(f"{name} {count}" for name, count in each.weights(index).items())
                for each in policies
                if each is not None
            ]
            row = (
                of.name,
                significant(of.bytes / (1 << 20)),
                f"{100 * of.total / whole:.1f} %",
                f"{100 * of.reads:.0f} %",
            )
            made.add_row(*row, *places)
        return made

    def __str__(self) -> str:
        import io

        from cxloom.display.console import plain

        file = io.StringIO()
        out = plain(file)
        for each in (self.sentence, "", self.table(), "", self.table_of_objects(), "", self.recipe):
            out.print(each)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def advise(
    system: System | str | os.PathLike[str],
    *,
    profile: str | os.PathLike[str] | None = None,
    host: str | None = None,
    jobs: int | None = None,
    watch: Watch = unwatched,
    overrides: Sequence[Override] = (),
) -> Advice:
    """Proposes where the objects of a workload should live.

    Runs it with what two policies propose, with first touch and with uniform interleave, and proposes the best of
    them: first touch, unless another gains.

    Args:
        system: a `System`, a spec file, or the name of a preset.
        profile: a file with the objects of a program, as `cxloom exec --out` writes it, in place of the workload's.
        host: of a `profile`, the device that runs the program; the only one that makes requests by default.
        jobs: runs at a time; by default one for each processor.
        watch: is called now and then with the progress of the runs.
        overrides: values set in the system first.

    Raises InputError for a system that cannot be built, has one node or objects that fit into none, SimulationError if
    a run cannot finish.
    """
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    alone: list[str] = []
    if profile is not None:
        objects_alone, alone = _of_profile(system, profile, host, overrides)
        overrides = [*overrides, *objects_alone]
    resolved = system.resolve(overrides)
    from cxloom.system.simulation import build, refuse_without_work

    refuse_without_work(resolved)
    names = resolved.plain()["workload"]
    if not all(isinstance(work, Mapping) for work in names.values()):
        build(resolved)  # which says what is no workload
    names, beside = _placed_and_beside(resolved)
    if not any("trace" in work for work in names.values()):  # these have no objects, which is said first
        near = [Override.of(f"workload.{name}.addresses", {"kind": "preferred"}) for name in names]
        try:
            build(system.resolve([*overrides, *near]))  # errors at their places: what fits nowhere, too
        except InputError:
            _refuse_one_node(system, overrides, resolved)
            raise
    try:
        objects = objects_of({**resolved.plain(), "workload": names})
    except InputError as error:
        raise resolved.placed(error) from None
    _refuse_one_node(system, overrides, resolved)  # before all is measured for nothing
    bench = Bench(system, jobs=jobs, watch=watch, overrides=overrides)
    nodes, in_flight = measured(bench, objects, resolved, names)
    rates = rates_of(resolved.plain())
    rated = rates.keys() == names.keys()
    proposals = [
        None,
        uniform(objects, nodes),
        oli(objects, nodes),
        optimum(objects, nodes, in_flight, rates),
    ]
    spec = resolved.plain()
    spec.pop("outputs", None)
    whole = System.from_yaml(json.dumps(spec))
    points = [
        {f"workload.{name}.addresses": addresses_of(name, each, nodes) for name in _requesters(objects)}
        for each in proposals
    ]
    played = summaries_at(whole, points, jobs=jobs, watch=watch)
    outcomes = []
    notes = (
        [f"the objects are alone: the workload of {listed(alone, word='and')} is not played"] if alone else []
    )
    for proposal, found in zip(proposals, played, strict=True):
        policy = "first-touch" if proposal is None else proposal.policy
        said = found.error if found.summary is None else _why_nothing(found.summary)
        if said is None and found.summary is not None:
            outcomes.append(_outcome(policy, proposal, found.summary, objects, nodes, rated, beside))
        elif proposal is None:
            raise SimulationError(f"first touch gives nothing to compare with: {said}")
        else:
            notes.append(f"{TITLES[policy]} is left out: {said}")
    best = proposed(outcomes)
    notes += _notes_beside(outcomes[0], best)
    place = {name: addresses_of(name, best.proposal, nodes) for name in _requesters(objects)}
    placed = system.resolve(
        [*overrides, *(Override.of(f"workload.{name}.addresses", value) for name, value in place.items())]
    )
    title, threads = str(spec.get("name", "system")), lines_of_runs([found.cost for found in played])
    return Advice(title, nodes, objects, outcomes, best, place, placed.plain(), notes, threads)


def _placed_and_beside(resolved: Resolved) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    """The workloads whose pages are placed, and the devices of others, such as GPUs, whose work goes on beside them.

    Raises InputError, at its place, where all are others.
    """
    spec = resolved.plain()
    work: Mapping[str, Mapping[str, Any]] = spec["workload"]
    placed = {name: given for name, given in work.items() if part_of(spec, name, "requester") is not None}
    beside = [name for name in work if name not in placed]
    if placed:
        return placed, beside
    raise resolved.placed(
        InputError(
            "there is nothing to choose: no workload has pages that are placed",
            found=", ".join(f"'{name}' of kind '{spec['devices'][name]['kind']}'" for name in beside),
            allowed="a workload of a host or an accelerator",
            path=f"workload.{beside[0]}",
        )
    )


def _notes_beside(first: Outcome, best: Outcome) -> list[str]:
    """What the proposal does to the work beside it."""
    notes = []
    for name, rate in first.beside.items():
        than = "" if best is first else f", and {significant(rate, 3)} with first touch"
        moved = significant(best.beside[name], 3)
        notes.append(
            f"the work of {name} goes on beside it, where it is: {moved} GB/s with what is proposed{than}"
        )
    return notes


def _of_profile(
    system: System, file: str | os.PathLike[str], host: str | None, overrides: Sequence[Override]
) -> tuple[list[Override], list[str]]:
    """The objects of a file as the workload of a system, and the other devices with work, which they replace."""
    from cxloom.advising.profile import check_host, read_profile
    from cxloom.measure import chosen

    bench = Bench(system, overrides=overrides)
    check_host(bench, host)
    name = chosen(bench, host, "--host")
    work = system.resolve(overrides).plain().get("workload") or {}
    others = [each for each, given in work.items() if given is not None and each != name]
    return read_profile(file).overrides(bench, name), others


def proposed(outcomes: Sequence[Outcome]) -> Outcome:
    """The best: first touch, which is the first of them, unless another gains."""
    best = max(outcomes, key=lambda each: each.score)
    return best if best.score >= (1 + GAIN) * outcomes[0].score else outcomes[0]


def measured(
    bench: Bench, objects: Sequence[PlacedObject], resolved: Resolved, work: Mapping[str, Mapping[str, Any]]
) -> tuple[list[NodeProfile], dict[str, float]]:
    """The nodes, and how many requests each requester has in flight. Raises InputError where nothing is to choose."""
    nodes, in_flight = profiles(bench, objects, work)
    if not any(len(nearest(nodes, name)) > 1 for name in in_flight):
        raise _nothing_to_choose([node.name for node in nodes], resolved)
    return nodes, in_flight


def _refuse_one_node(system: System, overrides: Sequence[Override], resolved: Resolved) -> None:
    """Refuses a system in which nobody has a choice, whatever the placement says that was tried."""
    try:
        bench = Bench(system, overrides=overrides)
        nodes = bench.all_nodes()
    except InputError:  # the work is wrong without a placement, too
        return
    if not any(sum(bench.may(name, node) for node in nodes) > 1 for name in resolved.plain()["workload"]):
        raise _nothing_to_choose([node.name for node in nodes], resolved)


def _nothing_to_choose(nodes: Sequence[str], resolved: Resolved) -> InputError:
    return resolved.placed(
        InputError(
            "there is nothing to choose: no requester has more than one node",
            found=", ".join(nodes) or "none",
            allowed="two entries or more in the address map for a requester: the memories of one are one node",
            path="address_map",
        )
    )


def uniform(objects: Sequence[PlacedObject], nodes: Sequence[NodeProfile]) -> Proposal:
    """All pages in turn to all nodes."""
    have = [nearest(nodes, each.requester) for each in objects]
    return Proposal("uniform", objects, [{node.name: 1 / len(mine) for node in mine} for mine in have])


def addresses_of(requester: str, proposal: Proposal | None, nodes: Sequence[NodeProfile]) -> dict[str, Any]:
    """The placement of a requester's pages. None is first touch, as Linux has it: the nearest node with room."""
    if proposal is None:
        return {"kind": "preferred"}
    mine = [i for i, each in enumerate(proposal.objects) if each.requester == requester]
    if proposal.policy == "uniform":
        return {"kind": "interleave", "nodes": [n.name for n in nodes if requester in n.latency]}
    otherwise = next(
        (proposal.place(i, nodes) for i in mine if proposal.objects[i].rest), {"kind": "preferred"}
    )
    ranges = [
        {"object": proposal.objects[i].name, "place": proposal.place(i, nodes)}
        for i in mine
        if not proposal.objects[i].rest
    ]
    return {"kind": "ranges", "ranges": ranges, "otherwise": otherwise} if ranges else otherwise


def _requesters(objects: Sequence[PlacedObject]) -> list[str]:
    return list(dict.fromkeys(each.requester for each in objects))


def _why_nothing(summary: Summary) -> str | None:
    """Why a run has nothing to be compared by; None if it has."""
    if (said := error_sentence(summary)) is not None:
        return said
    return why_no_length(summary) if summary["requests"] else "no request was answered in its window"


def _outcome(
    policy: str,
    proposal: Proposal | None,
    summary: Summary,
    objects: Sequence[PlacedObject],
    nodes: Sequence[NodeProfile],
    rated: bool,
    beside: Sequence[str] = (),
) -> Outcome:
    """What a run gave; the latency of requests that arrive at a rate is compared, as their throughput is given.

    Beside a GPU bytes are compared, as its requests are longer than those of a host.
    """
    latency = float(summary["latency_ns"]["mean"])
    moved = float(summary["bandwidth_gb_per_s"])
    rate = moved if beside else summary["requests"] / summary["simulated_time_ns"]
    near = whole = 0
    for name in _requesters(objects):
        pages = summary["per_requester"][name].get("pages") or {}
        first = nearest(nodes, name)[0].name
        near += sum(count for node, count in pages.items() if first in node.split("+"))
        whole += sum(pages.values())
    score = 1 / latency if rated and latency else rate
    others = {name: float(summary["per_requester"][name]["bandwidth_gb_per_s"]) for name in beside}
    return Outcome(policy, proposal, moved, latency, near / whole if whole else 0.0, score, others)
