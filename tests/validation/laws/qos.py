"""Laws of logical devices."""

from __future__ import annotations

from validation.laws import law
from validation.laws.devices import at
from validation.laws.look import Look
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
        look.equal(value, look.summary["failed"])


@law("per_memory.*.logical_devices.*.bandwidth_gb_per_s")
def bandwidth(look: Look, value: float, name: str, ld: str) -> None:
    if look.exact:
        look.equal(over_lds(look, name, "bandwidth_gb_per_s"), at(look, name)["bandwidth_gb_per_s"])


@law("per_memory.*.logical_devices.*.wait_ns", "per_memory.*.logical_devices.*.queue_mean")
def queue(look: Look, value: float, name: str, ld: str) -> None:
    """Little: what waits is the rate times the wait."""
    measures = of_ld(look, name, ld)
    if look.whole:
        look.equal(measures["queue_mean"] * look.length, measures["wait_ns"] * measures["requests"])


@law("per_memory.*.logical_devices.*.queue_max")
def most(look: Look, value: float, name: str, ld: str) -> None:
    look.within(value, of_ld(look, name, ld)["queue_mean"])
    look.equal(bool(value), of_ld(look, name, ld)["queue_mean"] > 0)
