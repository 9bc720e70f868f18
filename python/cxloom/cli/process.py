"""The command as a process: its streams, and the code with which it ends."""

from __future__ import annotations

import gc
import sys

from cxloom.cli.streams import Messages, Output

_YOUNG = 200_000
"""New objects after which Python looks for circles among them. By default it does so after 700: an eighth of a short
run, and of a large system's, went into finding none."""


def run() -> None:
    """Runs the command of `sys.argv` and exits with its code."""
    streams = sys.stdout, sys.stderr
    gc.set_threshold(_YOUNG)
    try:
        from cxloom.cli.app import command

        out, err = Output(sys.stdout, "standard output"), Messages(sys.stderr)
        sys.stdout, sys.stderr = out, err
        code = command(out)
    finally:
        sys.stdout, sys.stderr = streams
    raise SystemExit(code)
