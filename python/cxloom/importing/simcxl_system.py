"""The system of a script of SimCXL or CXL-DMSim, as a spec.

A read crosses the bridge and its protocol, the device's protocol and the memory, and comes back the same way: link,
controller and media here. A response has its place in the device's FIFO from the request on, so that these places are
what bounds: the memory's queue.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.words import exact_bytes
from cxloom.importing.imported import Imported
from cxloom.importing.simcxl import UNKNOWN, Board, Made

_UNITS = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+)\s*([kKMGT]?)i?B")
_CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*([MG])Hz")
_TIME = re.compile(r"\d+(?:\.\d+)?[pnum]s")
_DRAM = re.compile(r"(?:(Single|Dual)Channel|DIMM_)?(DDR\d)_(\d+)")
_CACHES = {"l1d": (8, 3), "l2": (16, 10), "l3": (16, 96)}
"""Ways, where a script does not say them, and cycles: those of gem5's classic caches in SimCXL (5908b58)."""
_KNOWN = {
    "bridge": {"bridge_lat", "proto_proc_lat", "req_fifo_depth", "resp_fifo_depth"},
    "board": {"clk_freq", "processor", "memory", "cache_hierarchy", "cxl_memory", "is_asic"},
    "memory": {"size"},
    "cxl_memory": {"size"},
    "processor": {"switch_core_type", "cpu_type", "num_cores", "starting_core_type", "isa"},
    "cache_hierarchy": {f"{level}_{what}" for level in ("l1i", *_CACHES) for what in ("size", "assoc")},
}
"""What is taken over of each part, or named in a note of its own."""
_MSHRS = 384
"""Misses that the last level may have under way there."""


def spec_of(board: Board) -> Imported:
    """The spec of a board. Raises InputError for memory or numbers that it has no word for."""
    made = Imported(
        {},
        f"Made by `cxloom import simcxl` of {Path(board.file).name}. Not taken over as it is:",
        board.notes,
    )
    device = board.devices[_is_asic(board)]
    for part in ("processor", "cache_hierarchy"):
        if isinstance(called := board.parts.get(part), Made):
            called.refuse_unnamed(board.file)
    bridge = board.bridge
    flight = sum(_ns(board, name, bridge[name]) for name in ("bridge_lat", "proto_proc_lat"))
    places = _places(board, "rsp_size", device["rsp_size"])
    if device["req_size"] != device["rsp_size"]:
        made.notes.append(
            f"req_size of {device['req_size']}: here the {places} places of responses are the queue."
        )
    slots = _places(board, "resp_fifo_depth", bridge["resp_fifo_depth"])
    if bridge["req_fifo_depth"] != bridge["resp_fifo_depth"]:
        made.notes.append(
            f"req_fifo_depth of {bridge['req_fifo_depth']}: here the link has {slots} credits of each class."
        )
    protocol = 2 * _ns(board, "proto_proc_lat", device["proto_proc_lat"])
    made.spec = {
        "devices": {
            "host": _host(board, made),
            "local": _memory(board, "memory", "0ns", made),
            "cxl": {
                **_memory(board, "cxl_memory", f"{float(protocol):g}ns", made),
                "queue": places,
                "credit_release": "completion",
            },
        },
        "links": [
            {"between": ["host", "local"], "port_delay": "0ns"},
            {
                "between": ["host", "cxl"],
                "port_delay": "0ns",
                "delay": f"{float(flight):g}ns",
                "credits": slots,
            },
        ],
        "address_map": [{"to": ["local"]}, {"to": ["cxl"]}],
        "workload": {
            "host": {
                "pattern": "pointer-chase",
                "requests": 20000,
                "footprint": "2GiB",
                "addresses": {"kind": "bind", "nodes": ["cxl"]},
            }
        },
    }
    given = {"bridge": bridge, "board": board.parts}
    given |= {name: part.given for name, part in board.parts.items() if isinstance(part, Made)}
    for name, known in _KNOWN.items():
        if more := [key for key in given.get(name, {}) if key not in known]:
            made.notes.append(f"{name}: {', '.join(more)}.")
    made.notes += [
        "What runs in the guest (kernel, disk, command). Here it is a chase through the CXL memory, as by lat_mem_rd; "
        "`cxloom exec --system SPEC --membind cxl -- PROGRAM` runs a program.",
        "Crossbars and gem5's memory controllers, whose times are not in the script. Here they take none.",
        "L1 instruction caches: programs here have none.",
    ]
    return made


def _is_asic(board: Board) -> bool:
    """Which of the two devices the board has."""
    asic = board.parts.get("is_asic", True)
    if asic is UNKNOWN or isinstance(asic, Made):
        raise InputError(
            "which device: is_asic", found=_found(asic), allowed="arguments and constants, compared", file=board.file
        )  # fmt: skip
    return bool(asic)


def _host(board: Board, made: Imported) -> dict[str, Any]:
    """Cores and caches. In-order cores of gem5 wait for each access; those out of order have a model of their own."""
    clock = _clock(board, board.parts.get("clk_freq", "2.4GHz"))
    processor = board.parts.get("processor")
    kind, cores = "TIMING", 1
    if isinstance(processor, Made):
        cores = _places(board, "num_cores", processor.given.get("num_cores", 1))
        kind = processor.given.get("switch_core_type", processor.given.get("cpu_type", "TIMING"))
        if not isinstance(kind, str):
            raise InputError(
                "not a kind of core", found=_found(kind), allowed="one such as CPUTypes.O3", file=board.file
            )
    host: dict[str, Any] = {"kind": "host", "process_time": "0ns", "queue": _MSHRS if kind == "O3" else cores}
    private, shared = _caches(board, made)
    host["core"] = {"clock": f"{float(clock):g}G/s", "cores": cores, "caches": private}
    if kind != "O3":
        host["core"] |= {"window": 1, "width": 1, "cycles_per_instruction": 1, "mshrs": 1}
        made.notes.append(f"{kind} cores: here those of a window of one instruction.")
    if shared is not None:
        time = Fraction(shared.pop("cycles")) / clock
        host["cache"] = {**shared, "access_time": f"{round(1000 * time)}ps"}
    return host


def _caches(board: Board, made: Imported) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The caches of each core, and the one that all share: the last one that the hierarchy has."""
    hierarchy = board.parts.get("cache_hierarchy")
    name, given = (hierarchy.name, hierarchy.given) if isinstance(hierarchy, Made) else ("", {})
    levels = [
        {
            "size": exact_bytes(_size(board, f"{level}_size", given[f"{level}_size"])),
            "ways": _places(board, f"{level}_assoc", given.get(f"{level}_assoc", ways)),
            "cycles": cycles,
        }
        for level, (ways, cycles) in _CACHES.items()
        if f"{level}_size" in given
    ]
    if len(levels) < len(_CACHES):
        made.notes.append(
            f"cache_hierarchy {name or 'that only a run would tell'}: of its caches only the {len(levels)} whose sizes "
            "the script has, with the times of gem5's classic ones. Of Ruby's protocols nothing: "
            "docs/model/coherence.md. Above Ruby there is no bridge there; here there is one."
        )
    made.notes.append(
        "Prefetchers, which gem5's classic caches may have there: off here, see docs/model/prefetch.md."
    )
    shared = levels.pop() if len(levels) > 1 else None
    return levels, shared


def _memory(board: Board, name: str, controller: str, made: Imported) -> dict[str, Any]:
    memory = board.parts.get(name)
    kind = memory.name if isinstance(memory, Made) else ""
    found = _DRAM.fullmatch(kind)
    if found is None or not isinstance(memory, Made):
        raise InputError(
            f"no DRAM of a kind that is here: {name}", found=kind or "nothing that a script says",
            allowed="a class such as DIMM_DDR5_4400 or SingleChannelDDR4_3200", file=board.file,
        )  # fmt: skip
    media: dict[str, Any] = {"kind": "dram", "preset": f"{found[2]}-{found[3]}"}
    if found[1] == "Dual":
        media["channels"] = 2
    device: dict[str, Any] = {"kind": "memory", "controller_time": controller, "media": media}
    size = memory.given.get("size", memory.arguments[0] if memory.arguments else None)
    if size is not None:
        device["capacity"] = exact_bytes(_size(board, f"{name}.size", size))
    return device


def _found(value: Any) -> str:
    return f"what {value.name}() gives" if isinstance(value, Made) else repr(value)


def _ns(board: Board, name: str, value: Any) -> Fraction:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise InputError(
            f"not a time: {name}", found=_found(value), allowed="a text such as 50ns", file=board.file
        )
    scale = {"ps": Fraction(1, 1000), "ns": Fraction(1), "us": Fraction(1000), "ms": Fraction(1000000)}
    return Fraction(value[:-2]) * scale[value[-2:]]


def _size(board: Board, name: str, value: Any) -> int:
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InputError(
            f"not a size: {name}",
            found=_found(value),
            allowed="a text such as 8GB, of 1024s",
            file=board.file,
        )
    return int(found[1]) * _UNITS[found[2]]


def _clock(board: Board, value: Any) -> Fraction:
    """A clock in cycles per ns."""
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is None or Fraction(found[1]) == 0:
        raise InputError(
            "not a clock: clk_freq", found=_found(value), allowed="a text such as 2.4GHz", file=board.file
        )
    return Fraction(found[1]) / (1 if found[2] == "G" else 1000)


def _places(board: Board, name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(
            f"not a number: {name}", found=_found(value), allowed="an integer, at least 1", file=board.file
        )
    return value
