"""Epochs beside memory that the program has no way to: that of another host's virtual switch."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

CARD = {"kind": "memory", "media": {"kind": "fixed", "latency": "100ns", "bandwidth": "16GB/s"}}
WORK = {
    "pattern": "hot-cold",
    "hot_footprint": 0.2,
    "footprint": "1MiB",
    "requests": 10**9,
    "addresses": "first-touch",
    "tiering": {"kind": "promote-on-fault", "period": "200us", "scan": "64KiB"},
}


def system(*vcs: dict[str, Any], **cards: dict[str, Any]) -> cx.System:
    """A host with 512 KiB near, and cards behind a switch, which another host is at, too."""
    near = {"kind": "memory", "capacity": "512KiB", "media": {"kind": "fixed", "latency": "60ns"}}
    parts = [
        {"to": name, **({"ld": number} if "logical_devices" in card else {})}
        for name, card in cards.items()
        for number in range(len(card.get("logical_devices", [0])))
    ]
    spec = {
        "devices": {
            "host": {"kind": "host", "process_time": "20ns", "queue": 16},
            "other": {"kind": "host"},
            "near": near,
            "sw": {"kind": "switch", **({"vcs": list(vcs)} if vcs else {})},
            **cards,
        },
        "links": [
            {"between": ["host", "near"]},
            {"between": ["host", "sw"], "bandwidth": "32GB/s"},
            {"between": ["other", "sw"], "bandwidth": "32GB/s"},
            *({"between": ["sw", name], "bandwidth": "32GB/s"} for name in cards),
        ],
        "address_map": [{"to": "near"}, *parts],
        "workload": {"host": WORK},
    }
    return cx.System.from_yaml(json.dumps(spec))


def virtual(mine: list[Any], others: list[Any]) -> list[dict[str, Any]]:
    return [
        {"upstream": "host", "vppbs": 2, "bind": mine},
        {"upstream": "other", "vppbs": 2, "bind": others},
    ]


HALVES = {**CARD, "logical_devices": [{"capacity": "4MiB"}, {"capacity": "4MiB"}]}
PARTED: list[tuple[str, cx.System]] = [
    (
        "card",
        system(
            *virtual(["card"], ["mem"]), card={**CARD, "capacity": "4MiB"}, mem={**CARD, "capacity": "4MiB"}
        ),
    ),
    ("card ld 0", system(*virtual([{"to": "card", "ld": 0}], [{"to": "card", "ld": 1}]), card=HALVES)),
]


@pytest.mark.parametrize(("name", "parted"), PARTED, ids=["virtual switches", "logical devices"])
def test_a_program_is_as_without_the_memory_of_another_host(name: str, parted: cx.System) -> None:
    """The other host's memory gave windows accesses that were answered with errors, and took pages of its own."""
    found = cx.play_epochs(parted, duration="1ms", window=500, check=2000)
    alone = cx.play_epochs(system(card={**CARD, "capacity": "4MiB"}), duration="1ms", window=500, check=None)
    assert set(found.found["pages"]) == {"near", name}
    assert found.found["accesses"] == pytest.approx(alone.found["accesses"], rel=1e-6)
    assert found.found["faults"] == alone.found["faults"] > 0
    assert found.check is not None
    assert found.check["difference"]["pages"] < 0.5
    assert not found.notes


def test_extents_of_a_global_memory_are_memory_as_any() -> None:
    """No event may move them. The copy that tells the error of the split has smaller ones."""
    extents = [
        {"base": "0B", "size": "4MiB", "host": "other"},
        {"base": "4MiB", "size": "12MiB", "host": "host"},
    ]
    pool, plain = (
        system(card={**CARD, "capacity": size, **more}).set("workload.host.footprint", "12MiB")
        for size, more in (("16MiB", {"dynamic_capacity": {"extents": extents}}), ("12MiB", {}))
    )
    found = cx.play_epochs(pool, duration="1ms", window=500, check=2000)
    alone = cx.play_epochs(plain, duration="1ms", window=500, check=None)
    for key in ("accesses", "faults", "pages", "free_bytes"):
        assert found.found[key] == alone.found[key], key
    assert found.check is not None
    assert found.check["factor"] > 1
    assert not found.notes
