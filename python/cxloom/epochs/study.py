"""A study of tiering over minutes: a spec played by epochs, and the error of that."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.display.numbers import duration as duration_text
from cxloom.display.numbers import narrow, percent, significant, size
from cxloom.epochs.split import ACCESSES, checked
from cxloom.results.threads import in_one_thread
from cxloom.spec.override import Override
from cxloom.system.simulation import errors_placed
from cxloom.system.system import System

if TYPE_CHECKING:
    from rich.table import Table

Watch = Callable[[float], None]
"""Is called now and then with the simulated nanoseconds so far."""

_STEPS = 20_000
_ROWS = 20
"""Rows of the table for people, at most."""
_FIGURE = 8
"""Columns of a figure at most, as `narrow` and `size` write them."""


def unwatched(_time_ns: float) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class EpochStudy:
    """What a study has found. Its numbers are defined in ``docs/epochs.md``."""

    system: str
    params: Mapping[str, Any]
    found: Mapping[str, Any]
    check: Mapping[str, Any] | None
    """A small copy at both levels; None: it was not asked for, or could not be made."""
    notes: Sequence[str] = ()
    cost: Mapping[str, Any] = field(default_factory=dict)
    """CPU seconds and peak memory: all that differs between two equal studies."""

    @property
    def sentence(self) -> str:
        """The study in one sentence."""
        found = self.found
        moved = size(found["promoted_bytes"]), size(found["demoted_bytes"])
        return (
            f"In {duration_text(found['time_s'] * 1e9)} {found['device']} makes "
            f"{significant(found['accesses'])} accesses, {significant(found['accesses_per_s'])} a second, "
            f"with {found['faults']:,} hint faults; "
            f"{moved[0]} are promoted and {moved[1]} demoted."
        )

    @property
    def error(self) -> str:
        """How far epochs are from lines, in one sentence; empty without a check."""
        if self.check is None:
            return ""
        apart = self.check["difference"]
        said = []
        for key, name in (("time_s", "time"), ("faults", "faults"), ("pages_moved", "moves")):
            share = apart[key]
            said.append(f"{name} {'only by epochs' if share is None else f'{100 * share:+.1f} %'}")
        return (
            f"Error of the split: of a copy of 1/{self.check['factor']} of the size "
            f"({size(self.check['footprint_bytes'])}, {self.check['accesses']:,} accesses) epochs give, against lines, "
            f"{', '.join(said)}, and "
            f"{100 * apart['pages']:.1f} % of the pages in another node."
        )

    def to_json(self) -> dict[str, Any]:
        """The study for programs."""
        return {
            "system": self.system,
            "sentence": self.sentence,
            "params": dict(self.params),
            **self.found,
            "check": None if self.check is None else dict(self.check),
            "notes": list(self.notes),
            "cost": dict(self.cost),
        }

    def table(self) -> Table:
        """The course of the study for people, of Rich."""
        made = _table("until", "accesses/s", "faults", "promoted", "demoted", "stalled")
        for began, rows in self._course():
            length = rows[-1]["until_s"] - began
            accesses = sum(row["accesses"] for row in rows)
            made.add_row(
                duration_text(rows[-1]["until_s"] * 1e9),
                narrow(accesses / length if length else 0.0),
                f"{sum(row['faults'] for row in rows):,}",
                size(sum(row["promoted_bytes"] for row in rows)),
                size(sum(row["demoted_bytes"] for row in rows)),
                percent(sum(row["stalled_share"] for row in rows) / len(rows)),
            )
        return made

    def table_of_nodes(self) -> Table:
        """Which part of the accesses goes to each node, and how much is free there, by the same times; of Rich."""
        nodes = list(self.found["pages"])
        made = _table(
            "until", *(f"accesses to {name}" for name in nodes), *(f"free in {name}" for name in nodes)
        )
        for _, rows in self._course():
            made.add_row(
                duration_text(rows[-1]["until_s"] * 1e9),
                *(percent(rows[-1]["access_shares"][name]) for name in nodes),
                *(size(rows[-1]["free_bytes"][name]) for name in nodes),
            )
        return made

    def _course(self) -> Iterator[tuple[float, Sequence[Mapping[str, Any]]]]:
        """The epochs that a row of a table stands for, and the second at which they begin."""
        rows = self.found["epochs"]
        each = -(-len(rows) // _ROWS)
        for start in range(0, len(rows), each or 1):
            yield rows[start - 1]["until_s"] if start else 0.0, rows[start : start + each]


def _table(*heads: str) -> Table:
    """A table of figures, which are never cut; heads take as many lines as they need."""
    from cxloom.display.plain_table import plain_table

    made = plain_table()
    for head in heads:
        made.add_column(head, justify="right", min_width=_FIGURE, overflow="fold")
    return made


def play_epochs(
    system: System | str | os.PathLike[str],
    *,
    duration: str,
    epoch: str | None = None,
    window: int | None = None,
    tolerance: float | None = None,
    check: int | None = ACCESSES,
    watch: Watch = unwatched,
    overrides: Sequence[Override] = (),
) -> EpochStudy:
    """Plays the tiering of a spec's program by epochs.

    Args:
        system: a `System`, a spec file, or the name of a preset. It has one workload, with `tiering`.
        duration: simulated time, such as "600s", unless the requests of the workload end before.
        epoch: simulated time of a row; by default a hundredth of it.
        window: accesses of each short run of lines that gives a rate; by default 20000.
        tolerance: how far a node's share of the accesses may be from that of the window whose rate holds; by default
            0.05.
        check: accesses of a small copy that is run at both levels; None: no copy.
        watch: is called now and then with the simulated nanoseconds.
        overrides: values set in the spec first.

    Raises InputError for a spec that epochs cannot give, with the reason.
    """
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    resolved = system.resolve(overrides)
    given = {"duration": duration, "epoch": epoch, "window": window, "tolerance": tolerance}
    params = {key: value for key, value in given.items() if value is not None}
    began = time.process_time()
    with errors_placed(resolved):
        try:
            running = _core.PageStudy(resolved.lean(), params)
        except InputError as error:
            if not error.path.startswith("epochs"):
                raise
            raise InputError(
                error.problem,
                found=error.found,
                allowed=error.allowed,
                path=error.path.replace("epochs.", "--"),
            ) from None
        while not running.advance(_STEPS):
            watch(running.now_ns)
    found = running.result()
    cpu = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    notes, done = [], None
    if check is not None:
        try:
            rates: dict[str, Any] = {"window": window, "tolerance": tolerance}
            rates = {key: value for key, value in rates.items() if value is not None}
            done = checked(resolved.plain(), found, rates, check)
        except InputError as error:
            notes.append(f"The error of the split is not known: a small copy cannot be run: {error}")
    return EpochStudy(
        str(resolved.plain().get("name", "system")),
        params,
        found,
        done,
        notes,
        {
            "cpu_s": cpu,
            "check_cpu_s": time.process_time() - began - cpu,
            "peak_memory_bytes": peak,
            **in_one_thread(resolved.threads()),
        },
    )
