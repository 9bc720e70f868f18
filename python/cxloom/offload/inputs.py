"""What FlexGen's cost model is given: a model, the texts, the memories, the rates."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cxloom.base.errors import InputError
from cxloom.offload.shapes import ModelShape
from cxloom.spec.quantities import Bandwidth, Bytes, FlopRate, Share

GIB = 2**30
_GIB = float(GIB)
_T = 1e12


class Rates(BaseModel):
    """How fast data moves, and arithmetic is done.

    The defaults are those of FlexGen's `experimental/cost_model.py`: a T4 of Google's cloud, fitted to runs of its
    program by gradient descent, so that no one of them is a rate that a device has. FlexGen says of other machines
    that they have to be fitted anew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    to_gpu: Bandwidth = 12.89 * _GIB
    """From CPU memory to the GPU (FlexGen's ctog_bdw)."""
    cache_from_gpu: Bandwidth = 0.97 * _GIB
    """The cache of a prompt from the GPU to CPU memory (gtoc_bdw_cache)."""
    activations_from_gpu: Bandwidth = 4.82 * _GIB
    """Activations from the GPU to CPU memory (gtoc_bdw_hidden)."""
    disk_read: Bandwidth = 0.473 * _GIB
    """From the disk to CPU memory (dtoc_bdw)."""
    disk_write_prefill: Bandwidth = 0.746 * _GIB
    """The cache of a prompt from CPU memory to the disk (ctod_bdw_cache_p)."""
    disk_write_decode: Bandwidth = 2.015 * _GIB
    """The cache of a token from CPU memory to the disk (ctod_bdw_g)."""
    matrices_prefill: FlopRate = 21.24 * _T
    """Products with the weights on the GPU, of prompts (mm_flops_p)."""
    matrices_decode: FlopRate = 4.3 * _T
    """Products with the weights on the GPU, of single tokens (mm_flops_g)."""
    attention_prefill: FlopRate = 9.97 * _T
    """Attention on the GPU, of prompts (bmm_flops_p)."""
    attention_decode: FlopRate = 0.079 * _T
    """Attention on the GPU, of single tokens (bmm_flops_g)."""
    attention_cpu: FlopRate = 0.0123 * _T
    """Attention on the CPU, of single tokens, with large batches and layers (cpu_flops)."""
    cpu_both: float = 0.0168
    """How much faster it is where batch and hidden width are small, for each halving of both (c1)."""
    cpu_small_batch: float = 0.0328
    """How much slower for each halving of the batch below 64 (c2)."""
    cpu_small_hidden: float = 0.0621
    """How much slower for each halving of the hidden width below 4096 (c3)."""


class Memories(BaseModel):
    """How large the memories are. The defaults are those of FlexGen's cost model."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    gpu: Bytes = 15 * _GIB
    cpu: Bytes = 204 * _GIB
    """All memory of the CPU: local DRAM, that of other sockets and CXL memory. The model does not tell them apart."""
    disk: Bytes = 1500 * _GIB


class Slack(BaseModel):
    """Which part of each memory may be filled (FlexGen's alpha_g, alpha_c and alpha_n).

    Above 1 more than there is may be filled: FlexGen does so for given policies, as its estimate of the peak is rough.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    gpu: Share = 0.8
    cpu: Share = 0.8
    disk: Share = 0.8


class Inference(BaseModel):
    """A model that answers prompts, on a machine.

    Raises InputError for shapes that FlexGen's cost model cannot have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    model: ModelShape
    prompt: Annotated[int, Field(ge=1)] = 512
    """Tokens of each prompt."""
    output: Annotated[int, Field(ge=2)] = 32
    """Tokens of each answer; the first comes out of the prompt."""
    memories: Memories = Memories()
    rates: Rates = Rates()
    slack: Slack = Slack()

    @field_validator("model", mode="after")
    @classmethod
    def _has_keys_and_values(cls, model: ModelShape) -> ModelShape:
        if model.latent or model.family == "bert":
            raise InputError(
                "the cost model is that of decoders that keep keys and values",
                found=model.name,
                allowed="a model of OPT, LLaMA or GPT-2",
                path="model",
            )
        return model

    @property
    def kv_bytes(self) -> float:
        """Bytes of the cache of one sequence in one layer, at its end."""
        return 4.0 * (self.prompt + self.output) * self.model.kv_width

    @property
    def layer_bytes(self) -> float:
        """Bytes of the weights of a layer."""
        return 2.0 * self.model.layer_parameters

    @property
    def capacities(self) -> dict[str, float]:
        """Bytes of each memory that may be filled."""
        return {
            name: getattr(self.memories, name) * getattr(self.slack, name) for name in ("gpu", "cpu", "disk")
        }
