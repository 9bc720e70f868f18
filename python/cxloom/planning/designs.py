"""The designs of pods that are compared: which devices there are, and which servers are linked to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cxloom.planning.inputs import Inputs
from cxloom.planning.units import GIB, Duration, Room

MOST_HEADS = 64
"""Ports that the simulator's memory has at most."""
Heads = Annotated[int, Field(ge=1, le=MOST_HEADS)]
"""Ports of a device."""


class NoPool(Inputs):
    """All memory is DRAM of the servers."""

    kind: Literal["none"]


class Pooled(Inputs):
    """What designs with devices have in common."""

    slice: Room = GIB
    """The piece in which memory of a device is given to a server and taken back."""
    release_delay: Duration = 0.0
    """From the end of a VM until its slices are free for others."""
    device: str = "expander/x16-ddr5"
    """A preset or a spec file of one host, one memory and the link between them: what is simulated for a device."""
    phy: str | None = None
    """The wire of each link, such as pcie5-x8; by default that of `device`."""
    retimers: Annotated[int, Field(ge=0, le=4)] = 0
    """Retimers in each link, to be paid."""
    device_price: Annotated[float, Field(ge=0)] | None = None
    """The price of one device without its DRAM; by default `prices.device` and `prices.head` for each head."""


class Direct(Pooled):
    """Devices that belong to one server: nothing is pooled."""

    kind: Literal["direct"]
    devices: Annotated[int, Field(ge=1, le=64)] = 1
    """Devices of each server."""


class MultiHeaded(Pooled):
    """Devices with several heads: so many servers side by side share them."""

    kind: Literal["multi-headed"]
    heads: Heads
    """Heads of a device, which is as many servers as share it."""
    devices: Annotated[int, Field(ge=1, le=64)] = 1
    """Devices that they share, each linked to every one of them."""


class Switched(Pooled):
    """Devices behind a switch, with which all servers of the switch reach all of its devices."""

    kind: Literal["switched"]
    servers: Annotated[int, Field(ge=1)] | None = None
    """Servers of a switch; by default all of them."""
    devices: Annotated[int, Field(ge=1)] = 1
    """Devices of a switch."""
    ports: Annotated[int, Field(ge=2)] | None = None
    """Ports that a switch has, all of which are paid; by default as many as are used."""
    switching_time: str | None = None
    """What the switch adds in each direction, such as 100ns, its ports aside; by default that of the simulator's."""


def _form(graph: object) -> str:
    return "[list]" if isinstance(graph, (list, tuple)) else "[word]"


Graph = Annotated[
    Annotated[Literal["spread", "random"], Tag("[word]")]
    | Annotated[tuple[tuple[Annotated[int, Field(ge=0)], ...], ...], Tag("[list]")],
    Discriminator(_form),
]
"""A graph by how it is dealt, or the devices of each server. What is wrong is said of the form that it has."""


class Sparse(Pooled):
    """Each server is linked to some of the devices, as in Octopus."""

    kind: Literal["sparse"]
    links: Annotated[int, Field(ge=1, le=64)] | None = None
    """Devices that each server is linked to."""
    heads: Heads | None = None
    """Heads of a device; there are servers x links / heads devices."""
    graph: Graph = "spread"
    """How they are linked: so that pairs of servers share few devices; at random; or the devices of each server."""
    graph_seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """Another one makes another graph."""


Design = NoPool | Direct | MultiHeaded | Switched | Sparse
KINDS: dict[str, type[Design]] = {
    "none": NoPool,
    "direct": Direct,
    "multi-headed": MultiHeaded,
    "switched": Switched,
    "sparse": Sparse,
}
"""Designs by the word for them."""
