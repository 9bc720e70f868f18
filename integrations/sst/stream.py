"""A generator of miranda above a first-level cache, and below that a host of a system of cxloom.

    sst stream.py --model-options="system.json --requests 10000 --under-way 16"

The generator reads, or with --writes writes, one line after the other. --simple has SST's own memory of one latency in
the place of the system, --latency, to compare with.
"""

import argparse

import sst

parser = argparse.ArgumentParser(prog="stream.py", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("system", help="the system, as `cxloom resolve` prints it")
parser.add_argument("--host", default="host", help="the host whose accesses these are")
parser.add_argument("--offset", default="0B", help="where the memory begins in the address map of the spec")
parser.add_argument("--size", type=int, default=16, help="MiB of memory")
parser.add_argument("--requests", type=int, default=10_000, help="lines")
parser.add_argument("--under-way", type=int, default=1, help="requests of the generator without an answer")
parser.add_argument("--writes", action="store_true", help="lines are written, and leave the cache dirty")
parser.add_argument("--most", type=int, default=256, help="accesses of the system under way")
parser.add_argument("--summary", default="", help="the file for the summary of cxloom")
parser.add_argument("--statistics", default="", help="the file for the statistics of SST, as CSV")
parser.add_argument("--simple", action="store_true", help="memHierarchy.simpleMem in the place of the system")
parser.add_argument("--latency", default="100ns", help="of that")
args = parser.parse_args()

processor = sst.Component("processor", "miranda.BaseCPU")
processor.addParams(
    {
        "clock": "2GHz",
        "max_reqs_cycle": 1,
        "maxmemreqpending": args.under_way,
        "max_reorder_lookups": args.under_way,
    }
)
generator = processor.setSubComponent("generator", "miranda.SingleStreamGenerator")
generator.addParams(
    {
        "count": args.requests,
        "length": 64,
        "max_address": args.size << 20,
        "memOp": "Write" if args.writes else "Read",
    }
)
interface = processor.setSubComponent("memory", "memHierarchy.standardInterface")
cache = sst.Component("cache", "memHierarchy.Cache")
cache.addParams(
    {
        "L1": 1,
        "cache_frequency": "2GHz",
        "access_latency_cycles": 2,
        "replacement_policy": "lru",
        "coherence_protocol": "MESI",
        "associativity": 8,
        "cache_line_size": 64,
        "cache_size": "32KiB",
        "mshr_num_entries": 2 * args.under_way,
    }
)
memory = sst.Component("memory", "memHierarchy.MemController")
memory.addParams({"clock": "1GHz", "addr_range_end": (args.size << 20) - 1, "backing": "none"})
if args.simple:
    backend = memory.setSubComponent("backend", "memHierarchy.simpleMem")
    backend.addParams({"mem_size": f"{args.size}MiB", "access_time": args.latency})
else:
    backend = memory.setSubComponent("backend", "cxloomsst.host")
    backend.addParams(
        {
            "mem_size": f"{args.size}MiB",
            "system": args.system,
            "host": args.host,
            "offset": args.offset,
            "most": args.most,
            "summary": args.summary,
        }
    )
for name, left, right in (
    ("to_cache", (interface, "lowlink"), (cache, "highlink")),
    ("to_memory", (cache, "lowlink"), (memory, "highlink")),
):
    sst.Link(name).connect((*left, "1ns"), (*right, "1ns"))
if args.statistics:
    sst.setStatisticLoadLevel(5)
    sst.setStatisticOutput("sst.statOutputCSV", {"filepath": args.statistics})
    sst.enableAllStatisticsForAllComponents()
