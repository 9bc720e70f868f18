"""The log of `cxloom boot --log enumeration`: a table, or a file with every access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from cxloom.booting.enumeration import SPACES, Access, Times, counted_by
from cxloom.cli.writing import write_text
from cxloom.display.console import messages
from cxloom.display.plain_table import plain_table

_HEADINGS = ("config", "component", "mailbox")
"""The SPACES, in words so short that the table fits a terminal of 80 columns."""
_WAITS, _POSTED = "waits us", "posted us"
_ABOUT = (
    "Reads/writes of configuration space, of component registers (decoders) and of device registers (mailbox). "
    "Times are those of CXL.io on the spec's links, one access after the other: of reads, and of writes of "
    "configuration space, until they are answered; of other writes, which are posted, until they have come. Root "
    "ports and host bridges, of which the spec has no time, take none, nor does the answer of a switch; that of a "
    "device is its io_time, by default an assumption."
)


def show_enumeration(accesses: Sequence[Access], times: Times, file: Path | None) -> None:
    """Shows how many accesses there were, and their times, by step and device; or writes all of them. Raises InputError
    if it cannot."""
    if file is not None:
        write_text(file, _csv(accesses, times))
        return
    table = plain_table()
    for name in ("step", "device", *_HEADINGS, _WAITS, _POSTED):
        table.add_column(name, justify="left" if name == "step" else "right", no_wrap=True)
    table.columns[1].justify = "left"
    spent: Counter[tuple[str, str, bool]] = Counter()
    for each in accesses:
        picoseconds = round(1000 * times.ns(each))  # a Counter has whole numbers
        spent[each.step, each.device, each.is_posted] += picoseconds
    before = ""
    for (step, device), each_count in counted_by(accesses).items():
        cells = [_counts(each_count[space, False], each_count[space, True]) for space in SPACES]
        cells += [_us(spent[step, device, is_posted]) for is_posted in (False, True)]
        table.add_row("" if step == before else step, Text(device), *cells)
        before = step
    totals = [sum(count for (*_, posted), count in spent.items() if posted is each) for each in (False, True)]
    table.add_row("all", "", *[""] * len(SPACES), *map(_us, totals))
    messages().print(table)
    messages().print(_ABOUT, style="dim")


def _counts(reads: int, writes: int) -> str:
    return f"{reads}/{writes}" if reads or writes else ""


def _us(picoseconds: int) -> str:
    return f"{picoseconds / 1e6:.2f}" if picoseconds else ""


def _csv(accesses: Sequence[Access], times: Times) -> str:
    lines = ["step,device,space,register,way,value,bytes,posted,time_ns"]
    for each in accesses:
        device = f'"{each.device}"' if "," in each.device else each.device
        way = "write" if each.is_write else "read"
        lines.append(
            f"{each.step},{device},{each.space},{each.register:#x},{way},{each.value:#x},{each.size},"
            f"{'yes' if each.is_posted else 'no'},{times.ns(each):.3f}"
        )
    return "\n".join(lines) + "\n"
