"""Reads a YAML 1.2 file into a tree of nodes. Nothing here knows what a spec means."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from cxloom.base import limits
from cxloom.base.errors import Gathered, InputError
from cxloom.base.filenames import opened
from cxloom.base.words import counted
from cxloom.spec import core_schema, libyaml
from cxloom.spec.libyaml import YamlNode
from cxloom.spec.names import nearest
from cxloom.spec.node import Node, Origin, Scalar, checked_text, described, too_deep

_LARGEST = 2**63 - 1


def read_file(path: str | os.PathLike[str]) -> Node:
    """The tree of a YAML file. Raises InputError, with file and line, for anything that is not one."""
    return read_text(file_text(path), os.fspath(path))


def read_named(written: Node, what: str) -> Node:
    """The tree of the file that a text of another one names, from that one's folder; `what` it describes.

    Raises InputError at the text for a file that is none, and at its own place for what is wrong in it.
    """
    name = os.path.join(written.origin.folder, written.text())
    try:
        return read_file(name)
    except InputError as error:
        if error.line is not None:
            raise
        raise written.place.error(
            f"the file of the {what}, '{name}': {error.problem}",
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
        ) from None


_OF_RESULTS = "spec.yaml"
"""The spec within a directory of results."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def file_text(path: str | os.PathLike[str], allowed: str = "a YAML file") -> str:
    """The text of a file in UTF-8. Raises InputError, with file and line, for anything that is not text, or too long;
    `allowed` says what it should be."""
    name = os.fspath(path)
    try:
        data = _content(path, allowed)
    except FileNotFoundError:
        raise InputError("no such file", suggestion=_neighbour(Path(path)), file=name) from None
    except InputError as error:
        error.file = name
        if Path(name, _OF_RESULTS).is_file():
            error.suggestion = os.path.join(name, _OF_RESULTS)
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason.lower()}", file=name) from None
    if b"\0" in data:
        found = "UTF-16, as a shell of Windows writes what it redirects" if data[:2] in _UTF_16 else ""
        raise InputError("a binary file", found=found, allowed=f"{allowed}: UTF-8 text", file=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x}"
        raise InputError("not UTF-8 text", found=found, allowed="UTF-8", file=name, line=line) from None


_noted: ContextVar[set[str] | None] = ContextVar("files that are read", default=None)


@contextmanager
def files_noted() -> Iterator[set[str]]:
    """The files that are read by this module while it is entered: a spec, what it starts from, its tasks."""
    files: set[str] = set()
    token = _noted.set(files)
    try:
        yield files
    finally:
        _noted.reset(token)


def _content(path: str | os.PathLike[str], allowed: str) -> bytes:
    """The content of a file, or of a pipe that somebody writes to."""
    if (noted := _noted.get()) is not None:
        noted.add(os.fspath(path))
    file, is_pipe = opened(path, allowed)
    with file:
        data = file.read(limits.FILE_BYTES + 1)
        if len(data) > limits.FILE_BYTES:
            size = "more" if is_pipe else counted(os.stat(path).st_size, "byte")
            raise InputError(
                "the file is too large", found=size, allowed=f"at most {counted(limits.FILE_BYTES, 'byte')}"
            )
    return data


def read_text(text: str, file: str | None = None) -> Node:
    """The tree of YAML text; `file` is what errors call it."""
    document = compose(text, lambda line, column: Origin(file=file, line=line, column=column))
    if document is None:
        raise InputError("the file is empty", allowed="a spec with devices, links and a workload", file=file)
    if not isinstance(document.value, dict):
        raise document.origin.error("not a spec", found=described(document.value), allowed="key: value pairs")
    return document


def read_value(text: str, origin: Origin) -> Node:
    """The value that a person wrote behind a ``--set PATH=``: YAML, all of it from one place."""
    document = compose(text, lambda _line, _column: origin, origin.path)
    return Node(None, origin, origin) if document is None else document


def compose(text: str, origin_at: Callable[[int, int], Origin], path: str = "") -> Node | None:
    """YAML text as a tree; None if there is none.

    `origin_at` makes the origin of a line and column, `path` is where in a spec the value stands.
    """
    root = libyaml.composed(text) or _composed(text, origin_at)
    return None if root is None else _Converter(text, origin_at).document(root, path)


def _composed(text: str, origin_at: Callable[[int, int], Origin]) -> YamlNode | None:
    """The node of a text, by the library that knows YAML 1.2 and says best what is wrong."""
    from ruamel.yaml import YAML  # takes a while; most specs are read without it
    from ruamel.yaml.composer import MaxDepthExceededError
    from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = limits.DEPTH
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)  # YAML 1.2 allows it
            root: YamlNode | None = yaml.compose(text)
    except MaxDepthExceededError as error:
        mark = error.problem_mark
        raise too_deep(origin_at(mark.line + 1, mark.column + 1)) from None
    except MarkedYAMLError as error:
        from cxloom.spec.syntax import syntax_error

        raise syntax_error(error, text, origin_at) from None
    except YAMLError as error:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if position is not None else None
        raise origin_at(line or 1, 1).error("not YAML: a control character", allowed="text") from None
    return root


class _LimitError(Exception):
    """A document is larger than any that is meant well: whatever else is wrong with it, nobody wants to hear more."""

    def __init__(self, error: InputError) -> None:
        super().__init__()
        self.error = error


class _Converter:
    """Turns nodes of the YAML libraries into ours: values by YAML 1.2's core schema, no key twice."""

    def __init__(self, text: str, origin_at: Callable[[int, int], Origin]) -> None:
        self._tagged = _tagged_places(text)
        self._origin_at = origin_at
        self._errors = Gathered()
        self._open: set[int] = set()
        self._seen: set[int] = set()
        self._repeated = 0

    def document(self, root: YamlNode, path: str) -> Node:
        """The whole tree. Raises InputError for all that is wrong with it."""
        converted = Node(None, self._origin(root, path))
        try:
            with self._errors.one():
                converted = self.convert(root, path, None)
        except _LimitError as limit:
            raise limit.error from None
        self._errors.raise_any()
        return converted

    def convert(self, node: YamlNode, path: str, key: Origin | None) -> Node:
        """One value; what is wrong with those inside of it is gathered."""
        origin = self._origin(node, path)
        if node.start_mark.index in self._tagged:
            raise origin.error("a tag", found=_tag(node), allowed="plain values, without tags")
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > limits.ALIASED:
                allowed = f"at most {counted(limits.ALIASED, 'value')} by aliases"
                raise _LimitError(origin.error("aliases repeat too much", allowed=allowed))
        self._seen.add(id(node))
        if node.id == "scalar":
            return Node(self._scalar(node, origin), origin, key)
        if id(node) in self._open:
            raise origin.error("an alias inside of what it stands for", allowed="a value without circles")
        if len(self._open) >= limits.DEPTH:
            raise _LimitError(too_deep(origin))
        self._open.add(id(node))
        try:
            if node.id == "sequence":
                items = []
                for i, item in enumerate(node.value):
                    with self._errors.one():
                        items.append(self.convert(item, f"{path}[{i}]", None))
                return Node(items, origin, key)
            if node.id == "mapping":
                return Node(self._entries(node, path), origin, key)
        finally:
            self._open.discard(id(node))
        raise origin.error("not a value of a spec", found=str(node.tag))

    def _entries(self, node: YamlNode, path: str) -> dict[str, Node]:
        sources: list[dict[str, Node]] = []
        entries: dict[str, Node] = {}
        for key_node, value_node in node.value:
            with self._errors.one():
                if _kind(key_node) == "merge":
                    here = self._origin(key_node, path)
                    sources.extend(
                        self.convert(source, path, here).map() for source in self._sources(value_node)
                    )
                else:
                    name, here = self._name(key_node, path)
                    self._check_entry(name, here, entries, value_node)
                    entries[name] = Node(
                        None, here, here
                    )  # the name is taken, whatever is wrong with the value
                    entries[name] = self.convert(value_node, here.path, here)
        # The first source of a key wins; laid over each other once, however many there are.
        return {key: value for each in (*reversed(sources), entries) for key, value in each.items()}

    def _sources(self, node: YamlNode) -> list[YamlNode]:
        """The maps that a merge key takes entries from."""
        return list(node.value) if node.id == "sequence" else [node]

    def _name(self, node: YamlNode, path: str) -> tuple[str, Origin]:
        """The name of a key, and its place."""
        here = self._origin(node, path)
        if node.id != "scalar":
            raise here.error(
                "a key that is not text", allowed='a name; quote one that has brackets: "mem[*]"'
            )
        if node.start_mark.index in self._tagged:
            raise here.error("a tag", found=_tag(node), allowed="plain names, without tags")
        name = checked_text(str(node.value), here, limits.KEY)
        return name, self._origin(node, f"{path}.{name}" if path else name)

    def _check_entry(self, name: str, here: Origin, entries: dict[str, Node], value: YamlNode) -> None:
        if name in entries:
            first = entries[name].key
            assert first is not None  # an entry of a map always has its key
            lines = f"lines {first.line} and {here.line}" if here.line != first.line else f"line {here.line}"
            raise here.error(f"duplicate key '{name}'", found=f"it on {lines}", allowed="each key once")
        if ":" in name and value.value == "" and value.id == "scalar":
            raise here.error(f"no space after the ':' of '{name}'", allowed=f"'{name.replace(':', ': ', 1)}'")

    def _scalar(self, node: YamlNode, origin: Origin) -> Scalar:
        kind = _kind(node)
        text = checked_text(str(node.value), origin, limits.TEXT)
        if kind in ("int", "float") and len(text) > limits.DIGITS:
            raise origin.error(
                "the number is too long", found=text, allowed=f"at most {counted(limits.DIGITS, 'character')}"
            )
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            number = core_schema.integer(text)
            if abs(number) > _LARGEST:
                raise origin.error("the number is too large", found=text, allowed=f"at most {_LARGEST}")
            return number
        if kind == "float":
            real = core_schema.real(text)
            if math.isinf(real) and "inf" not in text.lower():
                allowed = f"at most {sys.float_info.max:.3g}"
                raise origin.error("the number is too large", found=text, allowed=allowed)
            return real
        return text

    def _origin(self, node: YamlNode, path: str) -> Origin:
        mark = node.start_mark
        return self._origin_at(mark.line + 1, mark.column + 1)._replace(path=path)


def _tagged_places(text: str) -> frozenset[int]:
    """Where the values begin that have a tag, which says what a program shall make of them.

    A composed node does not say whether its tag was written, but the tokens do. A value begins at its tag or its
    anchor, whichever is first, or behind them.
    """
    if "!" not in text:
        return frozenset()
    from ruamel.yaml import YAML, tokens

    places: set[int] = set()
    properties: list[int] = []
    has_tag = False
    for token in YAML(typ="safe", pure=True).scan(text):
        if isinstance(token, tokens.TagToken | tokens.AnchorToken):
            properties.append(token.start_mark.index)
            has_tag |= isinstance(token, tokens.TagToken)
            continue
        if has_tag:
            places.update(properties)
            if not isinstance(token, tokens.KeyToken | tokens.BlockEndToken):
                places.add(token.start_mark.index)
        properties.clear()
        has_tag = False
    return frozenset(places)


def _kind(node: YamlNode) -> str:
    """What a node is by the core schema: quoted text is text."""
    return "str" if node.id != "scalar" or node.style else core_schema.kind_of(str(node.value))


def _tag(node: YamlNode) -> str:
    return f"'{str(node.tag).replace('tag:yaml.org,2002:', '!!')}'"


def _neighbour(path: Path) -> str:
    try:
        return nearest(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""
