"""Training and inference of Wang et al. (IPDPS 2025) on their system A, by closed forms: what these give of it.

The bandwidths of training are simulated.

The tables of docs/model/flexgen.md and docs/model/zero.md have the paper's numbers beside these.
"""

from __future__ import annotations

from functools import cache

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


@cache
def plan(name: str, memory: str) -> Plan:
    cpu, disk = SIZES[memory]
    memories = Memories(gpu=24 * GIB, cpu=cpu * GIB, disk=disk * GIB)
    given = Inference(model=shape_of(name), prompt=2048, output=256, memories=memories)
    return search(given, dict(zip(SIZES, BATCHES[name], strict=True))[memory])


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
                for each in (plan(name, memory), plan(name, "L"))
            ]
            gains.append(rates[0] / rates[1] - 1)
        return sum(gains) / len(gains)

    assert 100 * more("total") == pytest.approx(total, abs=1)
    assert 100 * more("decode") == pytest.approx(decode, abs=1)
    assert more("prefill") == pytest.approx(0, abs=1e-6)


def test_the_cache_on_the_gpu_with_324_gib() -> None:
    """The paper has 8 % of the cache on the GPU for both models."""
    shares = [plan(name, "L+C").policy.shares["cg"] for name in BATCHES]
    assert shares == pytest.approx([0.09, 0.08], abs=0.006)


def test_what_the_disk_costs_against_as_much_memory() -> None:
    """The paper has +24 % and +20 %."""
    gains = [plan(name, "L+C").tokens_per_s / plan(name, "L+NVMe").tokens_per_s - 1 for name in BATCHES]
    assert gains == pytest.approx([0.65, 0.63], abs=0.02)


# --- training ---------------------------------------------------------------------------------------------------------

PINS = {"L": 460.8, "L+R": 921.6, "L+C": 76.8, "all": 115.2}
SIMULATED = {"L": 426, "L+R": 461, "L+C": 71.3, "all": 107}
"""GB/s of states page by page in these memories: by the pins and the least share, and of `char/a`."""
NODES = {"L": "dram1-0", "L+R": "dram1-0, dram0-0", "L+C": "dram1-0, card", "all": "dram1-0, dram0-0, card"}
CORES = 2.6e9
"""Parameters per second: what 31 % of a step and transfers of 5 % give, an estimate."""
ADAM = 8e9 / CORES


def step(place: str, gpu_s: float = 0.0, cores: float = CORES) -> TrainingPlan:
    memory = {"name": place, "bandwidth": f"{SIMULATED[place]}GB/s"}
    return cx.plan_training("8B", memories=[memory], up="26.4GB/s", adam_rate=cores, forward=gpu_s)


def test_bandwidths_by_the_pins() -> None:
    each = {"L": "460.8GB/s", "R": "460.8GB/s", "C": "38.4GB/s"}
    for place, names in {"L": "L", "L+R": "LR", "L+C": "LC", "all": "LRC"}.items():
        memories = [{"name": name, "bandwidth": each[name]} for name in names]
        found = cx.plan_training("8B", memories=memories).step.given.bandwidth
        assert found / 1e9 == pytest.approx(PINS[place])


@pytest.mark.parametrize("place", NODES)
def test_bandwidths_of_the_preset(place: str) -> None:
    """Adam reads 16 bytes for 12 that it writes: 57.14 % of its lines are reads."""
    system = cx.load("char/a")
    changes = {
        "devices.cpu0.cache": None,
        "devices.cpu1.cache": None,
        "workload.cpu1.pattern": "sequential",
        "workload.cpu1.reads": "57.14%",
        "workload.cpu1.requests": 20_000,
        "workload.cpu1.addresses": {"kind": "interleave", "nodes": NODES[place].split(", ")},
        "run.warmup": 20_000,
    }
    for path, value in changes.items():
        system.set(path, value)
    assert cx.run(system)["bandwidth_gb_per_s"] == pytest.approx(SIMULATED[place], rel=0.03)


def test_a_step_of_eight_billion_parameters_by_place() -> None:
    """The GPU's time is chosen so that Adam is 31 % of the step with L, as in the paper."""
    gpu = ADAM / 0.31 - step("L").step.total_s
    found = {place: step(place, gpu) for place in NODES}
    assert [round(each.step.given.adam_s, 3) for each in found.values()] == [3.077, 3.077, 3.142, 3.077]
    assert [each.adam_bound for each in found.values()] == ["cores", "cores", "memory", "cores"]
    near, both = found["L"].step.total_s, found["L+R"].step.total_s
    assert found["L"].step.given.adam_s / near == pytest.approx(0.31)
    assert round(100 * (found["all"].step.total_s / near - 1)) == 8
    assert [round(100 * (found[place].step.total_s / both - 1)) for place in ("L+C", "all")] == [14, 8]
    assert round(100 * found["L"].step.given.up_s / near, 1) == 6.1


def test_cores_that_lengthen_adam_as_the_paper_has_it() -> None:
    """From 2 % longer on L+C, with the estimate of the cores, to 18 %. Memory takes 28 P / 71.3 GB/s there: 3.142 s."""
    for longer, cores in ((1.02, CORES), (1.18, 3.0e9)):
        times = [step(place, cores=cores).step.given.adam_s for place in ("L", "L+C")]
        assert times[1] / times[0] == pytest.approx(longer, abs=0.005)
    unlimited = [step(place, cores=1e30).step.given.adam_s for place in ("L", "L+C")]
    assert unlimited[1] / unlimited[0] == pytest.approx(426 / 71.3)
