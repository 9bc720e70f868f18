"""What pages of docs/ say in numbers and no other test works out: sentences with figures put in from the rules.

`SENTENCES` has a function of each page, which gives what must stand there letter by letter. `GIVEN` has the numbers
that nothing works out, each with who says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cxloom as cx
from cxloom import _core
from cxloom.base.granules import LINE
from cxloom.bottleneck import occupancy, resource
from cxloom.explaining import what_ifs
from cxloom.fitting import fit, measured
from cxloom.measure import loaded_latency, peak

# --- flash ---


def idle_flash(reads: str, **media: Any) -> float:
    """Microseconds of one access of a page at a time, of flash alone."""
    host = {"kind": "host", "process_time": "0ns", "queue": 1}
    flash = {"kind": "flash", "write_buffer": 0, "filled": "100%", "over_provisioning": "33%", **media}
    memory = {"kind": "memory", "capacity": "64MiB", "controller_time": "0ns", "media": flash}
    work = {"pattern": "strided", "stride": media["page"], "requests": 20, "reads": reads}
    spec = {
        "devices": {"host": host, "mem": memory},
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": work | {"footprint": "64MiB"}},
    }
    return float(cx.run(cx.System.from_yaml(json.dumps(spec))).summary["latency_ns"]["mean"]) / 1000


def adapters() -> Iterator[str]:
    """A command is seven cycles; SimpleSSD's bus has 333 x 2^20 transfers of a byte a second."""
    bus = 333 * 2**20 / 1e6  # MB/s, bytes per us
    command, page = 7 / bus, 4096 / bus
    yield f"C = {1000 * command:.3f} ns are the command's seven cycles, x = {page:.3f} us is a page on the bus"
    yield f"the bus of ours has {bus:.1f} MB/s"
    yield f"{75 + 2 * command + page + 2 * 0.7:.4f} us = 2 C + R + x + 2 D"
    yield f"{750 + 2 * command + page + 1 / bus + 3 * 0.7:.4f} us = 2 C + x + P + 3 D and a cycle"
    yield f"{3800 + command + 6 / bus:.4f} us = E, C and six cycles"
    yield f"{3800 + command:.4f} us = C + E"
    ours = {
        "page": "4KiB",
        "sector": "4KiB",
        "planes": 1,
        "read_time": "75us",
        "program_time": "750us",
        "command_time": "20047ps",
        "bus_bandwidth": "349.175808MB/s",
    }
    yield f"| {idle_flash('100%', **ours):.4f} us = C + R + x |"
    yield f"| {idle_flash('0%', **ours):.4f} us = C + x + P |"


def flash() -> Iterator[str]:
    """A page of 4 KiB at 0.8 GB/s and 75 us, `command_time` 0.29 us; of MQSim pages of 8 KiB and 3 ns a byte."""
    yield f"64 lines of a page of 4 KiB at 0.8 GB/s and 75 us take {0.29 + 75 + 4096 / 800:.1f} us"
    ours = {
        "page": "8KiB",
        "sector": "8KiB",
        "planes": 1,
        "read_time": "75us",
        "program_time": "750us",
        "bus_bandwidth": "333.333333MB/s",
    }
    read, program = idle_flash("100%", **ours), idle_flash("0%", **ours)
    yield f"| {read:.3f} us | {99_896 - 1000 * round(read, 3):.0f} ns of set-up before data come out"
    yield f"| {program:.3f} us | its program command takes {774_937 - 1000 * round(program, 3):.0f} ns more"
    yield f"4 / {read + 3 * 8.192 * 3:.0f} us are 23,000 /s"


# --- DRAM ---

TRANSFERS = {
    "DDR3": 2,
    "DDR4": 2,
    "DDR5": 2,
    "LPDDR5": 8,
    "HBM2": 2,
    "HBM2E": 2,
    "HBM3": 4,
    "HBM3E": 4,
    "HBM4": 4,
}
"""Transfers of a pin in a clock of the commands (CK; LPDDR5's WCK is four times as fast, HBM3's twice)."""


def dram() -> Iterator[str]:
    """Clocks by the presets' names; closed forms of `test-D5` with its clocks (JESD79-5, speed bin 4800B)."""
    slow = ("DDR3-1600", "DDR4-2400", "DDR4-3200", "DDR5-4400", "DDR5-4800", "DDR5-5600", "LPDDR5-6400")
    for name in (*slow, "DDR5-6400", "DDR5-7200", "DDR5-8000", "DDR5-8800"):
        kind, rate = name.split("-")
        yield f"{int(rate) / TRANSFERS[kind]:.0f} MHz"
    for name in ("HBM2-2000", "HBM3-5200", "HBM3-6400"):
        kind, rate = name.split("-")
        yield f"{int(rate) / TRANSFERS[kind]:.0f} MHz"
    yield from (f"{rate / 2:.0f} MHz" for rate in (8800, 12_800))  # MRDIMM
    yield f"{9600 / 8:.0f} MHz"  # LPDDR5X
    yield f"(tRAS + tRP) is {16 * LINE / (161 * 0.375):.1f} GB/s beside the {LINE / 4.5:.1f}"  # LPDDR6
    for name in ("HBM2E-3600", "HBM3E-9600", "HBM4-8000"):
        kind, rate = name.split("-")
        yield f"{int(rate) / TRANSFERS[kind]:.0f} MHz"
    yield f"{1000 / 0.57:.0f} MHz"  # GDDR6
    yield f"{28_000 / 16:.0f} MHz"  # GDDR7
    clock, cl, rcd, rp, ras, rfc, refi = 0.416, 40, 39, 39, 77, 710, 9375
    yield f"| idle row conflict | tRP + tRCD + CL + BL/2 | {clock * (rp + rcd + cl + 8):.1f} ns |"
    yield f"| idle row hit | CL + BL/2 | {clock * (cl + 8):.1f} ns |"
    yield f"{LINE / (clock * (ras + rp)) * (1 - rfc / refi):.3f} GB/s"
    yield f"{32 * LINE / (clock * (ras + rp)) * (1 - rfc / refi):.1f} GB/s"
    yield f"which at 1.25 ns are {LINE / (5 * 1.25):.1f} GB/s"
    yield f"do not fit into the {3900 / 8:.1f} ns between two of a die"


# --- links and protocol ---


def flit() -> Iterator[str]:
    """68B of x16 at 32 GT/s: 4 / (5 - 4s) accesses a flit towards memory, from memory 16 / (17s + 1)."""
    wire = 16 * 32 / 8 * 128 / 130 / 68  # flits per ns
    at = [wire * min(4 / (5 - 4 * s), 16 / (17 * s + 1)) * LINE for s in (0.6, 0.67, 0.75)]
    yield "68B of x16 carries {:.1f} GB/s at 60 % reads, {:.1f} at 67 %, {:.1f} at 75 %.".format(*at)
    yield f"{14 / 5 * LINE * 16 * 64 / 8 / 256:.0f} GB/s would hold if it did not"
    yield f"{256 - 20 - 4} B are left"
    yield f"13 / 12 + 1 / 2 = {13 / 12 + 1 / 2:.1f} flits"


def flit_link() -> Iterator[str]:
    """Reads have 4 / 4.5 lines a flit, writes 4 / 5; without sync headers there are 130 bits for 128."""
    wire = 16 * 32 / 8 / 68 * LINE
    reads, writes = wire * 4 / 4.5, wire * 4 / 5
    yield f"{reads:.1f} GB/s of reads instead of {reads * 128 / 130:.1f}"
    yield f"{writes:.1f} of writes instead of {writes * 128 / 130:.1f}"
    yield f"90 + 2 x 15 + 2 x 2 = {90 + 2 * 15 + 2 * 2} ns"


def kernel() -> Iterator[str]:
    """A flit of 68 B at 64 GB/s; the days that an integer of 63 bits holds in picoseconds; 4096 buckets of the coarse
    wheel, each as long as the fine one of 2^15 buckets of 64 ps."""
    yield f"{68 / 64e-3:.1f} ps per flit"
    yield f"2^63 ps, which is {2**63 / 1e12 / 86400:.1f} days"
    yield f"for the next {4096 * 2**15 * 64 / 1e9:.1f} ms, and a heap beyond"


def nvm() -> Iterator[str]:
    """As a core sees it, a read of the media of `optane-dcpmm` and what the core and its controller take."""
    yield f"the {305 - 250} ns that a core and its memory controller take"
    yield "measured 305 ns of random reads"


def memory() -> Iterator[str]:
    """Speed bin 4800B: tRP 16 ns, tRCD 16 ns, CL 40 clocks; the latencies are rows of `test_doc_blocks.py`."""
    yield f"tRP + tRCD + CL are {16 + 16 + 40 / 2.4:.0f} ns"
    yield f"128 / (2 x {50 + 12} ns + T)"
    yield "take 280 and 371 ns"
    card = cx.load("expander/x16-ddr5").resolve().plain()["links"][0]
    flit = 68 / (2 * 32 * 128 / 130)  # ns: 16 lanes of 32 Gb/s, two bits of 130 for encoding
    flights = 2 * 62 + float(card["credit_time"].removesuffix("ns"))
    reads, writes = (card["credits"][name] for name in ("M2S Req", "M2S RwD"))
    yield f"{reads} credits of reads / {flights + 2 * flit:.1f} ns, {writes} of writes / {flights + 3 * flit:.1f} ns"
    yield "(about 114, 191 and 214 ns)"


# --- tools ---


def _bus_is_full_from() -> float:
    """The share from which on the data bus of DRAM counts as full, as its medium declares it."""
    system = cx.System.load(Path(__file__).parents[2] / "examples" / "dram.yaml")
    inventory = _core.inventory(system.resolve().plain())
    return next(
        each["full_from"]
        for device in inventory["devices"]
        for each in device["resources"]
        if each["measures"][0][-1] == "data_bus_utilization"
    )


def explain() -> Iterator[str]:
    """The shares from which on a resource counts as full."""
    full = f"{resource.FULL:.0%}".replace("%", " %")
    yield f"| a requester's queue, also under an offered rate | `in_flight_mean` / `queue` | {full} |"
    yield f"| a memory's slots, read buffer, write buffer | mean places taken / all | {full} |"
    yield f"| `data_bus_utilization` | {100 * _bus_is_full_from():.0f} %: refreshes"
    yield f"waiting, where it is {100 * occupancy._WAITING:.0f} % of the time at the memory"
    gain = f"{100 * what_ifs.GAIN:.0f} %"
    yield f"if that is at least {gain} (one of a kind, where all of them gain less than {gain} more); otherwise"
    yield "requests made / those that it allows | 97 %, 98 %"


def measure() -> Iterator[str]:
    """The loads that `loaded` aims at, and the arrays of STREAM."""
    shares = loaded_latency.SHARES
    yield f"from {100 * shares[0]:.0f} % to {100 * shares[-1]:.0f} %"
    yield f"three arrays of {peak._ARRAY // 1_000_000} MB for each requester"
    yield f"a window of {peak._ROUNDS} lines of each array"


def fitted() -> Iterator[str]:
    """What counts less and less, and what a peak is."""
    yield f"Relative errors beyond {100 * fit._SCALE:.0f} % count less and less"
    yield f"whose latency is {measured.PEAK} times its least one"
    yield f"A stride of less than {LINE} bytes is refused"


def trace_format() -> Iterator[str]:
    """A size of 16 bits; cycle 3 at 2.4 GHz; `blkparse` counts in sectors."""
    yield f"more than {2**16 - 1} bytes"
    yield f"at 2.4 GHz cycle 3 is at {3 * 10_000 // 24} ps"


SENTENCES: dict[str, Callable[[], Iterator[str]]] = {
    "docs/explain.md": explain,
    "docs/fit.md": fitted,
    "docs/measure.md": measure,
    "docs/trace-format.md": trace_format,
    "docs/model/adapters.md": adapters,
    "docs/model/dram.md": dram,
    "docs/model/flash.md": flash,
    "docs/model/flit.md": flit,
    "docs/model/flit_link.md": flit_link,
    "docs/model/kernel.md": kernel,
    "docs/model/memory.md": memory,
    "docs/model/nvm.md": nvm,
}

GIVEN: dict[str, dict[str, str]] = {
    "docs": {
        "64 B": "a line",
        "64 bytes": "a line",
        "4 KiB": "a page of x86-64",
        "2 MiB": "a huge page of x86-64",
        "100 %": "all",
        "16 B": "a slot of a flit: CXL 3.x, chapter 4",
        "12 B": "a header of a PCIe packet with 32-bit addresses, or of a completion: PCIe 2.2",
    },
    "docs/model/dma.md": {
        "63.02 GB/s": "x16 at 32 GT/s, 128b/130b",
        "25.98 GB/s": "31.51 x 0.902 x 256 / 280",
        "28.6 GB/s": "31.51 x 0.991 x 256 / 280",
        "5.8 us": "6.5 us less a request: test_a_call_of_a_small_copy_takes_what_is_measured of test_gpu.py",
        "2560 ns": "test_a_probe_waits_for_the_lines_that_engines_have_under_way of validation/test_dma.py",
        "201 ns": "the same",
    },
    "docs/model/qos.md": {"1.024 us": "16 counters of 64 ns: CXL 3.x, LD QoS control"},
    "docs/model/kv.md": {"4000000 s": "own choice; test_kv_bounds.py"},
    "docs/plan.md": {
        "9 %": "DRAM that Pond saves at most: Li et al., ASPLOS 2023",
        "25 %": "DRAM that is stranded at the 95th percentile: the same",
        "5.4 %": "server cost that Octopus saves at most: Zhong et al., arXiv:2501.09020",
    },
    "docs/model/tasks.md": {"0.5 %": "own choice: kLargestError of core/system/tasks"},
    "docs/energy.md": {"38 %": "beyond the product brief of PEX8748: test_energy.py"},
    "docs/model/inline_ecc.md": {
        "31 %": "AM62x with DDR4, with and without inline ECC: measurements of Critical Link",
    },
    "docs/measure.md": {"20000 cycles": "the largest delay of Intel's MLC"},
    "docs/trace-format.md": {
        "96 bytes": "cloudsuite_instr of ChampSim's trace_instruction.h",
        "512 bytes": "a sector, as the Linux kernel counts them",
    },
    "docs/model/flash.md": {
        "1.5 ms": "Agrawal et al., USENIX ATC 2008; of `z-nand` not published, and that of SLC",
        "40.96 MB/s": "Agrawal et al.: 100 us for a page of 4 KiB",
    },
    "docs/model/flit.md": {"236 B": "PCIe 6.0: TLPs of a flit"},
    "docs/model/memory.md": {"4800 B": "a speed bin of JESD79-5"},
    "docs/model/flexgen.md": {
        "42 %": "Wang et al., IPDPS 2025, IV-B: decoding with L+C, against L",
        "81 %": "the same: all of L+R",
        "114 %": "the same: decoding with L+R",
        "86 %": "the same: all of all memory",
        "109 %": "the same: decoding with all memory",
        "41 %": "the same: prompts with L against L+R",
    },
    "docs/model/zero.md": {
        "11 %": "Wang et al., IPDPS 2025, IV-A: L+R ahead of all memory",
        "7 s": "ZenFlow (2025): a step of LLaMA-2 with 7 billion parameters",
        "31 %": "Wang et al., IPDPS 2025, IV-A: Adam in a step of 8 billion parameters",
    },
    "docs/model/sampling.md": {"512 instructions": "the default `window` of a core"},
}
