"""What a run says of links that throttled, retried, were down or degraded."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom.results.terminal import LINES, to_text

SPEC = """\
devices:
  host: {kind: host, queue: 512}
  mem:  {kind: memory, queue: 512}
links:
  - {between: [host, mem], phy: pcie6-x16, port_delay: 25ns}
address_map:
  - {to: mem}
workload:
  host: {pattern: random, reads: 60%, requests: 8000, footprint: 1GiB}
run: {warmup: 500}
"""


def run(warmup: int = 500, **link: object) -> cx.Result:
    system = cx.System.from_yaml(SPEC).set("run.warmup", warmup)
    for key, value in link.items():
        system = system.set(f"links[0].{key}", value)
    return cx.run(system)


def test_a_link_without_troubles_says_nothing() -> None:
    result = run(warmup=3000)
    text = to_text(result.summary)
    assert not any(word in text for word in ("credits:", "retries:", "failed:", "note:"))


def test_credits_that_throttle_are_named_with_their_class() -> None:
    result = run(credits={"M2S Req": 8})
    blocked = result["per_link"]["host-mem"]["host->mem"]["credit_blocked_ns_by_class"]
    assert list(blocked) == ["M2S Req"]
    share = blocked["M2S Req"] / result["simulated_time_ns"]
    assert share > 0.5
    assert f"credits: host->mem waited {100 * share:.1f} % of the time for those of M2S Req" in to_text(
        result.summary
    )


def test_retries_are_counted_and_shown() -> None:
    result = run(errors={"every": 20})
    flits = result["per_link"]["host-mem"]["mem->host"]["flits"]
    assert flits["errors"] > 10
    assert f"retries: mem->host sent {flits['errors']:,} flits again" in to_text(result.summary)


@pytest.mark.parametrize(("fail", "words"), [(False, "came meanwhile waited"), (True, "meanwhile failed")])
def test_an_outage_is_told(fail: bool, words: str) -> None:
    result = run(outage={"at": "1us", "length": "300ns", "fail": fail})
    assert (result["errors"]["requests"] > 0) == fail
    [note] = result["notes"]
    assert note.startswith("the link host-mem was down for 300ns from 1us on")
    assert note.endswith(words)
    text = to_text(result.summary)
    assert ("errors: " in text) == fail
    assert "note: the link host-mem was down" in text


def test_bad_times_that_never_came_are_told() -> None:
    ended = "the run ended before 1s"
    assert run(3000, outage={"at": "1s"})["notes"] == [f"the link host-mem was never down: {ended}"]
    degraded = run(3000, degraded={"at": "1s", "phy": "pcie5-x8"})
    assert degraded["notes"] == [f"the link host-mem was never degraded: {ended}"]


def test_a_degraded_link_is_told() -> None:
    result = run(degraded={"at": "1us", "phy": "pcie6-x4"})
    degraded, unsteady = result["notes"]
    assert degraded == "the link host-mem was degraded to pcie6-x4 from 1us on"
    assert "not stationary: the mean latency of its second half" in unsteady
    assert result.stationary is False
    assert "ns, not stationary\n" in to_text(result.summary)


def test_the_bytes_of_the_flits_are_shared_out() -> None:
    result = run(ide={"mode": "skid"}, errors={"every": 50})
    for way in result["per_link"]["host-mem"].values():
        shares = way["flits"]["byte_shares"]
        assert sum(shares.values()) == pytest.approx(1.0)
        assert all(shares[use] > 0 for use in ("data", "headers", "mac", "retry", "overhead"))
        flits = sum(way["flits"]["flits"].values())
        assert shares["data"] == pytest.approx(16 * way["flits"]["slots"]["data"] / (256 * flits))


def test_all_troubles_at_once_stay_on_one_screen() -> None:
    result = run(
        credits=2,
        errors={"every": 10},
        outage={"at": "1us", "fail": True},
        degraded={"at": "2us", "phy": "pcie6-x4"},
    )
    assert len(to_text(result.summary).splitlines()) <= LINES


def test_the_report_says_who_refused_requests() -> None:
    result = cx.run(Path(__file__).parents[2] / "examples" / "pooling.yaml")
    text = to_text(result.summary)
    refused = result.per_switch["sw"]["isolation_errors"]
    assert f"refused: sw answered {refused:,} requests with an error: their devices were not bound" in text
    assert "had been removed" not in text
    refused = result.per_memory["mem1"]["extent_errors"]
    assert f"refused: mem1 answered {refused:,} requests with an error: outside their extents" in text
