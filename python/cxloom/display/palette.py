"""One palette that the colour-blind can tell apart, for pictures of all kinds.

The colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008, https://jfly.uni-koeln.de/color/). Lines
differ in dashes and markers too, neighbouring parts of a bar in lightness or hatching, so that a grey print is enough.
"""

from __future__ import annotations

import functools

from cxloom import _core

BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"

_LINES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)  # yellow lines are lost on white
_PARTS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, BLACK)

# The colour says where, hatching that it is waiting; the same segment looks the same in every picture.
SEGMENTS: dict[str, tuple[str, str]] = {
    "requester_queue": (BLUE, "//"),
    "process": (BLUE, ""),
    "cache": (SKY, ""),
    "mshr": (SKY, "//"),
    "throttle": (BLUE, "xx"),
    "link_queue": (ORANGE, "//"),
    "credit": (YELLOW, "//"),
    "serialization": (YELLOW, ""),
    "port_delay": (ORANGE, ""),
    "propagation": ("#f5d58c", ""),
    "retry": (BLACK, ""),
    "bus_queue": (VERMILION, "//"),
    "bus": (VERMILION, ""),
    "switch_queue": (PURPLE, "//"),
    "switching": (PURPLE, ""),
    "persist_queue": (VERMILION, "xx"),
    "persist_buffer": ("#f0a070", ""),
    "reorder": ("#d9b8d4", "//"),
    "filter": ("#b7a6d9", ""),
    "home_queue": ("#b7a6d9", "//"),
    "snoop": ("#8c6bb1", ""),
    "controller": ("#7fcdb8", ""),
    "media_queue": (GREEN, "//"),
    "media": (GREEN, ""),
}
"""The colour of each segment of a latency, and its hatching in the letters of Matplotlib."""
CORES: dict[str, tuple[str, str]] = {
    "busy": ("#9aa3ad", ""),
    "dependent computation": ("#c9cfd6", ""),
    "page walks": (VERMILION, "//"),
    "waiting for an MSHR": (BLUE, "xx"),
    "idle": ("#c9cfd6", "//"),
}
"""The colour and hatching of the other parts of a core's time."""
_PLACES = {
    "requester": BLUE,
    "cache": SKY,
    "link": ORANGE,
    "bus": VERMILION,
    "switch": PURPLE,
    "persistence": VERMILION,
    "coherence": "#8c6bb1",
    "memory": GREEN,
}
KINDS = {"read": BLUE, "write": VERMILION, "atomic": GREEN, "flush": PURPLE}
"""The colour of each kind of request."""


def line(index: int) -> str:
    """The colour of the line of this index."""
    return _LINES[index % len(_LINES)]


def part(index: int) -> str:
    """The colour of this part of a bar."""
    return _PARTS[index % len(_PARTS)]


def segment(name: str) -> tuple[str, str]:
    """The colour and the hatching of a segment."""
    return SEGMENTS.get(name) or CORES.get(name) or _by_place(name)


@functools.cache
def _by_place(name: str) -> tuple[str, str]:
    """The colour of a segment that has none of its own: its place's, hatched if it is waiting."""
    segments = {each["name"]: each for each in _core.declarations()["segments"]}
    if name not in segments:
        return BLACK, ""
    return _PLACES.get(segments[name]["place"], BLACK), "//" if segments[name]["waits"] else ""
