"""JSON with indents is what the library writes, byte by byte."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxloom.base.indented import indented

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4)
)


@given(value=VALUES)
def test_it_is_what_the_library_writes(value: object) -> None:
    assert "".join(indented(value)) == json.dumps(value, indent=2)


def test_a_part_in_two_places_is_written_in_both() -> None:
    row = {"a": 1, "b": {}}
    value = {"x": row, "y": [row, {"z": row}], "empty": [[], {}]}
    assert "".join(indented(value)) == json.dumps(value, indent=2)


def test_a_map_need_not_be_a_dict() -> None:
    value = MappingProxyType({"a": MappingProxyType({"b": 1, "c": MappingProxyType({})})})
    assert "".join(indented(value)) == json.dumps({"a": {"b": 1, "c": {}}}, indent=2)
    with pytest.raises(TypeError, match="set is no plain data"):
        "".join(indented({"a": {1}}))


@pytest.mark.parametrize("value", [float("nan"), {"a": float("inf")}, {"a": [{"b": float("nan")}]}])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        "".join(indented(value))
