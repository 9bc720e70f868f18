"""Laws of logical devices, of the load that memories report, and of throttles."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look, ns_per_byte
from validation.laws.memory import at
from validation.systems import Spec


def of_ld(look: Look, name: str, ld: str) -> Spec:
    """The measures of a logical device."""
    measures: Spec = at(look, name)["logical_devices"][ld]
    return measures


def over_lds(look: Look, name: str, key: str) -> float:
    """The sum of a measure over the logical devices of a memory."""
    return float(sum(measures[key] for measures in at(look, name)["logical_devices"].values()))


@law("per_memory.*.logical_devices.*.requests")
def requests(look: Look, value: int, name: str, ld: str) -> None:
    if look.exact:
        look.equal(over_lds(look, name, "requests"), float(at(look, name)["requests"]))


@law("per_memory.*.logical_devices.*.refused")
def refused(look: Look, value: int, name: str, ld: str) -> None:
    params = look.device(name)["logical_devices"][int(ld)]
    if "host" not in params:
        look.equal(value, 0)
    elif look.whole and len(at(look, name)["logical_devices"]) == 1:
        look.equal(value, look.summary["errors"]["requests"])


@law("per_memory.*.logical_devices.*.bandwidth_gb_per_s")
def bandwidth(look: Look, value: float, name: str, ld: str) -> None:
    if look.exact:
        look.equal(over_lds(look, name, "bandwidth_gb_per_s"), at(look, name)["bandwidth_gb_per_s"])


@law("per_memory.*.logical_devices.*.wait_ns", "per_memory.*.logical_devices.*.queue_mean")
def queue(look: Look, value: float, name: str, ld: str) -> None:
    """Little: what waits is the rate times the wait. Writes that nobody waits for may be in the queue at the end."""
    measures = of_ld(look, name, ld)
    waited = (measures["wait_ns"] or 0.0) * measures["requests"]
    if look.whole:
        look.within(measures["queue_mean"] * look.length, waited * (1 - 1e-9))
    if look.exact:
        look.equal(measures["queue_mean"] * look.length, waited)


@law("per_memory.*.logical_devices.*.queue_max")
def most(look: Look, value: float, name: str, ld: str) -> None:
    look.within(value, of_ld(look, name, ld)["queue_mean"])
    look.equal(bool(value), of_ld(look, name, ld)["queue_mean"] > 0)


@law("per_memory.*.devload_mean", "per_requester.*.throttle.*.devload_mean")
def load(look: Look, value: float | None, name: str, memory: str = "") -> None:
    """What the only requester hears is what the memory says; of no answer there is no load."""
    if value is None:
        return
    look.within(value, 0, 3)
    if not look.exact:
        return
    if memory:
        look.equal(value, at(look, memory).get("devload_mean") or 0.0)
        return
    [requester] = look.spec["workload"]
    heard = look.summary["per_requester"][requester].get("throttle", {})
    if name in heard:
        look.equal(value, heard[name]["devload_mean"] or 0.0)


@law("per_requester.*.throttle")
def silent(look: Look, value: Spec, name: str) -> None:
    """Without an entry: no request left the device for a memory elsewhere."""
    look.equal(value, {})
    if not look.summary["per_home"]:
        assert not (look.of("requester", name) & ~look.of("target", name) & ~look.cached).any()


@law("per_requester.*.throttle.*.throttled")
def throttled(look: Look, value: float, name: str, memory: str) -> None:
    look.within(value, 0, 1)
    measures = look.summary["per_requester"][name]["throttle"][memory]
    if "devload_mean" not in look.summary["per_memory"].get(memory, {}):
        look.equal(value, 0.0)
    if not value:
        look.equal(measures["rate_min_gb_per_s"], measures["rate_max_gb_per_s"])


@law(*(f"per_requester.*.throttle.*.rate{which}_gb_per_s" for which in ("", "_min", "_max")))
def rate(look: Look, value: float, name: str, memory: str) -> None:
    """Full, unless the memory said that it was loaded."""
    measures = look.summary["per_requester"][name]["throttle"][memory]
    look.within(measures["rate_gb_per_s"], measures["rate_min_gb_per_s"], measures["rate_max_gb_per_s"])
    given = look.device(name)["throttle"]
    full = 1 / ns_per_byte(given["rate"])
    look.within(value, full * given.get("least", 1 / 16) * 0.999, full)
    if look.whole and not measures["devload_mean"]:
        look.equal(value, full)
