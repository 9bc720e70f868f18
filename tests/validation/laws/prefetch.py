"""Laws of lines that caches ask for ahead of their use.

What a memory counts of them is what it read beyond what requests asked for. What a requester counts is in the messages,
if the run has a log of them: a read that it sent and no request made is a line asked for ahead, and the first access to
that line says whether it was of use.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from validation.laws import law
from validation.laws.look import Look
from validation.systems import LINE, Spec
from validation.unloaded import bytes_of

from cxloom import _core

READS = ("MemRd", "MemRdData", "RdShared", "RdAny")
"""What a cache asks for a line with that it will not write at once."""


def prefetcher(look: Look, name: str) -> Spec:
    """The parameters of the prefetcher of a requester."""
    given: Any = look.device(name)["cache"]["prefetch"]
    return {"kind": given} if isinstance(given, str) else dict(given)


def registers(look: Look, name: str) -> int:
    """Lines that may be on their way to it ahead of their use."""
    return int(prefetcher(look, name).get("registers", 16))


def loses(look: Look) -> bool:
    """Whether messages may fail: what of them was asked for ahead is not counted."""
    return any(link.get("outage", {}).get("fail") for link in look.spec["links"])


def capacity(look: Look, name: str) -> int:
    """Lines in all levels of a cache."""
    cache = look.device(name)["cache"]
    return sum(bytes_of(level.get("size", "32KiB")) // LINE for level in (cache, *cache.get("levels", [])))


class Ahead(NamedTuple):
    """A line that was asked for ahead, when, when it came, and when it was asked for again."""

    line: int
    asked: int
    came: int
    again: float


class Account:
    """What a requester asked for ahead, as rows and messages say: of a run measured from its begin to its end."""

    def __init__(self, look: Look, name: str) -> None:
        own = look.of("requester", name)
        order = np.argsort(look.rows["id"][own])
        issued = look.rows["created_ps"] + look.rows["requester_queue_ps"]
        self.times: list[int] = issued[own][order].tolist()
        self.lines: list[int] = (look.rows["address"][own][order] // LINE).tolist()
        missed = (look.served[own][order]).tolist()
        # One to a line that is being written back asks when memory has it.
        waited = look.rows["mshr_ps"][own][order].tolist()
        sent, came = self._messages(look, name)
        # What an access asks for, and what is asked for because of it, leaves as long after it.
        delay = min((times[0] for times in sent.values()), default=0) - min(self.times, default=0)
        demanded = {
            (line, time + wait)
            for line, time, wait, miss in zip(self.lines, self.times, waited, missed, strict=True)
            if miss
        }
        self.ahead: list[Ahead] = []
        for line, times in sent.items():
            asked = [time - delay for time in times]
            again = [*asked[1:], float("inf")]
            self.ahead += [
                Ahead(line, *each)
                for each in zip(asked, came[line], again, strict=True)
                if (line, each[0]) not in demanded
            ]
        self.distinct = len(sent)

    @staticmethod
    def _messages(look: Look, name: str) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """By line, when reads were sent, and when their data came. There is one at a time for a line."""
        columns, _ = look.outcome.protocol
        opcodes = _core.Simulation.opcode_names()
        node = look.outcome.nodes.index(name)
        found: list[dict[int, list[int]]] = []
        for end, opcode, when in (("source", "MemRd", "sent_ps"), ("destination", "MemData", "time_ps")):
            of = (columns[end] == node) & (columns["opcode"] == opcodes.index(opcode))
            by_line: dict[int, list[int]] = defaultdict(list)
            for address, time in zip(
                columns["address"][of].tolist(), columns[when][of].tolist(), strict=True
            ):
                by_line[address // LINE].append(time)
            found.append({line: sorted(times) for line, times in by_line.items()})
        return found[0], found[1]

    def used(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """How many were of use, were late, and were of no use: at least and at most of each."""
        accesses: dict[int, list[int]] = defaultdict(list)
        for line, time in zip(self.lines, self.times, strict=True):
            accesses[line].append(time)
        useful = late = at_once = useless = unknown = 0
        for each in self.ahead:
            times = (time for time in accesses[each.line] if each.asked <= time < each.again)
            first = min(times, default=None)
            if first is None:
                useless += each.again < float("inf")
                unknown += each.again == float("inf")
            else:
                useful += first > each.came
                late += first < each.came
                at_once += first == each.came
        return (useful, useful + at_once), (late, late + at_once), (useless, useless + unknown)

    def dropped(self, params: Spec) -> int | None:
        """How many a prefetcher of next lines did not ask for, of a cache that keeps every line; None: unknown."""
        if params["kind"] != "next-line" or len(set(self.times)) < len(self.times):
            return None
        page = bytes_of(params.get("page", "4KiB")) // LINE
        asked = {(each.line, each.asked) for each in self.ahead}
        known: set[int] = set()
        fresh: set[int] = set()  # nobody has used it
        count = 0
        for line, time in zip(self.lines, self.times, strict=True):
            is_new = line not in known or line in fresh
            known.add(line)
            fresh.discard(line)
            wanted = [line + i for i in range(1, params.get("degree", 1) + 1)] if is_new else []
            for each in wanted:
                if each // page != line // page or each in known:
                    continue
                if (each, time) in asked:
                    known.add(each)
                    fresh.add(each)
                else:
                    count += 1
        return count


def account(look: Look, name: str) -> Account | None:
    """That of a requester, if all that it asked for is known: each miss asks once, at its access."""
    cache = look.device(name)["cache"]
    plain = not {"levels", "fill_time", "mshrs", "write_allocate"} & cache.keys()
    logged = len(look.outcome.protocol[0]["time_ps"]) > 0
    told = look.whole and look.controllers_take_time and not look.atomics and not look.summary["per_home"]
    told = told and not look.copied_in_caches and not look.given_up  # which asks for lines besides
    # A throttle holds messages, each for another time, so that none can be told from its time.
    leaves_at_once = "throttle" not in look.device(name)
    return Account(look, name) if plain and logged and told and leaves_at_once and not loses(look) else None


# --- What came ---


@law("prefetches", "per_memory.*.prefetches")
def came(look: Look, value: int, *names: str) -> None:
    others = sum(
        measures.get("prefetches", 0)
        for name, measures in look.summary["per_memory"].items()
        if name not in names
    )
    look.equal(value + others if names else value, look.summary["prefetches"] if names else others)
    look.within(value, 1)  # absent where there were none
    if names and look.controllers_take_time and not look.summary["per_home"]:
        measures = look.summary["per_memory"][names[0]]
        own = look.of("target", names[0]) & look.served & look.memory_reads
        look.equal(value, measures["reads"] - int(own.sum()))
    on_their_way = sum(registers(look, each) for each in look.prefetching)
    asked = look.over("per_requester", "prefetches") + look.copied
    look.within(
        value, 0, asked + 2 * look.copied_in_caches + look.given_up + (0 if look.whole else on_their_way)
    )
    if not names and not loses(look):
        look.within(value, asked - on_their_way - look.copied_late)


# --- What was asked for ---


@law("per_requester.*.prefetches")
def asked_for(look: Look, value: int, name: str) -> None:
    told = account(look, name)
    if told:
        look.equal(value, len(told.ahead))
    if look.whole:
        came = look.summary.get("prefetches", 0)
        least = came - look.copied - 2 * look.copied_in_caches - look.given_up
        look.within(value, least, float("inf") if loses(look) else came + registers(look, name))
    columns, _ = look.outcome.protocol
    reads = [_core.Simulation.opcode_names().index(opcode) for opcode in READS]
    sent = (columns["source"] == look.outcome.nodes.index(name)) & np.isin(columns["opcode"], reads)
    if len(columns["time_ps"]) and not loses(look):  # the log has no requests that failed
        look.within(value, 0, int(sent.sum()))


def ends_within(look: Look, name: str) -> None:
    """Each line that was asked for ahead ends in one way at most."""
    measures = look.summary["per_requester"][name]
    ended = sum(measures[f"prefetches_{key}"] for key in ("useful", "late", "useless", "failed"))
    before = 0 if look.whole else registers(look, name) + capacity(look, name)
    look.within(ended, 0, measures["prefetches"] + before)


def lookups(look: Look, name: str) -> int:
    """At most so many accesses, of one line each, were looked up in the window: those answered without data, too."""
    measures = look.summary["per_requester"][name]
    own = int(look.of("requester", name).sum()) + measures.get("errors", {}).get("requests", 0)
    return own if look.whole else own + int(look.device(name).get("queue", 64))


@law("per_requester.*.prefetches_useful")
def useful(look: Look, value: int, name: str) -> None:
    ends_within(look, name)
    told = account(look, name)
    if told:
        low, high = told.used()[0]
        if low == high:
            look.equal(value, low)
        look.within(value, low, high)
    # A hit, unless it lacks ownership or is made by the home.
    hits = look.summary["per_requester"][name]["cache_hit_rate"] * lookups(look, name)
    if not look.atomics and not look.summary["per_home"]:
        look.within(value, 0, hits)


@law("per_requester.*.prefetches_late")
def late(look: Look, value: int, name: str) -> None:
    ends_within(look, name)
    told = account(look, name)
    if told:
        low, high = told.used()[1]
        if low == high:
            look.equal(value, low)
        look.within(value, low, high)
    misses = (1 - look.summary["per_requester"][name]["cache_hit_rate"]) * lookups(look, name)
    look.within(value, 0, misses)


@law("per_requester.*.prefetches_useless")
def useless(look: Look, value: int, name: str) -> None:
    ends_within(look, name)
    told = account(look, name)
    if told:
        low, high = told.used()[2]
        if low == high:
            look.equal(value, low)
        look.within(value, low, high)


@law("per_requester.*.prefetches_failed")
def failed(look: Look, value: int, name: str) -> None:
    """None, unless a link loses what it should carry."""
    ends_within(look, name)
    if not loses(look):
        look.equal(value, 0)
    look.within(value, 0)


@law("per_requester.*.prefetches_dropped")
def dropped(look: Look, value: int, name: str) -> None:
    told = account(look, name)
    cache = look.device(name)["cache"]
    stays = cache.get("ways") == 0 and told and told.distinct <= capacity(look, name)
    count = told.dropped(prefetcher(look, name)) if told and stays else None
    if count is not None:
        look.equal(value, count)
    if look.whole and look.summary["per_requester"][name]["prefetches"] < registers(look, name):
        look.equal(value, 0)
    look.within(value, 0)
