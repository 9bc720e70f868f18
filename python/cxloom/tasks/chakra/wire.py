"""The wire format of protobuf, as far as traces of Chakra need it: messages behind their lengths, and their fields.

https://protobuf.dev/programming-guides/encoding: a field is a varint of its number and wire type, and its value. There
is no schema here; who reads a field says what its value is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_MOST_VARINT = 10
"""Bytes of a varint of 64 bits at most."""


class WireError(Exception):
    """What is there is not in the wire format: says at which byte, counted from the start of what was given."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


@dataclass(frozen=True)
class Field:
    """A field of a message: its number, its wire type, and its value.

    The value is a number without sign of a varint, and bytes of all others.
    """

    number: int
    wire: int
    value: int | bytes

    def unsigned(self) -> int:
        """The value of an integer without sign. Raises WireError if it is none."""
        if not isinstance(self.value, int):
            raise WireError(0, f"field {self.number} is no integer")
        return self.value

    def signed(self) -> int:
        """The value of an int32 or int64, which is written as 64 bits."""
        value = self.unsigned()
        return value - (1 << 64) if value >> 63 else value

    def zigzag(self) -> int:
        """The value of an sint32 or sint64."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def bytes(self) -> bytes:
        """The value of a message, a text or packed numbers. Raises WireError if it is none."""
        if not isinstance(self.value, bytes) or self.wire != BYTES:
            raise WireError(0, f"field {self.number} has no bytes")
        return self.value

    def text(self) -> str:
        """The value of a text. Raises WireError if it is no UTF-8."""
        try:
            return self.bytes().decode()
        except UnicodeDecodeError:
            raise WireError(0, f"field {self.number} is no text in UTF-8") from None

    def fixed(self, form: str) -> float | int:
        """The value of a fixed size, by its letter of `struct`: ``d``, ``f``, ``q``, ``Q``, ``i``, ``I``."""
        layout = struct.Struct("<" + form)
        if not isinstance(self.value, bytes) or _SIZES.get(self.wire) != layout.size:
            raise WireError(0, f"field {self.number} has not {layout.size} bytes of a fixed size")
        found: float | int = layout.unpack(self.value)[0]
        return found

    def numbers(self) -> list[int]:
        """The values of repeated integers without sign: one of them, or all packed."""
        if isinstance(self.value, int):
            return [self.value]
        data, at, found = self.bytes(), 0, []
        while at < len(data):
            value, at = varint(data, at)
            found.append(value)
        return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number without sign of 64 bits at most at byte `at`, and where it ends. Raises WireError if there is none."""
    value = 0
    for index in range(_MOST_VARINT):
        if at + index >= len(data):
            raise WireError(at, "a number is cut off")
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value >> 64:
                break
            return value, at + index + 1
    raise WireError(at, "a number of more than 64 bits")


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The messages of a stream, each with the byte at which it begins; each stands behind its length.

    Raises WireError where it ends within one.
    """
    at = 0
    while at < len(data):
        length, begin = varint(data, at)
        if length > len(data) - begin:
            raise WireError(at, f"a message of {length} bytes, of which {len(data) - begin} are there")
        yield begin, data[begin : begin + length]
        at = begin + length


def fields(message: bytes) -> Iterator[Field]:
    """The fields of a message, in their order. Raises WireError for what is none."""
    at = 0
    while at < len(message):
        begin = at
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if number == 0 or number >> 29:
            raise WireError(begin, f"a field with the number {number}")
        value: int | bytes
        if wire == VARINT:
            value, at = varint(message, at)
        elif wire in (BYTES, FIXED64, FIXED32):
            size = _SIZES.get(wire, 0)
            if wire == BYTES:
                size, at = varint(message, at)
            if size > len(message) - at:
                raise WireError(
                    begin, f"field {number} has {size} bytes, of which {len(message) - at} are there"
                )
            value = message[at : at + size]
            at += size
        else:
            raise WireError(begin, f"field {number} has the wire type {wire}, which there is not")
        yield Field(number, wire, value)
