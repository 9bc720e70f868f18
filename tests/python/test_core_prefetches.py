"""Fill buffers and prefetchers of a core: of a pattern, whose bandwidth is known, and of programs that run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exec_support import spec
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.execution import execute
from cxloom.execution.result import ExecutionResult

LATENCY = 100
"""Nanoseconds from a request to its data."""


def sequential(core: dict[str, Any], pattern: str = "sequential", **work: Any) -> dict[str, Any]:
    """What a core does with a pattern of reads and a memory of any bandwidth."""
    system = {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 1024, "core": {"width": 8, **core}},
            "mem": {
                "kind": "memory",
                "capacity": "1GiB",
                "controller_time": "0ns",
                "media": {"kind": "fixed", "latency": f"{LATENCY}ns"},
            },
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "host": {"pattern": pattern, "reads": 1.0, "requests": 20000, "footprint": "256MiB", **work}
        },
    }
    return dict(cx.run(cx.System.from_yaml(json.dumps(system))).summary)


def bandwidth(lines: float) -> float:
    """The bandwidth of so many lines under way, in GB/s."""
    return lines * 64 / LATENCY


def with_streamer(**core: Any) -> dict[str, Any]:
    """A second level that has one, as far ahead as its registers reach."""
    streamer = {"kind": "streamer", "registers": 64, "distance": 64, "degree": 4}
    return {"caches": [{"prefetch": "none"}, {"size": "2MiB", "ways": 16, "prefetch": streamer}], **core}


def test_reads_without_a_pattern_have_the_fill_buffers() -> None:
    """Twelve of 48, with prefetchers or without."""
    for core in ({}, with_streamer()):
        got = sequential({"mshrs": 48, "fill_buffers": 12, **core}, "random")
        assert got["bandwidth_gb_per_s"] == pytest.approx(bandwidth(12), rel=0.01)
        assert got["per_requester"]["host"]["core"]["fill_buffers_mean"] == pytest.approx(12, rel=0.01)


def test_reads_in_order_have_the_registers_of_the_second_level() -> None:
    """With twelve fill buffers and lines asked for up to the end of the page, each of 64 lines takes two latencies."""
    without = sequential({"mshrs": 48, "fill_buffers": 12})
    assert without["bandwidth_gb_per_s"] == pytest.approx(bandwidth(12), rel=0.01)
    with_it = sequential(with_streamer(mshrs=48, fill_buffers=12, window=64))
    assert with_it["bandwidth_gb_per_s"] == pytest.approx(bandwidth(64 / 2), rel=0.01)


@needs_qemu
def test_a_program_that_streams_has_more_lines_under_way(program: str, tmp_path: Path) -> None:
    """Three arrays are read in order, with two fill buffers: what is asked for ahead is there in time."""

    def took(name: str, caches: str) -> ExecutionResult:
        second = f"{{size: 256KiB, ways: 16, cycles: 15{caches}}}"
        core = f"core: {{mshrs: 48, fill_buffers: 2, caches: [{{size: 4KiB, ways: 4}}, {second}]}}"
        system = spec(tmp_path, name, **{"core: {}": core})
        return execute([program, "triad", "65536"], [cx.System.load(str(system))], region="marks")

    alone = took("alone", "")
    ahead = took("ahead", ", prefetch: streamer")
    assert ahead.executions[0].time_ns < 0.6 * alone.executions[0].time_ns
    # The same lines are read, but for what lies behind the ends of the arrays.
    assert ahead.accesses == pytest.approx(alone.accesses, rel=0.05)
    assert sum(ahead.executions[0].parts().values()) == pytest.approx(1.0)


@needs_qemu
def test_a_chase_gains_nothing(program: str, tmp_path: Path) -> None:
    """A cycle in random order: the streams that the streamer finds in it are none."""

    def took(name: str, caches: str) -> float:
        core = f"core: {{caches: [{{size: 4KiB, ways: 4}}, {{size: 16KiB, ways: 16, cycles: 15{caches}}}]}}"
        system = spec(tmp_path, name, **{"core: {}": core})
        result = execute([program, "chase", "16384"], [cx.System.load(str(system))], region="marks")
        return result.executions[0].time_ns

    assert took("ahead", ", prefetch: streamer") == pytest.approx(took("alone", ""), rel=0.02)


def test_more_fill_buffers_than_registers_are_refused() -> None:
    with pytest.raises(InputError, match="more fill buffers than mshrs"):
        sequential({"mshrs": 10, "fill_buffers": 12})


@pytest.mark.parametrize("registers", ["abc", "0", "[]"])
def test_wrong_parameters_of_a_prefetcher_are_refused_where_they_stand(registers: str) -> None:
    streamer = {"kind": "streamer", "registers": registers}
    with pytest.raises(InputError, match="registers") as caught:
        sequential({"caches": [{"prefetch": streamer}]}, rate="1G/s")
    assert "core.caches[0].prefetch.registers" in str(caught.value)
