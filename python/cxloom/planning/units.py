"""Quantities of plans that the simulator does not have: days, rates of arrivals, shares up to all of it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cxloom.spec.quantities import Bandwidth, Bytes, Share

GIB = float(2**30)
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s?"


def _duration(value: Any) -> float:
    found = re.fullmatch(_NUMBER + "(ms|s|min|h|d)", str(value).strip())
    if found is None:
        raise ValueError("not a time, such as 90s, 5min, 6h or 14d")
    return float(found[1]) * _SECONDS[found[2]]


def _rate(value: Any) -> float:
    found = re.fullmatch(_NUMBER + "/(s|min|h|d)", str(value).strip())
    if found is None:
        raise ValueError("not a rate, such as 2/s, 30/min or 400/h")
    return float(found[1]) / _SECONDS[found[2]]


def _size(value: Any) -> Any:
    if isinstance(value, (int, float)):
        raise ValueError("not a size, such as 256GiB")  # a number of what?
    return value


def _load(value: Any) -> Any:
    if isinstance(value, (int, float)):
        raise ValueError("not a bandwidth, such as 50MB/s")
    return value


Size = Annotated[Bytes, BeforeValidator(_size)]
"""Bytes, with their unit."""
Load = Annotated[Bandwidth, BeforeValidator(_load)]
"""Bytes a second, with their unit."""
Room = Annotated[Size, Field(gt=0)]
"""Bytes, more than none."""
Duration = Annotated[float, Field(ge=0), BeforeValidator(_duration)]
"""Seconds, as a text with its unit."""
Span = Annotated[Duration, Field(gt=0)]
"""Seconds, more than none."""
Rate = Annotated[float, Field(gt=0), BeforeValidator(_rate)]
"""So many a second, as a text such as 400/h."""
Portion = Annotated[Share, Field(le=1)]
"""A share of at most all."""
