"""Makes the artifact of a study: a directory with its inputs, its figures, and the command that runs it again."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cxloom.artifact.figures import figures_of, to_csv
from cxloom.artifact.inputs import Inputs, read_inputs
from cxloom.artifact.manifest import MANIFEST, ArtifactManifest, MadeBy, PackagedPoint, digest_of
from cxloom.base.errors import InputError, reason_of
from cxloom.citing.cited import cited_by
from cxloom.kv.point import SERVING, KvRun
from cxloom.kv.spec import trace_of
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved, replaced
from cxloom.spec.writer import to_yaml
from cxloom.study.runner import Outcome

if TYPE_CHECKING:
    from cxloom.booting.point import BootRun

FIGURES = Path("expected") / "figures.csv"
STUDY, SPECS, EXPECTED = Path("study"), Path("specs"), Path("expected")
ANY_NUMBER = sys.maxsize
"""The limit of points: the study was accepted when it was packaged."""
REPRODUCE, README, CITATIONS = "reproduce", "README.md", "cite.bib"

_SCRIPT = """\
#!/bin/sh
# Runs the study of this directory again, and says what differs from the figures in expected/.
# Exit code 0: nothing differs. 1: something does. 2: it cannot be run.
# The command is the cxloom on the PATH, or the one that the variable CXLOOM names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cxloom=${CXLOOM:-cxloom}
if ! command -v "$cxloom" >/dev/null; then
  echo "$cxloom is not installed: README.md says which version made this artifact" >&2
  exit 2
fi
exec "$cxloom" study reproduce "$here" "$@"
"""

_README = """\
# {title}

{source}

{about}

## Reproduce

```
./reproduce
```

runs all points of the study ({points}) with the `cxloom` on the `PATH`, or with the one that the variable `CXLOOM`
names, and compares every figure with `expected/figures.csv`. Exit code 0: they agree. 1: something differs, and a table
says what. Points, table and pictures go into `reproduced/`; without it all points are run again.

Made with {made_by}. The same version gives the same
figures on any machine; another version may not, and the table says by how much.

## What is here

| file | |
| --- | --- |
| `{study}` | the study: what is run, and what is expected of it; beside it the files that it names |
| `specs/` | the system of each point, with nothing left to presets{run_one} |
| `expected/figures.csv` | every number of the table and of the expectations, with half of its 95 % interval |
| `expected/` | the table and the pictures |
| `artifact.json` | versions, points, and the SHA-256 of each file |
| `cite.bib` | what to cite |
"""


def package(
    inputs: Inputs,
    outcome: Outcome,
    directory: Path,
    *,
    sets: Sequence[str] = (),
    draw: Callable[[Outcome, Path], object] = lambda _outcome, _folder: None,
) -> ArtifactManifest:
    """Makes the artifact of a study that was run; all of it, or nothing.

    Args:
        inputs: the study and its files.
        outcome: what it gave.
        directory: the artifact, which must not be there.
        sets: what ``--set`` set at all points.
        draw: writes the table and the pictures into a folder.

    Raises InputError for a directory that is there or cannot be written, and for a study that names a file by an
    absolute path, through a link, or by ``--set``: it would not be found on another machine.
    """
    refuse_directory(directory)
    made = directory.with_name(f".{directory.name}.{os.getpid()}.tmp")
    try:
        made.mkdir(parents=True)
        names = _copy(inputs, made)
        _check(inputs, made, names[inputs.file], sets)
        points = _write_specs(inputs, made, names)
        (made / EXPECTED).mkdir()
        (made / FIGURES).write_text(to_csv(figures_of(outcome)), encoding="utf-8")
        draw(outcome, made / EXPECTED)
        _write_around(inputs, made, names[inputs.file], points)
        files = {
            str(path.relative_to(made)): digest_of(path) for path in sorted(made.rglob("*")) if path.is_file()
        }
        manifest = ArtifactManifest(
            title=inputs.study.title,
            study=str(names[inputs.file]),
            quick=inputs.study.quick,
            sets=list(sets),
            made_by=MadeBy.here(),
            points=points,
            files=files,
        )
        (made / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        made.rename(directory)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=directory) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return manifest


def refuse_directory(directory: Path) -> None:
    """Raises InputError if an artifact cannot be made there: something is there, or it cannot be written."""
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        raise InputError("it is there already", allowed="a new directory", file=directory)
    above = next(each for each in directory.absolute().parents if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError("cannot be written", allowed="a directory in one that can", file=directory)


def _copy(inputs: Inputs, made: Path) -> dict[Path, Path]:
    """Copies the inputs to the places that they have beside each other; gives these, relative to the artifact."""
    names = {}
    for file in inputs.files:
        names[file] = name = STUDY / file.relative_to(inputs.folder)
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, made / name)
    return names


def _check(inputs: Inputs, made: Path, study: Path, sets: Sequence[str]) -> None:
    """Raises InputError unless the copy is the same study, which needs nothing from elsewhere."""
    allowed = "files by names that are relative to the study"
    try:
        copied = read_inputs(
            made / study,
            [Override.parse(each) for each in sets],
            quick=inputs.study.quick,
            most_points=ANY_NUMBER,
        )
    except InputError as error:
        raise InputError(
            f"a copy of the study cannot be read: {error.problem}", found=error.found, allowed=allowed
        ) from None
    home = Path(os.path.realpath(made))
    for file in copied.files:
        if not file.is_relative_to(home):
            raise InputError("a file that another machine has not", found=str(file), allowed=allowed)
    if [hash_of(spec) for spec in copied.study.specs] != [hash_of(spec) for spec in inputs.study.specs]:
        raise InputError("a copy of the study is another one", allowed=allowed, file=inputs.file)


def hash_of(spec: Resolved | KvRun | BootRun) -> str:
    """The hash of what a point runs, 16 hexadecimal digits."""
    return spec.digest()[:16]


def _write_specs(inputs: Inputs, made: Path, names: dict[Path, Path]) -> list[PackagedPoint]:
    (made / SPECS).mkdir()

    def name_of(file: str) -> str:
        return os.path.join("..", names[Path(os.path.realpath(file))])

    points = []
    width = len(str(len(inputs.study.specs)))
    for number, (at, spec) in enumerate(zip(inputs.study.points, inputs.study.specs, strict=True), start=1):
        if isinstance(spec, Resolved):
            plain = spec.plain()
            for path, file in spec.files().items():
                plain = replaced(plain, path, name_of(file.text()))
        else:
            plain = spec.plain()
            if "trace" in plain.get("requests", {}):
                plain["requests"] = plain["requests"] | {"trace": name_of(str(trace_of(spec.root)))}
        name = SPECS / f"{number:0{width}}.yaml"
        (made / name).write_text(to_yaml(plain), encoding="utf-8")
        points.append(PackagedPoint(at, str(name), hash_of(spec)))
    return points


def _write_around(inputs: Inputs, made: Path, study: Path, points: Sequence[PackagedPoint]) -> None:
    """Writes what surrounds the study: how to run it, what it is, what to cite."""
    script = made / REPRODUCE
    script.write_text(_SCRIPT, encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    text = _README.format(
        title=inputs.study.title,
        source=inputs.study.source,
        about=inputs.study.about,
        points=len(points),
        made_by=MadeBy.here(),
        study=study,
        run_one=_command_of(inputs.study.specs[0], points[0].spec),
    )
    (made / README).write_text(text, encoding="utf-8")
    systems = [spec for spec in inputs.study.specs if isinstance(spec, Resolved)]
    (made / CITATIONS).write_text(cited_by(*systems).bibtex(), encoding="utf-8")


def _command_of(spec: Resolved | KvRun | BootRun, file: str) -> str:
    """How the spec of a point is run by itself, behind a colon; nothing where no command does that."""
    if isinstance(spec, Resolved):
        return f": `cxloom run {file}`"
    return f": `cxloom kv {file}`" if isinstance(spec, KvRun) and spec.kind == SERVING else ""
