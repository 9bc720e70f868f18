"""The end of the process once its command is done: without taking the interpreter apart object by object, which takes
a seventh of a short run and does nothing that anybody sees.

Nothing here imports what takes time.
"""

from __future__ import annotations

import atexit
import os
import sys


class Ending:
    """From when it is made on: the process ends at once with `code`, when that is known and all else is done.

    Functions for the end of the process run in the reverse order of their registration: threads have ended then, and
    what was registered later has been done. Where somebody registered one before, as what measures coverage does, or
    a library is loaded before all others, as profilers are, which write at the ordinary end, it is the ordinary one.
    So it is with a plug-in: a file that it holds open for as long as the process lives is written only then.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        if atexit._ncallbacks() == 0 and not os.environ.get("LD_PRELOAD"):
            atexit.register(self._end)

    def _end(self) -> None:
        if self.code is None or _has_plugin():  # none: a bug, with a traceback
            return
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()  # one that fails is told of by Python, which goes on with its ordinary end
        os._exit(self.code)


def _has_plugin() -> bool:
    plugins = sys.modules.get("cxloom.spec.plugins")
    return plugins is not None and bool(plugins.loaded_plugins())
