"""Shapes of language models, and the closed forms of a prefill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxloom import _core


@dataclass(frozen=True)
class Model:
    """What follows from the shape of a model."""

    layers: int
    hidden: int
    parameters: float
    """All of them: matrices, biases, norms and embeddings."""
    weight_bytes: float
    kv_bytes: int
    """Bytes of a token in the KV cache of all layers."""


def model(written: str | Mapping[str, Any]) -> Model:
    """A model by its name in the catalogue, or by its shape (``docs/model/kv.md``).

    Raises InputError for a name that there is not, and for a shape that cannot be.
    """
    return Model(**_core.kv_model(written))


def models() -> dict[str, str]:
    """The catalogue: the source of each shape, by its name."""
    found: dict[str, str] = _core.kv_model_names()
    return found


def first_token_seconds(
    written: str | Mapping[str, Any],
    tokens: float,
    cached: float,
    *,
    flops: float,
    bandwidth: float,
    loads: str = "layers",
) -> float:
    """Seconds to the first token of a server that does nothing else.

    Args:
        written: the model.
        tokens: those of the prompt.
        cached: those of its prefix that are loaded.
        flops: operations a second.
        bandwidth: bytes a second from where the prefix is.
        loads: "first", or "layers": each layer is loaded beside the computation of the one before.
    """
    return _core.kv_first_token(written, tokens, cached, flops, bandwidth, loads == "layers")
