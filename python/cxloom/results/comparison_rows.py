"""What is compared of systems: measures side by side, and the parts of the latency that change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cxloom.spec import declared

NOTABLE = 0.01
"""A part of the latency has a row if it changes by this share of the largest mean."""
SMALL = 0.0005
"""A relative change that is smaller is called none, where there is no interval."""
ANSWERED = "requests answered"
LATENCY = "mean latency"
_REQUESTERS = 4
"""How many requesters have rows of their own, at most: those whose measures change most."""
_KNOWN = 6
"""Nothing is known of fewer requests: the median of all lies beyond five of them in 2 x 0.5 ^ 5, more than 5 %."""
_RANKS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_RATES = ("GB/s", "M/s")
_OF_MANY = 1.6
"""Intervals of 95 % are so much wider where those that change most are picked of many: of thirty that do not differ one
in twenty times one is said to."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value beside that of the first system."""

    difference: float
    relative: float | None
    """The difference as a share of the first system's value; None where that is nothing."""
    doubt: float
    """A relative change up to this is none, where there is no interval."""
    interval: tuple[float, float] | None
    """The 95 % interval of the difference, from those of both values, which it takes for independent: runs of one seed
    meet the same accesses, and their difference is known better than that. Infinite where an end of a value is. None
    where a value has no interval."""

    @property
    def is_clear(self) -> bool:
        """Whether it is more than what chance, or rounding, explains."""
        if self.interval is not None:
            return not self.interval[0] <= 0 <= self.interval[1]
        return abs(self.relative if self.relative is not None else self.difference) > self.doubt


@dataclass(frozen=True, slots=True)
class Row:
    """One measure of all systems."""

    name: str
    unit: str
    values: tuple[float, ...]
    """NaN where a system has no such measure."""
    intervals: tuple[tuple[float, float] | None, ...]
    doubt: float = SMALL
    """The relative change that says nothing, of measures without an interval: that of the mean latency."""
    is_part: bool = False
    """Whether it is a part of the mean latency."""
    requester: str = ""
    """Whose it is, of one of several."""

    def change(self, at: int) -> Change:
        """The value of a system beside that of the first."""
        first, value = self.values[0], self.values[at]
        ends = self.intervals[0], self.intervals[at]
        interval = None
        if ends[0] is not None and ends[1] is not None:
            # From the sides of both intervals, which are not symmetrical (MOVER: G. Y. Zou and A. Donner, Statistics in
            # Medicine 27, 2008).
            below = math.hypot(value - ends[1][0], ends[0][1] - first)
            above = math.hypot(ends[1][1] - value, first - ends[0][0])
            wider = _OF_MANY if self.requester else 1.0
            interval = (value - first - wider * below, value - first + wider * above)
        return Change(value - first, (value - first) / first if first else None, self.doubt, interval)


def rows_of(every: tuple[Mapping[str, Any], ...]) -> tuple[Row, ...]:
    """The rows of systems, from their summaries or parts of them; the first system is what the others are compared
    with."""
    graphs = [each.get("tasks") for each in every]
    whole = all(graphs)  # a window that is all of a graph, with its phases, is no draw of longer ones
    doubt = max(SMALL, *map(_of_graph, graphs)) if whole else _of_two(map(_unknown, every))
    rates = doubt if whole else _of_two(map(_unknown_rate, every))
    rows = [
        *_rows(every, "time of the tasks", "ns", ("tasks", "time_ns")),
        *_rows(every, "bandwidth", "GB/s", ("bandwidth_gb_per_s",), ("bandwidth_ci95",)),
        *_answered(every),
        *_of_kinds(every),
        *_rows(every, LATENCY, "ns", ("latency_ns", "mean"), ("latency_ns", "ci95")),
        *_of_reads(every),
        *_percentiles(every),
        *_rows(every, "error answers", "", ("errors", "requests")),
        *_parts_of(every),
    ]
    if whole:
        rows = [replace(row, intervals=(None,) * len(every), doubt=SMALL) for row in rows]
    found = [
        replace(row, doubt=max(row.doubt, rates if row.unit in _RATES else doubt))
        if row.unit and not row.is_part
        else row
        for row in rows
    ]
    return (*found, *([] if whole else _of_requesters(every)))


def _of_kinds(every: tuple[Mapping[str, Any], ...]) -> Iterator[Row]:
    """The bandwidths of reads and of writes. How many of the requests are reads is of chance, too."""
    for kind in ("read", "write"):
        doubt = _of_two(_unknown_rate(each, kind) for each in every)
        for row in _rows(
            every, f"bandwidth of {kind}s", "GB/s", (kind, "bandwidth_gb_per_s"), (kind, "bandwidth_ci95")
        ):
            yield replace(row, doubt=doubt)


def _of_reads(every: tuple[Mapping[str, Any], ...]) -> Iterator[Row]:
    """The mean latency of reads, which are fewer than all requests."""
    reads = [each.get("read") or {} for each in every]
    doubt = _of_two(_unknown(each) if each.get("requests") else 0.0 for each in reads)  # of none is no change
    path = ("read", "latency_ns")
    for row in _rows(every, "mean latency of reads", "ns", (*path, "mean"), (*path, "ci95")):
        yield replace(row, doubt=doubt)


def _of_requesters(every: tuple[Mapping[str, Any], ...]) -> Iterator[Row]:
    """The latency and the bandwidth of requesters that all systems have, where there are several and theirs change.

    All together may be faster while one of them is slower: it may have a smaller part of them.
    """
    groups = [each.get("per_requester") or {} for each in every]
    if min(map(len, groups)) == 0 or max(map(len, groups)) < 2:
        return
    rows: dict[str, list[Row]] = {}
    for name in groups[0]:
        mine = tuple(group[name] for group in groups if name in group)
        if len(mine) == len(every):
            own = [
                *_rows(mine, f"{LATENCY} of {name}", "ns", ("latency_ns", "mean"), ("latency_ns", "ci95")),
                *_rows(mine, f"bandwidth of {name}", "GB/s", ("bandwidth_gb_per_s",), ("bandwidth_ci95",)),
            ]
            rates, times = _of_two(map(_unknown_rate, mine)), _of_two(map(_unknown, mine))
            rows[name] = [
                replace(row, doubt=_OF_MANY * (rates if row.unit in _RATES else times), requester=name)
                for row in own
            ]

    def changed(name: str) -> float:
        every_change = [row.change(at).relative for row in rows[name] for at in range(1, len(every))]
        return max(
            (abs(each) for each in every_change if each is not None and not math.isnan(each)), default=0.0
        )

    most = sorted(rows, key=lambda name: -changed(name))[:_REQUESTERS]
    for name in rows:
        if name in most and changed(name) >= NOTABLE:
            yield from rows[name]


def _percentiles(every: tuple[Mapping[str, Any], ...]) -> Iterator[Row]:
    for key, name in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9")):
        for row in _rows(every, f"{name} latency", "ns", ("latency_ns", key)):
            known = (each.get("latency_ns") or {} for each in every)
            yield replace(
                row, intervals=tuple(_around(key, each, every[at]) for at, each in enumerate(known))
            )


def _around(key: str, known: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[float, float] | None:
    """The interval of a percentile; of few requests, which have none, that of as many independent ones, from one of the
    percentiles that are known to another: the ranks of its ends are those of a share."""
    if known.get(f"{key}_ci95") is not None:
        return _ends(known[f"{key}_ci95"])
    if known.get(key) is None or (values.get("requests") or 0) < _KNOWN:
        return None
    if known["min"] == known["max"]:
        return known["min"], known["max"]
    share = _RANKS[key]
    away = 1.96 * math.sqrt(share * (1 - share) / values["requests"])
    below = [rank for rank in _RANKS if _RANKS[rank] <= share - away]
    above = [rank for rank in _RANKS if _RANKS[rank] >= share + away]
    return float(known[below[-1] if below else "min"]), float(known[above[0]] if above else math.inf)


def _of_graph(tasks: Any) -> float:
    """What is not known of the time of a graph whose middles are taken on by rates, as a share."""
    return float((tasks.get("error_ns") or 0.0) / tasks["time_ns"]) if tasks["time_ns"] else 0.0


def _unknown(values: Mapping[str, Any]) -> float:
    """What is not known of a mean latency, as a share: half its interval, and of few requests, whose mean has none,
    half that of as many independent ones that deviate by their mean, or by half of what they span if that is less."""
    if (values.get("requests") or 0) < _KNOWN:
        return math.inf
    if _at(values, ("latency_ns", "ci95")) is not None:
        return relative_half_width(values)
    known = values.get("latency_ns") or {}
    mean, low, high = (_number(known.get(key)) for key in ("mean", "min", "max"))
    span = (high - low) / 2 / mean if mean > 0 else math.nan
    return 2 * (1.0 if math.isnan(span) else min(1.0, span)) / math.sqrt(values["requests"])


def _unknown_rate(values: Mapping[str, Any], kind: str = "") -> float:
    """What is not known of a bandwidth, or of requests in a time, as a share; that of a kind of requests.

    Half its interval. Without one no less than 2 / sqrt(n) of n requests, as if these came independently of each other:
    this stands for those in flight at the edges of the window, whose number is not told, and for work of random
    arrivals it is what they vary by. A closed loop varies as its latency does. Of a kind the number varies as well:
    binomial, as each request is of it by its share.
    """
    measured = values.get(kind) or {} if kind else values
    ends, value = _ends(measured.get("bandwidth_ci95")), _number(measured.get("bandwidth_gb_per_s"))
    if ends and value > 0:
        return (ends[1] - ends[0]) / 2 / value
    count, own = values.get("requests") or 0, measured.get("requests") or 0
    if count < _KNOWN:
        return math.inf
    if kind:
        chance = 2 * math.sqrt((count - own) / (count * own)) if own else 0.0
        return math.hypot(_unknown_rate(values), chance)
    return max(2 / math.sqrt(count), _unknown(values))


def _of_two(unknown: Iterable[float]) -> float:
    """A relative change that says nothing, of systems that are each known to so much: that of the first and that of the
    least known other, which are independent."""
    first, *others = unknown
    return max(SMALL, math.hypot(first, max(others, default=0.0)))


def relative_half_width(values: Mapping[str, Any]) -> float:
    """Half the interval of the mean latency, as a share. Bandwidth in closed loop follows it; percentiles vary more."""
    ends, mean = _at(values, ("latency_ns", "ci95")), _number(_at(values, ("latency_ns", "mean")))
    return (ends[1] - ends[0]) / 2 / mean if ends and mean > 0 else 0.0


def _answered(every: tuple[Mapping[str, Any], ...]) -> list[Row]:
    """How many requests were answered in a time, in millions a second; none where no system has a time, and beside a
    GPU, whose requests are longer than those of a host: there bandwidths tell more."""
    if any("tags_mean" in each for values in every for each in (values.get("per_requester") or {}).values()):
        return []
    rates = tuple(
        1e3 * values["requests"] / values["simulated_time_ns"]
        if values.get("requests") and values.get("simulated_time_ns")
        else math.nan
        for values in every
    )
    if all(map(math.isnan, rates)):
        return []
    bandwidths = _rows(every, "", "", ("bandwidth_gb_per_s",), ("bandwidth_ci95",))
    known = zip(bandwidths[0].values, bandwidths[0].intervals, strict=True) if bandwidths else ()
    shares = [(ends[0] / value, ends[1] / value) if ends and value > 0 else None for value, ends in known]
    ends = [share and (rate * share[0], rate * share[1]) for rate, share in zip(rates, shares, strict=False)]
    return [Row(ANSWERED, "M/s", rates, tuple(ends) or (None,) * len(every))]


def _rows(
    every: tuple[Mapping[str, Any], ...],
    name: str,
    unit: str,
    path: tuple[str, ...],
    interval: tuple[str, ...] | None = None,
) -> list[Row]:
    """The row of a measure; none where no system has it, or nothing but zeros."""
    values = tuple(_number(_at(values, path)) for values in every)
    if all(math.isnan(value) or value == 0 for value in values):
        return []
    ends = tuple(_ends(_at(each, interval)) if interval else None for each in every)
    return [Row(name, unit, values, ends)]


def _ends(interval: Any) -> tuple[float, float] | None:
    """An interval, without a limit where the run does not tell it."""
    return interval and (float(interval[0]), _number(interval[1], absent=math.inf))


def _parts_of(every: tuple[Mapping[str, Any], ...]) -> list[Row]:
    """The segments of the mean latency that change, along a request's way: by a share of it, and by more than it is
    known to, for a part varies as the whole does."""
    means = [_number(_at(each, ("latency_ns", "mean"))) for each in every]
    least = NOTABLE * max(means, default=0)
    if not any(each.get("tasks") for each in every):
        least = max(least, *(mean * _unknown(each) for mean, each in zip(means, every, strict=True)))
    rows = []
    for segment in declared.segments():
        values = tuple(_number(_at(each, ("breakdown_ns", segment)), absent=0.0) for each in every)
        if max(values) - min(values) > max(least, 0):
            rows.append(Row(segment.replace("_", " "), "ns", values, (None,) * len(every), is_part=True))
    return rows


def _at(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = values
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _number(value: Any, absent: float = math.nan) -> float:
    return absent if value is None else float(value)
