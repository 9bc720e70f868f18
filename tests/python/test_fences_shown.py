"""What a requester waits for at fences stands in the table and the page of a run: no request is slower for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table

import cxloom as cx
from cxloom.report.run_page import run_page
from cxloom.results import fences
from cxloom.results.terminal import to_text

Spec = dict[str, Any]


def played(stores: str, fence_every: int, hosts: int = 2) -> cx.Result:
    work = {
        "pattern": "random",
        "reads": "0%",
        "size": "16B",
        "stores": stores,
        "footprint": "2KiB",
        "requests": 100,
    }
    spec = {
        "devices": {
            f"host[0-{hosts - 1}]": {"kind": "host", "queue": 8},
            "sw": {"kind": "switch", "persist_buffer": {"policy": "forward"}},
            "pm": {"kind": "memory", "media": {"kind": "nvm", "write_buffer": 0}},
        },
        "links": [{"between": ["host[*]", "sw"]}, {"between": ["sw", "pm"]}],
        "address_map": [{"to": "pm", "persistence": "media"}],
        "workload": {
            f"host{i}": work | {"base": f"{2 * i}KiB"} | ({"fence_every": fence_every} if fence_every else {})
            for i in range(hosts)
        },
    }
    return cx.run(cx.System.from_yaml(json.dumps(spec)))


def test_the_rows_are_what_the_summary_counts() -> None:
    summary = played("non-temporal", 8).summary
    shown = fences.rows(summary)
    assert [row[0] for row in shown] == ["host0", "host1"]
    for name, count, _, share in shown:
        host = summary["per_requester"][name]
        assert count == str(host["fences"])
        waited = host["fences"] * host["fence_wait_ns"] / summary["simulated_time_ns"]
        assert float(share.rstrip(" %")) == pytest.approx(100 * waited, abs=0.1)
        assert waited > 0.5  # it does little else


@pytest.mark.parametrize("fence_every", [0, 8])
def test_they_are_shown_where_somebody_waits(fence_every: int, tmp_path: Path) -> None:
    result = played("non-temporal", fence_every)
    text = to_text(result.summary)
    assert ("waited at fences" in text) == bool(fence_every)
    assert ("waited at fences" in run_page(result, tmp_path)) == bool(fence_every)


def test_of_many_the_first_are_shown() -> None:
    waits = fences.rows(played("non-temporal", 8, hosts=12).summary)
    shown = fences.with_rows(Table(*fences.HEADS), waits, 5)
    assert shown.row_count == 5
    assert str([*shown.columns[0].cells][-1]) == "and 8 more"


def test_a_memory_whose_writes_are_nobodys_requests_has_a_row() -> None:
    """Combined stores come to memory as lines of their own, by a persist buffer here."""
    result = played("non-temporal", 0)
    assert result.summary["per_memory"]["pm"]["requests"] == 0
    assert result.summary["per_memory"]["pm"]["writes"] > 0
    assert any(line.startswith("pm ") for line in to_text(result.summary).splitlines())
