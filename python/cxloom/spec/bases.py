"""Ranges of addresses of their own for requesters that do the same: ``"host[*]": {base: auto}``."""

from __future__ import annotations

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec import declared
from cxloom.spec.node import Node

AUTO = "auto"
ALIGNMENT = 2 << 20
"""Bytes of a large page: no page has lines of two requesters."""


def with_bases_placed(root: Node) -> Node:
    """A spec in which each requester with ``base: auto`` begins where the footprint of the one before ends.

    The first begins at 0. They follow each other in the order of the workload, each from a multiple of 2 MiB. Phases of
    a requester begin at the same address, and its range is as large as the largest of them. Raises SpecError for a
    workload without a footprint.
    """
    workload = root.get("workload")
    if workload is None or not isinstance(workload.value, dict):
        return root
    placed: dict[str, Node] = {}
    begin = 0
    for name, entry in workload.value.items():
        phases = entry.get("phases")
        parts = [entry, *(phases.value if phases is not None and isinstance(phases.value, list) else [])]
        sizes = [_footprint(part, part.map()["base"]) for part in parts if _is_auto(part)]
        if not sizes:
            continue
        own, *others = (_from(part, begin) if _is_auto(part) else part for part in parts)
        if phases is not None and others:
            own = own.with_entries({**own.map(), "phases": Node(others, phases.origin, phases.key)})
        placed[name] = own
        begin += -(-max(sizes) // ALIGNMENT) * ALIGNMENT
    if not placed:
        return root
    return root.with_entries({**root.map(), "workload": workload.with_entries({**workload.value, **placed})})


def _is_auto(part: Node) -> bool:
    base = part.get("base")
    return base is not None and base.value == AUTO


def _from(part: Node, begin: int) -> Node:
    base = part.map()["base"]
    return part.with_entries({**part.map(), "base": Node(f"0x{begin:x}", base.origin, base.key)})


def _footprint(entry: Node, base: Node) -> int:
    fields = declared.workload_fields(entry)
    field = fields.get("footprint") if "base" in fields else None
    written = entry.get("footprint")
    if field is None:
        raise base.place.error(
            f"no footprint to place by 'base: {AUTO}'",
            allowed="a pattern with a footprint, or a base in each phase"
            if entry.get("phases") is not None
            else "an address, or a pattern with a footprint",
        )
    try:
        return int(_core.quantity("bytes", field["default"] if written is None else written.value))
    except InputError:  # the core says what is wrong with the footprint
        return 0
