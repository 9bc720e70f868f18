"""Where the energy of a run went: what `cx.energy` gives."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cxloom.display.numbers import duration
from cxloom.display.shown import Shown, ShowsItself

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

Basis = Literal["counted", "given", "estimate"]
"""Whence a row is: commands that the core counted, times currents of a data sheet; a figure of the user; a figure that
is published of another part."""
_MOST_NAMED = 4
_BITS = 8e9
"""Bits a second of a gigabyte a second."""
_COLUMNS = ("component", "part", "power_w", "idle_w", "nj_per_request", "basis")
_MOST_INTERVALS_SHOWN = 24
_MOST_ROWS = 24
"""Rows of components that differ by numbers in their names are one for people where there are more of them."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Row:
    """What one part of a component needs."""

    component: str
    """The device, or the link."""
    part: str
    power_w: float
    """Mean watts over the measured window."""
    idle_w: float
    """What of that is not for traffic: ports that have nothing to send, standby and refresh, what is always on."""
    basis: Basis


def _for_people(rows: Sequence[Row]) -> list[Row]:
    """The rows, the largest first; of many, those of components like leaf0 to leaf31 as one of ``leaf[*] (32)``."""
    if len(rows) > _MOST_ROWS:
        alike: dict[tuple[str, str, Basis], list[Row]] = {}
        for row in rows:
            alike.setdefault((_NUMBER.sub("[*]", row.component), row.part, row.basis), []).append(row)
        rows = [
            Row(
                f"{name} ({len(each)})",
                part,
                sum(row.power_w for row in each),
                sum(row.idle_w for row in each),
                basis,
            )
            if len(each) > 1
            else each[0]
            for (name, part, basis), each in alike.items()
        ]
    return sorted(rows, key=lambda row: -row.power_w)


@dataclass(frozen=True)
class Missing:
    """What is not in the account."""

    what: str
    """What it is, and which figure would have to be given."""
    names: Sequence[str] = ()
    """The components that lack it."""

    def __str__(self) -> str:
        if not self.names:
            return self.what
        few = len(self.names) <= _MOST_NAMED
        return f"{self.what}: {', '.join(self.names) if few else f'{self.names[0]} and {len(self.names) - 1} more'}"


class _Summed:
    """Sums of the rows of an account."""

    rows: Sequence[Row]

    @property
    def power_w(self) -> float:
        """Mean watts of all rows."""
        return sum(row.power_w for row in self.rows)

    @property
    def idle_w(self) -> float:
        """Mean watts that are not for traffic."""
        return sum(row.idle_w for row in self.rows)


@dataclass(frozen=True)
class Interval(_Summed):
    """A part of the measured window, of which the account is made by itself."""

    start_ns: float
    """From the opening of the window."""
    length_ns: float
    requests: int
    """Requests completed with data in it."""
    rows: Sequence[Row]
    """Mean watts over it, in the order of those of the whole window."""

    @property
    def nj_per_request(self) -> float | None:
        """Nanojoules of all, for each completed request; None without any."""
        return self.power_w * self.length_ns / self.requests if self.requests else None

    def to_json(self) -> dict[str, Any]:
        """The interval for programs."""
        return {
            "start_ns": self.start_ns,
            "length_ns": self.length_ns,
            "requests": self.requests,
            "power_w": self.power_w,
            "idle_w": self.idle_w,
            "nj_per_request": self.nj_per_request,
            "rows": [
                {"component": row.component, "part": row.part, "power_w": row.power_w, "idle_w": row.idle_w}
                for row in self.rows
            ],
        }


@dataclass(frozen=True)
class Energy(_Summed, ShowsItself):
    """Where the energy of a run went. Its numbers are defined in ``docs/energy.md``."""

    system: str
    rows: Sequence[Row]
    window_ns: float
    """Length of the measured window."""
    requests: int
    """Requests completed with data in it."""
    bandwidth: float
    """Their payload in gigabytes per second."""
    missing: Sequence[Missing]
    """What is not in the account."""
    notes: Sequence[str]
    """What to know of it and of its run."""
    over_time: Sequence[Interval] = ()
    """The account of each part of the window, where it was asked for."""

    @property
    def energy_uj(self) -> float:
        """Microjoules in the measured window."""
        return self.power_w * self.window_ns * 1e-3

    @property
    def nj_per_request(self) -> float:
        """Nanojoules of all, for each completed request."""
        return 1e3 * self.energy_uj / self.requests

    @property
    def pj_per_bit(self) -> float | None:
        """Picojoules of all, for each bit of payload; None without any."""
        return self.power_w / (self.bandwidth * _BITS) * 1e12 if self.bandwidth else None

    @property
    def sentence(self) -> str:
        """The sum, and its largest row, in one sentence."""
        if not self.rows:
            return "Nothing of this system has figures of its energy: the notes say which would have to be given."
        largest = _for_people(self.rows)[0]
        whole = self.power_w or 1.0
        return (
            f"What is accounted for needs {self.power_w:.3g} W, {self.nj_per_request:.3g} nJ a request, of which "
            f"{100 * self.idle_w / whole:.0f} % is not for traffic; the most, {100 * largest.power_w / whole:.0f} %, "
            f"is {largest.part} of {largest.component}."
        )

    def frame(self) -> pl.DataFrame:
        """A row for each part: component, part, power_w, idle_w, nj_per_request, basis."""
        import polars as pl

        plain = [self._plain(row) for row in self.rows]
        types = [pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.String]
        return pl.DataFrame(
            {name: [row[name] for row in plain] for name in _COLUMNS},
            schema=dict(zip(_COLUMNS, types, strict=True)),
        )

    def frame_over_time(self) -> pl.DataFrame:
        """A row for each part in each interval: start_ns, length_ns, component, part, power_w, idle_w, basis."""
        import polars as pl

        types = [pl.Float64, pl.Float64, pl.String, pl.String, pl.Float64, pl.Float64, pl.String]
        columns = ("start_ns", "length_ns", "component", "part", "power_w", "idle_w", "basis")
        rows = [
            (each.start_ns, each.length_ns, row.component, row.part, row.power_w, row.idle_w, row.basis)
            for each in self.over_time
            for row in each.rows
        ]
        return pl.DataFrame(rows, schema=dict(zip(columns, types, strict=True)), orient="row")

    def to_json(self) -> dict[str, Any]:
        """The account for programs; sums are null without a row. With ``over_time`` where it was asked for."""
        sums: dict[str, float | None] = {
            "power_w": self.power_w,
            "idle_w": self.idle_w,
            "energy_uj": self.energy_uj,
            "nj_per_request": self.nj_per_request,
            "pj_per_bit": self.pj_per_bit,
        }
        return {
            "system": self.system,
            **(sums if self.rows else dict.fromkeys(sums)),
            "window_ns": self.window_ns,
            "requests": self.requests,
            "rows": [self._plain(row) for row in self.rows],
            "missing": [{"what": each.what, "names": list(each.names)} for each in self.missing],
            "notes": list(self.notes),
            **({"over_time": [each.to_json() for each in self.over_time]} if self.over_time else {}),
        }

    def _plain(self, row: Row) -> dict[str, Any]:
        return {
            "component": row.component,
            "part": row.part,
            "power_w": row.power_w,
            "idle_w": row.idle_w,
            "nj_per_request": row.power_w * self.window_ns / self.requests,
            "basis": row.basis,
        }

    def table(self) -> Table:
        """The account for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("component", "part"):
            made.add_column(title)
        for title in ("W", "idle W", "nJ/request", "share"):
            made.add_column(title, justify="right")
        made.add_column("basis")
        whole = self.power_w or 1.0
        for row in _for_people(self.rows):
            each = self._plain(row)["nj_per_request"]
            numbers = (f"{row.power_w:.3g}", f"{row.idle_w:.3g}", f"{each:.3g}", f"{row.power_w / whole:.0%}")
            made.add_row(row.component, row.part, *numbers, row.basis)
        return made

    def table_over_time(self) -> Table:
        """The course for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for title in ("from", "to", "W", "idle W", "requests", "nJ/request"):
            made.add_column(title, justify="right")
        for each in self.over_time[:_MOST_INTERVALS_SHOWN]:
            a_request = each.nj_per_request
            made.add_row(
                duration(each.start_ns),
                duration(each.start_ns + each.length_ns),
                f"{each.power_w:.3g}",
                f"{each.idle_w:.3g}",
                f"{each.requests:,}",
                "-" if a_request is None else f"{a_request:.3g}",
            )
        return made

    def _course(self) -> str:
        """The largest and the least of the intervals, in a sentence."""
        most, least = (by(self.over_time, key=lambda each: each.power_w) for by in (max, min))
        left = len(self.over_time) - _MOST_INTERVALS_SHOWN
        return (
            f"Over time it is {least.power_w:.3g} to {most.power_w:.3g} W; the most from "
            f"{duration(most.start_ns)} to {duration(most.start_ns + most.length_ns)} of the measured window."
            + (
                f" The table has the first {_MOST_INTERVALS_SHOWN} intervals: --out has all."
                if left > 0
                else ""
            )
        )

    def shown(self) -> Shown:
        """The sentences, the tables, what is missing, and notes."""
        said = [*(f"not in it: {each}" for each in self.missing), *self.notes]
        if not self.rows:
            return Shown([self.sentence], [], said)
        if not self.over_time:
            return Shown([self.sentence], [self.table()], said)
        return Shown([self.sentence, self._course()], [self.table(), self.table_over_time()], said)

    def __repr__(self) -> str:
        return json.dumps(self.to_json())
