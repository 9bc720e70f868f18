"""Plain values by YAML 1.2's core schema (chapter 10.3), besides binary numbers and `_` between digits."""

from __future__ import annotations

import re

_FORMS = re.compile(
    r"""
    (?P<null> ~ | null | Null | NULL | )
  | (?P<bool> true | True | TRUE | false | False | FALSE )
  | (?P<int> [-+]? (?: 0b [01_]* [01] _* | 0o [0-7_]* [0-7] _* | 0x [0-9a-fA-F_]* [0-9a-fA-F] _* | [0-9] [0-9_]* ) )
  | (?P<float> [-+]? (?: [0-9] [0-9_]* (?: \. [0-9_]* )? | \. [0-9] [0-9_]* ) (?: [eE] [-+]? [0-9]+ )?
      | [-+]? \. (?: inf | Inf | INF ) | \. (?: nan | NaN | NAN ) )
  | (?P<merge> << )
    """,
    re.VERBOSE,
)
_BASES = {"0b": 2, "0o": 8, "0x": 16}


def kind_of(text: str) -> str:
    """What a value without quotes is: ``null``, ``bool``, ``int``, ``float``, ``merge`` (as a key) or ``str``."""
    match = _FORMS.fullmatch(text)
    return "str" if match is None else str(match.lastgroup)


def integer(text: str) -> int:
    """The value of a text of kind ``int``."""
    digits = text.replace("_", "").lstrip("+-")
    number = int(digits[2:], _BASES[digits[:2]]) if digits[:2] in _BASES else int(digits)
    return -number if text.startswith("-") else number


def real(text: str) -> float:
    """The value of a text of kind ``float``; infinite where it is too large."""
    digits = text.replace("_", "").lower()
    return float(digits.replace(".inf", "inf").replace(".nan", "nan"))
