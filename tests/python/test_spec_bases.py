"""Ranges of their own for requesters that do the same: `base: auto`."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec import Override, read_text, resolve
from cxloom.spec.jsonschema import schema

MIB = 1 << 20
SPEC = """
topology: {kind: chain, switches: 2, placement: paired, memory: {kind: memory, capacity: 1TiB}}
workload:
  "host[*]": {pattern: random, footprint: 3MiB, base: auto, requests: 200}
"""


def workload(text: str, *sets: str) -> dict[str, Any]:
    resolved = resolve(read_text(text, "s.yaml"), [Override.parse(each) for each in sets]).plain()
    return dict(resolved["workload"])


def bases(text: str, *sets: str) -> list[int]:
    return [int(str(entry["base"]), 0) for entry in workload(text, *sets).values()]


def test_each_begins_behind_the_one_before_at_a_large_page() -> None:
    assert bases(SPEC) == [0, 4 * MIB]
    assert bases(SPEC, "workload.host0.footprint=9MiB") == [0, 10 * MIB]
    assert bases(SPEC.replace("footprint: 3MiB, ", "")) == [0, 1024 * MIB]  # the default


def test_a_base_that_is_written_stays() -> None:
    assert bases(SPEC, "workload.host0.base=0x40") == [0x40, 0]


def test_phases_of_a_requester_have_one_range() -> None:
    phases = "phases: [{PHASE, footprint: 3MiB, base: auto}, {PHASE, footprint: 9MiB, base: auto}, {PHASE, base: 0x40}]"
    text = SPEC.replace("pattern: random, footprint: 3MiB, base: auto, requests: 200", phases)
    work = workload(text.replace("PHASE", "pattern: random, requests: 20"))
    found = [[int(str(phase["base"]), 0) for phase in entry["phases"]] for entry in work.values()]
    assert found == [[0, 0, 0x40], [10 * MIB, 10 * MIB, 0x40]]
    with pytest.raises(InputError) as caught:
        workload(SPEC.replace("pattern: random, footprint: 3MiB", "phases: [{pattern: random, requests: 2}]"))
    assert caught.value.allowed == "a pattern with a footprint, or a base in each phase"


@given(st.lists(st.integers(1, 1 << 22), min_size=2, max_size=6))
def test_no_two_have_a_line_in_common(lines: list[int]) -> None:
    entries = "".join(
        f"  host{i}: {{pattern: random, footprint: {count * 64}B, base: auto}}\n"
        for i, count in enumerate(lines)
    )
    text = f"devices: {{'host[0-{len(lines) - 1}]': {{kind: host}}}}\nworkload:\n{entries}"
    end = 0
    for begin, count in zip(bases(text), lines, strict=True):
        assert begin >= end
        assert begin % (2 * MIB) == 0
        end = begin + count * 64


def test_a_workload_without_a_footprint_is_refused_where_it_stands() -> None:
    with pytest.raises(InputError) as caught:
        workload(SPEC.replace("pattern: random, footprint: 3MiB", "trace: t.trace"))
    assert "no footprint to place by 'base: auto'" in str(caught.value)
    assert "s.yaml:4" in str(caught.value)


def test_a_mistake_elsewhere_is_the_only_one_that_is_told() -> None:
    """What is left of a spec with a mistake is looked through for more, with the bases where they would be."""
    with pytest.raises(InputError) as caught:
        workload(SPEC + "  hst: {pattern: random}\n")
    assert "workload.hst: unknown device" in str(caught.value)
    assert "base" not in str(caught.value)


def test_hosts_with_ranges_of_their_own_share_no_page() -> None:
    system = cx.System.from_yaml(SPEC)
    built = cx.System().topology(
        "chain", switches=2, placement="paired", memory={"kind": "memory", "capacity": "1TiB"}
    )
    built.workload("host[*]", pattern="random", footprint="3MiB", base="auto", requests=200)
    assert system.resolve().plain()["workload"] == built.resolve().plain()["workload"]
    together = system.copy().set("workload.host[*].base", "0x0")
    for each, apart in ((system, True), (together, False)):
        touched: dict[int, set[int]] = {}
        table = cx.run(each.set("outputs.requests", True)).requests()
        for requester, address in zip(table["requester"], table["address"], strict=True):
            touched.setdefault(requester, set()).add(int(address) // 4096)
        first, second = touched.values()
        assert first.isdisjoint(second) is apart


def test_the_schema_knows_the_word() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    entry = {"pattern": "random", "base": "auto"}
    phased = {"phases": [{**entry, "requests": 20}]}
    for valid in (entry, phased):
        assert validator.is_valid({"preset": "dmsim/asic", "workload": {"host": valid}})
    assert not validator.is_valid({"preset": "dmsim/asic", "workload": {"host": {**entry, "base": "later"}}})
