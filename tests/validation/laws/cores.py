"""Laws of the time of cores: its parts sum to it, and no more waits for memory than there are waits."""

from __future__ import annotations

from typing import Any

from validation.laws import law
from validation.laws.look import Look
from validation.systems import SEGMENTS, Spec

PARTS = ("busy_ns", "chain_ns", "mshr_ns", "idle_ns")


def core(look: Look, name: str) -> Spec:
    """What is measured of the cores of a requester."""
    measured: Spec = look.summary["per_requester"][name]["core"]
    return measured


def cycle(look: Look, name: str) -> float:
    """The cycle of the cores of a requester, ns."""
    clock: str = look.device(name)["core"].get("clock", "4G/s")
    return 1 / float(clock.removesuffix("G/s"))


@law("per_requester.*.core.threads")
def threads(look: Look, value: int, name: str) -> None:
    """Patterns are of one thread."""
    if "pattern" in look.spec["workload"][name]:
        look.equal(value, 1)
    look.within(value, 1)


@law("per_requester.*.core.instructions")
def instructions(look: Look, value: int, name: str) -> None:
    """Each access of a pattern is one."""
    if look.whole and "pattern" in look.spec["workload"][name]:
        look.equal(value, len(look.all_rows["id"]))


@law("per_requester.*.core.time_ns")
def time(look: Look, value: float, name: str) -> None:
    parts = core(look, name)
    sums = sum(parts[part] for part in PARTS) + parts.get("kernel_ns", 0.0)
    look.equal(value, sums + sum(parts["memory_ns"].values()), abs=1e-6)
    if look.whole and "kernel_ns" not in parts and parts["threads"] == 1:  # to the last answer
        look.equal(value, look.all_rows["completed_ps"].max() / 1000)


@law("per_requester.*.core.longest_ns")
def longest(look: Look, value: float, name: str) -> None:
    """The time of one thread; of several threads that of one of them."""
    parts = core(look, name)
    threads = parts.get("per_thread", {"0": parts})
    look.equal(value, max(each["time_ns"] for each in threads.values()))


@law("per_requester.*.core.instructions_per_cycle")
def instructions_a_cycle(look: Look, value: float, name: str) -> None:
    parts = core(look, name)
    look.equal(value, parts["instructions"] / (parts["time_ns"] / cycle(look, name)))


@law("per_requester.*.core.busy_ns")
def busy(look: Look, value: float, name: str) -> None:
    pace = look.device(name)["core"].get("cycles_per_instruction", 0.25) * cycle(look, name)
    look.equal(value, core(look, name)["instructions"] * pace, abs=0.002)  # whole picoseconds


@law("per_requester.*.core.idle_ns")
def idle(look: Look, value: float, name: str) -> None:
    """A pattern has no threads that sleep."""
    look.equal(value, 0.0)


@law("per_requester.*.core.chain_ns", "per_requester.*.core.mshr_ns")
def waits_inside(look: Look, value: float, name: str) -> None:
    look.within(value, 0, core(look, name)["time_ns"])


@law("per_requester.*.core.memory_ns")
def nothing(look: Look, value: Any, name: str) -> None:
    """No entry: nothing was waited for."""
    look.equal(value, {})


@law("per_requester.*.core.memory_ns.*")
def memory(look: Look, value: float, name: str, segment: str) -> None:
    """A core waits for one request at a time: of a segment no more than there is of it."""
    assert segment in SEGMENTS
    if look.whole:
        look.within(value, 0, float(look.all_rows[f"{segment}_ps"].sum()) / 1000)


@law("per_requester.*.core.kernel_ns")
def kernel(look: Look, value: float, name: str) -> None:
    """What the kernel took of its one thread in the whole run."""
    taken = look.summary["per_requester"][name]["tiering"]["interrupted_ns"]
    if look.whole:
        look.equal(value, taken, abs=1e-3)
    look.within(value, 0, taken + 1e-3)


@law("per_requester.*.core.walk_ns")
def walks(look: Look, value: float, name: str) -> None:
    """A pattern has no page table."""
    look.equal(value, 0.0)


@law("per_requester.*.core.fill_buffers_mean")
def fill_buffers(look: Look, value: float, name: str) -> None:
    """A miss has one from when it is made to its answer, and where nothing waits for the queue that is its request."""
    device = look.device(name)
    buffers = device["core"]["fill_buffers"] * core(look, name)["threads"]
    look.within(value, 0, buffers * (1 + 1e-9))
    if buffers <= device.get("queue", 0):
        look.equal(value, look.summary["per_requester"][name]["in_flight_mean"])


# --- Several threads ---


def threads_of(look: Look, name: str) -> list[Spec]:
    """What is measured of each."""
    return list(core(look, name)["per_thread"].values())


def parts_of(measured: Spec) -> float:
    """The sum of the parts of a time."""
    return float(
        sum(measured.get(part, 0.0) for part in (*PARTS, "walk_ns", "kernel_ns"))
        + sum(measured["memory_ns"].values())
    )


@law("per_requester.*.core.per_thread.*.*")
def per_thread(look: Look, value: float, name: str, thread: str, key: str) -> None:
    """Those of all threads are the cores'; a thread is on the path for a part of its time."""
    whole, own = core(look, name), core(look, name)["per_thread"][thread]
    if key == "memory_ns":  # no entry: it waited for nothing
        look.equal(value, {})
    elif key == "begun_ns":
        look.within(value, 0, whole["longest_ns"])
    elif key == "on_path_ns":
        look.equal(
            sum(each[key] for each in threads_of(look, name)), whole["critical_path"]["time_ns"], abs=1e-3
        )
    else:
        look.equal(sum(each.get(key, 0) for each in threads_of(look, name)), whole[key], abs=1e-3)
    look.equal(own["time_ns"], parts_of(own), abs=1e-3)


@law("per_requester.*.core.per_thread.*.memory_ns.*")
def memory_of_thread(look: Look, value: float, name: str, thread: str, segment: str) -> None:
    of_all = sum(each["memory_ns"].get(segment, 0.0) for each in threads_of(look, name))
    look.equal(of_all, core(look, name)["memory_ns"][segment], abs=1e-3)
    look.within(value, 0, of_all)


@law("per_requester.*.core.critical_path.*", "per_requester.*.core.critical_path.memory_ns.*")
def critical_path(look: Look, value: Any, name: str, *key: str) -> None:
    """It is as long as the thread that ended last; of no thing there is more on it than in all threads."""
    whole, path = core(look, name), core(look, name)["critical_path"]
    look.equal(path["time_ns"], whole["longest_ns"], abs=1e-3)
    look.equal(path["time_ns"], parts_of(path), abs=1e-3)
    what = look.path[-1]
    if what == "memory_ns":
        look.equal(value, {})
    elif what != "time_ns":
        of_all = whole["memory_ns"].get(what, 0.0) if "memory_ns" in look.path else whole.get(what, 0.0)
        look.within(value, 0, of_all + 1e-3)
