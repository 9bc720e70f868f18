"""The parameters of coherence in the table: those of caches, and of every home of coherent lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, rows
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth, hit_rate, latency

CACHE = {"size": "4KiB"}


def around_a_switch(requesters: Spec, others: Spec, region: Spec, **work: Any) -> Spec:
    """Requesters that use one region in the same way, and other devices; `host` is one of the former."""
    devices = {**requesters, **others, "sw": {"kind": "switch"}}
    pattern = {"pattern": "random", "requests": 1000, "footprint": "16KiB", "reads": 0.5, **work}
    return rows(
        {
            "devices": devices,
            "links": [{"between": [name, "sw"]} for name in devices if name != "sw"],
            "address_map": [region],
            "workload": {name: dict(pattern) for name in requesters},
        }
    )


def two_hosts(kind: str = "host", cache: Spec | None = None, **work: Any) -> Spec:
    """Two requesters with caches, and a memory that keeps them coherent."""
    return around_a_switch(
        {"host": {"kind": kind, "cache": cache or CACHE}, "other": {"kind": "host", "cache": CACHE}},
        {"mem": {"kind": "memory", "capacity": "1MiB", "dcoh": {"filter": {"entries": 1024}}}},
        {"to": ["mem"], "coherence": "hdm-db"},
        **work,
    )


def of_requester(name: str) -> Measure:
    """A measure of `host`."""
    return lambda outcome: float(outcome.summary["per_requester"]["host"][name])


def of_home(name: str) -> Measure:
    """A measure of all homes together."""
    return lambda outcome: float(outcome.summary["coherence"][name])


def lasted(outcome: Run) -> float:
    """Time from the only failure to the last wait for what it lost."""
    (cost,) = outcome.summary["events"].values()
    return float(cost["lasted_ns"])


def mean_of_host(outcome: Run) -> float:
    """Mean latency of `host`."""
    return float(outcome.summary["per_requester"]["host"]["latency_ns"]["mean"])


def cache_rows(kind: str) -> Iterator[Turn]:
    """What the cache of a host or accelerator has for coherence, and its further levels."""
    at = "devices.host.cache"

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"devices.{kind}.cache.{key}", base, f"{at}.{key}", values, effect, measure)

    base = two_hosts(kind)
    yield turn("mshrs", base, (1, 8), RISES, bandwidth)
    yield turn("fill_time", base, ("0ns", "50ns"), RISES, mean_of_host)
    yield turn("clear_time", base, ("0ns", "50ns"), RISES, latency)
    yield turn("write_allocate", base, (True, False), FALLS, hit_rate)
    yield turn("clean_evictions", base, ("silent", "notified"), RISES, of_requester("clean_evictions"))
    yield turn("read_state", base, ("any", "shared"), RISES, of_requester("upgrades"))
    yield turn("levels", base, ([], [{"size": "32KiB"}]), FALLS, mean_of_host)

    def level(**params: Any) -> list[Spec]:
        return [{"size": "8KiB", "ways": 0, **params}]

    def of_level(
        key: str, values: tuple[Spec, Spec], effect: Any, measure: Measure, base: Spec = base
    ) -> Turn:
        name = f"devices.{kind}.cache.levels.{key}"
        return Turn(name, base, f"{at}.levels", (level(**values[0]), level(**values[1])), effect, measure)

    skewed = two_hosts(kind, pattern="zipf", exponent=1.2, requests=5000, reads=1.0, footprint="64KiB")
    loop = two_hosts(kind, pattern="sequential", reads=1.0, footprint="12KiB")
    yield of_level("size", ({"size": "4KiB"}, {"size": "32KiB"}), RISES, hit_rate)
    yield of_level("ways", ({"ways": 1}, {"ways": 16}), RISES, hit_rate, skewed)
    yield of_level("access_time", ({"access_time": "5ns"}, {"access_time": "50ns"}), RISES, mean_of_host)
    yield of_level("policy", ({"policy": "lru"}, {"policy": "mru"}), RISES, hit_rate, loop)
    # Half as large as what is before it, it takes from there what leaves it.
    small = {"size": "2KiB"}
    yield of_level("inclusive", ({**small}, {**small, "inclusive": True}), FALLS, hit_rate)


def home_rows(name: str, at: str, base: Spec, blocks: bool) -> Iterator[Turn]:
    """What every home has. In `base` it is at `at`, and its filter has room for all."""

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"{name}.{key}", base, f"{at}.{key}", values, effect, measure)

    evictions = of_home("filter_evictions")
    yield turn("lookup_time", base, ("0ns", "50ns"), RISES, latency)
    yield turn("lookup_interval", base, ("0ns", "100ns"), FALLS, bandwidth)
    yield turn("filter", base, ({"entries": 1024}, {"entries": 64}), RISES, evictions)
    yield turn("filter.entries", base, (1024, 64), RISES, evictions)
    # 16 lines of every 16th: four share each set of one way that they use, and one set of 16 ways has all.
    work = {"pattern": "strided", "stride": "1KiB"}
    strided = changed(
        base,
        (f"{at}.filter.entries", 64),
        *((f"workload.{name}.{key}", value) for name in base["workload"] for key, value in work.items()),
    )
    yield turn("filter.ways", strided, (1, 16), FALLS, evictions)
    # One requester goes through more lines than there are entries: with LIFO most of them stay where they are.
    small = changed(
        base,
        (f"{at}.filter.entries", 48),
        ("devices.host.queue", 4),
        ("workload", {"host": {**base["workload"]["host"], "pattern": "sequential"}}),
    )
    yield turn("filter.policy", small, ("fifo", "lifo"), FALLS, evictions)
    failing = changed(
        base,
        ("devices.other.completion_timeout", "1us"),
        ("events", [{"at": "3us", "fail": {"link": ["other", "sw"], "reroute_time": "1us"}}]),
    )
    yield turn("answer_timeout", failing, ("1us", "20us"), RISES, lasted)
    if not blocks:
        return
    yield turn("transactions", base, (1, 16), RISES, bandwidth)
    yield turn("filter.block", small, (1, 4), FALLS, of_home("snoops_sent"))
    # An aligned block has less of a run of lines that begins anywhere.
    pairs = changed(small, (f"{at}.filter.block", 4), ("workload.host.base", "64B"))
    yield turn("filter.alignment", pairs, ("spec", "free"), FALLS, of_home("snoops_sent"))


def coherence_rows() -> Iterator[Turn]:
    """All of them."""
    for kind in ("host", "accelerator"):
        yield from cache_rows(kind)
    base = two_hosts()
    without = (("address_map.0", {"to": ["mem"]}),)
    dcoh = {"filter": {"entries": 1024}}

    yield Turn("devices.memory.dcoh", base, "devices.mem.dcoh", (dcoh, ...), FALLS, latency, also=without)
    yield from home_rows("devices.memory.dcoh", "devices.mem.dcoh", base, blocks=True)

    accelerator = {"kind": "accelerator", "memory": {"capacity": "1MiB", "dcoh": dcoh}}
    base = changed(base, ("devices.mem", accelerator))
    name, at = "devices.accelerator.memory.dcoh", "devices.mem.memory.dcoh"
    yield Turn(name, base, at, (dcoh, ...), FALLS, latency, also=without)
    yield from home_rows(name, at, base, blocks=True)

    apart = around_a_switch(
        {name: {"kind": "host", "cache": CACHE} for name in ("host", "other")},
        {
            "mem": {"kind": "memory", "capacity": "1MiB"},
            "home": {"kind": "dcoh", **dcoh},
            "far": {"kind": "dcoh", **dcoh, "lookup_time": "100ns"},
        },
        {"to": ["mem"], "coherence": "hdm-db", "home": "home"},
    )
    yield from home_rows("devices.dcoh", "devices.home", apart, blocks=True)
    yield Turn("region.home", apart, "address_map.0.home", ("home", "far"), RISES, latency)
    yield Turn("region.coherence", two_hosts(), "address_map.0.coherence", ("none", "hdm-db"), RISES, latency)

    agent = {"filter": {"entries": 1024}}
    owner = {"kind": "host", "cache": CACHE, "memory": {"capacity": "1MiB"}, "home_agent": agent}
    hdm_h = around_a_switch(
        {"host": owner, "other": {"kind": "accelerator", "cache": CACHE}},
        {},
        {"to": ["host"], "coherence": "hdm-h"},
    )
    name, at = "devices.host.home_agent", "devices.host.home_agent"
    yield Turn(name, hdm_h, at, (agent, ...), FALLS, latency, also=(("address_map.0", {"to": ["host"]}),))
    yield from home_rows(name, at, hdm_h, blocks=False)
    yield Turn(f"{name}.transactions", hdm_h, f"{at}.transactions", (1, 16), RISES, bandwidth)

    yield from bias_rows()


def bias_rows() -> Iterator[Turn]:
    """Memory of an accelerator that is kept coherent by bias; `host` is the accelerator."""
    bias = {"filter": {"entries": 1024}, "page": "256B"}
    owner = {"kind": "accelerator", "cache": CACHE, "memory": {"capacity": "1MiB", "bias": bias}}
    base = around_a_switch(
        {"host": owner, "other": {"kind": "host", "cache": CACHE}},
        {},
        {"to": ["host"], "coherence": "hdm-d"},
    )
    name, at = "devices.accelerator.memory.bias", "devices.host.memory.bias"
    without = (("address_map.0", {"to": ["host"]}),)
    yield Turn(name, base, at, (bias, ...), FALLS, latency, also=without)
    yield from home_rows(name, at, base, blocks=False)
    alone = changed(base, ("workload", {"host": base["workload"]["host"]}))
    flips = of_home("bias_flips_to_device")
    yield Turn(f"{name}.page", base, f"{at}.page", ("64B", "4KiB"), FALLS, flips)
    yield Turn(f"{name}.initial", alone, f"{at}.initial", ("host", "device"), FALLS, flips)
    yield Turn(f"{name}.flip_after", base, f"{at}.flip_after", (1, 4), FALLS, flips)
