"""Every declared parameter does what it says: see the table."""

from __future__ import annotations

import pytest
from validation.coherence_rows import coherence_rows
from validation.dma_rows import dma_rows
from validation.engine_rows import engine_rows
from validation.event_rows import event_rows
from validation.io_rows import io_rows
from validation.kv_rows import kv_rows
from validation.object_rows import object_rows
from validation.parameter_table import all_rows
from validation.persist_rows import persist_rows
from validation.placement_rows import placement_rows, tiering_rows
from validation.prefetch_rows import prefetch_rows
from validation.sharing_rows import sharing_rows
from validation.task_rows import task_rows
from validation.tiering_kind_rows import tiering_kind_rows
from validation.trace_rows import trace_rows
from validation.turns import Turn, declared

TABLE = [
    *all_rows(),
    *io_rows(),
    *dma_rows(),
    *event_rows(),
    *trace_rows(),
    *coherence_rows(),
    *prefetch_rows(),
    *placement_rows(),
    *tiering_rows(),
    *object_rows(),
    *engine_rows(),
    *tiering_kind_rows(),
    *persist_rows(),
    *kv_rows(),
    *task_rows(),
    *sharing_rows(),
]


def test_every_declared_parameter_has_a_row() -> None:
    rows = {turn.parameter for turn in TABLE}
    without = sorted(set(declared()) - rows)
    assert without == [], (
        f"parameters without a row: {without}; each gets two values and what has to rise or fall, in "
        "tests/validation/parameter_table.py or the *_rows.py of its part (CONTRIBUTING.md, A parameter)"
    )
    gone = sorted(rows - set(declared()))
    assert gone == [], f"rows in tests/validation/ for parameters that there are not: {gone}"


@pytest.mark.parametrize("turn", TABLE, ids=lambda turn: turn.parameter)
def test_turning_a_parameter_changes_what_it_should(turn: Turn) -> None:
    before, after = turn.outcomes()
    assert turn.effect(after, before), f"{turn.values[0]} gives {before}, {turn.values[1]} gives {after}"
