"""Files under a temporary name until they are whole: locked by the writer, removed by the next user.

A writer that is killed leaves its file, and the lock is gone with the process. So a file that can be locked belongs to
nobody: the next one who writes the same name into the folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path


class TemporaryFile:
    """A file that will be called `name`; until then `path` is where it is written. Raises OSError."""

    def __init__(self, folder: Path, name: str) -> None:
        # Sweeps make many: paths as texts take a fifth of the time.
        self._target = os.path.join(folder, name)
        while True:
            self._name = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
            self._lock = os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            with contextlib.suppress(OSError):  # where nothing can be locked, nothing is removed either
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            with contextlib.suppress(
                FileNotFoundError
            ):  # somebody took it for abandoned just before it was locked
                if os.path.samestat(os.stat(self._name), os.fstat(self._lock)):
                    return
            os.close(self._lock)

    @property
    def path(self) -> Path:
        """Where it is until it has its name."""
        return Path(self._name)

    def write(self, data: bytes) -> None:
        """Writes all of the file at once. Raises OSError."""
        with open(self._lock, "wb", buffering=0, closefd=False) as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]

    def commit(self) -> None:
        """Gives the file its name. Raises OSError."""
        os.replace(self._name, self._target)
        os.close(self._lock)

    def discard(self) -> None:
        """Removes the file."""
        with contextlib.suppress(OSError):
            os.unlink(self._name)
        os.close(self._lock)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Where to write a file that is called `path` if all goes well, and vanishes if not. Raises OSError.

    Folders that are not there are made, and vanish with it.
    """
    with _folder(path.parent):
        left = abandoned(path.parent, [path.name])
        temporary = TemporaryFile(path.parent, path.name)
        try:
            yield temporary.path
            temporary.commit()
        except BaseException:
            temporary.discard()
            raise
        remove(left)


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Makes a folder, and those that it is in; those that are made and empty are removed after an error."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:  # a file has its name
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for each in missing:
                each.rmdir()
        raise


def check_folder(path: Path) -> None:
    """Raises OSError if no file of that name can be made, with the folders that it needs."""
    folder = next(each for each in path.absolute().parents if each.exists())
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def abandoned(folder: Path, names: Iterable[str] | None = None) -> list[Path]:
    """The temporary files in a folder, for any of the names, or for all of them, whose writers are gone."""
    starts = (".",) if names is None else tuple(f".{name}." for name in names)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return []
    ours = [entry for entry in entries if entry.name.startswith(starts) and entry.name.endswith(".tmp")]
    return [Path(entry.path) for entry in ours if _is_free(entry.path)]


def remove(paths: Iterable[Path]) -> None:
    """Removes files, as far as that is possible."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _is_free(path: str) -> bool:
    """True if nobody holds the file's lock."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(file)
