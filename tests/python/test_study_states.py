"""What a study claims: predicted values are counted apart from those that were fitted, bracketed or missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cxloom.study import read
from cxloom.study.shipped import find
from cxloom.study.state import State, tally

Call = Callable[..., Any]

# One request at a time takes 153.5 ns and the media: 198.5 ns.
STUDY = """\
system: {preset: esf/validation, workload: {host: {requests: 100}}, run: {warmup: 0}}
set: {devices.host.queue: 1}
defaults: {measure: latency_ns.mean, source: somebody}
expect:
"""
STATES = [
    ("{value: 198.5, tolerance: 0.1%}", State.MET),
    ("{value: 190, tolerance: 10%}", State.MET),
    ("{value: 190, tolerance: 10.1%}", State.BRACKET),
    ("{value: 198.5, tolerance: 30ns}", State.BRACKET),
    ("{value: 198.5, tolerance: 0.1%, fitted: the media}", State.FITTED),
    ("{least: 150, most: 250, fitted: the media}", State.FITTED),
    ("{least: 150, most: 250}", State.BRACKET),
    ("{most: 250, published: 220}", State.BRACKET),
    ("{value: 150, tolerance: 1%, open: nobody knows}", State.OPEN),
    ("{least: 250, open: nobody knows}", State.OPEN),
    ("{value: 198.5, tolerance: 1%, open: it agrees after all}", State.MET),
    ("{value: 150, tolerance: 1%}", State.FAILED),
    ("{value: 150, tolerance: 1%, fitted: the media}", State.FAILED),
]


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_reader_may_conclude(fails: bool, tmp_path: Path, cxloom: Call) -> None:
    of_these = [(entry, state) for entry, state in STATES if fails or state is not State.FAILED]
    (tmp_path / "study.yaml").write_text(STUDY + "".join(f"  - {entry}\n" for entry, _ in of_these))
    done = cxloom("study", "run", tmp_path / "study.yaml", "--json", "--out", tmp_path / "out")
    assert done.code == fails, done.err
    found = json.loads(done.out)["expectations"]
    assert [each["state"] for each in found] == [state for _, state in of_these]


def test_states_are_counted_apart(tmp_path: Path, cxloom: Call) -> None:
    entries = "".join(f"  - {entry}\n" for entry, state in STATES if state is not State.FAILED)
    (tmp_path / "study.yaml").write_text(
        f"{STUDY}{entries}  - {{value: 198.5, tolerance: 1%, derived: a sum}}\n"
    )
    done = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "12 expectations: 4 met (3 published, 1 derived), 2 fitted, 4 bracketed, 2 open" in done.out
    assert "fitted: the media" in done.out
    assert "open: nobody knows" in done.out
    assert "open: it agrees after all" not in done.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "4 met (3 published, 1 derived), 2 fitted, 4 bracketed, 2 open" in page
    assert "open: nobody knows" in page


def test_bounds_are_held_against_what_is_published(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "study.yaml").write_text(f"{STUDY}  - {{most: 250, published: 220}}\n")
    done = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert "220.0; at most 250.0" in done.out
    assert "-9.77 %" in done.out  # 198.5 / 220 - 1


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{value: 198.5, tolerance: 1%, published: 198}", "'published' without bounds"),
        ("{most: 250, published: much}", "not a number"),
        ("{value: 198.5, tolerance: 1%, fitted: a, open: b}", "both 'fitted' and 'open'"),
        ("{value: 198.5, tolerance: 1%, fited: a}", "did you mean 'fitted'?"),
    ],
)
def test_what_cannot_be_meant_is_refused(entry: str, says: str, tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "study.yaml").write_text(f"{STUDY}  - {entry}\n")
    done = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert done.code == 2
    assert says in done.err
    assert "study.yaml:5" in done.err


def test_counts_in_words() -> None:
    assert tally([]) == ""
    assert tally([(State.MET, True)] * 2) == "2 met (2 derived)"
    assert tally([(State.OPEN, False), (State.MET, False)]) == "1 met (1 published), 1 open"


# Each of these has an expectation that was reached by a parameter chosen for it.
@pytest.mark.parametrize(
    "name",
    ["esf/traces", "esf/slowdown", "esf/iso_bisection", "esf/inv_blk", "esf/snoop_filter", "memory/optane"],
)
def test_studies_say_what_was_chosen_by_comparison(name: str) -> None:
    assert any(each.fitted for each in read(find(name)).expectations)


@pytest.mark.parametrize("name", ["dmsim/stream", "dmsim/swap", "dmsim/congestion", "esf/iso_bisection"])
def test_studies_name_published_values_that_they_do_not_reach(name: str) -> None:
    assert any(each.open for each in read(find(name)).expectations)
