"""The result of a sweep, for Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.frozen import FrozenDict, frozen
from cxloom.spec.names import nearest
from cxloom.sweeping import manifest as manifests
from cxloom.sweeping import space, table
from cxloom.sweeping.engine import Engine, has_seeds
from cxloom.sweeping.interval import aggregated
from cxloom.sweeping.table import Columns

if TYPE_CHECKING:
    import polars as pl

    from cxloom.base.summary import Summary


class SweepResult:
    """The result of a sweep: a row for each point, in the order in which they were asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._points = engine.manifest.points
        self._columns = engine.columns()

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> SweepResult:
        """The sweep that is stored in a directory. Raises InputError if there is none."""
        folder = Path(space.folder_name(directory))
        return cls(Engine(folder, manifests.read(folder)))

    def __len__(self) -> int:
        return len(self._points)

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """The settings of each point: values by path."""
        return [FrozenDict(point.at) for point in self._points]

    @property
    def statuses(self) -> list[str]:
        """How each point ended: ``finished``; ``unfinished``, by a deadlock or livelock; ``refused``, for its input;
        ``lost``, as its process died; or ``missing``, if it has not been run."""
        return list(self._columns["status"])

    @property
    def errors(self) -> list[str | None]:
        """Why each point did not finish; None if it did."""
        return list(self._columns["error"])

    def summary(self, index: int) -> Summary | None:
        """The results of a point by the keys of ``cxloom run --json``, without `cost`; None if it has none.

        They are read from the store each time: of many points, all together may be large.
        """
        key = self._points[index].key
        record = self._engine.record(key) if key is not None else None
        summary: Summary | None = None if record is None else frozen(record.summary)
        return summary

    def cost(self, index: int) -> Mapping[str, Any]:
        """The cost of the run of a point that has a summary, as `cxloom run --json` has it; nothing of others."""
        key = self._points[index].key
        record = self._engine.record(key) if key is not None else None
        return {} if record is None or record.cost is None else frozen(record.cost)

    def frame(self) -> pl.DataFrame:
        """A row for each point: what is set, key, status, error, and its measures by their dotted paths."""
        return _frame(self._columns)

    def aggregate(self) -> pl.DataFrame:
        """A row for all seeds of a point: the mean of each measure, and in ``NAME:low`` and ``NAME:high`` the ends of
        its 95 % interval by Student's t; without values for a single seed."""
        return _frame(aggregated(self._columns))

    @property
    def columns(self) -> Columns:
        """The table as lists by the names of its columns. Not to be changed."""
        return self._columns

    def without_measure(self) -> dict[str, str]:
        """Measures that were asked for and that no point has, with the nearest one that there is, if any is near."""
        first = next((row for row, status in enumerate(self.statuses) if status == "finished"), None)
        absent = [
            wanted
            for wanted in self._engine.manifest.measures
            if not any(table.is_like(path, wanted) for path in self._columns)
        ]
        summary = None if first is None or not absent else self.summary(first)
        return {} if summary is None else {each: nearest(each, table.paths_of(summary)) for each in absent}

    @property
    def has_seeds(self) -> bool:
        """Whether points were run under several seeds."""
        return has_seeds(self._points)

    def __str__(self) -> str:
        from cxloom.sweeping.points_table import to_text

        return to_text(self, self._engine.manifest.measures)

    def _repr_html_(self) -> str:
        from cxloom.sweeping.points_table import to_html

        return to_html(self, self._engine.manifest.measures)

    def __repr__(self) -> str:
        finished = self.statuses.count("finished")
        return f"<Sweep: {space.count_of(self._points)}, {finished:,} finished>"


def _frame(columns: Columns) -> pl.DataFrame:
    import polars as pl

    frame = pl.from_arrow(table.arrow(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame
