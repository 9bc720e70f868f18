"""The recipes of docs/recipes.md, each run as it is written, and what it has to say."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from validation.examples import slow

import cxloom as cx

Call = Callable[..., Any]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
MLC = """\
Intel(R) Memory Latency Checker - v3.11
Command line parameters: --loaded_latency

Measuring Loaded Latencies for the system
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t612.10\t  26410.5
 00100\t330.55\t  20510.9
 20000\t279.91\t    400.7
"""
BITS = 544
"""Bits of a flit of 68 bytes."""


@pytest.fixture(autouse=True)
def _followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec_text: str) -> None:
    """A folder with the files of the page, and those that a reader has."""
    for name, text in re.findall(r"```yaml (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text)
    (tmp_path / "system.yaml").write_text(spec_text)
    (tmp_path / "loaded.txt").write_text(MLC)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def commands(heading: str) -> list[list[str]]:
    """The words behind `cxloom` of the commands of a recipe."""
    recipe = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"```sh\n(.*?)```", recipe, re.DOTALL)).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("cxloom ")]


def done(cxloom: Call, heading: str, *more: str) -> Iterator[Any]:
    """The outcomes of the commands of a recipe, each with these words behind it."""
    for words in commands(heading):
        outcome = cxloom(*words, *more)
        assert outcome.code == 0, outcome.err
        yield outcome


def bandwidths(printed: str) -> list[float]:
    """GB/s of each system of `cxloom compare --json`."""
    values: list[float] = next(
        row["values"] for row in json.loads(printed)["rows"] if row["name"] == "bandwidth"
    )
    return values


def test_there_are_seventeen_of_one_command_or_two() -> None:
    assert len(HEADINGS) == 17
    assert all(1 <= len(commands(heading)) <= 2 for heading in HEADINGS)


def test_a_second_card_gains_where_the_first_one_is_full(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "How much does a second card help?", "--json")
    one, two = bandwidths(outcome.out)
    assert 1.3 < two / one < 2
    # 41 GB/s of reads come from one card: more than x8 has, less than the 63 of x16 before headers.
    assert 31.5 < 0.7 * one < 63


def test_topologies_are_a_table_and_a_page(cxloom: Call) -> None:
    list(done(cxloom, "Which topology for sixteen hosts?"))
    rows = pl.read_parquet("shapes/results.parquet")
    assert rows["status"].to_list() == ["finished"] * 3
    star, leaves, ring = rows["latency_ns.mean"]
    assert star < leaves < ring  # by their hops
    assert Path("shapes/report.html").stat().st_size < 1_500_000


def test_a_curve_of_mlc_becomes_a_medium(cxloom: Call) -> None:
    words, _ = commands("The curve that MLC measured of my card")  # test_fit_tools.py fits
    assert cxloom(*words).code == 0
    points = [line.split(", ") for line in Path("card.csv").read_text().splitlines()[2:]]
    assert points == [
        ["100%", "0.4007", "279.91"],
        ["100%", "20.5109", "330.55"],
        ["100%", "26.4105", "612.1"],
    ]


def test_neither_module_gives_more_than_its_pins(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "Two channels of DDR4 or one of DDR5 behind x8?", "--json")
    ddr5, ddr4 = bandwidths(outcome.out)
    assert 20 < ddr5 < 38.4
    assert 15 < ddr4 < 51.2
    assert 0.7 * ddr5 < 31.5  # of reads, by a wire of x8


def test_bit_errors_are_met_as_often_as_flits_have_them() -> None:
    (words,) = commands("What do bit errors cost?")
    errors, requests = (word.split("=") for word in words if "=" in word)
    rate = float(errors[1].split(",")[-1])
    system = cx.load(words[1])
    system.set(errors[0], rate)
    system.set(requests[0], int(requests[1]))
    found = cx.run(system)
    ways = [way["flits"] for way in found["per_link"]["host-cxl"].values()]
    flits = sum(sum(way["flits"].values()) for way in ways)
    expected = flits * BITS * rate
    assert expected > 5  # the page's run is long enough to meet some
    assert sum(way["errors"] for way in ways) == pytest.approx(expected, abs=4 * expected**0.5)


def test_four_hosts_share_a_card_alike(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "Four hosts on one card", "--json")
    hosts = json.loads(outcome.out)["per_requester"]
    each = [host["bandwidth_gb_per_s"] for host in hosts.values()]
    assert len(each) == 4
    assert min(each) > 0.95 * max(each)
    assert sum(each) < 63


@slow
def test_cards_and_load_of_a_pool_are_found(cxloom: Call) -> None:
    cards, load = (json.loads(each.out) for each in done(cxloom, HEADINGS[10], "--json"))
    for found in (cards, load):
        assert {row["holds"] for row in found["tried"]} == {True, False}
    # One card of x8 cannot carry what 32 hosts write and read: 32 x 20M/s x 64 B = 41 GB/s.
    assert not next(row["holds"] for row in cards["tried"] if row["value"] == 1)


def test_a_spine_that_fails_is_gone_around(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "A spine fails", "--json")
    ((name, event),) = json.loads(outcome.out)["events"].items()
    assert "spine1" in name
    assert event["rerouted"] > 0


def test_a_spreadsheet_has_a_row_for_each_point(cxloom: Call) -> None:
    list(done(cxloom, "Results in a spreadsheet"))
    points = pl.read_csv("queues.csv")
    assert points["devices.host.queue"].to_list() == [32, 64, 128]
    assert all(a <= b for a, b in itertools.pairwise(points["latency_ns.mean"]))
    assert "mean latency" in Path("compared.csv").read_text()


def test_workloads_of_a_pool_are_told_apart(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "Different workloads on one pool")
    assert {f"host{n}" for n in range(3)} <= set(outcome.out.split())
    assert "part of the latency" in outcome.out


def test_a_full_card_is_what_is_slow(cxloom: Call) -> None:
    (outcome,) = done(cxloom, "Why is it slow?")
    assert "is limited by" in outcome.out
    assert "99th percentile" in outcome.out


@slow
def test_a_pool_is_planned_and_has_a_page(cxloom: Call) -> None:
    """Also the run of the example: more servers to a pool take less memory of devices."""
    list(done(cxloom, "How much memory does a pool save my rack?"))
    found = json.loads(Path("rack/plan.json").read_text())
    size = {each["design"]: each["pool"]["always_bytes"] for each in found["designs"]}
    assert 0 == size["none"] < size["switch"] < size["heads"] < size["direct"]
    assert size["switch"] <= size["sparse"] < size["direct"]
    idle = {each["design"]: (each["latency"] or {}).get("idle_ns") for each in found["designs"]}
    assert idle["direct"] < idle["switch"]
    assert Path("rack/report.html").stat().st_size < 1_500_000


def test_a_memory_is_pulled_out_once_its_pages_have_left(cxloom: Call) -> None:
    """Both events happen: the run once ended before the first of them, and said so in its notes alone."""
    (outcome,) = done(cxloom, "A memory is taken out while programs run", "--json")
    found = json.loads(outcome.out)
    assert set(found["events"]) == {"400us fail device cxl"}
    ((_, removal),) = found["removals"].items()
    assert removal["pages_left"] == 0
    assert 0 < removal["took_ns"] < 300_000  # before it was pulled out
    assert removal["moved_bytes"] == 1 << 20
    assert found["errors"]["requests"] == 0


@pytest.mark.parametrize(
    "heading", [each for each in HEADINGS if "run" in [words[0] for words in commands(each)]]
)
def test_whatever_a_recipe_has_happen_happens(heading: str, cxloom: Call) -> None:
    for words in commands(heading):
        if words[0] == "run":
            outcome = cxloom(*words)
            assert outcome.code == 0
            assert "the run ended before" not in outcome.out
