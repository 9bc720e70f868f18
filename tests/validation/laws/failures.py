"""Laws of what failures, removals and repairs cost: who was answered with an error, and what was lost."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look


def over_events(look: Look, what: str) -> int:
    """What all events together cost."""
    return sum(event[what] for event in look.summary["events"].values())


@law("events.*.failed", "events.*.lost")
def failed_and_lost(look: Look, value: int, event: str) -> None:
    """Each is a request that ended with an error, but for what is lost of engines; both, if the error was."""
    rows = look.all_rows
    timeouts = int((look.wrong & (rows["target"] == rows["requester"])).sum())
    failed, lost = over_events(look, "failed"), over_events(look, "lost")
    of_engines = sum(engine["lost"] for engine in look.summary["per_io"].values())
    others = any("cache" in device or "vcs" in device for device in look.spec["devices"].values())
    if look.whole and not others and not look.given_up:  # lines of pages that stayed are no requests
        look.equal(lost, timeouts + of_engines)
        look.within(int(look.wrong.sum()), max(failed, timeouts), failed + timeouts)
        if not lost:
            look.equal(failed, int(look.wrong.sum()))
    look.within(value, 0, failed + lost)


@law("events.*.rerouted")
def rerouted(look: Look, value: int, event: str) -> None:
    """What leaves by another way has crossed some link in the run."""
    look.within(value, 0)
    if not any("fail" in each for each in look.spec["events"]):
        look.equal(value, 0)


@law("events.*.lasted_ns")
def lasted(look: Look, value: float, event: str) -> None:
    """As long as there was somebody to feel it."""
    cost = look.summary["events"][event]
    look.equal(value > 0, cost["failed"] + cost["lost"] + cost["rerouted"] > 0)


@law("per_switch.*.isolation_errors", "per_switch.*.removal_errors")
def refused(look: Look, value: int, name: str) -> None:
    """Those alone are answered by a switch: it is who answered."""
    measures = look.summary["per_switch"][name]
    answered = int((look.wrong & look.all_of("target", name)).sum())
    if look.whole and not look.given_up:
        look.equal(measures["isolation_errors"] + measures["removal_errors"], answered)
    if not look.spec.get("events"):  # nothing is removed
        look.equal(measures["removal_errors"], 0)
    look.within(value, 0)


@law("per_io.*.sent", "per_io.*.lost", "per_io.*.unfinished")
def packets_of_engines(look: Look, value: int, name: str) -> None:
    """A packet arrives, is lost, or is under way at the end; a read has one of so many tags until it ends."""
    measures, device = look.summary["per_io"][name], look.device(name)
    look.equal(measures["sent"], measures["packets"] + measures["lost"] + measures["unfinished"])
    if device["traffic"] != "dma-write":
        look.within(measures["unfinished"], 0, device.get("outstanding", 32))
    look.within(sum(each["lost"] for each in look.summary["per_io"].values()), 0, over_events(look, "lost"))
