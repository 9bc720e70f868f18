"""Prints a system of `cxloom_throughput` for the ESF artifact: ``python esf_system.py SYSTEM ACCESSES >system.toml``.

``bus``: one host, a bus, four memories. ``coherent-N``: one host with a cache of N lines, whose misses a snoop filter
of a million lines before one memory of 32 MiB sees. ``spine-leaf``: 64 hosts and 64 memories, eight devices per leaf,
eight spines. Each host has 64 accesses in flight and makes so many, random, a third of them writes. Memories are
DRAMsim3's DDR4-3200, the only kind that the artifact has. Its switches have a queue for each pair of ports and no
credits, and it knows one way between two devices.
"""

import sys

GIBIBYTE = 1 << 30


def host(accesses: int, cache: int) -> str:
    """A requester; with a cache it asks coherently."""
    return f"""q_capacity = 64
cache_capacity = {cache}
cache_delay = 12
issue_delay = 0
coherent = {"true" if cache else "false"}
burst_size = 1
block_size = 64
interleave_type = "random"
interleave_param = {accesses}
hot_req_ratio = 0.5
hot_region_ratio = 0.5
trace_file = ""
"""


def memory(start: int, capacity: int) -> str:
    """An endpoint of DRAM."""
    return f"""tick_per_clock = 1
process_time = 40
start = {start}
capacity = {capacity}
wr_ratio = 0.33
config_file = "DRAMsim3/configs/DDR4_8Gb_x8_3200.ini"
output_dir = "output"
"""


def filter_of(start: int, capacity: int) -> str:
    """A snoop filter of a million lines before one memory."""
    return f"""line_num = 1048576
assoc = 8
max_burst_inv = 1
ranges = [[{start}, {start + capacity}]]
eviction = "LRU"
"""


SWITCH = "delay = 25\n"
# 64 GB/s and one time of 1 ns, nothing for frames.
BUS = "is_full = true\nhalf_rev_time = 0\ndelay_per_T = 1\nwidth = 512\nframing_time = 0\nframe_size = 64\n"

Devices = dict[str, tuple[str, str]]
Edges = list[tuple[str, str]]


def bus(accesses: int) -> tuple[Devices, Edges]:
    devices: Devices = {"Host": ("Requester", host(accesses, 0)), "Bus": ("DuplexBus", BUS)}
    devices["Fan"] = ("Switch", "delay = 0\n")  # a bus of the artifact has two ends
    edges = [("Host", "Bus"), ("Bus", "Fan")]
    for i in range(4):
        devices[f"Mem-{i}"] = ("DRAMsim3Interface", memory(i * GIBIBYTE, GIBIBYTE))
        edges.append(("Fan", f"Mem-{i}"))
    return devices, edges


def coherent(accesses: int, cache: int) -> tuple[Devices, Edges]:
    capacity = 32 << 20
    devices: Devices = {
        "Host": ("Requester", host(accesses, cache)),
        "Switch": ("Switch", SWITCH),
        "Filter": ("Snoop", filter_of(0, capacity)),
        "Mem": ("DRAMsim3Interface", memory(0, capacity)),
    }
    return devices, [("Host", "Switch"), ("Switch", "Filter"), ("Filter", "Mem")]


def spine_leaf(accesses: int) -> tuple[Devices, Edges]:
    devices: Devices = {}
    edges: Edges = []
    for i in range(64):
        devices[f"Host-{i}"] = ("Requester", host(accesses, 0))
        devices[f"Mem-{i}"] = ("DRAMsim3Interface", memory(0, GIBIBYTE))
        edges += [(f"Host-{i}", f"Leaf-{i // 8}"), (f"Mem-{i}", f"Leaf-{8 + i // 8}")]
    for leaf in range(16):
        devices[f"Leaf-{leaf}"] = ("Switch", SWITCH)
        edges += [(f"Leaf-{leaf}", f"Spine-{spine}") for spine in range(8)]
    for spine in range(8):
        devices[f"Spine-{spine}"] = ("Switch", SWITCH)
    return devices, edges


def main() -> None:
    name, accesses = sys.argv[1], int(sys.argv[2])
    if name.startswith("coherent-"):
        devices, edges = coherent(accesses, int(name.removeprefix("coherent-")))
    else:
        devices, edges = {"bus": bus, "spine-leaf": spine_leaf}[name](accesses)
    print('max_clock = 30000000000\nclock_granu = 1\nlog_level = "INFO"\nlog_name = "/dev/null"')
    print("edges = [" + ", ".join(f'["{one}", "{other}"]' for one, other in edges) + "]\n\n[devices]")
    print("\n".join(f'{device} = "{kind}"' for device, (kind, _) in devices.items()))
    for device, (_, parameters) in devices.items():
        print(f"\n[{device}]\n{parameters}", end="")


if __name__ == "__main__":
    main()
