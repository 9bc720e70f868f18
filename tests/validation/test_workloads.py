"""Access patterns and the address map against their closed forms, as requests see them."""

from __future__ import annotations

import numpy as np
import pytest
from validation.systems import LINE, Run, Spec, host_and_memory, run

N = 40_000


def drawn(work: Spec, **run_params: object) -> tuple[np.ndarray, Run]:
    """The addresses of N accesses in the order of issue, in lines."""
    spec = host_and_memory(work={"requests": N, **work}, **run_params)
    spec["outputs"] = {"requests": True}
    outcome = run(spec)
    order = np.argsort(outcome.requests["id"])
    return outcome.requests["address"][order] // LINE, outcome


def test_sequential_goes_round() -> None:
    lines, _ = drawn({"pattern": "sequential", "footprint": "64KiB"})
    assert np.array_equal(lines, np.arange(N) % 1024)


def test_strided_touches_every_block_once_in_stride_over_size_passes() -> None:
    lines, _ = drawn({"pattern": "strided", "footprint": "1MiB", "stride": "4KiB"})
    blocks = 2**20 // LINE
    assert np.array_equal(np.sort(lines[:blocks]), np.arange(blocks))
    assert (np.diff(lines[:256]) == 64).all()


@pytest.mark.parametrize("kind", ["random", "pointer-chase"])
def test_random_is_uniform(kind: str) -> None:
    blocks = 16384
    lines, _ = drawn({"pattern": kind, "footprint": "1MiB"})
    # Distinct blocks after n draws from m: m (1 - (1 - 1/m)^n), with a standard deviation below sqrt(m) / 2.
    expected = blocks * (1 - (1 - 1 / blocks) ** N)
    assert len(np.unique(lines)) == pytest.approx(expected, abs=4 * blocks**0.5 / 2)
    # Chi-squared over 64 bins, 63 degrees of freedom: mean 63, standard deviation 11.2.
    counts = np.bincount(lines.astype(int) * 64 // blocks, minlength=64)
    assert ((counts - N / 64) ** 2 / (N / 64)).sum() < 63 + 5 * 11.2


def test_hot_cold_has_its_shares() -> None:
    lines, _ = drawn({"pattern": "hot-cold", "footprint": "1MiB", "hot_footprint": 0.25, "hot_requests": 0.8})
    assert (lines < 4096).mean() == pytest.approx(0.8, abs=5 * (0.8 * 0.2 / N) ** 0.5)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.99, 1.0, 1.5])
def test_zipf_has_its_frequencies(exponent: float) -> None:
    lines, _ = drawn({"pattern": "zipf", "footprint": "64KiB", "exponent": exponent})
    blocks = 1024
    weights = np.arange(1, blocks + 1, dtype=float) ** -exponent
    share = weights / weights.sum()
    counts = np.sort(np.bincount(lines.astype(int), minlength=blocks))[::-1]
    for ranks in (1, 10, 100, 500):
        expected = share[:ranks].sum()
        if exponent == 0.0:  # every block alike: sorting picks the luckiest
            continue
        noise = 5 * (expected * (1 - expected) / N) ** 0.5
        assert counts[:ranks].sum() / N == pytest.approx(expected, abs=noise + 0.02)
    if exponent == 0.0:
        assert counts.max() < N / blocks + 5 * (N / blocks) ** 0.5


@pytest.mark.parametrize("reads", [0.0, 0.3, 0.67, 1.0])
def test_reads_have_their_share_and_do_not_move_addresses(reads: float) -> None:
    lines, outcome = drawn({"reads": reads})
    assert outcome.summary["reads"] / N == pytest.approx(reads, abs=5 * (reads * (1 - reads) / N) ** 0.5)
    assert np.array_equal(lines, drawn({})[0])


def test_poisson_arrivals_have_exponential_gaps() -> None:
    spec = host_and_memory(host={"queue": 4096}, work={"requests": N, "rate": "20M/s", "arrivals": "poisson"})
    spec["outputs"] = {"requests": True}
    rows = run(spec).requests
    gaps = np.diff(np.sort(rows["created_ps"])) / 1000
    assert gaps.mean() == pytest.approx(50.0, rel=0.03)
    assert gaps.std() == pytest.approx(50.0, rel=0.03)
    assert (gaps > 50.0).mean() == pytest.approx(np.exp(-1), abs=0.01)


def test_phases_go_round_and_go_on_where_they_stopped() -> None:
    phases = [
        {"pattern": "sequential", "footprint": "1MiB", "requests": 3},
        {"pattern": "sequential", "footprint": "1MiB", "base": "0x100000", "requests": 2, "reads": 0.0},
    ]
    spec = host_and_memory()
    spec["workload"]["host"] = {"phases": phases, "requests": 12}
    spec["outputs"] = {"requests": True}
    rows = run(spec).requests
    order = np.argsort(rows["id"])
    first, second = 0, 2**20 // LINE
    expected = [first, first + 1, first + 2, second, second + 1, first + 3, first + 4, first + 5,
                second + 2, second + 3, first + 6, first + 7]  # fmt: skip
    assert (rows["address"][order] // LINE).tolist() == expected
    assert rows["kind"][order].tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0]


MAPS: dict[str, tuple[Spec, list[int]]] = {
    # region, and which memory each chunk of a round belongs to
    "one": ({"to": ["mem0"]}, [0]),
    "cxl, 3 ways": ({"to": ["mem0", "mem1", "mem2"], "interleave": "1KiB"}, [0, 1, 2]),
    "order of to": ({"to": ["mem2", "mem0"], "interleave": "256B"}, [2, 0]),
    "weighted": (
        {"to": ["mem0", "mem1", "mem2"], "policy": "weighted", "weights": [3, 1, 2]},
        [0, 0, 0, 1, 2, 2],
    ),
    "capacity": (
        {"to": ["mem0", "mem1", "mem2"], "policy": "capacity", "interleave": "4KiB"},
        [0, 1, 1, 2, 2, 2, 2],
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_chunks_go_round_the_targets(name: str) -> None:
    region, round_of_chunks = MAPS[name]
    spec = {
        "devices": {
            "host": {"kind": "host"},
            "bus": {"kind": "bus"},
            **{f"mem{i}": {"kind": "memory", "capacity": f"{2**i}GiB"} for i in range(3)},
        },
        "links": [{"between": [n, "bus"]} for n in ("host", "mem0", "mem1", "mem2")],
        "address_map": [region],
        "workload": {"host": {"pattern": "random", "requests": 5000, "footprint": "1MiB"}},
        "outputs": {"requests": True},
    }
    outcome = run(spec)
    rows = outcome.requests
    chunk = {"256B": 256, "1KiB": 1024, "4KiB": 4096}[region.get("interleave", "256B")]
    expected = np.array(round_of_chunks)[(rows["address"] // chunk) % len(round_of_chunks)]
    numbers = np.array([int(n[3:]) if n.startswith("mem") else -1 for n in outcome.nodes])
    assert np.array_equal(numbers[rows["target"]], expected)


def test_objects_have_their_shares_and_their_ranges() -> None:
    objects = [
        {"name": "a", "size": "100KiB", "accesses": 3, "pattern": "sequential"},
        {"name": "unused", "size": "4100B", "accesses": 0},
        {"name": "b", "size": "64KiB", "accesses": "100%"},
    ]
    lines, _ = drawn({"pattern": "objects", "objects": objects, "base": "1MiB"})
    first, third = (1 << 20) // LINE, ((1 << 20) + (100 + 8) * 1024) // LINE  # 4100 B end in a second page
    of_a = lines[lines < third]
    # N draws of 3 to 1: a standard deviation of sqrt(N 3/16).
    assert len(of_a) == pytest.approx(0.75 * N, abs=4 * (N * 3 / 16) ** 0.5)
    assert np.array_equal(of_a - first, np.arange(len(of_a)) % 1600)
    of_b = lines[lines >= third] - third
    assert (of_b.min(), of_b.max()) == (0, 1023)


# A chase waits for its own last access, and others do not: with half of the accesses in a chase and the others beside
# them, twice as much is done as by a chase alone. Draws come in runs, of which the others are short beside a latency.
def test_an_object_that_waits_waits_for_its_own_accesses() -> None:
    chase = {"name": "list", "size": "1MiB", "pattern": "pointer-chase"}
    works = [
        {"pattern": "objects", "objects": each}
        for each in ([chase], [chase, {"name": "array", "size": "1MiB"}])
    ]
    alone, both = (drawn(work)[1].bandwidth for work in works)
    assert both == pytest.approx(2 * alone, rel=0.05)
