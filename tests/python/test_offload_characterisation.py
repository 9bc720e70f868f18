"""Training and inference of Wang et al. (IPDPS 2025) on their system A, by closed forms: what these give of it.

The tables of docs/model/flexgen.md and docs/model/zero.md have the paper's numbers beside these.
"""

from __future__ import annotations

import pytest

import cxloom as cx
from cxloom.offload.catalogue import shape_of
from cxloom.offload.inputs import GIB, Inference, Memories
from cxloom.offload.plan import Plan
from cxloom.offload.search import search
from cxloom.offload.training import TrainingPlan

# --- inference --------------------------------------------------------------------------------------------------------

SIZES = {"L": (196, 0), "L+C": (324, 0), "L+R": (392, 0), "all": (520, 0), "L+NVMe": (196, 128)}
"""GiB of CPU memory and of the disk."""
BATCHES = {"llama-65b": (1, 3, 4, 16, 3), "opt-66b": (3, 4, 4, 8, 2)}
"""The batch on the GPU that the whole search finds for each; here only that is searched."""


def plan(name: str, memory: str) -> Plan:
    cpu, disk = SIZES[memory]
    memories = Memories(gpu=24 * GIB, cpu=cpu * GIB, disk=disk * GIB)
    given = Inference(model=shape_of(name), prompt=2048, output=256, memories=memories)
    return search(given, dict(zip(SIZES, BATCHES[name], strict=True))[memory])


PLANS = {(name, memory): plan(name, memory) for name in BATCHES for memory in SIZES}


@pytest.mark.parametrize(
    ("memory", "total", "decode"), [("L+C", 70, 74), ("L+R", 88, 94), ("all", 107, 115), ("L+NVMe", 4, 4)]
)
def test_what_more_memory_gives_by_its_size_alone(memory: str, total: int, decode: int) -> None:
    """Mean of both models, in percent more than L. Prompts are as fast everywhere: the GPU computes them."""

    def more(rate: str) -> float:
        gains = []
        for name in BATCHES:
            rates = [
                {
                    "total": each.tokens_per_s,
                    "decode": each.policy.sequences / each.decode_s,
                    "prefill": each.policy.sequences / each.prefill_s,
                }[rate]
                for each in (PLANS[name, memory], PLANS[name, "L"])
            ]
            gains.append(rates[0] / rates[1] - 1)
        return sum(gains) / len(gains)

    assert 100 * more("total") == pytest.approx(total, abs=1)
    assert 100 * more("decode") == pytest.approx(decode, abs=1)
    assert more("prefill") == pytest.approx(0, abs=1e-6)


def test_the_cache_on_the_gpu_with_324_gib() -> None:
    """The paper has 8 % of the cache on the GPU for both models."""
    shares = [PLANS[name, "L+C"].policy.shares["cg"] for name in BATCHES]
    assert shares == pytest.approx([0.09, 0.08], abs=0.006)


def test_what_the_disk_costs_against_as_much_memory() -> None:
    """The paper has +24 % and +20 %."""
    gains = [PLANS[name, "L+C"].tokens_per_s / PLANS[name, "L+NVMe"].tokens_per_s - 1 for name in BATCHES]
    assert gains == pytest.approx([0.65, 0.63], abs=0.02)


# --- training ---------------------------------------------------------------------------------------------------------

L, R, C = (
    {"name": name, "bandwidth": rate}
    for name, rate in (("L", "460.8GB/s"), ("R", "460.8GB/s"), ("C", "38.4GB/s"))
)
PLACES = {"L": [L], "L+R": [L, R], "L+C": [L, C], "all": [L, R, C]}
CORES = 2.6e9
"""Parameters per second: what 31 % of a step and transfers of 5 % give, an estimate."""


def step(place: str, gpu_s: float = 0.0, cores: float = CORES) -> TrainingPlan:
    return cx.plan_training("8B", memories=PLACES[place], up="26GB/s", adam_rate=cores, forward=gpu_s)


def test_a_step_of_eight_billion_parameters_by_place() -> None:
    """The GPU's time is chosen so that Adam is 31 % of the step with L, as in the paper. Cores bound Adam everywhere.

    So what differs is unscaling and casting: 14 P at 460.8, 921.6, 76.8 and 115.2 GB/s.
    """
    adam = 8e9 / CORES
    gpu = adam / 0.31 - step("L").step.total_s
    found = {place: step(place, gpu) for place in PLACES}
    assert [each.adam_bound for each in found.values()] == ["cores"] * 4
    assert [each.step.given.bandwidth / 1e9 for each in found.values()] == pytest.approx(
        [460.8, 921.6, 76.8, 115.2]
    )
    first = found["L"].step.total_s
    assert adam / first == pytest.approx(0.31)
    slower = {place: round(100 * (each.step.total_s / first - 1)) for place, each in found.items()}
    assert slower == {"L": 0, "L+R": -1, "L+C": 12, "all": 7}
    both = found["L+R"].step.total_s
    assert [round(100 * (found[place].step.total_s / both - 1)) for place in ("L+C", "all")] == [14, 9]
    assert round(100 * found["L"].step.given.up_s / first, 1) == 6.2


def test_cores_that_lengthen_adam_as_the_paper_has_it() -> None:
    """2 % and 18 % longer on L+C: memory takes 28 P / 76.8 GB/s = 2.917 s there."""
    for longer, cores in ((1.02, 2.80e9), (1.18, 3.24e9)):
        times = [step(place, cores=cores).step.given.adam_s for place in ("L", "L+C")]
        assert times[1] / times[0] == pytest.approx(longer, abs=0.005)
    unlimited = [step(place, cores=1e30).step.given.adam_s for place in ("L", "L+C")]
    assert unlimited[1] / unlimited[0] == pytest.approx(6)
