"""A generator of gem5's standard library on a board whose memory is a system of cxloom.

Run by gem5 with its standard library: gem5.opt board_traffic.py --system SYSTEM.yaml --medium mem
"""

import argparse

import m5
from cxloom_gem5 import CxlMemorySystem
from gem5.components.boards.test_board import TestBoard
from gem5.components.processors.linear_generator import LinearGenerator
from gem5.simulate.simulator import Simulator
from m5.objects import AddrRange, DDR4_2400_16x4

parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--system", required=True, help="the system, as a spec or as `cxloom resolve` prints it")
parser.add_argument("--host", default="host", help="the host's name in the system")
parser.add_argument("--size", default="16MiB", help="bytes of memory")
parser.add_argument("--rate", default="64MB/s", help="bytes asked for in a second")
parser.add_argument("--duration", default="100us", help="how long")
parser.add_argument(
    "--medium", default="", help="a memory of the system whose time is that of gem5's DDR4-2400"
)
args = parser.parse_args()

media = {args.medium: DDR4_2400_16x4(range=AddrRange(args.size))} if args.medium else {}
board = TestBoard(
    clk_freq="1GHz",
    generator=LinearGenerator(
        duration=args.duration, rate=args.rate, max_addr=m5.util.convert.toMemorySize(args.size)
    ),
    memory=CxlMemorySystem(args.system, args.size, args.host, media=media),
    cache_hierarchy=None,
)
simulator = Simulator(board)
simulator.run()
print(f"ended at {m5.curTick()}: {simulator.get_last_exit_event_cause()}")
