"""Laws of the accesses to media that stand behind others, or before them as their cache."""

from __future__ import annotations

from validation.laws import law
from validation.laws.cached import PREFETCHES
from validation.laws.compressed import counted
from validation.laws.look import Look
from validation.laws.memory import at, media
from validation.systems import LINE, Spec
from validation.unloaded import bytes_of, default

SIDES = ("cache", "backing")


def mine(look: Look, name: str) -> Spec:
    """The accesses that the path is about."""
    found: Spec = at(look, name)[look.path[2]]
    return found


@law("per_memory.*.cache_accesses.reads", "per_memory.*.cache_accesses.writes")
def cache_accesses(look: Look, value: int, name: str) -> None:
    """A hit uses its page, a miss fills it in, and a victim is read out before that."""
    measures = at(look, name)
    look.within(value, 0)
    if look.exact and PREFETCHES not in measures:
        both = mine(look, name)["reads"] + mine(look, name)["writes"]
        look.equal(both, sum(measures[f"page_{what}"] for what in ("hits", "misses", "write_backs")))


@law("per_memory.*.backing_accesses.reads", "per_memory.*.backing_accesses.writes")
def backing_accesses(look: Look, value: int, name: str) -> None:
    """A miss of a page fetches it, and a block is read and written as it is compressed."""
    measures, kind = at(look, name), media(look, name)["kind"]
    reads = look.path[-1] == "reads"
    look.within(value, 0)
    if kind == "cached" and look.exact and PREFETCHES not in measures:
        if reads:
            look.equal(value, measures["page_misses"])
        else:  # behind the last answer some are still on their way
            look.within(value, 0, measures["page_write_backs"])
    elif kind == "compressed" and counted(look, name):
        look.equal(value, measures["blocks_decompressed" if reads else "blocks_compressed"])


@law(*(f"per_memory.*.{side}_accesses.bandwidth_gb_per_s" for side in SIDES))
def bandwidth(look: Look, value: float, name: str) -> None:
    """Pages go to and fro as a whole, and lines behind inline ECC."""
    parameters, moved = media(look, name), value * look.length
    accesses = mine(look, name)["reads"] + mine(look, name)["writes"]
    look.within(value, 0)
    if parameters["kind"] == "cached":
        page = bytes_of(str(parameters.get("page", default("media", "cached", "page"))))
        measures = at(look, name)
        if look.path[2] == "backing_accesses":
            look.equal(moved, float(accesses * page))
        elif look.exact and look.payload == LINE and PREFETCHES not in measures:
            pages = measures["page_misses"] + measures["page_write_backs"]
            look.equal(moved, float(pages * page + measures["page_hits"] * LINE))
    elif parameters["kind"] == "inline-ecc" and look.payload == LINE:
        look.equal(moved, float(accesses * LINE))


@law(*(f"per_memory.*.{side}_accesses.breakdown_ns.*" for side in SIDES))
def breakdown(look: Look, value: float | None, name: str, segment: str) -> None:
    if value is not None:
        look.within(value, 0)
