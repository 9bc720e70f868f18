"""Laws of persist buffers: what came to one is in memory, overwritten, or there; and of the versions of lines."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.systems import LINE, Spec


def buffer(look: Look, name: str) -> Spec:
    """The measures of a buffer."""
    measures: Spec = look.summary["per_switch"][name]["persist_buffer"]
    return measures


def entries(look: Look, name: str) -> int:
    """That it has."""
    return int(look.device(name)["persist_buffer"].get("entries", 16))


@law(*(f"per_switch.*.persist_buffer.{key}" for key in ("persists", "coalesced", "drained", "resident")))
def conserved(look: Look, value: int, name: str) -> None:
    measures = buffer(look, name)
    came = measures["resident_before"] + measures["persists"]
    look.equal(came, measures["coalesced"] + measures["drained"] + measures["resident"])
    look.within(measures["resident"], 0, entries(look, name))


@law("per_switch.*.persist_buffer.resident_before")
def before(look: Look, value: int, name: str) -> None:
    look.within(value, 0, entries(look, name))
    if look.whole:
        look.equal(value, 0)


@law("per_switch.*.persist_buffer.drains")
def drains(look: Look, value: int, name: str) -> None:
    """Those that are not answered yet are in Drain."""
    measures = buffer(look, name)
    under_way = value - measures["drained"]
    look.within(under_way, -measures["resident_before"], measures["resident"])
    if look.device(name)["persist_buffer"].get("policy", "drain") == "drain" and not measures["coalesced"]:
        look.equal(value, measures["persists"])


@law(*(f"per_switch.*.persist_buffer.{key}" for key in ("entries_mean", "dirty_mean", "drain_mean")))
def levels(look: Look, value: float, name: str) -> None:
    measures = buffer(look, name)
    look.equal(measures["entries_mean"], measures["dirty_mean"] + measures["drain_mean"])
    look.within(measures["entries_mean"], 0, entries(look, name))


@law(
    "per_switch.*.persist_buffer.read_hits",
    "per_switch.*.persist_buffer.detours",
    "per_switch.*.persist_buffer.held_reads",
)
def reads(look: Look, value: int, name: str) -> None:
    """Each request that it looked at as a read is one of the three."""
    measures = buffer(look, name)
    came = (look.rows["kind"] != 3) & (look.rows["kind"] != 1) & (look.rows["persist_buffer_ps"] > 0)
    if look.whole and len([d for d in look.spec["devices"].values() if "persist_buffer" in d]) == 1:
        look.equal(sum(measures[key] for key in ("read_hits", "detours", "held_reads")), int(came.sum()))


@law("per_switch.*.persist_buffer.stalls")
def stalls(look: Look, value: int, name: str) -> None:
    look.within(value, 0, buffer(look, name)["persists"] + 1)


@law("per_switch.*.persist_buffer.queue_mean", "per_switch.*.persist_buffer.queue_max")
def queue(look: Look, value: float, name: str) -> None:
    """Little: those that wait are the rate times the wait; held reads do not wait there, and all places are its own."""
    measures, device = buffer(look, name), look.device(name)["persist_buffer"]
    look.within(measures["queue_mean"], 0, measures["queue_max"])
    look.equal(bool(measures["queue_mean"]), measures["queue_max"] > 0)
    alone = len([d for d in look.spec["devices"].values() if "persist_buffer" in d]) == 1
    by_rows = not look.copied  # lines of pages that move wait there, too
    if look.whole and alone and not measures["held_reads"] and "queue" not in device and by_rows:
        look.equal(measures["queue_mean"] * look.length, look.ns("persist_queue"))


@law("per_memory.*.drains")
def drained(look: Look, value: int, name: str) -> None:
    """The last buffer of a chain writes memory."""
    look.equal(
        look.over("per_memory", "drains"),
        min(
            m["persist_buffer"]["drained"]
            for m in look.summary["per_switch"].values()
            if "persist_buffer" in m
        ),
    )
    measures = look.summary["per_memory"][name]
    look.within(measures["write_gb_per_s"] * look.length, 0, LINE * measures["writes"])


@law(*(f"per_switch.*.persist_buffer.{key}" for key in ("drain_errors", "refused", "lost_acknowledged")))
def failed(look: Look, value: int, name: str) -> None:
    """Nothing fails beside a buffer here."""
    look.equal(value, 0)


@law("versions.stale_reads", "versions.lost_updates", "versions.unreachable_lines")
def versions(look: Look, value: int) -> None:
    look.equal(value, 0)
