"""Prints the benchmarks' spine-leaf system for the ESF artifact: ``python esf_spine_leaf.py ACCESSES >system.toml``.

64 hosts and 64 memories, eight devices per leaf, eight spines; each host has 64 accesses in flight and makes so many,
random, a third of them writes. Its memories are DRAMsim3's DDR4-3200, its switches have a queue for each pair of ports
and no credits, and it knows one way between two devices.
"""

import sys

accesses = int(sys.argv[1])
hosts = [f"Host-{i}" for i in range(64)]
memories = [f"Mem-{i}" for i in range(64)]
leaves = [f"Leaf-{i}" for i in range(16)]
spines = [f"Spine-{i}" for i in range(8)]

edges = [(host, leaves[i // 8]) for i, host in enumerate(hosts)]
edges += [(memory, leaves[8 + i // 8]) for i, memory in enumerate(memories)]
edges += [(leaf, spine) for leaf in leaves for spine in spines]

host = f"""q_capacity = 64
cache_capacity = 0
cache_delay = 12
issue_delay = 0
coherent = false
burst_size = 1
block_size = 64
interleave_type = "random"
interleave_param = {accesses}
hot_req_ratio = 0.5
hot_region_ratio = 0.5
trace_file = ""
"""
memory = """tick_per_clock = 1
process_time = 40
start = 0
capacity = 1073741824
wr_ratio = 0.33
config_file = "DRAMsim3/configs/DDR4_8Gb_x8_3200.ini"
output_dir = "output"
"""
kinds = [
    (hosts, "Requester", host),
    (memories, "DRAMsim3Interface", memory),
    (leaves + spines, "Switch", "delay = 25\n"),
]

print('max_clock = 300000000\nclock_granu = 1\nlog_level = "INFO"\nlog_name = "/dev/null"')
print("edges = [" + ", ".join(f'["{one}", "{other}"]' for one, other in edges) + "]\n\n[devices]")
for names, kind, _ in kinds:
    print("\n".join(f'{name} = "{kind}"' for name in names))
for names, _, parameters in kinds:
    for name in names:
        print(f"\n[{name}]\n{parameters}", end="")
