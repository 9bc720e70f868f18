"""Laws of what homes and caches measure of coherent lines: they are those of the messages in the protocol log."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from validation.laws import Law, Path, law
from validation.laws.logged_look import LINES, WINDOW, LoggedLook, Message, Snoop
from validation.unloaded import bytes_of

COHERENCE: dict[Path, Law] = {}
"""The laws for runs with a log, by path."""


def home_of(names: list[str]) -> str | None:
    """The home of a measure by home; none of a measure of all together."""
    return names[0] if names else None


def logged(*keys: str) -> Any:
    """A law for a measure of each home, and of all together."""
    return law(*(f"{part}.{key}" for key in keys for part in ("per_home.*", "coherence")), laws=COHERENCE)


# --- Homes ---


@logged("filter_hits", "filter_misses")
def lookups(look: LoggedLook, value: int, *names: str) -> None:
    """A line has an entry if somebody owns it: requests to it that are under way are ended before the next begins."""
    homes = names or look.summary["per_home"]
    found = [m.before != "I" for home in homes for m in look.requests(home)]
    look.equal(value, sum(found) if look.path[-1] == "filter_hits" else len(found) - sum(found))


@logged("snoops_sent", "bisnp_sent")
def snoops_sent(look: LoggedLook, value: int, *names: str) -> None:
    own = [m for m in look.sent_snoops if m.source in (names or look.summary["per_home"])]
    if look.path[-1] == "bisnp_sent":
        own = [m for m in own if m.opcode.startswith("BISnp")]
    look.counts_sent(value, [m.sent for m in own])


@logged("conflicts")
def conflicts(look: LoggedLook, value: int, *names: str) -> None:
    asked = [m for m in look.log if m.opcode == "BIConflict" and m.part == WINDOW]
    look.equal(value, sum(m.destination in names or not names for m in asked))


@logged("lines_invalidated")
def lines_invalidated(look: LoggedLook, value: int, *names: str) -> None:
    """As the home knows their owners: of a block a cache may have some lines only."""
    own = [snoop for snoop in look.snoops_of(home_of([*names])) if snoop.invalidates]
    if all(snoop.lines == 1 for snoop in own):
        look.counts_sent(value, [snoop.sent for snoop in own])
        return
    low, _ = look.sent_in_window(snoop.sent for snoop in own)
    _, high = look.sent_in_window(snoop.sent for snoop in own for _ in range(snoop.lines))
    look.within(value, low, high)


@logged("invalidation_wait_ns")
def invalidation_wait(look: LoggedLook, value: float, *names: str) -> None:
    """From the snoops for a line, or for a block, to the last answer, if that came in the window."""
    together: dict[tuple[str, int, int], list[Snoop]] = defaultdict(list)
    for snoop in look.snoops_of(home_of([*names])):
        if snoop.invalidates:
            together[snoop.home, snoop.address, snoop.sent].append(snoop)
    last = [max(of, key=lambda snoop: snoop.answered) for of in together.values()]
    waits = [snoop.answered - snoop.sent for snoop in last if snoop.in_window]
    # Data may come behind the answer (home agents), and a question may be one of a flip (bias).
    if not look.has_bias(home_of([*names])) and not any(
        "home_agent" in look.device(name) for name in names or look.summary["per_home"]
    ):
        look.equal(value, sum(waits) / len(waits) / 1000 if waits else 0.0)
    look.within(value, 0.0, look.outcome.end_ns)


@logged("filter_evictions")
def filter_evictions(look: LoggedLook, value: int, *names: str) -> None:
    here = look.summary["per_home"][names[0]] if names else look.summary["coherence"]
    look.equal(value, here["filter_evictions_capacity"] + here["filter_evictions_conflict"])
    begun = {
        (snoop.home, snoop.address, snoop.sent): snoop.lines
        for snoop in look.snoops_of(home_of([*names]))
        if snoop.evicts
    }
    look.counts_sent(value, [sent for (_, _, sent), lines in begun.items() for _ in range(lines)])


@logged("filter_evictions_capacity", "filter_evictions_conflict")
def evictions_by_cause(look: LoggedLook, value: int, *names: str) -> None:
    """Without sets there is room until the whole filter is full; for fewer lines than it has entries it never is."""
    here = look.summary["per_home"][names[0]] if names else look.summary["coherence"]
    homes = [look.home(name) for name in (names or look.summary["per_home"])]
    if all(home["filter"].get("ways", 0) == 0 for home in homes):
        look.equal(value, here["filter_evictions"] if look.path[-1].endswith("capacity") else 0)
    elif all(
        len(look.lines_at(name)) < look.home(name)["filter"]["entries"]
        for name in names or look.summary["per_home"]
    ):
        look.equal(value, 0 if look.path[-1].endswith("capacity") else here["filter_evictions"])
    look.within(value, 0, here["filter_evictions"])


@logged("filter_entries")
def filter_entries(look: LoggedLook, value: int, *names: str) -> None:
    """At the end of a run: the lines that somebody was granted and has not given back."""
    homes = names or look.summary["per_home"]
    look.within(value, 0, sum(look.home(name)["filter"]["entries"] for name in homes))
    if look.whole and not any(m.part != WINDOW for m in look.log):
        look.equal(value, len(owned(look, homes)))


def owned(look: LoggedLook, homes: Any) -> set[int]:
    """Lines that somebody owns at the end, as the messages say: grants count as they are sent.

    A cache without access time may be granted a line and lose it in one instant. Then the order of the log decides:
    what it loses after a grant it loses after it has handled that.
    """
    owners: dict[int, set[str]] = defaultdict(set)
    granting = ("Cmp-S", "Cmp-E", "GO-S", "GO-E")
    events = [(m.sent, row, True, m) for row, m in enumerate(look.log) if m.opcode in granting]
    events += [
        (m.time, row, False, m)
        for row, m in enumerate(look.log)
        if m.opcode
        in (
            "MemClnEvct",
            "CleanEvict",
            "DirtyEvict",
            "BIRspI",
            "BIRspIBlk",
            "RspIHitI",
            "RspIHitSE",
            "RspIFwdM",
        )
        or (m.opcode in ("MemWr", "MemAtomic") and m.meta == 0)
        or m.opcode in ("ItoMWr", "WrInv", "Atomic")
    ]
    for _, _, granted, m in sorted(events, key=lambda event: event[:2]):
        home, peer = (m.source, m.destination) if granted else (m.destination, m.source)
        if home not in homes or (home != peer and look.by_bias(m)):  # by bias only its own cache has entries
            continue
        for line in range(m.address // 64, m.address // 64 + m.lines):
            owners[line].add(peer) if granted else owners[line].discard(peer)
    return {line for line, of in owners.items() if of}


@logged("bias_flips_to_device", "bias_flips_to_host")
def flips(look: LoggedLook, value: int, *names: str) -> None:
    """A page flips to and fro; none does where no home has a bias, or the host has all pages for ever."""
    here = look.summary["per_home"][names[0]] if names else look.summary["coherence"]
    to_device, to_host = here["bias_flips_to_device"], here["bias_flips_to_host"]
    homes = [name for name in names or look.summary["per_home"] if look.has_bias(name)]
    pages = len(
        {(name, m.address // page_of(look, name)) for name in homes for m in look.to[name] if look.by_bias(m)}
    )
    if pages == 0:
        look.equal(value, 0)
    for name in homes:
        params = look.home(name)
        if params.get("flip_after", 1) == 0 and params.get("initial", "host") == "host":
            look.equal(value, 0)
    if look.whole and all(look.home(name).get("initial", "host") == "host" for name in homes):
        look.within(to_device - to_host, 0, pages)
    look.within(to_device - to_host, -pages, pages)


def page_of(look: LoggedLook, name: str) -> int:
    """Bytes that have one bias."""
    return bytes_of(look.home(name).get("page", "4KiB"))


@law("coherence.lines_invalidated_live", laws=COHERENCE)
def live(look: LoggedLook, value: int) -> None:
    look.equal(value, look.over("per_requester", "lines_lost"))


# --- Caches ---


def states(of: str) -> list[str]:
    """The states of the lines of a block."""
    return of.split("|")


def snooped_at(look: LoggedLook, name: str) -> list[Message]:
    """The snoops that a cache looked up in the window."""
    return [m for m in look.sent_snoops if m.destination == name and m.part == WINDOW]


@law("per_requester.*.lines_snooped", laws=COHERENCE)
def lines_snooped(look: LoggedLook, value: int, name: str) -> None:
    look.equal(value, sum(m.lines for m in snooped_at(look, name)))


@law("per_requester.*.conflicts", laws=COHERENCE)
def conflicts_asked(look: LoggedLook, value: int, name: str) -> None:
    asks = [" asked" in after for m in snooped_at(look, name) for after in states(m.after)]
    look.equal(value, sum(asks))


@law("per_requester.*.lines_lost", laws=COHERENCE)
def lines_lost(look: LoggedLook, value: int, name: str) -> None:
    """Taken away by a snoop at once, when what was under way for the line is served, or after an atomic operation."""
    lines = [
        (before, after)
        for m in snooped_at(look, name)
        for before, after in zip(states(m.before), states(m.after), strict=True)
    ]
    at_once = sum(before[0] != "I" and after[0] == "I" for before, after in lines)
    later = [m for m in look.to[name] if m.part == WINDOW and not look.is_snoop(m) and "snooped" in m.before]
    later += [  # the operation may have begun before the window
        m
        for m in look.sent_snoops
        if m.destination == name and m.part <= WINDOW
        for after in states(m.after)
        if "+Operate" in after
    ]
    if not later:
        look.equal(value, at_once)
    look.within(value, at_once, at_once + len(later))


@law("per_requester.*.upgrades", "per_requester.*.clean_evictions", laws=COHERENCE)
def asked_for(look: LoggedLook, value: int, name: str) -> None:
    """They are counted when they are made, some time before they are sent."""
    opcodes = {"upgrades": ("MemInv", "RdOwnNoData"), "clean_evictions": ("MemClnEvct", "CleanEvict")}
    sent = [m for m in look.log if m.source == name and m.opcode in opcodes[look.path[-1]]]
    # Lines that come ahead may come, and drive others out, when the window has closed.
    after = any(m.part > WINDOW and m.opcode in LINES for m in look.to[name])
    if look.whole and not after:
        look.equal(value, len(sent))
    look.within(value, 0, len(sent))


@law("per_home.*.transactions_mean", laws=COHERENCE)
def transactions_mean(look: LoggedLook, value: float, name: str) -> None:
    """No more than there may be."""
    look.within(value, 0, look.home(name)["transactions"])
