"""What makes the slowest requests slow: the parts of their latency, and whose they are, beside all requests."""

from __future__ import annotations

from collections.abc import Mapping
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


def tail_of(requests: pl.DataFrame, share: float) -> Tail:
    """The slowest requests of a run, from the percentile `share` (0.99) on.

    Args:
        requests: the rows of the run, as ``Result.requests()`` gives them; those that were answered with an error
            are left out.
        share: from 0 to below 1.

    Raises InputError for a share out of this range, or if no request was answered.
    """
    import polars as pl

    if not 0 <= share < 1:
        raise InputError("not a percentile", found=f"{share:g}", allowed="from 0 to below 1, such as 0.99")
    rows = requests.filter(~pl.col("error"))
    if rows.is_empty():
        raise InputError("no request was answered", allowed="a run with answers in its measured window")
    rows = rows.with_columns(latency=(pl.col("completed_ps") - pl.col("created_ps")) / 1000)
    # As many as are slower than the percentile, at least one; of equal latencies all, so that no order decides.
    rank = min(int(share * rows.height), rows.height - 1)
    least = float(rows["latency"].sort()[rank])
    slowest = rows.filter(pl.col("latency") >= least)
    parts = tuple(
        Part(name.replace("_", " "), _mean(rows, f"{name}_ps") / 1000, _mean(slowest, f"{name}_ps") / 1000)
        for name in declared.segments()
        if f"{name}_ps" in rows.columns
    )
    return Tail(
        share=share,
        count=slowest.height,
        least_ns=least,
        mean_ns=_mean(slowest, "latency"),
        mean_of_all_ns=_mean(rows, "latency"),
        parts=parts,
        groups=tuple(group for column in _GROUPS for group in _groups(rows, slowest, column)),
    )


def _mean(rows: pl.DataFrame, column: str) -> float:
    mean = rows[column].mean()
    assert isinstance(mean, int | float)  # there are rows, and they are numbers
    return float(mean)


def _groups(rows: pl.DataFrame, slowest: pl.DataFrame, column: str) -> list[Group]:
    counts: Mapping[str, int] = _counts(rows, column)
    if len(counts) < 2:
        return []
    tail = _counts(slowest, column)
    return [
        Group(_GROUPS[column], name, count / rows.height, tail.get(name, 0) / slowest.height)
        for name, count in sorted(counts.items())
    ]


def _counts(rows: pl.DataFrame, column: str) -> dict[str, int]:
    return {str(name): count for name, count in rows[column].value_counts().iter_rows() if name is not None}
