"""What is written and says no more than its absence, left out of a resolved spec.

A null takes back what the layers below say of a parameter, which has its default again. Tools look for a value, or for
nothing: they need not know of a null. A parameter without a default keeps it, so that the core names its line.
"""

from __future__ import annotations

import functools

from cxloom.spec import declared
from cxloom.spec.node import GeneratedNode, Node


def left_out(root: Node) -> Node:
    """The spec without nulls of parameters, and without parts of devices for which the word of their default stands."""
    known = "unsaid", declared.generation()
    entries = {
        key: section.once(known, functools.partial(_section, key, section))
        for key, section in root.map().items()
    }
    return _with_all(root, entries)


def of_kind(entry: Node, category: str) -> Node:
    """The parameters of one of several kinds without nulls."""
    return _in_map(entry, declared.kind_fields(category, declared.kind_of(entry)), words=False)


def _section(key: str, section: Node) -> Node:
    about = declared.sections().get(key)
    if about is None or about["form"] == "text" or isinstance(section, GeneratedNode):
        return section
    known = "unsaid", declared.generation()

    def left(entry: Node) -> Node:
        fields = declared.entry_fields(about, entry)
        return _in_map(entry, fields, words=key == "devices")

    if about["form"] in ("one", "kind"):
        return left(section)
    if isinstance(section.value, dict):
        entries = section.value.items()
        return _with_all(
            section, {name: each.once(known, functools.partial(left, each)) for name, each in entries}
        )
    if isinstance(section.value, list):
        items = section.value
        return _with_items(section, [each.once(known, functools.partial(left, each)) for each in items])
    return section


def _in_map(entry: Node, fields: declared.Fields, *, words: bool) -> Node:
    if isinstance(entry, GeneratedNode) or not isinstance(entry.value, dict):
        return entry
    kept: dict[str, Node] = {}
    for key, node in entry.value.items():
        field = fields.get(key)
        if field is None:
            kept[key] = node
        elif not _says_nothing(field, node, words):
            kept[key] = _value(field, node, words)
    return _with_all(entry, kept)


def _value(field: declared.Field, node: Node, words: bool) -> Node:
    if isinstance(node.value, dict):
        return _in_map(node, declared.inside(field, node), words=words)
    if not isinstance(node.value, list):
        return node
    if field["item"] == "map":
        inner = declared.inside(field, node)
        return _with_items(node, [_in_map(item, inner, words=words) for item in node.value])
    if field["item"] == "any":  # the phases of a workload
        phases = [_in_map(item, declared.workload_fields(item), words=words) for item in node.value]
        return _with_items(node, phases)
    return node


def _says_nothing(field: declared.Field, node: Node, words: bool) -> bool:
    if node.value is None:
        return not field["required"]
    return words and field["type"] in ("map", "list") and declared.says_default(field, node.value)


def _with_all(node: Node, entries: dict[str, Node]) -> Node:
    old = node.map()
    same = len(entries) == len(old) and all(entry is old[key] for key, entry in entries.items())
    return node if same else node.with_entries(entries)


def _with_items(node: Node, items: list[Node]) -> Node:
    same = all(item is old for item, old in zip(items, node.list(), strict=True))
    return node if same else Node(items, node.origin, node.key)
