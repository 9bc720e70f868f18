"""Archives as Linux unpacks them into its first file system: cpio in the form "newc" (070701)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

_HEADER = "070701" + "%08X" * 13
_BLOCK = 512  # some programs read whole blocks


class CpioWriter:
    """Writes an archive. Archives follow each other: each ends on a block.

    Folders that a path needs are made with it. A path that was written before is not written again.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """``file`` stays open."""
        self._file = file
        self._written = 0
        self._inode = 0
        self._paths: set[str] = set()

    def add_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Adds a file with this content. Raises OSError."""
        if self._is_new(path):
            self._entry(path, stat.S_IFREG | mode, data)

    def add_link(self, path: str, target: str) -> None:
        """Adds a symbolic link. Raises OSError."""
        if self._is_new(path):
            self._entry(path, stat.S_IFLNK | 0o777, os.fsencode(target))

    def add_folder(self, path: str, mode: int = 0o755) -> None:
        """Adds a folder. Raises OSError."""
        if self._is_new(path):
            self._entry(path, stat.S_IFDIR | mode, b"")

    def add_file(self, path: str, source: Path) -> None:
        """Adds a file, link or folder of this computer under a path; what a folder holds is not added. Raises
        OSError."""
        status = source.lstat()
        if stat.S_ISLNK(status.st_mode):
            self.add_link(path, os.readlink(source))
        elif stat.S_ISDIR(status.st_mode):
            self.add_folder(path, stat.S_IMODE(status.st_mode))
        elif self._is_new(path):
            self._entry(
                path, stat.S_IFREG | stat.S_IMODE(status.st_mode), source.read_bytes(), int(status.st_mtime)
            )

    def finish(self) -> None:
        """Writes the end of the archive. Raises OSError."""
        self._entry("TRAILER!!!", 0, b"")
        self._pad(_BLOCK)

    def _is_new(self, path: str) -> bool:
        """Whether nothing has the path yet, which has its folders then."""
        path = path.strip("/")
        if path in self._paths or not path:
            return False
        parent = path.rpartition("/")[0]
        if parent:
            self.add_folder(parent)
        self._paths.add(path)
        return True

    def _entry(self, path: str, mode: int, data: bytes, modified: int = 0) -> None:
        name = os.fsencode(path.strip("/")) + b"\0"
        self._inode += 1
        fields = (self._inode, mode, 0, 0, 1, modified, len(data), 0, 0, 0, 0, len(name), 0)
        self._write((_HEADER % fields).encode() + name)
        self._pad(4)
        self._write(data)
        self._pad(4)

    def _pad(self, to: int) -> None:
        self._write(bytes(-self._written % to))

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._written += len(data)
