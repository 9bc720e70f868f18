"""The log of `cxloom boot --log enumeration`: a table, or a file with every access."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from cxloom.booting.enumeration import SPACES, Access, counted_by
from cxloom.cli.writing import write_text
from cxloom.display.console import messages
from cxloom.display.plain_table import plain_table


def show_enumeration(accesses: Sequence[Access], file: Path | None) -> None:
    """Shows how many accesses there were, by step and device; or writes all of them. Raises InputError if it cannot."""
    if file is not None:
        write_text(file, _csv(accesses))
        return
    table = plain_table()
    for name in ("step", "device", *(f"{space} {way}" for space in SPACES for way in ("reads", "writes"))):
        table.add_column(
            name, justify="left" if name in ("step", "device") else "right", no_wrap=name == "device"
        )
    before = ""
    for (step, device), counts in counted_by(accesses).items():
        cells = [str(counts[space, is_write] or "") for space in SPACES for is_write in (False, True)]
        table.add_row("" if step == before else step, Text(device), *cells)
        before = step
    messages().print(table)


def _csv(accesses: Sequence[Access]) -> str:
    lines = ["step,device,space,register,way,value"]
    for each in accesses:
        device = f'"{each.device}"' if "," in each.device else each.device
        way = "write" if each.is_write else "read"
        lines.append(f"{each.step},{device},{each.space},{each.register:#x},{way},{each.value:#x}")
    return "\n".join(lines) + "\n"
