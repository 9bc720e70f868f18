"""Prices of parts. Those that nobody gave are estimates, and every result says which are."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cxloom.planning.inputs import Inputs

Price = Annotated[float, Field(ge=0)]
_CHOSEN = "chosen here for its order of magnitude: no price list was at hand"


class Prices(Inputs):
    """What parts cost, in one currency. Makers do not publish what large buyers pay: give your own."""

    currency: Annotated[str, Field(min_length=1, max_length=12)] = "USD"
    dram_per_gib: Price = 5.0
    """DRAM in a server, a GiB."""
    pool_dram_per_gib: Price | None = None
    """DRAM of a device, a GiB; by default as in a server."""
    device: Price = 100.0
    """A device without heads and DRAM: board, controller of the memory."""
    head: Price = 60.0
    """One head of a device, with its part of the controller."""
    switch_port: Price = 200.0
    """One port of a switch, with its part of the switch."""
    cable: Price = 40.0
    """The cable of one link."""
    retimer: Price = 40.0
    """One retimer."""


def sources(prices: Prices) -> list[dict[str, Any]]:
    """Each price, whether it was given or is an estimate, and of an estimate where it is from."""
    rows = []
    for name in type(prices).model_fields:
        value = getattr(prices, name)
        if name == "currency":
            continue
        given = name in prices.model_fields_set and value is not None
        if name == "pool_dram_per_gib" and not given:
            rows.append({"part": name, "price": prices.dram_per_gib, "by": "as dram_per_gib", "source": ""})
            continue
        rows.append(
            {
                "part": name,
                "price": value,
                "by": "given" if given else "estimate",
                "source": "" if given else _CHOSEN,
            }
        )
    return rows
