"""What a workload says of a copy engine, turned."""

from __future__ import annotations

from collections.abc import Iterator

from validation.systems import Run, Spec, changed, direct
from validation.turns import DIFFERS, FALLS, RISES, Turn, addresses, highest

AT = "workload.host"


def engine_rows() -> Iterator[Turn]:
    """Engines that copy, and those that fill."""
    for kind in ("copy", "fill"):
        name, base = f"patterns.{kind}", engine(kind)
        yield Turn(f"{name}.footprint", base, f"{AT}.footprint", ("64KiB", "1MiB"), RISES, highest)
        yield Turn(f"{name}.destination", base, f"{AT}.destination", ("0x400000", "0x800000"), RISES, highest)
        yield Turn(f"{name}.size", base, f"{AT}.size", ("1KiB", "8KiB"), RISES, each)
        yield Turn(f"{name}.order", base, f"{AT}.order", ("sequential", "random"), DIFFERS, first_writes)
        lines = ("lines_in_flight", (4, 16))
        yield Turn(f"{name}.{lines[0]}", base, f"{AT}.{lines[0]}", lines[1], FALLS, each)
        short = changed(base, (f"{AT}.size", "256B"))
        yield Turn(f"{name}.descriptors", short, f"{AT}.descriptors", (1, 4), FALLS, total)
        yield Turn(f"{name}.setup", base, f"{AT}.setup", ("0ns", "1us"), RISES, each)
    copies = changed(engine("copy"), (f"{AT}.destination", "0x0"))
    yield Turn("patterns.copy.source", copies, f"{AT}.source", ("0x400000", "0x800000"), RISES, highest_read)


def engine(kind: str) -> Spec:
    """A host whose engine has 64 descriptors of 2 KiB."""
    work = {"pattern": kind, "requests": 64, "footprint": "128KiB", "size": "2KiB", "destination": "0x400000"}
    base = direct(work=work)
    return changed(base, *((f"{AT}.{key}", ...) for key in base["workload"]["host"] if key not in work))


def each(outcome: Run) -> float:
    """Mean time of a descriptor."""
    taken: float = outcome.summary["per_requester"]["host"]["large_access_ns"]
    return taken


def total(outcome: Run) -> float:
    """Time of all."""
    return float(outcome.summary["simulated_time_ns"])


def first_writes(outcome: Run) -> list[int]:
    """Where the first writes go."""
    return [int(address) for address in addresses(outcome)[outcome.requests["kind"] == 1][:200]]


def highest_read(outcome: Run) -> int:
    """The end of what is read."""
    return int(addresses(outcome)[outcome.requests["kind"] == 0].max())
