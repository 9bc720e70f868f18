"""A routing table of one's own in random systems whose links fail: docs/model/failures.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.graph import Graph
from validation.systems import SEGMENTS, Spec, run

from cxloom.base.errors import InputError

Table = dict[tuple[str, str], list[str]]
"""By switch and destination, the neighbours that lead there."""


def leads_on(spec: Spec, source: str, target: str) -> bool:
    """Whether some way leads from one device to another, in a system in which everything that is to fail has.

    From a switch of the table its neighbours lead on, from any other those on shortest ways without the failed links. A
    message comes to its target if it can come there by such steps.
    """
    failed = [set(event["fail"]["link"]) for event in spec["events"]]
    links = [link for link in spec["links"] if set(link["between"]) not in failed]
    graph = Graph.of({**spec, "links": links})
    far = graph.hops_to(target)
    table: Table = {
        (entry["at"], to): entry["by"] for entry in spec["run"].get("routes", []) for to in entry["to"]
    }

    def steps(node: str) -> list[str]:
        if node not in far:
            return []
        near = [other for other in graph.neighbours[node] if far.get(other, far[node]) == far[node] - 1]
        given = table.get((node, target), near)
        return [other for other in graph.neighbours[node] if other in given and other in far]

    seen, frontier = {source}, [source]
    while frontier:
        node = frontier.pop()
        if node == target:
            return True
        for other in steps(node):
            if other not in seen and (other == target or graph.forwards(other)):
                seen.add(other)
                frontier.append(other)
    return False


@st.composite
def tabled_systems(draw: st.DrawFn) -> Spec:
    """A host and a memory in an irregular net of switches, with a table of some of its ways, and links that fail."""
    count = draw(st.integers(3, 7))
    names = [f"sw{i}" for i in range(count)]
    pairs = {(draw(st.integers(0, i - 1)), i) for i in range(1, count)}
    pairs |= {(a, b) for a in range(count) for b in range(a + 1, count) if draw(st.integers(0, 2)) == 0}
    between = [[names[a], names[b]] for a, b in sorted(pairs)]
    ends = {"host": names[draw(st.integers(0, count - 1))], "mem": names[draw(st.integers(0, count - 1))]}
    neighbours: dict[str, list[str]] = {name: [] for name in names}
    for a, b in between:
        neighbours[a].append(b)
        neighbours[b].append(a)
    routes = [
        {"at": at, "to": [to], "by": draw(st.lists(st.sampled_from(near), min_size=1, unique=True))}
        for at, near in neighbours.items()
        for to in ends
        if at != ends[to] and draw(st.integers(0, 2)) == 0
    ]
    failing = draw(st.lists(st.sampled_from(between), min_size=1, max_size=3, unique_by=tuple))
    queueing = draw(st.sampled_from(["output", "voq", "fifo"]))
    wire: Spec = {"bandwidth": "16GB/s"} | ({"credits": 2} if draw(st.booleans()) else {})
    spec: Spec = {
        "devices": {
            "host": {"kind": "host", "queue": draw(st.integers(1, 9)), "completion_timeout": "3us"},
            **{name: {"kind": "switch", "queueing": queueing} for name in names},
            "mem": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [
            {"between": pair, **wire} for pair in (*between, *([name, at] for name, at in ends.items()))
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "requests": 60, "footprint": "1MiB", "size": "64B"}},
        "run": {"routing": draw(st.sampled_from(["deterministic", "flow-hash", "random"]))},
        "outputs": {"requests": True},
        "events": [{"at": "1ns", "fail": {"link": link, "reroute_time": "0ns"}} for link in failing],
    }
    if routes:
        spec["run"]["routes"] = routes
    return spec


def played(spec: Spec) -> Any:
    """The run; no example where the table by itself leads in a circle, or may deadlock."""
    try:
        return run(spec)
    except InputError as error:
        assume("circle" not in str(error))
        assume("block each other" not in str(error))
        raise


@settings(max_examples=examples(150), deadline=None)
@given(spec=tabled_systems())
def test_a_request_fails_where_neither_the_table_nor_a_shortest_way_leads_on(spec: Spec) -> None:
    outcome = played(spec)
    both = leads_on(spec, "host", "mem") and leads_on(spec, "mem", "host")
    assert outcome.summary["requests"] == (60 if both else 0)
    assert outcome.summary["errors"]["requests"] == (0 if both else 60)
    event(f"failed: {not both}")


@settings(max_examples=examples(60), deadline=None)
@given(spec=tabled_systems(), times=st.lists(st.integers(1, 1500), min_size=3, max_size=3), data=st.data())
def test_every_request_is_answered_once_and_a_table_comes_back_with_its_links(
    spec: Spec, times: list[int], data: st.DataObject
) -> None:
    """Links fail and are repaired during the traffic. What comes later takes as long as if nothing had failed."""
    events: list[Spec] = []
    for at, failure in zip(sorted(times), spec["events"], strict=False):
        reroute = f"{data.draw(st.sampled_from([0, 1, 50, 400]))}ns"
        part = failure["fail"]["link"]
        events.append({"at": f"{at}ns", "fail": {"link": part, "reroute_time": reroute}})
        events.append({"at": f"{at + 2000}ns", "repair": {"link": part}})
    events.sort(key=lambda each: int(each["at"][:-2]))
    spec = {**spec, "events": events}
    spec["devices"]["host"]["queue"] = 1
    spec["workload"]["host"]["requests"] = 400
    spec["run"]["routing"] = "deterministic"
    outcome = played(spec)
    rows = outcome.requests
    assert len(set(rows["id"])) == len(rows["id"]) == 400
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)
    sound = {key: value for key, value in spec.items() if key != "events"}
    del sound["devices"]["host"]["completion_timeout"]
    before = run(sound).requests
    late = rows["created_ps"] > 10_000_000
    assert late.any()
    kinds = np.unique(rows["kind"][late])
    for kind in kinds:
        usual = (before["completed_ps"] - before["created_ps"])[before["kind"] == kind]
        assert set(latency[late & (rows["kind"] == kind)]) <= set(usual)
