"""Writes execution traces of Chakra, by the wire format of protobuf and the numbers of Chakra's schema."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(1, 8)


def varint(value: int) -> bytes:
    """A number without sign."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field_number: int, value: int) -> bytes:
    """A field of an integer; those below zero as 64 bits."""
    return varint(field_number << 3) + varint(value & (1 << 64) - 1)


def block(field_number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return varint(field_number << 3 | 2) + varint(len(data)) + data


def behind_length(message: bytes) -> bytes:
    """A message of the stream."""
    return varint(len(message)) + message


def attribute(name: str, value: bool | int | float | str) -> bytes:
    """AttributeProto: a bool, int64, double or string."""
    if isinstance(value, bool):
        kept = number(27, value)
    elif isinstance(value, int):
        kept = number(9, value)
    elif isinstance(value, float):
        kept = varint(3 << 3 | 1) + struct.pack("<d", value)
    else:
        kept = block(29, value.encode())
    return block(1, name.encode()) + kept


@dataclass(frozen=True)
class Written:
    """A node as it is written."""

    id: int
    type: int = COMP
    name: str = "n"
    data: Sequence[int] = ()
    control: Sequence[int] = ()
    start: int = 0
    duration: int | None = 0
    """None: the field is left out."""
    attributes: dict[str, bool | int | float | str] = field(default_factory=dict)
    packed: bool = True

    def message(self) -> bytes:
        """Its message, behind its length."""
        parts = [number(1, self.id), block(2, self.name.encode()), number(3, self.type)]
        for key, ids in ((4, self.control), (5, self.data)):
            if self.packed and ids:
                parts.append(block(key, b"".join(varint(each) for each in ids)))
            else:
                parts += [number(key, each) for each in ids]
        parts += [number(6, self.start), block(8, block(1, b"[]"))]
        parts += [] if self.duration is None else [number(7, self.duration)]
        parts += [block(10, attribute(key, value)) for key, value in self.attributes.items()]
        return behind_length(b"".join(parts))


def trace_bytes(*nodes: Written, version: str = "0.0.4") -> bytes:
    """A trace with its metadata."""
    return behind_length(block(1, version.encode())) + b"".join(node.message() for node in nodes)


def write_trace(folder: Path, *nodes: Written, name: str = "t.et") -> Path:
    """A file of a trace."""
    file = folder / name
    file.write_bytes(trace_bytes(*nodes))
    return file
