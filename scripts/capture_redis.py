#!/usr/bin/env python3
"""Record the memory trace of a Redis server under load: examples/redis.parquet.

A server with a data set far larger than the caches runs under QEMU and answers GET and SET requests of
redis-benchmark for uniformly random keys; what misses the caches of one core is recorded, with the cycles between
accesses and which of them waits for which. Loading the data and the first requests only warm the caches. Needs
redis-server, redis-cli, redis-benchmark and qemu-user; uses the loopback interface only, and ends every process it
started. Takes a few minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cxloom.base.errors import CxloomError, InputError
from cxloom.trace.capturing import CacheLevel, CaptureResult, capture

# One core's share of a server processor: its own first and second level, and a slice of the shared last one.
CACHES = ("L1D:48KiB:12", "L2:2MiB:16", "LLC:3MiB:12")
VALUE_BYTES = 1024
GET_CLIENTS, SET_CLIENTS = 9, 3  # in a closed loop: three requests of four are GET
HOST = "127.0.0.1"


def main() -> int:
    """Records and says what was recorded; 2 if something is missing, 1 if it did not work out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("examples/redis.parquet"), help="default: %(default)s"
    )
    parser.add_argument(
        "--keys", type=int, default=65536, help="keys of 1 KiB in the data set; default: %(default)s"
    )
    parser.add_argument(
        "--warm-up", type=int, default=10000, help="requests before recording; default: %(default)s"
    )
    parser.add_argument("--limit", type=int, default=750_000, help="accesses to record; default: %(default)s")
    parser.add_argument(
        "--timeout", type=float, default=1800, help="seconds to give up after; default: %(default)s"
    )
    options = parser.parse_args()
    try:
        result = record(options.out, options.keys, options.warm_up, options.limit, options.timeout)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except (CxloomError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.out}: {result.accesses} accesses in {result.instructions} instructions")
    for level in result.levels:
        print(f"  {level.level}: {level.hits} hits, {level.misses} misses, {level.write_backs} write-backs")
    return 0


def record(out: Path, keys: int, warm_up: int, limit: int, timeout: float) -> CaptureResult:
    """The whole recording; leaves no process and no temporary file behind, whatever happens."""
    deadline = time.monotonic() + timeout
    with tempfile.TemporaryDirectory(prefix="cxloom-redis-") as folder:
        fill(folder, keys, deadline)
        port = free_port()
        warm = threading.Event()
        stop = threading.Event()
        load = threading.Thread(target=drive, args=(port, keys, warm_up, deadline, warm, stop))
        load.start()
        try:
            return capture(
                server(folder, port),
                out,
                caches=[CacheLevel.parse(text) for text in CACHES],
                limit=limit,
                recording=warm.is_set,
                core={},  # whose pace is recorded: that of cores if a spec says no other
                watch=progress(warm, deadline),
                metadata={
                    "command": "redis-server",
                    "workload": f"redis-benchmark, {GET_CLIENTS} clients GET and {SET_CLIENTS} clients SET, uniformly "
                    f"random among {keys} keys, values of {VALUE_BYTES} bytes",
                    "warm-up": f"loading the data set, then {warm_up} requests",
                },
            )
        finally:
            stop.set()
            load.join()


def server(folder: str, port: int) -> list[str]:
    """The command of a server for this machine only, without persistence of its own."""
    options = {
        "port": str(port),
        "bind": HOST,
        "protected-mode": "yes",
        "dir": folder,
        "dbfilename": "data.rdb",
        "save": "",
        "appendonly": "no",
        "rdbcompression": "no",
        "rdbchecksum": "no",
        "hz": "1",  # the server is slowed down, its timers are not: keep their share small
        "logfile": f"{folder}/server.log",
    }
    return ["redis-server", *(word for key, value in options.items() for word in (f"--{key}", value))]


def fill(folder: str, keys: int, deadline: float) -> None:
    """Makes the data set with a server that runs at full speed, and saves it for the one that is recorded."""
    port = free_port()
    loop = f"for i = 0, {keys - 1} do redis.call('SET', string.format('key:%012d', i), value) end"
    script = f"local value = string.rep('x', {VALUE_BYTES}) {loop}"
    with running(server(folder, port)):
        wait_until_ready(port, deadline, threading.Event())
        for command in (["EVAL", script, "0"], ["SAVE"]):
            subprocess.run(cli(port, *command), check=True, stdout=subprocess.DEVNULL, timeout=60)


def drive(
    port: int, keys: int, warm_up: int, deadline: float, warm: threading.Event, stop: threading.Event
) -> None:
    """Sends requests from when the data is loaded until told to stop; says when the caches are warm."""
    if not wait_until_ready(port, deadline, stop):
        return
    clients = GET_CLIENTS + SET_CLIENTS
    for count in (warm_up, 1_000_000_000):
        gets = benchmark(port, keys, GET_CLIENTS, count * GET_CLIENTS // clients, "GET")
        sets = benchmark(port, keys, SET_CLIENTS, count * SET_CLIENTS // clients, "SET", "x" * VALUE_BYTES)
        with running(gets) as one, running(sets) as other:
            while any(process.poll() is None for process in (one, other)):
                if stop.wait(0.1):
                    return
        warm.set()


def benchmark(port: int, keys: int, clients: int, count: int, request: str, *value: str) -> list[str]:
    """The command that sends `count` requests for random keys."""
    options = {"-h": HOST, "-p": port, "-c": clients, "-n": count, "-r": keys}
    words = [str(word) for pair in options.items() for word in pair]
    return ["redis-benchmark", *words, "-q", request, "key:__rand_int__", *value]


def progress(warm: threading.Event, deadline: float) -> Callable[[int, int], None]:
    """Prints now and then how far it is; raises CxloomError when the time is up."""
    shown = time.monotonic()

    def watch(instructions: int, records: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now > deadline:
            raise CxloomError("the time is up; --timeout gives more")
        if now - shown > 10:
            shown = now
            state = f"{records} accesses recorded" if warm.is_set() else "warming up"
            print(f"{instructions / 1e6:.0f} million instructions, {state}", file=sys.stderr)

    return watch


def wait_until_ready(port: int, deadline: float, stop: threading.Event) -> bool:
    """Waits until the server answers, which it does not before its data is loaded; False if there is no point."""
    while time.monotonic() < deadline and not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            answer = subprocess.run(cli(port, "PING"), capture_output=True, text=True, timeout=30)
            if answer.stdout.strip() == "PONG":
                return True
        time.sleep(0.2)
    return False


def cli(port: int, *command: str) -> list[str]:
    """A command of redis-cli."""
    return ["redis-cli", "-h", HOST, "-p", str(port), *command]


@contextlib.contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended when left."""
    try:
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except FileNotFoundError as error:
        raise InputError(f"there is no program '{command[0]}'", allowed="redis installed") from error
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port of the loopback interface that nobody uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
