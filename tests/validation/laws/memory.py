"""Laws of memories: what their controllers serve, and how long it takes."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Array, Look
from validation.laws.requests import PART
from validation.systems import LINE, Spec


def owner(look: Look, name: str) -> Spec:
    """The parameters of a memory, an expander's or an accelerator's."""
    device = look.device(name)
    memory: Spec = device.get("memory", device)
    return memory


def media(look: Look, name: str) -> Spec:
    """The parameters of its media."""
    parameters: Spec = owner(look, name).get("media", {"kind": "fixed"})
    return parameters


def served(look: Look, name: str) -> Array:
    """The requests that it served."""
    return look.of("target", name) & look.served


def at(look: Look, name: str) -> Spec:
    """Its measures."""
    measures: Spec = look.summary["per_memory"][name]
    return measures


def by_lines(look: Look, name: str) -> bool:
    """Whether all that its media do is of whole lines, one for each access, and known from the rows."""
    lines = look.payload == LINE and "preset" not in media(look, name)
    return look.exact and lines and not posts(look, name)


def posts(look: Look, name: str) -> bool:
    """Whether writes are answered before the media have them, and reads from what waits for the media."""
    return "posted_writes" in owner(look, name)


@law("per_memory.*.requests")
def requests(look: Look, value: int, name: str) -> None:
    if look.controllers_take_time:
        look.equal(value, int(served(look, name).sum()))
    look.within(look.over("per_memory", "requests"), 0, look.summary["requests"])


@law("per_memory.*.errors.requests", "per_memory.*.errors.latency_ns.*")
def errors(look: Look, value: float, name: str, *keys: str) -> None:
    """Accesses of a line, which are the rows here, that a memory answered without data itself."""
    what = look.path[-2:] if keys else ("requests",)
    look.check_errors(value, look.all_of("target", name), PART, what)


@law("per_memory.*.extent_errors")
def extent_errors(look: Look, value: int, name: str) -> None:
    """Nothing else makes a memory here answer without data."""
    own = at(look, name).get("errors", {"requests": 0})["requests"]
    if look.whole and not look.given_up:
        look.equal(value, own)
    look.within(value, own if look.whole else 0)


@law("per_memory.*.extent_bytes.*")
def extent_bytes(look: Look, value: float, name: str, requester: str) -> None:
    """Unless they come and go: their sizes are in KiB."""
    if any({"add_extent", "release_extent"} & event.keys() for event in look.spec.get("events", [])):
        look.within(value, 0)
        return
    given = owner(look, name)["dynamic_capacity"]["extents"]
    own = sum(int(each["size"].removesuffix("KiB")) for each in given if each["host"] == requester)
    look.equal(value, 1024.0 * own)


@law("per_memory.*.write_backs")
def write_backs(look: Look, value: int, name: str) -> None:
    if not (look.buffers and look.copied):  # a persist buffer takes lines of pages that move
        look.equal(look.over("per_memory", "write_backs"), look.summary["write_backs"])
    look.within(value, 0, look.summary["write_backs"])


@law("per_memory.*.reads", "per_memory.*.writes", "per_memory.*.atomics")
def accesses(look: Look, value: int, name: str) -> None:
    measures, mine = at(look, name), served(look, name)
    atomics = measures.get("atomics", 0)
    ahead = measures.get("prefetches", 0)
    accesses = measures["requests"] + measures["write_backs"] + ahead + measures.get("drains", 0)
    look.equal(measures["reads"] + measures["writes"] + atomics, accesses)
    if look.controllers_take_time:
        look.equal(atomics, int((mine & look.made).sum()))
        look.equal(measures["reads"], int((mine & look.memory_reads).sum()) + ahead)


@law("per_memory.*.bandwidth_gb_per_s", "per_memory.*.read_gb_per_s", "per_memory.*.write_gb_per_s")
def bandwidth(look: Look, value: float, name: str) -> None:
    measures, mine = at(look, name), served(look, name)
    read, write = measures["read_gb_per_s"], measures["write_gb_per_s"]
    if not look.atomics:
        look.equal(measures["bandwidth_gb_per_s"], read + write)
    if look.controllers_take_time:
        both = float(look.size[mine & look.made].sum()) / look.length
        look.equal(measures["bandwidth_gb_per_s"], read + write + both)
        ahead = LINE * measures.get("prefetches", 0)
        look.equal(read * look.length, float(look.size[mine & look.memory_reads].sum()) + ahead)
        back = LINE * (measures["write_backs"] + measures.get("drains", 0))
        look.equal(write * look.length, float(look.size[mine & ~look.memory_reads & ~look.made].sum()) + back)


@law("per_memory.*.latency_ns.*")
def latency(look: Look, value: float | None, name: str, key: str) -> None:
    if look.controllers_take_time:
        look.check_latency(value, served(look, name), PART, key)


@law("per_memory.*.breakdown_ns.*")
def breakdown(look: Look, value: float | None, name: str, segment: str) -> None:
    if look.controllers_take_time:
        look.check_breakdown(value, served(look, name), segment)


def places(look: Look, name: str) -> float:
    """How many requests its controller takes at the same time."""
    params = owner(look, name)
    apart = params.get("read_buffer", float("inf")) + params.get("write_buffer", float("inf"))
    return float(min(params.get("queue", float("inf")), apart))


def waits_outside(look: Look, name: str) -> bool:
    """Whether requests may wait for a place in the controller; media_queue has that wait, too."""
    return bool({"queue", "read_buffer", "write_buffer", "logical_devices"} & owner(look, name).keys())


def inside(look: Look, name: str, of: Array | bool = True) -> float:
    """Time that its requests spent waiting for the controller, in it, and in the media."""
    return look.ns("controller", "media_queue", "media", of=served(look, name) & of)


@law("per_memory.*.queue_mean")
def queue_mean(look: Look, value: float, name: str) -> None:
    if look.exact and look.controllers_take_time:
        if "logical_devices" in owner(look, name):  # what does not wait in one of them is here
            outside = sum(ld["queue_mean"] for ld in at(look, name)["logical_devices"].values())
            look.equal((value + outside) * look.length, inside(look, name))
        elif not waits_outside(look, name):
            look.equal(value * look.length, inside(look, name))
        look.within(value * look.length, 0, inside(look, name))
    look.within(value, 0, places(look, name))


@law("per_memory.*.queue_p99", "per_memory.*.queue_max")
def queue_levels(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    look.check_levels(measures, "queue_mean", "queue_p99", "queue_max")
    look.within(value, 0, places(look, name))
    if measures["queue_max"] <= 1:
        look.equal(measures["queue_max"], 1.0 if measures["queue_mean"] else 0.0)
        look.equal(measures["queue_p99"], 0.0 if 1 - measures["queue_mean"] >= 0.99 else 1.0)


@law(*(f"per_memory.*.{kind}_places_{what}" for kind in ("read", "write") for what in ("mean", "max")))
def taken_places(look: Look, value: float, name: str) -> None:
    kind = look.path[-1].partition("_")[0]
    measures, limit = at(look, name), owner(look, name)[f"{kind}_buffer"]
    look.check_levels(measures, f"{kind}_places_mean", f"{kind}_places_max")
    look.within(value, 0, limit)
    if not look.exact or not look.controllers_take_time:
        return
    here = inside(look, name, look.memory_reads if kind == "read" else ~look.memory_reads)
    # A posted write is answered before the media have it, and keeps its place.
    posted = kind == "write" and "posted_writes" in owner(look, name)
    held = measures[f"{kind}_places_mean"] * look.length
    if not posted:
        look.within(held, 0, here)
    if measures[f"{kind}_places_max"] < limit and not posted:  # so nobody has waited outside
        look.equal(held, here)


@law("per_memory.*.buffer_hits")
def buffer_hits(look: Look, value: int, name: str) -> None:
    reads = served(look, name) & look.memory_reads
    look.within(value, 0, at(look, name)["reads"] + 64)
    if look.exact and look.controllers_take_time:
        # What is answered from the buffer has not been in the media.
        look.within(value, 0, int((reads & (look.rows["media_ps"] == 0)).sum()))
        # Nor has what the media answer from what they still have to write.
        forwarded = at(look, name).get("forwarded_reads", 0)
        if media(look, name).get("latency", "45ns") not in ("0ns", "0ps") and forwarded == 0:
            look.equal(value, int((reads & (look.rows["media_ps"] == 0)).sum()))
