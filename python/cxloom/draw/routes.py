"""How links go: straight, and around nodes where these are in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cxloom.draw.layout_shapes import SIZE

CLEAR = 1.15 * SIZE
"""Links keep so far from the middle of nodes that they do not join."""
_SAMPLES = 25
_BENDS = (0.5, 0.9, 1.4, 2.0, 2.8, 3.8, 5.0, 7.0, 10.0)
"""How far a link is bent, tried in this order to both sides; the curve goes half as far as its control point."""
_SHARES = (0.5, 0.2, 0.8)
"""Where along the link it is bent."""


@dataclass(frozen=True, slots=True)
class Way:
    """A chain of lines, or a Bezier curve."""

    points: np.ndarray
    """The ends and corners of lines; of a curve the three or four points that control it."""
    is_curve: bool = False

    def moved(self, scale: float, shift: np.ndarray) -> Way:
        """The way, stretched and then shifted."""
        return Way(self.points * scale + shift, self.is_curve)

    def samples(self, count: int = _SAMPLES) -> np.ndarray:
        """Points along it, its ends included."""
        if not self.is_curve:
            parts = [
                first + (last - first) * np.linspace(0, 1, count)[:, None]
                for first, last in zip(self.points, self.points[1:], strict=False)
            ]
            return np.concatenate(parts)
        return _bezier(self.points, np.linspace(0, 1, count))

    def halves(self) -> tuple[Way, Way]:
        """The ways from the one end to the middle, and from the other."""
        if self.is_curve or len(self.points) == 2:
            first, last, level = [self.points[0]], [self.points[-1]], self.points
            while len(level) > 1:
                level = (level[:-1] + level[1:]) / 2
                first.append(level[0])
                last.append(level[-1])
            return Way(np.array(first), self.is_curve), Way(np.array(last), self.is_curve)
        lengths = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        reached = np.concatenate([[0], lengths.cumsum()])
        half = reached[-1] / 2
        index = int(np.searchsorted(reached, half, side="right")) - 1
        share = (half - reached[index]) / lengths[index]
        middle = self.points[index] + share * (self.points[index + 1] - self.points[index])
        one = np.vstack([self.points[: index + 1], middle])
        other = np.vstack([middle, self.points[index + 1 :]])[::-1]
        return Way(one), Way(other)

    def reversed(self) -> Way:
        """The way from its other end."""
        return Way(self.points[::-1], self.is_curve)


def _bezier(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    level = np.repeat(points[:, None, :], len(at), axis=1)
    while len(level) > 1:
        level = level[:-1] * (1 - at)[None, :, None] + level[1:] * at[None, :, None]
    bent: np.ndarray = level[0]
    return bent


def ways(
    places: np.ndarray,
    ends: Sequence[tuple[int, int]],
    given: dict[tuple[int, int], Way],
    upright: set[tuple[int, int]],
) -> list[Way]:
    """How each link goes between the nodes at its ends.

    Those of `given` go as they are told. Where one of `upright` cannot go straight, all of them leave and reach their
    nodes upright: rows of nodes are then out of the way. Any other that cannot is bent.
    """
    found = [given.get(pair, Way(places[list(pair)])) for pair in ends]
    blocked = [
        index
        for index, pair in enumerate(ends)
        if pair not in given and _room(found[index].points[None], places, pair, straight=True)[0] < CLEAR
    ]
    if any(ends[index] in upright for index in blocked):
        for index, pair in enumerate(ends):
            if pair in upright:
                found[index] = _upright(places[pair[0]], places[pair[1]])
        blocked = [index for index in blocked if ends[index] not in upright]
    middle = places.mean(axis=0)
    for index in blocked:
        found[index] = _bent(places, ends[index], middle)
    return found


def _upright(first: np.ndarray, last: np.ndarray) -> Way:
    between = (first[1] + last[1]) / 2
    return Way(np.array([first, [first[0], between], [last[0], between], last]), is_curve=True)


def _bent(places: np.ndarray, pair: tuple[int, int], middle: np.ndarray) -> Way:
    """The least bent way that is clear of nodes, or that with the most room; rather towards the middle of all."""
    first, last = places[pair[0]], places[pair[1]]
    along = last - first
    across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
    inward = 1 if (middle - (first + last) / 2) @ across >= 0 else -1
    found, most = Way(places[list(pair)]), -1.0
    for bend in _BENDS:
        aside = [2 * side * bend * across for side in (inward, -inward)]
        controls = [first + share * along + way for way in aside for share in _SHARES]
        curves = [np.array([first, control, last]) for control in controls]
        tried = np.array([_bezier(curve, np.linspace(0, 1, _SAMPLES)) for curve in curves])
        room = _room(tried, places, pair)
        clear = np.flatnonzero(room >= CLEAR)
        best = int(clear[0]) if len(clear) else int(room.argmax())
        if room[best] > most:
            found, most = Way(curves[best], is_curve=True), float(room[best])
        if len(clear):
            break
    return found


def _room(tried: np.ndarray, places: np.ndarray, pair: tuple[int, int], straight: bool = False) -> np.ndarray:
    """The distance of each way, given by points on it, from the nearest node that it does not join."""
    others = np.delete(places, pair, axis=0)
    if not len(others):
        return np.full(len(tried), np.inf)
    starts, steps = tried[:, :-1], np.diff(tried, axis=1)
    if not straight:  # only nodes within the box around all that is tried can be in the way
        low, high = tried.min(axis=(0, 1)) - CLEAR, tried.max(axis=(0, 1)) + CLEAR
        others = others[((others >= low) & (others <= high)).all(axis=1)]
        if not len(others):
            return np.full(len(tried), np.inf)
    to = others[None, None] - starts[:, :, None]
    lengths = np.maximum((steps**2).sum(axis=2), 1e-12)[:, :, None]
    share = np.clip((to * steps[:, :, None]).sum(axis=3) / lengths, 0, 1)
    apart = np.linalg.norm(to - share[..., None] * steps[:, :, None], axis=3)
    nearest: np.ndarray = apart.min(axis=(1, 2))
    return nearest


def room_of(way: Way, places: np.ndarray, pair: tuple[int, int]) -> float:
    """The distance of the nearest node that a way does not join."""
    return float(_room(way.samples(60)[None], places, pair)[0])
