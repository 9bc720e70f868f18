"""Testers below caches, above hosts: every load is checked against the tester's own stores.

Run by gem5: gem5.opt memtest.py --loads 100000 --snoops 50ns, or --system SYSTEM.json for a system of cxloom. It ends
with the testers' own panic if a byte is wrong or a request is lost. All testers, of all hosts, share all lines: each
has a byte of its own in every line.
"""

import argparse

import m5
from _m5.core import seedRandom
from m5.objects import (
    Cache,
    CxlDelay,
    CxlFabric,
    CxlHost,
    CxlMemory,
    L2XBar,
    MemTest,
    Root,
    SrcClockDomain,
    System,
    VoltageDomain,
)


def options():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--loads", type=int, default=100_000, help="loads of the tester that ends the run")
    parser.add_argument("--hosts", default="host", help="the names of the hosts in the system, with commas")
    parser.add_argument(
        "--testers", type=int, default=2, help="testers, each below a first-level cache, in a cluster"
    )
    parser.add_argument(
        "--clusters", type=int, default=2, help="clusters of a host, each with a second-level cache; 0: none"
    )
    parser.add_argument("--lines-of-l1", type=int, default=16, help="lines of a first-level cache")
    parser.add_argument("--system", default="", help="a system of cxloom, as `cxloom resolve` prints it")
    parser.add_argument(
        "--snoops", default="0ns", help="without a system: mean time between snoops; 0ns: none"
    )
    parser.add_argument("--shortest", default="10ns", help="without a system: shortest time of an answer")
    parser.add_argument("--longest", default="200ns", help="without a system: longest time of an answer")
    parser.add_argument("--uncacheable", type=int, default=10, help="percent of uncacheable accesses")
    parser.add_argument("--functional", type=int, default=10, help="percent of functional accesses")
    parser.add_argument("--writeback-clean", action="store_true", help="caches write clean lines back")
    parser.add_argument("--atomic", action="store_true", help="atomic mode: accesses let no time pass")
    parser.add_argument("--shares", action="store_true", help="reads ask for shared copies")
    parser.add_argument(
        "--ruby",
        default="",
        help="the host whose caches are Ruby's by CXL_MESI: one for each tester, without clusters",
    )
    parser.add_argument("--jitter", action="store_true", help="Ruby delays its messages at random")
    parser.add_argument("--seed", type=int, default=5489, help="of gem5's random numbers")
    parser.add_argument(
        "--last-bus",
        choices=["point-of-coherency", "above-it"],
        help="what the last bus of a host is; by default the point of coherency without --shares",
    )
    return parser.parse_args()


def cache(lines, mshrs, latency, args):
    return Cache(
        size=f"{lines * 64}B",
        assoc=4,
        tag_latency=latency,
        data_latency=latency,
        response_latency=latency,
        mshrs=mshrs,
        tgts_per_mshr=8,
        writeback_clean=args.writeback_clean,
    )


def tester(args):
    return MemTest(
        interval=10,
        size=4096,
        max_loads=args.loads,
        percent_uncacheable=args.uncacheable,
        percent_functional=args.functional,
        progress_interval=max(args.loads // 2, 1),
        progress_check=50_000_000,
    )


def host(system, name, args):
    """The testers, caches and buses of a host, and the host itself."""
    is_point = args.last_bus == "point-of-coherency" if args.last_bus else not args.shares
    membus = L2XBar(point_of_coherency=is_point)
    parts = {"buses": [membus], "caches": [], "testers": []}
    parts["host"] = CxlHost(
        device=name,
        fabric=system.fabric,
        memory=system.memory,
        shares=args.shares,
        cpu_side=membus.mem_side_ports,
    )
    for _ in range(max(args.clusters, 1)):
        bus = membus
        if args.clusters:
            shared = cache(args.lines_of_l1 * 2, 8, 5, args)
            bus = L2XBar()
            parts["buses"].append(bus)
            shared.cpu_side = bus.mem_side_ports
            shared.mem_side = membus.cpu_side_ports
            parts["caches"].append(shared)
        for _ in range(args.testers):
            first = cache(args.lines_of_l1, 4, 1, args)
            parts["testers"].append(tester(args))
            parts["testers"][-1].port = first.cpu_side
            first.mem_side = bus.cpu_side_ports
            parts["caches"].append(first)
    return parts


def ruby_host(system, name, args):
    """A host of the system below testers and caches of Ruby."""
    from cxl_mesi import CxlMesi  # not every gem5 has Ruby

    path = CxlHost(device=name, fabric=system.fabric, memory=system.memory)
    system.ruby = CxlMesi(randomization=args.jitter)
    system.ruby.setup(path, args.testers, size=f"{args.lines_of_l1 * 64}B", ways=4)
    testers = [tester(args) for _ in range(args.testers)]
    for each, sequencer in zip(testers, system.ruby.sequencers, strict=True):
        # Where a line is on its way no cache can say what its bytes are.
        each.suppress_func_errors = True
        each.port = sequencer.in_ports
    return {"buses": [], "caches": [], "testers": testers, "host": path}


def build(args):
    system = System(cache_line_size=64, mem_mode="atomic" if args.atomic else "timing")
    system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain(voltage="1V"))
    system.memory = CxlMemory(range="16MiB")
    if args.system:
        system.fabric = CxlFabric(spec=args.system)
    else:
        system.fabric = CxlDelay(shortest=args.shortest, longest=args.longest, snoop_interval=args.snoops)
    hosts = [(ruby_host if name == args.ruby else host)(system, name, args) for name in args.hosts.split(",")]
    buses = hosts[0]["buses"]
    system.system_port = buses[0].cpu_side_ports if buses else system.ruby.sys_port_proxy.in_ports
    system.hosts = [parts["host"] for parts in hosts]
    for kind in ("testers", "caches", "buses"):
        if parts := [part for one in hosts for part in one[kind]]:
            setattr(system, kind, parts)
    return Root(full_system=False, system=system)


args = options()
seedRandom(args.seed)
root = build(args)
m5.instantiate()
event = m5.simulate()
print(f"ended at {m5.curTick()}: {event.getCause()}")
