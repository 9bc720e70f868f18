"""Writes docs/validation.md, every published number of a study beside what cxloom gives: ``make validation``.

usage: validation.py OUT [STUDY...]

Runs the shipped studies in their whole form, each into OUT/NAME; one whose outcome is there for this version is not run
again. What does not agree stands first. A study that needs what this computer has not is named on the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
CANNOT_RUN = 2
Comparison = Mapping[str, Any]


def is_published(comparison: Comparison) -> bool:
    """Whether what is expected is a number or a sign of a source, and no closed form of ours."""
    return comparison["published"] is not None or not comparison["derived"]


def page(outcomes: Mapping[str, Mapping[str, Any]], left_out: Mapping[str, str], day: str) -> str:
    """The page of these outcomes, by the names of the studies, and of why others were not run."""
    rows = [
        (name, each)
        for name, outcome in outcomes.items()
        for each in outcome["comparisons"]
        if is_published(each)
    ]
    counts = Counter(each["state"] for _, each in rows)
    marker = f"<!-- measured by: make validation; written {day} -->"
    lines = [
        "# Validation",
        "",
        "Every published number or sign that a [study](../studies) compares, what cxloom gives, and how far apart they",
        f"are. `make validation` makes the page of the outcomes of all studies, of version {cxloom.__version__}.",
        "Expectations that are closed forms, worked out from the rules, are not on it: `cxloom study run` shows all.",
        "",
        *(f"`{name}` was not run: {_plain(reason)}\n" for name, reason in left_out.items()),
        "| state | comparisons | a published number |",
        "| --- | --- | --- |",
        *(f"| `{state}` | {counts[state]} | {about} |" for state, about in STATES.items() if counts[state]),
        "",
        "## What does not agree",
        "",
        marker,
        "Where a source and the model differ, and what is known of the reason.",
        "",
        *_table(
            ((name, each) for name, each in rows if each["state"] in ("open", "failed")), with_study=True
        ),
        "## What was fitted",
        "",
        marker,
        "These agree because a parameter was chosen by them: they validate nothing.",
        "",
        *_table(((name, each) for name, each in rows if each["state"] == "fitted"), with_study=True),
        "## Study by study",
        "",
    ]
    for name, outcome in outcomes.items():
        of_study = [(study, each) for study, each in rows if study == name]
        if not of_study:
            continue
        lines += [f"### {name}", "", marker, f"{outcome['title']}. {_plain(outcome['source'])}", ""]
        lines += _table(iter(of_study), with_study=False)
    return "\n".join(lines).rstrip() + "\n"


def _table(rows: Iterator[tuple[str, Comparison]], *, with_study: bool) -> list[str]:
    head = [
        *(["study"] if with_study else []),
        "where",
        "measure",
        "published",
        "cxloom",
        "off by",
        "state",
        "why",
    ]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    found = list(rows)
    for name, each in found:
        cells = [
            *([f"`{name}`"] if with_study else []),
            _plain(", ".join(f"{key} {value}" for key, value in each["at"].items())),
            f"`{each['measure']}`",
            _published(each),
            _number(each["simulated"]),
            _deviation(each),
            each["state"],
            _plain(each["open"] or each["fitted"] or each["note"] or each["source"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""] if found else ["None.", ""]


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
    """Runs the studies, and writes the page; of some studies alone it writes none."""
    studies = [name for name in names() if not name.endswith("/all")]
    found = {name: outcome_of(name, out) for name in wanted or studies}
    if not wanted:
        outcomes = {name: each for name, each in found.items() if not isinstance(each, str)}
        left_out = {name: each for name, each in found.items() if isinstance(each, str)}
        PAGE.write_text(page(outcomes, left_out, datetime.now(UTC).strftime("%Y-%m-%d")), encoding="utf-8")
        print(f"Written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
