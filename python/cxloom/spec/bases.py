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

    The first begins at 0. They follow each other in the order of the workload, each from a multiple of 2 MiB. Raises
    SpecError for a workload without a footprint.
    """
    workload = root.get("workload")
    if workload is None or not isinstance(workload.value, dict):
        return root
    placed: dict[str, Node] = {}
    begin = 0
    for name, entry in workload.value.items():
        base = entry.get("base")
        if base is None or base.value != AUTO:
            continue
        size = _footprint(entry, base)
        placed[name] = entry.with_entries(
            {**entry.map(), "base": Node(f"0x{begin:x}", base.origin, base.key)}
        )
        begin += -(-size // ALIGNMENT) * ALIGNMENT
    if not placed:
        return root
    return root.with_entries({**root.map(), "workload": workload.with_entries({**workload.value, **placed})})


def _footprint(entry: Node, base: Node) -> int:
    fields = declared.workload_fields(entry)
    field = fields.get("footprint") if "base" in fields else None
    written = entry.get("footprint")
    if field is None:
        raise base.place.error(
            f"no footprint to place by 'base: {AUTO}'", allowed="an address, or a pattern with a footprint"
        )
    try:
        return int(_core.quantity("bytes", field["default"] if written is None else written.value))
    except InputError:  # the core says what is wrong with the footprint
        return 0
