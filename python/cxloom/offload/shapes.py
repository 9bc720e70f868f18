"""The shape of a transformer: how many parameters it has, and how many bytes a token takes of its key-value cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FP16 = 2
"""Bytes of a number of half precision."""

Family = Literal["opt", "llama", "gpt2", "bert", "mla"]


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
    positions: int = 0
    """Rows of a learned table of positions; 0: positions are computed."""
    latent: int = 0
    """Numbers of a token and layer in the cache of multi-head latent attention (MLA); 0: keys and values are kept."""

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
    def parameters(self) -> int | None:
        """The number of parameters, with embeddings; None: the shape has too little for it (MLA)."""
        return None if self.family == "mla" else _COUNTS[self.family](self)

    @property
    def layer_parameters(self) -> int:
        """Entries of the matrices of a layer, without biases and norms: what FlexGen takes for its weights."""
        return 2 * self.hidden * (self.hidden + self.kv_width) + self.ffn_matrices * self.hidden * self.ffn

    def weight_bytes(self, width: int = FP16) -> int | None:
        """Bytes of all parameters, of so many bytes each."""
        return None if self.parameters is None else width * self.parameters

    def kv_bytes_per_token(self, width: int = FP16) -> int:
        """Bytes that a token takes of the cache, in all layers: keys and values, or one latent vector."""
        if self.latent:
            return self.layers * self.latent * width
        return 2 * self.layers * self.kv_width * width


def _layers_with_biases(shape: ModelShape) -> int:
    """Layers of GPT-2, BERT and OPT: biases of all matrices, and two norms with scale and shift."""
    hidden, ffn = shape.hidden, shape.ffn
    matrices = 4 * hidden * hidden + 2 * hidden * ffn
    return shape.layers * (matrices + 4 * hidden + ffn + hidden + 4 * hidden)


def _opt(shape: ModelShape) -> int:
    tables = (shape.vocabulary + shape.positions) * shape.hidden
    return _layers_with_biases(shape) + tables + 2 * shape.hidden


def _gpt2(shape: ModelShape) -> int:
    return _opt(shape)  # the same parts, with other tables


def _bert(shape: ModelShape) -> int:
    tables = (shape.vocabulary + shape.positions + _BERT_SEGMENTS) * shape.hidden
    pooler = shape.hidden * shape.hidden + shape.hidden
    return _layers_with_biases(shape) + tables + 2 * shape.hidden + pooler


def _llama(shape: ModelShape) -> int:
    norms = (2 * shape.layers + 1) * shape.hidden
    return shape.layers * shape.layer_parameters + 2 * shape.vocabulary * shape.hidden + norms


_BERT_SEGMENTS = 2
"""Rows of BERT's table of segments."""
_COUNTS = {"opt": _opt, "llama": _llama, "gpt2": _gpt2, "bert": _bert}
