"""Specs that others start from: those shipped with cxloom by name, or any file by its path."""

from __future__ import annotations

import os
from pathlib import Path

from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node
from cxloom.spec.reader import read_file

_SUFFIX = ".yaml"


def names() -> list[str]:
    """The shipped presets, such as ``esf/validation``."""
    root = folder()
    return sorted(str(path.relative_to(root).with_suffix("")) for path in root.rglob(f"*{_SUFFIX}"))


def path_of(name: str) -> Path | None:
    """The file of a shipped preset; None if there is none of that name."""
    return folder() / f"{name}{_SUFFIX}" if name in names() else None


def layers_of(top: Node) -> list[Node]:
    """A spec and what it starts from, the most basic first. Raises SpecError for an unknown preset or a circle."""
    layers = [top]
    seen: list[Path] = []
    while (preset := layers[0].get("preset")) is not None and preset.value is not None:
        path = _resolve(preset)
        if path in seen:
            raise preset.origin.error("a preset that starts from itself", found=f"'{preset.value}'")
        seen.append(path)
        layers.insert(0, read_file(path))
    return layers


def _resolve(preset: Node) -> Path:
    name = preset.text()
    shipped = path_of(name)
    if shipped is not None:
        return shipped
    if name.endswith((_SUFFIX, ".yml")):
        path = Path(preset.origin.folder) / name
        if os.path.isfile(path):  # unlike a Path's, False where nobody can look
            return Path(os.path.realpath(path))
        raise preset.origin.error(f"no such file: '{path}'", allowed="a file, or " + listed(names()))
    raise preset.origin.error(
        f"unknown preset '{name}'", allowed=listed(names()), suggestion=nearest(name, names())
    )


def folder() -> Path:
    """Where the shipped ones are."""
    return Path(__file__).parents[1] / "presets"
