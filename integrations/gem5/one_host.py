"""A program on a host of a system of cxloom: caches and a processor of gem5, below them the memories of the spec.

Run by gem5 with an instruction set and its standard library, for a program that is linked statically:

    gem5.opt one_host.py --system local-and-cxl.yaml -- chase 65536 20000
    gem5.opt one_host.py --system local-and-cxl.yaml --offset 64MiB -- chase 65536 20000

Pages of the program come from the begin of the memory, so that --offset, where a memory begins in the address map of
the spec, chooses the memory. Statistics are those between the marks of <cxloom/roi.h>, if the program has them and was
compiled with -DCXLOOM_GEM5, or else of the whole run.

In the place of a system a memory of one latency, to see what a system costs gem5: --delay, by this module, or --simple,
by gem5's own SimpleMemory.
"""

import argparse

import m5
from cxloom_gem5 import CxlMemorySystem
from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.private_l1_private_l2_cache_hierarchy import (
    PrivateL1PrivateL2CacheHierarchy,
)
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.cpu_types import CPUTypes
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA
from gem5.resources.resource import BinaryResource
from gem5.simulate.exit_event import ExitEvent
from gem5.simulate.simulator import Simulator
from m5.objects import Cache, CxlDelay
from m5.params import NULL


def options():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    memory = parser.add_mutually_exclusive_group(required=True)
    memory.add_argument("--system", help="the system, as a spec or as `cxloom resolve` prints it")
    memory.add_argument("--delay", help="no system: each access takes this time")
    memory.add_argument("--simple", help="nothing of cxloom: gem5's SimpleMemory of this latency")
    parser.add_argument("--host", default="host", help="the host's name in the system")
    parser.add_argument("--size", default="64MiB", help="bytes of memory")
    parser.add_argument("--offset", default="0B", help="where they begin in the address map of the spec")
    parser.add_argument("--isa", default="riscv", help="the instruction set of the program")
    parser.add_argument(
        "--cpu", default="o3", choices=["atomic", "timing", "minor", "o3"], help="the processor"
    )
    parser.add_argument("--clock", default="3GHz", help="its clock")
    parser.add_argument("--l1", default="32KiB", help="each of its first-level caches")
    parser.add_argument("--l2", default="256KiB", help="its second-level cache")
    parser.add_argument(
        "--caches",
        default="classic",
        choices=["classic", "ruby", "garnet"],
        help="gem5's classic ones, or Ruby's, by its simple network or by Garnet",
    )
    parser.add_argument(
        "--no-prefetchers", action="store_true", help="classic caches without those of the standard library"
    )
    parser.add_argument("program", nargs="+", help="the program and its arguments")
    return parser.parse_args()


def at_each(action):
    """Does something at each event of a kind, and goes on."""
    while True:
        action()
        yield False


def memory_of(args):
    if args.simple:
        return SingleChannelSimpleMemory(args.simple, "0ns", "10TiB/s", args.size)
    path = CxlDelay(shortest=args.delay, longest=args.delay) if args.delay else args.system
    return CxlMemorySystem(path, args.size, args.host, args.offset)


class ClassicCaches(PrivateL1PrivateL2CacheHierarchy):
    """Caches of the standard library, whose prefetchers can be left out."""

    def __init__(self, l1, l2, prefetchers):
        super().__init__(l1, l1, l2)
        self._prefetchers = prefetchers

    def incorporate_cache(self, board):
        super().incorporate_cache(board)
        if not self._prefetchers:
            for each in self.descendants():
                if isinstance(each, Cache):
                    each.prefetcher = NULL


def caches_of(args):
    if args.caches == "classic":
        return ClassicCaches(args.l1, args.l2, not args.no_prefetchers)
    from ruby_caches import RubyCaches  # not every gem5 has Ruby

    return RubyCaches(args.l1, args.l2, garnet=args.caches == "garnet")


args = options()
board = SimpleBoard(
    clk_freq=args.clock,
    processor=SimpleProcessor(CPUTypes(args.cpu), num_cores=1, isa=ISA(args.isa)),
    memory=memory_of(args),
    cache_hierarchy=caches_of(args),
)
board.set_se_binary_workload(BinaryResource(args.program[0]), arguments=args.program[1:])
marks = {ExitEvent.WORKBEGIN: at_each(m5.stats.reset), ExitEvent.WORKEND: at_each(m5.stats.dump)}
simulator = Simulator(board, full_system=False, on_exit_event=marks)
simulator.run()
print(f"ended at {m5.curTick()}: {simulator.get_last_exit_event_cause()}")
