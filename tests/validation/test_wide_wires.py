"""What waits in a device is on no wire meanwhile: one of much bandwidth is as one without a limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.systems import Spec, host_and_memory, run

import cxloom as cx

CACHES = {
    "registers": {"size": "4KiB", "mshrs": 2},
    "write-backs": {"size": "4KiB"},
    "levels": {"size": "1KiB", "levels": [{"size": "4KiB"}]},
}


@pytest.mark.parametrize("coherent", [False, True])
@pytest.mark.parametrize("cache", CACHES)
def test_a_wire_of_much_bandwidth_is_as_one_without_a_limit(cache: str, coherent: bool) -> None:
    """Requests wait in a cache for registers and for their own lines, others pass its levels meanwhile: a wire that is
    free carries what is ready. 80 bytes take 0.08 ns of it, four times at most for each request under way."""
    found = []
    for bandwidth in ("unlimited", "1000GB/s"):
        spec = host_and_memory(
            {"bandwidth": bandwidth},
            {"capacity": "1GiB", **({"dcoh": {}} if coherent else {})},
            {"cache": CACHES[cache], "queue": 4},
            {"footprint": "256KiB", "requests": 3000, "reads": 0.5, "size": "64B"},
        )
        spec["address_map"][0] |= {"coherence": "hdm-db"} if coherent else {}
        found.append(run(spec))
    free, wide = found
    assert free.latency <= wide.latency <= free.latency + 4 * 4 * 0.08
    assert wide.summary["latency_ns"]["max"] <= free.summary["latency_ns"]["max"] + 4 * 4 * 0.08


def test_pulled_data_are_not_behind_requests_that_are_made_still() -> None:
    """A requester without a cache sends data as its home pulls them, and requests after its time of processing."""

    def played(bandwidth: str) -> Any:
        home = {
            "kind": "host",
            "memory": {"capacity": "1GiB", "media": {"kind": "fixed", "latency": "50ns"}},
            "home_agent": {"filter": {"entries": 16384}},
        }
        spec: Spec = {
            "devices": {"acc": {"kind": "accelerator", "queue": 64, "process_time": "200ns"}, "root": home},
            "links": [{"between": ["acc", "root"], "bandwidth": bandwidth}],
            "address_map": [{"to": "root", "size": "16MiB", "coherence": "hdm-h"}],
            "workload": {"acc": {"pattern": "random", "requests": 3000, "footprint": "16MiB", "reads": 0}},
            "run": {"warmup": 500},
        }
        return cx.run(cx.System.from_yaml(json.dumps(spec))).summary

    free, wide = played("unlimited"), played("1000GB/s")
    assert free["latency_ns"]["mean"] <= wide["latency_ns"]["mean"] <= free["latency_ns"]["mean"] + 4 * 0.08
    wire = wide["per_link"]["acc-root"]["acc->root"]
    assert wire["queue_mean"] <= wire["queue_max"]
    # Little: two messages for each of 64 requests in 260 ns wait for 63 others at most, half of them on average.
    assert wire["queue_mean"] < 2 * 64 / 260 * 63 / 2 * 0.08


def test_refused_requests_hold_no_answers_up(tmp_path: Path) -> None:
    """A host may not use a logical device: the owner's answers pass requests that the controller works on."""
    trace = tmp_path / "refused.txt"
    trace.write_text("".join(f"0x{64 * line % (1 << 20):x} R\n" for line in range(9000)))

    def played(bandwidth: str) -> Any:
        memory = {
            "kind": "memory",
            "controller_time": "200ns",
            "media": {"kind": "fixed", "latency": "50ns"},
            "logical_devices": [{"capacity": "1MiB", "host": "owner"}],
        }
        host = {"kind": "host", "queue": 16, "process_time": "10ns"}
        spec: Spec = {
            "devices": {"owner": host, "other": host, "sw": {"kind": "switch"}, "mld": memory},
            "links": [
                {"between": ["owner", "sw"]},
                {"between": ["other", "sw"]},
                {"between": ["sw", "mld"], "bandwidth": bandwidth},
            ],
            "address_map": [{"to": "mld", "ld": 0}],
            "workload": {
                "owner": {"pattern": "random", "requests": 3000, "footprint": "1MiB", "reads": 1.0},
                "other": {"trace": str(trace), "replay": "closed"},
            },
            "run": {"warmup": 500},
        }
        return cx.run(cx.System.from_yaml(json.dumps(spec))).summary

    free, wide = played("unlimited"), played("1000GB/s")
    assert wide["per_requester"]["other"]["errors"]["requests"] > 0
    owner = [each["per_requester"]["owner"]["latency_ns"]["mean"] for each in (free, wide)]
    assert owner[0] <= owner[1] <= owner[0] + 4 * 32 * 0.08
