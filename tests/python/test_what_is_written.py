"""Devices, pipes and descriptors stay what they are: a file that is whole gets its name by a renaming."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import cxloom as cx
from cxloom.cli.writing import check_writable, write_text

THINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: os.mknod(path, 0o666 | 0o020000, os.makedev(1, 7)),
    "a link to a device": lambda path: path.symlink_to("/dev/full"),
    "a descriptor": lambda path: path.symlink_to("/proc/self/fd/1"),
}


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_no_regular_file_is_not_written_and_stays(thing: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    if thing == "a device" and os.geteuid() != 0:
        pytest.skip("only root makes a device")
    THINGS[thing](path)

    def state() -> tuple[int, ...]:  # but for the time of access: to look where a link leads is one
        found = path.lstat()
        return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    before = state()
    for write in (lambda: check_writable([path]), lambda: write_text(path, "{}")):
        with pytest.raises(cx.InputError, match="not a regular file"):
            write()
    assert state() == before
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_link_to_a_file_is_written_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.symlink_to(tmp_path / "there.json")
    check_writable([path])
    assert write_text(path, "{}").read_text() == "{}"
