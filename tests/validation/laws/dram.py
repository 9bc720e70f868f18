"""Laws of DRAM."""

from __future__ import annotations

from validation.laws import law
from validation.laws.look import Look
from validation.laws.media import BURST
from validation.laws.memory import at, media, served

PEAK = {"DDR4-3200": 25.6, "DDR5-4800": 38.4}
"""Bytes per nanosecond that the data bus moves: the name's MT/s on 64 pins."""


@law(
    "per_memory.*.row_hits",
    "per_memory.*.row_misses",
    "per_memory.*.row_conflicts",
    "per_memory.*.row_hit_rate",
)
def rows(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    bursts = measures["row_hits"] + measures["row_misses"] + measures["row_conflicts"]
    moved = (measures["media_read_gb_per_s"] + measures["media_write_gb_per_s"]) * look.length
    look.equal(float(bursts * BURST), moved)
    look.equal(measures["row_hit_rate"] is None, bursts == 0)
    look.equal((measures["row_hit_rate"] or 0.0) * bursts, float(measures["row_hits"]))


@law("per_memory.*.data_bus_utilization")
def data_bus(look: Look, value: float, name: str) -> None:
    moved = at(look, name)["media_read_gb_per_s"] + at(look, name)["media_write_gb_per_s"]
    # The window is told in clocks.
    look.equal(value, moved / PEAK[media(look, name)["preset"]], rel=1.5 / max(look.length, 1))
    look.within(value, 0, 1 + 2 / max(look.length, 1))


@law(*(f"per_memory.*.{kind}_queue_{what}" for kind in ("read", "write") for what in ("mean", "max")))
def dram_queues(look: Look, value: float, name: str) -> None:
    kind = look.path[-1].partition("_")[0]
    measures = at(look, name)
    look.within(
        measures[f"{kind}_queue_mean"], 0, measures[f"{kind}_queue_max"] * (1 + 2 / max(look.length, 1))
    )
    look.within(measures["write_queue_max"], 0, media(look, name).get("write_queue", 256) + 64)
    if look.exact and not measures[f"{kind}s"]:
        look.equal(value, 0.0)
    if look.exact and kind == "read":
        # A burst is in the queue no longer than its access is in the media.
        mine = served(look, name) & look.memory_reads
        bursts = (look.payload or 4096) // BURST + 2
        lanes = 2 if media(look, name)["preset"].startswith("DDR5") else 1
        inside = look.ns("controller", "media_queue", "media", of=mine)
        look.within(
            measures["read_queue_mean"] * look.length * lanes, 0, inside * bursts + look.length * 1e-6
        )


@law("per_memory.*.activates")
def activates(look: Look, value: int, name: str) -> None:
    measures = at(look, name)
    look.equal(value, look.commands(name, "ACT"))
    if look.exact:
        # A burst that finds no open row has one opened, which may serve others.
        look.equal(bool(value), measures["row_misses"] + measures["row_conflicts"] > 0)


@law("per_memory.*.refreshes", "per_memory.*.refresh_share", "per_memory.*.power_down_share")
def shares(look: Look, value: float, name: str) -> None:
    look.within(value, 0, 1 if look.path[-1].endswith("share") else float("inf"))
    measures = at(look, name)
    if look.path[-1] == "refreshes":
        look.equal(value, look.commands(name, "REF", "REFSB"))
    if look.path[-1] == "refresh_share":
        look.equal(value > 0, measures["refreshes"] > 0)
    if look.path[-1] == "power_down_share" and "power_down" not in media(look, name):
        look.equal(value, 0.0)


@law("per_memory.*.refresh_managements", "per_memory.*.row_alerts")
def managements(look: Look, value: int, name: str) -> None:
    hammer = media(look, name)["row_hammer"]
    if look.path[-1] == "refresh_managements":
        look.equal(value, look.commands(name, "RFM", "RFMSB"))
    elif hammer["alert_at"] > at(look, name)["activates"]:
        look.equal(value, 0)
    else:
        look.within(value, 0, at(look, name)["activates"])


PARTS = ("background", "activate", "read", "write", "refresh")


@law("per_memory.*.energy_uj", "per_memory.*.power_mw", *(f"per_memory.*.energy_{part}_uj" for part in PARTS))
def energy(look: Look, value: float, name: str) -> None:
    measures = at(look, name)
    look.within(value, 0)
    look.equal(measures["energy_uj"], float(sum(measures[f"energy_{part}_uj"] for part in PARTS)))
    look.equal(measures["power_mw"] * look.length, measures["energy_uj"] * 1e6)
    causes = {"activate": "activates", "read": "media_read_gb_per_s", "write": "media_write_gb_per_s"}
    for part, cause in causes.items():
        look.equal(measures[f"energy_{part}_uj"] > 0, measures[cause] > 0)
    refreshed = measures["refreshes"] + measures.get("refresh_managements", 0)
    look.equal(measures["energy_refresh_uj"] > 0, refreshed > 0)
