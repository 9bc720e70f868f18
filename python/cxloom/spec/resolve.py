"""From what a person wrote to the plain, fully resolved spec that the core takes.

The layers (presets first, then the file) are merged; `topology` is replaced by the devices and links that it generates;
ranges and globs are spelt out; overrides such as ``--set`` come last. Every value keeps the place it was written at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cxloom import _core
from cxloom.base.errors import Gathered, InputError
from cxloom.spec import alike, declared, ineffective, merge, names, paths, unsaid
from cxloom.spec.bases import with_bases_placed
from cxloom.spec.file_kind import FileKind, refuse_other
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import GeneratedNode, Node, Origin, Plain
from cxloom.spec.override import Override
from cxloom.spec.presets import layers_of
from cxloom.spec.resolved import Resolved
from cxloom.spec.task_file import with_tasks_read


def resolve(top: Node, overrides: Sequence[Override] = ()) -> Resolved:
    """The resolved spec of a tree as read. Raises SpecError for what is wrong before the core sees it.

    What a preset, a topology or the file says, and what is laid over it leaves without effect, is left out.
    """
    return Template(top).resolve(overrides)


class Template:
    """A spec that is resolved again and again, each time with other overrides: a sweep.

    What the overrides leave alone is read and spelt out once: presets, topology, ranges and globs. Another process gets
    what was read, not what was spelt out.

    Args:
        top: the tree as read.
        overrides: values that are set every time, before those of `resolve`.
    """

    _KEPT = 8
    """Systems that are kept spelt out: points with one topology mostly follow each other, and large ones are large."""

    def __init__(self, top: Node, overrides: Sequence[Override] = ()) -> None:
        self._top = top
        self._always = tuple(overrides)
        self._layers: dict[str, Sequence[Node]] = {}
        self._expanded: dict[tuple[object, ...], _Expanded] = {}

    def resolve(self, overrides: Sequence[Override] = ()) -> Resolved:
        """The spec under these overrides, as `resolve` gives it. Raises SpecError."""
        overrides = [*self._always, *overrides]
        return ineffective.left_out(self._layers_under(overrides), overrides, self._resolved)

    def __reduce__(self) -> tuple[object, ...]:
        return Template, (self._top, self._always)

    def _layers_under(self, overrides: Sequence[Override]) -> Sequence[Node]:
        """The layers of the spec, with the preset that the overrides name."""
        named = [override.value for override in overrides if override.path == "preset"]
        key = repr(named[-1:])
        if key not in self._layers:
            top = paths.assign(self._top, ("preset",), named[-1]) if named else self._top
            self._layers[key] = layers_of(top)
        return self._layers[key]

    def _resolved(self, layers: Sequence[Node], overrides: Sequence[Override]) -> Resolved:
        """A spec from layers over each other, the most basic first, and overrides over them."""
        early = [override for override in overrides if _is_early(override)]
        late = [override for override in overrides if not _is_early(override)]
        # Layers are kept as long as the template, so their addresses say which they are.
        key = (*map(id, layers), repr(early))
        expanded = self._expanded.pop(key, None) or _expand(layers, early)
        self._expanded[key] = expanded  # the last one now
        if len(self._expanded) > self._KEPT:
            del self._expanded[next(iter(self._expanded))]
        for override in late:
            if override.value.value is None and re.fullmatch(r"devices(\.[^.]+)?", override.path):
                raise merge.taken_back(override.value)
            if override.path.startswith("devices.") and override.value.get(alike.KEY) is not None:
                raise override.value.origin.error(
                    f"'{alike.KEY}' is for devices of a file",
                    found=override.path,
                    allowed="a file with `preset: SPEC`, and the device in its `devices`",
                )
        root = _without_work_taken_back(_apply(expanded.root, late, expanded.groups), expanded.root)
        if any(override.path.startswith("address_map") for override in late):
            root = _with_regions_spelt_out(root)
        root = with_bases_placed(unsaid.left_out(root))
        return Resolved(with_tasks_read(_with_names_spelt_out(_with_absolute_files(root))))


class _Expanded(NamedTuple):
    """A spec device by device and link by link, but for what is set late."""

    root: Node
    groups: list[list[int]]
    """The indices of the links that each written entry stands for; of none if each stands for itself."""


def _expand(layers: Sequence[Node], early: Sequence[Override]) -> _Expanded:
    """Layers over each other, the most basic first, with the topology that the overrides leave of them."""
    top = layers[-1]
    errors = Gathered()
    for layer in layers:
        _check_top_level(layer, errors)
    misspelt = len(errors.errors)
    devices: dict[str, Node] = {}
    links, groups = Node([], Origin(path="links")), list[list[int]]()
    regions: Sequence[Node] = []
    workload: dict[str, Node] = {}
    with errors.one():
        generated = _generate(_merged(layers, "topology"), early)
        devices = generated["devices"].map()
        originals: list[alike.Originals] = []
        for layer in layers:
            known, alike_here = devices, alike.Originals()
            if (written := layer.get("devices")) is not None:
                if written.value is None and devices:
                    raise merge.taken_back(written)
                devices = merge.overlay_devices(devices, written, errors)
                if alike.is_in(written):  # of very many devices none is looked at for nothing
                    devices, alike_here = alike.resolve_devices(devices, known, errors)
            originals.append(alike_here)
    # Devices that are not declared well are not found either: nothing is said of who names them.
    if len(errors.errors) == misspelt and (devices or not misspelt):
        with errors.one():
            links, groups = _links(generated["links"], layers, devices, originals, errors)
        with errors.one():
            regions = generated["address_map"].list()
            for written in _sections(layers, "address_map"):
                regions = _regions(written, devices, errors)
        with errors.one():
            for written in _sections(layers, "workload"):
                if written.value is None:
                    workload = {}
                workload = merge.overlay_workload(workload, written, devices, errors)

    place = Origin(file=top.origin.file)
    own: dict[str, Node] = {
        "devices": Node(devices, place.below("devices"), _key(layers, "devices")),
        "links": links,
        "address_map": Node(list(regions), place.below("address_map"), _key(layers, "address_map")),
        "workload": Node(workload, place.below("workload"), _key(layers, "workload")),
    }
    given = {key: own[key] if key in own else _merged(layers, key) for key in _resolved_keys()}
    root = Node({key: node for key, node in given.items() if node is not None}, place)
    if errors.errors:  # what there is of the spec may have more, which the core finds
        with errors.one():
            errors.errors += Resolved(with_bases_placed(root)).errors()
        errors.raise_any()
    return _Expanded(root, groups)


def _sections(layers: Sequence[Node], key: str) -> list[Node]:
    """The section of each layer that writes it."""
    return [written for layer in layers if (written := layer.get(key)) is not None]


def _resolved_keys() -> list[str]:
    """The sections of a resolved spec; the others have been replaced by them."""
    return [key for key, about in declared.sections().items() if not about["replaced"]]


def _regions(written: Node, devices: Collection[str], errors: Gathered) -> list[Node]:
    regions = []
    for region in written.list():
        with errors.one():
            regions.append(merge.expand_region(region, devices))
    return regions


def _links(
    generated: Node,
    layers: Sequence[Node],
    devices: Collection[str],
    originals: Sequence[alike.Originals],
    errors: Gathered,
) -> tuple[Node, list[list[int]]]:
    """All links, and the indices of the links that each written entry stands for; none if each stands for itself."""
    if not _sections(layers, "links") and not any(originals):
        return generated, []
    groups: merge.LinkGroups = [[link] for link in generated.list()]
    for layer, alike_here in zip(layers, originals, strict=True):
        if (written := layer.get("links")) is not None:
            if written.value is None:
                groups = []
            groups = merge.overlay_links(groups, written, devices, errors)
        groups = alike.resolve_links(groups, alike_here)
    place = Origin(file=layers[-1].origin.file).below("links")
    return Node([link for group in groups for link in group], place, _key(layers, "links")), _numbered(groups)


def _is_early(override: Override) -> bool:
    about = declared.sections().get(override.path.split(".")[0])
    return about is not None and about["replaced"]


def _check_top_level(layer: Node, errors: Gathered) -> None:
    refuse_other(layer, FileKind.SYSTEM)
    known = list(declared.sections())
    for key, node in layer.map().items():
        with errors.one():
            if key not in known:
                raise (node.key or node.origin).error(
                    f"unknown key '{key}'", allowed=listed(known), suggestion=nearest(key, known)
                )


def _merged(layers: Sequence[Node], key: str) -> Node | None:
    merged: Node | None = None
    for layer in layers:
        if (node := layer.get(key)) is not None:  # a null takes back what was before
            merged = None if node.value is None else merge.overlay(merged, node)
    return merged


def _key(layers: Sequence[Node], key: str) -> Origin | None:
    written = [node.key for layer in layers if (node := layer.get(key)) is not None]
    return written[-1] if written else None


def _generate(topology: Node | None, overrides: Sequence[Override]) -> dict[str, Node]:
    """The devices, links and regions that a topology stands for; none of each without one."""
    sections: dict[str, Plain] = {"devices": {}, "links": [], "address_map": []}
    root = Node({} if topology is None else {"topology": topology}, Origin())
    root = _apply(root, [o for o in overrides if o.path != "preset"], ())
    topology = root.get("topology")
    if topology is None:
        return {name: GeneratedNode(none, Origin(path=name)) for name, none in sections.items()}
    if isinstance(topology.value, str):  # `topology: ring` is short for {kind: ring}
        topology = Node({"kind": topology}, topology.origin, topology.key)
    topology = unsaid.of_kind(topology, "topologies")
    plain = {key: node.plain() for key, node in topology.map().items()}
    try:
        generated = _core.expand_topology(plain)
    except InputError as error:
        error.path = ".".join(filter(None, ["topology", error.path]))
        raise paths.placed(root, error) from None
    key = topology.key or topology.origin
    origin = Origin(key.file, key.line, key.column, note="generated by topology")
    return {name: GeneratedNode(generated[name], origin.below(name)) for name in sections}


def _apply(root: Node, overrides: Sequence[Override], link_groups: Sequence[Sequence[int]]) -> Node:
    errors = Gathered()
    for override in overrides:
        with errors.one():
            try:
                found = paths.find(root, override.path, link_groups)
            except InputError as error:
                nowhere = override.value.origin._replace(path="").placed(error)
                nowhere.unmatched = override.path
                raise nowhere from None
            root = paths.assign_all(root, found, override.value)
    errors.raise_any()
    return root


def _without_work_taken_back(root: Node, before: Node) -> Node:
    """Workloads that are null now and were not before are left out."""
    work, old = root.get("workload"), before.get("workload")
    if work is None or old is None or not isinstance(work.value, dict):
        return root
    left = {
        name: entry
        for name, entry in work.value.items()
        if entry.value is not None or (known := old.get(name)) is None or known.value is None
    }
    return (
        root if len(left) == len(work.value) else paths.assign(root, ("workload",), work.with_entries(left))
    )


def _numbered(links: merge.LinkGroups) -> list[list[int]]:
    groups, count = [], 0
    for group in links:
        groups.append(list(range(count, count + len(group))))
        count += len(group)
    return groups


def _with_regions_spelt_out(root: Node) -> Node:
    """The devices of each region, where they have been set: by globs or ranges, or one without a list."""
    written = root.map()["address_map"]
    if not isinstance(written.value, list):  # the core says so
        return root
    errors = Gathered()
    regions = _regions(written, root.map()["devices"].map(), errors)
    errors.raise_any()
    return paths.assign(root, ("address_map",), Node(regions, written.origin, written.key))


def _with_names_spelt_out(root: Node) -> Node:
    """Weights of devices, each by its own name."""
    spelt_out: dict[int, Node] = {}  # the devices of a range are one node
    for path, weights in declared.of_devices(root, "weights"):
        if not isinstance(weights.value, dict) or not any(map(names.is_pattern, weights.value)):
            continue
        if id(weights) not in spelt_out:
            spelt_out[id(weights)] = merge.by_device(weights, root.map()["devices"].map())
        root = paths.assign(root, path, spelt_out[id(weights)])
    return root


def _with_absolute_files(root: Node) -> Node:
    """Files are found from the place that names them; the resolved spec may be stored elsewhere."""
    for path, file in Resolved(root).files().items():
        if isinstance(file.value, str):
            try:
                absolute = os.path.realpath(os.path.join(file.origin.folder, file.value))
            except OSError:
                raise file.place.error("the working directory, where this file would be, is gone") from None
            root = paths.assign(root, path, Node(absolute, file.origin, file.key))
    return root
