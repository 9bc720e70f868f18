"""Address maps with holes, as real ones have for PCI: patterns beside them, in them and across them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

GIB = 1 << 30


def system(**work: Any) -> cx.System:
    """3 GiB, the PCI hole up to 4 GiB, 5 GiB of the same memory, and a window of CXL at 32 GiB."""
    memory = {"kind": "memory", "capacity": "8GiB"}
    spec = {
        "devices": {"h": {"kind": "host"}, "bus": {"kind": "bus"}, "dram": memory, "cxl": memory},
        "links": [{"between": [name, "bus"]} for name in ("h", "dram", "cxl")],
        "address_map": [
            {"to": "dram", "size": "3GiB"},
            {"to": "dram", "size": "5GiB", "base": 4 * GIB},
            {"to": "cxl", "base": 32 * GIB},
        ],
        "workload": {"h": {"pattern": "random", "requests": 200, "footprint": "1GiB", **work}},
    }
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize(("base", "footprint"), [(0, 3), (2, 1), (4, 5), (8, 1), (32, 8), (33, 7)])
def test_a_pattern_lies_anywhere_in_the_map(base: int, footprint: int) -> None:
    result = cx.run(system(base=base * GIB, footprint=f"{footprint}GiB"), requests=True)
    assert result.summary["errors"]["requests"] == 0
    addresses = result.requests()["address"]
    assert addresses.min() >= base * GIB
    assert addresses.max() < (base + footprint) * GIB


@pytest.mark.parametrize(
    ("base", "footprint", "key", "problem", "hint"),
    [
        (
            2,
            2,
            "footprint",
            "runs into a hole",
            "set base: 0x100000000; or a footprint of 1GiB; or addresses: first",
        ),
        (0, 4, "footprint", "runs into a hole", "set base: 0x100000000"),
        (3, 1, "base", "runs out of the address map", "set base: 0x100000000"),
        (5, 5, "footprint", "runs into a hole", "set base: 0x800000000; or a footprint of 4GiB"),
        (39, 2, "base", "runs out of the address map", "addresses in 0x0-0xbfffffff"),
        (32, 9, "footprint", "runs out of the address map", "addresses in 0x0-0xbfffffff"),
        (50, 1, "base", "runs out of the address map", "addresses in 0x0-0xbfffffff"),
    ],
)
def test_what_is_not_all_in_it_is_refused(
    base: int, footprint: int, key: str, problem: str, hint: str
) -> None:
    with pytest.raises(cx.InputError, match=problem) as raised:
        cx.run(system(base=base * GIB, footprint=f"{footprint}GiB"))
    assert raised.value.path == f"workload.h.{key}"
    assert hint in raised.value.allowed


def test_placed_pages_take_both_sides() -> None:
    result = cx.run(system(footprint="8GiB", page="2MiB", addresses={"kind": "bind", "nodes": ["dram"]}))
    assert result.summary["errors"]["requests"] == 0
    assert result.summary["per_requester"]["h"]["pages"] == {"dram": 4096, "cxl": 0}
