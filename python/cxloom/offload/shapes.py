"""The shape of a transformer: how many parameters it has, and how many bytes a token takes of its key-value cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cxloom import _core

FP16 = 2
"""Bytes of a number of half precision."""

Family = Literal["opt", "llama", "gpt2", "bert"]


@dataclass(frozen=True)
class ModelShape:
    """A transformer as far as memory and arithmetic go."""

    name: str
    family: Family
    """Which matrices, biases and norms a layer has, and which tables come with them."""
    layers: int
    hidden: int
    """Width of the activations between layers."""
    ffn: int
    """Width of the feed-forward network within a layer."""
    heads: int
    kv_heads: int
    """Heads that keys and values have: fewer than `heads` with grouped-query attention."""
    vocabulary: int
    latent: int = 0
    """Numbers of a token and layer in the cache of multi-head latent attention (MLA); 0: keys and values are kept."""
    parameters: int = 0
    """The number of parameters, with embeddings; by default what follows from the rest, by the core's count."""

    def __post_init__(self) -> None:
        if not self.parameters:
            words = ("family", "layers", "hidden", "ffn", "heads", "kv_heads", "vocabulary", "latent")
            counted = _core.kv_model_shape({word: getattr(self, word) for word in words})["parameters"]
            object.__setattr__(self, "parameters", int(counted))

    @property
    def head_width(self) -> int:
        """Width of a head."""
        return self.hidden // self.heads

    @property
    def kv_width(self) -> int:
        """Numbers of the keys, or of the values, of a token in a layer."""
        return self.kv_heads * self.head_width

    @property
    def ffn_matrices(self) -> int:
        """Matrices of the feed-forward network: three where it is gated."""
        return 3 if self.family == "llama" else 2

    @property
    def layer_parameters(self) -> int:
        """Entries of the matrices of a layer, without biases and norms: what FlexGen takes for its weights."""
        return 2 * self.hidden * (self.hidden + self.kv_width) + self.ffn_matrices * self.hidden * self.ffn

    def weight_bytes(self, width: int = FP16) -> int:
        """Bytes of all parameters, of so many bytes each."""
        return width * self.parameters

    def kv_bytes_per_token(self, width: int = FP16) -> int:
        """Bytes that a token takes of the cache, in all layers: keys and values, or one latent vector."""
        if self.latent:
            return self.layers * self.latent * width
        return 2 * self.layers * self.kv_width * width
