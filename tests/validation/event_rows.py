"""The parameters of events, and of those that live with them, in the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validation.systems import Run, Spec, changed, run
from validation.turns import FALLS, RISES, Turn, latency, worst

from cxloom.base.errors import InputError


def failed(outcome: Run) -> float:
    """Requests that ended with an error."""
    return float(outcome.summary["errors"]["requests"])


def lost(outcome: Run) -> float:
    """Messages that were lost."""
    return float(sum(each.get("lost", 0) for each in outcome.summary["events"].values()))


def failing(kind: str = "host", **part: object) -> Spec:
    """A requester, a switch and two memories, one of them by two links; something fails."""
    names = (("host", "sw"), ("mem0", "sw"), ("mem1", "bus"), ("bus", "sw"), ("bus", "sw"))
    return {
        "devices": {
            "host": {"kind": kind},
            "sw": {"kind": "switch", "port_bandwidth": "16GB/s"},
            "bus": {"kind": "bus"},
            "mem0": {"kind": "memory"},
            "mem1": {"kind": "memory"},
        },
        "links": [{"between": list(ends)} for ends in names],
        "address_map": [{"to": ["mem0", "mem1"]}],
        "workload": {"host": {"pattern": "random", "requests": 3000, "footprint": "1MiB", "size": "64B"}},
        "run": {"routing": {"kind": "random"}},
        "events": [{"at": "3us", "fail": {"reroute_time": "1us", **part}}],
    }


def moving(**move: object) -> Spec:
    """A program in the first of three memories, some of whose pages go to the second."""
    spec = failing()
    spec["devices"]["host"]["queue"] = 4
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    del spec["run"]
    placed = {
        "addresses": {"kind": "bind", "nodes": ["mem0", "mem1"]},
        "footprint": "64KiB",
        "requests": 2000,
    }
    spec["workload"]["host"] |= placed
    spec["devices"]["host2"] = {"kind": "host"}
    spec["links"].append({"between": ["host2", "sw"]})
    spec["workload"]["host2"] = spec["workload"]["host"]
    spec["events"] = [
        {"at": "3us", "move_pages": {"requester": "host", "from": "mem0", "to": "mem1", "share": 0.5, **move}}
    ]
    return spec


def in_second(outcome: Run) -> float:
    """Pages of the first host that are in the second memory."""
    return float(outcome.summary["per_requester"]["host"]["pages"]["mem1"])


def busy(outcome: Run) -> float:
    """Time in which its pages were being moved."""
    return float(outcome.summary["per_requester"]["host"]["page_moves_ns"])


def move_rows() -> Iterator[Turn]:
    """Which pages go where, and how fast."""
    half = moving()
    key = "events.0.move_pages"
    yield Turn("event.move_pages", half, "events.0.at", ("1ms", "3us"), RISES, in_second)
    yield Turn("event.move_pages.requester", half, f"{key}.requester", ("host2", "host"), RISES, in_second)
    to_first, from_second = changed(half, (f"{key}.to", "mem0")), changed(half, (f"{key}.from", "mem1"))
    yield Turn(
        "event.move_pages.from", to_first, f"{key}.from", ("mem1", "mem0"), RISES, in_second,
        also=((f"{key}.to", "mem1"),),
    )  # fmt: skip
    yield Turn(
        "event.move_pages.to", from_second, f"{key}.to", ("mem0", "mem1"), RISES, in_second,
        also=((f"{key}.from", "mem0"),),
    )  # fmt: skip
    yield Turn("event.move_pages.share", half, f"{key}.share", (0.2, 0.8), RISES, in_second)
    ranged = moving(base="0x0", size="8KiB", share=1.0)
    yield Turn("event.move_pages.base", ranged, f"{key}.base", ("0x100000", "0x0"), RISES, in_second)
    yield Turn("event.move_pages.size", ranged, f"{key}.size", ("8KiB", "32KiB"), RISES, in_second)
    yield Turn("event.move_pages.rate", half, f"{key}.rate", ("10GB/s", "1GB/s"), RISES, busy)
    yield Turn("event.move_pages.copy", half, f"{key}.copy", (False, True), RISES, busy)


def offline_rows() -> Iterator[Turn]:
    """Which memory goes when, where its pages go, and how fast."""
    spec = moving()
    spec["devices"]["mem2"] = {"kind": "memory"}
    spec["links"].append({"between": ["mem2", "sw"]})
    spec["address_map"].append({"to": ["mem2"]})
    for work in spec["workload"].values():
        work["addresses"] = {"kind": "preferred", "nodes": ["mem0"]}
    spec["events"] = [{"at": "3us", "offline": {"device": "mem0", "to": ["mem1"]}}]
    key = "events.0.offline"
    yield Turn("event.offline", spec, "events.0.at", ("1ms", "3us"), RISES, in_second)
    yield Turn("event.offline.device", spec, f"{key}.device", ("mem2", "mem0"), RISES, in_second)
    yield Turn("event.offline.to", spec, f"{key}.to", (["mem2"], ["mem1"]), RISES, in_second)
    yield Turn("event.offline.rate", spec, f"{key}.rate", ("10GB/s", "1GB/s"), RISES, busy)


def spared(outcome: Run) -> float:
    """Time in which parts of the first memory were copied."""
    return float(outcome.summary["per_memory"]["mem0"].get("spare_copy_ns", 0.0))


def waits_for_spares(outcome: Run) -> float:
    """Accesses that waited for that."""
    return float(outcome.summary["per_memory"]["mem0"].get("spare_waits", 0))


def spare_rows() -> Iterator[Turn]:
    """Which part of which memory is replaced, when, and how."""
    spec = failing()
    for name in ("mem0", "mem1"):
        spec["devices"][name]["spares"] = 2
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    spec["workload"]["host"]["footprint"] = "16KiB"
    spec["events"] = [{"at": "3us", "spare": {"device": "mem0", "base": "0x0"}}]
    key = "events.0.spare"
    both = changed(spec, ("devices.mem0.spares", 1))
    both["events"] = [*spec["events"], {"at": "4us", "spare": {"device": "mem0", "base": "0x0"}}]
    yield Turn(
        "devices.memory.spares",
        both,
        "devices.mem0.spares",
        (1, 2),
        RISES,
        lambda taken: taken,
        play=possible,
    )
    yield Turn("event.spare", spec, "events.0.at", ("1ms", "3us"), RISES, spared)
    yield Turn("event.spare.device", spec, f"{key}.device", ("mem1", "mem0"), RISES, spared)
    yield Turn("event.spare.base", spec, f"{key}.base", ("0x100000", "0x0"), RISES, waits_for_spares)
    yield Turn("event.spare.size", spec, f"{key}.size", ("1KiB", "8KiB"), RISES, spared)
    yield Turn("event.spare.buffer", spec, f"{key}.buffer", ("64B", "8KiB"), FALLS, spared)


def suspicious(outcome: Run) -> float:
    """Parts of the first memory with too many errors."""
    return float(outcome.summary["per_memory"]["mem0"].get("suspicious_parts", 0))


def error_rows() -> Iterator[Turn]:
    """Which parts have errors, how many, and what is done about them."""
    spec = failing()
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    spec["workload"]["host"]["footprint"] = "16KiB"
    spec["events"] = []
    errors = {"parts": [{"base": "0x0", "every": "100ns"}], "threshold": 10, "times": "even"}
    spec["devices"]["mem0"] |= {"spares": 2, "corrected_errors": errors}
    at, name = "devices.mem0.corrected_errors", "devices.memory.corrected_errors"
    more = [*errors["parts"], {"base": "32KiB", "every": "100ns"}]
    part = f"{name}.parts"
    yield Turn(name, spec, at, ({**errors, "parts": more[:1]}, {**errors, "parts": more}), RISES, suspicious)
    yield Turn(part, spec, f"{at}.parts", (more[:1], more), RISES, suspicious)
    yield Turn(f"{part}.base", spec, f"{at}.parts.0.base", ("0x100000", "0x0"), RISES, waits_for_spares)
    yield Turn(f"{part}.size", spec, f"{at}.parts.0.size", ("1KiB", "8KiB"), RISES, spared)
    yield Turn(f"{part}.every", spec, f"{at}.parts.0.every", ("1ms", "100ns"), RISES, suspicious)
    yield Turn(f"{name}.threshold", spec, f"{at}.threshold", (100000, 10), RISES, suspicious)
    yield Turn(f"{name}.times", spec, f"{at}.times", ("even", "random"), RISES, off_even)
    yield Turn(f"{name}.buffer", spec, f"{at}.buffer", ("64B", "8KiB"), FALLS, spared)


def off_even(outcome: Run) -> float:
    """How far from ten times 100 ns the first memory took to find a suspicious part."""
    found = outcome.summary["per_memory"]["mem0"]["threshold_ns"]
    return abs(float(found) - 1000.0)


def viral_rows() -> Iterator[Turn]:
    """Which memory contains an error, from when on, and how it is reset."""
    spec = failing()
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    spec["events"] = [{"at": "3us", "viral": {"device": "mem0"}}]
    yield Turn("event.viral", spec, "events.0.at", ("9us", "3us"), RISES, failed)
    yield Turn("event.viral.device", spec, "events.0.viral.device", ("mem1", "mem0"), RISES, failed)
    reset = changed(spec, ("events.0.at", "2us"))
    both = [{"at": "2us", "viral": {"device": name}} for name in ("mem0", "mem1")]
    reset["events"] = [*both, {"at": "4us", "reset": {"device": "mem0", "cleared": True}}]
    yield Turn("event.reset", reset, "events.2.at", ("4us", "9us"), RISES, failed)
    yield Turn("event.reset.device", reset, "events.2.reset.device", ("mem0", "mem1"), RISES, failed)
    yield Turn("event.reset.cleared", reset, "events.2.reset.cleared", (True, False), RISES, failed)


def event_rows() -> Iterator[Turn]:
    """What fails and when, for how long, and what that does to requests."""
    link = failing(link=["mem0", "sw"])
    repaired = changed(link, ("events.0.fail.reroute_time", "100us"))
    repaired["events"].append({"at": "6us", "repair": {"link": ["mem0", "sw"]}})
    yield Turn("event.at", link, "events.0.at", ("3us", "8us"), FALLS, failed)
    yield Turn("event.fail", link, "events.0.at", ("1ms", "3us"), RISES, failed)
    both = failing(link=["bus", "sw"])
    yield Turn("event.fail.link", link, "events.0.fail.link", (["mem0", "sw"], ["host", "sw"]), RISES, failed)
    yield Turn("event.fail.number", both, "events.0.fail.number", (..., 2), FALLS, failed)
    device = failing(device="sw")
    yield Turn("event.fail.device", device, "events.0.at", ("1ms", "3us"), RISES, lost)
    waits = changed(both, ("events.0.fail.number", 1))
    yield Turn("event.fail.reroute_time", waits, "events.0.fail.reroute_time", ("1us", "2us"), RISES, worst)
    yield from move_rows()
    yield from offline_rows()
    yield from spare_rows()
    yield from error_rows()
    yield from viral_rows()
    yield Turn("event.repair", repaired, "events.1.at", ("6us", "9us"), RISES, worst)
    other = changed(repaired, ("events.0.fail.link", ["bus", "sw"]), ("events.1.repair.link", ["bus", "sw"]))
    yield Turn(
        "event.repair.link", repaired, "events.1.repair.link", (["mem0", "sw"], ["bus", "sw"]), RISES, latency,
        also=(("events.0.fail.link", ["bus", "sw"]), ("events.1.at", "20us")),
    )  # fmt: skip
    one = changed(other, ("events.0.fail.number", 1), ("events.1.repair.number", 1))
    yield Turn(
        "event.repair.number", one, "events.1.repair.number", (1, ...), RISES, latency,
        also=(("events.0.fail.number", ...),),
    )  # fmt: skip
    back = changed(device, ("devices.host.completion_timeout", "5us"))
    back["events"].append({"at": "5us", "repair": {"device": "sw"}})
    yield Turn("event.repair.device", back, "events.1.at", ("5us", "9us"), RISES, failed)
    reset = changed(failing(device="mem0"), ("devices.host.completion_timeout", "5us"))
    reset["events"].append({"at": "5us", "repair": {"device": "mem0", "cleared": True}})
    yield Turn("event.repair.cleared", reset, "events.1.repair.cleared", (True, False), RISES, failed)
    boots = failing(device="host")
    boots["events"].append({"at": "5us", "repair": {"device": "host", "restart": True}})
    yield Turn("event.repair.restart", boots, "events.1.repair.restart", (False, True), RISES, answered)
    for kind in ("host", "accelerator"):
        dying = changed(failing(kind, device="sw"), ("devices.host.completion_timeout", "10us"))
        yield Turn(
            f"devices.{kind}.completion_timeout", dying, "devices.host.completion_timeout",
            ("10us", "1ms"), RISES, slowest_error,
        )  # fmt: skip
    yield from virtual_switch_rows()
    yield from extent_rows()


def answered(outcome: Run) -> float:
    """Requests of the host that were answered with data."""
    return float(outcome.summary["per_requester"]["host"]["requests"])


def slowest_error(outcome: Run) -> float:
    """Largest latency of what was answered without data."""
    return float(outcome.summary["errors"]["latency_ns"]["max"])


def possible(spec: Spec, feeds: Mapping[str, Any] | None = None) -> Any:
    """Whether the spec is taken."""
    try:
        run(spec, feeds)
    except InputError:
        return False
    return True


def two_virtual_switches() -> Spec:
    """Two hosts and two memories at two switches; the first switch is cut in two. Host 0 reads memory 0."""
    names = ("host0", "host1", "mem0", "mem1", "sw1")
    read = {"pattern": "random", "requests": 2000, "footprint": "1MiB", "size": "64B"}
    return {
        "devices": {
            "host0": {"kind": "host"},
            "host1": {"kind": "host"},
            "mem0": {"kind": "memory", "capacity": "1MiB"},
            "mem1": {"kind": "memory", "capacity": "1MiB"},
            "sw": {
                "kind": "switch",
                "vcs": [{"upstream": "host0", "vppbs": 2, "bind": ["mem0"]}, {"upstream": "host1"}],
            },
            "sw1": {"kind": "switch", "vcs": [{"upstream": "sw"}]},
        },
        "links": [{"between": [name, "sw"], "bandwidth": "16GB/s"} for name in names],
        "address_map": [{"to": ["mem0"]}, {"to": ["mem1"]}],
        "workload": {"host0": read},
    }


def virtual_switch_rows() -> Iterator[Turn]:
    """Who reaches what through a switch that is cut in two, and when."""
    base, name = two_virtual_switches(), "devices.switch.vcs"
    at = "devices.sw.vcs"
    yield Turn(name, base, at, (..., [{"upstream": "host0"}]), RISES, failed)
    yield Turn(f"{name}.upstream", base, f"{at}.0.upstream", ("host0", "sw1"), RISES, failed)
    yield Turn(f"{name}.bind", base, f"{at}.0.bind", (["mem0"], ["mem1"]), RISES, failed)
    both = changed(base, (f"{at}.0.bind", ["mem0", "mem1"]))
    yield Turn(f"{name}.vppbs", both, f"{at}.0.vppbs", (1, 2), RISES, lambda taken: taken, play=possible)
    yield Turn(f"{name}.bind.to", base, f"{at}.0.bind", ([{"to": "mem0"}], [{"to": "mem1"}]), RISES, failed)
    parts = changed(
        base,
        ("devices.mem0.logical_devices", [{"capacity": "512KiB"}] * 2),
        ("address_map", [{"to": ["mem0"], "ld": 0}, {"to": ["mem0"], "ld": 1}]),
        ("workload.host0.footprint", "512KiB"),
    )
    one = {"to": "mem0", "ld": 0}
    yield Turn(f"{name}.bind.ld", parts, f"{at}.0.bind", ([one], [{**one, "ld": 1}]), RISES, failed)
    unbound = changed(base, (f"{at}.0.bind", []))
    come = {"switch": "sw", "vcs": 0, "vppb": 0, "to": "mem0"}
    bound = {**unbound, "events": [{"at": "2us", "bind": come}]}
    yield Turn("event.bind", bound, "events.0.at", ("2us", "9us"), RISES, failed)
    yield Turn(
        "event.bind.switch",
        bound,
        "events.0.bind.switch",
        ("sw", "sw1"),
        FALLS,
        lambda taken: taken,
        play=possible,
    )
    yield Turn("event.bind.vcs", bound, "events.0.bind.vcs", (0, 1), RISES, failed)
    yield Turn(
        "event.bind.vppb", bound, "events.0.bind.vppb", (1, 2), FALLS, lambda taken: taken, play=possible
    )
    yield Turn("event.bind.to", bound, "events.0.bind.to", ("mem0", "mem1"), RISES, failed)
    later = changed(parts, (f"{at}.0.bind", []))
    later["events"] = [{"at": "2us", "bind": {**come, "ld": 0}}]
    yield Turn("event.bind.ld", later, "events.0.bind.ld", (0, 1), RISES, failed)
    gone = {**both, "events": [{"at": "2us", "unbind": {"switch": "sw", "vcs": 0, "vppb": 0}}]}
    yield Turn("event.unbind", gone, "events.0.at", ("9us", "2us"), RISES, failed)
    yield Turn(
        "event.unbind.switch",
        gone,
        "events.0.unbind.switch",
        ("sw", "sw1"),
        FALLS,
        lambda taken: taken,
        play=possible,
    )
    yield Turn(
        "event.unbind.vcs", gone, "events.0.unbind.vcs", (0, 1), FALLS, lambda taken: taken, play=possible
    )
    yield Turn("event.unbind.vppb", gone, "events.0.unbind.vppb", (1, 0), RISES, failed)
    yield Turn("event.unbind.surprise", gone, "events.0.unbind.surprise", (False, True), RISES, removed)


def removed(outcome: Run) -> float:
    """Answers of a device that was gone."""
    return float(outcome.summary["per_switch"]["sw"]["removal_errors"])


def served_there(outcome: Run) -> float:
    """Requests to the memory with extents."""
    return float(outcome.summary["per_memory"]["mem"]["requests"])


def in_extents(*extents: Spec) -> Spec:
    """A host and another, and a memory of dynamic capacity of which the host reads all."""
    return {
        "devices": {
            "host": {"kind": "host"},
            "other": {"kind": "host"},
            "bus": {"kind": "bus"},
            "mem": {"kind": "memory", "capacity": "1MiB", "dynamic_capacity": {"extents": list(extents)}},
        },
        "links": [{"between": [name, "bus"], "bandwidth": "16GB/s"} for name in ("host", "other", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "requests": 2000, "footprint": "1MiB", "size": "64B"}},
    }


def extent_rows() -> Iterator[Turn]:
    """Whose the parts of a memory are, and when."""
    half = {"base": "0x0", "size": "512KiB", "host": "host"}
    base, name = in_extents(half), "devices.memory.dynamic_capacity"
    at = "devices.mem.dynamic_capacity"
    yield Turn(name, base, at, (..., {}), RISES, failed)
    yield Turn(f"{name}.extents", base, f"{at}.extents", ([half], []), RISES, failed)
    near = changed(base, ("workload.host.footprint", "256KiB"))
    yield Turn(f"{name}.extents.base", near, f"{at}.extents.0.base", ("0x0", "128KiB"), RISES, failed)
    yield Turn(f"{name}.extents.size", base, f"{at}.extents.0.size", ("512KiB", "768KiB"), FALLS, failed)
    yield Turn(f"{name}.extents.host", base, f"{at}.extents.0.host", ("host", "other"), RISES, failed)
    # A kernel places no pages in what hosts share.
    placed = changed(near, ("devices.own", {"kind": "memory", "capacity": "1MiB"}))
    placed["links"].append({"between": ["own", "bus"]})
    placed["address_map"].append({"to": ["own"]})
    placed["workload"]["host"] |= {"addresses": "first-touch", "touched": "during", "rate": "10M/s"}
    tag = (..., "ring")
    yield Turn(f"{name}.extents.tag", placed, f"{at}.extents.0.tag", tag, FALLS, served_there)
    later = changed(placed, (f"{at}.extents", []))
    later["events"] = [{"at": "2us", "add_extent": {"device": "mem", **half}}]
    yield Turn("event.add_extent.tag", later, "events.0.add_extent.tag", tag, FALLS, served_there)
    tagged = changed(near, (f"{at}.extents", [half, {**half, "base": "512KiB", "tag": "ring"}]))
    tagged["events"] = [{"at": "2us", "release_extent": {"device": "mem", **half}}]
    yield Turn(
        "event.release_extent.tag", tagged, "events.0.release_extent.tag", tag, FALLS, failed,
        also=(("events.0.release_extent.base", "512KiB"),),
    )  # fmt: skip
    two = changed(near, ("devices.mem2", {"kind": "memory", "capacity": "1MiB", "dynamic_capacity": {}}))
    two["links"].append({"between": ["mem2", "bus"]})
    two["address_map"].append({"to": ["mem2"]})
    for action, extents, effect in (("add_extent", [], RISES), ("release_extent", [half], FALLS)):
        start = changed(two, (f"{at}.extents", extents))
        if (
            action == "release_extent"
        ):  # of either memory, either host and two halves there is something to release
            own = {**half, "base": "512KiB"}
            others = [
                {"base": "0x0", "size": "64KiB", "host": "other"},
                {**half, "base": "64KiB", "size": "448KiB"},
            ]
            start["devices"]["mem"]["dynamic_capacity"]["extents"] = [half, own]
            start["devices"]["mem2"]["dynamic_capacity"]["extents"] = [half]
            mixed = changed(start, ("devices.mem.dynamic_capacity.extents", others))
        event = {"at": "2us", action: {"device": "mem", **half}}
        base = {**start, "events": [event]}
        path = f"events.0.{action}"
        yield Turn(f"event.{action}", base, "events.0.at", ("2us", "4us"), effect, failed)
        yield Turn(f"event.{action}.device", base, f"{path}.device", ("mem", "mem2"), effect, failed)
        yield Turn(f"event.{action}.base", base, f"{path}.base", ("0x0", "512KiB"), effect, failed)
        if action == "add_extent":
            yield Turn(f"event.{action}.size", base, f"{path}.size", ("512KiB", "128KiB"), RISES, failed)
            yield Turn(f"event.{action}.host", base, f"{path}.host", ("host", "other"), RISES, failed)
        else:
            small = {"at": "2us", action: {"device": "mem", **others[1]}}
            lose = {**mixed, "events": [small]}
            yield Turn(
                f"event.{action}.size", lose, f"{path}.size", ("448KiB", "64KiB"), FALLS, failed,
                also=((f"{path}.base", "0x0"), (f"{path}.host", "other")),
            )  # fmt: skip
            yield Turn(
                f"event.{action}.host", lose, f"{path}.host", ("host", "other"), FALLS, failed,
                also=((f"{path}.base", "0x0"), (f"{path}.size", "64KiB")),
            )  # fmt: skip
