"""What type checkers know of a summary is what the core declares, and what runs report."""

from __future__ import annotations

import ast
import runpy
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_task_windows import copies, server
from test_task_windows import summary as summary_of

import cxloom as cx
from cxloom.base import summary

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
    elif typing.get_origin(kind) is Sequence:
        for place, inner in enumerate(value):
            yield from unknown(typing.get_args(kind)[0], inner, f"{path}[{place}]")


@pytest.mark.parametrize("example", ["coherence", "dram", "persist", "qos", "cxl-ssd"])
def test_a_run_reports_what_is_known(example: str) -> None:
    system = cx.load(EXAMPLES / f"{example}.yaml")
    found = dict(cx.run(system).summary)
    assert list(unknown(summary.Summary, found)) == []
    assert list(unknown(summary.Summary, {**found, "per_memory": {"mem": {"secret": 1}}})) == [
        ".per_memory.mem.secret"
    ]


def test_lists_of_a_graph_have_entries_with_names() -> None:
    """mypy tells a key that no task of the critical path and no window has."""
    tasks = typing.get_type_hints(summary.SummaryTasks)
    for key, names in (
        ("critical_path", {"task", "time_ns"}),
        ("windows", {"transfers", "relative_error", "stood_for_ns", "used"}),
    ):
        assert typing.get_origin(tasks[key]) is Sequence
        assert set(typing.get_type_hints(typing.get_args(tasks[key])[0])) == names


def test_a_graph_reports_what_is_known() -> None:
    """A copy of 4 MiB at 16 GB/s or so takes long enough for a window of lines."""
    found = summary_of(server(copies("c", "4MiB")))
    assert found["tasks"]["critical_path"]
    assert found["tasks"]["windows"][0]["transfers"]
    assert list(unknown(summary.Summary, found)) == []
    wrong = {"tasks": {"windows": [{"transfers": [{"rate": 1}]}], "critical_path": [{"name": "c"}]}}
    assert list(unknown(summary.Summary, wrong)) == [
        ".tasks.windows[0].transfers[0].rate",
        ".tasks.critical_path[0].name",
    ]


BY_PATH = {
    "results/result.py": "a summary that was read from a file becomes one here",
    "report/study_outcome.py": "measures of a study by a list of names, and derived ones",
    "study/derive.py": "measures of a study by paths with stars",
    "sweeping/condition.py": "a measure by the path that a person wrote",
    "sweeping/optimum.py": "a goal by the path that a person wrote",
    "sweeping/table.py": "all measures by their paths",
    "sweeping/work.py": "all measures, to be stored",
    "sweeping/store.py": "all measures, as they are stored",
}
"""Files that take measures by no name of their own."""


def loose(source: str) -> Iterator[int]:
    """Lines with a summary whose type has no names, so that a wrong one is no mistake to mypy."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg):
            name, kind = node.arg, node.annotation
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, kind = node.target.id, node.annotation
        else:
            continue
        words = (
            {each.id for each in ast.walk(kind) if isinstance(each, ast.Name)} if kind is not None else set()
        )
        if name == "summary" and words & {"Any", "Spec"}:
            yield node.lineno


def test_functions_that_name_measures_take_the_type_of_a_summary() -> None:
    package = Path(cx.__file__).parent
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if list(loose(file.read_text(encoding="utf-8")))
    }
    assert found == set(BY_PATH)


@pytest.mark.parametrize("kind", ["Mapping[str, Any]", "Spec", "Any", "dict[str, Any] | None"])
def test_a_summary_without_names_is_found(kind: str) -> None:
    assert list(loose(f"def of(summary: {kind}) -> None: ..."))
    assert not list(loose("def of(summary: Summary | None) -> None: ..."))
