"""The expected results of a study: a value, bounds, or a direction, each with its source."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from cxloom.spec.names import listed
from cxloom.spec.node import Node, Origin, described
from cxloom.study.points import Point, known_axis, refuse_unknown, selection

_FORMS = ("value", "least", "most", "rises", "falls")
_KEYS = (
    "at",
    "relative_to",
    "measure",
    *_FORMS,
    "tolerance",
    "published",
    "source",
    "derived",
    "note",
    "fitted",
    "open",
)
_WIDEST = 0.1
"""The widest relative tolerance with which a value is met: within more it is only bracketed."""
_TOLERANCE = re.compile(r"([0-9]*\.?[0-9]+)\s*(%|[A-Za-z/]*)")
_UNITS = {"_ns": "ns", "_gb_per_s": "GB/s"}
_FORM = "value with tolerance, least, most, or rises or falls with the name of an axis"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected result at some points."""

    at: Point
    relative_to: Point | None
    """The value is that of the measure divided by its value at this point."""
    along: str | None
    """The value is the ratio of a point to the one before it on this axis: the least of them if the measure is to rise,
    the greatest if it is to fall."""
    measure: str
    """A dotted path into the summary, or a name of `derive`."""
    value: float | None
    """The expected value; None where there are but bounds."""
    least: float
    most: float
    """The bounds, also those from the tolerance."""
    tolerance: float
    relative: bool
    """The tolerance is a fraction of the value, not in its unit."""
    source: str
    published: float | None
    """The number that the source prints where bounds are expected; None where it prints none, or for a value."""
    derived: str
    """How the value follows, where it is not printed in the source itself."""
    note: str
    """A remark for the reader."""
    fitted: str
    """The parameter that was chosen by this comparison; empty where none was."""
    open: str
    """Why the model differs from what was published; empty where it has to agree."""
    place: Origin
    """Where the measure is written."""

    @property
    def rises(self) -> bool:
        """True if it is expected to rise along `along`, False if it is to fall."""
        return self.most == math.inf

    def accepts(self, simulated: float) -> bool:
        """True if the value is within the bounds."""
        return self.least <= simulated <= self.most

    def brackets(self) -> bool:
        """True if what is expected only bounds the measure: bounds, a direction, or a value within more than 10 %."""
        if self.value is None:
            return True
        return self.value != 0 and self.most - self.value > _WIDEST * abs(self.value) * (1 + 1e-9)

    def deviation(self, simulated: float) -> float:
        """Simulated over expected, less one. Of bounds over the published value; without one over the nearer bound, and
        0 within. Where zero is expected, the difference itself."""
        expected = self.value if self.value is not None else self.published
        if expected is None:
            expected = min(max(simulated, self.least), self.most)
        return simulated / expected - 1 if expected else simulated


def expectation(node: Node, points: list[dict[str, Any]], loosest: float) -> Expectation:
    """An entry of `expect`. The relative tolerance of a value is at least `loosest`.

    Raises SpecError for one without a measure, a source, or something to compare with.
    """
    entries = node.map()
    refuse_unknown(node, list(_KEYS))
    for key in ("measure", "source"):
        if key not in entries:
            raise node.place.error(f"'{key}' of an expectation is missing", allowed=listed(_KEYS))
    if not entries["source"].text().strip():
        raise entries["source"].place.error("'source' of an expectation is empty", allowed="where it is from")
    measure = entries["measure"].text()
    reference = entries.get("relative_to")
    written = [form for form in _FORMS if form in entries]
    if len(written) != 1 and set(written) != {"least", "most"}:
        problem = "an expectation without a value" if not written else f"both {' and '.join(written)}"
        raise node.place.error(problem, allowed=_FORM)
    along = _along(entries, points)
    published = _published(entries)
    _refuse_fitted_and_open(entries)
    unit = "" if reference is not None or along is not None else _unit(measure)  # a ratio has none
    value = _number(entries["value"]) if "value" in entries else None
    tolerance, relative = _tolerance(entries, unit, 0.0 if along else loosest, needed=value is not None)
    if value is not None:
        limit = tolerance * abs(value) if relative else tolerance
        least, most = value - limit, value + limit
    elif along is not None:
        # The next number after one: what stays the same neither rises nor falls.
        least = 1 - tolerance if tolerance else math.nextafter(1, 2)
        most = 1 + tolerance if tolerance else math.nextafter(1, 0)
        least, most = (least, math.inf) if "rises" in entries else (-math.inf, most)
    else:
        least = _number(entries["least"]) if "least" in entries else -math.inf
        most = _number(entries["most"]) if "most" in entries else math.inf
        if least > most:
            raise entries["least"].place.error("'least' is more than 'most'", found=f"{least:g} and {most:g}")
    return Expectation(
        at=selection(entries.get("at"), points),
        relative_to=None if reference is None else selection(reference, points),
        along=along,
        measure=measure,
        value=value,
        least=least,
        most=most,
        tolerance=tolerance,
        relative=relative,
        source=entries["source"].text().strip(),
        published=published,
        derived=_words(entries, "derived"),
        note=_words(entries, "note"),
        fitted=_words(entries, "fitted"),
        open=_words(entries, "open"),
        place=entries["measure"].place,
    )


def _words(entries: dict[str, Node], key: str) -> str:
    """The text at a key; nothing where it is absent, or null to take a default back."""
    node = entries.get(key)
    return "" if node is None or node.value is None else str(node.value).strip()


def _published(entries: dict[str, Node]) -> float | None:
    node = entries.get("published")
    if node is None:
        return None
    if not {"least", "most"} & set(entries):
        raise node.place.error(
            "'published' without bounds", allowed="beside least or most: a value is itself what was published"
        )
    return _number(node)


def _refuse_fitted_and_open(entries: dict[str, Node]) -> None:
    if _words(entries, "fitted") and _words(entries, "open"):
        raise entries["open"].place.error(
            "both 'fitted' and 'open'", allowed="one of them: what was fitted agrees, what is open does not"
        )


def _unit(measure: str) -> str:
    return next((unit for suffix, unit in _UNITS.items() if suffix in measure), "")


def _along(entries: dict[str, Node], points: list[dict[str, Any]]) -> str | None:
    node = entries.get("rises", entries.get("falls"))
    if node is None:
        return None
    axis = node.text()
    known_axis(axis, Node(node.value, node.origin), list(points[0]))
    if "relative_to" in entries:
        raise entries["relative_to"].place.error("a direction is relative to nothing", allowed=_FORM)
    return axis


def _number(node: Node) -> float:
    if not isinstance(node.value, (int, float)) or isinstance(node.value, bool):
        raise node.place.error(
            "not a number", found=described(node.value), allowed="a number, in the measure's unit"
        )
    return float(node.value)


def _tolerance(entries: dict[str, Node], unit: str, loosest: float, *, needed: bool) -> tuple[float, bool]:
    node = entries.get("tolerance")
    if node is None:
        if needed:
            raise entries["value"].place.error(
                "'tolerance' of an expectation is missing", allowed=listed(_KEYS)
            )
        return 0.0, True
    match = _TOLERANCE.fullmatch(str(node.value))
    if match is None or match[2] not in ("%", unit) or isinstance(node.value, bool):
        allowed = f"a percentage such as 2%, or a number{' of ' + unit if unit else ''} such as 0.5{unit}"
        raise node.place.error("not a tolerance", found=described(node.value), allowed=allowed)
    if match[2] == "%":
        return max(float(match[1]) / 100, loosest), True
    return float(match[1]), False
