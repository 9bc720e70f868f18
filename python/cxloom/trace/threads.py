"""The threads of a program: of which process each is, and what program that runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

METADATA = "threads"
"""The metadata of a trace that says what is known of its threads."""
_MOST = 20_000  # whose names a trace keeps


@dataclass(frozen=True)
class ThreadName:
    """The name of a thread."""

    number: int
    """The number in the trace, from 1."""
    process: int | None
    """The number of its process, from 0 in the order in which they began; None if that is not known."""
    program: str
    """The program of the process, as it is called; empty if that is not known."""

    def __str__(self) -> str:
        program = [self.program] if self.program else []
        process = [] if self.process is None else [f"process {self.process}"]
        return ", ".join([*program, *process, f"thread {self.number}"])


def told(names: Iterable[tuple[int, int, bytes]]) -> tuple[ThreadName, ...]:
    """The names that the plug-in of the emulator tells."""
    return tuple(
        ThreadName(number, process, _plain(program.decode(errors="replace")))
        for number, process, program in names
    )


def recorded(names: Iterable[ThreadName], path: str | os.PathLike[str]) -> dict[str, str]:
    """What a trace of that name says of them: in Parquet, as text has its metadata in front of what they are known
    from; nothing of very many."""
    if not os.fspath(path).endswith(".parquet"):
        return {}
    rows = [[each.number, each.process, each.program] for each in names]
    return {METADATA: json.dumps(rows, separators=(",", ":"))} if 0 < len(rows) <= _MOST else {}


def in_metadata(metadata: Mapping[str, str]) -> tuple[ThreadName, ...]:
    """The names in a trace; none if it has none, or none that can be read."""
    try:
        return tuple(
            ThreadName(int(number), int(process), _plain(str(program)))
            for number, process, program in json.loads(metadata[METADATA])
        )
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
        return ()


def _plain(text: str) -> str:
    """The text without what a terminal would not show as a letter."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
