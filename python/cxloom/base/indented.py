"""JSON as ``json.dumps(value, indent=2)`` writes it, byte by byte, but fast.

The library indents in Python, item by item. Here it only lays out what holds maps and lists: a map of plain values is
written by its encoder in C, with a line's end and an indent between the items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_STEP = "  "


def indented(value: Any) -> Iterator[str]:
    """The text of plain data, piece by piece. Raises ValueError for what is no number (NaN, infinity)."""
    return _Writer().pieces(value, 0)


class _Writer:
    def __init__(self) -> None:
        self._encoders: dict[int, json.JSONEncoder] = {}
        # Links that carried nothing share one map, and follow each other.
        self._latest: Any = None
        self._depth = 0
        self._text = ""

    def pieces(self, value: Any, depth: int) -> Iterator[str]:
        if not isinstance(value, (Mapping, list, tuple)) or not value:
            yield self._encoder(depth).encode(value)
        elif all(_is_flat(item) for item in (value.values() if isinstance(value, Mapping) else value)):
            yield self._flat(value, depth)
        else:
            between = f"\n{_STEP * (depth + 1)}"
            is_map = isinstance(value, Mapping)
            yield "{" if is_map else "["
            for key, item in (
                value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
            ):
                yield between if key is None else f"{between}{self._key(key)}: "
                yield from self.pieces(item, depth + 1)
                between = f",\n{_STEP * (depth + 1)}"
            yield f"\n{_STEP * depth}{'}' if is_map else ']'}"

    def _flat(self, value: Any, depth: int) -> str:
        """A map or list of which no item is one with anything in it."""
        if value is not self._latest or depth != self._depth:
            text = self._encoder(depth + 1).encode(value)
            between = f"\n{_STEP * (depth + 1)}"
            self._text = f"{text[0]}{between}{text[1:-1]}\n{_STEP * depth}{text[-1]}"
            self._latest, self._depth = value, depth
        return self._text

    def _key(self, key: Any) -> str:
        return self._encoder(0).encode(key) if isinstance(key, str) else f'"{self._encoder(0).encode(key)}"'

    def _encoder(self, depth: int) -> json.JSONEncoder:
        if depth not in self._encoders:
            separators = (f",\n{_STEP * depth}", ": ")
            self._encoders[depth] = json.JSONEncoder(separators=separators, allow_nan=False, default=_as_dict)
        return self._encoders[depth]


def _as_dict(value: object) -> dict[object, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{type(value).__name__} is no plain data")
    return dict(value)


def _is_flat(value: Any) -> bool:
    return not isinstance(value, (dict, list, tuple, Mapping)) or not value
