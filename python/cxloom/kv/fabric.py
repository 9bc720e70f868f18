"""The fabric of a serving run: a spec of its own file, or written in the same one, resolved as any spec is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from cxloom.base.errors import InputError
from cxloom.spec import names, paths
from cxloom.spec.node import Node, Origin, Path
from cxloom.spec.override import Override
from cxloom.spec.reader import read_named
from cxloom.spec.resolve import resolve

_PREFIX = "fabric."
_ALL = "a spec"
_HAS_NO = re.compile(r"(matches nothing: )'([^']*)' has no")
"""Where a path went wrong, in the words of `cxloom.spec.paths`; at the top that is `_ALL`."""


def split(overrides: Sequence[Override]) -> tuple[list[Override], list[Override]]:
    """The overrides of a serving run, and those of its fabric, by their paths in it."""
    own = [each for each in overrides if not each.path.startswith(_PREFIX)]
    inner = [
        Override(each.path.removeprefix(_PREFIX), each.value)
        for each in overrides
        if each.path.startswith(_PREFIX)
    ]
    return own, inner


def with_fabric(root: Node, overrides: Sequence[Override]) -> Node:
    """The tree with its fabric device by device and link by link, each value at its place.

    Raises InputError, with file and line, for what is wrong in it, and for overrides of a fabric that there is not.
    """
    written = root.get("fabric")
    if written is None or written.value is None:
        for override in overrides:
            raise override.value.origin.error(
                "a path that matches nothing",
                found=f"'{_PREFIX}{override.path}'",
                allowed="there is no fabric",
            )
        return root
    top = read_named(written, "fabric") if isinstance(written.value, str) else written
    top.map()  # a map, or an error at its place
    fabric = _resolved(top, overrides)
    if top is written:
        fabric = _within(written.place, fabric)
    return _with_names_spelt_out(paths.assign(root, ("fabric",), fabric), fabric.map()["devices"].map())


def _resolved(top: Node, overrides: Sequence[Override]) -> Node:
    """The resolved tree of a fabric. Raises InputError, in which paths that were set are those of the whole."""
    try:
        return resolve(top, overrides).root
    except InputError as error:
        for each in (error, *getattr(error, "errors", ())):
            for path in (f"'{override.path}'" for override in overrides):
                if path in each.problem:
                    each.problem = each.problem.replace(path, f"'{_PREFIX}{path[1:]}")
                    each.problem = _HAS_NO.sub(rf"\1'{_PREFIX}\2' has no", each.problem)
                    each.problem = each.problem.replace(f"{_ALL} has no", f"'{_PREFIX[:-1]}' has no")
                    if each.suggestion:
                        each.suggestion = f"{_PREFIX}{each.suggestion}"
        raise


def _within(place: Origin, fabric: Node) -> Node:
    """A fabric with the sections that nobody wrote, which know no line, at the place of it all."""
    sections = fabric.map()
    unwritten = {
        key: Node(node.value, place.below(key))
        for key, node in sections.items()
        if node.place.line is None and not node.place.note
    }
    return fabric.with_entries({**sections, **unwritten})


def _with_names_spelt_out(root: Node, known: Collection[str]) -> Node:
    """Lists of devices, in which ranges and globs may stand, name by name."""
    tiers = root.get("tiers")
    count = len(tiers.value) if tiers is not None and isinstance(tiers.value, list) else 0
    lists: list[Path] = [("servers", "devices"), *(("tiers", index, "devices") for index in range(count))]
    for path in lists:
        node: Node | None = root
        for step in path:
            node = None if node is None else node.get(step)
        if node is None or not isinstance(node.value, list):
            continue
        items = [each for item in node.value for each in _spelt_out(item, known)]
        root = paths.assign(root, path, Node(items, node.origin, node.key))
    return root


def _spelt_out(item: Node, known: Collection[str]) -> list[Node]:
    if not isinstance(item.value, str) or not names.is_pattern(item.value):
        return [item]
    try:
        return [Node(name, item.origin, item.key) for name in names.select(item.value, known)]
    except InputError as error:
        raise item.place.error(error.problem, found=error.found, allowed=error.allowed) from None
