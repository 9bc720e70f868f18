"""Numbers on the command line, with messages of ours."""

from __future__ import annotations

import re
from collections.abc import Callable

import typer


def whole_number(least: int) -> Callable[[object], int]:
    """What makes a number of an argument: a whole one, from `least` on."""

    def parse(text: object) -> int:
        if not re.fullmatch("[0-9]{1,18}", str(text)) or int(str(text)) < least:
            raise typer.BadParameter(f"not a whole number from {least} on, found '{text}'")
        return int(str(text))

    return parse
