"""The manifest of an artifact, ``artifact.json``: what was run, by what, and the digests of all its files."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import text_of
from cxloom.sweeping.identity import identity

MANIFEST = "artifact.json"
_FORM = 1
_ALLOWED = "a directory that `cxloom study package` made"


@dataclass(frozen=True, slots=True)
class MadeBy:
    """What ran a study."""

    cxloom: str
    """The version."""
    core: str
    """The digest of the compiled libraries: another compiler gives another."""
    commit: str | None
    """The state of the sources by Git, ``-dirty`` behind it if they were changed; None where there is no repository."""
    python: str
    machine: str

    @classmethod
    def here(cls) -> MadeBy:
        """What would run one now."""
        who = identity()
        system = f"{platform.system()} {platform.machine()}"
        return cls(who.version, who.core, _commit(), platform.python_version(), system)

    def __str__(self) -> str:
        commit = f" ({self.commit})" if self.commit else ""
        return f"cxloom {self.cxloom}{commit}, Python {self.python}, {self.machine}"


@dataclass(frozen=True, slots=True)
class PackagedPoint:
    """A point of the study."""

    at: Mapping[str, Any]
    spec: str
    """The file of its spec, in which nothing is left to presets and patterns."""
    hash: str
    """The hash of that spec."""


@dataclass(frozen=True, slots=True)
class ArtifactManifest:
    """What an artifact is."""

    title: str
    study: str
    """The file of the study."""
    quick: bool
    sets: Sequence[str]
    """What ``--set`` set at all points."""
    made_by: MadeBy
    points: Sequence[PackagedPoint]
    files: Mapping[str, str]
    """The SHA-256 of each file by its name in the artifact."""

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps({"form": _FORM, **asdict(self)}, indent=2, ensure_ascii=False) + "\n"


def read_manifest(directory: Path) -> ArtifactManifest:
    """The manifest of an artifact. Raises InputError for a directory that is none."""
    path = directory / MANIFEST
    if not directory.is_dir():
        raise InputError("no such directory", allowed=_ALLOWED, file=directory)
    try:
        found = json.loads(text_of(path))
    except FileNotFoundError:
        raise InputError(f"no artifact: it has no {MANIFEST}", allowed=_ALLOWED, file=directory) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=path) from None
    except ValueError:
        raise InputError("no manifest of an artifact: it is no JSON, or cut off", file=path) from None
    if isinstance(found, dict) and found.get("form") not in (None, _FORM):
        raise InputError(
            "an artifact of another form", found=str(found["form"]), allowed=f"form {_FORM}", file=path
        )
    try:
        manifest = ArtifactManifest(
            title=str(found["title"]),
            study=_inner(found["study"]),
            quick=bool(found["quick"]),
            sets=[str(each) for each in found["sets"]],
            made_by=MadeBy(**found["made_by"]),
            points=[
                PackagedPoint(each["at"], _inner(each["spec"]), each["hash"]) for each in found["points"]
            ],
            files={_inner(name): str(digest) for name, digest in found["files"].items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"no manifest of an artifact: {type(error).__name__} {error}", allowed=_ALLOWED, file=path
        ) from None
    return manifest


def changed_files(directory: Path, manifest: ArtifactManifest) -> list[str]:
    """What is no longer as it was packaged, each with the reason."""
    changed = []
    for name, digest in manifest.files.items():
        try:
            if digest_of(directory / name) != digest:
                changed.append(f"{name} is not as it was packaged: its SHA-256 is another")
        except OSError as error:
            changed.append(f"{name} cannot be read: {reason_of(error)}")
    return changed


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _inner(name: str) -> str:
    """The name of a file within the artifact. Raises ValueError for another."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"'{name}' leads out of the artifact")
    return str(path)


def _commit() -> str | None:
    """The state of the sources that this package is used from, if Git knows it."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", os.fspath(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
