"""How a spec is laid over the preset or topology that it starts from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from cxloom.base import limits
from cxloom.base.errors import Gathered, InputError
from cxloom.base.words import counted
from cxloom.spec import declared, names
from cxloom.spec.node import Node, Origin

Entries = dict[str, Node]
LinkGroups = list[list[Node]]
"""The links, each between two devices, grouped by the written entry that they come from."""


def overlay(base: Node | None, top: Node) -> Node:
    """`top` over `base`: maps are merged key by key, anything else is replaced.

    A map that names another ``kind`` replaces the old one as a whole, whose parameters mean nothing to the new kind.
    """
    if base is None or not isinstance(top.value, dict):
        return top
    if isinstance(base.value, str) and "kind" not in top.value:  # `media: fixed` is short for {kind: fixed}
        base = Node({"kind": base}, base.origin, base.key)
    if not isinstance(base.value, dict) or _changes("kind", base, top):
        return top
    merged = dict(base.value)
    for key, node in top.value.items():
        merged[key] = overlay(merged.get(key), node)
    return top.with_entries(merged)


def overlay_requester(base: Node | None, top: Node) -> Node | None:
    """Like `overlay`; another pattern, trace or phases keep only what all workloads have in common.

    Gives None for a null, which takes back what `base` says: the requester has no work.
    """
    sources = {"pattern", "trace", "phases"}
    if base is not None and top.value is None:
        return None
    if base is not None and any(key in top.map() for key in sources):
        old, new = sources & base.map().keys(), sources & top.map().keys()
        if old and (old != new or _changes("pattern", base, top)):
            common = (
                declared.fields(declared.declarations()["workload"]).keys() - sources - {"replay", "repeat"}
            )
            base = base.with_entries({key: node for key, node in base.map().items() if key in common})
        of_the_trace = {"tick", "levels", "format"}  # what the old file does not say of itself
        base = base.with_entries({key: node for key, node in base.map().items() if key not in of_the_trace})
    return overlay(base, top)


def overlay_devices(base: Entries, written: Node, errors: Gathered) -> Entries:
    """The devices of a layer over those it starts from, each by its own name.

    A plain name or a range declares devices, or adjusts those of `base`; a glob sets parameters of all it matches,
    which their own entries may override. A name that is declared twice is an error.
    """
    declared_names: list[str] = []
    for key, node in written.map().items():
        if not names.is_glob(key):
            with errors.one():
                declared_names += placed(_key(node), names.of_new_devices, key)
    known = dict.fromkeys([*base, *declared_names])
    if len(known) > limits.DEVICES:
        raise _key(written).error(
            "too many devices", found=str(len(known)), allowed=f"at most {limits.DEVICES} in a system"
        )
    return _overlay_named(base, written, known, _overlay_device, errors)


def _overlay_device(base: Node | None, top: Node) -> Node:
    if base is not None and top.value is None:
        raise taken_back(top)
    return overlay(base, top)


def taken_back(device: Node) -> InputError:
    """What is wrong with a null in place of devices that there are: links, regions and workloads may name them."""
    return _key(device).error(
        "no device can be taken back",
        found="null",
        allowed="parameters to lay over it, or a preset without it",
    )


def overlay_workload(base: Entries, written: Node, devices: Collection[str], errors: Gathered) -> Entries:
    """The workload of a layer over that it starts from, one entry per requester."""
    return _overlay_named(base, written, devices, overlay_requester, errors)


def by_device(written: Node, devices: Collection[str]) -> Node:
    """A map with an entry for each device that its keys mean, where a glob gives way to the others."""
    errors = Gathered()
    entries = _overlay_named({}, written, devices, lambda _, top: top, errors)
    errors.raise_any()
    return written.with_entries(entries)


def overlay_links(base: LinkGroups, written: Node, devices: Collection[str], errors: Gathered) -> LinkGroups:
    """The links of a layer over those it starts from: one between the same two devices adjusts it, others are added.

    Two entries of a layer for the same two devices are an error, unless the later says by its `count` that it is meant.
    """
    groups = [list(group) for group in base]
    index: dict[frozenset[str], list[tuple[int, int]]] = {}
    for g, group in enumerate(base):
        for i, link in enumerate(group):
            index.setdefault(frozenset(ends_of(link)), []).append((g, i))
    count = sum(map(len, groups))
    here: dict[frozenset[str], Node] = {}
    for entry in written.list():
        added = []
        with errors.one():
            for link in _expand_link(entry, devices, limits.LINKS - count):
                ends = frozenset(ends_of(link))
                if link.get("count") is None and ends in here:
                    raise _linked_twice(here[ends], link)
                here.setdefault(ends, link)
                same = index.get(ends, [])
                for g, i in same:
                    groups[g][i] = adjust_link(groups[g][i], link)
                if not same:
                    added.append(link)
        if added:
            groups.append(added)
            count += len(added)
    return groups


def expand_region(region: Node, devices: Collection[str]) -> Node:
    """A region of the address map with all devices in ``to`` spelt out."""
    entries = dict(region.map())
    to = entries.get("to")
    if to is None or to.value is None:
        raise region.place.error(
            "'to' is missing", allowed='the devices that hold the region, such as to: "mem[*]"'
        )
    written = to.list() if isinstance(to.value, list) else [to]
    items: list[Node] = []
    for node in written:
        selected = placed(node.origin, names.select, node.text(), devices)
        if len(items) + len(selected) > limits.DEVICES:
            raise to.place.error("too many devices", allowed=f"at most {limits.DEVICES} for a region")
        items += [Node(name, node.origin) for name in selected]
    entries["to"] = Node(items, to.origin, to.key)
    return region.with_entries(entries)


def placed(origin: Origin, function: Callable[..., list[str]], *arguments: object) -> list[str]:
    """Calls a function of `names`, and says of its errors where they stand."""
    try:
        return function(*arguments)
    except InputError as error:
        raise origin.placed(error) from None


def _overlay_named(
    base: Entries,
    written: Node,
    known: Iterable[str],
    combine: Callable[[Node | None, Node], Node | None],
    errors: Gathered,
) -> Entries:
    """Lays written entries, whose keys may be globs or ranges of the `known` names, over entries by plain name."""
    known = list(known)
    index = dict.fromkeys(known)
    globs: list[tuple[str, Node]] = []
    own: dict[str, Node] = {}
    for key, node in written.map().items():
        with errors.one():
            if names.is_glob(key):
                globs += [(name, node) for name in placed(_key(node), names.select, key, known)]
                continue
            for name in placed(_key(node), names.select, key, index):
                if name in own:
                    raise _twice(name, own[name], node)
                own[name] = node
    merged: dict[str, Node | None] = {name: base.get(name) for name in known}
    for name, node in [*globs, *own.items()]:
        if node.value is None and merged[name] is None and name not in own:
            continue  # a glob takes back nothing of who has nothing
        try:  # there may be very many
            merged[name] = combine(merged[name], node)
        except InputError as error:
            errors.errors.append(error)
    return {name: node for name, node in merged.items() if node is not None}


def _expand_link(entry: Node, devices: Collection[str], at_most: int) -> list[Node]:
    """The links that one written entry stands for: every pair of its two sides, or pair by pair if ``pairwise``."""
    entries = dict(entry.map())
    between = entries.get("between")
    if between is None or not isinstance(between.value, list) or len(between.value) != 2:
        where = entry.place if between is None else between.place
        found = "" if between is None else counted(len(between.list()), "end")
        raise where.error("a link joins two ends", found=found, allowed="between: [a, b]")
    near, far = between.value
    left = placed(near.origin, names.select, near.text(), devices)
    right = placed(far.origin, names.select, far.text(), devices)
    pairwise = entries.pop("pairwise", None)
    if pairwise is not None and not isinstance(pairwise.value, bool):
        raise pairwise.origin.error("not true or false", found=str(pairwise.value), allowed="true or false")
    pairs: Sequence[tuple[str, str]]
    is_pairwise = pairwise is not None and bool(pairwise.value)
    if not is_pairwise and len(left) * len(right) > max(0, at_most):
        raise between.place.error(
            "too many links",
            found=f"{len(left)} x {len(right)}",
            allowed=f"at most {limits.LINKS} in a system",
        )
    if is_pairwise:
        if len(left) != len(right):
            raise between.place.error(
                "pairwise needs as many devices on either side", found=f"{len(left)} and {len(right)}"
            )
        pairs = list(zip(left, right, strict=True))
    else:
        pairs = _all_pairs(left, right)
    if not pairs:
        raise between.place.error("a device cannot be linked to itself", found=f"'{left[0]}' at both ends")
    near_ends = {name: Node(name, near.origin) for name in left}
    far_ends = {name: Node(name, far.origin) for name in right}
    links = []
    for a, b in pairs:
        ends = Node([near_ends[a], far_ends[b]], between.origin, between.key)
        links.append(entry.with_entries({**entries, "between": ends}))
    return links


def _all_pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    """Each of one side with each of the other: no device with itself, and no two twice where the sides overlap."""
    if set(left).isdisjoint(right):
        return [(a, b) for a in left for b in right]
    seen: set[tuple[str, str]] = set()
    for a in left:
        for b in right:
            if a != b and (b, a) not in seen:
                seen.add((a, b))
    return [(a, b) for a in left for b in right if (a, b) in seen]


def adjust_link(base: Node, link: Node) -> Node:
    """A link over one between the same two devices. Raises SpecError if it has other directions than that."""
    if ends_of(base) == ends_of(link):
        return overlay(base, link)
    if base.get("reverse") is not None or link.get("reverse") is not None:
        raise link.place.error(
            "the link that this one is laid over stands the other way round, and has a 'reverse'",
            allowed=f"between: [{', '.join(ends_of(base))}]",
        )
    return overlay(base, link.with_entries({k: node for k, node in link.map().items() if k != "between"}))


def ends_of(link: Node) -> tuple[str, ...]:
    """The two devices that a link joins, as it says; none if it does not."""
    between = link.get("between")
    return tuple(node.text() for node in between.list()) if between is not None else ()


def _changes(key: str, base: Node, top: Node) -> bool:
    """True if both name a `key`, and not the same."""
    old, new = base.get(key), top.get(key)
    return old is not None and new is not None and old.value != new.value


def _key(node: Node) -> Origin:
    return node.key or node.origin


def _linked_twice(first: Node, second: Node) -> InputError:
    near, far = ends_of(second)
    line = f" on line {first.place.line}" if first.place.line else ""
    return second.place.error(
        f"'{near}' and '{far}' are linked twice",
        found=f"a link between them in '{first.place.path}'{line} too",
        allowed="one entry per pair; for parallel links count: 2 on one entry, or a count on the second",
    )


def _twice(name: str, first: Node, second: Node) -> InputError:
    where = _key(first)
    at = f"'{where.path}'" + (f" on line {where.line}" if where.line else "")
    return _key(second).error(
        f"'{name}' is declared twice", found=f"it in {at} too", allowed="each name once"
    )
