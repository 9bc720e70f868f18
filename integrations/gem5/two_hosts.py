"""A program on each of two hosts, whose caches share the lines of a pool: its DCOH takes them back.

Run by gem5 with an instruction set, for a program that is linked statically:

    gem5.opt two_hosts.py --system pool.yaml --shares -- handover

The program gets two arguments: the address of the bytes that both hosts share, and 0 on the first host, 1 on the
second. All memory is the pool's: its first bytes are the pages of the programs, its last ones are shared.
"""

import argparse

import m5
from m5.objects import (
    AddrRange,
    BadAddr,
    Cache,
    CxlFabric,
    CxlHost,
    CxlMemory,
    L2XBar,
    Process,
    Root,
    SEWorkload,
    SrcClockDomain,
    System,
    SystemXBar,
    VoltageDomain,
)
from m5.util.convert import toMemorySize

SHARED_AT = 0x4000_0000
"""Where the programs see the bytes that they share."""


def options():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--system", required=True, help="a system of cxloom, as `cxloom resolve` prints it")
    parser.add_argument("--hosts", default="left,right", help="the names of the hosts in the system")
    parser.add_argument("--size", default="64MiB", help="bytes of the pool")
    parser.add_argument("--shared", default="64KiB", help="how many of them, the last ones, both hosts share")
    parser.add_argument("--shares", action="store_true", help="reads ask for shared copies")
    parser.add_argument("--cpu", default="RiscvO3CPU", help="gem5's class of the processors")
    parser.add_argument("--first", default="", help="that of the processors before --switch-at, then --cpu")
    parser.add_argument("--switch-at", default="10us", help="when the first processors end")
    parser.add_argument("--clock", default="3GHz", help="their clock")
    parser.add_argument("--l1", default="32KiB", help="each of their first-level caches")
    parser.add_argument("--l2", default="256KiB", help="their second-level caches")
    parser.add_argument("program", nargs="+", help="the program and further arguments")
    return parser.parse_args()


def cache(size, ways, cycles, mshrs):
    return Cache(
        size=size,
        assoc=ways,
        tag_latency=cycles,
        data_latency=cycles,
        response_latency=cycles,
        mshrs=mshrs,
        tgts_per_mshr=20,
    )


def host(system, number, name, args):
    """A processor with its caches, below which is a host of the system."""
    processor = getattr(m5.objects, args.first or args.cpu)(cpu_id=number)
    processor.createInterruptController()
    processor.workload = Process(
        pid=100 + number,
        executable=args.program[0],
        cmd=[args.program[0], f"{SHARED_AT:#x}", str(number), *args.program[1:]],
    )
    processor.createThreads()
    bus = SystemXBar(point_of_coherency=not args.shares)
    bus.badaddr_responder = BadAddr()
    bus.default = bus.badaddr_responder.pio
    processor.l2bus = L2XBar()
    processor.l2 = cache(args.l2, 8, 10, 32)
    processor.l2.cpu_side, processor.l2.mem_side = processor.l2bus.mem_side_ports, bus.cpu_side_ports
    for first in ("icache", "dcache"):
        setattr(processor, first, cache(args.l1, 8, 2, 16))
        getattr(processor, first).cpu_side = getattr(processor, f"{first}_port")
        getattr(processor, first).mem_side = processor.l2bus.cpu_side_ports
    processor.mmu.connectWalkerPorts(bus.cpu_side_ports, bus.cpu_side_ports)
    path = CxlHost(
        device=name,
        fabric=system.fabric,
        memory=system.memory,
        shares=args.shares,
        cpu_side=bus.mem_side_ports,
    )
    return processor, bus, path


def successor(processor, args):
    """The processor that goes on where that one ends, with its caches."""
    later = getattr(m5.objects, args.cpu)(cpu_id=processor.cpu_id, switched_out=True)
    later.workload = processor.workload
    later.isa = processor.isa
    later.createThreads()
    return later


args = options()
size, shared = toMemorySize(args.size), toMemorySize(args.shared)
system = System(cache_line_size=64, mem_mode="timing", mem_ranges=[AddrRange(size)])
system.clk_domain = SrcClockDomain(clock=args.clock, voltage_domain=VoltageDomain(voltage="1V"))
system.workload = SEWorkload.init_compatible(args.program[0])
system.memory = CxlMemory(range=AddrRange(size))
system.fabric = CxlFabric(spec=args.system)
hosts = [host(system, number, name, args) for number, name in enumerate(args.hosts.split(","))]
system.cpu, system.buses, system.hosts = map(list, zip(*hosts, strict=True))
system.system_port = system.buses[0].cpu_side_ports
root = Root(full_system=False, system=system)
if args.first:
    system.later = [successor(processor, args) for processor in system.cpu]
if "Atomic" in (args.first or args.cpu):
    system.mem_mode = "atomic"
m5.instantiate()
for processor in system.cpu:
    processor.workload[0].map(SHARED_AT, size - shared, shared, True)
if args.first:
    # Drains, changes from one mode of memory to the other, and goes on.
    m5.simulate(m5.ticks.fromSeconds(m5.util.convert.anyToLatency(args.switch_at)))
    m5.switchCpus(system, list(zip(system.cpu, system.later, strict=True)))
event = m5.simulate()
print(f"ended at {m5.curTick()}: {event.getCause()}")
m5.stats.dump()
