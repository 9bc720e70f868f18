"""Laws of what failures, removals and repairs cost: who was answered with an error, and what was lost."""

from __future__ import annotations

from itertools import pairwise

from validation.laws import law
from validation.laws.look import Look
from validation.systems import Spec


def over_events(look: Look, what: str) -> int:
    """What all events together cost."""
    return sum(event[what] for event in look.summary["events"].values())


def one_of_each_instant(look: Look) -> dict[str, Spec]:
    """An event of each instant, by the instant, with which its name begins: those of one have the same requesters."""
    return {name.split()[0]: event for name, event in look.summary["events"].items()}


def crashes(look: Look, name: str | None) -> bool:
    """A host answers itself, too, where no way leads on."""
    return look.spec["devices"].get(name, {}).get("kind") in ("host", "accelerator")


def of_memories(look: Look) -> int:
    """Requests that memories answered with poison or an error as they were viral, or had been."""
    return sum(
        each.get("viral_errors", 0) + each.get("poison_delivered", 0)
        for each in look.summary["per_memory"].values()
    )


@law("events.*.failed", "events.*.lost")
def failed_and_lost(look: Look, value: int, event: str) -> None:
    """Each is a request that ended with an error, but for what is lost of engines; both, if the error was."""
    rows = look.all_rows
    timeouts = int((look.wrong & (rows["target"] == rows["requester"])).sum())
    failed, lost = over_events(look, "failed"), over_events(look, "lost")
    of_engines = sum(engine["lost"] for engine in look.summary["per_io"].values())
    others = any("cache" in device or "vcs" in device for device in look.spec["devices"].values())
    others |= any(crashes(look, event.get("fail", {}).get("device")) for event in look.spec["events"])
    if look.whole and not others and not look.given_up:  # lines of pages that stayed are no requests
        look.equal(lost, timeouts + of_engines)
        wrong = int(look.wrong.sum()) - of_memories(look)
        look.within(wrong, max(failed, timeouts), failed + timeouts)
        if not lost:
            look.equal(failed, wrong)
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


@law("events.*.away_ns")
def away(look: Look, value: float | None, event: str) -> None:
    """From what broke it to what mends it, which are events of the same part."""
    mends = event.split()[1] in ("repair", "reset")
    look.equal(value is not None, mends)
    if value is not None:
        look.within(value, 0)


@law("events.*.never_made")
def never_made(look: Look, value: int | None, event: str) -> None:
    """Only a host or an accelerator that crashes leaves requests unmade: with those that it has made they are all."""
    name = event.split()[-1]
    if event.split()[1] != "fail" or not crashes(look, name):
        look.equal(value, None)
    elif value is not None:
        look.within(value, 0)
        once = sum(each.get("fail", {}).get("device") == name for each in look.spec["events"]) == 1
        wanted = look.spec["workload"].get(name, {}).get("requests")
        if look.whole and once and isinstance(wanted, int):
            look.equal(value + int(look.all_of("requester", name).sum()), wanted)


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


OF_HOMES = ("snoops_timed_out", "lines_reclaimed", "lines_poisoned", "lines_cured", "poison_delivered")


@law(*(f"{part}.{key}" for part in ("per_home.*", "coherence") for key in OF_HOMES))
def losses(look: Look, value: int, *names: str) -> None:
    """A snoop without an answer is a lost message; and only what is poisoned is delivered, or cured."""
    here = look.summary["per_home"][names[0]] if names else look.summary["coherence"]
    look.within(here["snoops_timed_out"], 0, over_events(look, "lost"))
    if not names:
        look.equal(value, sum(home[look.path[-1]] for home in look.summary["per_home"].values()))
    elif look.whole and here["lines_poisoned"] == 0:
        look.equal(here["lines_cured"] + here["poison_delivered"], 0)
    look.within(value, 0)


@law("per_home.*.poisoned_lines", "coherence.poisoned_lines")
def poisoned_lines(look: Look, value: int, *names: str) -> None:
    """Those that nobody has written as a whole since."""
    here = look.summary["per_home"][names[0]] if names else look.summary["coherence"]
    if look.whole:
        look.equal(value, here["lines_poisoned"] - here["lines_cured"])
    look.within(value, 0)


@law("per_requester.*.poison_consumed")
def poison_consumed(look: Look, value: int, name: str) -> None:
    """Each is a request that ended with an error; a home has delivered what they got, once for all that waited."""
    look.within(value, 0, look.summary["per_requester"][name]["errors"]["requests"])
    delivered = look.summary.get("coherence", {}).get("poison_delivered", 0)
    delivered += of_memories(look)
    if look.whole and delivered == 0:
        look.equal(value, 0)


@law("per_memory.*.poison_delivered")
def poison_of_memory(look: Look, value: int, name: str) -> None:
    """None unless it has failed, and worked again without having been cleared."""
    repairs = [event[how] for event in look.spec["events"] for how in ("repair", "reset") if how in event]
    poisoned = any(each.get("device") == name and not each.get("cleared") for each in repairs)
    if not poisoned:
        look.equal(value, 0)
    look.within(value, 0)


@law("per_memory.*.viral_errors")
def viral_errors(look: Look, value: int, name: str) -> None:
    """Each is a request that ended so; of one requester all of them, but for those of a reset that cleared nothing."""
    poison = look.summary["per_memory"][name]["poison_delivered"]
    if not any(event.get("viral", {}).get("device") == name for event in look.spec["events"]):
        look.equal(value, 0)
    elif look.whole and not look.cached.any():
        look.equal(value + poison, int((look.wrong & look.all_of("target", name)).sum()))
    look.within(value, 0)


@law("per_requester.*.dirty_lines_lost")
def dirty_lines_lost(look: Look, value: int, name: str) -> None:
    """Where nothing fails, write-backs that end with errors are all that is lost."""
    if not look.summary.get("events") and look.summary["failed_write_backs"] == 0:
        look.equal(value, 0)
    look.within(value, 0)


AROUND = ("requests_before", "requests", "errors", "latency_before_ns", "latency_ns")


@law("events.*.requesters.*.dirty_lines_lost")
def lines_lost_around(look: Look, value: int, event: str, name: str) -> None:
    """All that its cache lost in the window it lost after some event, or before the first one."""
    of = [each["requesters"][name]["dirty_lines_lost"] for each in one_of_each_instant(look).values()]
    whole = look.summary["per_requester"][name].get("dirty_lines_lost", 0)
    look.within(sum(of), 0, whole)
    look.within(value, 0)


@law(*(f"events.*.requesters.*.{key}" for key in AROUND))
def around(look: Look, value: float | None, event: str, name: str) -> None:
    """All that a requester got in the window it got before the first event, or after one of them."""
    instants = one_of_each_instant(look)
    look.equal(look.summary["events"][event]["requesters"], instants[event.split()[0]]["requesters"])
    of = [each["requesters"][name] for each in instants.values()]
    whole = look.summary["per_requester"][name]
    look.equal(of[0]["requests_before"] + sum(each["requests"] for each in of), whole["requests"])
    for one, following in pairwise(of):
        look.equal(following["requests_before"], one["requests"])
        look.equal(following["latency_before_ns"], one["latency_ns"])
    parts = [
        (of[0]["requests_before"], of[0]["latency_before_ns"]),
        *((e["requests"], e["latency_ns"]) for e in of),
    ]
    if whole["requests"]:
        total = sum(count * mean for count, mean in parts if count)
        look.equal(total, float(whole["latency_ns"]["mean"] * whole["requests"]))
    look.equal([mean is None for _, mean in parts], [count == 0 for count, _ in parts])
    look.within(
        sum(each["errors"] for each in of), 0, whole["errors"]["requests"] if "errors" in whole else 0
    )
