"""The command as a process: ``python -m cxloom``, and the script `cxloom`.

Nothing is imported here before Ctrl-C ends the process in one line: what the command needs takes a while to load.
"""

import signal

from cxloom.base.interrupted import end_at_once


def process() -> None:
    """Runs the command of `sys.argv`. It is all that the process does: it exits, and Ctrl-C has nothing to end then.

    A program that goes on afterwards calls `cxloom.cli.main`.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, end_at_once)
    from cxloom.cli import main
    from cxloom.cli.ending import Ending

    ending = Ending()
    try:
        main()
    except SystemExit as end:
        ending.code = end.code if isinstance(end.code, int) else None
        raise
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    process()
