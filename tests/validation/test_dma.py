"""Copies of a GPU by DMA, in closed form: docs/model/dma.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.systems import Run, Spec, changed, run

from cxloom.base.errors import InputError

HEADER = 24  # bytes of a packet besides its payload: 16 B of header, token, link CRC
WIRE = {4: 28.425, 5: 56.85}  # GB/s of x16 without what the link layer takes: pcie-model
LAUNCH = 5800.0  # ns
MEMORY = 300.0  # ns of the GPU's memory


def machine(work: dict[str, Any], wire: float = WIRE[4], **gpu: Any) -> Spec:
    """A host with memory of its own, and a GPU on a link of PCIe."""
    return {
        "devices": {
            "host": {
                "kind": "host",
                "memory": {"capacity": "4GiB", "media": {"kind": "fixed", "latency": "80ns"}},
            },
            "gpu": {"kind": "gpu", **gpu},
        },
        "links": [
            {
                "between": ["host", "gpu"],
                "bandwidth": f"{wire}GB/s",
                "header": f"{HEADER}B",
                "data_header": f"{HEADER}B",
                "port_delay": "100ns",
            }
        ],
        "address_map": [{"to": ["host"]}],
        "workload": {"gpu": {"pattern": "transfer", "footprint": "1GiB", "requests": 4, **work}},
    }


def behind(spec: Spec, peer_to_peer: bool) -> Spec:
    """The same copies, of CXL memory behind the host's root port, or behind a switch with the GPU."""
    wide = {"bandwidth": "200GB/s", "port_delay": "25ns"}
    spec = changed(spec, ("devices.cxl", {"kind": "memory", "capacity": "4GiB"}))
    spec["address_map"] = [{"to": ["cxl"]}]
    if not peer_to_peer:
        spec["links"].append({"between": ["host", "cxl"], **wide})
        return spec
    spec["devices"]["sw"] = {"kind": "switch"}
    spec["devices"]["gpu"]["peer_to_peer"] = True
    spec["links"] = [{**spec["links"][0], "between": ["sw", "gpu"]}]
    spec["links"] += [{"between": [end, "sw"], **wide} for end in ("host", "cxl")]
    return spec


def copy_time(outcome: Run, name: str = "gpu") -> float:
    """Mean time of a copy, in ns."""
    return float(outcome.summary["per_requester"][name]["large_access_ns"])


def least(spec: Spec) -> float:
    """Latency of a request that meets nobody, in ns."""
    alone = changed(spec, ("workload.gpu.size", "256B"), ("workload.gpu.requests", 1))
    return float(run(alone).summary["latency_ns"]["mean"])


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("generation", [4, 5])
@pytest.mark.parametrize("place", ["host", "behind the host", "peer"])
def test_a_copy_alone_takes_its_launch_and_its_packets(generation: int, direction: str, place: str) -> None:
    size = 1 << 20
    spec = machine({"direction": direction, "size": f"{size}B"}, WIRE[generation], posted=1024)
    if place != "host":
        spec = behind(spec, place == "peer")
    packets = size / 256 * (256 + HEADER) / WIRE[generation]
    outcome = run(spec)
    assert copy_time(outcome) == pytest.approx(LAUNCH + packets + least(spec), rel=0.01)
    assert outcome.bandwidth == pytest.approx(size / copy_time(outcome), rel=0.01)


@pytest.mark.parametrize(("payload", "carried"), [(128, 23.94), (256, 25.99), (512, 27.15)])
def test_headers_leave_so_much_of_the_wire(payload: int, carried: float) -> None:
    # 28.425 GB/s x m / (m + 24).
    work = {"direction": "out", "size": "4MiB", "requests": 4}
    spec = machine(work, launch_time="0ns", queue=4, max_payload=f"{payload}B", posted=1024)
    assert run(spec).bandwidth == pytest.approx(carried, rel=0.01)


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize(
    ("generation", "raw", "flit", "framing"), [(4, 31.508, 64 / 68, 8), (6, 128.0, 236 / 256, 0)]
)
def test_packets_have_the_headers_of_pcie_in_flits(
    generation: int, raw: float, flit: float, framing: int, direction: str
) -> None:
    # 16 B of header of a write and 12 B of a completion; up to generation 5 also 4 B of token and 4 B of link CRC. So
    # much of the 28.425 GB/s of a link without flits would be 25.99 GB/s of writes and 26.37 of reads.
    work = {"direction": direction, "size": "16MiB", "requests": 1}
    spec = machine(work, launch_time="0ns", posted=4096, tags=4096, lines_at_completer=8192)
    spec["links"] = [{"between": ["host", "gpu"], "phy": f"pcie{generation}-x16", "port_delay": "100ns"}]
    header = framing + (12 if direction == "in" else 16)
    assert run(spec).bandwidth == pytest.approx(raw * flit * 256 / (256 + header), rel=0.01)


def test_half_of_the_bandwidth_is_reached_where_the_launch_takes_as_long_as_the_bytes() -> None:
    # Copies of (t0 + L) x B bytes: 130 to 182 kB at 26 GB/s and 5 to 7 us of a launch and of a request.
    for t0, size in ((5000, 130_000), (7000, 182_000)):
        spec = machine({"direction": "out", "size": f"{size}B"}, posted=1024)
        spec["devices"]["gpu"]["launch_time"] = f"{t0 - least(spec):.0f}ns"
        assert run(spec).bandwidth == pytest.approx(13.0, rel=0.01)


@pytest.mark.parametrize("tags", [1, 4, 16])
@pytest.mark.parametrize("size", [128, 512])
def test_tags_and_the_round_trip_bound_reads(tags: int, size: int) -> None:
    work = {"direction": "in", "size": "1MiB", "requests": 2}
    spec = machine(work, 1000.0, tags=tags, max_read_request=f"{size}B", launch_time="0ns")
    outcome = run(spec)
    # Its tag is free when the data are there; that they go to the GPU's memory takes longer.
    held = outcome.summary["latency_ns"]["mean"] - MEMORY
    assert outcome.bandwidth == pytest.approx(tags * size / held, rel=0.02)


@pytest.mark.parametrize("posted", [1, 8])
def test_credits_and_the_way_bound_writes(posted: int) -> None:
    work = {"direction": "out", "size": "256KiB", "requests": 2}
    outcome = run(machine(work, 1000.0, posted=posted, launch_time="0ns"))
    media = float(outcome.summary["breakdown_ns"]["media"])
    assert media > 0
    assert outcome.bandwidth == pytest.approx(posted * 256 / outcome.summary["latency_ns"]["mean"], rel=0.02)


@pytest.mark.parametrize("direction", ["in", "out", "both"])
@pytest.mark.parametrize("hbm", ["5GB/s", "unlimited"])
def test_tags_and_posted_writes_are_in_use_as_long_as_requests_hold_them(direction: str, hbm: str) -> None:
    work = {"direction": direction, "size": "256KiB", "requests": 8}
    spec = machine(work, streams=2, launch_time="0ns", hbm={"bandwidth": hbm, "latency": "0ns"})
    spec["outputs"] = {"requests": True}
    outcome = run(spec)
    used, rows = outcome.summary["per_requester"]["gpu"], outcome.requests
    held = (rows["completed_ps"] - rows["created_ps"]) / 1000 / outcome.summary["simulated_time_ns"]
    writes = rows["kind"] == 1
    assert used["posted_mean"] == pytest.approx(float(held[writes].sum()), abs=1e-6)
    assert used["posted_mean"] <= 127
    assert used["tags_mean"] <= 256
    if hbm == "unlimited":
        assert used["tags_mean"] == pytest.approx(float(held[~writes].sum()), abs=1e-6)
    elif direction == "in":  # what waits for the GPU's own memory has no tag
        assert used["tags_mean"] < used["in_flight_mean"] / 2


@pytest.mark.parametrize("direction", ["in", "out"])
def test_streams_share_the_engine_in_turns(direction: str) -> None:
    spec = machine({"direction": direction, "size": "512KiB", "requests": 8}, streams=2, tags=32, posted=32)
    spec["outputs"] = {"requests": True}
    rows = run(spec).requests
    begun = np.argsort(rows["created_ps"], kind="stable")
    streams = rows["thread"][begun]
    # While both have requests to make: of any 64 in a row half are of each, and no stream waits for three others.
    middle = streams[len(streams) // 8 : len(streams) // 2]
    assert abs(float(middle.mean()) - 0.5) < 0.02


def test_two_gpus_share_the_memory_of_a_host() -> None:
    work = {"direction": "in", "size": "1MiB", "requests": 4}
    spec = machine(work, 100.0, tags=1024, launch_time="0ns")
    memory = {"kind": "memory", "capacity": "4GiB", "media": {"kind": "fixed", "latency": "80ns"}}
    spec["devices"]["mem"] = memory
    spec["devices"]["host"].pop("memory")
    spec["address_map"] = [{"to": ["mem"]}]
    spec["links"].append({"between": ["host", "mem"], "bandwidth": "20GB/s"})
    alone = run(spec).bandwidth
    assert alone == pytest.approx(20 * 64 / 80, rel=0.02)
    both = changed(spec, ("devices.gpu2", spec["devices"]["gpu"]), ("workload.gpu2", spec["workload"]["gpu"]))
    both["links"].append({**both["links"][0], "between": ["host", "gpu2"]})
    each = run(both).summary["per_requester"]
    for name in ("gpu", "gpu2"):
        assert each[name]["bandwidth_gb_per_s"] == pytest.approx(alone / 2, rel=0.03)


def test_every_line_is_of_the_memory_that_the_map_names() -> None:
    spec = machine({"direction": "both", "size": "64KiB", "requests": 8})
    memory = {"kind": "memory", "capacity": "2GiB"}
    for name in ("a", "b"):
        spec["devices"][name] = dict(memory)
        spec["links"].append({"between": ["host", name]})
    spec["address_map"] = [{"to": ["a", "b"], "interleave": "256B"}]
    outcome = run(spec)
    for name in ("a", "b"):
        served = outcome.summary["per_memory"][name]
        assert served["reads"] == served["writes"] == 4 * 64 * 1024 // 64 // 2
    assert outcome.bandwidth == pytest.approx(
        sum(outcome.summary["per_memory"][name]["bandwidth_gb_per_s"] for name in ("a", "b"))
    )


def cached(coherence: str) -> Spec:
    """A host that writes lines which it caches, and a GPU that copies them."""
    spec = machine({"direction": "in", "size": "16KiB", "footprint": "16KiB", "requests": 8})
    spec["devices"]["host"] |= {"cache": {"size": "1MiB"}}
    spec["devices"]["host"]["queue"] = 4
    spec["devices"]["gpu"]["launch_time"] = "0ns"
    spec["workload"]["host"] = {"pattern": "random", "reads": 0.0, "footprint": "16KiB", "requests": 20_000}
    if coherence == "hdm-h":
        spec["devices"]["host"]["home_agent"] = {}
        spec["address_map"] = [{"to": ["host"], "coherence": "hdm-h"}]
    elif coherence == "hdm-db":
        spec["devices"]["cxl"] = {"kind": "memory", "capacity": "4GiB", "dcoh": {}}
        spec["links"].append({"between": ["host", "cxl"]})
        spec["address_map"] = [{"to": ["cxl"], "coherence": "hdm-db"}]
    return spec


@pytest.mark.parametrize("coherence", ["hdm-h", "hdm-db"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_caches_are_snooped_also_that_of_the_host_itself(coherence: str, direction: str) -> None:
    spec = changed(cached(coherence), ("workload.gpu.direction", direction))
    outcome = run(spec)
    (home,) = outcome.summary["per_home"].values()
    assert home["snoops_sent"] > 100
    if direction == "out":  # the host's copies are void
        assert home["lines_invalidated"] > 100
    without = changed(spec, ("workload.host", ...), ("devices.host.cache", ...))
    (home,) = run(without).summary["per_home"].values()
    assert home["snoops_sent"] == 0


def test_memory_that_nobody_keeps_coherent_is_refused_beside_caches() -> None:
    with pytest.raises(InputError, match="nobody keeps coherent"):
        run(cached("none"))


def probed(direction: str, engines: int, lines: int) -> Spec:
    """A host that reads line after line of a memory, on a link that copies of GPUs saturate."""
    work = {"direction": direction, "size": "1MiB", "requests": 4}
    gpu = {"queue": 2, "lines_at_completer": lines, "launch_time": "0ns", "posted": 1024}
    spec = behind(machine(work, **gpu), False)
    spec["links"][1] |= {"bandwidth": "16GB/s"}
    for number in range(1, engines):
        spec["devices"][f"gpu{number}"] = spec["devices"]["gpu"]
        spec["workload"][f"gpu{number}"] = spec["workload"]["gpu"]
        spec["links"].append({**spec["links"][0], "between": ["host", f"gpu{number}"]})
    spec["workload"]["host"] = {"pattern": "pointer-chase", "footprint": "1GiB", "requests": 60}
    return spec


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize(("engines", "lines"), [(1, 64), (1, 512), (2, 256)])
def test_a_probe_waits_for_the_lines_that_engines_have_under_way(
    direction: str, engines: int, lines: int
) -> None:
    # 80 B of a line with its header at 16 GB/s, so many of each engine.
    spec = probed(direction, engines, lines)
    gpus = {name: ... for name in spec["workload"] if name != "host"}
    alone = run(changed(spec, *((f"workload.{name}", ...) for name in gpus))).summary["latency_ns"]["max"]
    probe = run(spec).summary["per_requester"]["host"]["latency_ns"]
    bound = engines * lines * 80 / 16
    assert probe["max"] <= alone + bound + 5
    assert probe["p50"] > 0.8 * bound  # the link is saturated: it does wait


def test_what_cannot_be_is_refused() -> None:
    base = machine({"size": "64KiB"})
    bad = {
        "devices.gpu.host": ("nobody", "completes no DMA"),
        "devices.gpu.peer_to_peer": (True, "by a host"),
        "devices.gpu.max_payload": ("192B", "power of two"),
        "devices.gpu.max_read_request": ("64B", "128B"),
        "devices.gpu.hbm": ({"capacity": "4KiB"}, "larger than the memory"),
        "workload.gpu.base": ("0x200000000", "address map"),
    }
    for path, (value, words) in bad.items():
        with pytest.raises(InputError, match=words):
            run(changed(base, (path, value)))


def test_a_copy_of_lines_that_memory_does_not_give_ends_with_errors() -> None:
    # Nobody has an extent of it, so that each line is answered without data, and each copy ends at its first request.
    for direction in ("in", "out"):
        spec = behind(machine({"direction": direction, "size": "64KiB", "requests": 4}), False)
        spec["devices"]["cxl"]["dynamic_capacity"] = {}
        outcome = run(spec)
        assert outcome.summary["completed"]
        assert outcome.summary["errors"]["requests"] > 0
        assert outcome.summary["requests"] == 0
        assert outcome.bandwidth == 0
        copies = outcome.summary["per_requester"]["gpu"]
        assert (copies["copies_failed"], copies["large_accesses"]) == (4, 0)
        assert copies["large_access_ns"] is None


def test_no_mean_counts_copies_that_failed() -> None:
    # The first half of the memory belongs to the host, so that of blocks in order the second half fails, in less time.
    spec = behind(machine({"size": "64KiB", "footprint": "512KiB", "requests": 8}), False)
    whole = copy_time(run(spec))
    extent = {"base": "0B", "size": "256KiB", "host": "host"}
    spec["devices"]["cxl"] |= {"dynamic_capacity": {"extents": [extent]}}
    copies = run(spec).summary["per_requester"]["gpu"]
    assert (copies["copies_failed"], copies["large_accesses"]) == (4, 4)
    assert copies["large_access_ns"] == pytest.approx(whole, rel=1e-6)


def test_failures_beside_a_copy_are_refused() -> None:
    spec = behind(machine({"size": "64KiB"}), True)
    spec["events"] = [{"at": "1us", "fail": {"link": ["sw", "cxl"]}}]
    with pytest.raises(InputError, match="cannot lose a part of a copy"):
        run(spec)


def buffered(between_gpu_and_memory: bool) -> Spec:
    """Persistent memory behind a switch that keeps writes: the GPU's, or another on the way of the host alone."""
    spec = behind(machine({"size": "64KiB"}), True)
    keeps = {"entries": 16, "tag_time": "0.4ns", "data_time": "0.8ns", "policy": "forward"}
    spec["devices"]["host"].pop("memory")
    spec["devices"]["cxl"] |= {"media": {"kind": "nvm", "write_buffer": 0}}
    spec["address_map"] = [{"to": ["cxl"], "persistence": "media"}]
    spec["workload"]["host"] = {"pattern": "random", "persists": "50%", "epoch": 4, "requests": 100}
    if between_gpu_and_memory:
        spec["devices"]["sw"]["persist_buffer"] = keeps
    else:
        spec["devices"]["keeper"] = {"kind": "switch", "persist_buffer": keeps}
        spec["links"][1]["between"] = ["host", "keeper"]
        spec["links"].append({"between": ["keeper", "sw"]})
    return spec


@pytest.mark.parametrize("between_gpu_and_memory", [True, False])
def test_peer_to_peer_past_a_persist_buffer_is_refused(between_gpu_and_memory: bool) -> None:
    spec = buffered(between_gpu_and_memory)
    with pytest.raises(InputError, match=r"gpu\.peer_to_peer: .* around a persist buffer") as refused:
        run(spec)
    assert "through the host: peer_to_peer: false" in str(refused.value)
    assert run(changed(spec, ("devices.gpu.peer_to_peer", False))).summary["completed"]


def test_peer_to_peer_past_virtual_switches_is_refused() -> None:
    spec = behind(machine({"size": "64KiB"}), True)
    spec["devices"]["sw"]["vcs"] = [{"upstream": "host", "vppbs": 2, "bind": ["cxl"]}]
    with pytest.raises(InputError, match=r"gpu\.peer_to_peer: .* no bindings of virtual switches"):
        run(spec)
    assert run(changed(spec, ("devices.gpu.peer_to_peer", False))).bandwidth > 0


def test_peer_to_peer_of_logical_devices_is_refused() -> None:
    spec = behind(machine({"size": "64KiB"}), True)
    spec["devices"]["cxl"] = {"kind": "memory", "logical_devices": [{"capacity": "2GiB"}] * 2}
    spec["address_map"] = [{"to": ["cxl"], "ld": ld} for ld in (0, 1)]
    with pytest.raises(InputError, match=r"gpu\.peer_to_peer: .* logical devices"):
        run(spec)
    assert run(changed(spec, ("devices.gpu.peer_to_peer", False))).bandwidth > 0


WAITING: dict[str, dict[str, Any]] = {
    "a dependence": {"pattern": "pointer-chase"},
    "a fence": {"pattern": "random", "fence_every": 2},
}


@pytest.mark.parametrize("words", WAITING)
@pytest.mark.parametrize("several", ["streams", "queue"])
def test_copies_that_wait_for_others_are_refused_but_one_at_a_time(words: str, several: str) -> None:
    spec = machine({})
    spec["workload"]["gpu"] = {**WAITING[words], "requests": 8, "footprint": "1MiB"}
    assert run(spec).summary["per_requester"]["gpu"]["large_accesses"] == 8
    with pytest.raises(InputError, match=f"wait for no others, found {words}"):
        run(changed(spec, (f"devices.gpu.{several}", 2)))
