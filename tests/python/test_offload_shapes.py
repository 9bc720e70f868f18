"""Shapes of models: parameters, bytes of weights, and of a token's cache."""

from __future__ import annotations

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.offload.catalogue import MODELS, shape_of
from cxloom.offload.inputs import GIB
from cxloom.offload.shapes import ModelShape

PARAMETERS = {
    "opt-30b": (29.97, 1_376_256),
    "opt-66b": (65.72, 2_359_296),
    "llama-65b": (65.29, 2_621_440),
    "llama-2-70b": (68.98, 327_680),
    "llama-3-70b": (70.55, 327_680),
    "llama-3-8b": (8.03, 131_072),
    "gpt2": (0.124, 36_864),
    "gpt2-medium": (0.355, 98_304),
    "gpt2-large": (0.774, 184_320),
    "gpt2-xl": (1.558, 307_200),
    "bert-base": (0.110, 36_864),
    "bert-large": (0.335, 98_304),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_and_the_cache_of_a_token(name: str) -> None:
    """The published sizes, and 2 x layers x heads of keys and values x their width x 2 bytes."""
    billions, kv = PARAMETERS[name]
    shape = shape_of(name)
    assert shape.parameters / 1e9 == pytest.approx(billions, abs=5e-3 if billions > 2 else 6e-4)
    assert shape.kv_bytes_per_token() == kv
    assert shape.weight_bytes() == 2 * shape.parameters


def test_sizes_of_blocks_and_weights() -> None:
    assert 16 * shape_of("llama-3-8b").kv_bytes_per_token() == 2_097_152
    assert 512 * shape_of("llama-3-70b").kv_bytes_per_token() == 160 << 20
    assert 256 * shape_of("llama-3-70b").kv_bytes_per_token() == 80 << 20
    assert shape_of("deepseek-v3").kv_bytes_per_token() == 70_272  # 61 x (512 + 64) x 2
    assert shape_of("deepseek-v3").parameters == 671e9  # published, with its experts
    weights = {name: 2 * shape_of(name).parameters / GIB for name in PARAMETERS}
    sequence = 2304 * shape_of("opt-66b").kv_bytes_per_token() / GIB
    assert round(sequence, 2) == 5.06
    assert [round(weights[name], 1) for name in ("opt-30b", "opt-66b", "llama-65b")] == [55.8, 122.4, 121.6]


def test_footprints_of_the_paper() -> None:
    """2 P + 4 l h (s + n) b: LLaMA-65B with 14, 40 and 56 sequences, OPT-66B with 9, 40 and 64."""
    found = [
        round(
            (2 * shape_of(name).parameters + 2304 * batch * shape_of(name).kv_bytes_per_token()) / GIB,
            1,
        )
        for name, batches in (("llama-65b", (14, 40, 56)), ("opt-66b", (9, 40, 64)))
        for batch in batches
    ]
    assert found == [200.4, 346.6, 436.6, 168.0, 324.9, 446.4]


def test_names_are_found_in_any_case_and_with_an_owner() -> None:
    assert shape_of("facebook/OPT-30B") is MODELS["opt-30b"]
    with pytest.raises(InputError, match=r"unknown model 'opt-31b'.*did you mean 'opt-13b'"):
        shape_of("opt-31b")


def test_one_catalogue_is_that_of_kv_caches_too() -> None:
    """The same names, parameters and bytes of a token; the count of a shape of one's own is the core's."""
    assert list(MODELS) == list(cx.kv.models())
    for name, shape in MODELS.items():
        known = cx.kv.model(name)
        assert (shape.parameters, shape.kv_bytes_per_token()) == (known.parameters, known.kv_bytes)
    own = ModelShape("own", "opt", 48, 7168, 28672, 56, 56, 50272)
    assert own.parameters == shape_of("opt-30b").parameters


@pytest.mark.parametrize(("slack", "batches", "said"), [("85%", 1, False), ("850%", 40, True)])
def test_a_plan_that_fills_more_than_there_is_says_so(slack: str, batches: int, said: bool) -> None:
    """FlexGen has a policy that needs 120 % of its GPU by the model, so that slack may be more than there is."""
    memories = {"gpu": "16GiB", "cpu": "100GiB", "disk": "0B"}
    policy = {"batch": 8, "batches": batches, "percent": [0, 100, 0, 100, 0, 100]}
    found = cx.plan_inference("opt-30b", memories=memories, slack={"cpu": slack}, **policy)
    peak = found.plan.peak_bytes["cpu"]
    assert (peak > 100 * 2**30) == said
    assert ("it fills more than there is: " in found.sentence) == said
    assert found.sentence.endswith(" of 100 GiB of cpu.") == said
