"""Laws of memories, their media, and I/O engines."""

from __future__ import annotations

import numpy as np
from validation.laws import law
from validation.laws.look import Array, Look
from validation.laws.requests import PART
from validation.systems import LINE, Spec

PEAK = {"DDR4-3200": 25.6, "DDR5-4800": 38.4}
"""Bytes per nanosecond that the data bus moves: the name's MT/s on 64 pins."""
BURST = 64


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


# --- Memories ---


@law("per_memory.*.requests")
def requests(look: Look, value: int, name: str) -> None:
    if look.controllers_take_time:
        look.equal(value, int(served(look, name).sum()))
    look.within(look.over("per_memory", "requests"), 0, look.summary["requests"])


@law("per_memory.*.errors.requests", "per_memory.*.errors.latency_ns.*")
def errors(look: Look, value: float, name: str, *keys: str) -> None:
    """Of accesses of a line, which are the rows here: what a memory answered without data itself."""
    what = look.path[-2:] if keys else ("requests",)
    look.check_errors(value, look.all_of("target", name), PART, what)


@law("per_memory.*.extent_errors")
def extent_errors(look: Look, value: int, name: str) -> None:
    """Nothing else makes a memory here answer without data."""
    if look.whole:
        look.equal(value, at(look, name).get("errors", {"requests": 0})["requests"])


@law("per_memory.*.extent_bytes.*")
def extent_bytes(look: Look, value: float, name: str, requester: str) -> None:
    """Extents do not come and go here: their sizes are in KiB."""
    given = owner(look, name)["dynamic_capacity"]["extents"]
    own = sum(int(each["size"].removesuffix("KiB")) for each in given if each["host"] == requester)
    look.equal(value, 1024.0 * own)


@law("per_memory.*.write_backs")
def write_backs(look: Look, value: int, name: str) -> None:
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


# --- Media of fixed latency, and non-volatile ones ---


@law("per_memory.*.media_queue_mean", "per_memory.*.media_queue_max")
def media_queue(look: Look, value: float, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    look.check_levels(measures, "media_queue_mean", "media_queue_max")
    if parameters.get("kind", "fixed") != "fixed" or not look.exact or posts(look, name):
        return
    waited = look.ns("media_queue", of=served(look, name))
    if not waits_outside(look, name) and parameters.get("bandwidth", "unlimited") == "unlimited":
        look.equal(measures["media_queue_mean"] * look.length, waited)
        if look.path[-1] == "media_queue_max":
            look.equal(bool(value), waited > 0)
    look.within(measures["media_queue_mean"] * look.length, 0, waited)


@law("per_memory.*.media_read_gb_per_s", "per_memory.*.media_write_gb_per_s")
def media_rates(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    if media(look, name)["kind"] == "dram":
        bursts = measures["row_hits"] + measures["row_misses"] + measures["row_conflicts"]
        both = measures["media_read_gb_per_s"] + measures["media_write_gb_per_s"]
        look.equal(both * look.length, float(BURST * bursts))
        kinds = ("RD", "RDA") if "read" in look.path[-1] else ("WR", "WRA")
        look.equal(value * look.length, float(BURST * look.commands(name, *kinds)))
    else:
        amplification(look, value, name)


@law("per_memory.*.read_amplification", "per_memory.*.write_amplification")
def amplification(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    for way in ("read", "write"):
        asked, did = measures[f"{way}_gb_per_s"], measures[f"media_{way}_gb_per_s"]
        if not asked and measures[f"{way}_amplification"] is None:
            continue
        if look.exact and asked and not posts(look, name):
            look.equal(measures[f"{way}_amplification"] * asked, did)


@law("per_memory.*.write_buffer_mean", "per_memory.*.write_buffer_max")
def write_buffer(look: Look, value: float, name: str) -> None:
    look.check_levels(at(look, name), "write_buffer_mean", "write_buffer_max")
    parameters = media(look, name)
    # Without one flash counts the pages that are on their way.
    if parameters.get("write_buffer", 64) > 0:
        look.within(value, 0, parameters.get("write_buffer", 64))
    if look.exact and not at(look, name)["writes"] and media(look, name)["kind"] == "nvm":
        look.equal(value, 0.0)


@law("per_memory.*.merged_writes", "per_memory.*.forwarded_reads", "per_memory.*.read_buffer_hits")
def spared(look: Look, value: int, name: str) -> None:
    measures = at(look, name)
    if look.exact and not posts(look, name):
        # An access of one size reaches over at most two blocks or bursts more than it fills.
        asked = measures["writes" if look.path[-1] == "merged_writes" else "reads"]
        look.within(value, 0, asked * 6)
        if not measures["writes"] and look.path[-1] != "read_buffer_hits":
            look.equal(value, 0)
    if media(look, name)["kind"] == "nvm" and by_lines(look, name):
        moved = measures["media_read_gb_per_s"] * look.length / LINE
        # Reads of one line may share an operation of the media.
        spared_reads = measures["forwarded_reads"] + measures["read_buffer_hits"]
        look.within(moved + spared_reads, 0, measures["reads"])
        if look.path[-1] == "merged_writes":
            wear(look, value, name)
    if media(look, name)["kind"] == "dram" and look.exact and look.payload == LINE and not posts(look, name):
        bursts = measures["row_hits"] + measures["row_misses"] + measures["row_conflicts"]
        done = measures["forwarded_reads"] + measures["merged_writes"]
        # Every line is a burst: moved, merged, read from the queue, or still in it.
        look.within(
            bursts + done, measures["reads"] + measures["writes"] - 64, measures["reads"] + measures["writes"]
        )
        if not measures["writes"]:
            look.equal(bursts + done, measures["reads"])


@law(
    "per_memory.*.wear_max", "per_memory.*.wear_mean", "per_memory.*.written_lines", "per_memory.*.worn_lines"
)
def wear(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    look.equal(measures["wear_mean"] is None, measures["written_lines"] == 0)
    look.within(measures["wear_mean"] or 0.0, 0, measures["wear_max"])
    look.within(measures["worn_lines"], 0, measures["written_lines"])
    borne = (measures["wear_mean"] or 0.0) * measures["written_lines"]
    look.within(borne * LINE, measures["media_write_gb_per_s"] * look.length * (look.whole or 0))
    if by_lines(look, name):
        # To the end of the run, when all that was written has come to the media or been merged on its way.
        look.equal(borne, float(measures["writes"] - measures["merged_writes"]))


# --- Flash ---


@law(*(f"per_memory.*.{what}" for what in ("page_reads", "page_programs", "pages_moved", "block_erases")))
def flash_operations(look: Look, value: int, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    page = 16384 if parameters.get("preset", "tlc") == "tlc" else 4096
    look.equal(float(measures["page_reads"] * page), measures["media_read_gb_per_s"] * look.length)
    look.equal(float(measures["page_programs"] * page), measures["media_write_gb_per_s"] * look.length)
    look.within(measures["pages_moved"], 0, measures["page_programs"])
    if not look.exact or posts(look, name):
        return
    if not measures["writes"]:
        look.equal(measures["page_programs"], 0)
        look.equal(measures["block_erases"], 0)
    if parameters.get("write_buffer") == 0 and look.payload == LINE:
        # Every write is a program, unless it was merged with one; the rest is moved.
        look.equal(
            measures["page_programs"] - measures["pages_moved"],
            measures["writes"] - measures["merged_writes"],
        )
    if "overwritten" not in parameters and one_die(parameters):
        # One may be under way when the window ends.
        borne = measures["erases_mean"] * parameters["blocks"]
        look.within(borne, measures["block_erases"], measures["block_erases"] + 1)


@law("per_memory.*.joined_reads")
def joined_reads(look: Look, value: int, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    if not look.exact or posts(look, name):
        return
    look.within(value, 0, measures["reads"] * 6)
    if not measures["writes"] and look.payload == LINE and parameters.get("filled", 1.0) == 1.0:
        # A line is of one page, which is read for it, or on its way for another.
        look.equal(measures["page_reads"] + value, measures["reads"])


def one_die(parameters: Spec) -> bool:
    """Whether flash is one die of one plane, and its number of blocks written."""
    return all(parameters.get(key) == 1 for key in ("channels", "dies", "planes")) and "blocks" in parameters


@law("per_memory.*.dies_busy_mean")
def dies_busy(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    look.within(value, 0, 4096)
    if look.exact and not measures["writes"] and one_die(media(look, name)):
        # Of z-nand: the command, the array, a page of 4 KiB at 0.8 GB/s.
        look.equal(value * look.length, measures["page_reads"] * (290.0 + 3000.0 + 5120.0))


@law("per_memory.*.erases_max", "per_memory.*.erases_mean", "per_memory.*.worn_blocks")
def erases(look: Look, value: float, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    look.within(measures["erases_mean"], 0, measures["erases_max"])
    if look.path[-1] == "erases_mean":
        flash_operations(look, measures["block_erases"], name)
    if measures["erases_max"] < parameters.get("endurance", 1000):
        look.equal(measures["worn_blocks"], 0)


def by_lines(look: Look, name: str) -> bool:
    """Whether all that its media do is of whole lines, one for each access, and known from the rows."""
    lines = look.payload == LINE and "preset" not in media(look, name)
    return look.exact and lines and not posts(look, name)


def posts(look: Look, name: str) -> bool:
    """Whether writes are answered before the media have them, and reads from what waits for the media."""
    return "posted_writes" in owner(look, name)


# --- Measured curves ---


@law("per_memory.*.curve_reads")
def curve_reads(look: Look, value: float | None, name: str) -> None:
    if value is None:
        return
    look.within(value, 0, 1)
    mine = served(look, name)
    if look.exact and mine.any() and look.memory_reads[mine].all():
        look.equal(value, 1.0)


@law("per_memory.*.curve_load", "per_memory.*.throttled")
def curve_load(look: Look, value: float | None, name: str) -> None:
    measures = at(look, name)
    if value is None:
        if look.exact:
            assert not served(look, name).any()
        return
    look.within(measures["throttled"], 0, 1)
    look.within(measures["curve_load"], 0)


# --- DRAM ---


@law(
    "per_memory.*.row_hits",
    "per_memory.*.row_misses",
    "per_memory.*.row_conflicts",
    "per_memory.*.row_hit_rate",
)
def rows(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    bursts = measures["row_hits"] + measures["row_misses"] + measures["row_conflicts"]
    moved = (measures["media_read_gb_per_s"] + measures["media_write_gb_per_s"]) * look.length
    look.equal(float(bursts * BURST), moved)
    look.equal(measures["row_hit_rate"] is None, bursts == 0)
    look.equal((measures["row_hit_rate"] or 0.0) * bursts, float(measures["row_hits"]))


@law("per_memory.*.data_bus_utilization")
def data_bus(look: Look, value: float, name: str) -> None:
    moved = at(look, name)["media_read_gb_per_s"] + at(look, name)["media_write_gb_per_s"]
    # The window is told in clocks.
    look.equal(value, moved / PEAK[media(look, name)["preset"]], rel=1.5 / max(look.length, 1))
    look.within(value, 0, 1 + 2 / max(look.length, 1))


@law(*(f"per_memory.*.{kind}_queue_{what}" for kind in ("read", "write") for what in ("mean", "max")))
def dram_queues(look: Look, value: float, name: str) -> None:
    kind = look.path[-1].partition("_")[0]
    measures = at(look, name)
    look.within(
        measures[f"{kind}_queue_mean"], 0, measures[f"{kind}_queue_max"] * (1 + 2 / max(look.length, 1))
    )
    look.within(measures["write_queue_max"], 0, media(look, name).get("write_queue", 256) + 64)
    if look.exact and not measures[f"{kind}s"]:
        look.equal(value, 0.0)
    if look.exact and kind == "read":
        # A burst is in the queue no longer than its access is in the media.
        mine = served(look, name) & look.memory_reads
        bursts = (look.payload or 4096) // BURST + 2
        lanes = 2 if media(look, name)["preset"].startswith("DDR5") else 1
        inside = look.ns("controller", "media_queue", "media", of=mine)
        look.within(
            measures["read_queue_mean"] * look.length * lanes, 0, inside * bursts + look.length * 1e-6
        )


@law("per_memory.*.activates")
def activates(look: Look, value: int, name: str) -> None:
    measures = at(look, name)
    look.equal(value, look.commands(name, "ACT"))
    if look.exact:
        # A burst that finds no open row has one opened, which may serve others.
        look.equal(bool(value), measures["row_misses"] + measures["row_conflicts"] > 0)


@law("per_memory.*.refreshes", "per_memory.*.refresh_share", "per_memory.*.power_down_share")
def shares(look: Look, value: float, name: str) -> None:
    look.within(value, 0, 1 if look.path[-1].endswith("share") else float("inf"))
    measures = at(look, name)
    if look.path[-1] == "refreshes":
        look.equal(value, look.commands(name, "REF", "REFSB"))
    if look.path[-1] == "refresh_share":
        look.equal(value > 0, measures["refreshes"] > 0)
    if look.path[-1] == "power_down_share" and "power_down" not in media(look, name):
        look.equal(value, 0.0)


PARTS = ("background", "activate", "read", "write", "refresh")


@law("per_memory.*.energy_uj", "per_memory.*.power_mw", *(f"per_memory.*.energy_{part}_uj" for part in PARTS))
def energy(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    look.within(value, 0)
    look.equal(measures["energy_uj"], float(sum(measures[f"energy_{part}_uj"] for part in PARTS)))
    look.equal(measures["power_mw"] * look.length, measures["energy_uj"] * 1e6)
    causes = {"activate": "activates", "read": "media_read_gb_per_s", "write": "media_write_gb_per_s"}
    causes["refresh"] = "refreshes"
    for part, cause in causes.items():
        look.equal(measures[f"energy_{part}_uj"] > 0, measures[cause] > 0)


# --- I/O engines ---


def engine(look: Look, name: str) -> Spec:
    """Its measures."""
    measures: Spec = look.summary["per_io"][name]
    return measures


@law("per_io.*.packets", "per_io.*.bandwidth_gb_per_s")
def packets(look: Look, value: float, name: str) -> None:
    measures, device = engine(look, name), look.device(name)
    size = 4 if device["traffic"] == "config-read" else int(device.get("size", "256B").removesuffix("B"))
    look.equal(measures["bandwidth_gb_per_s"] * look.length, float(measures["packets"] * size))
    # What it is paced at, and what was under way when the window opened.
    limit = float(device.get("rate", "1000GB/s").removesuffix("GB/s"))
    if look.path[-1] == "packets":
        look.within(value, 0, limit * look.length / size + 40)


@law("per_io.*.in_flight_mean")
def io_in_flight(look: Look, value: float, name: str) -> None:
    measures = engine(look, name)
    # Little's law but for the packets under way when the window opens and closes.
    took = measures["packets"] * (measures["latency_ns"]["mean"] or 0.0)
    early = 500 * (measures["latency_ns"]["max"] or 0.0)
    look.within(value * look.length, max(0.0, took - early), took + 500 * look.length)


@law("per_io.*.latency_ns.*")
def io_latency(look: Look, value: float | None, name: str, key: str) -> None:
    latencies = engine(look, name)["latency_ns"]
    order = [latencies[each] for each in ("min", "p50", "p90", "p99", "p999", "max")]
    if engine(look, name)["packets"] == 0:
        return look.equal(value, None)
    assert order == sorted(order)
    look.within(latencies["mean"], latencies["min"], latencies["max"])
    if engine(look, name)["packets"] == 1:
        look.equal(value, latencies["max"], rel=PART)
    return None


@law("per_io.*.breakdown_ns.*")
def io_breakdown(look: Look, value: float | None, name: str, segment: str) -> None:
    measures = engine(look, name)
    parts = list(measures["breakdown_ns"].values())
    if measures["packets"] == 0:
        return look.equal(value, None)
    return look.equal(float(np.sum(parts)), measures["latency_ns"]["mean"])
