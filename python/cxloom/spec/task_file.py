"""The tasks of a spec that stand in a file of their own: YAML, or JSON Lines with one on each line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, cast

from cxloom.base.errors import InputError
from cxloom.spec.node import GeneratedNode, Node, Origin, described
from cxloom.spec.reader import compose, file_text

_LINES = (".jsonl", ".ndjson")


class LinesNode(GeneratedNode):
    """A list of which each item stands on a line of a file. The items become nodes when somebody looks at them."""

    __slots__ = ("_lines",)
    _lines: Sequence[int]

    def __init__(self, items: list[Any], origin: Origin, lines: Sequence[int]) -> None:
        super().__init__(items, origin)
        object.__setattr__(self, "_lines", lines)

    @property
    def value(self) -> Any:
        """The items, as of any node."""
        if self._nodes is None:
            items = [
                GeneratedNode(item, self.origin.below(index)._replace(line=line))
                for index, (item, line) in enumerate(
                    zip(cast("list[Any]", self.plain()), self._lines, strict=True)
                )
            ]
            object.__setattr__(self, "_nodes", items)
        return self._nodes

    def __reduce__(self) -> tuple[object, ...]:
        return LinesNode, (self.plain(), self.origin, self._lines)


def with_tasks_read(root: Node) -> Node:
    """A spec whose tasks are in `graph`, wherever they were written. Raises InputError for a file that has none."""
    tasks = root.get("tasks")
    if tasks is None or not isinstance(tasks.value, dict) or "file" not in tasks.value:
        return root
    file = tasks.value["file"]
    if file.value is None or "graph" in tasks.value:  # the core says so
        return root
    read = _read(file)
    entries = {key: node for key, node in tasks.value.items() if key != "file"} | {"graph": read}
    return root.with_entries({**root.map(), "tasks": tasks.with_entries(entries)})


def _read(file: Node) -> Node:
    path = os.path.join(file.origin.folder, file.text())
    try:
        text = file_text(path, "a YAML file, or JSON Lines")
    except InputError as error:
        if error.line is not None:
            raise
        raise file.place.error(f"{error.problem}: {path}", found=error.found, allowed=error.allowed) from None
    if path.endswith(_LINES):
        return _json_lines(text, path)
    node = compose(text, lambda line, column: Origin(file=path, line=line, column=column))
    if node is None or not isinstance(node.value, list):
        found = "nothing" if node is None else described(node.value)
        raise InputError("no list of tasks", found=found, allowed="- {name: ..., kind: ...}", file=path)
    return Node(
        [_under(each, i) for i, each in enumerate(node.value)], node.origin._replace(path="tasks.graph")
    )


def _under(node: Node, step: int) -> Node:
    """The task of a file, with the path that it has in the spec."""
    prefix = f"tasks.graph[{step}]"

    def moved(origin: Origin | None) -> Origin | None:
        return None if origin is None else origin._replace(path=_tail(prefix, origin.path, step))

    def walk(part: Node) -> Node:
        value = part.value
        if isinstance(value, dict):
            value = {key: walk(each) for key, each in value.items()}
        elif isinstance(value, list):
            value = [walk(each) for each in value]
        return Node(value, moved(part.origin) or part.origin, moved(part.key))

    return walk(node)


def _tail(prefix: str, path: str, step: int) -> str:
    head = f"[{step}]"
    return prefix + path[len(head) :] if path.startswith(head) else prefix


def _json_lines(text: str, path: str) -> Node:
    items: list[Any] = []
    lines: list[int] = []
    decode = json.JSONDecoder(object_pairs_hook=_without_doubles, parse_constant=_no_number).decode
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            items.append(decode(line))
        except ValueError as error:
            raise InputError(
                f"no JSON: {error}", found=line, allowed="a task on each line", file=path, line=number
            ) from None
        if not isinstance(items[-1], dict):
            raise InputError("no task", found=line, allowed='{"name": ...}', file=path, line=number)
        lines.append(number)
    if not items:
        raise InputError("no tasks", allowed="a task on each line", file=path)
    return LinesNode(items, Origin(file=path, path="tasks.graph"), lines)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key stands there twice")
    return entries


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")
