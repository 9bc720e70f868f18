"""How long a host's own accesses to registers take: CXL.io over the links of a spec, with nothing else on them.

A closed form, the one that docs/model/io_engine.md has of packets of an engine: the flight of each link, the time of
switches, the bytes at the slowest link, and the time that the device takes to answer. Of a link of flits a packet of a
few bytes takes a whole flit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cxloom.base.words import ends_of
from cxloom.spec.parts import Part, links_of, part_of, quantity

CONFIGURATION_BYTES = 4
"""Data of an access to configuration space (PCI Express Base 5.0, 2.2.7)."""
_SMALL_FLIT, _FLIT = 68, 256
_FASTEST_SMALL = 5  # the generation of PCIe up to which flits have 68 bytes, unless the link says otherwise
_REQUEST, _COMPLETION = 24, 20  # bytes of a packet of PCIe besides its data (docs/model/link.md)


@dataclass(frozen=True)
class Packet:
    """A packet of CXL.io of a few bytes."""

    data: int
    is_completion: bool = False


@dataclass(frozen=True)
class _Link:
    flight_ns: float
    bytes_per_ns: float
    header: float
    """Bytes of a message without data."""
    data_header: float
    """Bytes that one with data carries besides."""
    flit: int
    """Bytes of a flit, which has all of a small packet; 0: none."""
    is_pcie: bool

    def ns(self, packet: Packet) -> float:
        """The time of the packet's bytes."""
        size = packet.data + (self.data_header if packet.data else self.header)
        if self.flit:
            size = self.flit
        elif self.is_pcie:
            size = packet.data + (_COMPLETION if packet.is_completion else _REQUEST)
        return size / self.bytes_per_ns


class IoTimes:
    """The times of accesses that go over the links of a system."""

    def __init__(self, spec: Mapping[str, Any], described: Mapping[str, Any]) -> None:
        """``spec`` is the resolved spec, as plain data; ``described`` its description."""
        self._spec = spec
        self._links: dict[tuple[str, str], _Link] = {}
        for written, link in zip(links_of(spec), described["links"], strict=True):
            for end in link["ends"]:
                self._links.setdefault(ends_of(end["name"]), _link(written, end))

    def round_trip_ns(self, way: Sequence[str], there: Packet, back: Packet) -> float:
        """A request that is answered, such as a read, or a write of configuration space.

        Args:
            way: the devices from the host on to the one that answers.
            there: the request.
            back: its completion.
        """
        return self.one_way_ns(way, there) + self.answer_ns(way[-1]) + self.one_way_ns(way[::-1], back)

    def one_way_ns(self, way: Sequence[str], packet: Packet) -> float:
        """A request until it has come, such as a posted write, for which nobody waits."""
        links = [self._links[here, there] for here, there in pairwise(way)]
        flight = sum(link.flight_ns for link in links)
        tail, stored = 0.0, 0.0
        for link, device in zip(links, way[1:], strict=True):
            tail = max(tail, link.ns(packet))
            part = part_of(self._spec, device, "switch")
            if part is not None and device != way[-1]:
                flight += quantity("time", part.text("switching_time"))
                if part.text("forwarding") == "store-and-forward":
                    stored, tail = stored + tail, 0.0
        return flight + stored + tail

    def answer_ns(self, device: str) -> float:
        """The time from a request's arrival to its completion: `io_time`; of a switch the source has none, and it is
        0."""
        part = part_of(self._spec, device, "memory")
        text = "" if part is None else part.text("io_time")
        return quantity("time", text) if text else 0.0


def _link(written: Part, end: Mapping[str, Any]) -> _Link:
    phy, flit = written.text("phy"), written.text("flit")
    small = flit == "68B" or (written.get("flit") is None and _generation(phy) <= _FASTEST_SMALL)
    return _Link(
        quantity("time", end["flight"]),
        quantity("bandwidth", end["bandwidth"]) / 1e9,
        quantity("bytes", written.text("header")),
        quantity("bytes", written.text("data_header")),
        (_SMALL_FLIT if small else _FLIT) if phy and flit != "none" else 0,
        bool(phy),
    )


def _generation(phy: str) -> int:
    found = re.match(r"pcie(\d)", phy)
    return int(found[1]) if found is not None else 0
