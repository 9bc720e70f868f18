"""Results of several systems side by side: what differs, by how much, and which part of the latency changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cxloom.base.errors import InputError
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.results.caveats import error_sentence
from cxloom.results.comparison_rows import ANSWERED, LATENCY, NOTABLE, Change, Row, rows_of
from cxloom.results.result import Measures

if TYPE_CHECKING:
    import polars as pl

    from cxloom.base.summary import Summary

_SAID = {
    "time of the tasks": ("the tasks take", "as long", "longer", "shorter"),
    "mean latency": ("the mean latency is", "the same", "higher", "lower"),
    "bandwidth": ("the bandwidth is", "the same", "higher", "lower"),
    "requests answered": ("requests are answered", "as fast", "faster", "slower"),
}
"""The rows that the sentence is about, and its words: without a change, for more, and for less."""
_NAMED = 3
"""How many parts of the latency the sentence names."""


@dataclass(frozen=True, slots=True)
class Comparison(ShowsItself):
    """Systems by their names, and what was measured of each."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    unfinished: tuple[str, ...] = ()
    """Systems whose run was stopped before its end: what was measured until then is compared."""
    said: tuple[tuple[str, ...], ...] = ()
    """The notes of each system's run, in the order of `names`."""

    @property
    def sentences(self) -> list[str]:
        """What is to be said of each system but the first."""
        return [self._sentence(at) for at in range(1, len(self.names))]

    @property
    def notes(self) -> list[str]:
        """What the reader has to know of it: runs that were stopped, and what runs say of themselves."""
        return self.notes_by(self.names)

    def notes_by(self, names: Sequence[str]) -> list[str]:
        """The notes with other names of the systems."""
        stopped = [
            f"{name} was stopped before its end: its numbers are of the work until then"
            for known, name in zip(self.names, names, strict=True)
            if known in self.unfinished
        ]
        of_runs: dict[str, list[str]] = {}
        for name, notes in zip(names, self.said, strict=False):
            for note in notes:
                of_runs.setdefault(note, []).append(name)
        return stopped + [
            note if len(who) == len(self.names) else f"{' and '.join(who)}: {note}"
            for note, who in of_runs.items()
        ]

    def row(self, name: str) -> Row:
        """A measure by its name. Raises KeyError if there is none."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom compare --json`` prints it: values that are unknown are None."""
        return {
            "systems": list(self.names),
            "sentences": self.sentences,
            "unfinished": list(self.unfinished),
            "notes": self.notes,
            "rows": [
                {
                    "name": row.name,
                    "unit": row.unit,
                    "part_of_latency": row.is_part,
                    "values": [_plain(value) for value in row.values],
                    "ci95": [_ends(interval) for interval in row.intervals],
                    "differences": [
                        {
                            "difference": _plain(change.difference),
                            "relative": _plain(change.relative),
                            "ci95": _ends(change.interval),
                        }
                        for change in (row.change(at) for at in range(1, len(self.names)))
                    ],
                }
                for row in self.rows
            ],
        }

    def frame(self) -> pl.DataFrame:
        """A table with a row for each measure: `measure`, `unit`, a column for each system, and for each but the first
        `NAME: change`, relative to the first."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            "measure": [row.name for row in self.rows],
            "unit": [row.unit for row in self.rows],
        }
        for at, name in enumerate(self.names):
            columns[name] = [_plain(row.values[at]) for row in self.rows]
        for at, name in enumerate(self.names[1:], start=1):
            columns[f"{name}: change"] = [_plain(row.change(at).relative) for row in self.rows]
        return pl.DataFrame(columns, strict=False)

    def shown(self) -> Shown:
        """The sentences, tables and notes of ``cxloom compare``."""
        from cxloom.results.comparison_table import has_doubtful, tables

        marked = ["? marks what is no change, as far as the runs tell"] if has_doubtful(self.rows) else []
        return Shown(self.sentences, tables(self.rows, self.names), [*marked, *self.notes])

    def _sentence(self, at: int) -> str:
        said = []
        for row in self.rows:
            if row.name not in _SAID or (row.name == ANSWERED and self._goes_by_bytes(row, at)):
                continue
            said.append(_more(row, at, *_SAID[row.name]))
            if row.name == LATENCY and row.change(at).is_clear:
                said[-1] += self._parts(at, row.change(at).difference)
            said[-1] += self._others(row.name, at, row.change(at))
        return f"{self.names[at]} beside {self.names[0]}: " + "; ".join(said) + "."

    def _goes_by_bytes(self, answered: Row, at: int) -> bool:
        """Whether requests are answered faster as there is more bandwidth. Not so where lines are moved that no request
        asked for: written back, or fetched ahead."""
        moved = next((row for row in self.rows if row.name == "bandwidth"), None)
        if moved is None:
            return True
        one, other = answered.change(at).relative, moved.change(at).relative
        if (
            one is None or other is None
        ):  # bandwidth from nothing, as of hits alone, is not by as many percent
            return one is None or moved.values[0] == moved.values[at]
        return abs(one - other) <= max(answered.doubt, moved.doubt)

    def _others(self, name: str, at: int, whole: Change) -> str:
        """The requesters of which a measure goes another way than that of all requests."""
        found = []
        for row in self.rows:
            own = row.change(at)
            apart = not whole.is_clear or own.difference * whole.difference < 0
            if row.name == f"{name} of {row.requester}" and own.is_clear and apart and own.relative:
                word = "higher" if own.relative > 0 else "lower"
                if abs(own.relative) >= NOTABLE:
                    found.append(f"{row.requester} {100 * abs(own.relative):.1f} % {word}")
        return f", but that of {', of '.join(found)}" if found else ""

    def _parts(self, at: int, difference: float) -> str:
        """The parts of the latency that changed most in the direction of the whole."""
        changes = sorted(
            ((row.change(at).difference, row.name) for row in self.rows if row.is_part),
            key=lambda part: -part[0] * math.copysign(1, difference),
        )
        named = [
            f"{name} {significant(part)} ns"
            for part, name in changes[:_NAMED]
            if part * difference > 0 and abs(part) >= NOTABLE * abs(difference)
        ]
        return f" ({', '.join(named)})" if named else ""


def compare(results: Mapping[str, Measures]) -> Comparison:
    """Results by names, the first of which the others are compared with.

    Args:
        results: two or more, of runs, or parts of them (``result.read``).

    Raises InputError for fewer than two, and where one completed no request.
    """
    names = tuple(results)
    if len(names) < 2:
        raise InputError("nothing to compare with", found="one system", allowed="two or more")
    for name, result in results.items():
        if not result.values.get("requests") and "tasks" not in result:
            summary = cast("Summary", result.values)  # a part of one has its errors, too
            errors = error_sentence(summary) if "errors" in summary else None
            raise InputError(
                f"'{name}' has no request in its measured window that was answered with data",
                found=errors or "",
                allowed="a run with such requests",
            )
    every = tuple(result.values for result in results.values())
    return Comparison(
        names,
        rows_of(every),
        tuple(name for name, values in zip(names, every, strict=True) if values.get("truncated")),
        tuple(tuple(values.get("notes", ())) for values in every),
    )


def _ends(interval: tuple[float, float] | None) -> list[float | None] | None:
    return interval and [_plain(end) for end in interval]


def _plain(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _more(row: Row, at: int, noun: str, same: str, more: str, less: str) -> str:
    """That a value is higher or lower, and by how much."""
    change = row.change(at)
    if math.isnan(change.difference):
        return f"{noun} unknown in one of them"
    if not change.is_clear:
        return f"{noun} {same}, as far as the runs tell"
    word = more if change.difference > 0 else less
    share = f" ({100 * abs(change.relative):.1f} %)" if change.relative is not None else ""
    return f"{noun} {significant(abs(change.difference))} {row.unit} {word}{share}"
