"""The key of a result: all that decides what comes out of its point, and nothing else."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cxloom import _core
from cxloom.spec.plugins import library_dir, loaded_plugins

SCHEMA = 1
"""The form of the files of a store. With another number older files say something else: their points are run anew."""


class Digested(Protocol):
    """What a point runs: a resolved spec, or a run of another kind."""

    def digest(self) -> str:
        """A digest of all that decides what comes out, of files that are named what is in them."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The program that runs a point: its version, its core and its plug-ins, as digests of what is in their files."""

    version: str
    core: str
    plugins: tuple[str, ...]

    def key(self, resolved: Digested) -> str:
        """The key of a point, 32 hexadecimal digits: two points have one if they must give the same.

        Of files that the spec names, such as traces, it takes what is in them. Raises InputError if one is gone.
        """
        parts = [SCHEMA, self.version, self.core, self.plugins, resolved.digest()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def identity() -> Identity:
    """The identity of this process, with the plug-ins that it has loaded so far."""
    plugins = sorted({_digest([Path(name)]) for name in loaded_plugins()})
    return Identity(_core.__version__, _core_digest(), tuple(plugins))


@functools.cache
def _core_digest() -> str:
    libraries = sorted(library_dir().glob("libcxloom.so*"))
    return _digest([Path(_core.__file__), *libraries])


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:32]
