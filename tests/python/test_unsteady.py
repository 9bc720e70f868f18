"""A window whose halves differ: the note says what in the spec makes them differ, or advises a longer warm-up."""

from __future__ import annotations

from typing import Any

import cxloom as cx
from cxloom.spec.writer import to_yaml

DEVICES: dict[str, Any] = {
    "host": {"kind": "host", "queue": 8},
    "near": {"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "latency": "45ns"}},
    "far": {"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "latency": "300ns"}},
}
LINKS: list[dict[str, Any]] = [
    {"between": ["host", "near"], "phy": "pcie6-x4"},
    {"between": ["host", "far"], "phy": "pcie6-x4"},
]
BASE: dict[str, Any] = {
    "devices": DEVICES,
    "links": LINKS,
    "address_map": [{"to": "near"}, {"to": "far"}],
}


def note_of(workload: dict[str, Any], **more: Any) -> str:
    """The one note on the window of a run that was not stationary."""
    result = cx.run(cx.System.from_yaml(to_yaml({**BASE, "workload": {"host": workload}, **more})))
    assert result.stationary is False
    [note] = [note for note in result["notes"] if "not stationary" in note]
    return str(note)


def phase(base: str) -> dict[str, Any]:
    return {"pattern": "random", "requests": 2000, "footprint": "16MiB", "base": base}


RANDOM = {"pattern": "random", "requests": 4000, "footprint": "16MiB"}


def test_phases_are_named_in_place_of_an_advice() -> None:
    note = note_of({"phases": [phase("0GiB"), phase("1GiB")]})
    assert note.endswith("times that of the other; the workload of 'host' has 2 phases")
    assert "warmup" not in note


def test_phases_are_no_dependence_of_latencies_on_each_other() -> None:
    """A longer window would tell the mean of two levels no better."""
    spec = {**BASE, "workload": {"host": {"phases": [phase("0GiB"), phase("1GiB")]}}}
    result = cx.run(cx.System.from_yaml(to_yaml(spec)))
    assert not any("depend on each other" in note for note in result["notes"])


def test_an_event_in_the_window_is_named() -> None:
    links = [{**LINKS[0], "degraded": {"at": "10us", "phy": "pcie5-x1"}}, LINKS[1]]
    note = note_of(RANDOM, links=links)
    assert note.endswith("; in it happened the degradation of the link host-near")


def test_several_events_are_counted() -> None:
    links = [
        {
            **LINKS[0],
            "degraded": {"at": "10us", "phy": "pcie5-x1"},
            "outage": {"at": "12us", "length": "9us"},
        },
        LINKS[1],
    ]
    note = note_of(RANDOM, links=links)
    assert note.endswith("; in it happened the outage of the link host-near and 1 other event")


def test_a_change_before_the_window_is_none_in_it() -> None:
    cold = {"cache": {"size": "1MiB"}}
    note = note_of(
        {**RANDOM, "footprint": "1MiB", "requests": 30_000},
        devices={**DEVICES, "host": {**DEVICES["host"], **cold}},
        links=[{**LINKS[0], "degraded": {"at": "0ns", "phy": "pcie5-x4"}}, LINKS[1]],
        run={"warmup": 10},
    )
    assert "a longer run.warmup may let it settle" in note
