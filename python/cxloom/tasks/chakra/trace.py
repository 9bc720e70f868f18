"""Execution traces of Chakra: a file of nodes, and what each says of itself."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.tasks.chakra.wire import BYTES, Field, WireError, fields, messages

_ALLOWED = "an execution trace of Chakra (.et): messages of its protobuf"
Attribute = bool | int | float | str


class NodeType(IntEnum):
    """The types of nodes, by the numbers of Chakra's schema."""

    INVALID = 0
    METADATA = 1
    MEM_LOAD = 2
    MEM_STORE = 3
    COMP = 4
    COMM_SEND = 5
    COMM_RECV = 6
    COMM_COLL = 7


@dataclass(frozen=True)
class Node:
    """A node of a trace.

    `record` is its place in the file: the metadata are record 1. Times are in microseconds; `duration` is None where
    the file has no field for it. `after` are the ids of the nodes that it needs, each once. `attributes` are those that
    are a number, a truth value or a text.
    """

    record: int
    id: int
    name: str
    type: NodeType
    after: tuple[int, ...] = ()
    start: int = 0
    duration: int | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """A trace: the file that it was read from, the version of its schema, and its nodes in the order of the file."""

    file: str
    version: str
    nodes: tuple[Node, ...]
    ignored: int = 0
    """Dependences by control alone, which are left out."""


def read_chakra(file: str | os.PathLike[str], *, control: bool = False) -> Trace:
    """Reads an execution trace of Chakra (``.et``), also one compressed by gzip.

    Raises InputError with the file and the record for one that is cut off or is none, for a node without a type that
    there is, for two nodes of one id, and for a node that needs one that there is not.

    Dependences are those by data, as Chakra's own feeder has it; with `control` those by control, too: in traces of
    PyTorch they are the operator that called, and form circles with the others.
    """
    data = _contents(file)
    version, nodes, records, ignored = "", list[Node](), 0, 0
    try:
        for record, (_, message) in enumerate(messages(data), start=1):
            records = record
            if record == 1:
                version = _version(message)
            else:
                node, left_out = _node(message, record, control)
                nodes.append(node)
                ignored += left_out
    except WireError as error:
        if _is_json(data):
            raise InputError("a trace in JSON, which is not read", allowed=_ALLOWED, file=file) from None
        # What is cut off is the message behind those that were whole.
        raise _wrong(file, getattr(error, "record", records + 1), str(error)) from None
    if not data:
        raise InputError("an empty file", allowed="an execution trace of Chakra (.et)", file=file)
    _check_ids(file, nodes)
    _check_dependences(file, nodes)
    return Trace(os.fspath(file), version, tuple(nodes), ignored)


def _contents(file: str | os.PathLike[str]) -> bytes:
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(reason_of(error), file=file) from None
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError("not whole as a file of gzip", found=str(error), file=file) from None


def _is_json(data: bytes) -> bool:
    """Whether it is the other form that Chakra's feeder reads: the first of its bytes may be lengths of messages."""
    try:
        return isinstance(json.loads(data), (dict, list))
    except (ValueError, RecursionError):
        return False


def _wrong(file: str | os.PathLike[str], record: int, problem: str) -> InputError:
    return InputError(
        f"record {record}: {problem}",
        allowed=_ALLOWED,
        file=file,
    )


class _RecordError(WireError):
    """What is wrong with a record."""

    def __init__(self, record: int, problem: str) -> None:
        super().__init__(0, problem)
        self.record = record


def _version(message: bytes) -> str:
    """That of GlobalMetadata."""
    try:
        version = ""
        for each in fields(message):
            if each.number == 1:
                version = each.text()
            elif each.number != 2 or each.wire != BYTES:
                raise WireError(0, f"field {each.number}, which the metadata at its start do not have")
    except WireError as error:
        raise _RecordError(1, str(error)) from None
    return version


def _node(message: bytes, record: int, control: bool) -> tuple[Node, int]:
    """A node, and how many dependences by control were left out."""
    try:
        return _node_of(message, record, control)
    except WireError as error:
        raise _RecordError(record, str(error)) from None


def _node_of(message: bytes, record: int, control: bool) -> tuple[Node, int]:
    numbers = {1: 0, 3: 0, 6: 0}  # id, type, start
    duration: int | None = None
    name = ""
    after: dict[int, None] = {}
    left_out: set[int] = set()
    attributes: dict[str, Attribute] = {}
    for each in fields(message):
        if each.number in numbers:
            numbers[each.number] = each.unsigned()
        elif each.number == 7:
            duration = each.unsigned()
        elif each.number == 2:
            name = each.text()
        elif each.number == 5 or (each.number == 4 and control):
            after |= dict.fromkeys(each.numbers())
        elif each.number == 4:
            left_out.update(each.numbers())
        elif each.number == 10:
            key, value = _attribute(each.bytes())
            if value is not None:
                attributes[key] = value
        elif each.number not in (8, 9) or each.wire != BYTES:  # inputs and outputs
            raise WireError(0, f"field {each.number}, which a node does not have")
    if numbers[3] not in NodeType.__members__.values():
        raise WireError(0, f"a node of type {numbers[3]}, which there is not")
    node = Node(
        record, numbers[1], name, NodeType(numbers[3]), tuple(after), numbers[6], duration, attributes
    )
    return node, len(left_out.difference(after))


def _attribute(message: bytes) -> tuple[str, Attribute | None]:
    """The name of an attribute and its value; None: lists and bytes, of which no use is made."""
    name = ""
    value: Attribute | None = None
    for each in fields(message):
        if each.number == 1:
            name = each.text()
        elif each.number != 2:
            value = _value(each)
    return name, value


_FIXED = {3: "d", 5: "f", 19: "I", 21: "Q", 23: "i", 25: "q"}


def _value(each: Field) -> Attribute | None:
    if each.number in _FIXED:
        return each.fixed(_FIXED[each.number])
    if each.number in (7, 9):
        return each.signed()
    if each.number in (11, 13):
        return each.unsigned()
    if each.number in (15, 17):
        return each.zigzag()
    if each.number == 27:
        return each.unsigned() != 0
    return each.text() if each.number == 29 else None


def _check_ids(file: str | os.PathLike[str], nodes: list[Node]) -> None:
    known: dict[int, Node] = {}
    for node in nodes:
        other = known.setdefault(node.id, node)
        if other is not node:
            raise InputError(
                f"record {node.record}: a second node {node.id}",
                found=f"record {other.record} is the first",
                file=file,
            )


def _check_dependences(file: str | os.PathLike[str], nodes: list[Node]) -> None:
    known = {node.id for node in nodes}
    for node in nodes:
        for before in node.after:
            if before not in known:
                raise InputError(
                    f"record {node.record}: node {node.id} ('{node.name}') needs a node that there is not",
                    found=str(before),
                    allowed="the id of a node of this file",
                    file=file,
                )
