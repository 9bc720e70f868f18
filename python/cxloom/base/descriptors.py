"""Standard input, output and error of a process that was started without some of them."""

from __future__ import annotations

import os

_STANDARD = (0, 1, 2)


def hold_standard_descriptors() -> None:
    """Keeps files of ours from becoming standard streams: a closed one leads nowhere from now on.

    Programs that are started do not inherit it: for them it is closed, as it was for this process.
    """
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            found = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            if found != number:  # another thread was faster
                os.dup2(found, number, inheritable=False)
                os.close(found)
