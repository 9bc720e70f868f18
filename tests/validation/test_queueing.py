"""Queues against queueing theory: M/D/1, Little's law, limits by credits, banks and slots."""

from __future__ import annotations

import pytest
from validation.systems import FREE, Spec, changed, generated, host_and_memory, host_bus_memories, run

# A write's 80 bytes at 8 GB/s: one server with a service time of 10 ns.
SERVICE = 10.0
ONE_WIRE = {"bandwidth": "8GB/s", "reverse": {"bandwidth": "unlimited"}}


def wait_md1(rho: float, service: float = SERVICE) -> float:
    """Mean wait of M/D/1 (Pollaczek and Khinchine): rho / (2 mu (1 - rho))."""
    return rho * service / (2 * (1 - rho))


def open_loop(spec: Spec, rho: float, service: float = SERVICE, requests: int = 400_000) -> Spec:
    """The same system with Poisson arrivals at its host, which keep a server of `service` ns busy for `rho`."""
    return changed(
        spec,
        ("devices.host.queue", 1 << 20),
        ("workload.host.requests", requests),
        ("workload.host.rate", f"{round(rho / service * 1e9)}/s"),
        ("workload.host.arrivals", "poisson"),
        ("run.warmup", 20_000),
    )


@pytest.mark.parametrize("rho", [0.2, 0.4, 0.6, 0.8])
def test_link_is_md1(rho: float) -> None:
    outcome = run(open_loop(host_and_memory(ONE_WIRE, work={"reads": 0.0}), rho))
    assert outcome.segment("link_queue") == pytest.approx(wait_md1(rho), rel=0.03)
    wire = outcome.directions()["host->mem"]
    assert wire["utilization"] == pytest.approx(rho, rel=0.01)
    # Little's law of the queue alone: waiting messages = arrival rate x wait.
    assert wire["queue_mean"] == pytest.approx(rho / SERVICE * outcome.segment("link_queue"), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.9, 0.95])
def test_a_heavily_loaded_link_is_md1(rho: float) -> None:
    outcome = run(open_loop(host_and_memory(ONE_WIRE, work={"reads": 0.0}), rho, requests=10_000_000))
    assert outcome.segment("link_queue") == pytest.approx(wait_md1(rho), rel=0.03)


@pytest.mark.parametrize("credits", [None, 1000])
def test_link_with_flow_control_is_md1_too(credits: int | None) -> None:
    spec = host_and_memory({"bandwidth": "8GB/s", "reverse": {"bandwidth": "64GB/s"}}, work={"reads": 0.0})
    if credits:
        spec["links"][0]["credits"] = credits
    outcome = run(open_loop(spec, 0.6))
    assert outcome.segment("link_queue") == pytest.approx(wait_md1(0.6), rel=0.03)


@pytest.mark.parametrize("duplex", ["full", "half"])
def test_bus_is_md1(duplex: str) -> None:
    # Written data go downstream, 80 B each; completions without a header take no time in either case. On a shared
    # medium their turn comes with the end of the message that they find on it: half of one, with the probability that
    # there is one. The media are slow enough that a completion comes when its request's busy period is long over.
    bus = {"bandwidth": "8GB/s", "header": "0B", "duplex": duplex}
    spec = host_bus_memories(bus, work={"reads": 0.0})
    for name in spec["address_map"][0]["to"]:
        spec["devices"][name]["media"] = {"kind": "fixed", "latency": "5us"}
    outcome = run(open_loop(spec, 0.7))
    of_completion = 0.0 if duplex == "full" else 0.7 * (80 / 8) / 2
    assert outcome.segment("bus_queue") == pytest.approx(wait_md1(0.7) + of_completion, rel=0.03)


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
def test_output_of_a_switch_is_md1(queueing: str) -> None:
    spec = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch", "queueing": queueing},
            "mem": {"kind": "memory"},
        },
        "links": [
            {"between": ["host", "sw"], **FREE},
            {"between": ["sw", "mem"], **ONE_WIRE, "header": "0B"},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "reads": 0.0}},
    }
    outcome = run(open_loop(spec, 0.7))
    assert outcome.segment("switch_queue") == pytest.approx(wait_md1(0.7), rel=0.03)


def test_data_path_of_the_media_is_md1() -> None:
    memory = {"media": {"kind": "fixed", "latency": "45ns", "bandwidth": "6.4GB/s"}}
    outcome = run(open_loop(host_and_memory(memory=memory), 0.7))
    assert outcome.segment("media_queue") == pytest.approx(wait_md1(0.7), rel=0.03)


def test_one_bank_is_md1() -> None:
    memory = {"media": {"kind": "fixed", "latency": "10ns", "banks": 1}}
    outcome = run(open_loop(host_and_memory(memory=memory), 0.7))
    assert outcome.segment("media_queue") == pytest.approx(wait_md1(0.7), rel=0.03)


def test_each_of_many_banks_is_md1() -> None:
    # Random addresses split a Poisson stream into Poisson streams, one for each bank.
    memory = {"media": {"kind": "fixed", "latency": "40ns", "banks": 4}}
    outcome = run(open_loop(host_and_memory(memory=memory), 0.7))
    assert outcome.segment("media_queue") == pytest.approx(wait_md1(0.7, 40.0), rel=0.03)


@pytest.mark.parametrize(("rate", "arrivals"), [("60M/s", "fixed"), ("99M/s", "fixed")])
def test_even_arrivals_below_capacity_never_wait(rate: str, arrivals: str) -> None:
    work = {"reads": 0.0, "rate": rate, "arrivals": arrivals, "requests": 10_000}
    outcome = run(host_and_memory(ONE_WIRE, work=work, host={"queue": 1000}))
    assert outcome.segment("link_queue") == 0.0
    assert outcome.summary["latency_ns"]["min"] == outcome.summary["latency_ns"]["max"]


@pytest.mark.parametrize("credits", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_credits_limit_throughput(credits: int, reads: float) -> None:
    # A credit is away from the start of a message until its last byte has arrived (the memory takes it out at once) and
    # the credit has flown back: serialisation + flight there + flight back.
    link = {
        "bandwidth": "16GB/s",
        "credits": credits,
        "delay": "7ns",
        "port_delay": "5ns",
        "reverse": {"delay": "11ns"},
    }
    outcome = run(
        host_and_memory(link, host={"queue": 500}, work={"requests": 20_000, "reads": reads}, warmup=2000)
    )
    data, bare = 80 / 16.0, 16 / 16.0
    flights = 2 * 10.0 + 7.0 + 11.0
    loops = (data if reads == 0.0 else bare) + flights, (bare if reads == 0.0 else data) + flights
    limit = min(credits / max(loops), 1 / data)
    assert outcome.rate == pytest.approx(limit, rel=0.002)


@pytest.mark.parametrize(
    ("queueing", "forwarding", "wires"),
    [("output", "cut-through", 1), ("output", "store-and-forward", 1), ("voq", "cut-through", 1),
     ("voq", "store-and-forward", 2), ("fifo", "cut-through", 1), ("fifo", "store-and-forward", 2)],
)  # fmt: skip
@pytest.mark.parametrize("rate", [16.0, 1.0])
def test_credits_of_a_link_into_a_switch(queueing: str, forwarding: str, wires: int, rate: float) -> None:
    # A receive buffer is free when the last byte has been switched: in `voq` and `fifo` it has left then, which in
    # store and forward takes the next wire's time, too. At 1 GB/s the data take longer than all else in the loop.
    link = {"bandwidth": f"{rate:g}GB/s", "port_delay": "10ns"}
    spec = {
        "devices": {
            "host": {"kind": "host", "queue": 64},
            "sw": {
                "kind": "switch",
                "switching_time": "20ns",
                "queueing": queueing,
                "forwarding": forwarding,
            },
            "mem": {"kind": "memory"},
        },
        "links": [
            {"between": ["host", "sw"], **link, "credits": {"M2S RwD": 1}},
            {"between": ["sw", "mem"], **link},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "reads": 0.0, "requests": 400}},
        "run": {"warmup": 100},
    }
    loop = wires * 80 / rate + 20.0 + 2 * 20.0
    assert run(spec).rate == pytest.approx(1 / loop, rel=1e-6)


@pytest.mark.parametrize("banks", [1, 4, 16])
def test_banks_limit_throughput(banks: int) -> None:
    media = {"kind": "fixed", "latency": "48ns", "banks": banks, "bank_interleave": "64B"}
    work = {"pattern": "sequential", "requests": 20_000}
    outcome = run(host_and_memory(memory={"media": media}, host={"queue": 512}, work=work, warmup=2000))
    assert outcome.rate == pytest.approx(banks / 48.0, rel=0.002)


@pytest.mark.parametrize("slots", [1, 5, 32])
def test_slots_of_the_controller_limit_throughput(slots: int) -> None:
    memory = {"queue": slots, "controller_time": "40ns", "media": {"kind": "fixed", "latency": "45ns"}}
    outcome = run(host_and_memory(memory=memory, host={"queue": 512}, work={"requests": 20_000}, warmup=2000))
    assert outcome.rate == pytest.approx(slots / 85.0, rel=0.002)
    assert outcome.summary["per_memory"]["mem"]["queue_mean"] == pytest.approx(slots, rel=0.002)


def test_media_bandwidth_limits_throughput() -> None:
    memory = {"media": {"kind": "fixed", "latency": "45ns", "bandwidth": "12.8GB/s"}}
    outcome = run(host_and_memory(memory=memory, host={"queue": 512}, work={"requests": 20_000}, warmup=2000))
    assert outcome.bandwidth == pytest.approx(12.8, rel=0.002)


@pytest.mark.parametrize("queue", [1, 2, 7, 64])
def test_a_closed_loop_without_contention_gives_queue_over_latency(queue: int) -> None:
    outcome = run(host_and_memory(host={"queue": queue}, work={"requests": 20_000}, warmup=1000))
    assert outcome.latency == pytest.approx(95.0, rel=1e-12)
    assert outcome.rate == pytest.approx(queue / 95.0, rel=0.005)


def test_the_issue_interval_limits_throughput() -> None:
    outcome = run(host_and_memory(host={"issue_interval": "7ns"}, work={"requests": 20_000}, warmup=1000))
    assert outcome.rate == pytest.approx(1 / 7.0, rel=0.001)


LITTLE: dict[str, Spec] = {
    "link": host_and_memory({"bandwidth": "8GB/s"}, work={"reads": 0.6, "requests": 20_000}, warmup=2000),
    "open loop": open_loop(host_and_memory(ONE_WIRE, work={"reads": 0.0}), 0.8, requests=50_000),
    "half-duplex bus": host_bus_memories(
        {"bandwidth": "8GB/s", "duplex": "half", "turnaround": "2ns"},
        work={"reads": 0.6, "requests": 20_000},
        warmup=2000,
    ),
    "credits": host_and_memory(
        {"bandwidth": "8GB/s", "credits": 3}, work={"reads": 0.6, "requests": 20_000}, warmup=2000
    ),
    "banks": host_and_memory(
        memory={"queue": 40, "media": {"kind": "fixed", "latency": "60ns", "banks": 4}},
        work={"reads": 0.6, "requests": 20_000},
        warmup=2000,
    ),
    "cache": host_and_memory(
        {"bandwidth": "8GB/s"},
        host={"cache": {"size": "64KiB"}},
        work={"reads": 0.6, "requests": 40_000, "footprint": "128KiB"},
        warmup=4000,
    ),
    **{
        f"{kind} {queueing}": generated(
            kind,
            work={"reads": 0.6, "requests": 8000},
            run_params={"warmup": 1000},
            placement="paired",
            switch={"kind": "switch", "queueing": queueing},
            link={"bandwidth": "8GB/s"},
            edge_link={"bandwidth": "8GB/s"},
            **params,
        )
        for kind, params in [("chain", {"switches": 4}), ("torus", {"size": [3, 3]})]
        for queueing in ("output", "voq", "fifo")
    },
}


@pytest.mark.parametrize("name", LITTLE)
def test_littles_law(name: str) -> None:
    """Requests in flight = throughput x time from issue to answer: of every requester and every memory."""
    spec = changed(LITTLE[name], ("outputs.requests", True))
    outcome = run(spec)
    length = outcome.summary["simulated_time_ns"]
    table = outcome.requests
    in_flight_ns = (table["completed_ps"] - table["created_ps"] - table["requester_queue_ps"]) / 1000
    for requester, measures in outcome.summary["per_requester"].items():
        own = table["requester"] == outcome.nodes.index(requester)
        assert measures["in_flight_mean"] == pytest.approx(in_flight_ns[own].sum() / length, rel=0.01)
    inside_ns = (table["controller_ps"] + table["media_ps"] + table["media_queue_ps"]) / 1000
    for memory, measures in outcome.summary["per_memory"].items():
        own = table["target"] == outcome.nodes.index(memory)
        slots = spec["devices"][memory].get("queue")
        if slots:  # media_queue holds the wait for a slot as well, outside
            assert measures["queue_mean"] <= slots
        elif not outcome.summary["write_backs"]:
            assert measures["queue_mean"] == pytest.approx(inside_ns[own].sum() / length, rel=0.02)
