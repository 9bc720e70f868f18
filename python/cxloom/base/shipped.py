"""Files that come with cxloom but are no part of its code: studies and examples."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(name: str) -> Path | None:
    """The folder ``studies`` or ``examples``: inside the package when installed, otherwise at the repository's root."""
    package = Path(__file__).parents[1]
    for folder in (package / name, package.parent.parent / name):
        if folder.is_dir():
            return folder
    return None
