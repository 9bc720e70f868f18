"""Devices that are declared by another one: ``cxl2: {like: cxl}``.

Such a device has the parameters of the other, with what its own entry says laid over them. If nothing links it, it has
links like those of the other; a link that is written for it starts from the other's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from cxloom.base.errors import Gathered
from cxloom.spec.merge import Entries, LinkGroups, adjust_link, ends_of, overlay
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node

KEY = "like"
DOC = "The device that this one is like: it has its kind and parameters, and links like its links."

Originals: TypeAlias = dict[str, str]
"""The devices that are like another one, each with the name of that; the other before those that are like it."""


def is_in(devices: Node) -> bool:
    """Whether an entry of a section of devices says ``like``."""
    return any(node.get(KEY) is not None for node in devices.map().values())


def resolve_devices(devices: Entries, known: Collection[str], errors: Gathered) -> tuple[Entries, Originals]:
    """The devices without ``like``, each with all of its parameters, and which of them are like which.

    Args:
        devices: the devices of a layer over those it starts from.
        known: the devices that it starts from; these cannot become like others.
        errors: gets a SpecError for a device that is known already, one that does not exist, a `kind` beside ``like``,
            and a device that is like itself.
    """
    written = {name: node.map()[KEY] for name, node in devices.items() if node.get(KEY) is not None}
    originals: Originals = {}
    whole = {name: node for name, node in devices.items() if name not in written}
    made: dict[tuple[int, int], Node] = {}  # the devices of a range stay one node
    for name in written:
        with errors.one():
            way = _way(name, written, devices, known)
            for each in reversed(way):
                if each in whole:
                    continue
                original = written[each].text()
                node = devices[each]
                key = (id(whole[original]), id(node))
                if key not in made:
                    own = {k: value for k, value in node.map().items() if k != KEY}
                    made[key] = overlay(whole[original], node.with_entries(own))
                whole[each] = made[key]
                originals[each] = original
    return {name: whole[name] for name in devices if name in whole}, originals


def resolve_links(groups: LinkGroups, originals: Originals) -> LinkGroups:
    """The links, those of devices that are like others completed from the links of these.

    A device without a link gets a copy of each of the other's. A link that is written for it is laid over the other's
    link to the same neighbour, or else over its only one.
    """
    if not originals:
        return groups
    groups = [list(group) for group in groups]
    places: dict[str, list[tuple[int, int]]] = {}
    for g, group in enumerate(groups):
        for i, link in enumerate(group):
            for end in ends_of(link):
                places.setdefault(end, []).append((g, i))
    links = {name: [groups[g][i] for g, i in places.get(name, [])] for name in {*originals.values()}}
    for name, original in originals.items():
        theirs = links.get(original, [])
        if name not in places:
            links[name] = [_moved(link, original, name) for link in theirs]
            groups += [[link] for link in links[name]]
            continue
        for g, i in places[name]:
            if (base := _start(theirs, original, name, groups[g][i])) is not None:
                groups[g][i] = adjust_link(base, groups[g][i])
        links[name] = [groups[g][i] for g, i in places[name]]
    return groups


def _way(name: str, written: Mapping[str, Node], devices: Entries, known: Collection[str]) -> list[str]:
    """A device, the one it is like, the one that this is like, and so on, as far as there are."""
    way = [name]
    while way[-1] in written:
        like, device = written[way[-1]], devices[way[-1]]
        if way[-1] in known:
            raise like.place.error(
                f"'{way[-1]}' is declared by what this spec starts from",
                allowed=f"'{KEY}' for a device of another name",
            )
        if (kind := device.get("kind")) is not None:
            raise kind.place.error(f"'kind' beside '{KEY}'", allowed="the kind of the other device")
        original = like.text()
        if original not in devices:
            others = [each for each in devices if each not in way]
            raise like.place.error(
                f"unknown device '{original}'", allowed=listed(others), suggestion=nearest(original, others)
            )
        if original in way:
            raise like.place.error("a device that is like itself", found=" like ".join([*way, original]))
        way.append(original)
    return way[:-1]


def _start(theirs: Sequence[Node], original: str, name: str, link: Node) -> Node | None:
    """What a link of a device that is like another one starts from."""
    (neighbour,) = (end for end in ends_of(link) if end != name)
    if neighbour == original:  # the link between the two is as it is written
        return None
    same = [each for each in theirs if neighbour in ends_of(each)]
    found = same or theirs
    if len(found) != 1:
        return None
    other = _neighbour(found[0], original)
    return _moved(found[0], original, name, {other: neighbour})


def _neighbour(link: Node, device: str) -> str:
    return next(end for end in ends_of(link) if end != device)


def _moved(link: Node, original: str, name: str, others: Mapping[str, str] | None = None) -> Node:
    """A link like another one, with another device in the place of the original."""
    renamed = {original: name, **(others or {})}
    between = link.map()["between"]
    ends = [Node(renamed.get(end.text(), end.text()), end.origin) for end in between.list()]
    return link.with_entries({**link.map(), "between": Node(ends, between.origin, between.key)})
