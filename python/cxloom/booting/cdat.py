"""The tables by which devices and switches say how fast they are: Coherent Device Attribute Table, 1.04."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_READ_LATENCY, _WRITE_LATENCY, _READ_BANDWIDTH, _WRITE_BANDWIDTH = 1, 2, 4, 5
_PS_PER_NS = 1000  # latencies are told in ps
_UPSTREAM = 0x100  # the number of a switch's upstream port
_LARGEST = 0xFFFE  # what an entry can hold; 0xffff says that nothing is known
_RANGE = 0  # the number of a device's only range


def device_table(capacity: int, latency_ns: int, mb_per_s: int) -> bytes:
    """The table of a device with one range of volatile memory: its latency and bandwidth, for reads as for writes."""
    rows = [struct.pack("<BBHBBHQQ", 0, 0, 24, _RANGE, 0, 0, 0, capacity)]  # DSMAS: the range
    for kind, unit, value in _rows(latency_ns, mb_per_s):  # DSLBIS
        rows.append(struct.pack("<BBHBBBBQHHHH", 1, 0, 24, _RANGE, 0, kind, 0, unit, value, 0, 0, 0))
    rows.append(struct.pack("<BBHBBHQQ", 4, 0, 24, _RANGE, 0, 0, 0, capacity))  # DSEMTS: usual memory
    return _table(rows)


def switch_table(ports: int, latency_ns: int, mb_per_s: int) -> bytes:
    """The table of a switch: latency and bandwidth between its upstream port and each of so many others."""
    rows = []
    for kind, unit, value in _rows(latency_ns, mb_per_s):  # SSLBIS
        entries = b"".join(struct.pack("<HHHH", _UPSTREAM, port, value, 0) for port in range(ports))
        rows.append(struct.pack("<BBHBBBBQ", 5, 0, 16 + len(entries), kind, 0, 0, 0, unit) + entries)
    return _table(rows)


def _rows(latency_ns: int, mb_per_s: int) -> list[tuple[int, int, int]]:
    """Kind, unit and entry of each figure; the unit is as small as the entry allows."""
    figures = [(each, _PS_PER_NS, latency_ns) for each in (_READ_LATENCY, _WRITE_LATENCY)]
    figures += [(each, 1, mb_per_s) for each in (_READ_BANDWIDTH, _WRITE_BANDWIDTH)]
    scaled = []
    for kind, unit, value in figures:
        times = -(-value // _LARGEST) or 1
        scaled.append((kind, unit * times, round(value / times)))
    return scaled


def _table(rows: Sequence[bytes]) -> bytes:
    """Rows behind a header whose checksum makes all bytes sum to zero."""
    body = b"".join(rows)
    header = bytearray(struct.pack("<IBB6sI", 16 + len(body), 1, 0, bytes(6), 0))
    header[5] = -sum(header + body) & 0xFF
    return bytes(header) + body
