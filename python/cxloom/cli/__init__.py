"""The command `cxloom`. `docs/cli.md` describes it.

`app` knows the commands, each of which has a module of its name: options in, a call of the package, output and exit
code. What the command can, Python can without it: nothing but these modules imports them.
"""

import signal
from typing import Any

from cxloom.base.descriptors import hold_standard_descriptors
from cxloom.cli.at_once import ended_at_once
from cxloom.cli.ending import Ending

__all__ = ["entry", "main"]


def main(afterwards: Any = signal.default_int_handler) -> None:
    """Runs the command of `sys.argv` and exits with its code; `afterwards` is the handler of Ctrl-C from then on."""
    with ended_at_once(afterwards):
        hold_standard_descriptors()
        from cxloom.cli.process import run

        run()


def entry() -> None:
    """The command as a process: once it is done, Ctrl-C has nothing to end any more."""
    ending = Ending()
    try:
        main(signal.SIG_IGN)
    except SystemExit as end:
        ending.code = end.code if isinstance(end.code, int) else None
        raise
