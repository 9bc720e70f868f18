"""The store of a sweep: a file for each point, ``points/KEY.json``, complete or not there at all.

Whoever has run a point writes its file, so that what is finished stays, whatever is killed afterwards. A file begins
with the digest of what follows. One that a full disk or a bad one left damaged counts as not there: its point is run
anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from cxloom.base.filenames import content_of
from cxloom.base.temporary import TemporaryFile, abandoned, remove

Status = Literal["finished", "unfinished", "refused", "lost"]
"""How a point ended: ``unfinished`` by a deadlock or livelock, ``refused`` for its input, ``lost`` with its process."""

FOLDER = "points"
_BODY = re.compile(rb'\{"key": "[0-9a-f]{32}", "sha256": "([0-9a-f]{64})", "point": ')


@dataclass(frozen=True, slots=True)
class Record:
    """The stored result of a point."""

    status: Status
    error: str | None = None
    """Why it did not finish."""
    summary: dict[str, Any] | None = None
    """The results by the keys of ``cxloom run --json``, without `cost`; labelled truncated if it did not finish."""
    cost: dict[str, Any] | None = None

    @property
    def is_final(self) -> bool:
        """False if another attempt may end otherwise."""
        return self.status != "lost"


class Store:
    """The points in a directory. It need not be there before something is written."""

    def __init__(self, directory: Path) -> None:
        self.folder = directory / FOLDER

    def path(self, key: str) -> Path:
        """Where the point of a key is, or would be."""
        return self.folder / f"{key}.json"

    def read(self, key: str) -> Record | None:
        """The result of a point; None if it has not been run, or its file is damaged. Raises OSError otherwise."""
        with contextlib.suppress(FileNotFoundError):
            return _unpacked(content_of(self.path(key)), key)
        return None

    def write(self, key: str, record: Record) -> None:
        """Stores what a point gave, in place of what was there. Raises OSError."""
        file = TemporaryFile(self.folder, f"{key}.json")
        try:
            file.write(_packed(key, record))
            file.commit()
        except BaseException:
            file.discard()
            raise

    def prepare(self) -> None:
        """Makes the folder, and removes what killed writers left in it. Raises OSError."""
        self.folder.mkdir(exist_ok=True)
        remove(abandoned(self.folder))

    def is_there(self) -> bool:
        """Whether anything has been stored."""
        return self.folder.is_dir() and next(self.folder.glob("*.json"), None) is not None


def _packed(key: str, record: Record) -> bytes:
    point = {
        "status": record.status,
        "error": record.error,
        "summary": record.summary,
        "cost": record.cost,
    }
    body = json.dumps(point, separators=(",", ":"), allow_nan=False).encode()
    digest = hashlib.sha256(body).hexdigest()
    return f'{{"key": "{key}", "sha256": "{digest}", "point": '.encode() + body + b"}\n"


def _unpacked(data: bytes, key: str) -> Record | None:
    start = _BODY.match(data)
    if start is None or not data.startswith(f'{{"key": "{key}"'.encode()) or not data.endswith(b"}\n"):
        return None
    body = data[start.end() : -2]
    if hashlib.sha256(body).hexdigest().encode() != start[1]:
        return None
    point = json.loads(body)
    if point["status"] not in get_args(Status):
        return None
    return Record(point["status"], point["error"], point["summary"], point["cost"])
