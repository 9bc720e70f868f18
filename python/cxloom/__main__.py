"""The command as a process: ``python -m cxloom``, and the script `cxloom`.

Nothing is imported here before Ctrl-C ends the process in one line: what the command needs takes a while to load.
"""

import os
import signal

from cxloom.base.interrupted import end_at_once

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def spare_idle_threads() -> None:
    """Has NumPy and SciPy make no threads for linear algebra, of which the command does none that is large.

    There is one for each processor, which waits in a loop at first: 50 to 140 ms of CPU time on two of them. A variable
    that the user has set stays as it is. It is no part of `os.environ`: programs that are run for the user are given
    that, and make as many threads as they do by themselves.
    """
    if _BLAS_THREADS not in os.environ:
        os.putenv(_BLAS_THREADS, "1")


def process() -> None:
    """Runs the command of `sys.argv`. It is all that the process does: it exits, and Ctrl-C has nothing to end then.

    A program that goes on afterwards calls `cxloom.cli.main`.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, end_at_once)
    spare_idle_threads()
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
