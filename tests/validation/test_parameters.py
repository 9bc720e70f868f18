"""Every declared parameter does what it says: see the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from validation.replica_rows import replica_rows
from validation.sharing_rows import sharing_rows
from validation.systems import Spec, changed
from validation.task_rows import task_rows
from validation.tiering_kind_rows import tiering_kind_rows
from validation.trace_rows import trace_rows
from validation.turns import Turn, declared

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve

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
    *replica_rows(),
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


def without_default() -> set[str]:
    """The declared parameters that have no default."""

    def walk(prefix: str, fields: Sequence[Mapping[str, Any]]) -> None:
        for each in fields:
            path = f"{prefix}.{each['name']}"
            if each["required"]:
                found.add(path)
            walk(path, each["fields"])

    found: set[str] = set()
    for group, about in _core.declarations().items():
        if isinstance(about, Mapping) and "fields" in about:
            walk(group, about["fields"])
        elif group in _core.declarations()["categories"]:
            for kind, info in about.items():
                walk(f"{group}.{kind}", info["fields"])
    return found


def resolved(spec: Spec) -> dict[str, Any] | str:
    """The spec as it is stored, or why there is none."""
    try:
        return resolve(from_plain(spec, Origin())).plain()
    except InputError as error:
        return str(error)


def test_a_null_is_as_if_a_parameter_were_not_written() -> None:
    """The front end leaves it out, and the core takes it for the default, or says that it is missing."""
    needed, tried = without_default(), set()
    for turn in TABLE:
        name = turn.path.split(".")[-1]
        if turn.parameter.split(".")[-1] != name or turn.parameter.startswith("kv"):
            continue  # it turns what is around the parameter, or is no system's
        tried.add(turn.parameter)
        null, absent = changed(turn.base, (turn.path, None)), changed(turn.base, (turn.path, ...))
        found = resolved(null)
        if turn.parameter in needed:
            said = found if isinstance(found, str) else str(_core.spec_errors(found))
            assert f"'{name}' is missing" in said, turn.parameter
            continue
        assert found == resolved(absent), turn.parameter
        if "topology" not in null:  # which the core takes by itself
            assert str(_core.spec_errors(null)) == str(_core.spec_errors(absent)), turn.parameter
    assert len(tried) > len(set(declared())) * 0.8
