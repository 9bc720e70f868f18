"""Writes a resolved spec as YAML that reads back to the same spec.

Not by the YAML library: it takes four seconds for four thousand devices, and mistakes some texts for syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_QUANTITY = re.compile(
    r"[0-9]+(\.[0-9]+)?([pnum]?s|([KMGT]i|[kKMGT])?B|(([KMGT]i|[kKMGT])?B|[MGT]b|[kMG])?/s|%)"
)
_RESERVED = {"true", "false", "null", "nan", "inf", "y", "n", "yes", "no", "on", "off"}  # in YAML 1.1 or 1.2


def to_yaml(plain: Mapping[str, Any]) -> str:
    """YAML text of plain data: one line per device, link, region and requester."""
    return "".join(f"{line}\n" for key, value in plain.items() for line in _section(_text(key), value))


def _section(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield f"{key}:"
        yield from (f"  {_text(name)}: {_flow(item)}" for name, item in value.items())
    elif isinstance(value, list) and value:
        yield f"{key}:"
        yield from (f"  - {_flow(item)}" for item in value)
    else:
        yield f"{key}: {_flow(value)}"


def _flow(value: Any) -> str:
    """The value in flow style: {kind: host, queue: 64}."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value)


def _number(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, e, exponent = text.partition("e")
    return (
        f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text
    )  # 1e-07 alone is a text in YAML 1.1


def _text(value: str) -> str:
    """A text as it is if nobody can mistake it for something else, otherwise in double quotes."""
    if _QUANTITY.fullmatch(value) or (_WORD.fullmatch(value) and value.lower() not in _RESERVED):
        return value
    return '"' + "".join(map(_character, value)) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isascii() and character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
