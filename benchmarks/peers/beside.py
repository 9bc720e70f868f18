"""Two programs beside each other, such as cxloom and another simulator on the same system: CPU time of an access.

Each is a command with ``{n}`` for its length. A round starts both at once, each on a core of its own, first short and
then long; cores are swapped each round. What an access takes is the slope of the whole process's CPU time between the
two lengths, so that start-up does not count. It prints the accesses per CPU second of each and their ratio: the
median of the rounds, the lowest and the highest.

    beside.py "build/benchmarks/cxloom_throughput dram-83ns {n}" 500000 2500000 \\
              "PEER/drive PEER/d5.yaml {n} 200" 10000 50000
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess


def cpu_seconds(commands: list[str], cores: list[int]) -> list[float]:
    """CPU time of processes that are started together."""
    started = [
        subprocess.Popen(
            shlex.split(command),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
        )
        for command, core in zip(commands, cores, strict=True)
    ]
    seconds = []
    for command, process in zip(commands, started, strict=True):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{command}: exit code {process.returncode}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("ours_short", type=int)
    parser.add_argument("ours_long", type=int)
    parser.add_argument("theirs")
    parser.add_argument("theirs_short", type=int)
    parser.add_argument("theirs_long", type=int)
    parser.add_argument(
        "--units", type=float, nargs=2, default=[1, 1], help="accesses for each 1 of the lengths"
    )
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    lengths = [(given.ours_short, given.theirs_short), (given.ours_long, given.theirs_long)]
    rates: list[list[float]] = [[], []]
    for _ in range(given.rounds):
        short, longer = (
            cpu_seconds([given.ours.format(n=ours), given.theirs.format(n=theirs)], cores)
            for ours, theirs in lengths
        )
        for which in (0, 1):
            accesses = (lengths[1][which] - lengths[0][which]) * given.units[which]
            rates[which].append(accesses / (longer[which] - short[which]))
        cores.reverse()
    ratios = [ours / theirs for ours, theirs in zip(*rates, strict=True)]
    for name, values in (("ours", rates[0]), ("theirs", rates[1]), ("ratio", ratios)):
        low, middle, high = min(values), statistics.median(values), max(values)
        form = ",.1f" if name == "ratio" else ",.0f"
        print(f"{name:7} {middle:>12{form}}   ({low:{form}} to {high:{form}})")


if __name__ == "__main__":
    main()
