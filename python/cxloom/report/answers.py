"""Which command a JSON file is the answer of, and how there is a page of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.results.outdir import SUMMARY

_OF_RESULTS = "cxloom run SPEC --out DIR && cxloom report DIR"
_OF_RUNS = f"pages of runs: {_OF_RESULTS}"
_SUMMARY_KEYS = {"latency_ns", "breakdown_ns", "per_link"}
_ANSWERS = (
    ("cxloom compare", {"systems", "sentences", "rows"}, _OF_RUNS),
    ("cxloom explain", {"chain", "resources", "what_ifs"}, _OF_RUNS),
    ("cxloom measure", {"measure", "title", "rows"}, _OF_RUNS),
    ("cxloom energy", {"power_w", "nj_per_request"}, _OF_RUNS),
    ("cxloom find", {"tried", "sentence"}, _OF_RUNS),
    ("cxloom crash", {"instants", "lost_instants"}, _OF_RUNS),
    ("cxloom epochs", {"pages_moved", "shootdowns"}, _OF_RUNS),
    ("cxloom check", {"routes", "deadlock", "partitions"}, _OF_RUNS),
    ("cxloom fit", {"parameters", "systems_played"}, _OF_RUNS),
    ("cxloom advise", {"proposed", "recipe"}, _OF_RUNS),
    ("cxloom offload", {"sentence", "footprint_bytes"}, _OF_RUNS),
    ("cxloom sweep", {"directory", "points"}, "the directory of the sweep: cxloom report DIR"),
    ("cxloom plan", {"plan", "designs", "prices"}, "cxloom plan FILE --html PAGE.html"),
    ("cxloom exec", {"command", "instructions", "systems"}, "cxloom exec --html PAGE.html ..."),
)
"""Commands with the keys of an answer that no other one has, and the way to a page."""


def refuse_answer(found: dict[str, Any], file: Path) -> None:
    """Raises InputError, with the way to a page, for the answer of a command that this is no page of."""
    keys = set(found)
    if keys >= _SUMMARY_KEYS:
        beside = file.name == SUMMARY
        raise InputError(
            "the summary of a run, and not the directory of its results",
            allowed=f"cxloom report {shlex.quote(str(file.parent))}" if beside else _OF_RESULTS,
            file=file,
        )
    for command, own, way in _ANSWERS:
        if own <= keys:
            raise InputError(f"an answer of `{command}`", allowed=way, file=file)
