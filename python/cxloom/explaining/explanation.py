"""Says what limits a system: the resources in use, what-if runs with each doubled, and one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.base.errors import InputError, SimulationError
from cxloom.base.filenames import file_name
from cxloom.base.words import counted
from cxloom.bottleneck.resource import Resource
from cxloom.bottleneck.resources import chain
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.display.numbers import duration
from cxloom.display.shown import Shown, ShowsItself
from cxloom.explaining.shown_rows import rows
from cxloom.explaining.what_ifs import (
    GAIN,
    WhatIf,
    best_first,
    followed,
    limit_of,
    lost,
    what_ifs_of,
    worth_trying,
)
from cxloom.results.caveats import error_sentence, why_no_length
from cxloom.results.tiering import tiering_sentences
from cxloom.spec import declared
from cxloom.spec.names import listed
from cxloom.spec.override import Override
from cxloom.spec.parts import part_of, quantity, section
from cxloom.sweeping.at_points import Watch, summaries_at, unwatched
from cxloom.system.system import System

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from cxloom.base.summary import Summary

_LAUNCHED = 0.3
"""A share of a copy's time from which on its launch is noted (own choice)."""
_THROTTLED = 0.1
"""The part of the mean latency from which on a throttle is spoken of."""


@dataclass(frozen=True)
class Explanation(ShowsItself):
    """What limits a system, and why. Its numbers are defined in ``docs/explain.md``."""

    system: str
    throughput: float
    """Gigabytes per second."""
    limit: Resource | None
    """What limits; None if nothing does."""
    resources: Sequence[Resource]
    """All that were seen, in the order of a request's way."""
    what_ifs: Sequence[WhatIf]
    """The runs with a resource doubled, the most gain first."""
    latency: Mapping[str, float] = field(default_factory=dict)
    """Mean nanoseconds of each part of a request."""
    notes: Sequence[str] = ()
    """What to know of it."""
    tasks_ns: float | None = None
    """Nanoseconds of the graph of tasks, if it plays one: gains are of its speed then."""

    @property
    def chain(self) -> list[Resource]:
        """The full resources from the requester to the limit, each of which waits for the next."""
        return chain(list(self.resources), self.limit)

    @property
    def sentence(self) -> str:
        """What limits, in one sentence."""
        largest = sorted(self.latency.items(), key=lambda part: -part[1])[:2]
        parts = " and ".join(
            f"{value:.0f} ns of {name.replace('_', ' ')}" for name, value in largest if value
        )
        if self.limit is None:
            return f"Nothing is full: throughput is {self.throughput:.3g} GB/s, and the latency is mostly {parts}."
        what = f"Throughput, {self.throughput:.3g} GB/s, is"
        if self.tasks_ns is not None:
            what = f"The graph of tasks takes {duration(self.tasks_ns)}, and its speed is"
        said = f"{what} limited by {self.limit.name} ({self.limit.level})"
        tried = next((each for each in self.what_ifs if each.resource is self.limit), None)
        if tried is None:
            return f"{said}; the latency is mostly {parts}."
        if tried.gain < GAIN:
            return (
                f"{what.removesuffix(' is')} rises by less than {100 * GAIN:.0f} % with twice of anything alone. Full, "
                f"and last on the way, is {self.limit.name} ({self.limit.level}); the latency is mostly {parts}."
            )
        moved = ""
        if tried.then is not None and tried.then.name == self.limit.name:
            moved = ", and is the limit again" if tried.limits else ""
        elif tried.then is not None:
            moved = (
                f", and then the limit is {tried.then.name}"
                if tried.limits
                else f", and then {tried.then.name} is full, of which twice gains nothing alone"
            )
        return f"{said}: with {self.limit.twice} it rises by {100 * tried.gain:.0f} %{moved}."

    def bound(self, resource: Resource) -> float | None:
        """Gigabytes per second of the whole system with all of a resource in use; None if its use does not say."""
        return resource.bound(self.throughput)

    def to_json(self) -> dict[str, Any]:
        """The explanation for programs."""

        def plain(each: Resource) -> dict[str, Any]:
            return {
                "name": each.name,
                "busy": each.busy,
                "full": each.full,
                "level": each.level,
                "bound_gb_per_s": self.bound(each),
            }

        return {
            "system": self.system,
            "sentence": self.sentence,
            "throughput_gb_per_s": self.throughput,
            **({} if self.tasks_ns is None else {"tasks_ns": self.tasks_ns}),
            "notes": list(self.notes),
            "limit": None if self.limit is None else self.limit.name,
            "chain": [each.name for each in self.chain],
            "resources": [plain(each) for each in self.resources],
            "what_ifs": [
                {
                    "twice": each.resource.name,
                    "set": dict(each.resource.relief),
                    "gain": each.gain,
                    "then": None if each.then is None else each.then.name,
                }
                for each in self.what_ifs
            ],
        }

    def table(self) -> Table:
        """The resources that are in use, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title, right in (
            ("resource", False),
            ("in use", True),
            ("bound GB/s", True),
            ("if doubled", True),
        ):
            made.add_column(title, justify="right" if right else "left")
        gains = {each.resource.name: each for each in self.what_ifs}
        limit = set() if self.limit is None else {self.limit.name}
        for each, count in rows(self.resources, limit, gains.keys()):
            tried = gains.get(each.name) if count == 1 else None
            most = self.bound(each)
            bound = "-" if most is None else f"{most:.3g}" if most < 10 else f"{most:.1f}"
            mark = "* " if self._limits(each) else "  "
            made.add_row(
                mark + each.name.removeprefix("the ") if count == 1 else f"  and {count} more, at most",
                each.level,
                bound,
                "-" if tried is None else f"{100 * tried.gain:+.0f} %",
            )
        return made

    def _limits(self, each: Resource) -> bool:
        """It is the limit, or one of several of a kind that are."""
        if self.limit is None or each.name == self.limit.name:
            return self.limit is not None
        alone = any(one.name == self.limit.name for one in self.resources)
        return not alone and each.full and each.kind == self.limit.kind

    def frame(self) -> pl.DataFrame:
        """A row for each resource, in the order of a request's way; behind them several of one kind that were doubled
        together.

        `resource`; `busy`, the share of the time, or of its places, that is in use, and `full`, whether that is all
        there is; `limits`, whether it is what limits; `bound_gb_per_s`, the GB/s of the whole system with all of it in
        use; `gain`, what twice of it gains as a share of the throughput: null where that was not tried.
        """
        import polars as pl

        gains = {each.resource.name: each.gain for each in self.what_ifs}
        limit = None if self.limit is None else self.limit.name
        lines = [
            (each.name, each.busy, each.full, each.name == limit, self.bound(each), gains.get(each.name))
            for each in [*self.resources, *self._groups()]
        ]
        schema = {
            "resource": pl.String,
            "busy": pl.Float64,
            "full": pl.Boolean,
            "limits": pl.Boolean,
            "bound_gb_per_s": pl.Float64,
            "gain": pl.Float64,
        }
        return pl.DataFrame(lines, schema=schema, orient="row")

    def _groups(self) -> list[Resource]:
        single = {each.name for each in self.resources}
        return [each.resource for each in self.what_ifs if each.resource.name not in single]

    def shown(self) -> Shown:
        """The sentence, the table and the notes, as ``cxloom explain`` prints them."""
        return Shown([self.sentence], [self.table()], self.notes)


def explain(
    system: System | str | os.PathLike[str],
    *,
    jobs: int | None = None,
    watch: Watch = unwatched,
    overrides: Sequence[Override] = (),
) -> Explanation:
    """Runs a system, and again with each resource in use doubled, and says what limits it.

    Args:
        system: a `System`, a spec file, or the name of a preset.
        jobs: runs at a time; by default one for each processor.
        watch: is called now and then with the progress of the what-if runs.
        overrides: values set in the system first.

    Raises InputError for a system that cannot be built, SimulationError if it cannot finish.
    """
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    resolved = system.resolve(overrides)
    from cxloom.system.simulation import build, refuse_without_work

    refuse_without_work(resolved)
    build(resolved)  # errors at their places
    spec = resolved.plain()
    spec.pop("outputs", None)
    whole = System.from_yaml(json.dumps(spec))
    seed = int(section(spec, "run").text("seed"))
    [played] = summaries_at(whole, [{"run.seed": seed}], jobs=1, watch=watch)
    if played.status == "refused":
        raise InputError(f"the system cannot be explained: {played.error}")
    if (summary := played.summary) is None:
        raise SimulationError(f"the system cannot be explained, as it does not finish: {played.error}")
    if not summary["requests"] and (said := error_sentence(summary)):
        raise SimulationError(f"there is nothing to explain, as no request was answered with data: {said}")
    if not summary["requests"]:
        raise InputError(
            "nothing is measured in this system", allowed="a workload with more requests than its warm-up"
        )
    if (why := why_no_length(summary)) is not None:
        more = "; measure more requests" if summary["latency_ns"]["max"] else ""
        raise SimulationError(f"there is nothing to explain, as {why}{more}")
    resources = all_resources(spec, summary)
    tried = [] if lost(summary) else worth_trying(resources)
    what_ifs = best_first(what_ifs_of(whole, summary, tried, jobs, watch))
    limit = limit_of(resources, what_ifs)
    return Explanation(
        str(spec.get("name", "system")),
        summary["bandwidth_gb_per_s"],
        limit,
        resources,
        [followed(whole, each, jobs, watch) if each.resource is limit else each for each in what_ifs],
        summary["breakdown_ns"],
        _notes(spec, summary),
        summary["tasks"]["time_ns"] if summary.get("tasks") else None,
    )


def _notes(spec: Mapping[str, Any], summary: Summary) -> list[str]:
    """What the explanation does not cover or stand on: requests answered without data, what the notes of its run say
    of the window and of what has no limit, and insides that no kind declares."""
    said = error_sentence(summary)
    notes = [] if said is None else [f"{said}; this is about the others"]
    if gone := lost(summary):
        notes.append(
            f"{counted(gone, 'request')} on the way {'was' if gone == 1 else 'were'} lost to what failed, and held "
            "places until the timeout: what twice of something gains is not told, as each run loses others"
        )
    elif spec.get("events"):
        notes.append(
            "events have fixed times, so that a faster run does more before them: gains are of whole runs"
        )
    notes += summary["notes"]
    notes += tiering_sentences(summary)
    notes += _throttled(spec, summary)
    notes += _launched(spec, summary)
    known = {device["name"]: device["resources"] for device in _core.inventory(spec)["devices"]}
    for group, stages, what in (
        (summary["per_requester"], ("requester",), "how many requests it has in flight at most"),
        (summary["per_memory"], ("places", "media"), "what its memory consists of"),
    ):
        for name in group:
            if not any(each["stage"] in stages for each in known[name]):
                kind = spec["devices"][name]["kind"]
                notes.append(
                    f"devices of kind '{kind}' do not say {what}: that {name} limits is not looked at"
                )
    return notes


def _throttled(spec: Mapping[str, Any], summary: Summary) -> list[str]:
    """That requests mostly wait for a throttle, which is no resource that there could be twice of."""
    share = (summary["breakdown_ns"].get("throttle") or 0.0) / (summary["latency_ns"]["mean"] or 1.0)
    if share < _THROTTLED:
        return []
    throttles = {
        name: part.below("throttle")
        for name in summary["per_requester"]
        if (part := part_of(spec, name, "requester")) is not None
    }
    places = {name: found.at for name, found in throttles.items() if found is not None}
    who = listed(list(places), word="and") or "requesters"
    said = (
        f"{100 * share:.0f} % of the mean latency is the throttle of {who}, "
        "which slows down by the loads that memories report"
    )
    if not places:  # a kind has a throttle without a parameter for it
        return [said]
    return [f"{said}: --set {next(iter(places.values()))}=null shows what is asked for without"]


def _launched(spec: Mapping[str, Any], summary: Summary) -> list[str]:
    """That copies of a device wait for their launch, one after the other, while nothing of it is in use."""
    notes = []
    for name, mine in summary["per_requester"].items():
        fields = declared.kind_fields("devices", spec["devices"][name]["kind"])
        took = mine.get("large_access_ns")
        if not {"launch_time", "queue", "streams"} <= fields.keys() or not took or summary.get("tasks"):
            continue
        given = {
            key: spec["devices"][name].get(key, fields[key]["default"]) for key in ("launch_time", "queue")
        }
        launch = quantity("time", given["launch_time"])
        if launch / took >= _LAUNCHED and int(given["queue"]) == 1:
            notes.append(
                f"{100 * launch / took:.0f} % of the time of a copy of {name} is its launch, and the next one is "
                f"called when it has ended: --set devices.{name}.queue=2 calls it meanwhile"
            )
    return notes
