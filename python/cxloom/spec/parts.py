"""The parts of a device as a spec has them: the parameters of its queue, its controller, its ports, whatever its kind.

Where they stand, and what they are by default, the core declares (core/device/kinds/parts.hpp), also of plug-ins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from cxloom import _core
from cxloom.spec import declared


@dataclass(frozen=True)
class Part:
    """Parameters of a part of a device, or of something else that declares some."""

    at: str
    """The path of the parameters in the spec."""
    written: Mapping[str, Any]
    """The parameters that were written."""
    fields: declared.Fields
    """The declarations of all parameters."""

    def get(self, key: str) -> Any:
        """A value as written; None where nothing is, or the word of its default."""
        value = self.written.get(key)
        return None if key in self.fields and declared.says_default(self.fields[key], value) else value

    def count(self, key: str) -> int | None:
        """A number of things, as written or by default; None if there is no limit, or no such parameter."""
        value = self.get(key)
        if value is None:
            value = self._default(key)
        return int(value) if str(value).isdigit() else None

    def text(self, key: str) -> str:
        """A value as written or by default, as people write it."""
        value = self.get(key)
        return self._default(key) if value is None else str(value)

    def kind(self, key: str) -> tuple[str, Part]:
        """The kind that a parameter chooses, and the parameters of that kind."""
        field, value = self.fields[key], self.written.get(key)
        values = value if isinstance(value, Mapping) else {} if value is None else {"kind": value}
        kind = str(values.get("kind", field["default"]))
        return kind, Part(f"{self.at}.{key}", values, declared.kind_fields(field["category"], kind))

    def below(self, key: str) -> Part | None:
        """Parameters within these; None if it has no such part, written or by default."""
        value = self.get(key)
        if value is None and key in self.fields and not self._default(key):
            value = {}
        if not isinstance(value, Mapping) or key not in self.fields:
            return None
        return Part(f"{self.at}.{key}", value, declared.fields(self.fields[key]))

    def _default(self, key: str) -> str:
        field = self.fields.get(key)
        return "" if field is None else str(field["default"])


def parts_of(spec: Mapping[str, Any], device: str, part: str) -> Iterator[Part]:
    """The parts of this sort that a device has: ``requester``, ``memory``, ``switch``, ``bus``, ``directory``, ..."""
    written = spec["devices"][device]
    kind = declared.kinds("devices").get(written["kind"], {})
    for place in (each["place"] for each in kind.get("parts", ()) if each["part"] == part):
        found: Part | None = Part(f"devices.{device}", written, declared.fields(kind))
        for key in place.split(".") if place else ():
            found = found.below(key) if found is not None else None
        if found is not None:
            yield found


def part_of(spec: Mapping[str, Any], device: str, part: str) -> Part | None:
    """The first of them; None if its kind has none, as far as it declares."""
    return next(parts_of(spec, device, part), None)


def entry(spec: Mapping[str, Any], part: Part, device: str | None = None) -> dict[str, Any]:
    """The parameters of a part in a spec, to be changed; of another device of the same kind, if one is named."""
    _, own, *below = part.at.split(".")
    values: dict[str, Any] = spec["devices"][device or own]
    for key in below:
        values = values.setdefault(key, {})
    return values


def forgets(memory: Part) -> bool:
    """Whether the medium of a memory keeps nothing of accesses long past: its kind has the trait ``forgets``."""
    kind, _ = memory.kind("media")
    return "forgets" in declared.kinds("media")[kind]["traits"]


def section(spec: Mapping[str, Any], name: str) -> Part:
    """The parameters of a section that is a map, such as ``run``; of an empty spec all are by default."""
    return Part(name, spec.get(name) or {}, declared.fields(declared.declarations()[name]))


def entries(spec: Mapping[str, Any], name: str) -> Iterator[Part]:
    """The entries of a section that is a list: of ``links`` or ``address_map``."""
    fields = declared.fields(declared.declarations()[declared.sections()[name]["entry"]])
    for index, written in enumerate(spec.get(name) or ()):
        yield Part(f"{name}[{index}]", written, fields)


def links_of(spec: Mapping[str, Any]) -> Iterator[Part]:
    """The parameters of each link: an entry with a ``count`` stands for so many."""
    for entry in entries(spec, "links"):
        yield from repeat(entry, entry.count("count") or 1)


def has_persistent_memory(spec: Mapping[str, Any]) -> bool:
    """Whether a region keeps what was written to it when power fails."""
    return any(is_persistent(region) for region in entries(spec, "address_map"))


def is_persistent(region: Part) -> bool:
    """Whether a region keeps what was written to it: its ``persistence`` is not that of all others."""
    return region.get("persistence") is not None


def quantity(kind: str, value: Any) -> float:
    """A quantity as a number: `time` in nanoseconds, `bytes`, `bandwidth` and `frequency` so many a second.

    Without a limit it is infinite. Raises InputError if it is none.
    """
    return _core.quantity(kind, value)
