"""What the table of a run says of coherence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import cxloom as cx
from cxloom.results.terminal import LINES, to_text

SPEC = """\
devices:
  host[0-1]: {kind: host, cache: {size: 4KiB}}
  sw: {kind: switch}
  mem[0-1]: {kind: memory, capacity: 1MiB, dcoh: {filter: {entries: 64}}}
links: [{between: ["host[*]", sw]}, {between: [sw, "mem[*]"]}]
address_map: [{to: "mem[*]", coherence: hdm-db}]
workload:
  "host[*]": {pattern: random, reads: 50%, requests: 2000, footprint: 64KiB}
"""


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    return dict(cx.run(cx.System.from_yaml(SPEC)).summary)


def row(text: str, name: str) -> list[str]:
    """The cells of the row of that name in the table of homes."""
    table = text[text.index("home ") :]
    return next(line for line in table.splitlines() if line.split()[:1] == [name]).replace(" %", "%").split()


def expected(home: dict[str, Any]) -> list[str]:
    lookups = home["filter_hits"] + home["filter_misses"]
    counts = ("snoops_sent", "lines_invalidated", "filter_evictions", "filter_entries")
    return [
        f"{lookups:,}",
        f"{100 * home['filter_hits'] / lookups:.1f}%",
        *(f"{home[key]:,}" for key in counts),
    ]


def test_each_home_and_all_together_have_a_row(summary: dict[str, Any]) -> None:
    text = to_text(summary)
    for name, home in summary["per_home"].items():
        assert row(text, name) == [name, *expected(home)]
    total = summary["coherence"]
    assert row(text, "all") == ["all", *expected(total)]
    held = total["lines_invalidated_live"]
    assert f"caches gave up {held:,} lines that they held; invalidations took" in text
    assert max(map(len, text.splitlines())) <= 80


def test_many_homes_take_no_more_than_a_screen(summary: dict[str, Any]) -> None:
    many = copy.deepcopy(summary)
    home = many["per_home"]["mem0"]
    many["per_home"] = {f"mem{i}": home | {"filter_hits": home["filter_hits"] + i} for i in range(40)}
    text = to_text(many)
    assert len(text.splitlines()) <= LINES
    assert row(text, "mem39")
    with pytest.raises(StopIteration):
        row(text, "mem0")
    shown = sum(line.startswith("mem") for line in text[text.index("home ") :].splitlines())
    assert f"and {40 - shown} more" in text


def test_one_home_needs_no_row_for_all() -> None:
    system = cx.System.from_yaml(SPEC.replace("mem[0-1]", "mem0").replace("hdm-db", "hdm-db, size: 512KiB"))
    text = to_text(cx.run(system).summary)
    assert row(text, "mem0")
    with pytest.raises(StopIteration):
        row(text, "all")


def test_without_coherence_nothing_is_said_of_it() -> None:
    for without in (
        SPEC.replace(", coherence: hdm-db", ""),
        SPEC.replace(", dcoh: {filter: {entries: 64}}", ""),
    ):
        text = to_text(cx.run(cx.System.from_yaml(without.replace(", coherence: hdm-db", ""))).summary)
        assert "requester " in text
        assert "home " not in text
        assert "caches gave up" not in text
