"""Laws of what a kernel does for pages that move: each cost is of something that was counted."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.systems import LINE, Spec


def tiering(look: Look, name: str) -> Spec:
    """What the kernel did for a requester's pages."""
    measured: Spec = look.summary["per_requester"][name]["tiering"]
    return measured


def kernel_ns(look: Look, name: str, cost: str) -> float:
    """What something costs, ns."""
    return float(look.spec["workload"][name]["kernel"][cost].removesuffix("ns"))


@law("per_requester.*.tiering.faults")
def faults(look: Look, value: int, name: str) -> None:
    """Each is of a page that was made inaccessible before."""
    look.within(value, 0, tiering(look, name)["protected_pages"])


@law("per_requester.*.tiering.fault_ns")
def fault_time(look: Look, value: float, name: str) -> None:
    look.equal(value, tiering(look, name)["faults"] * kernel_ns(look, name, "fault"))


@law("per_requester.*.tiering.protected_pages")
def protected_pages(look: Look, value: int, name: str) -> None:
    """None by what takes samples alone, or knows what comes; each fault is of one, and what is protected is so once."""
    found = tiering(look, name)
    if look.spec["workload"][name]["tiering"]["kind"] in ("hot-pages", "hemem", "oracle"):
        look.equal(value, 0)
    pages = sum(look.summary["per_requester"][name]["pages"].values())
    look.within(value, found["faults"], found["faults"] + pages)


@law("per_requester.*.tiering.scanned_pages")
def scanned_pages(look: Look, value: int, name: str) -> None:
    if look.spec["workload"][name]["tiering"]["kind"] in ("promote-on-fault", "autonuma", "hemem", "oracle"):
        look.equal(value, 0)
    look.within(value, 0)


@law("per_requester.*.tiering.samples")
def samples(look: Look, value: int, name: str) -> None:
    """One in so many of the accesses that memory answered."""
    every = look.spec["workload"][name]["tiering"].get("every")
    if every is None:
        look.equal(value, 0)
    elif look.whole and "cache" not in look.device(name):
        look.equal(value, len(look.rows["id"]) // every)
    look.within(value, 0)


@law("per_requester.*.tiering.shootdowns")
def shootdowns(look: Look, value: int, name: str) -> None:
    """One before each copy, and at most one for each page that was protected."""
    moved = look.summary["per_requester"][name]["pages_moved"]
    stayed = look.summary["per_requester"][name]["pages_not_moved"]
    of_events = any(
        "move_pages" in event or "offline" in event for event in look.spec.get("events", [])
    )  # which shoot nothing down
    low = 0 if of_events else moved
    look.within(value, low, moved + stayed + tiering(look, name)["protected_pages"])
    if tiering(look, name)["protected_pages"] == 0 and not look.given_up and not of_events:
        look.equal(value, moved)


@law("per_requester.*.tiering.interrupted_ns")
def interrupted(look: Look, value: float, name: str) -> None:
    """One thread takes no more than what is done to it. At the end nobody is there to pay."""
    found = tiering(look, name)
    costs = {
        "shootdowns": "interrupt",
        "samples": "sample",
        "protected_pages": "protect",
        "scanned_pages": "scan",
    }
    look.within(value, 0, sum(found[what] * kernel_ns(look, name, cost) for what, cost in costs.items()))


@law("per_requester.*.tiering.promoted_bytes", "per_requester.*.tiering.demoted_bytes")
def tiered_bytes(look: Look, value: int, name: str) -> None:
    """Whole pages; what left the near node is no more than what was there or came."""
    page = LINE * look.page_lines(name)
    assert value % page == 0
    found = look.summary["per_requester"][name]
    if found["tiering"]["demoted_bytes"] == 0:
        look.equal(found["tiering"]["promoted_bytes"], found["pages_moved"] * page)
    look.within(value, 0, found["pages_moved"] * page)
