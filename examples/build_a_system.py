"""A system built in Python, run over several queue depths by a pool of threads.

python examples/build_a_system.py
"""

from concurrent.futures import ThreadPoolExecutor

import cxloom as cx


def build(queue: int) -> cx.System:
    """One host and four memories behind a bus, with the given number of requests in flight."""
    system = cx.System(f"queue of {queue}")
    system.host("host", queue=queue, process_time="10ns")
    system.bus("bus", bandwidth="64GB/s")
    system.memory("mem[0-3]", capacity="16GiB", media={"kind": "fixed", "latency": "45ns"})
    system.connect("host", "bus", port_delay="25ns")
    system.connect("bus", "mem[*]")
    system.map(to="mem[*]", interleave="256B")
    system.workload("host", pattern="random", reads="67%", requests=50_000, footprint="1GiB")
    return system.run(warmup=5_000)


def main() -> None:
    """Prints bandwidth and latency for each depth: latency rises where the bus is full."""
    queues = [1, 4, 16, 64, 256, 1024]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda queue: cx.run(build(queue)), queues))
    print("queue    GB/s   mean ns    p99 ns   waiting for the bus")
    for queue, result in zip(queues, results, strict=True):
        latency, waiting = result.latency, result.breakdown["bus_queue"]
        print(f"{queue:5} {result.bandwidth:7.2f} {latency.mean:9.1f} {latency.p99:9.1f} {waiting:16.1f} ns")


if __name__ == "__main__":
    main()
