"""Headings of columns: short, and different where the paths are."""

from __future__ import annotations

from cxloom.sweeping.labels import headings


def test_headings_are_the_last_words_that_tell_paths_apart() -> None:
    near, far, queue = "devices.near.media.latency", "devices.far.media.latency", "devices.host.queue"
    assert list(headings([near, far, queue]).values()) == ["near.media.latency", "far.media.latency", "queue"]
    assert headings([queue, "queue"]) == {queue: "host.queue", "queue": "queue"}
    assert headings([]) == {}
