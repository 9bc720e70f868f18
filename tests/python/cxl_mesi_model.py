"""A line of the protocol in integrations/gem5/cxloom_gem5/ruby: caches and directory. cxl_mesi_orders.py has the rest.

The tables of transitions are those of the files, so that an entry that is missing or wrong there is found here: what
the actions in them do is said a second time. Messages overtake each other, a cache may read, write and give up the line
at any time, and the home below grants it and takes it back whenever it may. Bytes are whether they are the last ones
that were written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "integrations" / "gem5" / "cxloom_gem5" / "ruby"

Table = dict[tuple[str, str], tuple[str, list[str]]]


def table_of(machine: str) -> Table:
    """For a state and an event the next state and the actions."""
    table: Table = {}
    text = re.sub(r"//.*", "", (FOLDER / f"CXL_MESI-{machine}.sm").read_text())
    one_or_more = r"(\{[^}]*\}|\w+)"
    transition = rf"transition\({one_or_more},\s*{one_or_more}(?:,\s*(\w+))?\)\s*\{{([^}}]*)\}}"
    for states, events, to, actions in re.findall(transition, text):
        for state in re.findall(r"\w+", states):
            for event in re.findall(r"\w+", events):
                assert (state, event) not in table, f"{machine}: {event} in {state} twice"
                table[state, event] = (to or state, re.findall(r"\w+", actions))
    return table


class Wrong(Exception):
    """The protocol does what it must not."""


@dataclass(order=True)
class Message:
    to: str  # "dir", "recall", "memory", "host", or the number of a cache
    kind: str
    source: str = ""
    newest: bool = False
    dirty: bool = False
    has_data: bool = False

    def key(self) -> tuple[object, ...]:
        return (self.to, self.kind, self.source, self.newest, self.dirty, self.has_data)


@dataclass
class Cache:
    state: str = "I"
    newest: bool = False
    dirty: bool = False  # of a copy that leaves

    def key(self) -> tuple[object, ...]:
        return (self.state, self.newest, self.dirty)


@dataclass
class Directory:
    state: str = "I"
    copies: frozenset[str] = frozenset()
    requestor: str = ""
    acks: int = 0
    owned: bool = False
    dirty: bool = False
    newest: bool = False

    def key(self) -> tuple[object, ...]:
        return (
            self.state,
            tuple(sorted(self.copies)),
            self.requestor,
            self.acks,
            self.owned,
            self.dirty,
            self.newest,
        )


@dataclass
class Line:
    """All that is known of one line: caches, directory, messages, and the host below."""

    caches: list[Cache]
    directory: Directory = field(default_factory=Directory)
    messages: list[Message] = field(default_factory=list)
    memory: bool = True  # its bytes are the newest
    awaited: bool = False  # the directory waits for a read, at the host
    recalled: bool = False  # a home takes the line
    brought: bool = False  # and its bytes have come meanwhile

    def key(self) -> tuple[object, ...]:
        return (
            tuple(cache.key() for cache in self.caches),
            self.directory.key(),
            tuple(sorted(message.key() for message in self.messages)),
            (self.memory, self.awaited, self.recalled, self.brought),
        )

    def copy(self) -> Line:
        made = copy(self)
        made.caches = [copy(cache) for cache in self.caches]
        made.directory = copy(self.directory)
        made.messages = [copy(message) for message in self.messages]
        return made

    def written(self) -> None:
        """What there is of the line is old from now on."""
        for cache in self.caches:
            cache.newest = False
        for message in self.messages:
            message.newest = False
        self.directory.newest = False
        self.memory = False

    def send(
        self,
        to: str,
        kind: str,
        source: str = "",
        *,
        newest: bool = False,
        dirty: bool = False,
        has_data: bool = False,
    ) -> None:
        self.messages.append(Message(to, kind, source, newest, dirty, has_data))


CACHE, DIRECTORY = table_of("cache"), table_of("dir")
HAS_COPY = ("S", "E", "M", "SM")


def check(line: Line) -> None:
    states = [cache.state for cache in line.caches]
    if any(state in ("E", "M") for state in states) and sum(state in HAS_COPY for state in states) > 1:
        raise Wrong(f"a line that may be written is elsewhere, too: {states}")


# ---- Caches

CacheAct = Callable[[Line, int, Cache, Message | None], None]


def lost(cache: Cache) -> None:
    cache.newest = False


def gift(message: Message | None) -> Message:
    assert message is not None
    return message


def read(_line: Line, _number: int, cache: Cache, _message: Message | None) -> None:
    if not cache.newest:
        raise Wrong("a core reads old bytes")


def write(line: Line, number: int, cache: Cache, _message: Message | None) -> None:
    if not cache.newest:
        raise Wrong("a core writes into old bytes")
    line.written()
    line.caches[number].newest = True


def give_up(line: Line, number: int, cache: Cache, _message: Message | None) -> None:
    cache.dirty = cache.state == "M"
    has_data = cache.state in ("E", "M")
    line.send(
        "dir",
        "Put",
        source=str(number),
        newest=cache.newest and has_data,
        dirty=cache.dirty,
        has_data=has_data,
    )


def ack(line: Line, _number: int, _cache: Cache, _message: Message | None) -> None:
    line.send("dir", "Ack")


def ack_with_data(line: Line, _number: int, cache: Cache, _message: Message | None) -> None:
    line.send("dir", "Ack", newest=cache.newest, dirty=cache.state == "M", has_data=True)


def ack_with_data_of_tbe(line: Line, _number: int, cache: Cache, _message: Message | None) -> None:
    line.send("dir", "Ack", newest=cache.newest, dirty=cache.dirty, has_data=True)


def take_bytes(_line: Line, _number: int, cache: Cache, message: Message | None) -> None:
    cache.newest = gift(message).newest


def forget(_line: Line, _number: int, cache: Cache, _message: Message | None) -> None:
    cache.newest = cache.dirty = False


CACHE_ACTS: dict[str, CacheAct] = {
    "askToRead": lambda line, number, _c, _m: line.send("dir", "GetS", source=str(number)),
    "askToWrite": lambda line, number, _c, _m: line.send("dir", "GetM", source=str(number)),
    "giveUp": give_up,
    "ack": ack,
    "ackWithData": ack_with_data,
    "ackWithDataOfTbe": ack_with_data_of_tbe,
    "done": lambda line, _n, _c, _m: line.send("dir", "Done"),
    "takeBytes": take_bytes,
    "load": read,
    "lateLoad": read,
    "store": write,
    "lateStore": write,
    "forget": forget,
}
NOTHING_HERE = {"allocate", "deallocate", "tellCore", "miss"}
POPS = {"popMandatory", "popOrder", "popGift", "popRequest", "popRecall", "popAck", "popDone", "popMemory"}
WAITS = {"z_stall", "requestWaits", "recallWaits"}


def cache_step(line: Line, number: int, event: str, message: Message | None) -> Line | None:
    """The line after the event, or nothing where it waits."""
    state = line.caches[number].state
    if (state, event) not in CACHE:
        raise Wrong(f"a cache has no place for {event} in {state}")
    to, actions = CACHE[state, event]
    if WAITS & set(actions):
        return None
    after = line.copy()
    cache = after.caches[number]
    for action in actions:
        if action in CACHE_ACTS:
            CACHE_ACTS[action](after, number, cache, message)
        else:
            assert action in NOTHING_HERE | POPS, action
    cache.state = to
    if to in ("I", "II", "IM", "IS"):
        lost(cache)
    return after


# ---- The directory

DirectoryAct = Callable[[Line, Directory, Message], None]


def directory_event(line: Line, message: Message) -> str:
    at = line.directory
    has = message.source in at.copies
    alone = has and len(at.copies) == 1
    if message.kind == "GetM":
        return "GetMAlone" if alone else "GetM"
    if message.kind == "Put":
        if not has:
            return "PutStale"
        if not alone:
            return "PutNotLast"
        return "PutDirty" if at.dirty or (at.state == "M" and message.dirty) else "PutClean"
    if message.kind == "Ack":
        if at.acks > 1:
            return "Ack"
        return "LastAckDirty" if at.dirty or message.dirty else "LastAckClean"
    if message.kind == "Done":
        return "DoneOwned" if at.owned else "DoneShared"
    return message.kind


def serve(_line: Line, at: Directory, message: Message) -> None:
    at.requestor = message.source


def write_down(line: Line, at: Directory, _message: Message) -> None:
    at.dirty = False
    line.send("memory", "Write", newest=at.newest)


def take_from_memory(_line: Line, at: Directory, message: Message) -> None:
    at.newest, at.dirty = message.newest, False


def take_from_ack(_line: Line, at: Directory, message: Message) -> None:
    at.acks -= 1
    if message.has_data:
        at.newest, at.dirty = message.newest, message.dirty


def take_from_put(_line: Line, at: Directory, message: Message) -> None:
    if at.state == "M":
        assert message.has_data
        at.newest = message.newest


def add_copy(_line: Line, at: Directory, _message: Message) -> None:
    at.copies |= {at.requestor}
    at.owned = False


def only_copy(_line: Line, at: Directory, _message: Message) -> None:
    at.copies, at.owned, at.dirty = frozenset({at.requestor}), True, False


def remove_copy(_line: Line, at: Directory, message: Message) -> None:
    at.copies -= {message.source}


def no_copy(_line: Line, at: Directory, _message: Message) -> None:
    at.copies = frozenset()


def take_copies(line: Line, at: Directory, _message: Message) -> None:
    others = at.copies - {at.requestor}
    if not others:
        raise Wrong("copies are taken from nobody")
    at.acks = len(others)
    for other in others:
        line.send(other, "Invalidate")


def share_copy(line: Line, at: Directory, _message: Message) -> None:
    at.acks = 1
    for other in at.copies:
        line.send(other, "Downgrade")


def give(line: Line, at: Directory, _message: Message) -> None:
    line.send(at.requestor, "Owned" if at.owned else "Shared", newest=at.newest)


DIRECTORY_ACTS: dict[str, DirectoryAct] = {
    "serve": serve,
    "serveRecall": serve,
    "fetch": lambda line, _a, _m: line.send("memory", "Read"),
    "writeDown": write_down,
    "takeFromMemory": take_from_memory,
    "takeFromAck": take_from_ack,
    "takeFromPut": take_from_put,
    "addCopy": add_copy,
    "onlyCopy": only_copy,
    "removeCopy": remove_copy,
    "noCopy": no_copy,
    "takeCopies": take_copies,
    "shareCopy": share_copy,
    "give": give,
    "putAck": lambda line, _a, message: line.send(message.source, "PutAck"),
    "gone": lambda line, _a, _m: line.send("recall", "Gone"),
    "goneAtOnce": lambda line, _a, _m: line.send("recall", "Gone"),
    "fetching": lambda line, _a, _m: line.send("recall", "Fetching"),
}


def directory_step(line: Line, message: Message) -> Line | None:
    event = directory_event(line, message)
    state = line.directory.state
    if (state, event) not in DIRECTORY:
        raise Wrong(f"the directory has no place for {event} in {state}")
    to, actions = DIRECTORY[state, event]
    if WAITS & set(actions):
        return None
    after = line.copy()
    for action in actions:
        if action in DIRECTORY_ACTS:
            DIRECTORY_ACTS[action](after, after.directory, message)
        else:
            assert action in POPS | {"wake"}, action
    at = after.directory
    at.state = to
    fits = {"I": not at.copies, "S": bool(at.copies), "M": len(at.copies) == 1}
    if not fits.get(to, True):
        raise Wrong(f"the directory is in {to} with {len(at.copies)} copies")
    if to in ("I", "M"):  # what it knows there is of no use
        at.requestor, at.acks, at.owned, at.newest = "", 0, False, False
    return after
