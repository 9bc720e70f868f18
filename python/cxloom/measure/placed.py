"""Pages that a measurement places itself: over several memories, as numactl and mbind do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError
from cxloom.measure.bench import Bench, Node, Spec
from cxloom.spec.names import listed
from cxloom.system.system import System

OPTION = "--pages"
"""Where mistakes of a placement are said to be, if no other option said it."""


@dataclass(frozen=True)
class PlacedPages(Node):
    """The memory of a placement that is not one node's."""

    pages: Spec = field(default_factory=dict, hash=False)
    users: tuple[str, ...] = ()
    """Requesters that all of its memories answer."""

    def bound(self) -> Spec:
        """The placement itself."""
        return self.pages


def placed(bench: Bench, pages: Any, option: str = OPTION) -> PlacedPages:
    """The memory of a placement, in the words of a workload's `addresses`; `option` said it.

    Raises InputError if it is no placement, or names a memory that is not there or that nobody has.
    """
    if isinstance(pages, str):
        pages = {"kind": pages}
    if not isinstance(pages, Mapping):
        raise InputError("not a placement", found=str(pages), allowed="{kind: ..., ...}", path=option)
    named = pages.get("nodes")
    known = [name for node in bench.all_nodes() for name in node.memories]
    nodes = [
        node
        for node in bench.all_nodes()
        if not named or any(one in (name, name.split(" ld ")[0]) for one in named for name in node.memories)
    ]
    users = [name for name in bench.requesters if all(name in bench.users(node) for node in nodes)]
    _check(bench, dict(pages), users[0] if users else bench.requesters[0], option)
    if not nodes or not users:
        raise InputError(
            "no requester has all memories of this placement",
            found=listed(named or known, word="and"),
            allowed="memories that one requester has when the run begins",
            path=option,
        )
    for name in users:
        _check(bench, dict(pages), name, option)
    # What is bound has its nodes alone; any other placement spills over.
    room = nodes if pages.get("kind") == "bind" else bench.nodes(users[0])
    return PlacedPages(
        _words(pages),
        nodes[0].memory,
        sum(node.size for node in room),
        None,
        frozenset(users),
        tuple(name for node in nodes for name in node.memories),
        dict(pages),
        tuple(users),
    )


def _check(bench: Bench, pages: Spec, requester: str, option: str) -> None:
    """Builds the system with such a workload. Raises InputError, at the option, for a mistake of the placement."""
    work = {"pattern": "sequential", "requests": 1, "footprint": "4KiB", "addresses": pages}
    from cxloom.system.simulation import describe

    try:
        describe(System.from_yaml(json.dumps({**bench.spec, "workload": {requester: work}})).resolve())
    except InputError as error:
        at = f"workload.{requester}.addresses"
        if not error.path.startswith(at):
            raise
        raise InputError(
            error.problem,
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
            # A flag of numactl has no keys: its names are all that can be wrong.
            path=option + (error.path.removeprefix(at) if option == OPTION else ""),
        ) from None


def _words(pages: Mapping[str, Any]) -> str:
    """A placement in a cell of a table: interleave near, far 3:1 by address."""
    kind = str(pages.get("kind", ""))
    words = [kind, *([", ".join(map(str, pages["nodes"]))] if pages.get("nodes") else [])]
    if pages.get("weights"):
        words.append(":".join(map(str, pages["weights"])))
    if "by" in pages:
        words.append(f"by {pages['by']}")
    if "limit" in pages:
        words.append(f"up to {pages['limit']}")
    return " ".join(words)
