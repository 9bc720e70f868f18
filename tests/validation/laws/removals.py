"""Laws of memories that are taken out of use: what left them, how long that took, and who felt it."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.systems import LINE, Spec


def removal(look: Look, name: str) -> Spec:
    found: Spec = look.summary["removals"][name]
    return found


def tiered(look: Look) -> bool:
    """Policies move pages besides."""
    return any("tiering" in work for work in look.spec["workload"].values())


@law("removals.*.took_ns")
def took(look: Look, value: float | None, name: str) -> None:
    """One program without a cache: its pages are moved all the time, and then the memory is empty."""
    found, movers = removal(look, name), look.summary["per_requester"]
    stays = found["pages_left"] > 0 or any("was still being taken" in note for note in look.summary["notes"])
    look.equal(value is None, stays)
    if value is None:
        return
    look.within(value, 0)
    alone = len(movers) == 1 and len(look.summary["removals"]) == 1 and not tiered(look)
    if alone and found["flushed_lines"] == 0:
        (each,) = movers.values()
        look.within(value, each["page_moves_ns"])
        if not look.copied_in_caches:
            look.equal(value, each["page_moves_ns"])


@law("removals.*.moved_bytes")
def moved_bytes(look: Look, value: int, name: str) -> None:
    """Whole pages: all that moved in the run, where nothing else moves any."""
    moved = sum(
        each["pages_moved"] * look.page_lines(requester) * LINE
        for requester, each in look.summary["per_requester"].items()
    )
    together = sum(each["moved_bytes"] for each in look.summary["removals"].values())
    if not tiered(look):
        look.equal(together, moved)
    look.within(value, 0, moved)


@law("removals.*.pages_left")
def pages_left(look: Look, value: int, name: str) -> None:
    """They are there still; what was emptied has none."""
    device = name.rpartition(" ")[2]
    left = sum(each["pages"].get(device, 0) for each in look.summary["per_requester"].values())
    if removal(look, name)["took_ns"] is not None:
        look.equal(value, 0)
        if not any("repair" in event for event in look.spec["events"]):
            look.equal(left, 0)
    elif not tiered(look):
        look.within(value, 0, left)
    look.within(value, 0)


@law("removals.*.flushed_lines")
def flushed_lines(look: Look, value: int, name: str) -> None:
    """None without caches; none that nobody has written."""
    cached = [name for name in look.spec["workload"] if "cache" in look.device(name)]
    if not cached or look.summary["writes"] == 0:
        look.equal(value, 0)
    if not tiered(look):
        look.within(value, 0, removal(look, name)["moved_bytes"] // LINE)
    look.within(value, 0)


WHEN = ("before", "during", "after")


@law("removals.*.requesters.*.errors")
def errors(look: Look, value: int, name: str, requester: str) -> None:
    """Nobody gets one for it."""
    whole = look.summary["per_requester"][requester].get("errors", {"requests": 0})["requests"]
    look.within(value, 0, whole)
    if not any("fail" in each for each in look.spec["events"]):
        look.equal(value, 0)


@law(
    *(f"removals.*.requesters.*.{key}" for when in WHEN for key in (f"requests_{when}", f"latency_{when}_ns"))
)
def around(look: Look, value: float | None, name: str, requester: str) -> None:
    """All that a requester got in the window it got before, meanwhile or after."""
    of = removal(look, name)["requesters"][requester]
    whole = look.summary["per_requester"][requester]
    look.equal(sum(of[f"requests_{when}"] for when in WHEN), whole["requests"])
    parts = [(of[f"requests_{when}"], of[f"latency_{when}_ns"]) for when in WHEN]
    look.equal([mean is None for _, mean in parts], [count == 0 for count, _ in parts])
    if whole["requests"]:
        total = sum(count * mean for count, mean in parts if count)
        look.equal(total, float(whole["latency_ns"]["mean"] * whole["requests"]))
