"""Which command a JSON file is the answer of, where that answer has no page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.results.outdir import SUMMARY

_OF_RESULTS = "cxloom run SPEC --out DIR && cxloom report DIR"
_SUMMARY_KEYS = {"latency_ns", "breakdown_ns", "per_link"}
_ANSWERS = (
    ("compare", {"systems", "sentences", "rows"}),
    ("explain", {"chain", "resources", "what_ifs"}),
    ("measure", {"measure", "title", "rows"}),
    ("energy", {"power_w", "nj_per_request"}),
    ("find", {"tried", "sentence"}),
    ("crash", {"instants", "lost_instants"}),
    ("epochs", {"pages_moved", "shootdowns"}),
    ("check", {"routes", "deadlock", "partitions"}),
)
"""The keys of an answer that no other one has."""


def refuse_answer(found: Any, file: Path) -> None:
    """Raises InputError, with the way to a page, for the answer of a command that has none."""
    keys = set(found) if isinstance(found, dict) else set()
    if keys >= _SUMMARY_KEYS:
        beside = file.name == SUMMARY
        raise InputError(
            "the summary of a run, and not the directory of its results",
            allowed=f"cxloom report {shlex.quote(str(file.parent))}" if beside else _OF_RESULTS,
            file=file,
        )
    command = next((command for command, own in _ANSWERS if own <= keys), None)
    if command is not None:
        raise InputError(
            f"an answer of `cxloom {command}`, which has no page", allowed=f"pages of runs: {_OF_RESULTS}", file=file
        )  # fmt: skip
