"""What a run says of links that throttled, retried, were down or degraded."""

from __future__ import annotations

import json
import re
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


def notes_on_errors(result: cx.Result) -> list[str]:
    return [note for note in result["notes"] if "corrupted none" in note]


@pytest.mark.parametrize("phy", ["pcie5-x16", "pcie6-x16"])
def test_errors_that_no_flit_met_are_told_with_how_many_were_to_be_expected(phy: str) -> None:
    rate = {"pcie5-x16": 1e-12, "pcie6-x16": 1e-8}[phy]
    result = run(errors={"bit_error_rate": rate}, phy=phy)
    ways = result["per_link"]["host-mem"].values()
    flits = int(sum(sum(way["flits"]["flits"].values()) for way in ways))
    byte = 8 * rate  # 68B: a bit of 544 is enough; 256B: two bytes of one of three groups
    in_one = 544 * rate if phy == "pcie5-x16" else byte**2 * (86 * 85 + 2 * 85 * 84) / 2
    (note,) = notes_on_errors(result)
    said = re.fullmatch(
        r"errors.bit_error_rate (\S+) of the link host-mem corrupted none of (\d+) flits in the measured window, which "
        r"says nothing of what errors cost: (\S+) were to be expected, one in (\d+) flits; measure more requests",
        note,
    )
    assert said is not None
    assert (float(said[1]), int(said[2])) == (rate, flits)
    assert float(said[3]) == pytest.approx(flits * in_one, rel=0.01)
    assert int(said[4]) == pytest.approx(1 / in_one, rel=0.01)
    assert f"note: {note}"[:60] in to_text(result.summary)


def test_errors_that_were_met_have_no_such_note() -> None:
    result = run(errors={"bit_error_rate": 1e-6}, phy="pcie5-x16")
    assert sum(way["flits"]["errors"] for way in result["per_link"]["host-mem"].values()) > 3
    assert notes_on_errors(result) == []


def test_an_injector_that_never_comes_to_its_turn_is_told() -> None:
    (note,) = notes_on_errors(run(errors={"every": 1_000_000}))
    assert note.startswith("errors.every 1000000 of the link host-mem corrupted none of ")
    assert note.endswith("each direction of a link needs that many for one; measure more requests")
    assert notes_on_errors(run(errors={"every": 1000})) == []


def test_links_of_one_rate_share_a_note_and_one_that_met_errors_speaks_for_all() -> None:
    def pair(rates: tuple[float, float]) -> cx.Result:
        spec = {
            "devices": {"host": {"kind": "host"}, "mem[0-1]": {"kind": "memory"}},
            "links": [
                {"between": ["host", f"mem{i}"], "phy": "pcie5-x16", "errors": {"bit_error_rate": rate}}
                for i, rate in enumerate(rates)
            ],
            "address_map": [{"to": ["mem0", "mem1"], "interleave": "256B"}],
            "workload": {"host": {"pattern": "random", "requests": 3000, "footprint": "1GiB"}},
        }
        return cx.run(cx.System.from_yaml(json.dumps(spec)))

    (note,) = notes_on_errors(pair((1e-12, 1e-12)))
    assert note.startswith("errors.bit_error_rate 1e-12 of 2 links corrupted none of ")
    assert len(notes_on_errors(pair((1e-12, 1e-13)))) == 2
    assert notes_on_errors(pair((1e-6, 1e-6))) == []


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
    degraded, edges, unsteady = result["notes"]
    assert (
        "Little's law" in edges
    )  # requests that the window cuts at its end take longer than those before it
    assert degraded == "the link host-mem was degraded to pcie6-x4 from 1us on"
    assert "not stationary: the mean latency of its second half" in unsteady
    assert unsteady.endswith("; in it happened the degradation of the link host-mem")
    assert result.stationary is False
    assert "ns, not stationary" in " ".join(to_text(result.summary).split())


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
