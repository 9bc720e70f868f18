"""The files that a study is run from: its own, that of its system, those that they name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.kv.point import KvRun
from cxloom.kv.spec import trace_of
from cxloom.spec import presets
from cxloom.spec.override import Override
from cxloom.spec.reader import files_noted
from cxloom.spec.resolved import Resolved
from cxloom.study.file import MOST_POINTS, Study, read


@dataclass(frozen=True, slots=True)
class Inputs:
    """A study that was read, and what it was read from."""

    study: Study
    file: Path
    """The file of the study."""
    files: tuple[Path, ...]
    """All of them, that of the study among them, and none that comes with cxloom as a preset."""
    folder: Path
    """The folder in which all of them are, at whatever depth."""


def read_inputs(
    path: Path, overrides: Sequence[Override] = (), *, quick: bool = False, most_points: int = MOST_POINTS
) -> Inputs:
    """A study with the files that it is run from. Raises InputError for what is no study, names no file, or boots
    machines."""
    with files_noted() as noted:
        study = read(path, overrides, quick=quick, most_points=most_points)
    named: set[str | Path] = {*noted}
    for spec in study.specs:
        if not isinstance(spec, (Resolved, KvRun)):
            allowed = "a study of systems or of KV caches"
            raise InputError("programs on booted machines are not packaged", allowed=allowed, file=path)
        if isinstance(spec, KvRun):
            named |= _trace(spec)
        else:
            named |= {file.text() for file in spec.files().values()}
    shipped = presets.folder().resolve()
    files = {Path(os.path.realpath(each)) for each in named}
    files = {each for each in files if not each.is_relative_to(shipped)}
    for each in files:
        if not each.is_file():
            raise InputError("no such file, which the study names", file=each)
    folder = Path(os.path.commonpath([each.parent for each in files]))
    return Inputs(study, Path(os.path.realpath(path)), tuple(sorted(files)), folder)


def _trace(run: KvRun) -> set[Path]:
    requests = run.root.get("requests")
    return set() if requests is None or requests.get("trace") is None else {trace_of(run.root)}
