"""Every declared parameter does what it says: see the table."""

from __future__ import annotations

import re

import pytest
from validation.io_rows import io_rows
from validation.parameter_table import all_rows
from validation.trace_rows import trace_rows
from validation.turns import Turn, declared

TABLE = [*all_rows(), *io_rows(), *trace_rows()]
TURNED_IN_CXX = re.compile(
    r"devices\.(host|accelerator)\.cache\."
    r"(levels|levels\..*|mshrs|fill_time|clear_time|write_allocate|clean_evictions|read_state)"
    r"|devices\.(memory|accelerator)\.(memory\.)?dcoh(\..*)?"
    r"|devices\.dcoh\..*"
    r"|devices\.accelerator\.memory\.bias(\..*)?"
    r"|devices\.host\.home_agent(\..*)?"
    r"|(regions?|address_map)\.(coherence|home)"
    r"|victims\.(lfi|lfu|longest-block)\..*"
)
"""Those of coherence: coherence_knobs_test.cpp, home_agent_knobs_test.cpp, bias_test.cpp and
coherence_latency_test.cpp in tests/core/coherence turn them, where systems with several caches take a few
lines; those of the filter, snoop_filter_test.cpp."""


def test_every_declared_parameter_has_a_row() -> None:
    rows = {turn.parameter for turn in TABLE}
    without = sorted(name for name in set(declared()) - rows if not TURNED_IN_CXX.fullmatch(name))
    assert without == [], f"parameters without a row in the table: {without}"
    assert sorted(rows - set(declared())) == [], "rows for parameters that there are not"


@pytest.mark.parametrize("turn", TABLE, ids=lambda turn: turn.parameter)
def test_turning_a_parameter_changes_what_it_should(turn: Turn) -> None:
    before, after = turn.outcomes()
    assert turn.effect(after, before), f"{turn.values[0]} gives {before}, {turn.values[1]} gives {after}"
