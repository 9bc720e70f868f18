"""Random small systems with several homes of coherent lines, and of several modes: one region of each kind."""

from __future__ import annotations

from hypothesis import strategies as st
from validation.coherent_systems import agents, caches
from validation.random_systems import keys, time
from validation.systems import Spec

REGION = 4096
"""Bytes of a region: few, so that requests go to all of them."""


@st.composite
def mixed_systems(draw: st.DrawFn) -> Spec:
    """Regions kept coherent by a host, by an accelerator's bias, by a memory, by an agent apart, in any order."""
    modes = draw(st.permutations(["hdm-h", "hdm-d", "hdm-db", "apart"]))[: draw(st.integers(2, 4))]
    alone = draw(st.integers(0, 2)) == 0
    capacity = {"capacity": f"{REGION}B"}

    def memory() -> Spec:
        media = {"kind": "fixed", **draw(keys(latency=time(0, 60), write_latency=time(0, 60)))}
        return {**capacity, "media": media}

    def requester(kind: str, cached: bool) -> Spec:
        params = draw(keys(process_time=time(0, 20), queue=st.integers(1, 16)))
        return {"kind": kind, **params, **({"cache": draw(caches())} if cached else {})}

    # An accelerator that keeps its memory coherent by bias knows one host that caches.
    devices: Spec = {
        "hub": {"kind": draw(st.sampled_from(["switch", "bus"]))},
        "root": requester("host", draw(st.integers(0, 3)) > 0),
        "acc": requester("accelerator", draw(st.integers(0, 3)) > 0),
        "other": requester("host", "hdm-d" not in modes),
    }
    regions: list[Spec] = []
    for mode in modes:
        if mode == "hdm-h":
            devices["root"] |= {"memory": memory(), "home_agent": draw(agents(blocks=False))}
            regions.append({"to": ["root"], "coherence": "hdm-h", "home": "root"})
        elif mode == "hdm-d":
            bias = draw(
                keys(
                    page=st.sampled_from(["64B", "256B", "4KiB"]),
                    initial=st.sampled_from(["host", "device"]),
                    flip_after=st.integers(0, 3),
                )
            )
            shared = draw(agents(blocks=False))
            shared.pop("transactions", None)
            devices["acc"]["memory"] = {**memory(), "bias": {**shared, **bias}}
            regions.append({"to": ["acc"], "coherence": "hdm-d"})
        else:
            own = mode == "hdm-db"
            name = "mem" if own else "far"
            devices[name] = {"kind": "memory", **memory(), **({"dcoh": draw(agents())} if own else {})}
            regions.append({"to": [name], "coherence": "hdm-db"})
            if not own:
                devices["home"] = {"kind": "dcoh", **draw(agents())}
                regions[-1]["home"] = "home"
    work = {}
    for name in ["root"] if alone else ["root", "acc", "other"]:
        work[name] = {
            "pattern": draw(st.sampled_from(["random", "zipf"])),
            "requests": draw(st.integers(20, 300)),
            "reads": draw(st.sampled_from([0.0, 0.5, 0.8])),
            "footprint": f"{REGION * len(regions)}B",
            "size": draw(st.sampled_from(["64B", "64B", "8B"])),
        }
    return {
        "devices": devices,
        "links": [{"between": [n, "hub"], "port_delay": draw(time(0, 30))} for n in devices if n != "hub"],
        "address_map": regions,
        "workload": work,
        "run": {"warmup": 0 if alone else draw(st.integers(0, 30)), "seed": draw(st.integers(1, 99))},
        "outputs": {"requests": True},
    }
