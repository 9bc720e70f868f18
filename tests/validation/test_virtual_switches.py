"""Virtual CXL switches and memory of dynamic capacity while devices and extents come and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.coherent_systems import coherent_systems
from validation.examples import examples
from validation.systems import SEGMENTS, Run, Spec, generated, logged, run

KIB = 1024
EXTENTS = 8


def check(outcome: Run) -> None:
    """Every request is answered once, and every picosecond is accounted for."""
    rows = outcome.requests
    assert outcome.summary["completed"]
    assert outcome.completed == outcome.expected
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)


PART = 16 * KIB  # of each memory, and of each logical device


@st.composite
def cut_switches(draw: st.DrawFn) -> Spec:
    """Hosts that read and write all memory through a switch, each with a VCS; it moves at random.

    Some memory is cut into logical devices, which move apart. Each part has a region of its own.
    """
    hosts = [f"host{i}" for i in range(draw(st.integers(1, 3)))]
    whole = [f"mem{i}" for i in range(draw(st.integers(0, 3)))]
    cut = {f"mld{i}": draw(st.integers(1, 4)) for i in range(draw(st.integers(0 if whole else 1, 2)))}
    parts: list[Spec] = [{"to": name} for name in whole]
    parts += [{"to": name, "ld": ld} for name, count in cut.items() for ld in range(count)]
    places: list[list[int | None]] = [[None] * len(parts) for _ in hosts]
    where: dict[int, tuple[int, int]] = {}
    vcs = []
    for i, host in enumerate(hosts):
        bound = [part for part in range(len(parts)) if part not in where and draw(st.booleans())]
        for place, part in enumerate(bound):
            places[i][place], where[part] = part, (i, place)
        vcs.append({"upstream": host, "vppbs": len(parts), "bind": [parts[part] for part in bound]})
    at, events = 0, []
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.integers(1, 900))
        part = draw(st.integers(0, len(parts) - 1))
        if part in where:
            i, place = where.pop(part)
            places[i][place] = None
            surprise = draw(st.booleans())
            action = {"unbind": {"switch": "sw", "vcs": i, "vppb": place, "surprise": surprise}}
        else:
            i = draw(st.integers(0, len(hosts) - 1))
            place = places[i].index(None)
            places[i][place], where[part] = part, (i, place)
            action = {"bind": {"switch": "sw", "vcs": i, "vppb": place, **parts[part]}}
        events.append({"at": f"{at}ns", **action})
    queueing = draw(st.sampled_from(["output", "voq", "fifo"]))
    link: Spec = {"bandwidth": "16GB/s"} | ({"credits": 2} if draw(st.booleans()) else {})
    footprint = f"{len(parts) * PART}B"
    work = {"pattern": "random", "requests": 400, "footprint": footprint, "size": "64B", "reads": 0.5}
    ld = {"capacity": f"{PART}B"} | ({"queue": 1} if draw(st.booleans()) else {})
    served = draw(st.sampled_from([{}, {"queue": 2}]))
    return {
        "devices": {
            **{name: {"kind": "host", "queue": draw(st.sampled_from([1, 8, 40]))} for name in hosts},
            **{name: {"kind": "memory", "capacity": f"{PART}B"} for name in whole},
            **{
                name: {"kind": "memory", "logical_devices": [ld] * count, **served}
                for name, count in cut.items()
            },
            "sw": {"kind": "switch", "queueing": queueing, "vcs": vcs},
        },
        "links": [{"between": [name, "sw"], **link} for name in [*hosts, *whole, *cut]],
        "address_map": [{**part, "to": [part["to"]]} for part in parts],
        "workload": dict.fromkeys(hosts, work),
        "events": events,
        "outputs": {"requests": True},
    }


@settings(max_examples=examples(60), deadline=None)
@given(spec=cut_switches())
def test_requests_through_virtual_switches_are_answered_once(spec: Spec) -> None:
    outcome = run(spec)
    check(outcome)
    errors = outcome.summary["per_switch"]["sw"]
    # All that failed, the switch has answered or made an error; of the window's edges a queue may differ.
    edge = sum(device.get("queue", 0) for device in spec["devices"].values())
    assert (
        abs(outcome.summary["errors"]["requests"] - errors["isolation_errors"] - errors["removal_errors"])
        <= edge
    )
    answered = outcome.requests["target"] == outcome.nodes.index("sw")
    assert int(answered.sum()) == outcome.summary["errors"]["requests"]


@settings(max_examples=examples(40), deadline=None)
@given(spec=cut_switches())
def test_a_host_sees_nothing_of_what_is_never_its_own(spec: Spec) -> None:
    """Where nothing moves, a host gets data of what its VCS has, and errors of all else."""
    outcome = run({**spec, "events": []})
    check(outcome)
    parts = [{**region, "to": region["to"][0]} for region in spec["address_map"]]
    own = np.zeros(len(outcome.requests["id"]), dtype=bool)
    for vcs in spec["devices"]["sw"]["vcs"]:
        its = outcome.requests["requester"] == outcome.nodes.index(vcs["upstream"])
        part = outcome.requests["address"].astype(np.int64) // PART
        own |= its & np.isin(part, [parts.index(bound) for bound in vcs["bind"]])
    failed = outcome.requests["target"] == outcome.nodes.index("sw")
    assert np.array_equal(failed, ~own)


@st.composite
def coherent_pools(draw: st.DrawFn) -> tuple[Spec, dict[str, str | None]]:
    """A switch with a VCS for each requester, and the one that each memory and home is bound to; some are to none."""
    spec = draw(coherent_systems().filter(lambda drawn: drawn["devices"]["hub"]["kind"] == "switch"))
    devices = spec["devices"]
    hosts = [name for name in devices if name in spec["workload"]]
    owner: dict[str, str | None] = {name: name for name in hosts}
    for name in devices:
        if name not in hosts and name != "hub":
            owner[name] = draw(st.sampled_from([*hosts, hosts[0], None]))
    (region,) = spec["address_map"]
    if home := region.get("home"):  # which reaches its memory
        owner[home] = owner[home] or hosts[0]
        owner |= dict.fromkeys(region["to"], owner[home])
    devices["hub"]["vcs"] = [
        {"upstream": host, "bind": [name for name in owner if name not in hosts and owner[name] == host]}
        for host in hosts
    ]
    return spec, owner


@settings(max_examples=examples(40), deadline=None)
@given(pool=coherent_pools())
def test_coherent_memory_is_that_of_the_hosts_of_its_virtual_switch(
    pool: tuple[Spec, dict[str, str | None]],
) -> None:
    spec, owner = pool
    outcome = run(spec)
    check(outcome)
    (region,) = spec["address_map"]
    rows, memories = outcome.requests, region["to"]
    part = rows["address"].astype(np.int64) // 256 % len(memories)
    own = np.zeros(len(part), dtype=bool)
    for i, memory in enumerate(memories):
        home = region.get("home", memory)
        for host in spec["workload"]:
            if owner[memory] == owner[home] == host:
                own |= (rows["requester"] == outcome.nodes.index(host)) & (part == i)
    assert np.array_equal(rows["error"].astype(bool), ~own)
    coherence = outcome.summary["coherence"]  # one cache has lines of a home: nobody else is asked for them
    assert (coherence["snoops_sent"] > 0) == (coherence["filter_evictions"] > 0)


@settings(max_examples=examples(60), deadline=None)
@given(spec=cut_switches(), data=st.data())
def test_coherent_memories_move_beside_logical_devices(spec: Spec, data: st.DataObject) -> None:
    """After the last unbinding of a memory no host has a line of it: all that is asked of it is an error."""
    for name, device in spec["devices"].items():
        if name.startswith("mem"):
            device["dcoh"] = {"filter": {"entries": data.draw(st.sampled_from([8, 512]))}}
        elif name.startswith("host"):
            device["cache"] = {"size": data.draw(st.sampled_from(["256B", "32KiB"])), "ways": 0}
    for region in spec["address_map"]:
        if region["to"][0].startswith("mem"):
            region["coherence"] = "hdm-db"
    for work in spec["workload"].values():
        work["requests"] = 1500
    outcome = run(spec)
    check(outcome)
    errors = outcome.requests["error"].astype(bool)
    assert outcome.summary["errors"]["requests"] == int(errors.sum())
    part = outcome.requests["address"].astype(np.int64) // PART
    for i, region in enumerate(spec["address_map"]):
        if "coherence" not in region or any(bound(spec, region["to"][0])):
            continue
        late = outcome.requests["created_ps"] > 60_000_000  # the last event is at 7.2 us
        assert errors[late & (part == i)].all()


def bound(spec: Spec, memory: str) -> list[bool]:
    """Whether each VCS has the memory at the end."""
    places = [{i: part["to"] for i, part in enumerate(vcs["bind"])} for vcs in spec["devices"]["sw"]["vcs"]]
    for event in spec["events"]:
        if bind := event.get("bind"):
            places[bind["vcs"]][bind["vppb"]] = bind["to"]
        else:
            places[event["unbind"]["vcs"]].pop(event["unbind"]["vppb"])
    return [memory in each.values() for each in places]


@st.composite
def failing(draw: st.DrawFn, parts: list[Spec]) -> list[Spec]:
    """Some of these fail within 6 us, and all are repaired by 9 us."""
    events: list[tuple[int, Spec]] = []
    for part in draw(st.permutations(parts))[: draw(st.integers(1, 3))]:
        at = draw(st.integers(1, 6000))
        reroute = f"{draw(st.sampled_from([0, 1, 50, 400, 3000]))}ns"
        events.append((at, {"fail": {**part, "reroute_time": reroute}}))
        events.append((at + draw(st.integers(0, 3000)), {"repair": part}))
    events.sort(key=lambda each: each[0])
    return [{"at": f"{at}ns", **action} for at, action in events]


@settings(max_examples=examples(60), deadline=None)
@given(spec=cut_switches(), data=st.data())
def test_links_of_virtual_switches_fail_while_devices_move(spec: Spec, data: st.DataObject) -> None:
    parts: list[Spec] = [{"link": link["between"]} for link in spec["links"]]
    both = [*spec["events"], *data.draw(failing([*parts, {"device": "sw"}]))]
    spec["events"] = sorted(both, key=lambda event: int(event["at"][:-2]))
    outcome = run(spec)
    check(outcome)
    for requester in set(outcome.requests["requester"]):
        ids = outcome.requests["id"][outcome.requests["requester"] == requester]
        assert len(set(ids)) == len(ids)


@settings(max_examples=examples(40), deadline=None)
@given(spec=cut_switches(), data=st.data())
def test_after_all_repairs_each_host_has_its_own_again(spec: Spec, data: st.DataObject) -> None:
    """Nothing moves: later requests are answered with data if they are for the host's own, and by the switch if not."""
    parts: list[Spec] = [{"link": link["between"]} for link in spec["links"]]
    spec["events"] = data.draw(failing([*parts, {"device": "sw"}]))
    for name in spec["workload"]:
        spec["devices"][name]["completion_timeout"] = "2us"
        spec["workload"][name] = {**spec["workload"][name], "rate": "20M/s"}  # 20 us
    outcome = run(spec)
    check(outcome)
    rows = outcome.requests
    late = rows["created_ps"] > 12_000_000
    assert late.any()
    names = [{**region, "to": region["to"][0]} for region in spec["address_map"]]
    part = rows["address"].astype(np.int64) // PART
    memories = np.array([outcome.nodes.index(each["to"]) for each in names])
    own = np.zeros(len(part), dtype=bool)
    for vcs in spec["devices"]["sw"]["vcs"]:
        its = rows["requester"] == outcome.nodes.index(vcs["upstream"])
        own |= its & np.isin(part, [names.index(bound) for bound in vcs["bind"]])
    expected = np.where(own, memories[part], outcome.nodes.index("sw"))
    assert np.array_equal(rows["target"][late], expected[late])


@settings(max_examples=examples(60), deadline=None)
@given(
    bound=st.lists(st.sampled_from([0, 1, None]), min_size=2, max_size=2),
    queueing=st.sampled_from(["output", "voq", "fifo"]),
    wire=st.sampled_from(
        [{"bandwidth": "16GB/s"}, {"bandwidth": "16GB/s", "credits": 2}, {"phy": "pcie4-x8"}]
    ),
    data=st.data(),
)
def test_no_failure_leads_out_of_a_virtual_switch(
    bound: list[int | None], queueing: str, wire: Spec, data: st.DataObject
) -> None:
    """Two ways lead to the memory, by ports of the host's virtual switch, of another, or of none."""
    ways = ["a", "b"]
    vcs = [
        {"upstream": f"host{i}", "bind": [way for way, vcs in zip(ways, bound, strict=True) if vcs == i]}
        for i in range(2)
    ]
    pairs = [
        ("host0", "sw"),
        ("host1", "sw"),
        ("sw", "a"),
        ("sw", "b"),
        ("a", "far"),
        ("b", "far"),
        ("far", "mem"),
    ]
    inner: list[Spec] = [{"link": list(pair)} for pair in pairs[2:]]
    spec: Spec = {
        "devices": {
            "host0": {"kind": "host", "queue": 4, "completion_timeout": "2us"},
            "host1": {"kind": "host"},
            "sw": {"kind": "switch", "queueing": queueing, "vcs": vcs},
            **{name: {"kind": "switch", "queueing": queueing} for name in ("a", "b", "far")},
            "mem": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": list(pair), **wire} for pair in pairs],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host0": {"pattern": "random", "requests": 300, "footprint": "1MiB", "size": "64B"}},
        "events": data.draw(failing([*inner, {"device": "a"}, {"device": "b"}])),
        "outputs": {"requests": True},
    }
    outcome = run(spec)
    check(outcome)
    ports = outcome.directions()
    for way, owner in zip(ways, bound, strict=True):
        if owner != 0:
            assert ports[f"sw->{way}"]["messages"] == 0
    if bound == [0, 0]:
        assert outcome.summary["per_switch"]["sw"]["isolation_errors"] == 0


@st.composite
def extents(draw: st.DrawFn) -> Spec:
    """Two hosts that use all of a memory, whose parts come and go at random."""
    step = 8 * KIB
    owner: list[str | None] = [draw(st.sampled_from([None, "host0", "host1"])) for _ in range(EXTENTS)]
    entry = lambda i, host: {"base": f"{i * 8}KiB", "size": f"{step}B", "host": host}  # noqa: E731
    initial = [entry(i, host) for i, host in enumerate(owner) if host]
    at, events = 0, []
    for _ in range(draw(st.integers(0, 10))):
        at += draw(st.integers(1, 900))
        i = draw(st.integers(0, EXTENTS - 1))
        host = owner[i]
        if host:
            action = "release_extent"
            owner[i] = None
        else:
            action = "add_extent"
            owner[i] = host = draw(st.sampled_from(["host0", "host1"]))
        events.append({"at": f"{at}ns", action: {"device": "mem", **entry(i, host)}})
    places = draw(st.sampled_from([{}, {"queue": 3}, {"write_buffer": 4, "posted_writes": True}]))
    work = {"pattern": "random", "requests": 500, "footprint": "64KiB", "size": "64B", "reads": 0.5}
    routing = draw(st.sampled_from(["deterministic", "adaptive", "ugal"]))  # the order of messages may change
    ports = draw(st.integers(1, 2))
    return {
        "devices": {
            "host0": {"kind": "host", "queue": 8},
            "host1": {"kind": "accelerator", "queue": 8},
            "bus": {"kind": "bus"},
            "mem": {
                "kind": "memory",
                "capacity": "64KiB",
                "dynamic_capacity": {"extents": initial},
                **places,
            },
        },
        "links": [
            {"between": [name, "bus"], "bandwidth": "16GB/s", "credits": 3, "count": count}
            for name, count in (("host0", ports), ("host1", ports), ("mem", 1))
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host0": work, "host1": work},
        "run": {"routing": {"kind": routing}},
        "events": events,
        "outputs": {"requests": True},
    }


@settings(max_examples=examples(60), deadline=None)
@given(spec=extents())
def test_accesses_to_extents_are_answered_once(spec: Spec) -> None:
    outcome = run(spec)
    check(outcome)
    rows, memory = outcome.requests, outcome.summary["per_memory"]["mem"]
    assert abs(outcome.summary["errors"]["requests"] - memory["extent_errors"]) <= 16
    size = sum(memory["extent_bytes"].values())
    assert 0 <= size <= EXTENTS * 8 * KIB
    if not spec["events"]:
        held = spec["devices"]["mem"]["dynamic_capacity"]["extents"]
        assert size == len(held) * 8 * KIB
        inside = np.zeros(len(rows["id"]), dtype=bool)
        for each in held:
            base = int(each["base"].removesuffix("KiB")) * KIB
            address = rows["address"].astype(np.int64)
            own = rows["requester"] == outcome.nodes.index(each["host"])
            inside |= own & (address >= base) & (address < base + 8 * KIB)
        assert outcome.summary["errors"]["requests"] == int((~inside).sum())


def test_a_memory_of_a_fabric_tells_its_requesters_apart() -> None:
    """64 hosts, two levels of switches away, more than a multi-logical device has parts for. Each has an extent,
    and every fourth reads in that of the next one: with an error, each time."""
    spec = generated(
        "spine-leaf", {"reads": 1.0, "requests": 40, "rate": "1M/s"}, leaves=8, spines=2, devices_per_leaf=16
    )
    spec["devices"]["mem0"] = {
        "kind": "memory",
        "capacity": "64KiB",
        "dynamic_capacity": {
            "extents": [{"base": f"{i}KiB", "size": "1KiB", "host": f"host{i}"} for i in range(64)]
        },
    }
    spec["address_map"] = [{"to": ["mem0"]}]
    for i in range(64):
        at = (i + 1) % 64 if i % 4 == 0 else i
        spec["workload"][f"host{i}"] |= {"base": f"{at}KiB", "footprint": "1KiB"}
    outcome = logged(spec)
    messages, _ = outcome.protocol
    host = np.array([outcome.nodes.index(f"host{i}") for i in range(64)])
    answers = np.isin(messages["destination"], host)
    assert set(messages["destination"][answers]) == set(host)
    wrong = np.isin(messages["destination"], host[::4])
    assert (messages["failed"][answers].astype(bool) == wrong[answers]).all()


@pytest.mark.parametrize("queue", [1, 2, 16])
@pytest.mark.parametrize("bandwidth", ["unlimited", "64GB/s"])
def test_what_lies_outside_of_all_extents_waits_for_no_media(bandwidth: str, queue: int) -> None:
    """Whatever is in the media beside it, and no more wait at the memory than are under way."""
    outcome = run(
        {
            "devices": {
                "host": {"kind": "host", "queue": queue, "process_time": "10ns"},
                "mem": {
                    "kind": "memory",
                    "capacity": "64KiB",
                    "controller_time": "40ns",
                    "media": {"kind": "fixed", "latency": "1us"},
                    "dynamic_capacity": {"extents": [{"base": "0B", "size": "32KiB", "host": "host"}]},
                },
            },
            "links": [{"between": ["host", "mem"], "bandwidth": bandwidth}],
            "address_map": [{"to": ["mem"]}],
            "workload": {"host": {"pattern": "random", "requests": 400, "footprint": "64KiB"}},
            "outputs": {"requests": True},
        }
    )
    check(outcome)
    wrong = outcome.requests["error"].astype(bool)
    latency = (outcome.requests["completed_ps"] - outcome.requests["created_ps"]) / 1000
    # Headers of 16 bytes there and back; at most all others are in front of it on either wire.
    header, line = (0.0, 0.0) if bandwidth == "unlimited" else (16 / 64, 80 / 64)
    assert latency[wrong].min() == 10 + 40 + 2 * header
    assert latency[wrong].max() <= 10 + 40 + 2 * header + (queue - 1) * (header + line)
    assert latency[~wrong].min() >= 10 + 40 + 1000 + header + line
    assert outcome.summary["per_memory"]["mem"]["queue_max"] <= queue
