"""Pages go only to memory that there is for their host: by ways, virtual switches, logical devices and extents.

A node without memory for a host is none to it, as to Linux: `bind` has the others of its set, `preferred` spills over,
`interleave` gives the others its turns, `first-touch` goes on to the next. Each host here has a memory `a`, which is
always there, and a nearer one, `b`, which is not: pages that may go to either go to `b` while it is there.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

Spec = dict[str, Any]
PAGES = 16
CHANGE = "8500ns"
BEFORE = 10  # one page a microsecond, the first at 0; the access at 9 us is taken from its stream at 8 us, and placed
FAILING = ("failure", "local memory")

SYSTEMS = ("virtual switch", "logical device", "extent", "failure", "local memory", "fabric")
B_OF = {"logical device": "b ld 0"}
POLICIES: dict[str, Spec] = {
    "first touch": {"kind": "first-touch"},
    "bind": {"kind": "bind", "nodes": ["a", "b"]},
    "preferred": {"kind": "preferred", "nodes": ["b"]},
    "local": {"kind": "preferred"},
    "interleave": {"kind": "interleave", "nodes": ["a", "b"]},
    "weighted": {"kind": "interleave", "nodes": ["b", "a"], "weights": [3, 1]},
    "by address": {"kind": "interleave", "nodes": ["a", "b"], "by": "address"},
    "ranges": {"kind": "ranges", "ranges": [{"base": 0, "size": "32KiB", "place": {"kind": "preferred"}}]},
}


def system(kind: str, policy: Spec, *, at_first: bool, changes: bool = False, **work: Any) -> cx.System:
    """A host whose memory `b` is there at first, or not, and may change that at 8.5 us."""
    memory: Spec = {"kind": "memory", "capacity": "1MiB", "media": {"kind": "fixed", "latency": "50ns"}}
    b: Spec = {**memory}
    devices: Spec = {"h": {"kind": "host", "queue": 4}, "a": {**memory}, "b": b, "sw": {"kind": "switch"}}
    links: list[Spec] = [{"between": [name, "sw"]} for name in ("h", "b")]
    links.append({"between": ["a", "sw"], "delay": "30ns"})
    region: Spec = {"to": "b"}
    come: Spec
    go: Spec
    if kind in ("virtual switch", "logical device"):
        bound: Any = {"to": "b", "ld": 0} if kind == "logical device" else "b"
        if kind == "logical device":
            b["logical_devices"] = [{"capacity": "512KiB"}, {"capacity": "512KiB"}]
            region["ld"] = 0
        devices["o"] = {"kind": "host"}
        links.append({"between": ["o", "sw"]})
        devices["sw"]["vcs"] = [
            {"upstream": "h", "bind": ["a", bound] if at_first else ["a"]},
            {"upstream": "o"},
        ]
        place = {"switch": "sw", "vcs": 0, "vppb": 1}
        come = {"bind": {**place, "to": "b", **({"ld": 0} if kind == "logical device" else {})}}
        go = {"unbind": place}
    elif kind in ("extent", "fabric"):
        if kind == "fabric":  # two switches between, with PBR's flits
            devices["far"] = {"kind": "switch"}
            links[1] = {"between": ["b", "far"]}
            links[2] = {"between": ["a", "far"], "delay": "30ns"}
            links.append({"between": ["sw", "far"], "phy": "pcie6-x16", "flit": "256B-pbr"})
        extent = {"base": "64KiB", "size": "256KiB", "host": "h"}
        b["dynamic_capacity"] = {"extents": [extent] if at_first else []}
        come = {"add_extent": {"device": "b", **extent}}
        go = {"release_extent": {"device": "b", **extent}}
    else:
        if kind == "local memory":  # `a` is the host's own, and yet farther than `b` by its controller alone
            del devices["a"]
            devices["h"]["memory"] = {"capacity": "1MiB"}
            links.pop()
        part = {"link": ["b", "sw"]}
        come, go = {"repair": part}, {"fail": {**part, "reroute_time": "1ns"}}
    events: list[Spec] = []
    if changes:
        events.append({"at": CHANGE, **(go if at_first else come)})
    own = kind == "local memory"
    text = json.dumps(
        {
            "devices": devices,
            "links": links,
            "address_map": [region, {"to": "h" if own else "a"}],
            "workload": {
                "h": {
                    "pattern": "strided",
                    "stride": "4KiB",
                    "requests": PAGES,
                    "footprint": f"{4 * PAGES}KiB",
                    "rate": "1M/s",
                    "addresses": json.loads(
                        json.dumps(policy).replace('"a"', '"h"') if own else json.dumps(policy)
                    ),
                    **work,
                }
            },
            **({"events": events} if events else {}),
        }
    )
    return cx.System.from_yaml(text)


def pages_on_b(kind: str, found: cx.System, failed: int = 0) -> int:
    """The pages on `b` after a run in which so many requests failed."""
    summary = cx.run(found).summary
    assert summary["completed"]
    assert summary["errors"]["requests"] == failed
    pages = dict(summary["per_requester"]["h"]["pages"])
    assert sum(pages.values()) == PAGES
    return int(pages[B_OF.get(kind, "b")])


def share_of_b(policy: str, first: int, count: int) -> int:
    """How many pages from `first` on are on `b`, where it is there and has as much room as anybody wants."""
    places = range(first, first + count)
    if policy == "interleave" or policy == "by address":
        return sum(place % 2 == 1 for place in places)
    if policy == "weighted":
        return sum(place % 4 < 3 for place in places)
    return count


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", SYSTEMS)
def test_pages_are_where_there_is_memory(kind: str, policy: str) -> None:
    local = kind == "local memory" and policy in ("bind", "local", "ranges")  # its own memory is nearer
    there = system(kind, POLICIES[policy], at_first=True)
    assert pages_on_b(kind, there) == (0 if local else share_of_b(policy, 0, PAGES))
    if kind not in FAILING:  # events begin later than what is touched before the run
        assert pages_on_b(kind, system(kind, POLICIES[policy], at_first=False)) == 0


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", SYSTEMS)
def test_memory_comes_and_goes_during_a_run(kind: str, policy: str) -> None:
    """Ten pages are placed before the change, and six behind it. Turns go on, by touch or by address.

    The page that was placed last before `b` went is accessed after that, which fails if it is there.
    """
    if kind == "local memory" and policy in ("bind", "local", "ranges"):
        pytest.skip("all of its pages are in its own memory")
    goes = system(kind, POLICIES[policy], at_first=True, changes=True, touched="during")
    last = share_of_b(policy, BEFORE - 1, 1)
    assert pages_on_b(kind, goes, failed=last) == share_of_b(policy, 0, BEFORE)
    if kind in FAILING:
        return
    comes = system(kind, POLICIES[policy], at_first=False, changes=True, touched="during")
    assert pages_on_b(kind, comes) == share_of_b(policy, BEFORE, PAGES - BEFORE)


@pytest.mark.parametrize("kind", ["virtual switch", "logical device", "extent", "fabric"])
def test_pages_that_may_go_nowhere_are_refused_with_the_reason(kind: str) -> None:
    name = B_OF.get(kind, "b")
    bound = system(kind, {"kind": "bind", "nodes": ["b"]}, at_first=False)
    with pytest.raises(cx.InputError, match="the footprint is larger than the memory") as raised:
        cx.run(bound)
    assert raised.value.path == "workload.h.footprint"
    assert f"'h' has no way to, or no extent of its own of, {name}" in raised.value.allowed
    later = system(kind, {"kind": "bind", "nodes": ["b"]}, at_first=False, changes=True, touched="during")
    with pytest.raises(cx.InputError, match="out of memory"):
        cx.run(later)


def test_an_extent_is_as_large_as_it_is() -> None:
    """Five frames are whole in an extent of 24 KiB that begins in the middle of a page; the rest spills over."""
    spec = system("extent", {"kind": "preferred", "nodes": ["b"]}, at_first=False)
    spec = spec.set("devices.b.dynamic_capacity.extents", [{"base": "2KiB", "size": "24KiB", "host": "h"}])
    assert pages_on_b("extent", spec) == 5


def test_extents_that_change_hands_have_each_frame_once() -> None:
    """Two programs on one memory, in extents of their own; a part of one is released and given to the other."""
    extents = [
        {"base": "0KiB", "size": "32KiB", "host": "h"},
        {"base": "32KiB", "size": "16KiB", "host": "o"},
    ]
    moved = {"device": "b", "base": "48KiB", "size": "16KiB"}
    work: Spec = {
        "pattern": "strided",
        "stride": "4KiB",
        "requests": 8,
        "footprint": "32KiB",
        "rate": "1M/s",
        "touched": "during",
        "addresses": {"kind": "bind", "nodes": ["b"]},
    }
    spec = {
        "devices": {
            "h": {"kind": "host"},
            "o": {"kind": "host"},
            "sw": {"kind": "switch"},
            "b": {"kind": "memory", "capacity": "1MiB", "dynamic_capacity": {"extents": extents}},
        },
        "links": [{"between": [name, "sw"]} for name in ("h", "o", "b")],
        "address_map": [{"to": "b"}],
        "workload": {"h": work, "o": work},
        "events": [{"at": "2us", "add_extent": {**moved, "host": "o"}}],
    }
    result = cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)
    assert result.summary["errors"]["requests"] == 0
    rows = result.requests()
    frames = {name: {at // 4096 for at in part["address"]} for (name,), part in rows.group_by("requester")}
    assert frames["h"] == set(range(8))
    assert len(frames["o"]) >= 7  # rows end with the first program
    assert frames["o"] <= set(range(8, 16))


def missing(kind: str, policy: Spec, **work: Any) -> list[str]:
    """The notes on memory that is not there, before the run as after it."""
    spec = system(kind, policy, at_first=False, **work)
    before, after = spec.check()["notes"], cx.run(spec).summary["notes"]
    found = [note for note in after if "has no way to" in note]
    assert found == [note for note in before if "has no way to" in note]
    return found


RANGE = {"base": 0, "size": "32KiB", "place": {"kind": "preferred", "nodes": ["b"]}}


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "interleave", "nodes": ["a", "b"]},
        {"kind": "bind", "nodes": ["a", "b"]},
        {"kind": "preferred", "nodes": ["b"]},
        {"kind": "ranges", "ranges": [RANGE], "otherwise": {"kind": "bind", "nodes": ["a"]}},
    ],
    ids=["interleave", "bind", "preferred", "ranges"],
)
@pytest.mark.parametrize("kind", ["virtual switch", "logical device", "extent"])
def test_memory_that_is_named_and_not_there_is_told(kind: str, policy: Spec) -> None:
    """All pages were on the other memory, and nothing said so."""
    node = B_OF.get(kind, "b")
    nothing = "when the run begins, and workload.h.addresses puts no pages there then"
    assert missing(kind, policy) == [f"'h' has no way to, or no extent of its own of, {node} {nothing}"]


def test_nothing_is_told_of_memory_that_nobody_names() -> None:
    """What all nodes are, and how far each has room, a placement without names leaves to the system."""
    for policy in ({"kind": "interleave"}, {"kind": "first-touch"}, {"kind": "bind", "nodes": ["a"]}):
        assert missing("virtual switch", policy) == []
    weighted = {"kind": "interleave", "nodes": ["a", "b"], "weights": [1, 0]}
    assert missing("virtual switch", weighted) == []  # `b` has what `a` has no room for
    there = cx.run(system("virtual switch", POLICIES["interleave"], at_first=True))
    assert not [note for note in there.summary["notes"] if "has no way to" in note]


def test_a_name_of_several_logical_devices_is_met_by_one_of_them() -> None:
    whole = system("logical device", {"kind": "interleave", "nodes": ["a", "b"]}, at_first=True)
    both = whole.set("address_map", [{"to": "b", "ld": 0}, {"to": "b", "ld": 1}, {"to": "a"}])
    found = cx.run(both).summary
    assert found["per_requester"]["h"]["pages"] == {"a": 8, "b ld 0": 8, "b ld 1": 0}
    assert not [note for note in found["notes"] if "has no way to" in note]
