"""The options that say where pages are: those of numactl, and ``--pages`` in the words of a workload's addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cxloom.base.errors import InputError
from cxloom.execution.objects import Rule
from cxloom.spec.node import Origin
from cxloom.spec.reader import read_value

FLAGS = {"bind": "--membind", "preferred": "--preferred", "interleave": "--interleave"}
"""The flags of numactl, by the kind of placement."""


def option_of(flags: Mapping[str, str | None]) -> str:
    """The option that says where pages are: a flag of numactl if one is given, by the kind of placement."""
    return next((FLAGS[kind] for kind, names in flags.items() if names is not None), "--pages")


@contextmanager
def errors_at(option: str, rules: Sequence[Rule] = ()) -> Iterator[None]:
    """Errors of a placement name what was written: a flag, which has no keys, or one of several --place."""
    try:
        yield
    except InputError as error:
        for each in (error, *getattr(error, "errors", ())):
            if option != "--pages" and each.path.startswith("--pages"):
                each.path = option
            if rule := re.match(r"--place\.ranges\[(\d+)\]", each.path):
                each.path = f"--place {rules[int(rule[1])]}"
        raise


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
