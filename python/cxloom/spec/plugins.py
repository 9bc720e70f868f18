"""Plug-ins: libraries that register more kinds of components."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.spec import declared

_loaded: list[str] = []


def loaded_plugins() -> list[str]:
    """The files of the plug-ins that this process has loaded, as absolute paths, in that order."""
    return list(_loaded)


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Loads a library built against the public header, once, as ``cxloom run --plugin`` does.

    Its kinds can be used from then on in this process, by every system: in files, and as methods of `System`. Raises
    InputError for what is no plug-in of this cxloom, or is loaded already.
    """
    name = file_name(path, "a shared library")
    if not name:
        raise InputError("no plug-in is named", allowed="a shared library")
    try:
        _core.load_plugin(name)
    except InputError as error:
        error.file = error.file or name
        raise
    _loaded.append(os.path.realpath(name))
    declared.forget()
    if (
        models := sys.modules.get("cxloom.spec.models")
    ) is not None:  # loaded only where systems are built in Python
        models.forget()


def load_plugins(paths: Iterable[str]) -> None:
    """Loads libraries, as `load_plugin` does each."""
    for path in paths:
        load_plugin(path)


def include_dir() -> Path:
    """The directory of the C and C++ headers, for compiling a plug-in: ``g++ -I <include_dir()> ...``."""
    return Path(_core.__file__).parent / "include"


def library_dir() -> Path:
    """The directory of ``libcxloom.so``, for a program that embeds it: ``cc -L <library_dir()> -lcxloom ...``."""
    return Path(_core.__file__).parent
