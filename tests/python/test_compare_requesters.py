"""What `compare` says of requesters that do not change as all of them together do."""

from __future__ import annotations

import cxloom as cx
from cxloom.results.comparison import compare
from cxloom.results.result import Measures


def sharing(queue: int, probes: int = 3000) -> cx.Result:
    """A host with one request in flight and one with a `queue`, whose reads share media of 64 B in 10 ns."""
    system = cx.System()
    system.add("host", "probe", queue=1)
    system.add("host", "hog", queue=queue)
    system.add("switch", "sw")
    system.add(
        "memory", "m", capacity="1GiB", media={"kind": "fixed", "latency": "50ns", "bandwidth": "6.4GB/s"}
    )
    for name in ("probe", "hog", "m"):
        system.connect(name, "sw")
    system.map("m")
    system.workload("probe", pattern="random", requests=probes, footprint="1GiB")
    system.workload("hog", pattern="random", requests=10**6, footprint="1GiB")
    system.set("run.warmup", 200)
    return cx.run(system)


# All that is in flight waits for the media: 65 requests take 650 ns, 129 take 1290, in proportion for both requesters.
def test_each_requester_has_its_rows() -> None:
    found = cx.compare({"few": sharing(64), "many": sharing(128)})
    for name in ("probe", "hog"):
        row = found.row(f"mean latency of {name}")
        assert row.values == tuple(sorted(row.values))
        assert abs((row.change(1).relative or 0) - 129 / 65 + 1) < 0.03
        assert row.requester == name
    assert abs(found.row("bandwidth of probe").change(1).relative or 0) > 0.4
    rates, latencies = found.sentences[0].split("the mean latency")
    assert "the bandwidth is the same, as far as the runs tell, but that of probe 49." in rates
    assert "but that of" not in latencies


def test_who_changes_otherwise_than_all_is_in_the_sentence() -> None:
    found = compare({name: Measures(summary_of(name)) for name in ("before", "after")})
    assert "the mean latency is 70.0 ns lower (36.8 %), but that of probe 50.0 % higher" in found.sentences[0]
    assert (
        "the bandwidth is the same, as far as the runs tell, but that of probe 88.9 % lower"
        in found.sentences[0]
    )


def summary_of(name: str) -> dict[str, object]:
    """A summary of two requesters: the probe takes half as long again, and has fewer of the requests."""
    later = name == "after"
    means = {"probe": 300.0 if later else 200.0, "hog": 100.0}
    parts = {"probe": 1000 if later else 9000, "hog": 9000 if later else 1000}
    whole = sum(means[each] * parts[each] for each in means) / 10_000

    def part(mean: float, requests: int) -> dict[str, object]:
        return {
            "requests": requests,
            "bandwidth_gb_per_s": 64 * requests / 1e5,
            "latency_ns": {"mean": mean, "ci95": [mean - 1, mean + 1]},
        }

    return {
        **part(whole, 10_000),
        "simulated_time_ns": 1e5,
        "breakdown_ns": {},
        "per_requester": {each: part(means[each], parts[each]) for each in means},
    }


def test_few_requests_tell_no_small_change() -> None:
    """Few requests have no interval: 300 of them may differ by 2 / sqrt(300) = 12 % by chance, unless all are alike."""
    row = cx.compare({"one": sharing(64, 300), "other": sharing(66, 300)}).row("mean latency of probe")
    assert 0.02 < (row.change(1).relative or 0) < 0.04
    assert row.change(1).is_clear
    for name in ("mean latency", "mean latency of probe"):
        assert (
            not compare({each: Measures(few(each)) for each in ("before", "after")})
            .row(name)
            .change(1)
            .is_clear
        )


def few(name: str) -> dict[str, object]:
    """A summary of two requesters with 300 requests each, of 100 to 2000 ns."""
    mean = 670.0 if name == "after" else 650.0
    latency = {"mean": mean, "ci95": None, "min": 100.0, "max": 2000.0}
    part = {"requests": 300, "bandwidth_gb_per_s": 1.0, "latency_ns": latency}
    return {
        **part,
        "simulated_time_ns": 1e5,
        "breakdown_ns": {},
        "per_requester": {"probe": part, "hog": part},
    }
