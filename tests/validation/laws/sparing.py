"""Laws of parts of memories that are replaced by spare ones."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look


@law("per_memory.*.spared")
def spared(look: Look, value: int, name: str) -> None:
    """One for each event whose copy has ended."""
    events = [event for event in look.spec["events"] if event.get("spare", {}).get("device") == name]
    look.within(value, 0, len(events))
    if look.whole and not any("did not happen" in note for note in look.summary["notes"]):
        look.equal(value, len(events))


@law("per_memory.*.spare_copy_ns")
def copies(look: Look, value: float, name: str) -> None:
    """No time without a copy."""
    measures = look.summary["per_memory"][name]
    look.equal(value > 0, measures["spared"] > 0)
    look.within(value, 0)


@law("per_memory.*.spare_waits", "per_memory.*.spare_wait_ns")
def waits(look: Look, value: float, name: str) -> None:
    """Nobody waits for longer than a copy takes."""
    measures = look.summary["per_memory"][name]
    look.within(measures["spare_waits"], 0, look.summary["requests"] * max(measures["spared"], 1))
    look.within(measures["spare_wait_ns"], 0, measures["spare_waits"] * measures["spare_copy_ns"])
    look.equal(measures["spare_wait_ns"] > 0, measures["spare_waits"] > 0)
