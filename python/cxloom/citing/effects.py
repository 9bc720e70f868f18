"""Whether a parameter has an effect in its entry of a spec: a device, a link, the workload of a requester."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom import _core

Step = str | int
_OFF = re.compile(r"none|off|false|unlimited|0(\.0+)?[a-zA-Z]*|")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a spec."""

    section: str
    name: str
    """The name of its device or requester; nothing of an entry of a list, or of all of a section."""
    plain: Mapping[str, Any]

    def has_effect(self, path: Sequence[Step], default: str) -> bool:
        """Whether the default of a parameter that is not written has one: the core refuses to have it written where
        other keys leave it without effect.
        """
        whole = _with(self.plain, path, default)
        if whole is None:
            return True
        written: Any = {self.name: whole} if self.name else [whole] if self.section == "links" else whole
        errors = _core.spec_errors({self.section: written})
        return not any(error.is_idle and error.path.split(".")[-1] == path[-1] for error in errors)


def is_off(value: Any) -> bool:
    """Whether a value says that something is not there: 0, false, none, nothing, no limit."""
    if isinstance(value, Mapping | list):
        return not value
    return value is None or value is False or _OFF.fullmatch(str(value)) is not None


def _with(plain: Any, path: Sequence[Step], value: str) -> Any:
    """Plain data with a value at a path; None where what is there is no map: a word that stands for several keys."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        inner = _with(plain[step], rest, value)
        return None if inner is None else [*plain[:step], inner, *plain[step + 1 :]]
    if not isinstance(plain, Mapping):
        return None
    below = plain.get(step, {} if rest else None)
    inner = _with({"kind": below} if rest and isinstance(below, str) else below, rest, value)
    return None if inner is None else {**plain, step: inner}
