"""A value that is set from outside of a spec's file."""

from __future__ import annotations

from typing import NamedTuple

from cxloom.base.errors import shown
from cxloom.spec.node import Node, Origin, from_plain
from cxloom.spec.reader import read_value


class Override(NamedTuple):
    """A value set from outside of the file: ``--set devices.host.queue=8``, or a point of a sweep."""

    path: str
    value: Node

    @classmethod
    def parse(cls, text: str, option: str = "--set") -> Override:
        """The override ``PATH=VALUE`` of an option, the value in YAML. Raises SpecError if there is no ``=`` or it is
        not YAML."""
        path, equals, value = text.partition("=")
        path = path.strip()
        origin = Origin(path=path, note=f"from {option} {shown(text)}")
        if not equals or not path:
            raise Origin().error("not an override", found=f"{option} {text}", allowed=f"{option} PATH=VALUE")
        return cls(path, read_value(value, origin))

    @classmethod
    def until(cls, text: str, note: str) -> Override:
        """The override ``ci=1%``: when a run ends before its work does. `note` says where the text is from."""
        key, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
        if not equals or not key.strip() or not value.strip():
            raise Origin(note=f"{note}{text}").error("not a condition", found=f"{text}", allowed="ci=1%")
        path = f"run.until.{key.strip()}"
        return cls(path, read_value(value, Origin(path=path, note=note + text)))

    @classmethod
    def of(cls, path: str, value: object, note: str = "") -> Override:
        """The override with a value of Python."""
        return cls(path, from_plain(value, Origin(path=path, note=note or f"from setting {path}")))
