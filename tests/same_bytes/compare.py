"""Compares what two versions made of the same systems, by key.

    python tests/same_bytes/compare.py BEFORE AFTER [--except GLOB ...]

One line for each key that came, went or changed, with the number of systems and one of them. Names of components are
`*` in a key. Exit code 1 if a key went or changed that no GLOB names, or if both versions refuse a system, of which
nothing is compared then; a key that came is listed only.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ALWAYS_DIFFERENT = ("cost", "version", "spec_hash")
# How many levels of names stand below these keys.
NAMES_BELOW = {"per_requester": 1, "per_memory": 1, "per_switch": 1, "per_io": 1, "per_link": 2}


def leaves(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value of a summary that is not a map, with its keys; an empty map is one."""
    if isinstance(value, dict) and value:
        for key, below in value.items():
            if at or key not in ALWAYS_DIFFERENT:
                yield from leaves(below, (*at, key))
    else:
        yield at, value


def key_of(at: tuple[str, ...]) -> str:
    """A key without the names of components."""
    names = NAMES_BELOW.get(at[0], 0)
    return ".".join([at[0], *["*"] * min(names, len(at) - 1), *at[1 + names :]])


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """By what happened and key: an example of each system concerned."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for system, old in before.items():
        was, now = dict(leaves(old)), dict(leaves(after[system]))
        for at in was.keys() | now.keys():
            if at not in was:
                what, detail = "came", f"{now[at]}"
            elif at not in now:
                what, detail = "went", f"{was[at]}"
            elif was[at] != now[at]:
                what, detail = "changed", f"{was[at]} -> {now[at]}"
            else:
                continue
            found[what, key_of(at)].setdefault(system, f"{system}: {'.'.join(at)}: {detail}")
    return {key: list(examples.values()) for key, examples in found.items()}


def main() -> None:
    """Compares and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--except", dest="allowed", metavar="GLOB", nargs="*", default=[])
    arguments = parser.parse_args()
    before, after = json.loads(arguments.before.read_text()), json.loads(arguments.after.read_text())
    found = differences(before, after)
    bad = 0
    for (what, key), examples in sorted(found.items()):
        meant = what == "came" or any(fnmatchcase(key, glob) for glob in arguments.allowed)
        bad += not meant
        print(
            f"{what:8}{'' if not meant else 'as meant' if what != 'came' else '':9}{key} in {len(examples)}"
        )
        print(f"{'':17}{examples[0][:160]}")
    refused = [name for name, result in before.items() if "error" in result and "error" in after[name]]
    for name in refused:
        print(f"refused by both: {name}: {after[name]['error']}"[:160])
    bad += len(refused)
    others = len(found) + len(refused) - bad
    print(
        f"{len(before)} systems: {bad} keys that should not differ or systems refused by both, {others} others"
    )
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
