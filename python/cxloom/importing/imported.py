"""A spec that was made of something else, and what got lost on the way."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError, together
from cxloom.spec.writer import to_yaml
from cxloom.system.system import System


def _of_file(error: InputError, file: str) -> InputError:
    return InputError(
        error.problem,
        found=error.found,
        allowed=error.allowed,
        suggestion=error.suggestion,
        path=f"{error.path} of the spec made of it".lstrip(),
        file=file,
    )


_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")
_WIDTH = 100


@dataclass
class Imported:
    """What an importer gives."""

    spec: dict[str, Any]
    """The spec, as plain data."""
    source: str
    """What it was made from, in a few words: the first line of the file."""
    notes: list[str] = field(default_factory=list)
    """What could not be taken over as it is, a sentence or two each. Nothing is left out that no note names."""

    def text(self) -> str:
        """The file of the spec, with source and notes as comments."""
        lines = [self.source, *(f"- {note}" for note in self.notes)]
        comments = [
            f"# {part}"
            for line in lines
            for part in textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_long_words=False)
        ]
        return "\n".join(comments) + "\n" + to_yaml(self.spec)

    def check(self, out: str, file: str) -> None:
        """Raises InputError, of `file` that it was made of, if the spec is not valid where it will be: `out`.

        Such a file asks for memory that its media do not have. No line is named: that of a spec which is not written
        would be nowhere.
        """
        try:
            System.from_yaml(self.text(), out).check()
        except InputError as error:
            raise together([_of_file(each, file) for each in getattr(error, "errors", [error])]) from None


def in_ranges(items: Mapping[str, Any]) -> dict[str, Any]:
    """Entries that are equal and whose names are numbered one after the other, as one: ``mem[0-3]``."""
    made: dict[str, Any] = {}
    runs: list[tuple[str, int, int, Any]] = []
    for name, value in items.items():
        found = _NUMBERED.fullmatch(name)
        stem, number = (found[1], int(found[2])) if found else (name, -1)
        if runs and found and runs[-1][0] == stem and runs[-1][2] == number - 1 and runs[-1][3] == value:
            runs[-1] = (stem, runs[-1][1], number, value)
        else:
            runs.append((stem, number, number, value))
    for stem, first, last, value in runs:
        name = stem if first < 0 else f"{stem}{first}" if first == last else f"{stem}[{first}-{last}]"
        made[name] = value
    return made


def several(names: Iterable[str]) -> str:
    """Names as a note lists them: all that are numbered one after the other as one."""
    return ", ".join(in_ranges(dict.fromkeys(names)))
