"""How an expectation stands after a run: what a reader may conclude from it.

That a value agrees says little where a parameter was chosen until it did, or where bounds were wide. Such agreements
are counted apart from values that were predicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from cxloom.study.expect import Expectation


class State(StrEnum):
    """How an expectation stands, from the strongest statement to the weakest."""

    MET = "met"
    """A value that no parameter was chosen for, within at most 10 %."""
    FITTED = "fitted"
    """A value that agrees, as a parameter was chosen so that it does."""
    BRACKET = "bracket"
    """Only bounds, a direction, or a value within more than 10 %, and these hold."""
    OPEN = "open"
    """A value that does not agree, for a reason that the study says."""
    FAILED = "failed"
    """A value that does not agree."""


def state_of(expectation: Expectation, simulated: float) -> State:
    """How an expectation stands beside what was simulated."""
    if not expectation.accepts(simulated):
        return State.OPEN if expectation.open else State.FAILED
    if expectation.fitted:
        return State.FITTED
    return State.BRACKET if expectation.brackets() else State.MET


def tally(each: Iterable[tuple[str, bool]]) -> str:
    """Counts of states in words, of pairs of a state and whether its value was derived rather than published.

    For example: "12 met (3 published, 9 derived), 8 fitted, 6 bracketed, 1 open".
    """
    counts = Counter(each)
    total = Counter(state for state, _ in counts.elements())
    parts = []
    if met := total[State.MET]:
        derived = counts[State.MET, True]
        kinds = [f"{met - derived:,} published"] * (met > derived) + [f"{derived:,} derived"] * (derived > 0)
        parts.append(f"{met:,} met ({', '.join(kinds)})")
    words = {State.FITTED: "fitted", State.BRACKET: "bracketed", State.OPEN: "open", State.FAILED: "failed"}
    return ", ".join(parts + [f"{total[state]:,} {word}" for state, word in words.items() if total[state]])
