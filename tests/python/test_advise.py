"""`cxloom advise`: the policies against closed forms and published tables, and advice on systems of all sorts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.advising.advice import Advice, Outcome, proposed
from cxloom.advising.fit import fitted
from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject, objects_of, rates_of
from cxloom.advising.policies import Proposal, chosen_by_oli, oli, optimum, weights_of
from cxloom.cli.writing import write_texts
from cxloom.measure.bench import Bench
from cxloom.sweeping.at_points import Played, summaries_at

GIB = 1 << 30
FREE = {"header": "0B", "data_header": "0B"}
"""Parameters of a link whose bandwidth is that of the payload."""


def node(name: str, bandwidth: float, latency: float, size: int = 1 << 40) -> NodeProfile:
    return NodeProfile(name, size, bandwidth, {"host": latency})


def made(name: str, size: float, accesses: float, **given: Any) -> PlacedObject:
    return PlacedObject("host", name, int(size * GIB), (accesses,), **given)


def near_and_far(**work: Any) -> dict[str, Any]:
    """A near memory of 30 GB/s and a far one of 10, each behind a link of its own."""
    return {
        "devices": {
            "host": {"kind": "host", "queue": 128},
            "near": {"kind": "memory", "capacity": "64MiB", "media": {"kind": "fixed", "latency": "40ns"}},
            "far": {"kind": "memory", "capacity": "64MiB", "media": {"kind": "fixed", "latency": "40ns"}},
        },
        "links": [
            {"between": ["host", "near"], "bandwidth": "30GB/s", "port_delay": "5ns", **FREE},
            {"between": ["host", "far"], "bandwidth": "10GB/s", "port_delay": "50ns", **FREE},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "workload": {"host": {"pattern": "objects", "requests": 20000, **work}},
        "run": {"warmup": 2000},
    }


TWO = [
    {"name": "hot", "size": "16MiB", "accesses": "90%"},
    {"name": "cold", "size": "16MiB", "accesses": "10%"},
]


def advised(spec: dict[str, Any]) -> Advice:
    return cx.advise(cx.System.from_yaml(json.dumps(spec)), jobs=1)


# Form 2 of weighted interleave: bandwidth is min(B_i / w_i), so the best share is B_near / (B_near + B_far).
@pytest.mark.parametrize(("near", "far"), [(30.0, 10.0), (460.8, 38.4), (307.2, 64.0), (10.0, 10.0)])
def test_the_best_weights_of_a_bandwidth_bound_case(near: float, far: float) -> None:
    nodes = [node("near", near, 100), node("far", far, 250)]
    found = optimum([made("a", 1, 1e6)], nodes, {"host": 1e4})
    weights = weights_of(found.shares[0])
    share = weights["near"] / sum(weights.values())
    assert share == pytest.approx(near / (near + far), rel=0.02)


# What is rounded up has no room: the coldest object leaves the full node, in the proportions that it has elsewhere.
def test_weights_are_rounded_so_that_they_fit() -> None:
    objects = [made("hot", 1, 900), made("cold", 7, 100)]
    near = {"host": ["near", "far", "third"]}
    rooms = {"near": 7 * GIB, "far": 8 * GIB, "third": 8 * GIB}
    assert fitted(objects, [{"near": 1}, {"near": 1}], rooms | {"near": 8 * GIB}, near) == {}
    (cold,) = fitted(objects, [{"near": 1}, {"near": 1}], rooms, near).values()
    assert set(cold) == {"near", "far"}
    assert 0.84 < cold["near"] / sum(cold.values()) <= 6 / 7
    spread = fitted(
        objects, [{"near": 1}, {"near": 8, "far": 1, "third": 1}], rooms | {"near": 4 * GIB}, near
    )
    assert spread[1]["far"] == pytest.approx(spread[1]["third"], abs=1)
    assert 0.41 < spread[1]["near"] / sum(spread[1].values()) <= 3 / 7
    # No byte is left over, and where nothing has room nothing is moved.
    tight = {"near": 4 * GIB, "far": 4 * GIB}
    assert fitted(objects, [{"near": 1}, {"near": 1}], {"near": GIB}, {"host": ["near"]}) == {}
    assert fitted(objects, [{"near": 1}, {"near": 1, "far": 1}], tight, {"host": ["near", "far"]}) == {
        1: {"near": 3, "far": 4}
    }


# One access at a time takes its latency: nothing is gained by a far node, however much bandwidth it has.
def test_a_latency_bound_object_stays_near() -> None:
    nodes = [node("near", 10, 100), node("far", 1000, 250)]
    found = optimum([made("a", 1, 1e6, dependent=True)], nodes, {"host": 64})
    assert weights_of(found.shares[0]) == {"near": 1}
    # 64 lines in flight at 100 ns are 41 GB/s: a node of 50 is not full.
    wide = [node("near", 50, 100), node("far", 50, 250)]
    assert weights_of(optimum([made("a", 1, 1e6)], wide, {"host": 64}).shares[0]) == {"near": 1}


# Each thread follows a chain of its own: 64 lines of 64 B in flight at 100 ns are 41 GB/s, which no node of 10 gives.
def test_chains_of_many_threads_are_bound_by_bandwidth() -> None:
    nodes = [node("near", 10, 100), node("far", 1000, 250)]
    chains = [made("a", 1, 1e6, dependent=True, threads=64)]
    assert weights_of(optimum(chains, nodes, {"host": 64}).shares[0])["far"] > 0
    # A queue of 8 has no more in flight: 8 x 64 B / 100 ns = 5.1 GB/s.
    assert weights_of(optimum(chains, nodes, {"host": 8}).shares[0]) == {"near": 1}


# 100 M/s of 64 B are 6.4 GB/s, which the near node gives with four fifths of its 30: nothing gains by leaving it.
# 437.5 M/s are 28: at 24 of them the near node is at four fifths, and 4 leave. 60 are above all that both give: 3:1.
@pytest.mark.parametrize(("rate", "share"), [(0.1, 1), (0.37, 1), (0.4375, 24 / 28), (0.9375, 0.75)])
def test_what_arrives_bounds_the_time(rate: float, share: float) -> None:
    nodes = [node("near", 30, 100), node("far", 10, 250)]
    for phases in ((1e6,), (1e6, 3e5)):
        one = [PlacedObject("host", "a", GIB, phases)]
        found = optimum(one, nodes, {"host": 1e4}, {"host": rate})
        assert found.shares[0]["near"] == pytest.approx(share, abs=1e-3)
    assert rates_of({"workload": {"host": {"rate": f"{rate * 1e3}M/s"}}})["host"] == pytest.approx(rate)
    # Who has no rate besides makes requests as fast as they are answered: both nodes are full.
    other = PlacedObject("other", "b", GIB, (1e8,))
    wide = [NodeProfile(each.name, each.bytes, each.bandwidth, {"host": 1, "other": 1}) for each in nodes]
    both = optimum([*one, other], wide, {"host": 1e4, "other": 1e4}, {"host": rate})
    assert both.shares[1]["near"] == pytest.approx(0.75, abs=0.03)


def test_no_rate_is_a_closed_loop() -> None:
    work = {"a": {}, "b": {"rate": None}, "c": {"rate": "closed loop"}, "d": {"rate": "unlimited"}}
    assert rates_of({"workload": work}) == {}


# One of two objects waits for each access: the other one goes to the far node.
def test_the_object_that_waits_is_the_one_that_stays() -> None:
    nodes = [node("near", 30, 100), node("far", 10, 250)]
    objects = [made("list", 1, 1e5, dependent=True), made("array", 1, 1e7)]
    found = optimum(objects, nodes, {"host": 1000})
    assert weights_of(found.shares[0]) == {"near": 1}
    assert weights_of(found.shares[1])["far"] > 0


def test_what_does_not_fit_near_is_what_is_accessed_least() -> None:
    nodes = [node("near", 100, 100, 2 * GIB), node("far", 100, 250)]
    objects = [made("hot", 2, 9e5), made("cold", 2, 1e5)]
    found = optimum(objects, nodes, {"host": 1})
    assert [weights_of(each) for each in found.shares] == [{"near": 1}, {"far": 1}]
    with pytest.raises(cx.InputError, match="larger than the memory"):
        optimum([made("huge", 3000, 1)], nodes, {"host": 1})


# Wang et al., IPDPS 2025, Table III: footprints and what uses bandwidth, in GB. Half of what is chosen leaves the near
# node: 36, 30, 18, 33, 34 and 40 % of the footprint, on average 32.
OLI = {
    "BT": (166, {"u": 39.6, "rsh": 39.6, "forcing": 39.6}, 36),
    "LU": (134, {"u": 39.6, "rsd": 39.6}, 30),
    "CG": (134, {"a": 48.9}, 18),
    "MG": (210, {"v": 64.2, "r": 73.4}, 33),
    "SP": (174, {"u": 39.6, "rsh": 39.6, "forcing": 39.6}, 34),
    "FT": (80, {"u0": 32.0, "u1": 32.0}, 40),
}


@pytest.mark.parametrize("program", OLI)
def test_oli_saves_what_the_paper_gives(program: str) -> None:
    footprint, hungry, saved = OLI[program]
    used = sum(hungry.values())
    objects = [made(name, size, 90 * size / used) for name, size in hungry.items()]
    objects.append(made("others", footprint - used, 10))
    nodes = [node("L", 460.8, 139), node("C", 38.4, 292)]
    found = oli(objects, nodes)
    far = sum(each.bytes * share.get("C", 0) for each, share in zip(objects, found.shares, strict=True))
    assert 100 * far / (footprint * GIB) == pytest.approx(saved, abs=0.5)
    # An object below a tenth of the footprint stays, however often it is accessed.
    assert made("small", footprint / 12, 1e9) not in chosen_by_oli(
        [*objects, made("small", footprint / 12, 1e9)]
    )


def test_weights_are_the_smallest_in_the_proportion() -> None:
    assert weights_of({"a": 0.75, "b": 0.25}) == {"a": 3, "b": 1}
    assert weights_of({"a": 0.999, "b": 0.001}) == {"a": 1}
    assert weights_of({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}) == {"a": 1, "b": 1, "c": 1}


# 32 pages: rounds of 8 at most, so that 28 % are 2 of 7 or 2 of 8 and not the last 28 of a hundred.
@pytest.mark.parametrize("share", [0.28, 0.5, 0.031, 0.969])
def test_a_round_of_weights_fits_into_the_object(share: float) -> None:
    nodes = [node("near", 30, 100), node("far", 10, 250)]
    small = PlacedObject("host", "a", 32 * 4096, (1.0,))
    found = Proposal("optimum", [small], [{"near": 1 - share, "far": share}])
    weights = found.weights(0)
    assert sum(weights.values()) <= 8
    assert weights.get("far", 0) / sum(weights.values()) == pytest.approx(share, abs=1 / 16)
    assert found.place(0, nodes).get("weights", [1]) == list(weights.values())
    huge = Proposal("optimum", [replace(small, bytes=32 << 21, page=1 << 21)], found.shares)
    assert huge.weights(0) == weights


def test_what_is_smaller_than_four_rounds_has_one_page_of_each_node_in_a_round() -> None:
    four = dict.fromkeys("abcd", 0.25)
    assert weights_of(four) == weights_of(four, 0) == dict.fromkeys("abcd", 1)


def test_bandwidth_is_gained_by_the_best_weights_and_by_no_others() -> None:
    found = advised(near_and_far(objects=[{"name": "a", "size": "16MiB"}]))
    assert found.proposed.policy == "optimum"
    # 30 GB/s alone, 20 by 1:1, 40 by 3:1.
    by = {each.policy: each.throughput for each in found.outcomes}
    assert by["first-touch"] == pytest.approx(30, rel=0.03)
    assert by["uniform"] == pytest.approx(20, rel=0.03)
    assert by["oli"] == pytest.approx(20, rel=0.03)
    assert by["optimum"] == pytest.approx(40, rel=0.05)
    place = found.addresses["host"]["ranges"][0]
    near, far = place["place"]["weights"]
    assert near / (near + far) == pytest.approx(0.75, rel=0.02)
    assert "weighted_interleave/node0" in found.recipe
    assert "MPOL_WEIGHTED_INTERLEAVE" in found.recipe


def test_a_chase_keeps_first_touch() -> None:
    chase = [{"name": "list", "size": "16MiB", "pattern": "pointer-chase"}]
    found = advised(near_and_far(objects=chase))
    assert found.proposed.policy == "first-touch"
    assert found.sentence.startswith("Keep first touch")
    assert "--localalloc" in found.recipe


def test_the_sentence_says_what_was_run() -> None:
    first = Outcome("first-touch", None, 30, 100, 1, 30)
    best, uniform = Outcome("optimum", None, 40, 100, 0.75, 40), Outcome("uniform", None, 20, 100, 0.5, 20)

    def sentence(*outcomes: Outcome) -> str:
        return Advice("system", [], [], outcomes, proposed(outcomes)).sentence

    assert sentence(first) == "Keep first touch: no other placement could be run."
    assert sentence(first, uniform) == (
        "Keep first touch: no other placement gains 1 % over it (uniform interleave -33 %)."
    )
    with_all = "Place by bandwidth and latency: +33 % over first touch"
    assert sentence(first, best).startswith(f"{with_all}, with 75 %")
    assert sentence(first, uniform, best).startswith(
        f"{with_all} and +100 % over uniform interleave, with 75 %"
    )
    spread = Outcome("uniform", None, 40, 100, 0.5, 40)
    assert sentence(first, spread).startswith("Place uniform interleave: +33 % over first touch, with 50 %")


def test_a_run_without_an_answer_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = {"requests": 0, "simulated_time_ns": 60.0, "latency_ns": {"mean": None, "max": None}}
    silent = 0
    real = summaries_at

    def played(*given: Any, **how: Any) -> list[Played]:
        return [
            each if index < silent else Played(nothing, "finished", "")
            for index, each in enumerate(real(*given, **how))
        ]

    monkeypatch.setattr("cxloom.advising.advice.summaries_at", played)
    spec = near_and_far(objects=TWO)
    with pytest.raises(cx.SimulationError, match="no request was answered in its window"):
        advised(spec)
    silent = 1
    found = advised(spec)
    assert [each.policy for each in found.outcomes] == ["first-touch"]
    assert len(found.notes) == 3
    assert found.sentence == "Keep first touch: no other placement could be run."


def test_a_placement_that_cannot_run_is_named_by_what_is_wrong_with_it() -> None:
    """Those who advise, explain or measure know of no points."""
    system = cx.System.from_yaml(json.dumps(near_and_far(objects=TWO)))
    points = [{"devices.far.capacity": size} for size in ("64MiB", "1KiB")]
    [_, refused] = summaries_at(system, points, jobs=1)
    assert refused.error == "devices.far.capacity: out of bounds, found 1KiB; allowed: at least 4KiB"


def test_memory_that_answers_nobody_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    first = {"requester": "host", "address": "0x0", "answered_by": "near"}
    silent = {"requests": 0, "errors": {"requests": 200, "first": first}}
    monkeypatch.setattr(Bench, "run", lambda _bench, _spec, points, *_: [silent for _ in points])
    with pytest.raises(cx.SimulationError, match=r"no memory answers host .* which near answered"):
        advised(near_and_far(objects=TWO))


def test_advice_plays_again_as_it_says(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = tmp_path / "system.yaml"
    spec.write_text(json.dumps(near_and_far(objects=TWO)))
    placed, data = tmp_path / "placed.yaml", tmp_path / "advice.json"
    done = cxloom("advise", spec, "--json", "--out", placed, "--out", data)
    assert done.code == 0
    said = json.loads(done.out)
    assert said == json.loads(data.read_text())
    best = next(each for each in said["placements"] if each["policy"] == said["proposed"])
    assert cx.run(cx.load(placed)).bandwidth == pytest.approx(best["throughput_gb_per_s"], rel=1e-9)
    # 40 GB/s of both nodes over 30 of the near one.
    assert said["proposed"] == "optimum"
    assert best["gain"] == pytest.approx(1 / 3, abs=0.07)
    assert said["notes"] == []


# The second cannot be written, as a file is where its folder should be, or a folder where it should be: no run is made
# for it, and the first is not there either.
@pytest.mark.parametrize("second", ["file/b.yaml", "folder.yaml"])
def test_all_of_the_output_is_written_or_none(
    cxloom: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    spec, first = tmp_path / "system.yaml", tmp_path / "new" / "a.json"
    spec.write_text(json.dumps(near_and_far(objects=TWO)))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.yaml").mkdir()
    monkeypatch.setattr(Bench, "run", lambda *_: pytest.fail("a run was made"))
    done = cxloom("advise", spec, "--out", first, "--out", tmp_path / second)
    assert done.code == 2
    assert second in done.err
    assert "a directory" in done.err
    assert not first.exists()
    with pytest.raises(cx.InputError, match="cannot be written"):
        write_texts({first: "a", tmp_path / second: "b"})
    assert not first.exists()
    assert not first.parent.exists()


def test_objects_of_phases_have_one_place_and_accesses_in_each() -> None:
    idle = [{**TWO[0], "accesses": 0}, {**TWO[1], "accesses": 5}]
    phases = [
        {"pattern": "objects", "requests": 300, "objects": TWO},
        {"pattern": "objects", "requests": 100, "objects": idle},
    ]
    hot, cold = objects_of({"workload": {"host": {"phases": phases}}})
    assert hot.accesses == pytest.approx((270, 0))
    assert cold.accesses == pytest.approx((30, 100))


def test_threads_of_a_workload_are_those_of_its_objects() -> None:
    work = {"pattern": "objects", "requests": 10, "threads": 4, "objects": TWO}
    assert [each.threads for each in objects_of({"workload": {"host": work}})] == [4, 4]


def test_a_pattern_without_objects_is_one() -> None:
    [only] = objects_of({"workload": {"host": {"pattern": "random", "requests": 10, "footprint": "1MiB"}}})
    assert (only.name, only.bytes, only.total, only.rest) == ("host", 1 << 20, 10, True)


def test_an_object_may_be_called_as_its_requester_is() -> None:
    phases = [
        {"pattern": "objects", "requests": 300, "objects": [{"name": "host", "size": "16MiB"}]},
        {"pattern": "random", "requests": 100, "footprint": "24MiB"},
    ]
    found = objects_of({"workload": {"host": {"phases": phases}}})
    assert [(each.rest, each.bytes >> 20, each.total) for each in found] == [
        (False, 16, 300),
        (True, 24, 100),
    ]


WRONG = {
    "sum": ([{**TWO[0], "accesses": 0}], "sum to nothing", "objects"),
    "none": ([], "one object or more", "objects"),
    "large": ([{"name": "a", "size": "1GiB"}], "larger than the memory", "footprint"),
    "twice": ([TWO[0], TWO[0]], "one name", "objects"),
    "negative": ([{**TWO[0], "accesses": -1}], "at least 0", "objects[0].accesses"),
    "pattern": ([{**TWO[0], "pattern": "rondom"}], "random", "objects[0].pattern"),
    "said twice": (
        [{**TWO[0], "pattern": {"kind": "zipf", "footprint": "1MiB"}}],
        "object says it",
        "footprint",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_objects_are_refused_at_their_place(
    cxloom: Callable[..., Any], tmp_path: Path, case: str
) -> None:
    objects, problem, key = WRONG[case]
    spec, out = tmp_path / "system.yaml", tmp_path / "advice.json"
    spec.write_text(json.dumps(near_and_far(objects=objects)))
    done = cxloom("advise", spec, "--out", out)
    assert done.code == 2
    assert problem in done.err
    assert key in done.err
    assert "system.yaml:1" in done.err
    assert not out.exists()


# A placement of an object has whole pages: with half of the objects within one nothing can be proposed.
@pytest.mark.parametrize(("given", "at"), [({}, "objects"), ({"align": "64KiB"}, "align")])
def test_objects_that_share_a_page_are_refused(
    cxloom: Callable[..., Any], tmp_path: Path, given: dict[str, Any], at: str
) -> None:
    small = [{"name": "a", "size": "1MiB"}, {"name": "b", "size": "1MiB"}]
    huge = {"objects": small, "page": "2MiB", "addresses": "first-touch"}
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(near_and_far(**huge, **given)))
    done = cxloom("advise", file)
    assert done.code == 2
    assert "'b' at 0x100000" in done.err
    assert f"workload.host.{at}" in done.err
    assert "system.yaml:1" in done.err
    file.write_text(json.dumps(near_and_far(**huge, align="2MiB")))
    assert cxloom("advise", file, "--quiet").code == 0


def test_one_node_is_refused(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = near_and_far(objects=TWO)
    spec["address_map"] = [{"to": ["near"]}]
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(spec))
    done = cxloom("advise", file)
    assert done.code == 2
    assert "nothing to choose" in done.err
    assert "address_map" in done.err


def test_the_ranges_of_a_copy_engine_are_objects() -> None:
    """A descriptor reads one of them and writes the other, whole."""
    work = {"pattern": "copy", "requests": 200, "size": "4KiB", "footprint": "1MiB"}
    found = objects_of({"workload": {"host": work}})
    assert [(each.name, each.bytes, each.reads, each.width) for each in found] == [
        ("source", 1 << 20, 1.0, 4096),
        ("destination", 1 << 20, 0.0, 4096),
    ]
    assert [each.total for each in found] == [200, 200]


def test_figures_of_the_tables_have_no_exponent() -> None:
    """20 GiB are 20480 MiB, and a memory of 30 us takes more than ten thousand nanoseconds."""
    slow = {"kind": "memory", "capacity": "32GiB", "media": {"kind": "fixed", "latency": "30us"}}
    spec = {
        "devices": {"h": {"kind": "host", "queue": 4}, "a": slow, "b": slow},
        "links": [{"between": ["h", "a"]}, {"between": ["h", "b"], "delay": "10ns"}],
        "address_map": [{"to": "a"}, {"to": "b"}],
        "workload": {"h": {"pattern": "random", "requests": 200, "footprint": "20GiB"}},
    }
    said = str(cx.advise(cx.System.from_yaml(json.dumps(spec))))
    assert "20480" in said
    assert not re.search(r"\de[+-]\d", said)
