"""Hosts and memories are split over an even number of switches, or in pairs: the key that is odd is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

SPINE_LEAF = {"kind": "spine-leaf", "leaves": 4, "spines": 2, "devices_per_leaf": 4}
DRAGONFLY = {"kind": "dragonfly", "switches_per_group": 2, "global_links": 1, "devices_per_switch": 2}


@pytest.mark.parametrize(
    ("topology", "key"),
    [
        ({"kind": "chain", "switches": 5}, "switches"),
        ({"kind": "ring", "switches": 5}, "switches"),
        ({"kind": "torus", "size": [3, 3]}, "size"),
        ({"kind": "tree", "leaves": 3}, "leaves"),
        (SPINE_LEAF | {"leaves": 3}, "leaves"),
        (SPINE_LEAF | {"leaves": 3, "placement": "paired", "devices_per_leaf": 3}, "devices_per_leaf"),
        (DRAGONFLY | {"placement": "paired", "devices_per_switch": 3}, "devices_per_switch"),
    ],
)
def test_what_is_odd_is_named(topology: dict[str, Any], key: str) -> None:
    def spec(what: dict[str, Any]) -> str:
        return json.dumps(
            {"topology": what, "workload": {"host*": {"pattern": "random", "requests": 10}}}, indent=1
        )

    with pytest.raises(cx.InputError, match=rf"topology\.{key}: placement: \w+ needs an even number"):
        cx.run(cx.System.from_yaml(spec(topology)))
    even = [4, 4] if key == "size" else 4
    assert cx.run(cx.System.from_yaml(spec(topology | {key: even}))).summary["requests"]
