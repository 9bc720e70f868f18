"""Laws of media but DRAM: those of fixed latency, non-volatile ones, flash, and measured curves."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.laws.memory import at, by_lines, media, posts, served, waits_outside
from validation.systems import LINE, Spec

BURST = 64
"""Bytes that DRAM moves at once."""


# --- Media of fixed latency, and non-volatile ones ---


@law("per_memory.*.media_queue_mean", "per_memory.*.media_queue_max")
def media_queue(look: Look, value: float, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    look.check_levels(measures, "media_queue_mean", "media_queue_max")
    if parameters.get("kind", "fixed") != "fixed" or not look.exact or posts(look, name):
        return
    if measures.get(
        "spared"
    ):  # copies to spare parts wait as well, and those who wait for them do so elsewhere
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
        # A read of z-nand: the command, the array, a page of 4 KiB at 0.8 GB/s.
        look.equal(value * look.length, measures["page_reads"] * (290.0 + 3000.0 + 5120.0))


@law("per_memory.*.erases_max", "per_memory.*.erases_mean", "per_memory.*.worn_blocks")
def erases(look: Look, value: float, name: str) -> None:
    measures, parameters = at(look, name), media(look, name)
    look.within(measures["erases_mean"], 0, measures["erases_max"])
    if look.path[-1] == "erases_mean":
        flash_operations(look, measures["block_erases"], name)
    if measures["erases_max"] < parameters.get("endurance", 1000):
        look.equal(measures["worn_blocks"], 0)


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
