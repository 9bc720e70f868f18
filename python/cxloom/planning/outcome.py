"""What a plan has found: each design with its means over seeds, beside the one without a pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, SimulationError, together
from cxloom.base.words import counted
from cxloom.display.numbers import percent, significant, size
from cxloom.planning.designs import NoPool
from cxloom.planning.plan_file import Plan
from cxloom.planning.point import DESIGN, SEED
from cxloom.planning.prices import sources
from cxloom.sweeping.interval import interval
from cxloom.sweeping.plan import Point
from cxloom.sweeping.store import Record

if TYPE_CHECKING:
    from rich.table import Table

_APART = ("curve", "course", "latency", "parts")
"""What is of the first seed alone."""
_MOST_SAID = 6
"""Settings whose cheapest design the sentence says."""


@dataclass(frozen=True)
class DesignOutcome:
    """A design, under one setting of what is swept."""

    name: str
    at: Mapping[str, Any]
    """What was swept."""
    plan: Plan
    """The plan with it."""
    found: Mapping[str, Any]
    """The results in ``docs/plan.md``: means over the seeds; latency, parts, curve and course of the first."""
    ci95: Mapping[str, Sequence[float]]
    """95 % intervals of the means, by their paths; none of a single seed."""
    seeds: int
    relative_price: float | None
    """Price as a share of that of the design without a pool; None: there is none."""
    relative_memory: float | None
    """All memory that is bought, likewise."""

    def to_json(self) -> dict[str, Any]:
        """All of it for programs."""
        return {
            "design": self.name,
            **({"set": dict(self.at)} if self.at else {}),
            "kind": self.plan.designs[self.name].kind,
            "seeds": self.seeds,
            **self.found,
            "relative_price": self.relative_price,
            "relative_memory": self.relative_memory,
            "ci95": {path: list(ends) for path, ends in self.ci95.items()},
        }


@dataclass(frozen=True)
class PlanOutcome:
    """What a plan has found. Its numbers are defined in ``docs/plan.md``."""

    name: str
    designs: Sequence[DesignOutcome]

    @property
    def settings(self) -> list[list[DesignOutcome]]:
        """The designs under each setting of what is swept: those of one setting can be compared."""
        found: dict[str, list[DesignOutcome]] = {}
        for each in self.designs:
            found.setdefault(repr(each.at), []).append(each)
        return list(found.values())

    @property
    def sentence(self) -> str:
        """The cheapest design in one sentence: under each of the first settings, if something is swept."""
        settings = self.settings
        if len(settings) == 1:
            (designs,) = settings
            return (
                f"Of {counted(len(designs), 'design')} for {counted(designs[0].plan.servers.count, 'server')} and "
                f"{designs[0].found['vms']['asked']:,.0f} VMs, {_least(designs)}."
            )
        said = [_least(designs) for designs in settings[:_MOST_SAID]]
        if len(settings) > _MOST_SAID:
            said.append(f"{len(settings) - _MOST_SAID} more are in the table")
        return f"Under each of {len(settings)} settings: {'; '.join(said)}."

    @property
    def notes(self) -> list[str]:
        """What has to be said of the numbers, with the settings where it does not go for all of them."""
        found: dict[str, list[str]] = {}
        for designs in self.settings:
            for note in _notes(designs):
                found.setdefault(note, []).append(_swept(designs[0]))
        every = len(self.settings)
        return [
            note if len(of) == every or not all(of) else f"{'; '.join(of)}: {note}"
            for note, of in found.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it for programs."""
        return {
            "plan": self.name,
            "sentence": self.sentence,
            "designs": [each.to_json() for each in self.designs],
            "prices": {"currency": self.designs[0].plan.prices.currency, "parts": self._prices()},
            "notes": self.notes,
        }

    def _prices(self) -> list[dict[str, Any]]:
        """The price of each part, once if it is the same under all settings, otherwise with the setting."""
        settings = [(dict(designs[0].at), sources(designs[0].plan.prices)) for designs in self.settings]
        rows: list[dict[str, Any]] = []
        for at in range(len(settings[0][1])):
            of_part = [(swept, parts[at]) for swept, parts in settings]
            if all(row == of_part[0][1] for _, row in of_part):
                rows.append(of_part[0][1])
            else:
                rows += [{**row, "set": swept} for swept, row in of_part]
        return rows

    def table(self) -> Table:
        """The designs side by side, of Rich."""
        from cxloom.display.plain_table import plain_table

        made = plain_table()
        for head in HEADS:
            made.add_column(head, justify="left" if head == HEADS[0] else "right")
        for row in self.rows():
            made.add_row(*row)
        return made

    def rows(self) -> Iterator[list[str]]:
        """The cells of the table."""
        for each in self.designs:
            found, latency = each.found, each.found["latency"] or {}
            pool = found["pool"]
            yield [
                _called(each),
                size(found["dram"]["per_server_bytes"]),
                f"{pool['devices']:.0f}" if pool["devices"] else "-",
                _with_interval(size, pool["bytes"], each.ci95.get("pool.bytes")) if pool["devices"] else "-",
                _share(each.relative_memory),
                _share(found["stranded"]["mean_share"]),
                _share(pool["used_mean_share"]),
                f"{found['vms']['refused']:,.4g}",
                *(_ns(latency.get(key)) for key in ("idle_ns", "mean_ns", "p99_ns", "slowest_mean_ns")),
                f"{found['price']['total']:,.0f}",
                _share(each.relative_price),
            ]

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        return f"<p>{escape(self.sentence)}</p><table><tr>{head}</tr>{body}</table>"


HEADS = (
    "design",
    "DRAM/server",
    "devices",
    "pool",
    "memory",
    "stranded",
    "pool used",
    "refused",
    "idle",
    "loaded",
    "p99",
    "slowest",
    "cost",
    "of no pool",
)
"""The columns of the table."""


def outcome_of(
    plans: Sequence[Plan], points: Sequence[Point], records: Sequence[Record | None]
) -> PlanOutcome:
    """What points came to, of each of which there is the plan with what is swept.

    Raises InputError for one that was refused, and SimulationError for one that was lost or is missing.
    """
    _raise_missing(points, records)
    groups: dict[str, list[tuple[Plan, Point, Mapping[str, Any]]]] = {}
    for plan, point, record in zip(plans, points, records, strict=True):
        assert record is not None  # or it would have been raised
        assert record.summary is not None
        others = {path: value for path, value in point.at.items() if path != SEED}
        groups.setdefault(repr(others), []).append((plan, point, record.summary))
    made = [_outcome(group) for group in groups.values()]
    return PlanOutcome(plans[0].name, [_beside(each, made) for each in made])


def _raise_missing(points: Sequence[Point], records: Sequence[Record | None]) -> None:
    wrong = [
        (point, record)
        for point, record in zip(points, records, strict=True)
        if record is None or record.summary is None
    ]
    refused = {record.error or "refused": point for point, record in wrong if record is not None}
    if refused:
        kind = {record.status for _, record in wrong if record is not None}
        if kind == {"refused"}:
            raise together(
                [
                    InputError(line, path=f"designs.{point.at[DESIGN]}")
                    for error, point in refused.items()
                    for line in error.splitlines()
                ]
            )
        raise SimulationError(next(iter(refused)))
    if wrong:
        raise SimulationError(f"{counted(len(wrong), 'point')} of others missing")


def _outcome(group: Sequence[tuple[Plan, Point, Mapping[str, Any]]]) -> DesignOutcome:
    plan, point, first = group[0]
    whole = {key: value for key, value in first.items() if key not in _APART}
    if len(group) > 1:  # how sure the one demand is of itself: seeds say it better
        whole["pool"] = {key: value for key, value in first["pool"].items() if key != "demand"}
    ci95: dict[str, Sequence[float]] = {}
    means = _mean(whole, [summary for _, _, summary in group], "", ci95)
    apart = {key: first[key] for key in _APART}
    name = str(point.at[DESIGN])
    at = {path: value for path, value in point.at.items() if path not in (DESIGN, SEED)}
    return DesignOutcome(name, at, plan, {**means, **apart}, ci95, len(group), None, None)


def _mean(
    shape: Mapping[str, Any],
    all_of: Sequence[Mapping[str, Any]],
    prefix: str,
    ci95: dict[str, Sequence[float]],
) -> dict[str, Any]:
    """The means of all numbers, in the form of the first."""
    found: dict[str, Any] = {}
    for key, value in shape.items():
        values = [each[key] for each in all_of]
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found[key] = _mean(value, values, f"{path}.", ci95)
        elif isinstance(value, bool):
            found[key] = all(values)
        elif numbers := [
            each for each in values if isinstance(each, (int, float))
        ]:  # a mean of no VMs is None
            mean, half = interval(numbers)
            found[key] = mean if len(numbers) > 1 else numbers[0]
            if half is not None and mean is not None:
                ci95[path] = (mean - half, mean + half)
        else:
            found[key] = value
    return found


def _beside(of: DesignOutcome, all_of: Sequence[DesignOutcome]) -> DesignOutcome:
    """The design with its cost and memory as shares of those without a pool, under the same setting."""
    base = next(
        (each for each in all_of if isinstance(each.plan.designs[each.name], NoPool) and each.at == of.at),
        None,
    )
    if base is None:
        return of
    cost, memory = base.found["price"]["total"], base.found["bought_bytes"]
    return replace(
        of,
        relative_price=of.found["price"]["total"] / cost if cost else None,
        relative_memory=of.found["bought_bytes"] / memory if memory else None,
    )


def _least(designs: Sequence[DesignOutcome]) -> str:
    """Which of the designs of a setting costs the least."""
    best = min(designs, key=lambda each: each.found["price"]["total"])
    is_pool = not isinstance(best.plan.designs[best.name], NoPool)
    name = _called(best) if is_pool else f"{_called(best)} (no pool)"
    share = best.relative_price if is_pool else None
    of = "" if share is None else f", {percent(share)} of the cost without a pool"
    cost = f"{best.found['price']['total']:,.0f} {best.plan.prices.currency}"
    return f"{name} costs the least: {cost}{of}, with {size(best.found['bought_bytes'])} of memory"


def _notes(designs: Sequence[DesignOutcome]) -> Iterator[str]:
    """What has to be said of the designs of a setting."""
    plan = designs[0].plan
    kind = (
        "VMs that run and ask for memory get all of it"
        if plan.sizing.of == "vms"
        else "the time nobody goes without memory"
    )
    yield f"Sized so that {100 * plan.sizing.probability:g} % of {kind}, of DRAM and of devices each."
    estimates = [row["part"] for row in sources(plan.prices) if row["by"] == "estimate"]
    if estimates:
        yield f"Prices that are estimates, to be replaced by your own: {', '.join(estimates)}."
    too_large = designs[0].found["vms"]["too_large"]
    if too_large:
        yield f"{too_large:,.4g} of the VMs are larger than a server, and refused."
    if plan.traffic is None:
        yield "No latency: the file has no traffic."
    for each in designs:
        latency = each.found["latency"]
        yield from (f"{each.name}: {note}" for note in (latency or {}).get("notes", ()))


def _swept(of: DesignOutcome) -> str:
    return ", ".join(f"{path.rpartition('.')[2]} {value}" for path, value in of.at.items())


def _called(of: DesignOutcome) -> str:
    return ", ".join(filter(None, [of.name, _swept(of)]))


def _share(share: float | None) -> str:
    return "-" if share is None else percent(share)


def _ns(value: float | None) -> str:
    return "-" if value is None else f"{significant(value)} ns"


def _with_interval(shown: Any, value: float, ends: Sequence[float] | None) -> str:
    return str(shown(value)) if ends is None else f"{shown(value)} ±{shown((ends[1] - ends[0]) / 2)}"
