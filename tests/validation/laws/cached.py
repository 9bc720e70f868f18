"""Laws of media that have a cache of pages before them."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.laws.memory import at, media

PREFETCHES = "page_prefetches"
LATER = ("useful", "late", "useless")


def accesses(look: Look, name: str) -> int:
    """Accesses to pages: each is a hit, a join, or a miss."""
    measures = at(look, name)
    return int(measures["page_hits"] + measures["page_joins"] + measures["page_misses"])


@law("per_memory.*.page_hits", "per_memory.*.page_joins", "per_memory.*.page_misses")
def outcomes(look: Look, value: int, name: str) -> None:
    """Accesses here lie within a page."""
    look.within(value, 0, accesses(look, name))
    if look.exact:
        look.equal(accesses(look, name), at(look, name)["requests"])


@law("per_memory.*.page_hit_rate")
def hit_rate(look: Look, value: float | None, name: str) -> None:
    total = accesses(look, name)
    look.equal(value, at(look, name)["page_hits"] / total if total else None)


@law("per_memory.*.page_write_backs")
def write_backs(look: Look, value: int, name: str) -> None:
    """A page that leaves has made room for one that came."""
    measures = at(look, name)
    look.within(value, 0, measures["page_misses"] + measures.get(PREFETCHES, 0))
    if not at(look, name)["writes"]:
        look.equal(value, 0)


@law(f"per_memory.*.{PREFETCHES}", f"per_memory.*.{PREFETCHES}_dropped")
def asked(look: Look, value: int, name: str) -> None:
    """A page that was asked for ahead is used once for the first time, or leaves unused, or is there at the end."""
    measures = at(look, name)
    if look.whole:
        look.within(measures[PREFETCHES], sum(measures[f"{PREFETCHES}_{what}"] for what in LATER))
    look.within(value, 0)


@law(*(f"per_memory.*.{PREFETCHES}_{what}" for what in LATER))
def used(look: Look, value: int, name: str) -> None:
    measures = at(look, name)
    look.within(measures[f"{PREFETCHES}_useful"], 0, measures["page_hits"])
    look.within(measures[f"{PREFETCHES}_late"], 0, measures["page_joins"])
    look.within(value, 0)


@law("per_memory.*.misses_mean", "per_memory.*.misses_max")
def misses(look: Look, value: float, name: str) -> None:
    look.within(value, 0, media(look, name).get("misses", 32))
    look.check_levels(at(look, name), "misses_mean", "misses_max")


@law(
    *(f"per_memory.*.{side}_media_queue_{what}" for side in ("cache", "backing") for what in ("mean", "max"))
)
def queues(look: Look, value: float, name: str) -> None:
    """Both media here are of fixed latency, with a bank."""
    side = look.path[-1].partition("_")[0]
    look.within(value, 0)
    look.check_levels(at(look, name), f"{side}_media_queue_mean", f"{side}_media_queue_max")
