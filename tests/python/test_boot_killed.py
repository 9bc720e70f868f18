"""Why a program in a guest was killed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cxloom.booting.booted import BootedMachine
from cxloom.booting.emulator import Emulator

OOM = "[   12.345678] Out of memory: Killed process 227 (my (app)) total-vm:900kB, anon-rss:5kB\r\n"


def machine(console: str) -> BootedMachine:
    """One whose guest has this on its console."""
    emulator: Any = SimpleNamespace(console=bytearray(console.encode()), read_console=lambda: None)
    emulator.line_with = lambda sign: Emulator.line_with(cast(Emulator, emulator), sign)
    return cast(BootedMachine, SimpleNamespace(emulator=emulator))


@pytest.mark.parametrize(
    ("console", "code", "said"),
    [
        (OOM, 137, "the guest ran out of memory: its kernel killed my (app) (227)"),
        (
            "random\r\n" + OOM + "more\r\n",
            137,
            "the guest ran out of memory: its kernel killed my (app) (227)",
        ),
        (OOM, 1, ""),
        ("nothing of it\r\n", 137, ""),
    ],
)
def test_memory_that_was_short_is_said(console: str, code: int, said: str) -> None:
    assert BootedMachine.killed(machine(console), code) == said
