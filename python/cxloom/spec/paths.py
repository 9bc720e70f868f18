"""Path expressions: ``devices.mem[*].media.latency`` names values in a spec, to set, to sweep, to report errors on.

A path is followed from the top of the resolved spec. A step may be a glob or a range of names; an index in brackets
picks from a list, and ``links[i]`` means the i-th entry as it was written, with all the links that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cxloom.base.errors import InputError, InputErrors
from cxloom.base.limits import DEPTH, NAMES
from cxloom.spec import declared
from cxloom.spec.names import declared as declared_names
from cxloom.spec.names import is_glob, is_pattern, listed, matching, nearest
from cxloom.spec.node import Node, Origin, Path, SpecError, Step, to_text

_INDEX = re.compile(r"\[(\d{1,9}|\*)\]")
_SEGMENT = re.compile(r"(?P<name>[^\[\]]+)(?P<indices>(?:\[(?:\d{1,9}|\*)\])+)")


def find(root: Node, text: str, link_groups: Sequence[Sequence[int]] = ()) -> list[Path]:
    """The values that a path means, each by its own path; a declared parameter need not be written yet.

    `link_groups` gives the indices of the links that each written entry stands for. Raises InputError (without a place)
    if the path matches nothing, with the nearest that does.
    """
    segments = text.split(".")
    if not all(segments) or len(segments) > DEPTH:
        raise InputError(
            "not a path", found=f"'{text}'", allowed="names joined by '.', such as devices.host.queue"
        )
    search = _Search(root, link_groups, segments)
    found = list(search.walk(root, (), 0))
    if not found:
        raise search.error(text)
    return found


def assign(root: Node, path: Path, value: Node) -> Node:
    """The tree with another value at `path`; maps on the way are made where they are missing."""
    return assign_all(root, [path], value)


def assign_all(root: Node, found: Sequence[Path], value: Node) -> Node:
    """`assign` at many paths: what is above them is copied once."""
    return _assign(root, root, (), found, value)


def without(root: Node, text: str) -> Node:
    """The tree without the entry at an exact path such as ``devices.mem0.media.banks``."""
    return left_out(root, tuple(_steps(root, text)))


def left_out(root: Node, path: Path) -> Node:
    """`root` without a path, given as its steps."""
    *above, last = path
    node = root
    for step in above:
        below = node.get(step)
        assert below is not None  # the path is of something that is there
        node = below
    entries = {key: item for key, item in node.map().items() if key != last}
    return assign(root, tuple(above), node.with_entries(entries))


def follow(root: Node, text: str) -> tuple[Node, str]:
    """The node at an exact path such as ``links[3].between[1]``, or the deepest on the way, and the steps left over."""
    node, steps = root, _steps(root, text)
    for done, step in enumerate(steps):
        below = node.get(step)
        if below is None:
            return node, to_text(tuple(steps[done:]))
        node = below
    return node, ""


def located(root: Node, error: InputError) -> InputError:
    """An error with an exact path in a file that is no spec, as one that points at what was written there.

    One that knows its file or line stays as it is.
    """
    if isinstance(error, InputErrors):
        return InputErrors([located(root, each) for each in error.errors])
    if error.file is not None or error.line is not None:
        return error
    node, rest = follow(root, error.path)
    key = node.key if error.problem.startswith("unknown key") else None
    origin = (key or node.place).within(rest)
    return origin.error(error.problem, found=error.found, allowed=error.allowed, suggestion=error.suggestion)


def placed(root: Node, error: InputError) -> SpecError:
    """An error with an exact path in `root`, as one that points at what the person wrote."""
    node, rest = follow(root, error.path)
    key = node.key if error.problem.startswith("unknown key") else None
    origin = (key or node.place).within(rest)
    section, _, name = error.path.partition(".")
    problem, one_of = error.problem, ""
    if section in ("devices", "workload") and name in root.map()[section].map() and origin.path != error.path:
        problem, one_of = f"{problem} ('{name}')", name
    if error.is_between or not (rest or origin.note):
        together = node  # the keys that it is about, some of which may be set from outside
        if error.is_between and not isinstance(node.value, dict):
            together = follow(root, error.path.rpartition(".")[0])[0]
        if notes := [note for note in _notes_below(together) if note != origin.note]:
            problem = f"{problem} ({', '.join(notes)})"
    allowed, suggestion = error.allowed, error.suggestion
    if error.problem.startswith("unknown key"):
        steps = tuple(_steps(root, error.path))
        if (above := declared.around(root, steps)) is not None:
            beside = steps[len(above)]
            allowed, suggestion = (
                f"{allowed}; '{steps[-1]}' belongs beside '{beside}', in {to_text(above)}",
                "",
            )
    placed = origin.error(problem, found=error.found, allowed=allowed, suggestion=suggestion)
    placed.is_between, placed.is_idle, placed.one_of = error.is_between, error.is_idle, one_of
    return placed


def _notes_below(node: Node) -> list[str]:
    """How the entries of a map came to be, where they were set from outside of the file."""
    entries = node.value.values() if isinstance(node.value, dict) else ()
    notes = (entry.origin.note for entry in entries)
    return list(dict.fromkeys(note for note in notes if note.startswith("from ")))


class _Search:
    def __init__(self, root: Node, link_groups: Sequence[Sequence[int]], segments: Sequence[str]) -> None:
        self.root = root
        self.link_groups = link_groups
        self.segments = segments
        self.deepest = -1
        self.at = ""
        self.node: Node | None = None  # at that place
        self.candidates: list[str] = []

    def walk(self, node: Node | None, path: Path, depth: int) -> Iterator[Path]:
        if depth == len(self.segments):
            yield path
            return
        segment = self.segments[depth]
        steps = list(self._steps(node, path, segment))
        if not steps:
            self._failed(node, path, depth)
        for step in steps:
            below, here = node, path
            for one in step:
                below, here = (None if below is None else below.get(one)), (*here, one)
            yield from self.walk(below, here, depth + 1)

    def _steps(self, node: Node | None, path: Path, segment: str) -> Iterator[Path]:
        keys = list(node.value) if node is not None and isinstance(node.value, dict) else []
        if segment in keys or segment in self._unwritten(path):
            yield (segment,)
            return
        indexed = _SEGMENT.fullmatch(segment)
        if indexed and node is not None:
            items = node.get(indexed["name"])
            if items is not None and isinstance(items.value, list):
                for indices in self._indices(
                    items, (*path, indexed["name"]), _INDEX.findall(indexed["indices"])
                ):
                    yield (indexed["name"], *indices)
                return
        if is_glob(segment):
            yield from ((key,) for key in matching(segment, keys))
        elif is_pattern(segment):
            wanted = declared_names(segment)
            if all(name in keys for name in wanted):
                yield from ((name,) for name in wanted)

    def _indices(self, items: Node, path: Path, wanted: Sequence[str]) -> Iterator[Path]:
        assert isinstance(items.value, list)
        if wanted[0] == "*":
            chosen: Sequence[int] = range(len(items.value))
        elif path == ("links",) and self.link_groups:
            chosen = self.link_groups[int(wanted[0])] if int(wanted[0]) < len(self.link_groups) else ()
        else:
            chosen = [int(wanted[0])] if int(wanted[0]) < len(items.value) else ()
        for index in chosen:
            if len(wanted) == 1:
                yield (index,)
            elif isinstance(items.value[index].value, list):
                for rest in self._indices(items.value[index], (*path, index), wanted[1:]):
                    yield (index, *rest)

    def _unwritten(self, path: Path) -> list[str]:
        """The keys that may be written at `path` and need not be there yet."""
        if path == ("workload",):
            devices = self.root.get("devices")
            return list(devices.map()) if devices is not None else []
        return list(declared.fields_at(self.root, path)) if path != ("devices",) else []

    def _failed(self, node: Node | None, path: Path, depth: int) -> None:
        if depth <= self.deepest:
            return
        keys = list(node.value) if node is not None and isinstance(node.value, dict) else []
        unwritten = self._unwritten(path)
        self.candidates = self._entries(node, path, depth) or list(dict.fromkeys([*keys, *unwritten]))
        self.deepest, self.at, self.node = depth, to_text(path), node

    def _entries(self, node: Node | None, path: Path, depth: int) -> list[str]:
        """The entries of the list that a segment is of; none if it is of no list."""
        indexed = _SEGMENT.fullmatch(self.segments[depth])
        items = node.get(indexed["name"]) if indexed and node is not None else None
        if indexed is None or items is None or not isinstance(items.value, list):
            return []
        is_links = (*path, indexed["name"]) == ("links",) and self.link_groups
        count = len(self.link_groups if is_links else items.value)
        return [f"{indexed['name']}[{i}]" for i in range(min(count, NAMES))]

    def _with_indices(self, near: str, segment: str) -> str:
        """The nearest key with the indices of what was written, if it is a list."""
        indexed = _SEGMENT.fullmatch(segment)
        below = None if self.node is None else self.node.get(near)
        is_list = below is not None and isinstance(below.value, list)
        return f"{near}{indexed['indices']}" if indexed and is_list else near

    def error(self, text: str) -> InputError:
        segment = self.segments[self.deepest]
        near = self._with_indices(nearest(segment, self.candidates), segment)
        fixed = (
            ".".join([*self.segments[: self.deepest], near, *self.segments[self.deepest + 1 :]])
            if near
            else ""
        )
        place = f"'{self.at}' has" if self.at else "a spec has"
        return InputError(
            f"the path '{text}' matches nothing: {place} no '{segment}'",
            allowed=listed(self.candidates) or "nothing below it",
            suggestion=fixed,
        )


def _assign(root: Node, node: Node | None, done: Path, left: Sequence[Path], value: Node) -> Node:
    if not all(left):
        return value
    below: dict[Step, list[Path]] = {}
    for step, *rest in left:
        below.setdefault(step, []).append(tuple(rest))
    if isinstance(left[0][0], int):
        assert node is not None  # `find` gives no index that is not there
        assert isinstance(node.value, list)
        items = list(node.value)
        for index, rests in below.items():
            assert isinstance(index, int)
            items[index] = _assign(root, items[index], (*done, index), rests, value)
        return Node(items, node.origin, node.key)
    origin = value.origin
    if node is None or node.value is None:
        node = Node(_initial(root, done, origin), origin, origin)
    elif isinstance(node.value, str):  # `media: fixed` is short for {kind: fixed}
        node = Node({"kind": node}, node.origin, node.key)
    entries = dict(node.map())
    for key, rests in below.items():
        assert isinstance(key, str)
        entries[key] = _assign(root, entries.get(key), (*done, key), rests, value)
    return node.with_entries(entries)


def _initial(root: Node, path: Path, origin: Origin) -> dict[str, Node]:
    """The start of a map that was not written: its default kind, where it has one."""
    if not path:
        return {}
    above = declared.fields_at(root, path[:-1]).get(str(path[-1]))
    if above is None or above["type"] != "kind" or not above["default"]:
        return {}
    return {"kind": Node(above["default"], origin, origin)}


def _steps(root: Node, text: str) -> list[Step]:
    """The steps of an exact path, told apart with the help of the tree: `a[0]` may be a key or an item of `a`."""
    steps: list[Step] = []
    node: Node | None = root
    for segment in text.split(".") if text else []:
        indexed = _SEGMENT.fullmatch(segment)
        if indexed and (node is None or node.get(segment) is None):
            more: list[Step] = [
                indexed["name"],
                *(int(i) for i in _INDEX.findall(indexed["indices"]) if i != "*"),
            ]
        elif segment.startswith("["):
            more = [int(i) for i in _INDEX.findall(segment) if i != "*"]
        else:
            more = [segment]
        for step in more:
            node = None if node is None else node.get(step)
        steps.extend(more)
    return steps
