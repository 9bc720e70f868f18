"""Models by their names: those of the core's catalogue, which `cxloom kv` has, too.

Each shape has its source there (`core/workload/kv/model/model_shape.cpp`); `cx.kv.models()` gives it.
"""

from __future__ import annotations

import re

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.offload.shapes import ModelShape
from cxloom.spec.names import listed, nearest


def _shape(name: str) -> ModelShape:
    known = _core.kv_model_shape(name)
    return ModelShape(name, **{**known, "parameters": int(known["parameters"])})


MODELS: dict[str, ModelShape] = {name: _shape(name) for name in _core.kv_model_names()}
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
