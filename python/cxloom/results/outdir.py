"""The directory that a run's results go into: refused before the run if it cannot be written, filled at its end.

``summary.json`` and ``spec.yaml`` always, and a Parquet file for each table that is recorded. Each is
written under a temporary name and renamed when all are complete, the summary last: a directory with a summary holds the
whole of one run. A directory of an earlier run may be used again: these files of it are replaced, anything else
in it is left alone. A directory where one of these names belongs to something else is refused. What a killed run left
under a temporary name is removed by the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import file_name, text_of
from cxloom.base.temporary import TemporaryFile, abandoned, remove

SUMMARY = "summary.json"
SPEC = "spec.yaml"
FILES = {
    "requests": "requests.parquet",
    "series": "series.parquet",
    "commands": "commands.parquet",
    "protocol": "protocol.parquet",
}
"""The tables, by the key of `outputs` that asks for each; `--log` asks for that of the protocol."""
MANIFEST = "sweep.json"
"""The file that says that a directory is of a sweep, or of what else runs many points."""
OF_STUDY = "outcome.json"
OF_PLAN = "plan.json"
OUTCOMES = {OF_STUDY: "a study", OF_PLAN: "a plan"}
"""What is made of many points, beside their manifest: the file, and what it is of."""
NAMES = (SPEC, *FILES.values(), SUMMARY)
"""The files of a result, in the order in which they take their names."""


def is_stored(path: str) -> bool:
    """Whether it is a directory with the results of a run."""
    return os.path.isfile(os.path.join(path, SUMMARY))


class OutputDirectory:
    """Where results go. Use it as a context: leaving it without `commit` removes all that was written."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Makes the directory, if need be, and makes sure that it can be written. Raises InputError if not."""
        name = file_name(path, "a directory", "--out")
        if not name:
            raise InputError("the name of the directory is empty", allowed="a directory", path="--out")
        self.path = Path(name)
        self._made: list[Path] = []
        self._temporary: dict[str, TemporaryFile] = {}
        try:
            left = abandoned(self.path, NAMES)
            self._refuse_foreign(left)
            for folder in reversed([self.path, *self.path.parents]):
                if not folder.exists():
                    folder.mkdir()
                    self._made.append(folder)
            self.temporary(SUMMARY)
            remove(left)
        except OSError as error:
            self.discard()
            raise unwritable(error, self.path) from None

    @classmethod
    def optional(cls, path: str | os.PathLike[str] | None) -> OutputDirectory | contextlib.nullcontext[None]:
        """The directory if there is a path, otherwise nothing; either can be entered."""
        return contextlib.nullcontext() if path is None else cls(path)

    def temporary(self, name: str) -> Path:
        """Where to write the file that `commit` will call `name`. Raises OSError if it cannot be written."""
        if name not in self._temporary:
            self._temporary[name] = TemporaryFile(self.path, name)
        return self._temporary[name].path

    def commit(self, summary: str, spec: str) -> None:
        """Writes the summary and the spec, and gives every file its name. Raises OSError if the disk is full."""
        self.temporary(SUMMARY).write_text(summary, encoding="utf-8")
        self.temporary(SPEC).write_text(spec, encoding="utf-8")
        (self.path / SUMMARY).unlink(missing_ok=True)  # from here to the end there is no complete result
        for name in NAMES:
            if name in self._temporary:
                self._temporary[name].commit()
                del self._temporary[name]
            else:
                (self.path / name).unlink(missing_ok=True)  # of an earlier run that recorded more

    def discard(self) -> None:
        """Removes what was written and not committed, and the directories that were made for it."""
        for file in self._temporary.values():
            file.discard()
        with contextlib.suppress(OSError):
            for folder in reversed(self._made):
                folder.rmdir()  # not if something is in it
        self._temporary, self._made = {}, []

    def __enter__(self) -> OutputDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def _refuse_foreign(self, left: list[Path]) -> None:
        """Refuses what is no directory of results; `left` is what a killed run did not get to name."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                "not a directory", allowed="a directory for results", file=self.path, path="--out"
            )
        if (self.path / MANIFEST).exists():
            raise InputError(
                f"the directory holds a sweep, '{MANIFEST}', and a directory is about one thing",
                allowed="an empty or new directory, or one of an earlier run",
                file=self.path,
                path="--out",
            )
        present = [name for name in NAMES if (self.path / name).exists()]
        # A summary is complete from the instant on at which the first file is named, be it not called so yet.
        if present and not any(map(_is_summary, [self.path / SUMMARY, *left])):
            raise InputError(
                f"the directory holds a file '{present[0]}' that is no result of cxloom, and would be overwritten",
                allowed="an empty or new directory, or one of an earlier run",
                file=self.path,
                path="--out",
            )


def unwritable(error: OSError, path: Path, *, not_written: list[str] | None = None) -> InputError:
    """The error for results that cannot be written, because of `error`."""
    reason = reason_of(error)
    files = f"; not written: {', '.join(not_written)}" if not_written else ""
    return InputError(f"results cannot be written here: {reason}{files}", file=path, path="--out")


def _is_summary(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        summary = json.loads(text_of(path))
        return isinstance(summary, dict) and "spec_hash" in summary
    return False
