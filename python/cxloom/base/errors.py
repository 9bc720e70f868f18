"""The errors, as exceptions: the user's input (:class:`InputError`) or the run (:class:`SimulationError`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from cxloom.base import limits
from cxloom.base.words import counted


def reason_of(error: OSError) -> str:
    """The system's reason, in lower case as our own messages are and without the words of libraries."""
    if isinstance(error, FileNotFoundError) and not os.path.isabs(error.filename or "") and is_nowhere():
        return NOWHERE
    number = re.search(r"(?i)\[errno (\d+)\]", str(error))
    text = os.strerror(int(number[1])) if number else error.strerror or str(error)
    return text[:1].lower() + text[1:]


NOWHERE = "the working directory is gone"


def is_nowhere() -> bool:
    """True if the directory that this process is in was deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def shown(text: str) -> str:
    """A person's text as a message repeats it: of bearable length, on one line, printable anywhere."""
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limits.TEXT]
        )
    if len(text) <= limits.SHOWN:
        return text
    return f"{text[: limits.SHOWN * 2 // 3]}... ({counted(len(text), 'character')})"


class CxloomError(Exception):
    """Any failure that cxloom reports on purpose; anything else that is raised is a bug."""


class InputError(CxloomError):
    """The input is wrong: says where, what was found and what is allowed. The command exits with code 2.

    Every field may be given by keyword, and every one but ``problem`` may be left out:

    * ``problem``: one clause, such as ``"unknown key 'queu'"``
    * ``found``: the offending text
    * ``allowed``: what would be right
    * ``suggestion``: the nearest valid name
    * ``path``: the key within the input, such as ``devices.host.queue``
    * ``file``, ``line``: where it stands, the line counted from one
    """

    is_between: bool = False
    """The key is wrong beside other keys only."""
    is_idle: bool = False
    """Other keys leave the key without effect."""
    one_of: str = ""
    """The device that it is about, of those that a range or glob stands for: `` ('NAME')`` ends its problem."""
    unmatched: str = ""
    """The path of an override that matches nothing."""

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


class AbsentError(InputError):
    """The input is right, and something that it needs is not on this computer: `allowed` says how to have it."""


def _rebuild_input_error(problem: str, fields: dict[str, object]) -> InputError:
    error = InputError(problem)
    error.__dict__.update(fields)
    return error


def _folded(errors: Iterable[InputError]) -> Iterator[InputError]:
    """Errors that differ in their devices alone as one: it names the first, and how many others there are."""
    alike: dict[str, list[InputError]] = {}
    for error in errors:
        name = f" ('{error.one_of}')" if error.one_of else "\n"  # a text of one line has none
        alike.setdefault(str(error).replace(name, "\n", 1), []).append(error)
    for first, *others in alike.values():
        if others:
            several = f" ('{first.one_of}' and {counted(len(others), 'other')})"
            error = type(first)(first.problem.replace(f" ('{first.one_of}')", several, 1))
            problem = error.problem
            error.__dict__.update(first.__dict__ | {"problem": problem, "one_of": ""})
            yield error
        else:
            yield first


MOST_SHOWN = 20
"""So many of several errors are shown; of the others there is a count."""


class InputErrors(InputError):
    """Several things that a person wrote are wrong: `errors`, in the order of their places. Itself it is the first."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        every = [each for error in errors for each in getattr(error, "errors", (error,))]
        unique = {str(each): each for each in sorted(every, key=_order)}
        self.errors = tuple(_folded(unique.values()))
        first = self.errors[0]
        super().__init__(first.problem)
        self.__dict__.update(first.__dict__)

    @property
    def more(self) -> str:
        """How many errors there are beyond the shown ones, as a sentence; empty if there are none."""
        count = len(self.errors) - MOST_SHOWN
        return f"and {counted(count, 'more error')}" if count > 0 else ""

    def __str__(self) -> str:
        lines = [InputError.__str__(each) for each in self.errors[:MOST_SHOWN]]
        return "\n".join([*lines, self.more] if self.more else lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (InputErrors, (self.errors,))


def together(errors: Sequence[InputError]) -> InputError:
    """One error for one or several."""
    return errors[0] if len(errors) == 1 else InputErrors(errors)


def _order(error: InputError) -> tuple[object, ...]:
    """The place: by file, line and column; what has none comes last, in the order in which it was found."""
    column = getattr(error, "column", None)
    return (error.file is None, error.file or "", error.line or 0, column or 0)


class Gathered:
    """Errors that are gathered, so that a person hears of all of them at once.

    ::

        errors = Gathered()
        for entry in entries:
            with errors.one():
                read(entry)
        errors.raise_any()
    """

    def __init__(self) -> None:
        self.errors: list[InputError] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        """Keeps an InputError from what is done within it."""
        try:
            yield
        except InputError as error:
            self.errors.append(error)

    def raise_any(self) -> None:
        """Raises what was gathered, if anything was."""
        if self.errors:
            raise together(self.errors)


class SimulationError(CxloomError):
    """The simulation could not finish: a deadlock, a livelock or a limit that the user set. The text says why."""
