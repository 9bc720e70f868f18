"""Ranges and globs of device names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxloom.base.errors import InputError
from cxloom.spec import names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host", ["host"]),
        ("mem[0-3]", ["mem0", "mem1", "mem2", "mem3"]),
        ("cpu[0-1][0-2]", ["cpu00", "cpu01", "cpu02", "cpu10", "cpu11", "cpu12"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("n[8-10]", ["n8", "n9", "n10"]),
        ("m[0,2,4-5]", ["m0", "m2", "m4", "m5"]),
        ("rack[0-1]-node[1]", ["rack0-node1", "rack1-node1"]),
    ],
)
def test_a_range_declares(text: str, expected: list[str]) -> None:
    assert names.declared(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mem[3-0]",
        "mem[a-b]",
        "mem[]",
        "mem[-1]",
        "mem[0-3",
        "mem0-3]",
        "0mem",
        "",
        "a b",
        "mem.0",
        "mem[0.5]",
    ],
)
def test_a_malformed_name_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        names.declared(text)


@pytest.mark.parametrize("text", ["m[0-99999999]", "m[0-999][0-999]", "m[0-99999][0-99999][0-99999]"])
def test_a_range_beyond_reason_is_refused_at_once(text: str) -> None:
    with pytest.raises(InputError, match="too many names"):
        names.declared(text)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["host", "mem0", "mem1", "mem12", "memory"]),
        ("mem[*]", ["mem0", "mem1", "mem12"]),
        ("mem*", ["mem0", "mem1", "mem12", "memory"]),
        ("*m*", ["mem0", "mem1", "mem12", "memory"]),
        ("m*[1-2]", ["mem1", "mem12"]),
        ("mem[0-1]", ["mem0", "mem1"]),
        ("mem12", ["mem12"]),
    ],
)
def test_a_glob_selects(pattern: str, expected: list[str]) -> None:
    assert names.select(pattern, ["host", "mem0", "mem1", "mem12", "memory"]) == expected


def test_what_matches_nothing_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="matches no device"):
        names.select("cpu[*]", ["host", "mem0"])
    with pytest.raises(InputError) as error:
        names.select("mem[0-1]", ["host", "mem0"])
    assert error.value.problem == "unknown device 'mem1'"
    assert error.value.suggestion == "mem0"


def test_an_error_lists_devices_by_ranges() -> None:
    known = [*names.declared("leaf[0-31]"), "sw", *names.declared("host[0-511]"), "host-a", "mem1", "mem3"]
    with pytest.raises(InputError) as error:
        names.select("all", known)
    assert error.value.allowed == "leaf[0-31], sw, host[0-511], host-a, mem1 or mem3"


@given(st.lists(st.from_regex(r"[a-c][0-9]{0,2}", fullmatch=True), max_size=30))
def test_ranges_declare_what_they_were_made_of(known: list[str]) -> None:
    ranges = names.in_ranges(known)
    assert [name for text in ranges for name in names.declared(text)] == known


@given(
    prefix=st.from_regex(r"[a-z]{1,4}", fullmatch=True),
    first=st.integers(0, 300),
    count=st.integers(1, 60),
    width=st.integers(0, 4),
)
def test_a_range_declares_what_its_glob_selects(prefix: str, first: int, count: int, width: int) -> None:
    text = f"{prefix}[{first:0{width}d}-{first + count - 1}]"
    declared = names.declared(text)
    assert len(declared) == len(set(declared)) == count
    assert [int(name.removeprefix(prefix)) for name in declared] == list(range(first, first + count))
    assert names.select(f"{prefix}[*]", [*declared, "other"]) == declared
    assert names.select(text, ["other", *declared]) == declared
