"""The system of a configuration of the ESF artifact, as a spec.

What its devices do with a packet decides the mapping:

- A switch's output works `delay` on each packet, whatever its size, and its inputs take no time. Here the switch takes
  none, and the wire away from it moves 64 B in `delay`; a message without data is as large as one with data.
- A bus is between two devices: here it is the link between them. A packet takes whole frames, one more than its payload
  fills, and then `framing_time` in a pipeline.
- A snoop filter stands before a memory: here it is the memory's own.
- A requester goes to the memories in turn, and has for each the same range of addresses. Here they are one region,
  in which lines are in turn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE
from cxloom.base.words import exact_bytes
from cxloom.importing.esf import GENERAL, Configuration, Device
from cxloom.importing.imported import Imported, in_ranges, several

_DRAM = re.compile(r"(DDR[45])_.*_(\d{4})(?:_\d+)?\.ini$")
_RATES = {"DDR4": (2400, 2666, 2933, 3200)}
"""Speeds of DRAMsim3's configurations that are presets here."""
_UNBOUNDED = 1 << 40
_LONGEST_BLOCK = 4
_SWITCH = {
    "kind": "switch", "switching_time": "0ns", "port_delay": "0ns", "forwarding": "store-and-forward",
}  # fmt: skip


def spec_of(read: Configuration, folder: Path) -> Imported:
    """The spec of a configuration; `folder` is where it will be, from which its traces are looked for.

    Raises InputError for buses and snoop filters that stand elsewhere than the artifact's scripts put them.
    """
    made = Imported(
        {}, f"Made by `cxloom import esf` of {Path(read.file).name}. Not taken over as it is:", read.notes
    )
    links, snoops = _links(read, made)
    memories = read.of_type("DRAMsim3Interface")
    hosts = read.of_type("Requester")
    devices = {host.name: _host(host) for host in hosts}
    devices |= {switch.name: dict(_SWITCH) for switch in read.of_type("Switch")}
    devices |= {memory.name: _memory(memory, snoops.get(memory.name), made) for memory in memories}
    made.spec["devices"] = in_ranges(devices)
    made.spec["links"] = links
    coherent = any(host.given["coherent"] for host in hosts)
    made.spec["address_map"] = _address_map(memories, snoops if coherent else {}, made)
    made.spec["workload"] = in_ranges({host.name: _work(host, read, folder, made) for host in hosts})
    _say_the_rest(read, made)
    return made


# --- links -----------------------------------------------------------------------------------------------------------


@dataclass
class _Ends:
    """Two neighbours and the bus between them, if there is one."""

    one: str
    other: str
    bus: Device | None = None


def _links(read: Configuration, made: Imported) -> tuple[list[dict[str, Any]], dict[str, Device]]:
    """The links, and the snoop filter of each memory that has one."""
    neighbours: dict[str, list[str]] = {name: [] for name in read.devices}
    for one, other in read.edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    snoops: dict[str, Device] = {}
    stands_for: dict[str, str] = {}
    for snoop in read.of_type("Snoop"):
        memory = _memory_behind(snoop, neighbours, read)
        snoops[memory] = snoop
        stands_for[snoop.name] = memory
    pairs: dict[frozenset[str], _Ends] = {}
    for ends in _pairs(read, neighbours):
        ends.one, ends.other = (stands_for.get(end, end) for end in (ends.one, ends.other))
        key = frozenset((ends.one, ends.other))
        if len(key) == 1:
            continue  # from a snoop filter to its memory
        if key in pairs:
            made.notes.append(
                f"{ends.one} and {ends.other} are joined twice, of which one way is used: the first."
            )
            continue
        pairs[key] = ends
    return [_link(ends, read, made) for ends in pairs.values()], snoops


def _pairs(read: Configuration, neighbours: dict[str, list[str]]) -> list[_Ends]:
    """The edges, a bus with those to its two neighbours as one, in the order of the file."""
    made = []
    seen: set[str] = set()
    for one, other in read.edges:
        buses = [name for name in (one, other) if read.devices[name].type == "DuplexBus"]
        if not buses:
            made.append(_Ends(one, other))
            continue
        bus = read.devices[buses[0]]
        ends = neighbours[bus.name]
        if len(ends) != 2 or any(read.devices[end].type == "DuplexBus" for end in ends):
            raise InputError(
                f"a bus with {len(ends)} neighbours" if len(ends) != 2 else "a bus beside a bus",
                found=", ".join(ends), allowed="two devices that are no buses", path=bus.name, file=read.file,
            )  # fmt: skip
        if bus.name not in seen:
            seen.add(bus.name)
            made.append(_Ends(ends[0], ends[1], bus))
    return made


def _memory_behind(snoop: Device, neighbours: dict[str, list[str]], read: Configuration) -> str:
    ends = neighbours[snoop.name]
    memories = [end for end in ends if read.devices[end].type == "DRAMsim3Interface"]
    if len(ends) != 2 or len(memories) != 1 or len(neighbours[memories[0]]) != 1:
        raise InputError(
            "a snoop filter that is not just before a memory", found=", ".join(ends) or "no neighbour",
            allowed="two neighbours, of which one is a memory with no other", path=snoop.name, file=read.file,
        )  # fmt: skip
    return memories[0]


def _link(ends: _Ends, read: Configuration, made: Imported) -> dict[str, Any]:
    delays = tuple(
        read.devices[end].given["delay"] if read.devices[end].type == "Switch" else 0
        for end in (ends.one, ends.other)
    )
    link: dict[str, Any] = {"between": [ends.one, ends.other], "port_delay": "0ns"}
    if ends.bus is None:
        there, back = (_rate(LINE, delay) for delay in delays)
        if there or back:
            link |= {"bandwidth": there or "unlimited", "header": f"{LINE}B", "data_header": "0B"}
        if there != back:
            link["reverse"] = {"bandwidth": back or "unlimited"}
        return link
    return link | _of_bus(ends.bus, delays, made)


def _of_bus(bus: Device, delays: Sequence[int], made: Imported) -> dict[str, Any]:
    """What a bus makes of a link whose ends work so long on each packet that they send.

    Of the two, the slower one sets the pace; the other one's time is on the way.
    """
    given = bus.given
    width = given["width"] // 8
    header, data = (_on_the_wire(payload, given["frame_size"], width) for payload in (0, LINE))
    without, with_data = (size // width * given["delay_per_T"] for size in (header, data))
    if given["is_full"] and min(delays) >= with_data:  # the switches at both ends are slower, for any packet
        header = data = LINE
        paces, flights = list(delays), [given["framing_time"] + with_data] * 2
        exact = without == with_data
    else:
        paces, flights = [with_data] * 2, [given["framing_time"] + delay for delay in delays]
        exact = max(delays) <= without
    if not exact:
        made.notes.append(
            f"{bus.name}: some packets take longer in the switch before it than on it. Here one of the two bounds "
            "how many pass, and the other is time on the way."
        )
    rates = [_rate(data, pace) or "unlimited" for pace in paces]
    link: dict[str, Any] = {
        "bandwidth": rates[0],
        "header": f"{header}B",
        "data_header": f"{data - LINE}B",
        "delay": f"{flights[0]}ns",
    }
    back: dict[str, Any] = {}
    if rates[1] != rates[0]:
        back["bandwidth"] = rates[1]
    if flights[1] != flights[0]:
        back["delay"] = f"{flights[1]}ns"
    if back:
        link["reverse"] = back
    if not given["is_full"]:
        link |= {"duplex": "half", "turnaround": f"{given['half_rev_time']}ns"}
    return link


def _on_the_wire(payload: int, frame: int, width: int) -> int:
    """Bytes that a packet takes: one frame more than its payload fills, in whole transfers."""
    frames = (payload + frame) // frame
    return -(-frames * frame // width) * width


def _rate(size: int, ns: int) -> str:
    """The bandwidth that moves so many bytes in a time; nothing for no time."""
    return f"{Decimal(f'{float(Fraction(size, ns)):.12g}'):f}GB/s" if ns else ""


# --- devices ---------------------------------------------------------------------------------------------------------


def _host(host: Device) -> dict[str, Any]:
    given = host.given
    made: dict[str, Any] = {"kind": "host", "process_time": "0ns", "queue": given["q_capacity"]}
    if given["issue_delay"]:
        made["issue_interval"] = f"{given['issue_delay']}ns"
    if given["coherent"] and given["cache_capacity"]:
        made["cache"] = {
            "size": exact_bytes(given["cache_capacity"] * LINE),
            "ways": 0,
            "policy": "lru",
            "access_time": f"{given['cache_delay']}ns",
        }
    return made


def _memory(memory: Device, snoop: Device | None, made: Imported) -> dict[str, Any]:
    given = memory.given
    device: dict[str, Any] = {"kind": "memory"}
    if given["capacity"] < _UNBOUNDED:
        device["capacity"] = exact_bytes(given["capacity"])
    else:
        made.notes.append(f"{memory.name}: a capacity of {given['capacity']} B; here it is that of its DRAM.")
    device["controller_time"] = f"{given['process_time']}ns"
    device["media"] = _media(memory, made)
    if snoop is not None:
        device["dcoh"] = {"lookup_time": "0ns", "filter": _filter(snoop, made)}
    return device


def _media(memory: Device, made: Imported) -> dict[str, Any]:
    """The DRAM of a memory, with as many clocks for everything and the clock that was meant."""
    name = Path(memory.given["config_file"]).name
    found = _DRAM.fullmatch(name)
    if found is None or int(found[2]) not in _RATES.get(found[1], ()):
        made.notes.append(
            f"{memory.name}: there is no preset for DRAMsim3's {name}. Here it is DDR4-3200: choose one of "
            "`cxloom components dram`."
        )
        preset = "DDR4-3200"
    else:
        preset = f"{found[1]}-{found[2]}"
    return {"kind": "dram", "preset": preset, "timing": {"tCK": f"{memory.given['tick_per_clock']}ns"}}


def _filter(snoop: Device, made: Imported) -> dict[str, Any]:
    given = snoop.given
    block = max(1, given["max_burst_inv"])
    if block > _LONGEST_BLOCK:
        made.notes.append(
            f"{snoop.name}: max_burst_inv of {block}; here a snoop takes {_LONGEST_BLOCK} lines at most, as CXL has it."
        )
        block = _LONGEST_BLOCK
    made_filter: dict[str, Any] = {
        "entries": given["line_num"],
        "ways": given["assoc"],
        "policy": given["eviction"].lower(),
    }
    if block > 1:
        made_filter |= {"block": block, "alignment": "free"}
    return made_filter


# --- addresses and work ----------------------------------------------------------------------------------------------


def _address_map(
    memories: Sequence[Device], snoops: dict[str, Device], made: Imported
) -> list[dict[str, Any]]:
    """One region of all memories that are alike, line by line in turn."""
    starts = {memory.given["start"] for memory in memories}
    if len(memories) > 1 or starts != {0}:
        made.notes.append(
            "start: memories have addresses of their own there. Here they share one address map."
        )
    for name, snoop in snoops.items():
        memory = next(each.given for each in memories if each.name == name)
        if snoop.given["ranges"] != [[memory["start"], memory["start"] + memory["capacity"]]]:
            made.notes.append(f"{snoop.name}: ranges. Here the filter has all lines of {name}.")
    sizes = {memory.given["capacity"] for memory in memories}
    regions: list[list[Device]] = [list(memories)]
    if len(sizes) > 1:
        regions = [[memory] for memory in memories]
        made.notes.append("Memories of several sizes follow each other: the larger get more of the requests.")
    if snoops and len(snoops) < len(memories):
        regions = [[memory] for memory in memories]
    entries = []
    for region in regions:
        entry: dict[str, Any] = {"to": [*in_ranges({memory.name: None for memory in region})]}
        if len(region) > 1:
            entry |= {"interleave": f"{LINE}B", "policy": "weighted"}
        if region[0].name in snoops:
            entry["coherence"] = "hdm-db"
        entries.append(entry)
    return entries


def _work(host: Device, read: Configuration, folder: Path, made: Imported) -> dict[str, Any]:
    given, memories = host.given, read.of_type("DRAMsim3Interface")
    if given["burst_size"] != 1:
        made.notes.append(
            f"{host.name}: burst_size of {given['burst_size']}, which multiplies the bytes that its program counts and "
            "moves none. Here requests are of a line."
        )
    if given["block_size"] != LINE:
        made.notes.append(f"{host.name}: block_size of {given['block_size']}. Here accesses are of {LINE} B.")
    if given["coherent"] and given["cache_delay"]:
        made.notes.append(
            f"{host.name}: cache_delay delays the issue of the next request, too. Here look-ups are a pipeline."
        )
    if given["interleave_type"] == "trace":
        return _trace(host, memories, read, folder, made)
    shares = [memory.given["wr_ratio"] for memory in memories]
    writes = sum(shares) / len(shares)
    if len({*shares}) > 1:
        made.notes.append(
            "wr_ratio: of each memory there. Here a workload has one share of reads, their mean."
        )
    capacity = sum(min(memory.given["capacity"], _UNBOUNDED) for memory in memories)
    work: dict[str, Any] = {
        "pattern": {"stream": "sequential", "random": "random", "hotcold": "hot-cold"}[
            given["interleave_type"]
        ],
        "reads": f"{100 * (1 - writes):.10g}%",
        "requests": given["interleave_param"],
        "footprint": exact_bytes(capacity),
    }
    if given["interleave_type"] == "hotcold":
        work["hot_requests"] = f"{100 * given['hot_req_ratio']:.10g}%"
        work["hot_footprint"] = f"{100 * given['hot_region_ratio']:.10g}%"
    return work


def _trace(
    host: Device, memories: Sequence[Device], read: Configuration, folder: Path, made: Imported
) -> dict[str, Any]:
    """A trace, whose addresses are the program's own: its pages go to the memories in turn."""
    given = host.given["trace_file"]
    # The artifact looks from where it runs: above the folder of its configurations, as a rule.
    places = [Path(), Path(read.file).parent, Path(read.file).parent.parent]
    found = [place / given for place in places if given and (place / given).is_file()]
    if not found:
        raise InputError(
            "no such trace", found=f"'{given}'", allowed="a file, seen from here or from the configuration",
            path=f"{host.name}.trace_file", file=read.file,
        )  # fmt: skip
    made.notes.append(
        f"{host.name}: lines of {given} go to the memories in turn, whatever their addresses. Here its pages do. "
        "Its times are not played: `replay: timestamps` does that."
    )
    nodes = [memory.name for memory in memories]
    return {"trace": os.path.relpath(found[0], folder), "addresses": {"kind": "interleave", "nodes": nodes}}


def _say_the_rest(read: Configuration, made: Imported) -> None:
    made.notes.append(
        f"{', '.join(GENERAL)}, output_dir: of its program. Here a run is measured until the first requester is done."
    )
    once: dict[str, list[str]] = {}
    for note in made.notes:
        name, colon, rest = note.partition(": ")
        once.setdefault(rest if name in read.devices else note, []).append(
            name if colon and name in read.devices else ""
        )
    made.notes[:] = [f"{several(names)}: {rest}" if names[0] else rest for rest, names in once.items()]
