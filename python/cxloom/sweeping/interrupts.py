"""Ctrl-C goes to all processes of a terminal. Those that are begun here never hear it: who began them ends them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Threads and processes that are begun within it never hear Ctrl-C; this one does when it is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
