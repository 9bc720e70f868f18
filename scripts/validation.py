"""Writes docs/validation.md, every published number of a study beside what cxloom gives: ``make validation``.

usage: validation.py OUT [STUDY...]

Runs the shipped studies in their whole form, or those that are named, each into OUT/NAME; one whose outcome is there
for this version is not run again. What does not agree stands first. Studies that are not run keep the rows that the
page has of them, with their day; one that needs what this computer has not is named there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cxloom
from cxloom.display.numbers import significant
from cxloom.study.shipped import names

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation.md"
STATES = {
    "met": "agrees within the tolerance that its study gives",
    "fitted": "agrees, and a parameter was chosen by it",
    "bracket": "lies within bounds that the source gives",
    "open": "does not agree; the study says why, or that nobody knows",
    "failed": "does not agree, and the study does not say so",
}
HEAD = ("where", "measure", "published", "cxloom", "off by", "state", "why")
CANNOT_RUN = 2
Comparison = Mapping[str, Any]


def is_published(comparison: Comparison) -> bool:
    """Whether what is expected is a number or a sign of a source, and no closed form of ours."""
    return comparison["published"] is not None or not comparison["derived"]


@dataclass(frozen=True)
class Section:
    """What the page has of a study."""

    day: str
    about: str
    rows: tuple[tuple[str, ...], ...]
    """Cells under HEAD."""


def section_of(outcome: Mapping[str, Any], day: str) -> Section:
    """The section of an outcome; it has no rows if nothing is published."""
    return Section(
        day,
        f"{outcome['title']}. {_plain(outcome['source'])}",
        tuple(_row(each) for each in outcome["comparisons"] if is_published(each)),
    )


def sections_of(text: str) -> dict[str, Section]:
    """Those that a page has, by study."""
    found = {}
    for part in text.split("\n### ")[1:]:
        name, _, marker, about, _, *lines = part.strip().splitlines()
        rows = (re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines[2:])
        found[name] = Section(
            marker.rpartition("written ")[2].removesuffix(" -->"), about, tuple(map(tuple, rows))
        )
    return found


def page(sections: Mapping[str, Section], left_out: Mapping[str, str]) -> str:
    """The page of these sections, by study, and of why others were not run."""
    rows = [(f"`{name}`", *row) for name, each in sections.items() for row in each.rows]
    state = len(HEAD) - 1  # behind the study
    counts = Counter(row[state] for row in rows)
    latest = _marker(max(each.day for each in sections.values()))
    lines = [
        "# Validation",
        "",
        "Every published number or sign that a [study](../studies) compares, what cxloom gives, and how far apart they",
        f"are. `make validation` makes the page of the outcomes of all studies, of version {cxloom.__version__}.",
        "Expectations that are closed forms, worked out from the rules, are not on it: `cxloom study run` shows all.",
        "Studies of [booted machines](boot.md#studies), `dmsim/full_*`, need what `cxloom boot --setup` fetches.",
        "",
        *(f"{_not_run(name, reason, sections.get(name))}\n" for name, reason in left_out.items()),
        "| state | comparisons | a published number |",
        "| --- | --- | --- |",
        *(f"| `{state}` | {counts[state]} | {about} |" for state, about in STATES.items() if counts[state]),
        "",
        "## What does not agree",
        "",
        latest,
        "Where a source and the model differ, and what is known of the reason.",
        "",
        *_table(("study", *HEAD), [row for row in rows if row[state] in ("open", "failed")]),
        "## What was fitted",
        "",
        latest,
        "These agree because a parameter was chosen by them: they validate nothing.",
        "",
        *_table(("study", *HEAD), [row for row in rows if row[state] == "fitted"]),
        "## Study by study",
        "",
    ]
    for name, each in sections.items():
        lines += [f"### {name}", "", _marker(each.day), each.about, "", *_table(HEAD, each.rows)]
    return "\n".join(lines).rstrip() + "\n"


def _not_run(name: str, reason: str, kept: Section | None) -> str:
    if kept is None:
        return f"`{name}` was not run: {_plain(reason)}"
    return f"`{name}` was not run again, its rows are of {kept.day}: {_plain(reason)}"


def _marker(day: str) -> str:
    return f"<!-- measured by: make validation; written {day} -->"


def _row(each: Comparison) -> tuple[str, ...]:
    return (
        _plain(", ".join(f"{key} {value}" for key, value in each["at"].items())),
        f"`{each['measure']}`",
        _published(each),
        _number(each["simulated"]),
        _deviation(each),
        each["state"],
        _plain(each["open"] or each["fitted"] or each["note"] or each["source"]),
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return ["None.", ""]
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)] + [""]


def _published(each: Comparison) -> str:
    value = each["published"] if each["published"] is not None else each["expected_text"]
    allowed = f" ({each['allowed_text']})" if each["allowed_text"] else ""
    return _plain(f"{value if isinstance(value, str) else _number(value)}{allowed}")


def _number(value: Any) -> str:
    return significant(float(value), 4) if isinstance(value, (int, float)) else _plain(str(value))


def _deviation(each: Comparison) -> str:
    expected = each["published"] if isinstance(each["published"], (int, float)) else each["expected"]
    simulated = each["simulated"]
    if not isinstance(expected, (int, float)) or not isinstance(simulated, (int, float)) or not expected:
        return ""
    return f"{100 * (simulated / expected - 1):+.1f} %"


def _plain(text: str) -> str:
    """Text as it is, in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def outcome_of(name: str, out: Path) -> Mapping[str, Any] | str:
    """The outcome of a study, which is run if it has none of this version; or why it cannot be run here."""
    file = out / name.replace("/", "-") / "outcome.json"
    if file.exists():
        found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if found["version"] == cxloom.__version__ and not found["quick"]:
            return found
    print(f"{name}", flush=True)
    command = [sys.executable, "-m", "cxloom", "study", "run", name, "--quiet", "--out", str(file.parent)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    print(done.stderr, end="", file=sys.stderr, flush=True)
    if done.returncode == CANNOT_RUN:
        return done.stderr.partition("\n")[0].removeprefix("error: ")
    if done.returncode not in (0, 1) or not file.exists():
        raise SystemExit(f"{name} gave no outcome")
    again: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return again


def main(out: Path, wanted: Sequence[str]) -> None:
    """Runs the studies, and writes the page."""
    studies = [name for name in names() if not name.endswith("/all")]
    unknown = sorted(set(wanted) - set(studies))
    if unknown:
        raise SystemExit(f"no study {', '.join(unknown)}; there are {', '.join(studies)}")
    found = {name: outcome_of(name, out) for name in wanted or studies}
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    sections = sections_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    sections |= {name: section_of(each, day) for name, each in found.items() if not isinstance(each, str)}
    left_out = {name: each for name, each in found.items() if isinstance(each, str)}
    shown = {name: sections[name] for name in studies if name in sections and sections[name].rows}
    PAGE.write_text(page(shown, left_out), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
