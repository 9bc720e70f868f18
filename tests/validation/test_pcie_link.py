"""Links of PCIe, whose packets are framed one by one (`phy`, `flit: none`): docs/model/dma.md, docs/model/link.md.

x16 of generation g carries 2^(g+1) GB/s x 128/130, less what the link layer takes. A write or a read request has 24 B
besides its payload, a completion 20.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from validation.systems import Spec, changed, run
from validation.test_dma import LAUNCH, behind, copy_time, least, machine

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.bottleneck.shared_limits import all_resources

SHARE = 0.098
"""The share of the link layer, by default."""
FRAMED = {"out": 24, "in": 20}
"""Bytes of a packet with data besides these."""
FREE = {"launch_time": "0ns", "posted": 4096, "tags": 4096, "lines_at_completer": 8192}
"""Nothing but the wire bounds copies."""


def raw(generation: int) -> float:
    """GB/s of x16 before the link layer."""
    return float(2 ** (generation + 1) * 128 / 130)


def of_pcie(work: dict[str, Any], generation: int = 4, gpu: Spec | None = None, **link: Any) -> Spec:
    """The machine of test_dma.py, with a link of PCIe."""
    spec = machine(work, **(gpu or {}))
    wire = {"phy": f"pcie{generation}-x16", "flit": "none", "port_delay": "100ns", **link}
    spec["links"] = [{"between": ["host", "gpu"], **wire}]
    return spec


def link_layer(payload: int) -> float:
    """As pcie-model counts it on x16 of generations 3 to 5: an ACK and an update of flow control of 8 B, each as often
    as the tables of PCI Express Base 5.0, 2.6.1.2 and 3.6.3.1, say for this payload, and skips of 4 B in 1538."""
    return 16 / {128: 144, 256: 168, 512: 182}[payload] + 4 / 1538


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("generation", [4, 5])
@pytest.mark.parametrize("place", ["host", "behind the host", "peer"])
def test_a_copy_alone_takes_its_launch_and_its_packets(generation: int, direction: str, place: str) -> None:
    size = 1 << 20
    spec = of_pcie({"direction": direction, "size": f"{size}B"}, generation, {"posted": 1024, "tags": 512})
    if place != "host":
        spec = behind(spec, place == "peer")
    packets = size / 256 * (256 + FRAMED[direction]) / (raw(generation) * (1 - SHARE))
    assert copy_time(run(spec)) == pytest.approx(LAUNCH + packets + least(spec), rel=0.01)


@pytest.mark.parametrize(
    ("direction", "alone", "shared"), [("out", 28.81, 25.99), ("in", 29.23, 26.37)], ids=["writes", "reads"]
)
def test_packets_alone_and_on_a_wire_of_what_the_link_layer_leaves(
    direction: str, alone: float, shared: float
) -> None:
    """31.508 GB/s x 256 / 280 of writes, 256 / 276 of completions; and 28.425 in place of 31.508, 9.78 % less.

    A read has no other link layer than a write, so that completions of 20 B are ahead of writes of 24 B.
    """
    assert carried(direction, 256, 256, 4, link_layer=0) == pytest.approx(alone, rel=0.002)
    assert carried(direction, 256, 256, 4, link_layer=1 - 28.425 / raw(4)) == pytest.approx(shared, rel=0.002)


@pytest.mark.parametrize("direction", ["in", "out"])
def test_a_copy_reaches_cxl_memory_on_flits_through_the_processor(direction: str) -> None:
    # The card's link has flits of 68 B of four slots, and takes 64 B of data in four of them and a header in one: more
    # than PCIe 4 brings. So PCIe bounds the copy.
    size = 1 << 20
    spec = behind(of_pcie({"direction": direction, "size": f"{size}B"}, 4, {"posted": 1024}), False)
    spec["links"][1] = {"between": ["host", "cxl"], "phy": "pcie5-x16", "credits": 128, "port_delay": "25ns"}
    packets = size / 256 * (256 + FRAMED[direction]) / (raw(4) * (1 - SHARE))
    assert copy_time(run(spec)) == pytest.approx(LAUNCH + packets + least(spec), rel=0.01)


TABLE = [  # GB/s of x16 of generation 4, and of 5: pcie-model 40703cf, MRRS 512
    ("out", 128, 128, 23.5, 47.0),
    ("out", 256, 256, 26.0, 52.0),
    ("out", 512, 512, 27.4, 54.7),
    ("in", 128, 128, 24.2, 48.3),
    ("in", 256, 256, 26.4, 52.7),
    ("in", 512, 512, 27.6, 55.2),
    ("in", 256, 64, 21.7, 43.3),
]


def rate(spec: Spec) -> float:
    """Bandwidth of one long copy, without the latency of a request that comes on top."""
    size = 8 << 20
    alone = changed(spec, ("workload.gpu.size", f"{size}B"), ("workload.gpu.requests", 1))
    return size / (copy_time(run(alone)) - least(spec))


def carried(direction: str, payload: int, completion: int, generation: int, **link: Any) -> float:
    """That of a link of PCIe."""
    sizes = {"max_payload": f"{payload}B", "completion": f"{completion}B"}
    return rate(of_pcie({"direction": direction}, generation, {**FREE, **sizes}, **link))


@pytest.mark.parametrize("generation", [3, 4, 5])
@pytest.mark.parametrize(("direction", "payload", "completion", "fourth", "fifth"), TABLE)
def test_a_link_of_pcie_carries_what_its_model_says(
    direction: str, payload: int, completion: int, fourth: float, fifth: float, generation: int
) -> None:
    said = {3: fourth / 2, 4: fourth, 5: fifth}[generation]
    share = link_layer(payload)
    found = carried(direction, payload, completion, generation, link_layer=share)
    assert found == pytest.approx(said, rel=0.005)  # a digit of it is up to 0.2 %
    by_packets = raw(generation) * (1 - share) * completion / (completion + FRAMED[direction])
    assert found == pytest.approx(by_packets, rel=0.003)


@pytest.mark.parametrize(("payload", "off"), [(128, 0.018), (256, 0.0), (512, -0.008)])
def test_the_default_share_is_that_of_packets_of_256_bytes(payload: int, off: float) -> None:
    by_rule = carried("out", payload, payload, 4, link_layer=link_layer(payload))
    assert carried("out", payload, payload, 4) / by_rule - 1 == pytest.approx(off, abs=0.001)


@pytest.mark.parametrize("generation", [6, 7])
@pytest.mark.parametrize("payload", [128, 256, 512])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_from_generation_6_on_packets_share_flits(direction: str, payload: int, generation: int) -> None:
    # 236 of 256 B of a flit are packets, whose headers are all that they have besides: 16 and 12 B.
    gpu = {**FREE, "max_payload": f"{payload}B", "completion": f"{payload}B", "tags": 8192, "posted": 16384}
    spec = of_pcie({"direction": direction}, 4, gpu)
    spec["devices"]["gpu"]["lines_at_completer"] = 65536
    spec["links"] = [{"between": ["host", "gpu"], "phy": f"pcie{generation}-x16", "port_delay": "100ns"}]
    header = FRAMED[direction] - 8
    most = 2 ** (generation + 1) * 236 / 256 * payload / (payload + header)
    assert rate(spec) == pytest.approx(most, rel=0.005)


@pytest.mark.parametrize(("payload", "each_way"), [(128, 22.6), (256, 24.9), (512, 26.2)])
def test_read_requests_take_a_part_of_the_way_of_writes(payload: int, each_way: float) -> None:
    # As many bytes each way: m + 24 B of each write and 24 B of a read request for 512 B share a direction. Copies
    # alternate, so that each stream has one way.
    work = {"direction": "both", "size": "4MiB", "requests": 8}
    gpu = {**FREE, "max_payload": f"{payload}B", "completion": f"{payload}B", "streams": 2}
    outcome = run(of_pcie(work, 4, gpu, link_layer=link_layer(payload)))
    assert outcome.bandwidth / 2 == pytest.approx(each_way, rel=0.02)


@pytest.mark.parametrize("direction", ["in", "out"])
def test_each_packet_has_its_bytes_on_the_wire(direction: str) -> None:
    spec = of_pcie({"direction": direction, "size": "1MiB", "requests": 2})
    (ways,) = run(spec).summary["per_link"].values()
    size = 2 << 20
    if direction == "out":
        expected = {"gpu->host": size // 256 * (256 + 24), "host->gpu": 0}
    else:
        expected = {"gpu->host": size // 512 * 24, "host->gpu": size // 256 * (256 + 20)}
    assert {way: ways[way]["bytes"] for way in expected} == expected


@pytest.mark.parametrize("direction", ["in", "out"])
def test_between_copies_of_a_stream_there_is_a_round_trip(direction: str) -> None:
    # Called ahead, so that their launches overlap. Two streams fill the gap of each other.
    size = 1 << 17
    spec = of_pcie(
        {"direction": direction, "size": f"{size}B", "requests": 40}, 4, {"queue": 4, "posted": 1024}
    )
    packets = size / 256 * (256 + FRAMED[direction]) / (raw(4) * (1 - SHARE))
    rows = run(spec)
    each = (rows.summary["simulated_time_ns"] - LAUNCH) / 40
    assert each == pytest.approx(packets + least(spec), rel=0.01)
    two = run(changed(spec, ("devices.gpu.streams", 2)))
    assert (two.summary["simulated_time_ns"] - LAUNCH) / 40 == pytest.approx(packets, rel=0.01)


def shared(arbitration: Spec | None, direction: str) -> Spec:
    """Two GPUs behind a switch, which has one link of PCIe to the host."""
    work = {"direction": direction, "size": "4MiB", "requests": 4}
    spec = of_pcie(work, 4, {**FREE, "tags": 512, "posted": 1024, "queue": 2})
    spec["devices"]["sw"] = {"kind": "switch"}
    if arbitration:
        spec["devices"]["sw"] |= {"queueing": "voq", "arbitration": arbitration}
    spec["devices"]["gpu2"] = dict(spec["devices"]["gpu"])
    spec["workload"]["gpu2"] = dict(spec["workload"]["gpu"])
    link = spec["links"][0]
    spec["links"] = [{**link, "between": [end, "sw"]} for end in ("host", "gpu", "gpu2")]
    return spec


@pytest.mark.parametrize("direction", ["in", "out"])
def test_two_copies_share_a_link_of_pcie(direction: str) -> None:
    outcome = run(shared(None, direction))
    one = raw(4) * (1 - SHARE) * 256 / (256 + FRAMED[direction])
    assert outcome.bandwidth == pytest.approx(one, rel=0.02)
    each = outcome.summary["per_requester"]
    assert each["gpu"]["bandwidth_gb_per_s"] == pytest.approx(each["gpu2"]["bandwidth_gb_per_s"], rel=0.02)


def test_two_copies_share_a_link_of_pcie_by_weight() -> None:
    weighted = {"kind": "weighted", "weights": {"gpu": 3}}
    outcome = run(shared(weighted, "out"))
    each = outcome.summary["per_requester"]
    ratio = each["gpu"]["bandwidth_gb_per_s"] / each["gpu2"]["bandwidth_gb_per_s"]
    assert ratio == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize("direction", ["in", "out", "both"])
@pytest.mark.parametrize("payload", [128, 512])
def test_no_bound_is_below_what_passes(direction: str, payload: int) -> None:
    sizes = {"max_payload": f"{payload}B", "completion": f"{payload}B"}
    spec = of_pcie(
        {"direction": direction, "size": "1MiB"}, 4, {**sizes, "posted": 1024, "launch_time": "0ns"}
    )
    system = cx.System.from_yaml(json.dumps(spec))
    summary = cx.run(system).summary
    throughput = summary["bandwidth_gb_per_s"]
    resources = all_resources(system.resolve().plain(), summary)
    wires = {each.name: each.bound(throughput) for each in resources if each.kind == "the wire"}
    assert wires["the wire gpu->host" if direction == "out" else "the wire host->gpu"] is not None
    assert all(bound is None or bound >= 0.999 * throughput for bound in wires.values())


@pytest.mark.parametrize("direction", ["in", "out", "both"])
def test_few_credits_slow_a_copy_and_stop_none(direction: str) -> None:
    spec = of_pcie({"direction": direction, "size": "256KiB"}, 4, {"streams": 2, "posted": 1024})
    free = run(spec)
    few = run(changed(spec, ("links.0.credits", {"IO": 2})))
    assert few.summary["completed"]
    assert few.bandwidth < 0.9 * free.bandwidth


BESIDE: dict[str, Any] = {
    "errors": {"bit_error_rate": 1e-9},
    "ide": {"mode": "skid"},
    "outage": {"at": "1us"},
    "degraded": {"at": "1us", "phy": "pcie4-x8"},
    "sync_header_bypass": True,
}


@pytest.mark.parametrize("key", BESIDE)
def test_what_only_flits_have_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="with flits"):
        run(of_pcie({"size": "64KiB"}, 4, None, **{key: BESIDE[key]}))
