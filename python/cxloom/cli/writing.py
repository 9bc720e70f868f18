"""Files of text that commands write: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.base.temporary import written_whole


def write_text(path: Path, text: str) -> Path:
    """Writes a text and gives the path, whose folders are made if need be. Raises InputError if it cannot."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=path, path="--out") from None
    return path
