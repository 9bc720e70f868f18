"""All orders of the messages of a line, for cxl_mesi_model.py: the host below, and what cores and homes begin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cxl_mesi_model import HAS_COPY, Cache, Line, Message, Wrong, cache_step, check, directory_step

Step = tuple[str, Line]

# ---- The host

# As Recalls and Host::take_in of the module.


def at_memory(line: Line, message: Message) -> Line:
    after = line.copy()
    if message.kind == "Read":
        after.awaited = True
        return after
    after.memory = message.newest
    after.brought = after.brought or after.recalled
    after.send("dir", "MemAck")
    return after


def recall_ends(line: Line, message: Message) -> Line:
    after = line.copy()
    if message.kind == "Fetching" and not line.awaited:
        after.send("dir", "Recall", source="recall")
        return after
    if any(cache.state in HAS_COPY for cache in line.caches):
        raise Wrong("a recall ends, and a cache has the line")
    if any(each.kind in ("Shared", "Owned", "MemData") for each in line.messages):
        raise Wrong("a recall ends, and the line is on its way to a cache")
    if not line.memory:
        raise Wrong("a recall ends, and the bytes have not come")
    after.recalled = after.brought = False
    after.written()  # by another host
    after.memory = True
    return after


def delivered(line: Line) -> Iterator[Step]:
    """What happens by itself."""
    for number, message in enumerate(line.messages):
        rest = line.copy()
        del rest.messages[number]
        after: Line | None
        if message.to == "dir":
            after = directory_step(rest, message)
        elif message.to == "memory":
            after = at_memory(rest, message)
        elif message.to == "recall":
            after = recall_ends(rest, message)
        else:
            after = cache_step(rest, int(message.to), message.kind, message)
        if after is not None:
            yield (f"{message.kind} to {message.to}", after)


def granted(line: Line) -> Iterator[Step]:
    """The home below gives the line: not while it takes it."""
    if line.awaited and not line.recalled:
        after = line.copy()
        after.awaited = False
        after.send("dir", "MemData", newest=line.memory)
        yield ("the home gives the line", after)


def begun(line: Line) -> Iterator[Step]:
    """What cores and homes begin."""
    for number, cache in enumerate(line.caches):
        for event in ("Load", "Store", "Replacement"):
            if event == "Replacement" and cache.state in ("I", "SI", "MI", "II"):
                continue  # no place of the cache is the line's
            after = cache_step(line, number, event, None)
            if after is not None:
                yield (f"{event} of {number}", after)
    if not line.recalled:
        after = line.copy()
        after.recalled = True
        after.send("dir", "Recall", source="recall")
        yield ("the home takes the line", after)


def explored(caches: int) -> tuple[dict[tuple[object, ...], Line], dict[str, dict[object, list[object]]]]:
    """All lines that can be, and which follow by what kind of step."""
    first = Line([Cache() for _ in range(caches)])
    seen = {first.key(): first}
    follow: dict[str, dict[object, list[object]]] = {"itself": {}, "grant": {}}
    pending = [first]
    while pending:
        line = pending.pop()
        steps = {"itself": list(delivered(line)), "grant": list(granted(line)), "begun": list(begun(line))}
        for kind, taken in steps.items():
            for _, after in taken:
                check(after)
                if after.key() not in seen:
                    seen[after.key()] = after
                    pending.append(after)
            if kind != "begun":
                follow[kind][line.key()] = [after.key() for _, after in taken]
    return seen, follow


def without_end(
    lines: dict[tuple[object, ...], Line],
    steps: list[dict[object, list[object]]],
    end: Callable[[Line], bool],
) -> list[Line]:
    """The lines from which these steps cannot lead to an end."""
    before: dict[object, list[object]] = {}
    for follow in steps:
        for at, afters in follow.items():
            for after in afters:
                before.setdefault(after, []).append(at)
    reached: set[object] = {key for key, line in lines.items() if end(line)}
    pending = list(reached)
    while pending:
        for at in before.get(pending.pop(), []):
            if at not in reached:
                reached.add(at)
                pending.append(at)
    return [line for key, line in lines.items() if key not in reached]
