"""What several parts of a divided system change is the same, to the byte, however the work is divided."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import Spec
from validation.test_divided import assert_same, both, flit_links, play


def test_recorders_write_in_the_order_of_the_whole_run() -> None:
    """Commands of DRAM are decided in events of several parts; windows of a mix are cut between any two instants."""
    spec = flit_links()
    for name, preset in (("m0", "DDR4-3200"), ("m1", "DDR5-4800")):
        spec["devices"][name]["media"] = {"kind": "dram", "preset": preset}
    spec["outputs"] = {"commands": True, "mix_windows": 20}
    whole, divided = both(spec)
    assert divided["side_by_side"] > 10
    assert_same(whole, divided)
    memories = np.array(whole["commands"]["memory"])
    assert (memories[1:] != memories[:-1]).sum() > 1000
    assert whole["summary"]["mix_windows"]["windows"] > 100


@st.composite
def shared_persistent_systems(draw: st.DrawFn) -> Spec:
    """Hosts that write and read the same lines of persistent memory, and perhaps one with a cache and its own."""
    devices: Spec = {"mem": {"kind": "memory", "media": {"kind": "fixed", "write_latency": "300ns"}}}
    devices["hub"] = {"kind": "switch"}
    if draw(st.integers(0, 3)) > 0:
        policy = draw(st.sampled_from(["drain", "forward"]))
        devices["hub"]["persist_buffer"] = {"entries": draw(st.integers(1, 8)), "policy": policy}
    links: list[Spec] = [{"between": ["mem", "hub"], "delay": "3ns"}]
    delay = st.builds("{}ns".format, st.integers(2, 99))
    for i in range(draw(st.integers(2, 3))):
        host: Spec = {"kind": "host", "queue": draw(st.integers(1, 8))}
        if i == 0 and draw(st.booleans()):
            host["cache"] = {"size": "1KiB", "ways": 2, "access_time": "2ns"}
        devices |= {f"h{i}": host, f"s{i}": {"kind": "switch"}}
        links.append({"between": [f"h{i}", f"s{i}"], "delay": draw(delay), "bandwidth": "16GB/s"})
        links.append({"between": [f"s{i}", "hub"], "delay": draw(delay), "bandwidth": "16GB/s"})
    work = {"pattern": "random", "footprint": draw(st.sampled_from(["256B", "4KiB"])), "requests": 1500}
    work |= {"reads": draw(st.sampled_from([0.3, 0.7])), "persists": draw(st.sampled_from([0.3, 1.0]))}
    return {
        "devices": devices,
        "links": links,
        "address_map": [{"to": ["mem"], "persistence": "media"}],
        "workload": {
            name: work | ({"base": "1MiB"} if "cache" in host else {})
            for name, host in devices.items()
            if host["kind"] == "host"
        },
        "run": {"warmup": 40, "seed": draw(st.integers(1, 99))},
        "outputs": {"versions": True},
    }


@settings(max_examples=examples(20))
@given(shared_persistent_systems(), st.integers(1, 3))
def test_versions_are_those_of_the_whole_run(spec: Spec, threads: int) -> None:
    """Told in another order than that of the whole run, reads would be found to be stale, and updates lost."""
    whole, divided = play(spec, divided=False), play(spec, divided=True, threads=threads)
    assert divided["side_by_side"] > 10
    assert_same(whole, divided)
    assert whole["summary"]["versions"] == {"stale_reads": 0, "lost_updates": 0, "unreachable_lines": 0}
    assert divided["versions"]["settled"] > 0
