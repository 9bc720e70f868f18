"""Quantities in the inputs of plans: texts with units, or plain numbers in the unit that is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from cxloom.base.errors import InputError, together
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import described
from cxloom.spec.parts import quantity

_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_COUNTS = {**_SCALES, "B": 1e9}
Params = TypeVar("Params", bound=BaseModel)
_NUMBERS = {
    "float_type": "not a number",
    "float_parsing": "not a number",
    "int_type": "not a whole number",
    "int_parsing": "not a whole number",
    "int_from_float": "not a whole number",
}
"""What is wrong with a value that should be a number, by Pydantic's word for it."""


def _number(value: Any, form: str, scales: Mapping[str, float], units: str) -> float:
    """A number, or a text of one with a scale before its unit. Raises ValueError if it is neither."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\s?([A-Za-z]?){units}", str(value).strip())
    if found is None or found[2] not in scales:
        raise ValueError(f"not {form}")
    return float(found[1]) * scales[found[2]]


def _quantity(kind: str, form: str) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        try:
            return quantity(kind, str(value))
        except InputError:
            raise ValueError(f"not {form}") from None

    return parse


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return _quantity("time", "a time, such as 250ms")(value) / 1e9


def _share(value: Any) -> float:
    if isinstance(value, str) and value.endswith("%"):
        return _number(value[:-1], "a share, such as 80% or 0.8", {"": 1.0}, "") / 100
    return _number(value, "a share, such as 80% or 0.8", {"": 1.0}, "")


Bytes = Annotated[float, Field(ge=0), BeforeValidator(_quantity("bytes", "a size, such as 24GiB"))]
"""Bytes, as a text with its unit or as a number."""
Bandwidth = Annotated[
    float, Field(gt=0), BeforeValidator(_quantity("bandwidth", "a bandwidth, such as 26GB/s"))
]
"""Bytes per second, as a text with its unit or as a number."""
FlopRate = Annotated[
    float,
    Field(gt=0),
    BeforeValidator(
        lambda value: _number(value, "a rate of arithmetic, such as 4.3Tflop/s", _SCALES, "flop/s")
    ),
]
"""Floating-point operations per second, as a text with its unit or as a number."""
Seconds = Annotated[float, Field(ge=0), BeforeValidator(_seconds)]
"""Seconds, as a text with its unit or as a number."""
Share = Annotated[float, Field(ge=0), BeforeValidator(_share)]
"""A share, as a percentage or as a number."""
Count = Annotated[
    float, Field(gt=0), BeforeValidator(lambda value: _number(value, "a number, such as 8B", _COUNTS, ""))
]
"""How many, such as `8B` for eight billion or `500M`."""


def checked(params: type[Params], given: Mapping[str, Any], path: str = "") -> Params:
    """The parameters of these values. Raises InputError for unknown names and impossible values, with their paths."""
    try:
        return params(**given)
    except ValidationError as error:
        raise together([_said(params, each, path) for each in error.errors()]) from None


def _said(params: type[BaseModel], error: Any, path: str) -> InputError:
    keys = [
        str(key) for key in error["loc"] if not str(key).startswith("[")
    ]  # the tag of one of several forms
    where = ".".join([path, *keys] if path else keys)
    if error["type"] == "extra_forbidden":
        names = list(params.model_fields)
        return InputError(
            f"unknown key '{keys[-1]}'",
            allowed=listed(names),
            suggestion=nearest(keys[-1], names),
            path=where,
        )
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "missing":
        return InputError("a value is missing", path=where)
    if error["type"] in _NUMBERS:
        return InputError(_NUMBERS[error["type"]], found=f"'{error['input']}'", path=where)
    if error["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        found = str(error["input"])
        return InputError(
            "unknown choice",
            found=f"'{found}'",
            allowed=listed(choices),
            suggestion=nearest(found, choices),
            path=where,
        )
    if error["type"] == "too_short":
        return InputError(
            "too few entries",
            found=str(error["ctx"]["actual_length"]),
            allowed=f"at least {error['ctx']['min_length']}",
            path=where,
        )
    if error["type"] == "string_type":
        return InputError("not a text", found=described(error["input"]), path=where)
    if message.startswith("not a"):
        problem, _, allowed = message.partition(", such as ")
        return InputError(
            problem, found=f"'{error['input']}'", allowed=f"such as {allowed}" if allowed else "", path=where
        )
    return InputError(
        "out of bounds",
        found=str(error["input"]),
        allowed=message.removeprefix("Input should be ").replace("a valid tuple", "a list"),
        path=where,
    )
