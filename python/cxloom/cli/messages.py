"""The command's messages on standard error."""

from __future__ import annotations

from pathlib import Path

from cxloom.base import limits
from cxloom.base.errors import MOST_SHOWN, CxloomError, InputError, InputErrors, shown
from cxloom.display.console import messages

ANSWERED_WITH_ERRORS = 125
"""Exit code of a program whose accesses were answered with errors."""


def show_error(error: CxloomError) -> None:
    """Prints an error, or each of several: where, what, the line itself, what was found and what is allowed."""
    from rich.text import Text

    out = messages()
    if isinstance(error, InputErrors):
        for each in error.errors[:MOST_SHOWN]:
            show_error(each)
        if error.more:
            out.print(error.more)
        return
    if not isinstance(error, InputError):
        out.print(Text.assemble(("error", "bold red"), f": {error}"))
        return
    column = getattr(error, "column", None)
    place = shown(error.file or "")
    if error.line is not None:
        place = f"{place}:{error.line}" if place else f"line {error.line}"
        place = f"{place}:{column}" if column is not None else place
    where = "".join(f"{part}: " for part in (place, shown(error.path)) if part)
    out.print(Text.assemble(("error", "bold red"), ": ", (where, "bold"), shown(error.problem)))
    for line in _excerpt(error.file, error.line, column):
        out.print(Text(line, style="dim"))
    if error.found:
        out.print(Text(f"  found: {shown(error.found)}"))
    if error.allowed:
        out.print(Text(f"  allowed: {shown(error.allowed)}"))
    if error.suggestion:
        out.print(Text.assemble("  did you mean ", (f"'{error.suggestion}'", "bold green"), "?"))


def _excerpt(file: str | None, line: int | None, column: int | None) -> list[str]:
    """The line that the error is in, with a mark under the column."""
    if file is None or line is None or column is None:
        return []
    try:
        if not Path(file).is_file():  # a pipe, which was read to its end
            return []
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
        text = lines[line - 1].replace("\t", " ")
    except (OSError, UnicodeDecodeError, IndexError):
        return []
    if len(text) > limits.SHOWN:  # what the error is about, and some of what is before it
        first = max(0, min(column - 1, len(text)) - limits.SHOWN // 2)
        text, column = text[first : first + limits.SHOWN], column - first
    number = f"  {line} | "
    return [f"{number}{text}", f"{' ' * (len(number) - 2)}| {' ' * (column - 1)}^"]
