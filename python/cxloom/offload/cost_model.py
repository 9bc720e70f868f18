"""FlexGen's cost model: how long a layer takes, and what it takes of memory, by the shares of what is where.

The formulas are those of FlexGen's `experimental/cost_model.py`; docs/model/flexgen.md has them. Shares: `wg`, `wc`
and `wn` of the weights on the GPU, in CPU memory and on the disk; `cg`, `cc` and `cn` of the cache; `hg` and `hc` of
the activations. In FlexGen's model keys and values are as wide as the hidden layer; where fewer heads have them
(grouped-query attention) their bytes are fewer here, and the arithmetic is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxloom.offload.inputs import Inference
from cxloom.offload.linear import Linear, fixed, of, total

SHARES = ("wg", "wc", "wn", "cg", "cc", "cn", "hg", "hc")
GROUPS = (("wg", "wc", "wn"), ("cg", "cc", "cn"), ("hg", "hc"))
"""Shares that sum to one."""


@dataclass(frozen=True)
class Part:
    """What a layer does: so many bytes or operations, at a rate."""

    amount: Linear
    """Bytes of a transfer, operations of arithmetic."""
    rate: float
    """Bytes or operations per second."""

    @property
    def seconds(self) -> Linear:
        """How long it takes."""
        return self.amount / self.rate


Parts = Mapping[str, Part]

PREFILL_CHAINS: tuple[tuple[str, ...], ...] = (
    ("weights to the GPU", "activations to the GPU", "weights from the disk"),
    ("cache from the GPU", "activations from the GPU", "cache to the disk"),
    ("matrices on the GPU", "attention on the GPU"),
)
"""What FlexGen adds up in a layer of a prompt; the layer takes as long as the longest."""
_UP = ("weights to the GPU", "activations to the GPU")
DECODE_CHAINS: tuple[tuple[str, ...], ...] = tuple(
    (*_UP, *others)
    for others in (
        ("activations from the GPU",),
        ("cache from the disk", "weights from the disk"),
        ("cache to the disk",),
        ("matrices on the GPU", "attention on the GPU", "attention on the CPU"),
    )
)
"""The parts of the time of a token of an answer: nothing overlaps what goes to the GPU."""


def prefill(given: Inference, sequences: int) -> Parts:
    """What a layer does for the prompts of so many sequences."""
    model, rates, s = given.model, given.rates, given.prompt
    h, b = model.hidden, sequences
    cache = 4.0 * (s + 1) * model.kv_width * b
    activations = of(hc=2.0 * s * h * b)
    return {
        "weights from the disk": Part(of(wn=given.layer_bytes), rates.disk_read),
        "weights to the GPU": Part(of(wc=given.layer_bytes, wn=given.layer_bytes), rates.to_gpu),
        "activations to the GPU": Part(activations, rates.to_gpu),
        "cache from the GPU": Part(of(cc=cache, cn=cache), rates.cache_from_gpu),
        "activations from the GPU": Part(activations, rates.activations_from_gpu),
        "cache to the disk": Part(of(cn=cache), rates.disk_write_prefill),
        "matrices on the GPU": Part(fixed(2.0 * b * s * model.layer_parameters), rates.matrices_prefill),
        "attention on the GPU": Part(fixed(4.0 * b * s * s * h), rates.attention_prefill),
    }


def decode(given: Inference, sequences: int, batch: int, context: float) -> Parts:
    """What a layer does for a token of so many sequences.

    Args:
        given: the model and the machine.
        sequences: that have their token in this layer.
        batch: sequences that the GPU computes at a time, which the speed of the CPU depends on.
        context: tokens in the cache of each.
    """
    model, rates = given.model, given.rates
    h, b = model.hidden, sequences
    activations = of(hc=2.0 * h * b)
    attention = 4.0 * b * context * h
    return {
        "weights from the disk": Part(of(wn=given.layer_bytes), 0.95 * rates.disk_read),
        "weights to the GPU": Part(of(wc=given.layer_bytes, wn=given.layer_bytes), rates.to_gpu),
        "activations to the GPU": Part(activations, rates.to_gpu),
        "activations from the GPU": Part(activations, rates.activations_from_gpu),
        "cache from the disk": Part(of(cn=4.0 * b * context * model.kv_width), rates.disk_read),
        "cache to the disk": Part(of(cn=4.0 * b * model.kv_width), rates.disk_write_decode),
        "matrices on the GPU": Part(fixed(2.0 * b * model.layer_parameters), rates.matrices_decode),
        "attention on the GPU": Part(of(cg=attention), rates.attention_decode),
        "attention on the CPU": Part(of(cc=attention, cn=attention), attention_rate(given, batch)),
    }


def attention_rate(given: Inference, batch: int) -> float:
    """Operations per second of attention on the CPU: fewer with small batches and narrow layers."""
    rates = given.rates
    small = max(0.0, math.log2(64 / batch))
    narrow = max(0.0, math.log2(4096 / given.model.hidden))
    slower = (
        1 + rates.cpu_both * small * narrow - rates.cpu_small_batch * small - rates.cpu_small_hidden * narrow
    )
    return rates.attention_cpu * max(0.1, slower)


def chain_seconds(parts: Parts, chains: Sequence[Sequence[str]]) -> list[Linear]:
    """How long each chain of parts takes."""
    return [total([parts[name].seconds for name in chain]) for chain in chains]


def peaks(given: Inference, batch: int, batches: int) -> dict[str, list[Linear]]:
    """The bytes that each memory holds at its peaks, of prompts and of answers."""
    model, s, n = given.model, given.prompt, given.output
    h, kv, h2, heads, w = model.hidden, model.kv_width, _inner_width(given), model.heads, given.layer_bytes
    b, layers = batch * batches, model.layers
    weights, cache = layers * w, layers * b * given.kv_bytes
    buffers = fixed(2 * w) + of(wg=-2 * w)  # of two layers' weights, of what does not live on the GPU
    gpu_prompt = (
        of(wg=weights, hg=2.0 * s * h * b, cg=cache)
        + buffers
        + (fixed(1.0) + of(hg=-1.0)) * (2.0 * s * h * batch)
        + fixed(batch * (18.0 * s * h + 2.0 * heads * s * s + 2.0 * s * h2))
    )
    gpu_answer = (
        of(wg=weights, hg=2.0 * h * b, cg=cache)
        + buffers
        + (fixed(1.0) + of(hg=-1.0)) * (2.0 * h * batch)
        + of(cg=4.0 * batch * (s + n) * kv)
        + fixed(batch * (14.0 * h + 2.0 * h2))
        + of(cg=batch * (4.0 * h + 4.0 * (s + n) * h + 2.0 * heads * (s + n)))
    )
    cpu_prompt = (
        of(wc=weights, hc=2.0 * s * h * b, cc=4.0 * s * kv * b * layers)
        + fixed(w)
        + of(wg=-w)
        + (fixed(1.0) + of(hg=-1.0)) * (2.0 * s * h * batch)
    )
    cpu_answer = of(wc=weights, hc=2.0 * h * b, cc=cache, wn=w, cn=8.0 * (s + n) * kv * batch) + fixed(
        batch * (2.0 * heads * (s + n) + 2.0 * h)
    )
    return {
        "gpu": [gpu_prompt, gpu_answer],
        "cpu": [cpu_prompt, cpu_answer],
        "disk": [of(wn=weights, cn=cache)],
    }


def _inner_width(given: Inference) -> float:
    """Width of a network of two matrices with as many entries as the model's, as FlexGen's model has two."""
    return given.model.ffn * given.model.ffn_matrices / 2
