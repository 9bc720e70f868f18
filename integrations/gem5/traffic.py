"""A traffic generator, or several, in the place of the caches of a host: the latency and the bandwidth of its memory.

Run by gem5: gem5.opt traffic.py --system SYSTEM.json --interval 1us. It prints one line of `key=value`.
"""

import argparse

import m5
from m5.objects import (
    CxlDelay,
    CxlFabric,
    CxlHost,
    CxlMedium,
    CxlMemory,
    DDR4_2400_16x4,
    IOXBar,
    MemCtrl,
    PyTrafficGen,
    Root,
    SrcClockDomain,
    System,
    VoltageDomain,
)


def options():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--system", default="", help="a system of cxloom, as `cxloom resolve` prints it; else a delay"
    )
    parser.add_argument("--plugin", default=[], action="append", help="a library with kinds of the system")
    parser.add_argument("--host", default="host", help="the host's name in the system")
    parser.add_argument("--offset", default="0B", help="where the memory begins in the system's address map")
    parser.add_argument(
        "--medium", default="", help="a memory of the system whose time is that of gem5's DDR4-2400"
    )
    parser.add_argument("--alone", action="store_true", help="gem5's DDR4-2400 and nothing else")
    parser.add_argument("--ruby", action="store_true", help="a cache of Ruby's by CXL_MESI above the host")
    parser.add_argument("--delay", default="100ns", help="without a system: the time of an answer")
    parser.add_argument("--interval", default="1us", help="time between two requests")
    parser.add_argument("--reads", type=int, default=100, help="percent of reads")
    parser.add_argument("--random", action="store_true", help="random lines; else one after the other")
    parser.add_argument("--requests", type=int, default=1000, help="how many requests")
    parser.add_argument("--most", type=int, default=0, help="requests under way at most; 0: no bound")
    parser.add_argument("--size", default="16MiB", help="bytes of memory that are accessed")
    parser.add_argument(
        "--checkpoint", default="", help="write a checkpoint there after half of the requests"
    )
    parser.add_argument("--restore", default="", help="begin from that checkpoint")
    parser.add_argument("--fork", action="store_true", help="fork after half of the requests")
    return parser.parse_args()


def dram(size, null):
    """gem5's own DRAM with its controller. Without bytes it is only the time of one."""
    return MemCtrl(dram=DDR4_2400_16x4(range=size, null=null, in_addr_map=not null, kvm_map=not null))


def build(args):
    system = System(cache_line_size=64, mem_mode="timing")
    # A cycle of a tick: the buses between take no time of their own.
    system.clk_domain = SrcClockDomain(clock="1THz", voltage_domain=VoltageDomain(voltage="1V"))
    system.generator = PyTrafficGen(max_outstanding_reqs=args.most)
    if not args.ruby:
        system.bus = IOXBar(frontend_latency=0, forward_latency=0, response_latency=0, width=64)
        system.system_port = system.bus.cpu_side_ports
        system.generator.port = system.bus.cpu_side_ports
    if args.alone:
        system.controller = dram(args.size, False)
        system.controller.port = system.bus.mem_side_ports
        return Root(full_system=False, system=system)
    system.memory = CxlMemory(range=args.size)
    system.fabric = (
        CxlFabric(spec=args.system, plugins=args.plugin)
        if args.system
        else CxlDelay(shortest=args.delay, longest=args.delay)
    )
    system.host = CxlHost(
        device=args.host,
        fabric=system.fabric,
        memory=system.memory,
        offset=m5.util.convert.toMemorySize(args.offset),
    )
    if args.ruby:
        from cxl_mesi import CxlMesi  # not every gem5 has Ruby

        system.ruby = CxlMesi()
        system.ruby.setup(system.host, 1)
        system.system_port = system.ruby.sys_port_proxy.in_ports
        system.generator.port = system.ruby.sequencers[0].in_ports
    else:
        system.host.cpu_side = system.bus.mem_side_ports
    if args.medium:
        system.controller = dram(args.size, True)
        system.medium = CxlMedium(fabric=system.fabric, device=args.medium, mem_side=system.controller.port)
    return Root(full_system=False, system=system)


def ticks(text):
    return m5.ticks.fromSeconds(m5.util.convert.anyToLatency(text))


def traffic(generator, args, requests):
    interval = ticks(args.interval)
    size = m5.util.convert.toMemorySize(args.size)
    make = generator.createRandom if args.random else generator.createLinear
    yield make(interval * requests, 0, size, 64, interval, interval, args.reads, 0)
    # What is under way comes to its end.
    yield generator.createIdle(ticks("100us"))
    yield generator.createExit(0)


args = options()
root = build(args)
m5.ticks.fixGlobalFrequency()
m5.instantiate(args.restore or None)
generator = root.system.generator
if not args.restore:
    halves = 2 if args.checkpoint or args.fork else 1
    generator.start(traffic(generator, args, args.requests // halves))
    m5.simulate()
    if args.checkpoint:
        m5.checkpoint(args.checkpoint)
    if args.fork:
        # The child has the same statistics as its parent, in a folder of its own.
        child = m5.fork("%(parent)s.child")
if args.restore or args.checkpoint or args.fork:
    m5.stats.reset()
    generator.start(traffic(generator, args, args.requests // 2))
    m5.simulate()
m5.stats.dump()
print(f"ended at {m5.curTick()}")
