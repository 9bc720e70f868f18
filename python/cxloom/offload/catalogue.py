"""Models by their names.

Shapes of OPT are those of FlexGen's `opt_config.py`. The others are the published configurations of their models,
from common knowledge, checked by their numbers of parameters alone.
"""

from __future__ import annotations

import re

from cxloom.base.errors import InputError
from cxloom.offload.shapes import ModelShape
from cxloom.spec.names import listed, nearest

_OPT_WORDS, _OPT_POSITIONS = 50272, 2050
_GPT2_WORDS, _GPT2_POSITIONS = 50257, 1024
_BERT_WORDS, _BERT_POSITIONS = 30522, 512
_MLA_ROPE = 64


def _opt(name: str, layers: int, hidden: int, heads: int) -> ModelShape:
    return ModelShape(
        name, "opt", layers, hidden, 4 * hidden, heads, heads, _OPT_WORDS, positions=_OPT_POSITIONS
    )


def _llama(
    name: str, layers: int, hidden: int, ffn: int, heads: int, kv_heads: int, words: int
) -> ModelShape:
    return ModelShape(name, "llama", layers, hidden, ffn, heads, kv_heads, words)


def _gpt2(name: str, layers: int, hidden: int, heads: int) -> ModelShape:
    return ModelShape(
        name, "gpt2", layers, hidden, 4 * hidden, heads, heads, _GPT2_WORDS, positions=_GPT2_POSITIONS
    )


def _bert(name: str, layers: int, hidden: int, heads: int) -> ModelShape:
    return ModelShape(
        name, "bert", layers, hidden, 4 * hidden, heads, heads, _BERT_WORDS, positions=_BERT_POSITIONS
    )


MODELS: dict[str, ModelShape] = {
    shape.name: shape
    for shape in (
        _opt("opt-6.7b", 32, 4096, 32),
        _opt("opt-13b", 40, 5120, 40),
        _opt("opt-30b", 48, 7168, 56),
        _opt("opt-66b", 64, 9216, 72),
        _opt("opt-175b", 96, 12288, 96),
        _llama("llama-65b", 80, 8192, 22016, 64, 64, 32000),
        _llama("llama-2-7b", 32, 4096, 11008, 32, 32, 32000),
        _llama("llama-2-70b", 80, 8192, 28672, 64, 8, 32000),
        _llama("llama-3-8b", 32, 4096, 14336, 32, 8, 128256),
        _llama("llama-3-70b", 80, 8192, 28672, 64, 8, 128256),
        _gpt2("gpt2", 12, 768, 12),
        _gpt2("gpt2-medium", 24, 1024, 16),
        _gpt2("gpt2-large", 36, 1280, 20),
        _gpt2("gpt2-xl", 48, 1600, 25),
        _gpt2("gpt2-10b", 50, 4096, 32),  # of DeepSpeed's tutorial of ZeRO-Offload
        _bert("bert-base", 12, 768, 12),
        _bert("bert-large", 24, 1024, 16),
        ModelShape(
            "deepseek-v3", "mla", 61, 7168, 18432, 128, 128, 129280, latent=512 + _MLA_ROPE
        ),  # its experts are not counted
    )
}
"""The models by their names, in lower case."""


def shape_of(name: str) -> ModelShape:
    """A model by its name, in any case and with any owner before it (`facebook/opt-30b`).

    Raises InputError for a name that is none.
    """
    plain = re.sub(r"^.*/", "", name).lower()
    if plain not in MODELS:
        raise InputError(
            f"unknown model '{name}'",
            allowed=listed(MODELS),
            suggestion=nearest(plain, MODELS),
            path="model",
        )
    return MODELS[plain]
