"""Reads configurations of the ESF paper's artifact, which calls itself Xerxes: TOML files.

The forms are those of its sources (097b6de): the general keys, a table ``devices`` of names and types, ``edges``
between names, and a table of parameters for each name. What it would read otherwise than somebody meant it is said: a
table that lacks a key, or has one of another type, is ignored there as a whole.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError
from cxloom.spec.names import listed, nearest

GENERAL: dict[str, Any] = {
    "max_clock": 1000000,
    "clock_granu": 10,
    "log_level": "INFO",
    "log_name": "output/try.csv",
}
TYPES: dict[str, dict[str, Any]] = {
    "Requester": {
        "q_capacity": 32,
        "cache_capacity": 8192,
        "cache_delay": 12,
        "issue_delay": 0,
        "coherent": False,
        "burst_size": 1,
        "block_size": 64,
        "interleave_type": "stream",
        "interleave_param": 5,
        "hot_req_ratio": 0.5,
        "hot_region_ratio": 0.5,
        "trace_file": "",
    },
    "Switch": {"delay": 1},
    "DuplexBus": {
        "is_full": True,
        "half_rev_time": 100,
        "delay_per_T": 1,
        "width": 32,
        "framing_time": 20,
        "frame_size": 256,
    },
    "DRAMsim3Interface": {
        "tick_per_clock": 1,
        "process_time": 1,
        "start": 0,
        "capacity": 1 << 30,
        "wr_ratio": 0.5,
        "config_file": "DRAMsim3/configs/DDR4_8Gb_x8_3200.ini",
        "output_dir": "output",
    },
    "Snoop": {"line_num": 1024, "assoc": 8, "max_burst_inv": 8, "ranges": [], "eviction": "LRU"},
}
"""The types of devices, with their parameters and the defaults of these. Times are in ns."""

INTERLEAVINGS = ("stream", "random", "hotcold", "trace")
EVICTIONS = ("FIFO", "LIFO", "LRU", "MRU", "LFI")
_CHOICES = {"interleave_type": INTERLEAVINGS, "eviction": EVICTIONS}
_POSITIVE = {
    "q_capacity",
    "interleave_param",
    "line_num",
    "assoc",
    "tick_per_clock",
    "capacity",
    "frame_size",
}
_FRACTIONS = {"wr_ratio", "hot_req_ratio", "hot_region_ratio"}
_BITS_OF_A_BYTE = 8


@dataclass
class Device:
    """A device of a configuration."""

    name: str
    type: str
    given: dict[str, Any]
    """Its parameters, those that the file leaves out by their defaults."""


@dataclass
class Configuration:
    """A configuration as it was written."""

    file: str
    devices: dict[str, Device] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    """Each once: the artifact keeps neighbours as a set."""
    notes: list[str] = field(default_factory=list)
    """Where the artifact reads something else than is written."""

    def of_type(self, kind: str) -> list[Device]:
        return [device for device in self.devices.values() if device.type == kind]


def read_esf(text: str, file: str) -> Configuration:
    """Reads a configuration. Raises InputError, with the key, for anything that the artifact has no word for."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        problem = str(error).partition(" (at ")[0]
        raise InputError(
            f"not TOML: {problem[:1].lower()}{problem[1:]}",
            file=file,
            line=int(at[1]) if at else None,
        ) from None
    types = data.get("devices")
    if not isinstance(types, dict) or not types:
        raise InputError(
            "no table of devices", allowed='[devices], with lines such as Host-0 = "Requester"', file=file
        )
    read = Configuration(file)
    for key in data:
        if key not in ("devices", "edges", *GENERAL, *types):
            if isinstance(data[key], dict):
                read.notes.append(f"[{key}] is of no device.")
                continue
            raise InputError(
                f"unknown key '{key}'", allowed=listed([*GENERAL, "edges", "devices"]),
                suggestion=nearest(key, [*GENERAL, "edges", "devices"]), file=file,
            )  # fmt: skip
    for name, kind in types.items():
        if kind not in TYPES:
            raise InputError(
                "unknown type of device", found=repr(kind), allowed=listed([*TYPES]),
                suggestion=nearest(str(kind), [*TYPES]), path=f"devices.{name}", file=file,
            )  # fmt: skip
        read.devices[name] = Device(name, kind, _parameters(name, kind, data.get(name, {}), read))
    read.edges = _edges(data.get("edges", []), read)
    for kind in ("Requester", "DRAMsim3Interface"):
        if not read.of_type(kind):
            raise InputError(f"no device of type {kind}", file=file, path="devices")
    return read


def _parameters(name: str, kind: str, table: Any, read: Configuration) -> dict[str, Any]:
    """The parameters of a device, checked; says when the artifact would not read the table."""
    defaults = TYPES[kind]
    if not isinstance(table, dict):
        raise InputError("not a table", allowed=f"[{name}]", path=name, file=read.file)
    for key, value in table.items():
        if key not in defaults:
            raise InputError(
                f"unknown parameter '{key}' of a {kind}", allowed=listed([*defaults]),
                suggestion=nearest(key, [*defaults]), path=f"{name}.{key}", file=read.file,
            )  # fmt: skip
        _check(key, value, defaults[key], f"{name}.{key}", read.file)
    ignored = [key for key in defaults if key not in table]
    ignored += [key for key, value in table.items() if type(value) is not type(defaults[key])]
    if table and ignored:
        read.notes.append(
            f"{name}: {', '.join(ignored)} is missing or of another type, for which the artifact silently takes its "
            f"defaults for all of [{name}]. Here what is written counts."
        )
    return {**defaults, **table}


def _check(key: str, value: Any, default: Any, path: str, file: str) -> None:
    if key == "ranges":
        _check_ranges(value, path, file)
        return
    allowed, fits = _allowed(key, default), False
    if key in _CHOICES:
        fits = value in _CHOICES[key]
    elif isinstance(default, bool | str):
        fits = type(value) is type(default)
    elif key in _FRACTIONS:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    elif isinstance(value, int) and not isinstance(value, bool):
        fits = value >= (_BITS_OF_A_BYTE if key == "width" else key in _POSITIVE)
    if not fits:
        raise InputError(f"not a value of {key}", found=repr(value), allowed=allowed, path=path, file=file)


def _allowed(key: str, default: Any) -> str:
    if key in _CHOICES:
        return listed(_CHOICES[key])
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, str):
        return "a text"
    if key in _FRACTIONS:
        return "a number from 0 to 1"
    least = _BITS_OF_A_BYTE if key == "width" else int(key in _POSITIVE)
    return f"an integer, at least {least}"


def _check_ranges(value: Any, path: str, file: str) -> None:
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(end) is int and end >= 0 for end in pair)
        for pair in value
    ):
        raise InputError(
            "not ranges", found=repr(value)[:60], allowed="[[first, last], ...]", path=path, file=file
        )


def _edges(edges: Any, read: Configuration) -> list[tuple[str, str]]:
    """The pairs of neighbours, each once."""
    made: dict[frozenset[str], tuple[str, str]] = {}
    if not isinstance(edges, list):
        raise InputError("not a list", allowed='[["Host-0", "Bus"], ...]', path="edges", file=read.file)
    for index, pair in enumerate(edges):
        path = f"edges[{index}]"
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, str) for end in pair)):
            raise InputError(
                "not a pair of devices",
                found=repr(pair)[:60],
                allowed='["Host-0", "Bus"]',
                path=path,
                file=read.file,
            )
        for end in pair:
            if end not in read.devices:
                raise InputError(
                    f"unknown device '{end}'", allowed=listed([*read.devices]),
                    suggestion=nearest(end, [*read.devices]), path=path, file=read.file,
                )  # fmt: skip
        if pair[0] != pair[1]:
            made.setdefault(frozenset(pair), (pair[0], pair[1]))
    return [*made.values()]
