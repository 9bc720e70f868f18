"""What type checkers know of a summary is what the core declares, and what runs report."""

from __future__ import annotations

import runpy
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.results import summary

SCRIPT = Path(__file__).parents[2] / "scripts/summary_types.py"
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_types_are_up_to_date() -> None:
    made = runpy.run_path(str(SCRIPT))
    assert made["generated"]() == made["FILE"].read_text(), "run scripts/summary_types.py"


def unknown(kind: Any, value: Any, path: str = "") -> Iterator[str]:
    """Keys of a value that its type does not have."""
    if typing.is_typeddict(kind):
        known = typing.get_type_hints(kind)
        for key, inner in value.items():
            if key in known:
                yield from unknown(known[key], inner, f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif typing.get_origin(kind) is Mapping:
        for key, inner in value.items():
            yield from unknown(typing.get_args(kind)[1], inner, f"{path}.{key}")


@pytest.mark.parametrize("example", ["coherence", "dram", "persist", "qos", "cxl-ssd"])
def test_a_run_reports_what_is_known(example: str) -> None:
    system = cx.load(EXAMPLES / f"{example}.yaml")
    found = dict(cx.run(system).summary)
    assert list(unknown(summary.Summary, found)) == []
    assert list(unknown(summary.Summary, {**found, "per_memory": {"mem": {"secret": 1}}})) == [
        ".per_memory.mem.secret"
    ]
