"""The studies that come with cxloom: beside the package when it is installed, at the repository's root otherwise.

A file with the key `studies` instead of a system is a collection: names or patterns of studies beside it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.base.shipped import shipped_folder
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node
from cxloom.spec.reader import file_text, read_text
from cxloom.study.points import map_of, refuse_unknown


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
    near = f"{name}.yaml" if os.path.exists(f"{name}.yaml") else nearest(name, known)
    raise InputError(f"unknown study '{name}'", allowed=listed(known, 20), suggestion=near)


@dataclass(frozen=True, slots=True)
class Collection:
    """Studies that are run one after the other."""

    title: str
    about: str
    members: dict[str, Path]
    """The files of the studies, by name, such as ``esf/hops``."""


def collection(name: str) -> Collection | None:
    """The collection of that name; None if it is a study. Raises InputError if there is neither, or nothing in it."""
    path = find(name)
    top = _collection_in(path)
    if top is None:
        return None
    studies = top.map()["studies"]
    refuse_unknown(top, ["title", "about", "studies"])
    prefix = name.removesuffix(".yaml").rpartition("/")[0]
    members: dict[str, Path] = {}
    for item in studies.list():
        found = sorted(path.parent.glob(f"{item.text()}.yaml"))
        found = [each for each in found if each != path and _collection_in(each) is None]
        if not found:
            raise item.place.error("no study of this name beside the collection", found=item.text())
        members |= {f"{prefix}/{each.stem}" if prefix else each.stem: each for each in found}
    if not members:
        raise studies.place.error("no studies in the collection", allowed='names or patterns such as ["*"]')
    texts = {key: node.text().strip() for key, node in map_of(top).items() if key != "studies"}
    return Collection(texts.get("title", name), texts.get("about", ""), members)


def _collection_in(path: Path) -> Node | None:
    """The tree of a collection's file; None if the file is a study's."""
    text = file_text(path)
    if "studies" not in text:  # most files: parsing takes long, and a run does it anyway
        return None
    top = read_text(text, os.fspath(path))
    return top if "studies" in top.map() else None
