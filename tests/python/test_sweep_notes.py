"""What runs say of themselves stands below the table of a sweep, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxloom.sweeping.points_table import to_text

Call = Callable[..., Any]


@dataclass
class Swept:
    """A sweep over a queue whose runs have these notes."""

    notes: list[str | None]
    has_seeds: bool = False
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.notes)
        self.points = [{"devices.host.queue": row + 1} for row in range(count)]
        self.statuses = ["finished"] * count
        self.columns = {
            "devices.host.queue": list(range(1, count + 1)),
            "bandwidth_gb_per_s": [1.0] * count,
            "notes": self.notes,
        }

    def __len__(self) -> int:
        return len(self.notes)


def below(notes: list[str | None]) -> list[str]:
    swept: Any = Swept(notes)
    return [line for line in to_text(swept, ()).splitlines() if "note" in line]


def test_a_note_of_all_points_stands_once() -> None:
    assert below(["no limit"] * 3) == ["note: no limit"]


def test_a_note_of_some_says_of_how_many_and_the_most_frequent_is_first() -> None:
    assert below(["b", "a", "a", None]) == ["note on 2 of 4 points: a", "note on 1 of 4 points: b"]


def test_no_more_than_three_are_shown() -> None:
    assert below(["a", "b", "c", "d", "e"])[-1] == "and 2 other notes: see the column notes"


def test_notes_of_one_point_are_several_and_numbers_make_no_other_note() -> None:
    assert below(["no limit | 4.4 % higher", "no limit", "2.24 % higher | no limit", None]) == [
        "note on 3 of 4 points: no limit",
        "note on 2 of 4 points, such as: 4.4 % higher",
    ]
    assert below(["in 7", "in 8"]) == ["note such as: in 7"]


def test_runs_that_say_nothing_leave_nothing() -> None:
    assert below([None, None]) == []


def test_a_measure_that_no_point_has_is_named(cxloom: Call, tmp_path: Path) -> None:
    """Its column was missing without a word, in the table as in the files."""
    sweep = ("sweep", "esf/validation", "--set", "workload.host.requests=200", "--jobs", 1, "--quiet")
    asked = ("per_memory.mem0.queue_mena", "per_memory.mem*.queue_mean", "per_gpu.*.time")
    measures = [word for measure in asked for word in ("--measure", measure)]
    done = cxloom(*sweep, *measures, "--out", tmp_path / "swept")
    assert done.code == 0
    assert done.err.splitlines() == [
        "note: no point has the measure 'per_memory.mem0.queue_mena'; did you mean 'per_memory.mem0.queue_mean'?",
        "note: no point has the measure 'per_gpu.*.time'",
    ]
