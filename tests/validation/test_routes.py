"""Ways that are given, and ways up and down: docs/model/routing.md."""

from __future__ import annotations

import random
from typing import Any

import pytest
from validation.systems import Spec, changed, generated, run
from validation.test_idle_latency import MEMORY, expect_sum_of_parts, visits

from cxloom import _core
from cxloom.base.errors import InputError

READ = {"pattern": "random", "requests": 400, "footprint": "64KiB", "size": "64B"}


def ring(switches: int, **params: Any) -> Spec:
    """One requester and one memory on each switch."""
    return generated("ring", READ, switches=switches, placement="paired", **params)


@pytest.mark.parametrize("seed", range(4))
def test_up_and_down_an_idle_request_pays_for_its_way(seed: int) -> None:
    draw = random.Random(seed)
    spec = generated("mesh", size=[3, 4], placement="paired", memory=MEMORY)
    inner = [link for link in spec["links"] if all(end.startswith("sw") for end in link["between"])]
    for link in draw.sample(inner, 4):  # irregular, and still one piece
        rest = {**spec, "links": [other for other in spec["links"] if other is not link]}
        try:
            _core.check(rest, {})
        except InputError:
            continue
        spec = rest
    for link in spec["links"]:
        link["delay"] = f"{draw.randint(0, 99)}ns"
    spec["workload"] = {host: visits(len(spec["address_map"][0]["to"])) for host in spec["workload"]}
    expect_sum_of_parts(spec, route_by="up-down")


def test_up_and_down_a_ring_has_no_circle_and_pays_with_its_bandwidth() -> None:
    spec = ring(8, switch={"kind": "switch", "queueing": "voq"}, link={"bandwidth": "8GB/s", "credits": 2})
    up_down = changed(spec, ("run.route_by", "up-down"))
    assert _core.check(spec, {})["deadlock"]["possible"]
    assert not _core.check(up_down, {})["deadlock"]["possible"]
    wide = changed(spec, ("links", [{**link, "credits": 64} for link in spec["links"]]))
    assert run(up_down).summary["completed"]
    assert run(changed(wide, ("run.route_by", "up-down"))).bandwidth < run(wide).bandwidth


def detour() -> Spec:
    """A host, a memory at the neighbour of its switch, and a way round by a third."""
    return {
        "devices": {
            "host": {"kind": "host", "queue": 1},
            **{name: {"kind": "switch"} for name in ("a", "b", "c")},
            "mem": {"kind": "memory"},
            "far": {"kind": "memory"},
        },
        "links": [
            {"between": ["host", "a"]},
            {"between": ["a", "b"]},
            {"between": ["a", "c"], "delay": "100ns"},
            {"between": ["c", "b"], "delay": "100ns"},
            {"between": ["b", "mem"]},
            {"between": ["b", "far"]},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": READ},
    }


def test_a_given_route_is_taken_in_its_direction_to_its_destination_alone() -> None:
    """Two links of 100 ns and a switch more, and only on the way there."""
    spec = detour()
    given = {**spec, "run": {"routes": [{"at": "a", "to": ["mem"], "by": ["c"]}]}}
    near, round_about = run(spec), run(given)
    assert round_about.latency - near.latency == pytest.approx(200.0 + one_switch(spec), abs=1e-9)
    assert round_about.summary["per_link"]["a-c"]["a->c"]["messages"] == 400
    assert round_about.summary["per_link"]["a-c"]["c->a"]["messages"] == 0
    other = changed(given, ("address_map.0.to", ["far"]))
    assert run(other).latency == near.latency


def one_switch(spec: Spec) -> float:
    """What a switch more and the link to it cost a message that meets nobody, in ns."""
    chain = changed(spec, ("links.1.between", ["a", "c"]), ("links.2", {"between": ["c", "b"]}))
    del chain["links"][3]
    both = run(chain).latency - run(spec).latency  # there and back
    return float(both / 2)


def test_several_given_neighbours_share_by_the_strategy() -> None:
    spec = changed(detour(), ("devices.host.queue", 8), ("run.routing", "random"))
    spec["run"]["routes"] = [{"at": "a", "to": ["mem"], "by": ["c", "b"]}]
    links = run(spec).summary["per_link"]
    direct, other = (links[f"a-{name}"][f"a->{name}"]["messages"] for name in "bc")
    assert direct + other == 400
    assert 140 < direct < 260


def entry(at: str = "a", to: str = "mem", by: str = "c") -> Spec:
    return {"at": at, "to": [to], "by": [by]}


@pytest.mark.parametrize(
    ("routes", "path", "problem"),
    [
        ([entry(at="nowhere")], "run.routes[0].at", "unknown device"),
        ([entry(at="host")], "run.routes[0].at", "one link"),
        ([entry(to="nowhere")], "run.routes[0].to[0]", "unknown device"),
        ([entry(at="b", to="mem")], "run.routes[0].to[0]", "leaves no choice"),
        ([entry(by="nowhere")], "run.routes[0].by[0]", "unknown device"),
        ([entry(by="host")], "run.routes[0].by[0]", "no neighbour that passes the message on"),
        ([entry(), entry(by="b")], "run.routes[1].to[0]", "second entry"),
        ([entry(), entry(at="c", by="a")], "run.routes", "lead in a circle, found a -> c -> a"),
        ([{"at": "a", "to": [], "by": ["c"]}], "run.routes[0].to", "one device or more"),
        ([{"at": "a", "to": ["mem"], "by": []}], "run.routes[0].by", "one neighbour or more"),
    ],
)
def test_wrong_tables_are_refused(routes: list[Spec], path: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        run({**detour(), "run": {"routes": routes}})
    assert path in str(caught.value)
    assert problem in str(caught.value)


def test_a_table_that_may_deadlock_is_refused_with_the_circle() -> None:
    """Clockwise round a ring of four: each link waits for the next."""
    spec = ring(4, switch={"kind": "switch", "queueing": "voq"}, link={"bandwidth": "8GB/s", "credits": 2})
    switches = [name for name, device in spec["devices"].items() if device["kind"] == "switch"]
    ends = {
        name: link["between"] for link in spec["links"] for name in link["between"] if name not in switches
    }
    home = {name: next(end for end in between if end in switches) for name, between in ends.items()}
    spec["run"]["routes"] = [
        {"at": at, "to": [to], "by": [switches[(i + 1) % 4]]}
        for i, at in enumerate(switches)
        for to, where in home.items()
        if where != at
    ]
    with pytest.raises(InputError, match="block each other for ever"):
        run(spec)
    for link in spec["links"]:
        link["virtual_channels"] = 2
    assert run(spec).summary["completed"]


def test_a_table_that_may_deadlock_after_a_failure_is_refused_with_the_event() -> None:
    """A table is kept: by found ways around a failed link, its circle may close."""
    spec = ring(5, switch={"kind": "switch", "queueing": "voq"}, link={"bandwidth": "8GB/s", "credits": 2})
    switches = [name for name, device in spec["devices"].items() if device["kind"] == "switch"]
    inner = [link["between"] for link in spec["links"] if set(link["between"]) <= set(switches)]
    # Ways up and down close no circle by themselves. Found anew after a repair, they do with those before.
    spec["run"] |= {"route_by": "up-down", "routes": [table_entry(spec, switches)]}
    assert run(spec).summary["completed"]
    spec["events"] = [
        {"at": "1us", "fail": {"link": inner[2]}},
        {"at": "50us", "repair": {"link": inner[2]}},
    ]
    assert _core.check(changed(spec, ("run.routes", ...)), {})["deadlock"]["possible"]
    with pytest.raises(InputError, match=r"block each other for ever, from .* on .*link"):
        run(spec)


def table_entry(spec: Spec, switches: list[str]) -> Spec:
    """An entry that says of one way what would be found."""
    links = [set(link["between"]) for link in spec["links"]]
    first, second, third = next(
        (a, b, c)
        for a in switches
        for b in switches
        for c in switches
        if len({a, b, c}) == 3 and {a, b} in links and {b, c} in links
    )
    memory = next(
        end
        for link in spec["links"]
        for end in link["between"]
        if third in link["between"] and spec["devices"][end]["kind"] == "memory"
    )
    return {"at": first, "to": [memory], "by": [second]}
