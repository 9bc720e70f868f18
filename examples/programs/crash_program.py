"""Lets the power fail while a program runs on a simulated system, and lets the program recover from what is left.

    crash_program.py [--system SPEC] [--instants N] [--seed S] -- PROGRAM ARGS

The program is one of those here that can recover, kvstore. It is run once to learn what its flushes make durable, and
recorded; the host of SPEC plays its trace. At N instants that are drawn from that run, from its first flush on, the
power fails: memory has each line as the flushes that were answered by then have left it, and any of those that were
under way may be there as well, which is drawn, too. The program is started with this image of its pool, and says
whether it recovers, with all that it has acknowledged.

`cxloom crash` shows that a system keeps what it has answered for; this shows whether a program asks for enough. Lines
that leave a cache without a flush are not looked at.

Exit code: 0 nothing is lost, 1 something is, 2 the input is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import cxloom as cx
from cxloom.base.errors import CxloomError, InputError, reason_of
from cxloom.trace import CacheLevel, capture

LINE = 64
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Flush:
    """A line that the program makes durable."""

    offset: int
    """In the pool."""
    data: bytes


@dataclass
class History:
    """What a run of the program makes durable, in its order."""

    flushes: list[Flush] = field(default_factory=list)
    fences: list[int] = field(default_factory=list)
    """How many flushes are before each."""
    acknowledged: list[tuple[int, int]] = field(default_factory=list)
    """How many flushes are before it, and the number of what somebody is told is done."""

    @property
    def bytes(self) -> int:
        """The bytes of the pool, as far as it is flushed."""
        return max(flush.offset for flush in self.flushes) + LINE

    @classmethod
    def of(cls, command: list[str], folder: Path) -> History:
        """Runs the program by itself. Raises InputError if it cannot be run, fails, or has no history with flushes."""
        file = folder / "history"
        outcome = started(command, os.environ | {"PERSIST_HISTORY": str(file)})
        if outcome.returncode != 0:
            raise InputError("the program fails without a crash", found=said(outcome))
        data = file.read_bytes() if file.exists() else b""
        if not data:
            raise InputError(
                "the program writes no history of its persists",
                found=command[0],
                allowed="one that writes it to the file PERSIST_HISTORY, and can recover: kvstore",
            )
        history, at = cls(), 0
        while at < len(data):
            (word,) = struct.unpack_from("<Q", data, at)
            at += 8
            what, number = chr(word & 0xFF), word >> 8
            if what == "F":
                history.flushes.append(Flush(number, data[at : at + LINE]))
                at += LINE
            elif what == "S":
                history.fences.append(len(history.flushes))
            else:
                history.acknowledged.append((len(history.flushes), number))
        if not history.flushes:
            raise InputError("the program makes nothing durable", found=shlex.join(command))
        return history


def started(
    command: list[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. Raises InputError if it cannot be started."""
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise InputError(f"'{command[0]}' cannot be run: {reason_of(error)}") from error


def said(outcome: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, on one line, or how it ended if it printed nothing."""
    return " ".join((outcome.stdout + outcome.stderr).split()) or f"exit code {outcome.returncode}"


class Run:
    """When the flushes of a program were made and answered on a simulated system."""

    def __init__(self, history: History, spec: str, command: list[str], folder: Path) -> None:
        """Records the program and plays it. Raises InputError if the system does not make its flushes in order."""
        trace = folder / "trace.parquet"
        capture(command, trace, caches=[CacheLevel("L1", "32KiB", 8)], virtual=True)
        system = cx.load(spec).set("workload.host.trace", str(trace))
        rows = cx.run(system, requests=True).requests().sort("id")
        rows = rows.filter(rows["kind"] == "flush")
        if len(rows) != len(history.flushes):
            raise InputError("the run has not the flushes of the program", found=str(len(rows)))
        self.made = rows["created_ps"].to_list()
        self.answered = rows["completed_ps"].to_list()
        self.end = max(self.answered)
        # Somebody is told of it behind the fence before it, and not before the flushes before it are made.
        self.told: list[tuple[int, int]] = []
        for before, number in history.acknowledged:
            waited = max((fence for fence in history.fences if fence <= before), default=0)
            times = [*self.answered[:waited], *self.made[:before]]
            self.told.append((max(times, default=0), number))


def crashes(history: History, run: Run, command: list[str], folder: Path, instants: int, seed: int) -> str:
    """What the program says at the first instant at which it does not recover; empty if it does at all of them.

    Raises InputError if the recovery ends with another code than 0, it recovers, and 1, something is lost.
    """
    draw = random.Random(seed)
    image = folder / "image"
    for instant in sorted(draw.randint(run.made[0], run.end) for _ in range(instants)):
        memory = bytearray(history.bytes + 64 * LINE)
        for flush, made, answered in zip(history.flushes, run.made, run.answered, strict=True):
            if answered <= instant or (made <= instant and draw.random() < 0.5):
                memory[flush.offset : flush.offset + LINE] = flush.data
        image.write_bytes(memory)
        acknowledged = max((number for told, number in run.told if told <= instant), default=0)
        recovery = [*command, "recover", str(image), str(acknowledged)]
        outcome = started(recovery)
        if outcome.returncode == 1:
            return f"at {instant / 1000:.3f} ns, {acknowledged} acknowledged: {said(outcome)}"
        if outcome.returncode != 0:
            raise InputError(
                f"the recovery `{shlex.join(recovery)}` ends with {outcome.returncode}",
                found=said(outcome),
                allowed="0: it recovers, or 1: something is lost",
            )
    return ""


def from_one(text: str) -> int:
    """A whole number from 1 on. Raises ValueError for anything else."""
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


from_one.__name__ = "whole number from 1 on"  # what argparse calls it


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--system", default=str(HERE / "persistent.yaml"), metavar="SPEC")
    parser.add_argument("--instants", type=from_one, default=500, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("command", nargs="+", metavar="PROGRAM ARGS")
    given = parser.parse_args()
    # A fault is one of the run, not of the recovery: `recover` stands in its place.
    recovering = [word for word in given.command if word not in ("fence", "flush")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            history = History.of(given.command, folder)
            run = Run(history, given.system, given.command, folder)
            lost = crashes(history, run, recovering, folder, given.instants, given.seed)
        except CxloomError as error:
            print(error, file=sys.stderr)
            return 2
    print(lost or f"{given.instants} instants, and nothing that was acknowledged is lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
