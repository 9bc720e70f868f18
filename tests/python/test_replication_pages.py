"""Pages that move to and from a replicated region: each line is written to all copies, line by line and by epochs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tiering_support import as_written

import cxloom as cx

Spec = dict[str, Any]
LINES = 64


def moving(copies: bool, slower: str = "0ns") -> Spec:
    """Pages begin far, and each fault moves one to the near memory, which may have a copy behind a link of its own."""
    tiering = {"kind": "promote-on-fault", "period": "100us", "scan": "64KiB"}
    work = {"pattern": "random", "footprint": "256KiB", "requests": 20_000, "tiering": tiering}
    spec = as_written({**work, "addresses": "first-touch"}, "512KiB")
    spec["address_map"].reverse()
    if copies:
        spec["devices"]["copy"] = {**spec["devices"]["near"]}
        spec["links"].append({"between": ["host", "copy"], "delay": slower})
        near = next(each for each in spec["address_map"] if each["to"] == "near")
        near["replicas"] = {"on": ["copy"]}
    return spec


def played(spec: Spec) -> tuple[Spec, Spec, Spec]:
    """The costs by epochs; what the host did by lines; the region."""
    system = cx.System.from_yaml(json.dumps(spec))
    (costs,) = cx.play_epochs(system, check=None, duration="1s", window=2000).found["costs"]
    result = cx.run(system)
    region = next(iter((result.summary.get("replication") or {"": {}}).values()))
    return costs, result.summary["per_requester"]["host"], region


def test_epochs_and_lines_have_the_copies_in_the_cost_of_a_move() -> None:
    """64 lines, 16 at a time: each is written when the slower copy has it, 2 us later than the near one.

    Pages go both ways in the window that tells what a move takes, and one of these writes to the region.
    """
    plain, _, _ = played(moving(False))
    same, by_lines, region = played(moving(True))
    slow, _, _ = played(moving(True, "1us"))
    assert region["writes"] >= LINES * by_lines["pages_moved"] > 0
    assert region["copies"] == 2 * region["writes"]
    assert same["move_ns"] == pytest.approx(plain["move_ns"], rel=0.02)
    assert slow["move_ns"] - same["move_ns"] == pytest.approx(LINES / 16 * 2000 / 2, rel=0.1)
