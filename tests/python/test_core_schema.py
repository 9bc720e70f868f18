"""Plain values, beside what ruamel.yaml makes of them."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from validation.examples import examples

from cxloom.base.errors import InputError
from cxloom.spec import core_schema
from cxloom.spec.reader import read_text


def by_ruamel(text: str) -> object:
    return YAML(typ="safe", pure=True).load(f"a: {text}\n")["a"]


def by_us(text: str) -> object:
    return read_text(f"a: {text}\n").map()["a"].value


@settings(max_examples=examples(600))
@given(
    st.from_regex(r"[-+]?(0[box])?[0-9a-fA-F_]{0,6}(\.[0-9_]{0,3})?([eE][-+]?[0-9]{1,2})?", fullmatch=True)
)
def test_numbers_are_what_they_are_to_the_library(text: str) -> None:
    if text == "-":  # an entry of a list
        return
    kind = core_schema.kind_of(text)
    try:
        expected = by_ruamel(text)
    except ValueError:  # it takes `-_` for a number
        assert kind == "str"
        return
    if isinstance(expected, float) and kind == "float":
        assert by_us(text) == pytest.approx(expected, rel=1e-14, nan_ok=True)
    elif kind == "str" and not isinstance(expected, str):
        assert re.search(r"(?<![0-9a-fA-F])_", text), "a number is text to us"
    elif kind == "float" and isinstance(expected, str):
        assert text.lstrip("+-").startswith("."), "YAML 1.2 has .5e3, the library .5e+3 alone"
        assert by_us(text) == float(text.replace("_", ""))
    else:
        assert (type(by_us(text)), by_us(text)) == (type(expected), expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[
            ("", None),
            ("~", None),
            ("null", None),
            ("Null", None),
            ("nUll", "nUll"),
            ("true", True),
            ("FALSE", False),
        ],
        *[
            ("yes", "yes"),
            ("0", 0),
            ("-0x1F", -31),
            ("0o17", 15),
            ("017", 17),
            ("0b101", 5),
            ("1_000", 1000),
            ("+7", 7),
        ],
        *[
            ("1.5", 1.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("-1e3", -1000.0),
            (".inf", math.inf),
            ("-.INF", -math.inf),
        ],
        *[
            ("-_", "-_"),
            ("-", "-"),
            ("=", "="),
            ("<<", "<<"),
            ("1e", "1e"),
            ("1.5.2", "1.5.2"),
            ("64GB/s", "64GB/s"),
        ],
        *[("2026-01-01", "2026-01-01"), ("'1'", "1"), ('"true"', "true"), ("1:30", "1:30"), ("0x", "0x")],
    ],
)
def test_values_by_the_core_schema(text: str, value: object) -> None:
    read = by_us(text) if text != "-" else read_text("a: '-'\n").map()["a"].value
    assert (type(read), read) == (type(value), value)


def test_not_a_number() -> None:
    read = by_us(".NaN")
    assert isinstance(read, float)
    assert math.isnan(read)


@pytest.mark.parametrize("text", ["1e999", "9223372036854775808", "1" * 5000])
def test_what_no_number_holds(text: str) -> None:
    with pytest.raises(InputError, match="the number is too"):
        by_us(text)
