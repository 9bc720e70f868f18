"""How a program would run on simulated systems, as people see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cxloom import _core
from cxloom.base.words import counted
from cxloom.display.notes import folded
from cxloom.display.numbers import duration, size
from cxloom.display.tables import Column, laid_out
from cxloom.execution.objects import most_used
from cxloom.execution.result import WALKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from cxloom.execution.result import Execution, ExecutionResult, ThreadShare
    from cxloom.execution.sampling import Interval

_MEANINGS = {
    "busy": "executing its instructions",
    "dependent computation": "computing between one access and the next that needs it",
    WALKS: "waiting for page walks, as the TLB does not reach that far",
    "waiting for an MSHR": "waiting for a free miss register, or a slot of the host's queue",
    "kernel": "the kernel's work on pages that move",
    "idle": "waiting for what is not followed, such as a pipe or a timer",
    **{segment["name"]: segment["doc"] for segment in _core.declarations()["segments"]},
}
_LEAST = 0.0005  # a share that is shown
_THREADS = 6  # that are shown on a terminal


def names_of(result: ExecutionResult) -> list[str]:
    """The name of each system; where pages tell them apart, their placement."""
    names = [execution.system for execution in result.executions]
    if len(set(names)) == len(names):
        return names
    return [f"{execution.system}: {execution.pages}" for execution in result.executions]


def sentence(execution: Execution, name: str) -> str:
    """Where most of the time goes in which something is done: the bottleneck."""
    parts = execution.parts()
    working = {part: share for part, share in parts.items() if part != "idle"} or parts
    if not working:
        return f"It takes no time on {name}."
    part = max(working, key=lambda each: working[each])
    share = working[part] / sum(working.values())
    aside = ", but for idle time," if parts.get("idle", 0.0) >= _LEAST else ""
    return f"Most of the time on {name}{aside} ({share:.0%}) goes to {part}: {_MEANINGS[part]}."


def margin(interval: Interval | None) -> str:
    """How well an estimated number is known, behind it: `` +- 1.2%``."""
    if interval is None or interval.high == interval.value:
        return ""
    return f" \u00b1 {(interval.high - interval.value) / interval.value:.1%}"


def hottest(result: ExecutionResult, most: int = 4) -> str:
    """The objects to which most accesses go, in a line."""
    whole = sum(each.accesses for each in result.objects)
    first = most_used(result.objects)[:most]
    shown = [each for each in first if each.accesses >= 0.01 * whole] or first[:1]
    return ", ".join(f"{each.name} {each.accesses / whole:.0%} ({size(each.bytes)})" for each in shown)


def show(result: ExecutionResult, console: Console) -> None:
    """A table with a column for each system, and a sentence."""
    from cxloom.display.plain_table import plain_table  # loaded where there is something to say

    first = result.executions[0]
    table = plain_table()
    table.add_column("")
    for name in names_of(result):
        table.add_column(name, justify="right")
    samples = [each.sampled for each in result.executions]
    times = [margin(None if each is None else each.time_ns) for each in samples]
    table.add_row(
        "time", *(duration(each.time_ns) + more for each, more in zip(result.executions, times, strict=True))
    )
    if len(result.executions) > 1:
        slowdowns = [margin(None if each is None else each.slowdown) for each in samples]
        rows = zip(result.slowdowns, slowdowns, strict=True)
        table.add_row("slowdown", *(f"{slowdown:.3f}{more}" for slowdown, more in rows))
    table.add_row(
        "instructions per cycle", *(f"{each.instructions_per_cycle:.2f}" for each in result.executions)
    )
    parts = [each.parts() for each in result.executions]
    names = {name for each in parts for name, share in each.items() if share >= _LEAST}
    for name in (each for each in _MEANINGS if each in names):
        table.add_row(f"  {name}", *(f"{each.get(name, 0.0):.1%}" for each in parts))
    console.print(table)
    console.print(sentence(result.executions[-1], names_of(result)[-1]))
    if threads := result.executions[-1].threads(result.threads):
        _show_threads(threads, names_of(result)[-1], console)
    if result.objects:
        console.print(f"Hottest memory: {hottest(result)}.")
    threads = first.core["threads"]
    ran = f"{counted(result.instructions, 'instruction')} of {counted(threads, 'thread')}"
    ended = "replayed" if result.ended is None else str(result.ended)
    console.print(
        f"{ran}, {counted(result.accesses, 'access')} that missed the caches; {ended}; "
        f"simulated in {result.seconds:.1f} s",
        style="dim",
    )
    if result.translation is not None:
        console.print(result.translation.text(result.instructions), style="dim")
    for line in result.threads_lines:
        console.print(line, style="dim")
    for note in folded(result.notes):
        console.print(f"note: {note}", style="dim")


def _show_threads(threads: Sequence[ThreadShare], name: str, console: Console) -> None:
    """Shows the threads on the critical path, and how many are not."""
    shown = [each for each in threads[:_THREADS] if each.share >= _LEAST] or threads[:1]
    left = threads[len(shown) :]
    names = [str(each.name) for each in shown]
    columns = {
        "of the time": [f"{each.share:.1%}" for each in shown],
        "per cycle": [f"{each.instructions_per_cycle:.2f}" for each in shown],
        "busy": [f"{each.busy:.1%}" for each in shown],
        "memory": [f"{each.memory:.1%}" for each in shown],
        "idle": [f"{each.idle:.1%}" for each in shown],
    }
    if left:
        names.append(f"{counted(len(left), 'other thread')}")
        for head, cells in columns.items():
            cells.append(f"{sum(each.share for each in left):.1%}" if head == "of the time" else "")
    lines = laid_out(
        [Column("", names, may_shrink=True)]
        + [Column(head, cells, may_shrink=False, right=True) for head, cells in columns.items()],
        console.width,
    )
    console.print(f"Critical path on {name}:", highlight=False, markup=False)
    for line in lines:
        console.print(line, highlight=False, markup=False)
