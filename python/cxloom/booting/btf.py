"""The types of a Linux kernel, as it describes them itself (BTF): where in a structure a field is."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from cxloom.base.errors import SimulationError

_MAGIC = 0xEB9F
_HEAD = struct.Struct("<HBBIIIII")
_TYPE = struct.Struct("<III")
_MEMBER = struct.Struct("<III")
_STRUCT, _UNION = 4, 5
_PASSED = (8, 9, 10, 11, 18)
"""Kinds that stand for the type that they name: typedef, volatile, const, restrict, type tag."""
_BEHIND = {1: 4, 3: 12, 14: 4, 17: 4}
"""Bytes behind a type of these kinds: int, array, variable, declaration tag."""
_EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
"""Bytes for each of as many as it says: of a structure, union, enum, function, section, enum of 64 bits
(Documentation/bpf/btf.rst of Linux 6.12)."""


class Btf:
    """The types of a kernel."""

    def __init__(self, data: bytes, wanted: Iterable[str]) -> None:
        """Reads all types, and keeps where the structures of these names are. Raises SimulationError if it is none."""
        if len(data) < _HEAD.size or _HEAD.unpack_from(data)[0] != _MAGIC:
            raise SimulationError("the guest's kernel does not describe its types")
        _, _, _, head, types_at, types, strings_at, _ = _HEAD.unpack_from(data)
        self._data = data
        self._strings = head + strings_at
        self._at = [0]  # of each type, by its number from 1
        self._named: dict[str, int] = {}
        names = set(wanted)
        at, end = head + types_at, head + types_at + types
        while at < end:
            name, info, _ = _TYPE.unpack_from(data, at)
            kind, count = info >> 24 & 31, info & 0xFFFF
            if kind == _STRUCT and name and (said := self._text(name)) in names:
                self._named.setdefault(said, len(self._at))
            self._at.append(at)
            at += _TYPE.size + _BEHIND.get(kind, 0) + count * _EACH.get(kind, 0)

    def offset(self, structure: str, path: str) -> int:
        """Bytes from the start of a structure to a field. Raises SimulationError if there is none.

        Args:
            path: goes on in fields that are structures, as ``f_path.dentry`` does.
        """
        number: int | None = self._named.get(structure)
        whole = 0
        for field in path.split("."):
            found = None if number is None else self._field(number, field)
            if found is None:
                raise SimulationError(f"the guest's kernel has no {structure}.{path}")
            whole, number = whole + found[0], found[1]
        return whole

    def _field(self, number: int, name: str) -> tuple[int, int] | None:
        """Place and type of a field; those of structures without a name are of the one around them."""
        at = self._at[number]
        _, info, other = _TYPE.unpack_from(self._data, at)
        kind = info >> 24 & 31
        if kind in _PASSED:
            return self._field(other, name)
        if kind not in (_STRUCT, _UNION):
            return None
        for each in range(info & 0xFFFF):
            text, of, bits = _MEMBER.unpack_from(self._data, at + _TYPE.size + each * _MEMBER.size)
            place = (bits & 0xFFFFFF if info >> 31 else bits) // 8
            if text and self._text(text) == name:
                return place, of
            if not text and (inner := self._field(of, name)) is not None:
                return place + inner[0], inner[1]
        return None

    def _text(self, at: int) -> str:
        begin = self._strings + at
        return self._data[begin : self._data.index(0, begin)].decode(errors="replace")
