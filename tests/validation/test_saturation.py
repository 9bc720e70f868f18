"""Saturated bandwidth of every topology: P / (largest channel load of the routes in use).

Reads only and no headers: only read data take time on the wires, each of which moves P in each direction.
"""

from __future__ import annotations

import pytest
from validation.examples import some
from validation.graph import response_loads
from validation.systems import FREE, LINE, Run, Spec, generated, run

P = 16.0  # GB/s: a line every 4 ns
N = 8  # requesters, and memories: the paper's scale 16
# Requests in flight of each requester: deep enough to keep the bottleneck busy all the time. Much deeper queues only
# take longer to settle where several channels are nearly as loaded as the worst one.
QUEUE = 300
LINK = {**FREE, "bandwidth": f"{P:g}GB/s"}

# (kind, its own parameters, the paper's figure in units of P or None), ESF V-A.
SPLIT = [
    ("chain", {"switches": 2 * N}, 1.0),
    ("tree", {"leaves": 2 * N}, 1.0),
    ("ring", {"switches": 2 * N}, 2.0),
    ("spine-leaf", {"leaves": 4, "spines": 2, "devices_per_leaf": 4}, N / 2),
    ("fully-connected", {"switches": 2 * N}, float(N)),
    ("mesh", {"size": [4, 4]}, None),
    ("torus", {"size": [4, 4]}, None),
    ("hypercube", {"dimensions": 4}, None),
    ("fat-tree", {"ports": 4, "levels": 3}, float(N)),
    ("dragonfly", {"switches_per_group": 2, "global_links": 1, "devices_per_switch": 4, "groups": 2}, None),
]
PAIRED = [
    ("chain", {"switches": N}, 4.0),
    ("tree", {"leaves": N}, 4.0),
    ("ring", {"switches": N}, None),  # its ties need a draw: see test_ties_spread_by_a_draw
    ("spine-leaf", {"leaves": 4, "spines": 2, "devices_per_leaf": 4}, float(N)),
    ("fully-connected", {"switches": N}, float(N)),
    ("mesh", {"size": [2, 4]}, None),
    ("torus", {"size": [2, 4]}, None),
    ("hypercube", {"dimensions": 3}, None),
    ("fat-tree", {"ports": 4, "levels": 3}, float(N)),
    ("dragonfly", {"switches_per_group": 2, "global_links": 1, "devices_per_switch": 4, "groups": 2}, None),
]
CASES = [
    pytest.param(kind, {**params, "placement": placement}, paper, id=f"{kind}-{placement}")
    for placement, shapes in (("split", SPLIT), ("paired", PAIRED))
    for kind, params, paper in shapes
]


def system(kind: str, params: Spec, requests: int) -> Spec:
    """N requesters and N memories in the given shape, all of its links alike."""
    spec = generated(
        kind,
        work={"footprint": "64MiB", "requests": requests},
        run_params={"warmup": 8000},
        requester={"kind": "host", "queue": QUEUE},
        link=LINK,
        edge_link=LINK,
        **params,
    )
    assert len(spec["workload"]) == len(spec["address_map"][0]["to"]) == N
    return spec


def shares_of(outcome: Run) -> dict[str, float]:
    """The part of all requests that each requester had."""
    return {
        name: m["requests"] / outcome.summary["requests"]
        for name, m in outcome.summary["per_requester"].items()
    }


@pytest.mark.parametrize(("kind", "params", "paper"), some(CASES))
def test_saturated_bandwidth(kind: str, params: Spec, paper: float | None) -> None:
    spec = system(kind, params, requests=16_000)
    outcome = run(spec)
    # Where requesters load the bottleneck unequally the others run ahead, so their shares are those measured.
    limit = 1.0 / max(response_loads(spec, shares_of(outcome)).values())
    assert outcome.bandwidth / P == pytest.approx(limit, rel=0.03)
    assert max(way["utilization"] for way in outcome.directions().values()) == pytest.approx(1.0, abs=0.03)
    equal = 1.0 / max(response_loads(spec).values())
    assert outcome.bandwidth / P > equal * 0.97
    if paper is not None:
        assert equal == pytest.approx(paper, rel=1e-9)
        assert outcome.bandwidth / P == pytest.approx(paper, rel=0.03)


@pytest.mark.parametrize(("kind", "params", "paper"), CASES)
def test_channel_loads_below_saturation(kind: str, params: Spec, paper: float | None) -> None:
    # Open loop at 0.7 of saturation: every channel, not only the worst one, is as busy as its load says.
    spec = system(kind, params, requests=4000)
    limit = P / max(response_loads(spec).values())
    for work in spec["workload"].values():
        work["rate"] = f"{0.7 * limit / LINE / N * 1e9:.0f}/s"
        work["arrivals"] = "poisson"
    spec["run"]["warmup"] = 500
    outcome = run(spec)
    loads = response_loads(spec, shares_of(outcome))
    assert outcome.bandwidth == pytest.approx(0.7 * limit, rel=0.05)
    for link in outcome.links:
        a, b = link.split("->")
        measured = outcome.directions()[link]
        expected = loads.get((a, b), 0.0) * outcome.bandwidth / P
        # Destinations are drawn: five standard deviations of how many answers took this channel.
        noise = 5.0 / max(loads.get((a, b), 0.0) * outcome.summary["requests"], 1) ** 0.5
        assert measured["utilization"] == pytest.approx(expected, rel=noise, abs=1e-3), link


@pytest.mark.parametrize(
    ("kind", "params", "paper"),
    [("ring", {"switches": N, "placement": "paired"}, 8.0), ("ring", {"switches": 2 * N, "placement": "split"}, 2.0),
     ("fat-tree", {"ports": 4, "levels": 3, "placement": "split"}, float(N)),
     ("fat-tree", {"ports": 4, "levels": 3, "placement": "paired"}, float(N)),
     ("mesh", {"size": [4, 4], "placement": "split"}, None), ("torus", {"size": [4, 4], "placement": "split"}, None)],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_ties_spread_by_a_draw(kind: str, params: Spec, paper: float | None) -> None:
    spec = system(kind, params, requests=13_000)
    spec["run"]["routing"] = "random"
    outcome = run(spec)
    limit = 1.0 / max(response_loads(spec, shares_of(outcome), random=True).values())
    assert outcome.bandwidth / P == pytest.approx(limit, rel=0.03)
    if paper is not None:
        assert outcome.bandwidth / P == pytest.approx(paper, rel=0.03)


LARGE = [
    ("chain", {"switches": 64, "placement": "split"}, 1.0),
    ("tree", {"leaves": 64, "placement": "split"}, 1.0),
    ("ring", {"switches": 64, "placement": "split"}, 2.0),
    ("spine-leaf", {"leaves": 8, "spines": 4, "devices_per_leaf": 8, "placement": "split"}, 16.0),
    ("fully-connected", {"switches": 64, "placement": "split"}, 32.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "params", "paper"), LARGE, ids=[kind for kind, _, _ in LARGE])
def test_saturated_bandwidth_at_scale_64(kind: str, params: Spec, paper: float) -> None:
    spec = generated(
        kind,
        work={"footprint": "64MiB", "requests": 40_000},
        run_params={"warmup": 10_000},
        requester={"kind": "host", "queue": QUEUE},
        link=LINK,
        edge_link=LINK,
        **params,
    )
    assert 1.0 / max(response_loads(spec).values()) == pytest.approx(paper, rel=1e-9)
    outcome = run(spec)
    assert outcome.bandwidth / P == pytest.approx(paper, rel=0.03)
