"""The studies that come with cxloom: beside the package when it is installed, at the repository's root otherwise."""

from __future__ import annotations

import os
from pathlib import Path

from cxloom.errors import InputError
from cxloom.shipped import shipped_folder
from cxloom.spec.names import listed, nearest


def names() -> list[str]:
    """The shipped studies, such as ``esf/full_duplex``."""
    root = shipped_folder("studies")
    return (
        []
        if root is None
        else sorted(str(path.relative_to(root).with_suffix("")) for path in root.rglob("*.yaml"))
    )


def find(name: str) -> Path:
    """The file of a shipped study, or `name` itself if it is a file. Raises InputError if there is neither."""
    root = shipped_folder("studies")
    if root is not None and name in names():
        return root / f"{name}.yaml"
    if os.path.exists(name) or Path(name).suffix:
        return Path(name)
    known = names()
    raise InputError(f"unknown study '{name}'", allowed=listed(known, 20), suggestion=nearest(name, known))
