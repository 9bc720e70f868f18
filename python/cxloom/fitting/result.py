"""The result of a fit: its parts, and what follows from all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.base.words import counted
from cxloom.curves.points import KernelRate, Point, SizePoint
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.fitting.fitted import Compared, Parameter, Peak
from cxloom.fitting.measured import SHORT, Rated, Timed

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

_CUT_SHORT = (
    "the search had not settled when it had played all systems that it might: with more --evaluations values may come "
    "closer, and intervals hold for what was found alone"
)


@dataclass(frozen=True)
class Fit(ShowsItself):
    """Fitted parameters, and how well the system agrees with what was measured then."""

    parameters: tuple[Parameter, ...]
    points: tuple[Compared, ...]
    peaks: tuple[Peak, ...]
    together: tuple[tuple[str, ...], ...]
    """Groups of parameters of which the curve tells one number alone, such as a sum."""
    noise: float
    """The relative deviation of a latency from one seed of the workload to another."""
    evaluations: int
    settled: bool = True
    """The search found nothing better; otherwise it had played as many systems as it might."""

    @property
    def settings(self) -> dict[str, Any]:
        """The fitted values by their paths, as `System.set` and ``--set`` take them."""
        return {each.path: each.value for each in self.parameters}

    def error(self, *, held_back: bool, before: bool = False) -> float:
        """The mean relative error of the latency, of the points that were fitted or held back; where no latency was
        measured, that of the bandwidth. NaN without any."""
        pairs = [
            (each.before_ns if before else each.after_ns, each.point.latency_ns)
            for each in self.points
            if each.held_back == held_back
        ]
        if not self.points and not held_back:
            pairs = [
                (each.before_gb_per_s if before else each.after_gb_per_s, each.point.bandwidth_gb_per_s)
                for each in self.peaks
            ]
        errors = [abs(simulated / measured - 1) for simulated, measured in pairs]
        return math.nan if not errors else sum(errors) / len(errors)

    @property
    def sentence(self) -> str:
        """How far the system is from what was measured, before and after."""
        after, before = (self.error(held_back=False, before=each) for each in (False, True))
        if not self.points:
            kernels = counted(len(self.peaks), "kernel")
            return f"Bandwidth is {_percent(after)} off on average of {kernels} ({_percent(before)} before)."
        what = "sizes" if isinstance(self.points[0].point, SizePoint) else "points"
        fitted = len([each for each in self.points if not each.held_back])
        said = (
            f"Latency is {_percent(after)} off on average at the {fitted} {what} that were fitted"
            f" ({_percent(before)} before)"
        )
        held = self.error(held_back=True)
        return said + ("." if math.isnan(held) else f", and {_percent(held)} at those that were held back.")

    @property
    def notes(self) -> list[str]:
        """Whether the search was cut short, what the curve does not tell, and where the system gives less bandwidth
        than was measured."""
        notes = [] if self.settled else [_CUT_SHORT]
        notes += [
            f"the curve tells only one number of {' and '.join(group)}: other values of them fit as well"
            for group in self.together
        ]
        grouped = {path for group in self.together for path in group}
        notes += [
            f"the curve does not tell {each.path}: any value from {each.low} to {each.high} fits as well"
            for each in self.parameters
            if not each.is_told and each.path not in grouped
        ]
        short = [
            (each.after_gb_per_s, each.point.bandwidth_gb_per_s)
            for each in self.points
            if isinstance(each.point, Point)
            and each.after_gb_per_s < (1 - SHORT) * each.point.bandwidth_gb_per_s
        ]
        if short:
            given, measured = min(short, key=lambda pair: pair[0] / pair[1])
            notes.append(
                f"the fitted system gives {significant(given)} GB/s where {significant(measured)} were measured"
            )
        return notes

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom fit --json`` prints it."""
        held = self.error(held_back=True)
        return {
            "settings": self.settings,
            "sentence": self.sentence,
            "notes": self.notes,
            "parameters": [
                {"path": each.path, "value": each.value, "ci95": [each.low, each.high], "told": each.is_told}
                for each in self.parameters
            ],
            "error": self.error(held_back=False),
            "error_before": self.error(held_back=False, before=True),
            "error_held_back": None if math.isnan(held) else held,
            "points": [_plain(each) for each in self.points],
            "peaks": [
                {
                    **({"reads": each.point.reads} if isinstance(each.point, Point) else _named(each.point)),
                    "measured_gb_per_s": each.point.bandwidth_gb_per_s,
                    "before_gb_per_s": each.before_gb_per_s,
                    "after_gb_per_s": each.after_gb_per_s,
                }
                for each in self.peaks
            ],
            "noise": self.noise,
            "systems_played": self.evaluations,
            "settled": self.settled,
        }

    def frame(self) -> pl.DataFrame:
        """A row for each value that was measured: what it is of (`reads` and `bandwidth_gb_per_s`, `bytes`, or
        `kernel`); `measured`, `before` and `fitted`, in `unit`, which is ns or GB/s; and `held_back`."""
        import polars as pl

        rows: list[dict[str, Any]] = [
            {
                **_named(each.point),
                "unit": "ns",
                "measured": each.point.latency_ns,
                "before": each.before_ns,
                "fitted": each.after_ns,
                "held_back": each.held_back,
            }
            for each in self.points
        ]
        rows += [
            {
                **_named(each.point),
                "unit": "GB/s",
                "measured": each.point.bandwidth_gb_per_s,
                "before": each.before_gb_per_s,
                "fitted": each.after_gb_per_s,
                "held_back": False,
            }
            for each in self.peaks
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def tables(self) -> list[Table]:
        """The parameters, and what was measured beside what the system gives, for people; of Rich."""
        from cxloom.fitting.fit_table import tables

        return tables(self.parameters, self.together, self.points, self.peaks)

    def shown(self) -> Shown:
        """The sentence, the tables and the notes, as ``cxloom fit`` prints them."""
        return Shown([self.sentence], self.tables(), self.notes)


def _plain(each: Compared) -> dict[str, Any]:
    plain = {
        **_named(each.point),
        "measured_ns": each.point.latency_ns,
        "before_ns": each.before_ns,
        "after_ns": each.after_ns,
    }
    if isinstance(each.point, Point):
        plain["after_gb_per_s"] = each.after_gb_per_s
    return {**plain, "held_back": each.held_back}


def _named(point: Timed | Rated) -> dict[str, Any]:
    """The keys that say what was measured."""
    if isinstance(point, SizePoint):
        return {"bytes": point.bytes}
    if isinstance(point, KernelRate):
        return {"kernel": point.kernel}
    return {"reads": point.reads, "bandwidth_gb_per_s": point.bandwidth_gb_per_s}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
