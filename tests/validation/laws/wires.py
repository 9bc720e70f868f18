"""Laws of links, buses and switches: conservation at each node, the utilisation law on each wire, Little's law."""

from __future__ import annotations

from typing import Any

from validation.laws import law
from validation.laws.look import HUBS, Look
from validation.systems import Spec
from validation.unloaded import bytes_of, default

WAYS = ("downstream", "upstream")
SWITCHES = ("switch", "root-port")
FLIT = {"68B": (68, 4), "256B": (256, 15)}
"""Bytes and slots of a flit."""


def cost(owner: Spec, kind: str, key: str) -> int:
    """The header of a link or bus, with data or without."""
    group = "devices" if kind else "link"
    return bytes_of(str(owner.get(key, default(group, kind, key))))


def wire_bytes(look: Look, owner: Spec, kind: str, messages: float, payload_bytes: float) -> float | None:
    """Bytes on a wire that takes a message at a time, where all messages with data have as many."""
    if look.payload is None:
        return None
    full = payload_bytes / look.payload
    return (messages - full) * cost(owner, kind, "header") + full * (
        look.payload + cost(owner, kind, "data_header")
    )


def check_levels(look: Look, measures: Spec) -> None:
    """Mean, percentiles and largest number of those that wait."""
    look.check_levels(measures, "queue_mean", "queue_p50", "queue_p99", "queue_max")


# --- Directions of links ---


@law("per_link.*.*.messages")
def messages(look: Look, value: int, link: str, way: str) -> None:
    sender, receiver = way.split("->")
    if not look.exact:
        return look.within(value, 0)
    # What comes to a node leaves it, or is answered.
    for node in (sender, receiver):
        look.equal(look.entering(node, "messages"), look.leaving(node, "messages"))
    crossed = look.rows["hops"][look.served].sum()
    if look.controllers_take_time:
        look.equal(sum(measures["messages"] for *_, measures in look.ways), int(crossed))
    return None


@law("per_link.*.*.payload_gb_per_s")
def payload(look: Look, value: float, link: str, way: str) -> None:
    look.within(value, 0)
    if not look.exact:
        return
    for node in way.split("->"):
        device = look.device(node)
        into, out = (side(node, "payload_gb_per_s") for side in (look.entering, look.leaving))
        if device["kind"] in HUBS:
            look.equal(into, out)
        elif device["kind"] == "memory":
            measures = look.summary["per_memory"][node]
            look.equal(into, measures["write_gb_per_s"])
            look.equal(out, measures["read_gb_per_s"])
        elif "memory" not in device and look.controllers_take_time:
            own = look.of("requester", node) & look.served
            look.equal(into * look.length, float(look.size[own & look.memory_reads].sum()))
            look.equal(out * look.length, float(look.size[own & ~look.memory_reads].sum()))


@law("per_link.*.*.bytes")
def wire(look: Look, value: int, link: str, way: str) -> None:
    measures = look.summary["per_link"][link][way]
    payload_bytes = measures["payload_gb_per_s"] * look.length
    if "flits" not in measures:
        expected = wire_bytes(look, look.link(link), "", measures["messages"], payload_bytes)
        if expected is not None:
            look.equal(float(value), expected)
        return
    # What the first flits of a message brought may have come before the window.
    look.within(value, payload_bytes - (0 if look.whole else 4096))
    if look.exact and "ide" not in look.link(link):  # a last MAC may follow the last answer
        # A flit that is sent again is counted once as a flit, and once as an error.
        flits = measures["flits"]
        look.equal(value, (sum(flits["flits"].values()) + flits["errors"]) * flit_of(look, link)[0])


@law("per_link.*.*.efficiency")
def efficiency(look: Look, value: float | None, link: str, way: str) -> None:
    measures = look.summary["per_link"][link][way]
    payload_bytes = measures["payload_gb_per_s"] * look.length
    look.equal(value is None, measures["bytes"] == 0)
    if value is not None:
        look.equal(value, payload_bytes / measures["bytes"])


@law("per_link.*.*.utilization")
def utilization(look: Look, value: float, link: str, way: str) -> None:
    measures, at = look.summary["per_link"][link][way], look.ns_per_byte(link, way)
    look.within(value, 0, 1)
    if at == 0:
        return look.equal(value, 0.0)
    sender = look.device(way.split("->")[0])
    rounding = 0.001 * (measures["messages"] + measures["bytes"] / 64 + 4)
    needed, busy = measures["bytes"] * at, value * look.length
    if "flits" in measures:
        # A retry takes the wire from the start of the flit to its next one.
        flits = measures["flits"]
        size = flit_of(look, link)[0]
        answers = 6 if size == 68 else 0
        needed = (measures["bytes"] - flits["errors"] * (1 + answers) * size) * at
        needed += flits["retry_share"] * look.length
        if look.exact and "ide" not in look.link(link):
            look.equal(busy, needed, rel=1e-6, abs=rounding)
        return None
    # Bytes that come over a slower wire hold a faster one for longer, where heads are passed on.
    whole = sender["kind"] not in HUBS or sender.get("forwarding") == "store-and-forward"
    edge = 0.0 if look.exact else 2 * 5000 * at
    if whole:
        look.equal(busy, needed, rel=1e-6, abs=rounding + edge)
    look.within(busy, needed * (1 - 1e-6) - rounding - edge)
    return None


@law("per_link.*.*.turnaround")
def turnaround(look: Look, value: float, link: str, way: str) -> None:
    """The directions share a wire, and nothing passes it while it turns."""
    ways = look.summary["per_link"][link].values()
    for each in ways:
        look.equal(value, each["turnaround"])
    look.within(value, 0, 1 - sum(each["utilization"] for each in ways))


@law("per_link.*.*.queue_mean", "per_switch.*.queue_mean")
def queue_mean(look: Look, value: float, *names: str) -> None:
    look.within(value, 0)
    if look.path[0] == "per_switch":
        look.equal(value, look.leaving(names[0], "queue_mean"))
    if not look.exact:
        return
    switches = {name for name, device in look.spec["devices"].items() if device["kind"] in SWITCHES}
    waiting = {True: 0.0, False: 0.0}
    for sender, _, measures in look.ways:
        waiting[sender in switches] += measures["queue_mean"] * look.length
    # Who waits without a credit waits for a credit: of a switch or another device, the account does not say.
    credit = look.ns("credit")
    look.equal(sum(waiting.values()), look.ns("link_queue", "switch_queue") + credit)
    if credit == 0:
        look.equal(waiting[True], look.ns("switch_queue"))


@law("per_link.*.*.queue_p50", "per_link.*.*.queue_p99", "per_link.*.*.queue_max")
def queue_levels(look: Look, value: float, link: str, way: str) -> None:
    measures = look.summary["per_link"][link][way]
    check_levels(look, measures)
    if look.path[-1] == "queue_max" and value <= 1:  # then it waits or does not
        look.equal(value, 1.0 if measures["queue_mean"] else 0.0)
        share = 1 - measures["queue_mean"]
        look.equal(measures["queue_p50"], 0.0 if share >= 0.5 else 1.0)
        look.equal(measures["queue_p99"], 0.0 if share >= 0.99 else 1.0)
    elif value and look.path[-1] != "queue_max":
        look.decisive = measures["queue_max"] <= 1


@law("per_link.*.*.credit_blocked_ns")
def blocked(look: Look, value: float, link: str, way: str) -> None:
    look.equal(value, float(sum(look.summary["per_link"][link][way]["credit_blocked_ns_by_class"].values())))
    if look.exact:
        # In all this time somebody waits for a credit; several may.
        total = sum(measures["credit_blocked_ns"] for *_, measures in look.ways)
        look.within(look.ns("credit"), total * (1 - 1e-9))


@law("per_link.*.*.credit_blocked_ns_by_class", "per_link.*.*.credit_blocked_ns_by_class.*")
def blocked_by_class(look: Look, value: Any, link: str, way: str, *_: str) -> None:
    total = look.summary["per_link"][link][way]["credit_blocked_ns"]
    if not look.link(link).get("credits"):
        look.equal(value, {})
    elif value == {}:
        look.equal(total, 0.0)
    else:
        look.within(value, 0, look.length)
        parts = look.summary["per_link"][link][way]["credit_blocked_ns_by_class"]
        look.equal(float(sum(parts.values())), total)


# --- Root ports ---


def waits_outside(look: Look, name: str) -> float:
    """Requests that wait for a place in the queue of a root port, by its own word."""
    return float(look.summary["per_switch"][name]["request_queue_outside_mean"])


@law("per_switch.*.requests")
def ordered(look: Look, value: int, name: str) -> None:
    messages = look.summary["per_switch"][name]["messages"]
    look.within(value, 0, messages + 1)
    hubs = [device for device in look.spec["devices"].values() if device["kind"] in HUBS]
    if look.exact and len(hubs) == 1:
        look.equal(2 * value, messages)  # a request and its answer


@law("per_switch.*.overtaking_writes")
def overtaking(look: Look, value: int, name: str) -> None:
    look.within(value, 0, look.summary["per_switch"][name]["requests"])
    if not any("credits" in link for link in look.spec["links"]):
        look.equal(value, 0)


@law("per_switch.*.request_queue_mean", "per_switch.*.request_queue_max")
def ordered_level(look: Look, value: float, name: str) -> None:
    measures = look.summary["per_switch"][name]
    look.within(measures["request_queue_mean"], 0, measures["request_queue_max"])
    depth = look.device(name).get("depth")
    if depth is not None:
        # A write from outside comes in besides where the first of its reads has no credit.
        look.within(value, 0, depth + any("credits" in link for link in look.spec["links"]))
    # Who is in the queue, or before it, waits to leave by some port. Answers and CXL.io may wait besides.
    there = measures["request_queue_mean"] + waits_outside(look, name)
    look.within(there, 0, measures["queue_mean"])
    back = [
        of_way["queue_mean"]
        for sender, receiver, of_way in look.ways
        if sender == name and look.device(receiver)["kind"] != "memory"
    ]
    if look.exact and not any(back):
        look.equal(there, measures["queue_mean"])


@law("per_switch.*.request_queue_outside_mean")
def outside(look: Look, value: float, name: str) -> None:
    look.within(value, 0)
    most, depth = look.summary["per_switch"][name]["request_queue_max"], look.device(name).get("depth")
    full = depth is not None and most >= depth
    look.equal(0.0 if full else value, 0.0)  # nobody waits for a place while there is one


# --- Flits ---


def flit_of(look: Look, link: str) -> tuple[int, int]:
    """Bytes and slots of the flits of a link."""
    phy = look.link(link)["phy"]
    return FLIT["256B" if int(phy[4]) >= 6 else "68B"]


def flits_at(look: Look, link: str, way: str) -> Spec:
    """What the flits of a direction carry."""
    measures: Spec = look.summary["per_link"][link][way]["flits"]
    return measures


def _answers(look: Look, link: str, way: str) -> int:
    """Errors in the other direction, which this one asks to have sent again."""
    [other] = [flits_at(look, link, each) for each in look.summary["per_link"][link] if each != way]
    return int(other["errors"])


@law("per_link.*.*.flits.flits", "per_link.*.*.flits.flits.*")
def flit_counts(look: Look, value: Any, link: str, way: str, *_: str) -> None:
    flits = flits_at(look, link, way)
    kinds = flits["flits"]
    # Flits that carry nothing but a MAC, or credits between those of CXL.io or those of retries, are control. So are
    # those that ask for retries, which have no slots.
    packed = sum(flits["flits_by_fill"]) - kinds.get("protocol", 0) - kinds.get("all-data", 0)
    look.within(packed, 0, kinds.get("control", 0))
    disturbed = flits["errors"] or _answers(look, link, way)
    if "ide" not in look.link(link) and not disturbed and not look.summary["per_io"]:
        look.equal(packed, 0)
    if "errors" not in look.link(link) and look.link(link) and not _answers(look, link, way):
        look.equal(packed, kinds.get("control", 0))
    if look.exact and "ide" not in look.link(link) and not look.summary["per_io"]:
        # An error has six flits of 68 B sent each way: the request, and its acknowledgement. One of 256 B has a Nak.
        asked = _answers(look, link, way)
        sent = 6 * (flits["errors"] + asked) if flit_of(look, link)[0] == 68 else asked
        look.equal(kinds.get("control", 0) - packed, sent)
    if not look.summary["per_io"]:
        look.equal(kinds.get("io", 0), 0)


@law("per_link.*.*.flits.flits_by_fill")
def fill(look: Look, value: list[int], link: str, way: str) -> None:
    slots = flits_at(look, link, way)["slots"]
    look.equal(sum(i * n for i, n in enumerate(value)), sum(slots.values()) - slots.get("empty", 0))


@law("per_link.*.*.flits.slots", "per_link.*.*.flits.slots.*")
def slots(look: Look, value: Any, link: str, way: str, *_: str) -> None:
    flits = flits_at(look, link, way)
    look.equal(sum(flits["slots"].values()), sum(flits["flits_by_fill"]) * flit_of(look, link)[1])


@law("per_link.*.*.flits.slots_by_class", "per_link.*.*.flits.slots_by_class.*")
def slots_by_class(look: Look, value: Any, link: str, way: str, *_: str) -> None:
    flits = flits_at(look, link, way)
    used = sum(flits["slots"].get(kind, 0) for kind in ("header", "data", "trailer"))
    if look.exact:
        look.equal(float(sum(flits["slots_by_class"].values())), float(used), rel=1e-6)


@law("per_link.*.*.flits.messages_by_class", "per_link.*.*.flits.messages_by_class.*")
def messages_by_class(look: Look, value: Any, link: str, way: str, *_: str) -> None:
    flits = flits_at(look, link, way)
    if look.exact and all(work["size"] in ("8B", "64B") for work in look.spec["workload"].values()):
        measures = look.summary["per_link"][link][way]
        look.equal(sum(flits["messages_by_class"].values()), measures["messages"])


@law("per_link.*.*.flits.byte_shares.*")
def byte_shares(look: Look, value: float | None, link: str, way: str, part: str) -> None:
    flits = flits_at(look, link, way)
    look.equal(value is None, not sum(flits["flits"].values()))
    if value is None:
        return
    look.within(value, 0, 1)
    look.equal(float(sum(flits["byte_shares"].values())), 1.0)
    size, _ = flit_of(look, link)
    every = sum(flits["flits"].values()) * size
    names = {"data": "data", "trailers": "trailer"}
    if part in names:
        look.equal(value, 16 * flits["slots"].get(names[part], 0) / every)
    if part == "io":
        look.equal(value, flits["io_bytes"] / every)
    return


@law("per_link.*.*.flits.io_bytes")
def io_bytes(look: Look, value: int, link: str, way: str) -> None:
    if not look.summary["per_io"]:
        look.equal(value, 0)
    look.within(value, 0, look.summary["per_link"][link][way]["bytes"] + 512)
    if value:
        flits = flits_at(look, link, way)
        every = sum(flits["flits"].values()) * flit_of(look, link)[0]
        look.equal(flits["byte_shares"]["io"] * every, float(value))


@law("per_link.*.*.flits.errors")
def errors(look: Look, value: int, link: str, way: str) -> None:
    every = look.link(link).get("errors", {}).get("every")
    if every is None:
        return look.equal(value, 0)
    flits = flits_at(look, link, way)
    sent = sum(flits["flits_by_fill"]) + flits["flits"].get("io", 0)
    if look.exact:
        return look.equal(value, sent // every)
    return look.within(value, sent // every - 1, sent // every + 1)


@law("per_link.*.*.flits.retry_share")
def retry_share(look: Look, value: float, link: str, way: str) -> None:
    wrong = flits_at(look, link, way)["errors"]
    if not wrong:
        return look.equal(value, 0.0)
    utilization(look, look.summary["per_link"][link][way]["utilization"], link, way)
    # Each takes at least its flit, and that of the other side that asks for it.
    return look.within(
        value * look.length, 2 * wrong * flit_of(look, link)[0] * look.ns_per_byte(link, way) * 0.99
    )


# --- Switches ---


@law("per_switch.*.messages")
def switch_messages(look: Look, value: int, name: str) -> None:
    look.equal(value, int(look.leaving(name, "messages")))


@law("per_switch.*.queue_p99_worst_port", "per_switch.*.utilization_worst_port")
def worst(look: Look, value: float, name: str) -> None:
    key = look.path[-1].removesuffix("_worst_port")
    look.equal(value, max(measures[key] for sender, _, measures in look.ways if sender == name))


# --- Buses ---


@law(*(f"per_switch.*.{way}_payload_gb_per_s" for way in WAYS))
def bus_payload(look: Look, value: float, name: str) -> None:
    look.within(value, 0)
    if look.exact:
        both = sum(look.summary["per_switch"][name][f"{way}_payload_gb_per_s"] for way in WAYS)
        look.equal(both, look.entering(name, "payload_gb_per_s"))


@law("per_switch.*.efficiency")
def bus_efficiency(look: Look, value: float | None, name: str) -> None:
    if value is None:
        return look.equal(look.entering(name, "messages"), 0)
    both = sum(look.summary["per_switch"][name][f"{way}_payload_gb_per_s"] for way in WAYS) * look.length
    count = look.entering(name, "messages")
    on_it = wire_bytes(look, look.device(name), "bus", count, both)
    look.within(value, 0, 1)
    if look.exact and on_it is not None:
        look.equal(value, both / on_it if on_it else 0.0)
    return None


@law("per_switch.*.turnaround")
def bus_turnaround(look: Look, value: float, name: str) -> None:
    look.within(value, 0, 1 - look.summary["per_switch"][name]["utilization"])


@law("per_switch.*.utilization", *(f"per_switch.*.{way}_utilization" for way in WAYS))
def bus_utilization(look: Look, value: float, name: str) -> None:
    bus, device = look.summary["per_switch"][name], look.device(name)
    ways = [bus[f"{way}_utilization"] for way in WAYS]
    look.within(value, 0, 1)
    look.equal(bus["utilization"], sum(ways) / (1 if device.get("duplex") == "half" else 2))
    if device.get("bandwidth", "unlimited") == "unlimited":
        return look.equal(value, 0.0)
    both = sum(bus[f"{way}_payload_gb_per_s"] for way in WAYS) * look.length
    if look.exact and bus["efficiency"]:
        # Bytes / bandwidth; more where they come over a slower wire.
        at = 1 / float(device["bandwidth"].removesuffix("GB/s"))
        look.within(
            sum(ways) * look.length, both / bus["efficiency"] * at - 0.002 * look.entering(name, "messages")
        )
    return None


@law(*(f"per_switch.*.{way}_queue_mean" for way in WAYS))
def bus_queue(look: Look, value: float, name: str) -> None:
    look.within(value, 0)
    if look.exact:
        both = [look.over("per_switch", f"{way}_queue_mean") for way in WAYS]
        look.equal(sum(both) * look.length, look.ns("bus_queue"))


@law(*(f"per_switch.*.{way}_queue_{what}" for way in WAYS for what in ("p99", "max")))
def bus_levels(look: Look, value: float, name: str) -> None:
    way = look.path[-1].partition("_")[0]
    keys = [f"{way}_queue_{what}" for what in ("mean", "p99", "max")]
    measures = look.summary["per_switch"][name]
    look.check_levels(measures, *keys)
    if measures[keys[2]] <= 1:
        look.equal(measures[keys[2]], 1.0 if measures[keys[0]] else 0.0)
        look.equal(measures[keys[1]], 0.0 if 1 - measures[keys[0]] >= 0.99 else 1.0)
