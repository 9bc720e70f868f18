"""``sweep.json``: which points a directory is about, in their order. With the points themselves, all else follows.

It is written before anything is run, and does not depend on who runs what: each shard of a sweep writes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import text_of
from cxloom.base.temporary import written_whole
from cxloom.results.outdir import MANIFEST, OUTCOMES, SUMMARY, is_stored
from cxloom.sweeping.identity import SCHEMA, Identity
from cxloom.sweeping.plan import Point
from cxloom.sweeping.store import FOLDER


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a sweep."""

    name: str
    """The name of the spec or study."""
    identity: Identity
    measures: Sequence[str]
    """Columns that were asked for beyond the usual ones."""
    points: Sequence[Point]

    def text(self) -> str:
        """The manifest as it is stored: a line for each point."""
        about = {
            "schema": SCHEMA,
            "name": self.name,
            "version": self.identity.version,
            "core": self.identity.core,
            "plugins": self.identity.plugins,
            "measures": self.measures,
        }
        head = json.dumps(about, indent=1).removesuffix("\n}")
        lines = ",\n  ".join(map(_line, self.points))
        return f'{head},\n "points": [\n  {lines}\n ]\n}}\n'


def write(directory: Path, manifest: Manifest) -> None:
    """Stores a manifest in place of the one before. Raises OSError."""
    with written_whole(directory / MANIFEST) as path:
        path.write_text(manifest.text(), encoding="utf-8")


def is_current(directory: Path, manifest: Manifest) -> bool:
    """Whether the directory is still about this sweep: somebody may have begun another one in it."""
    return _text(directory) == manifest.text()


def read(directory: Path) -> Manifest:
    """The manifest of a directory. Raises InputError if it has none, or one of another version of the format."""
    about, file = _about(directory), directory / MANIFEST
    if about["schema"] != SCHEMA:
        found = f"schema {about['schema']}"
        raise InputError("of another version of cxloom", found=found, allowed=f"{SCHEMA}", file=file)
    try:
        points = [Point(each["set"], each.get("key"), each.get("error")) for each in about["points"]]
        who = Identity(about["version"], about["core"], tuple(about["plugins"]))
        return Manifest(about["name"], who, about["measures"], points)
    except (KeyError, TypeError, AttributeError):
        raise _none(file) from None


def _about(directory: Path) -> dict[str, Any]:
    """The contents of a manifest of any version. Raises InputError if there is none."""
    file = directory / MANIFEST
    try:
        about = json.loads(text_of(file))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"no sweep here: there is no {MANIFEST}", file=directory) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None
    except ValueError:
        raise _none(file) from None
    if not isinstance(about, dict) or not {"schema", "core", "points"} <= about.keys():
        raise _none(file)
    return about


def _none(file: Path) -> InputError:
    return InputError("not the manifest of a sweep", allowed="what `cxloom sweep` writes", file=file)


def refuse_foreign(directory: Path, names: Sequence[str], outcome: str | None = None) -> None:
    """Raises InputError for a directory that holds something else under a name that a sweep would give its files.

    Or what is made of other points: a page would go on to show that. `outcome` is the file that is made of these.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError("not a directory", allowed="a directory for results", file=directory, path="--out")
    others = {file: of for file, of in OUTCOMES.items() if file != outcome and (directory / file).exists()}
    if is_stored(str(directory)):
        others = {SUMMARY: "the results of a run"}
    for file, of in others.items():
        raise InputError(
            f"the directory holds {of}, '{file}', and a directory is about one thing",
            allowed="an empty or new directory, or one of an earlier sweep",
            file=directory,
            path="--out",
        )
    present = [name for name in (*names, MANIFEST, FOLDER) if (directory / name).exists()]
    if not present:
        return
    try:
        _about(directory)
    except InputError as error:
        raise InputError(
            f"the directory holds '{present[0]}' and is none of a sweep: {error.problem}",
            allowed="an empty or new directory, or one of an earlier sweep",
            file=directory,
            path="--out",
        ) from None


def _text(directory: Path) -> str | None:
    try:
        return text_of(directory / MANIFEST)
    except (OSError, UnicodeDecodeError):
        return None


def _line(point: Point) -> str:
    result: dict[str, Any] = {"key": point.key} if point.error is None else {"error": point.error}
    return json.dumps({"set": point.at, **result})
