"""What can go wrong, as exceptions: the user's input (:class:`InputError`) or the run (:class:`SimulationError`)."""

from __future__ import annotations

import os
import re

from cxloom import limits


def reason_of(error: OSError) -> str:
    """What the system says went wrong, in lower case as our own messages are and without the words of libraries."""
    number = re.search(r"(?i)\[errno (\d+)\]", str(error))
    text = os.strerror(int(number[1])) if number else error.strerror or str(error)
    return text[:1].lower() + text[1:]


def shown(text: str) -> str:
    """What a person wrote, as a message repeats it: of bearable length, on one line, printable anywhere."""
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limits.TEXT]
        )
    if len(text) <= limits.SHOWN:
        return text
    return f"{text[: limits.SHOWN * 2 // 3]}... ({len(text)} characters)"


class CxloomError(Exception):
    """Any failure that cxloom reports on purpose; anything else that is raised is a bug."""


class InputError(CxloomError):
    """What a person wrote is wrong: says where, what was found and what is allowed. The command exits with code 2.

    Every field may be given by keyword, and every one but ``problem`` may be left out:

    * ``problem``: one clause, such as ``"unknown key 'queu'"``
    * ``found``: the offending text
    * ``allowed``: what would be right
    * ``suggestion``: the nearest valid name
    * ``path``: the key within the input, such as ``devices.host.queue``
    * ``file``, ``line``: where it stands, the line counted from one
    """

    def __init__(
        self,
        problem: str,
        *,
        found: str = "",
        allowed: str = "",
        suggestion: str = "",
        path: str = "",
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.found = found
        self.allowed = allowed
        self.suggestion = suggestion
        self.path = path
        self.file = None if file is None else os.fspath(file)
        self.line = line

    @property
    def where(self) -> str:
        """``file:line: path``, as much of it as is known; empty if nothing is."""
        place = shown(self.file or "")
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        return ": ".join(part for part in (place, shown(self.path)) if part)

    def __str__(self) -> str:
        text = f"{self.where}: {shown(self.problem)}" if self.where else shown(self.problem)
        if self.found:
            text += f", found {shown(self.found)}"
        if self.allowed:
            text += f"; allowed: {shown(self.allowed)}"
        if self.suggestion:
            text += f"; did you mean '{self.suggestion}'?"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only fields are lost by the default; errors do travel between processes (sweeps).
        return (_rebuild_input_error, (self.problem, self.__dict__.copy()))


def _rebuild_input_error(problem: str, fields: dict[str, object]) -> InputError:
    error = InputError(problem)
    error.__dict__.update(fields)
    return error


class SimulationError(CxloomError):
    """The simulation could not finish: a deadlock, a livelock or a limit that the user set. The text says why."""
