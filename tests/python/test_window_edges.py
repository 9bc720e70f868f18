"""A window that cuts many of its requests at its edges is told, by Little's law."""

from __future__ import annotations

import pytest
from test_explain_many import waves

import cxloom as cx


def little(system: cx.System) -> tuple[float, list[str]]:
    """By how much Little's law says another rate than the one measured, and what is noted of that."""
    summary = cx.run(system).summary
    held = sum(each["in_flight_mean"] for each in summary["per_requester"].values())
    waited = summary["latency_ns"]["mean"] - summary["breakdown_ns"]["requester_queue"]
    more = held / (summary["requests"] * waited / summary["simulated_time_ns"]) - 1
    return more, [note for note in summary["notes"] if "Little" in note]


@pytest.mark.parametrize("requests", [30, 36, 44, 400])
def test_a_window_whose_edges_count_is_told(requests: int) -> None:
    more, notes = little(waves(requests))
    assert len(notes) == (abs(more) > 0.03)
    assert requests != 400 or abs(more) < 0.03
    for note in notes:
        assert f" {100 * abs(more):.3g} % {'higher' if more > 0 else 'lower'} than" in note


def test_some_of_these_windows_are_told() -> None:
    assert sum(bool(little(waves(requests))[1]) for requests in (26, 30, 36, 44)) >= 2


def test_what_waits_at_the_completer_of_a_gpu_is_no_edge() -> None:
    """Its lines wait there with a tag, and are charged the wait for a turn: Little's law does not connect the two."""
    system = cx.load("gpu/h100-pcie5").set("devices.gpu.lines_at_completer", 8)
    summary = cx.run(system).summary
    held = sum(each["in_flight_mean"] for each in summary["per_requester"].values())
    waited = summary["latency_ns"]["mean"] - summary["breakdown_ns"]["requester_queue"]
    assert held / (summary["requests"] * waited / summary["simulated_time_ns"]) > 1.1
    assert not [note for note in summary["notes"] if "Little" in note]
    # Twice the tags gain nothing, though twice as many lines wait.
    explained = cx.explain(system, jobs=1)
    assert [each.gain for each in explained.what_ifs if "tags" in each.resource.name] == pytest.approx(
        [0], abs=0.01
    )
