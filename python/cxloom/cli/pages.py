"""The options that say where pages are: those of numactl, and ``--pages`` in the words of a workload's addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxloom.base.errors import InputError
from cxloom.spec.node import Origin
from cxloom.spec.reader import read_value

FLAGS = {"bind": "--membind", "preferred": "--preferred", "interleave": "--interleave"}
"""The flags of numactl, by the kind of placement."""


def read_placement(text: str, option: str) -> Any:
    """The placement that an option says. Raises InputError if it cannot be read."""
    return read_value(text, Origin(path=option, note=f"from {option}")).plain()


def placement(pages: str | None, flags: Mapping[str, str | None]) -> Any:
    """The pages that the flags ask for; None if none. Raises InputError if they are given twice, or cannot be read."""
    given = {kind: names for kind, names in flags.items() if names is not None}
    if len(given) + (pages is not None) > 1:
        found = ["--pages"] * (pages is not None) + [FLAGS[kind] for kind in given]
        raise InputError(
            "the placement of pages is said twice", found=" and ".join(found), allowed="one of them"
        )
    if pages is not None:
        value = read_placement(pages, "--pages")
        if value is None:
            raise InputError(
                "no placement", found=f"'{pages}'", allowed="{kind: ..., ...}, or the kind", path="--pages"
            )
        return value
    for kind, names in given.items():
        nodes = [name.strip() for name in names.split(",")]
        if not all(nodes):
            raise InputError(
                "an empty name of a memory",
                found=f"'{names}'",
                allowed="MEM or MEM,MEM,...",
                path=FLAGS[kind],
            )
        return {"kind": kind, "nodes": nodes}
    return None
