"""Runs that end when the mean latency is known well enough, and the interval of the mean in results and on screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.spec.writer import to_yaml

QUEUE = """
devices:
  host: {kind: host, process_time: 0ns, queue: 4096}
  mem: {kind: memory, controller_time: 0ns, media: {kind: fixed, latency: 1us, banks: 1}}
links:
  - {between: [host, mem], bandwidth: 64GB/s}
address_map:
  - {to: mem}
workload:
  host: {pattern: random, requests: 300000, footprint: 1MiB, rate: 0.6M/s, arrivals: poisson}
run: {warmup: 1000}
"""


def test_a_run_ends_when_the_mean_is_known() -> None:
    system = cx.System.from_yaml(QUEUE)
    result = cx.run(system, until="ci=5%")
    low, high = result.latency.ci95 or (0.0, 0.0)
    assert low < result.latency.mean < high
    assert (high - low) / 2 <= 0.05 * result.latency.mean
    assert result.stop_reason == "finished: the mean latency is known to 5 %"
    assert not result.truncated
    assert result.stationary
    assert 16_384 <= result.count < 300_000, "less is too short beside what a queue remembers"
    assert f"mean {result.latency.mean:.0f}" in str(result)
    assert " ± " in str(result)
    # The spec of the result ends at the same request.
    again = cx.run(cx.System.from_yaml(to_yaml(result.spec.plain())))
    assert {**again.summary, "cost": 0} == {**result.summary, "cost": 0}


@pytest.mark.parametrize(
    "until", ["1%", "ci", "ci=", "=1%", "ci=abc", "ci=0%", "ci=-1%", "ci=101%", "mean=1%"]
)
def test_what_is_no_condition_is_refused(until: str) -> None:
    with pytest.raises(cx.InputError, match="until"):
        cx.run(cx.System.from_yaml(QUEUE), until=until)


def test_few_requests_have_no_interval() -> None:
    result = cx.run(cx.System.from_yaml(QUEUE).set("workload.host.requests", 500))
    assert result.latency.ci95 is None
    assert result.stationary is None
    assert "±" not in str(result)


@pytest.mark.parametrize("until", ["ci=abc", "ci=0%", "mean=1%", "1%"])
def test_the_command_names_what_it_was_given(tmp_path: Path, cxloom: Callable[..., Any], until: str) -> None:
    spec = tmp_path / "queue.yaml"
    spec.write_text(QUEUE)
    outcome = cxloom("run", spec, "--until", until, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert f"--until {until}" in outcome.err
    assert "ci" in outcome.err.partition("allowed:")[2] or "%" in outcome.err.partition("allowed:")[2]
    assert not (tmp_path / "out").exists()
