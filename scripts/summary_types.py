"""Writes python/cxloom/base/summary.py: the keys of a summary as the core declares them, for type checkers.

With --check it says whether the file is up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cxloom import _core

FILE = Path(__file__).parents[1] / "python/cxloom/base/summary.py"
HEAD = '''"""The keys of a summary, for type checkers. Made by scripts/summary_types.py of what the core declares.

A component has those of the keys that its kind declares, and its media; what kinds of plug-ins declare is not here.
Values are of any type: whether one is a number, null where nothing was measured, or a text is not declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
'''
ADDED = ("spec_hash", "version", "cost")
"""What the front end adds: it is of the program, not of the system."""

SHARES = ("breakdown_ns", "byte_shares")
"""Parts of a whole: they are summed and shown by whatever names they have."""

LISTS = ("SummaryTasksCriticalPath", "SummaryTasksWindows", "SummaryTasksWindowsTransfers")
"""Classes of the entries of lists; others that are declared by name are those of maps."""

Measures = Iterable[Mapping[str, Any]]


class Writer:
    """Makes a class for each table of measures; equal tables share one."""

    def __init__(self) -> None:
        self.classes: dict[str, tuple[str, ...]] = {}

    def add(self, name: str, measures: Measures, more: Mapping[str, str] | None = None) -> str:
        """The class that has these measures as its keys."""
        keys: dict[str, str] = {}
        for measure in measures:
            keys.setdefault(measure["name"], self._type(name, measure))
        lines = tuple(f"{key}: {kind}" for key, kind in {**keys, **(more or {})}.items())
        for other, others in self.classes.items():
            if others == lines:
                return other
        assert name not in self.classes, name
        self.classes[name] = lines
        return name

    def _type(self, owner: str, measure: Mapping[str, Any]) -> str:
        if not measure["parts"]:
            return "Any"
        if measure["name"] in SHARES:
            return "Mapping[str, Any]"
        kind = self.add(owner + camel(measure["name"]), measure["parts"])
        if kind in LISTS:
            return f"Sequence[{kind}]"
        return f"Mapping[str, {kind}]" if measure["by_name"] else kind

    def text(self) -> str:
        """The module."""
        parts = [HEAD]
        for name, lines in self.classes.items():
            parts.append(f"\n\nclass {name}(TypedDict, total=False):\n")
            parts += [f"    {line}\n" for line in lines]
        return "".join(parts)


def camel(name: str) -> str:
    """The name of a class: LatencyNs of latency_ns."""
    return "".join(word.capitalize() for word in name.split("_"))


def of_components(declared: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """What components have: what the run says of each group of them, and what their kinds declare."""
    for measure in declared["measures"]:
        if measure["name"].startswith("per_"):
            yield from measure["parts"]
    for category in ("devices", "media"):
        for info in declared[category].values():
            yield from info["statistics"]
    for side in ("cache_", "backing_"):  # media within media
        for info in declared["media"].values():
            yield from ({**each, "name": side + each["name"]} for each in info["statistics"])


def generated() -> str:
    """The module, as it is to be."""
    declared = _core.declarations()
    writer = Writer()
    component = writer.add("Component", of_components(declared))
    link = writer.add("LinkDirection", declared["link"]["statistics"])
    groups = [measure["name"] for measure in declared["measures"] if measure["name"].startswith("per_")]
    types = dict.fromkeys(groups, f"Mapping[str, {component}]")
    types["per_link"] = f"Mapping[str, Mapping[str, {link}]]"
    own = [measure for measure in declared["measures"] if measure["name"] not in types]
    writer.add("Summary", own, {**types, **dict.fromkeys(ADDED, "Any")})
    return writer.text()


if __name__ == "__main__":
    text = generated()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        sys.exit(f"{FILE} is out of date: run scripts/summary_types.py")
