"""The parameters of persistent memory in the table: regions, patterns that persist, persist buffers of switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from validation.systems import Run, Spec, changed, rows
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth, highest, latency, lowest


def persistent(**switch: Any) -> Spec:
    """A host, a switch and persistent memory; every access is a persist."""
    return rows(
        {
            "devices": {
                "host": {"kind": "host", "queue": 16},
                "sw": {"kind": "switch", **switch},
                "mem": {"kind": "memory", "media": {"kind": "nvm", "write_buffer": 0}},
            },
            "links": [{"between": [name, "sw"], "port_delay": "25ns"} for name in ("host", "mem")],
            "address_map": [{"to": ["mem"], "persistence": "media"}],
            "workload": {
                "host": {"pattern": "random", "requests": 2000, "footprint": "16KiB", "persists": 1.0}
            },
        }
    )


def of_buffer(name: str) -> Measure:
    """A measure of the buffer of `sw`."""
    return lambda outcome: float(outcome.summary["per_switch"]["sw"]["persist_buffer"][name])


def flushes(outcome: Run) -> int:
    """How many of the requests."""
    return int(outcome.summary.get("flushes", 0))


def stale(outcome: Run) -> int:
    """How many versions were looked at: none where nobody asks."""
    return len(outcome.summary.get("versions", {}))


def persist_rows() -> Iterator[Turn]:
    """All of them."""
    yield from buffer_rows()
    yield from persisting_patterns()
    at = "address_map.0.persistence"
    # In the buffer of the media, which counts as durable or does not.
    buffered = changed(persistent(), ("devices.mem.media", {"kind": "nvm"}), (at, "controller"))
    yield Turn(
        "region.persistence", buffered, at, ("volatile", "controller"), RISES, flushes, play=refused_or_run
    )
    yield Turn("outputs.versions", persistent(), "outputs.versions", (False, True), RISES, stale)


def refused_or_run(spec: Spec, feeds: Any) -> Run:
    """Flushes of volatile memory leave nothing but the error: the run without flushes."""
    from validation.systems import run

    if spec["address_map"][0]["persistence"] == "volatile":
        spec = changed(spec, ("workload.host.persists", 0.0))
    return run(spec, feeds)


def buffer_rows() -> Iterator[Turn]:
    """A persist buffer."""
    name, at = "devices.switch.persist_buffer", "devices.sw.persist_buffer"
    drains = persistent(persist_buffer={})
    one = changed(drains, ("devices.host.queue", 1))
    keeps = persistent(persist_buffer={"policy": "forward"})

    def turn(
        key: str, base: Spec, values: tuple[Any, Any], effect: Callable[[Any, Any], Any], measure: Measure
    ) -> Turn:
        return Turn(f"{name}.{key}", base, f"{at}.{key}", values, effect, measure)

    yield Turn(name, changed(one, (at, ...)), at, (..., {}), FALLS, latency)
    yield turn("entries", drains, (4, 16), RISES, bandwidth)
    yield turn("tag_time", one, ("0.4ns", "4ns"), RISES, latency)
    yield turn("data_time", one, ("0.8ns", "8ns"), RISES, latency)
    yield turn("policy", drains, ("drain", "forward"), RISES, of_buffer("coalesced"))
    yield turn("drain_from", keeps, (0.7, 1.0), RISES, of_buffer("dirty_mean"))
    yield turn("drain_to", keeps, (0.2, 0.7), RISES, of_buffer("dirty_mean"))
    yield turn("queue", changed(drains, (f"{at}.entries", 2)), (..., 2), FALLS, of_buffer("queue_max"))


def persisting_patterns() -> Iterator[Turn]:
    """What patterns say of persists."""
    at = "workload.host"
    cached = changed(persistent(), ("devices.host.cache", {"size": "64KiB"}))
    for kind in ("sequential", "strided", "random", "hot-cold", "zipf"):
        name = f"patterns.{kind}"
        base = changed(persistent(), (f"{at}.pattern", kind))
        reused = changed(cached, (f"{at}.pattern", kind), (f"{at}.persists", 0.5))
        yield Turn(f"{name}.persists", base, f"{at}.persists", (0.2, 0.8), RISES, flushes)
        yield Turn(f"{name}.flush", reused, f"{at}.flush", ("drop", "keep"), FALLS, latency)
        yield Turn(f"{name}.epoch", base, f"{at}.epoch", (2, 16), RISES, bandwidth)
    name = "patterns.log-append"
    log = changed(persistent(), (at, {"pattern": "log-append", "requests": 1000, "footprint": "64KiB"}))
    kept = changed(log, ("devices.host.cache", {"size": "1MiB"}))
    yield Turn(f"{name}.footprint", log, f"{at}.footprint", ("16KiB", "64KiB"), RISES, highest)
    yield Turn(f"{name}.base", log, f"{at}.base", ("0x0", "0x400000"), RISES, lowest)
    yield Turn(f"{name}.record", log, f"{at}.record", ("64B", "1KiB"), RISES, bandwidth)
    yield Turn(f"{name}.flush", kept, f"{at}.flush", ("drop", "keep"), FALLS, latency)
