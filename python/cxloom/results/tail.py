"""What makes the slowest requests slow: the parts of their latency, and whose they are, beside all requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.display.numbers import percent, significant
from cxloom.spec import declared

if TYPE_CHECKING:
    import polars as pl

_NOTABLE = 0.01
"""A part has a row if it takes this share more, or less, of the mean of the slowest requests."""
_OFTEN = 1.5
"""A device is named if it has so many times its share of the slowest requests."""
_GROUPS = {"kind": "kind", "target": "memory", "requester": "requester"}
"""Columns by which requests are counted, and what they are called."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of the latency."""

    name: str
    of_all_ns: float
    """Its mean over all requests."""
    of_tail_ns: float
    """Its mean over the slowest ones."""

    @property
    def more_ns(self) -> float:
        """How much longer it takes in the slowest ones."""
        return self.of_tail_ns - self.of_all_ns


@dataclass(frozen=True, slots=True)
class Group:
    """Requests that have a device, or a kind, in common."""

    column: str
    """``kind``, ``memory`` or ``requester``."""
    name: str
    of_all: float
    """Their share of all requests."""
    of_tail: float
    """Their share of the slowest ones."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The requests from a percentile of the latency on."""

    share: float
    """The percentile, as a share: 0.99."""
    count: int
    of_count: int
    """All that were answered with data."""
    least_ns: float
    """The latency of the fastest of them."""
    mean_ns: float
    mean_of_all_ns: float
    parts: tuple[Part, ...]
    """Every segment, along a request's way; their sum is the mean."""
    groups: tuple[Group, ...]
    """Where there is more than one of a column."""

    @property
    def sentence(self) -> str:
        """How much slower they are, by which parts, and whose they are."""
        slower = self.mean_ns - self.mean_of_all_ns
        most = sorted(self.parts, key=lambda part: -part.more_ns)[:3]
        parts = [
            f"{part.name} {significant(part.more_ns)} ns"
            for part in most
            if part.more_ns > _NOTABLE * self.mean_ns
        ]
        who = f"{self.count:,} requests from the {100 * self.share:g}th percentile on"
        said = f"The {who} ({significant(self.least_ns)} ns and more) take {significant(slower)} ns more than the mean"
        said += f": {', '.join(parts)}." if parts else "."
        for group in sorted(self.groups, key=lambda group: -group.of_tail):
            if group.of_tail > max(_OFTEN * group.of_all, 0.5):
                said += (
                    f" {percent(group.of_tail)} of them are of {group.column} {group.name}, "
                    f"which has {percent(group.of_all)} of all."
                )
        return said

    @property
    def notable(self) -> list[Part]:
        """The parts that take longer, or shorter, in the slowest requests, or much of their time."""
        return [
            part for part in self.parts if max(abs(part.more_ns), part.of_tail_ns) > _NOTABLE * self.mean_ns
        ]

    def to_json(self) -> dict[str, Any]:
        """All as plain data."""
        return {
            "share": self.share,
            "requests": self.count,
            "least_ns": self.least_ns,
            "mean_ns": self.mean_ns,
            "mean_of_all_ns": self.mean_of_all_ns,
            "sentence": self.sentence,
            "parts": [
                {"name": part.name, "of_all_ns": part.of_all_ns, "of_tail_ns": part.of_tail_ns}
                for part in self.parts
            ],
            "groups": [
                {"column": group.column, "name": group.name, "of_all": group.of_all, "of_tail": group.of_tail}
                for group in self.groups
            ],
        }


def tail_of(requests: pl.DataFrame | pl.LazyFrame, share: float) -> Tail:
    """The slowest requests of a run, from the percentile `share` (0.99) on.

    Args:
        requests: the rows of the run, as ``Result.requests()`` gives them; those that were answered with an error
            are left out. A table that is scanned is read in pieces, so that its length takes no memory.
        share: from 0 to below 1.

    Raises InputError for a share out of this range, or if no request was answered.
    """
    import polars as pl

    if not 0 <= share < 1:
        raise InputError("not a percentile", found=f"{share:g}", allowed="from 0 to below 1, such as 0.99")
    took = (pl.col("completed_ps") - pl.col("created_ps")).alias("took_ps")
    rows = requests.lazy().filter(~pl.col("error")).with_columns(took)
    known = rows.collect_schema().names()
    least = _least(rows, share)
    segments = [name for name in declared.segments() if f"{name}_ps" in known]
    columns = [f"{name}_ps" for name in segments] + ["took_ps"]
    slow = pl.col("took_ps") >= least
    by_slow = rows.group_by(slow.alias("slow")).agg(pl.len(), *(pl.col(column).sum() for column in columns))
    sums = by_slow.collect(engine="streaming")
    all_count, count = int(sums["len"].sum()), int(sums.filter("slow")["len"].sum())
    of_all = {column: float(sums[column].sum()) / all_count / 1000 for column in columns}
    of_tail = {column: float(sums.filter("slow")[column].sum()) / count / 1000 for column in columns}
    counts = rows.group_by(*_GROUPS, slow.alias("slow")).len().collect(engine="streaming")
    return Tail(
        share=share,
        count=count,
        of_count=all_count,
        least_ns=least / 1000,
        mean_ns=of_tail["took_ps"],
        mean_of_all_ns=of_all["took_ps"],
        parts=tuple(
            Part(name.replace("_", " "), of_all[f"{name}_ps"], of_tail[f"{name}_ps"]) for name in segments
        ),
        groups=tuple(group for column in _GROUPS for group in _groups(counts, column)),
    )


def _least(rows: pl.LazyFrame, share: float) -> int:
    """The latency from which on requests are among the slowest, ps.

    As many as are slower than the percentile, at least one; of equal latencies all, so that no order decides.
    """
    counted = rows.group_by("took_ps").len().sort("took_ps").collect(engine="streaming")
    total = int(counted["len"].sum())
    if total == 0:
        raise InputError("no request was answered", allowed="a run with answers in its measured window")
    rank = min(int(share * total), total - 1)
    return int(counted["took_ps"][int((counted["len"].cum_sum() <= rank).sum())])


def _groups(counts: pl.DataFrame, column: str) -> list[Group]:
    of_all = _counts(counts, column)
    if len(of_all) < 2:
        return []
    slowest = counts.filter("slow")
    of_tail = _counts(slowest, column)
    every, tail = int(counts["len"].sum()), int(slowest["len"].sum())
    return [
        Group(_GROUPS[column], name, count / every, of_tail.get(name, 0) / tail)
        for name, count in sorted(of_all.items())
    ]


def _counts(counts: pl.DataFrame, column: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count in counts.select(column, "len").iter_rows():
        if name is not None:
            found[str(name)] = found.get(str(name), 0) + count
    return found
