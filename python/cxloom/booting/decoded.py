"""The address map that the guest's kernel has programmed, followed through its decoders as an access is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Listed = Mapping[str, Any]


@dataclass(frozen=True)
class Decoder:
    """A decoder of a window, a host bridge or a switch: whom it sends an address to."""

    base: int
    size: int
    ways: int
    granularity: int
    targets: tuple[str, ...]
    """The ports that it goes round, by their names in the guest."""

    def target(self, address: int) -> str | None:
        """Whom it sends an address to; None if the address is not its own."""
        if not self.base <= address < self.base + self.size:
            return None
        return self.targets[(address - self.base) // self.granularity % self.ways]


@dataclass(frozen=True)
class EndpointDecoder:
    """A decoder of a device: which address within it an address of the host is."""

    base: int
    size: int
    ways: int
    granularity: int
    device_base: int

    def device_address(self, address: int) -> int | None:
        """The address within the device; None if the address is not the decoder's."""
        if not self.base <= address < self.base + self.size:
            return None
        offset = address - self.base
        chunk = offset // (self.granularity * self.ways)
        return self.device_base + chunk * self.granularity + offset % self.granularity


@dataclass(frozen=True)
class _Port:
    """A port: the root, a host bridge or a switch, with what is below each of its targets."""

    decoders: tuple[Decoder, ...]
    below: Mapping[str, _Port | _Device]


@dataclass(frozen=True)
class _Device:
    serial: int
    decoders: tuple[EndpointDecoder, ...]


class KernelMap:
    """The decoders of a guest."""

    def __init__(self, listed: list[Listed]) -> None:
        """``listed`` is what `cxl list -BPTEMD -i` says: the bus with its ports, endpoints, memory devices and
        decoders."""
        self._roots = [_port(bus) for bus in listed if "bus" in bus]

    @property
    def windows(self) -> list[Decoder]:
        """The windows of host addresses, in the order of the firmware's table."""
        return [decoder for root in self._roots for decoder in root.decoders]

    def locate(self, address: int) -> tuple[int, int] | None:
        """The serial number of the device that an address of the host leads to, and the address within it; None
        where it
        leads nowhere."""
        for root in self._roots:
            here: _Port | _Device | None = root
            while isinstance(here, _Port):
                targets = (decoder.target(address) for decoder in here.decoders)
                target = next((each for each in targets if each is not None), None)
                here = here.below.get(target) if target is not None else None
            if here is not None:
                found = (decoder.device_address(address) for decoder in here.decoders)
                return next(((here.serial, each) for each in found if each is not None), None)
        return None


def _port(listed: Listed) -> _Port:
    below: dict[str, _Port | _Device] = {}
    for child in _children(listed, "ports:"):
        # The root knows a host bridge by its name; a bridge knows a switch by the port that it hangs on.
        below[child.get("parent_dport", child["host"])] = _port(child)
    for child in _children(listed, "endpoints:"):
        below[child["parent_dport"]] = _device(child)
    return _Port(tuple(_decoders(listed)), below)


def _children(listed: Listed, prefix: str) -> Iterator[Listed]:
    for key, value in listed.items():
        if key.startswith(prefix):
            yield from value


def _decoders(listed: Listed) -> Iterator[Decoder]:
    for each in _children(listed, "decoders:"):
        if _is_set(each):
            targets = sorted(each.get("targets", []), key=lambda target: int(target["position"]))
            names = tuple(target["target"] for target in targets)
            ways = int(each.get("interleave_ways", 1))
            yield Decoder(_number(each["resource"]), _number(each["size"]), ways, _granularity(each), names)


def _device(listed: Listed) -> _Device:
    decoders = [
        EndpointDecoder(
            _number(each["resource"]),
            _number(each["size"]),
            int(each.get("interleave_ways", 1)),
            _granularity(each),
            _number(each.get("dpa_resource", 0)),
        )
        for each in _children(listed, "decoders:")
        if _is_set(each)
    ]
    return _Device(_number(listed["memdev"]["serial"]), tuple(decoders))


def _is_set(decoder: Listed) -> bool:
    return "resource" in decoder and _number(decoder.get("size", 0)) > 0


def _granularity(decoder: Listed) -> int:
    """The tool leaves it out where a decoder has one target, and any will do."""
    return int(decoder.get("interleave_granularity", 256))


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else int(value, 0)
