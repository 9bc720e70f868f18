"""Instructions a request of the stated systems, commit by commit, so that drift is seen.

``make bench-history`` counts those of HEAD by callgrind, as benchmarks/compare.py does, adds them to
``benchmarks/history.csv`` and writes ``docs/speed-history.md`` from that file. What commits took one after the other
adds up; two commits beside each other, or one and the next, do not show it.

    python benchmarks/history.py [--tree TREE] [--only NAME]    counts a built tree, this one by default
    python benchmarks/history.py --page                         writes the page alone
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from compare import SYSTEMS, instructions

HERE = Path(__file__).parent
COUNTS = HERE / "history.csv"
PAGE = HERE.parent / "docs" / "speed-history.md"
SHOWN = 8
"""Commits on the page; the file keeps all."""
DRIFT = 0.03
"""A row that takes this much more than its least so far is marked: what a change may cost a row of docs/speed.md."""


@dataclass(frozen=True, order=True)
class Count:
    """Instructions a request of one system at one commit."""

    date: str
    """When the commit was made, to the second, so that commits have an order."""
    commit: str
    system: str
    instructions: int


def kept(file: Path = COUNTS) -> list[Count]:
    """All that was counted, the oldest commit first."""
    with file.open(encoding="utf-8", newline="") as rows:
        return sorted(
            Count(row["date"], row["commit"], row["system"], int(row["instructions"]))
            for row in csv.DictReader(rows)
        )


def keep(counts: Iterable[Count], file: Path = COUNTS) -> None:
    """Adds counts to the file, in the place of those of the same commit and system."""
    before = {(each.commit, each.system): each for each in kept(file)} if file.exists() else {}
    every = before | {(each.commit, each.system): each for each in counts}
    with file.open("w", encoding="utf-8", newline="") as rows:
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow(field.name for field in fields(Count))
        writer.writerows(astuple(each) for each in sorted(every.values()))


def page(counts: list[Count]) -> str:
    """The page: a row for each system, a column for each of the last commits, the newest behind."""
    commits = list(dict.fromkeys((each.date, each.commit) for each in counts))[-SHOWN:]
    by = {(each.commit, each.system): each.instructions for each in counts}
    head = ["system", *(f"{date[:10]} {commit}" for date, commit in commits), "against its least"]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    for system in SYSTEMS:
        cells = [by.get((commit, system)) for _, commit in commits]
        least = min(count for (_, name), count in by.items() if name == system)
        now = next(count for count in reversed(cells) if count is not None)
        change = now / least - 1
        told = "least" if now == least else f"{100 * change:+.1f} %"
        marked = f"**{told}**" if change > DRIFT else told
        lines.append(
            f"| {' | '.join([system, *('' if each is None else f'{each:,}' for each in cells), marked])} |"
        )
    return f"{ABOUT}\n" + "\n".join(lines) + "\n"


ABOUT = f"""# Speed, commit by commit

Instructions a request, counted by callgrind as the slope between two lengths of a run: the same on every machine, and
unmoved by other work. [Speed](speed.md) says what the systems are, and what they take in time. `make bench-history`
counts the commit at hand and writes this page; `benchmarks/history.csv` keeps what was counted. The last column
compares the newest count with the least that the file has; above {100 * DRIFT:.0f} % it is bold.

<!-- measured by: make bench-history; written DATE -->"""


def commit_of(tree: Path) -> tuple[str, str]:
    """The date and the short name of the tree's commit. Ends the program if what is compiled is not that commit."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=tree, capture_output=True, text=True, check=True
        ).stdout.strip()

    if git("status", "--porcelain", "--", "core", "include", "benchmarks/throughput.cpp"):
        raise SystemExit(f"{tree}: core/ has changes that are in no commit; commit them first")
    return git("log", "-1", "--format=%cd", "--date=format:%Y-%m-%dT%H:%M:%S"), git(
        "rev-parse", "--short=8", "HEAD"
    )


def main() -> None:
    """Counts, keeps, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=HERE.parent, help="a built tree; this one by default")
    parser.add_argument("--only", default="", help="systems whose name contains this")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    arguments = parser.parse_args()
    if not arguments.page:
        date, commit = commit_of(arguments.tree)
        for name in [name for name in SYSTEMS if arguments.only in name]:
            count = instructions(arguments.tree, name)
            print(f"{name:24}{'not known to it' if count is None else f'{count:,.0f}':>16}", flush=True)
            if count is not None:
                keep([Count(date, commit, name, round(count))])
    if not COUNTS.exists():
        sys.exit("nothing was counted yet")
    counts = kept()
    PAGE.write_text(page(counts).replace("DATE", counts[-1].date[:10]), encoding="utf-8")


if __name__ == "__main__":
    main()
