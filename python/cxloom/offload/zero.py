"""A step of training with ZeRO-Offload on one GPU: optimizer states in CPU memory, Adam on the CPU.

What is copied and which passes the CPU makes are DeepSpeed's (`stage_1_and_2.py`, `cpu_adam.h`); docs/model/zero.md
has the formulas with their sources.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cxloom.base.errors import InputError
from cxloom.spec.quantities import Bandwidth, Bytes, Count, FlopRate, Seconds, Share

FOOTPRINT = 18
"""Bytes of CPU memory for a parameter: itself, two moments and its gradient in 4 bytes each, and a copy in 2."""
UNSCALE, ADAM, CAST = 8, 28, 6
"""Bytes of CPU memory that the passes move for a parameter.

Unscaling reads and writes the gradient. Adam reads parameter, two moments and gradient, and writes all but the
gradient. The cast reads 4 bytes and writes 2.
"""
FORWARD, BACKWARD = 2, 4
"""Operations of a token for a parameter: Kaplan et al., "Scaling Laws for Neural Language Models", 2020, 2.1."""
HALF = 2
"""Bytes of a gradient that is kept between micro-steps."""
VERSIONS: dict[str, tuple[int, int]] = {"2+2": (2, 2), "4+4": (4, 4), "4+2": (4, 2)}
"""Bytes for a parameter that go down as its gradient, and up as its new value: of the papers, of DeepSpeed until May
2025, and since then (pull request 7309)."""


class Memory(BaseModel):
    """A memory of the CPU that takes part of the optimizer states."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bandwidth: Bandwidth
    """Bytes per second."""
    capacity: Bytes = math.inf
    weight: Annotated[int, Field(ge=1)] = 1
    """Pages in each round of the interleave over all memories."""


class Training(BaseModel):
    """A model in training, and the machine. Times that are not given are zero, rates without a limit.

    Raises InputError where the states do not fit into the memories.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    parameters: Count
    memories: tuple[Memory, ...]
    """What the states are interleaved over, one or more."""
    down: Bandwidth = math.inf
    """Bytes per second from the GPU to CPU memory."""
    up: Bandwidth = math.inf
    """Bytes per second from CPU memory to the GPU."""
    forward: Seconds = 0.0
    """Seconds of forward in a micro-step, where they are not worked out of tokens."""
    backward: Seconds = 0.0
    """Seconds of backward, without copies; the same."""
    tokens: Annotated[int, Field(ge=0)] = 0
    """Tokens of a micro-step. With `gpu_rate` they give the times of forward and backward."""
    gpu_rate: FlopRate = math.inf
    """Operations per second that the GPU reaches, or its peak where `gpu_efficiency` is given."""
    gpu_efficiency: Annotated[Share, Field(gt=0, le=1)] = 1.0
    """Part of `gpu_rate` that is reached. The ZeRO-Offload paper has 40 Tflop/s of a V100's 125: 32 %."""
    accumulate: Annotated[int, Field(ge=1)] = 1
    """Micro-steps whose gradients are added up (gradient_accumulation_steps)."""
    overlap: bool = False
    """Whether gradients are copied while backward goes on (`overlap_comm`, by default false in stages 1 and 2)."""
    bucket: Count = 5e8
    """Parameters whose gradients are copied together (`reduce_bucket_size`)."""
    version: Literal["2+2", "4+4", "4+2"] = "4+2"
    """Bytes that go down and up for a parameter: see `VERSIONS`."""
    adam_rate: Count = math.inf
    """Parameters per second that the cores compute at most. Nobody publishes it; without a limit memory bounds Adam."""

    @model_validator(mode="after")
    def _fits(self) -> Training:
        if not self.memories:
            raise InputError("the optimizer states need a memory", path="memories")
        names = [memory.name for memory in self.memories]
        if len(set(names)) < len(names):
            raise InputError("two memories have one name", found=", ".join(names), path="memories")
        if self.tokens and (self.forward or self.backward):
            raise InputError(
                "the time of the GPU is given twice", allowed="times, or tokens and a rate", path="tokens"
            )
        if bool(self.tokens) != math.isfinite(self.gpu_rate):
            missing = "gpu_rate" if self.tokens else "tokens"
            raise InputError("tokens and the rate of the GPU give times together", path=missing)
        if self.gpu_efficiency != 1 and not self.tokens:
            raise InputError("an efficiency has no effect without the rate of the GPU", path="gpu_efficiency")
        for memory in self.memories:
            needed = self.footprint * self.share(memory)
            if needed > memory.capacity:
                raise InputError(
                    f"the optimizer states do not fit into '{memory.name}'",
                    found=f"{needed / 1e9:.4g} GB in {memory.capacity / 1e9:.4g} GB",
                    allowed=f"{self._most() / 1e9:.4g} billion parameters at these weights, or more memory",
                    path="memories",
                )
        return self

    def _most(self) -> float:
        """Parameters whose states fit."""
        return min(memory.capacity / (FOOTPRINT * self.share(memory)) for memory in self.memories)

    @property
    def footprint(self) -> float:
        """Bytes of CPU memory."""
        return FOOTPRINT * self.parameters

    def share(self, memory: Memory) -> float:
        """The part of the pages that a memory has."""
        return memory.weight / sum(each.weight for each in self.memories)

    @property
    def bandwidth(self) -> float:
        """Bytes per second of all memories at their shares of the pages: the first one that is full bounds it."""
        return min(memory.bandwidth / self.share(memory) for memory in self.memories)

    @property
    def buckets(self) -> list[float]:
        """Parameters of each bucket; the last has what is left."""
        full = int(self.parameters // self.bucket)
        rest = self.parameters - full * self.bucket
        return [self.bucket] * full + ([rest] if rest else [])

    @property
    def _reached(self) -> float:
        """Operations per second."""
        return self.gpu_rate * self.gpu_efficiency

    @property
    def forward_s(self) -> float:
        """Seconds of forward in a micro-step."""
        return self.forward or FORWARD * self.parameters * self.tokens / self._reached

    @property
    def backward_s(self) -> float:
        """Seconds of backward in a micro-step, without copies."""
        return self.backward or BACKWARD * self.parameters * self.tokens / self._reached

    @property
    def unscale_s(self) -> float:
        """Seconds in which gradients are unscaled and clipped."""
        return UNSCALE * self.parameters / self.bandwidth

    @property
    def adam_s(self) -> float:
        """Seconds of Adam: memory or cores bound it."""
        return max(ADAM * self.parameters / self.bandwidth, self.parameters / self.adam_rate)

    @property
    def cast_s(self) -> float:
        """Seconds in which new values become half as wide."""
        return CAST * self.parameters / self.bandwidth

    @property
    def up_s(self) -> float:
        """Seconds in which new values go to the GPU."""
        return VERSIONS[self.version][1] * self.parameters / self.up

    def gradient_bytes(self, micro_step: int) -> tuple[int, int]:
        """Bytes for a parameter that go down and up within backward of a micro-step.

        All but the last keep their sum in CPU memory, in half precision; all but the first fetch it before.
        """
        last = micro_step == self.accumulate - 1
        return (VERSIONS[self.version][0] if last else HALF), (HALF if micro_step else 0)
