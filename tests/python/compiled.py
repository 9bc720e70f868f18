"""What tests compile, once: for all processes of a run, and for the next runs as long as nothing of it has changed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "cache" / "compiled"


@cache
def version_of(compiler: str) -> str:
    """What a compiler says of itself."""
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def once(made_of: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills. It is called if nothing was made of the same before.

    `made_of` has all that decides what comes out: files, of which the content counts, and words, such as options.
    """
    digest = hashlib.sha256()
    for each in made_of:
        named = (
            each.name if isinstance(each, Path) else each
        )  # one that a test writes lies elsewhere each time
        digest.update(named.encode() + b"\0" + (each.read_bytes() if isinstance(each, Path) else b""))
    folder = KEPT / digest.hexdigest()[:20]
    KEPT.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = Path(tempfile.mkdtemp(dir=KEPT))
            try:
                make(made)
                os.rename(made, folder)
            finally:
                shutil.rmtree(made, ignore_errors=True)
    return folder
