"""What lies where in ELF files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cxloom.trace.symbols import Table, image

SOURCE = """
int table[4096] = {1};
static int hidden[4096];
int *use(int i) { return table[i] ? hidden + i : table; }
int main(void) { return *use(0); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with an array that has its bytes in the file, and one that has not."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run([shutil.which("cc") or "gcc", "-O0", folder / "a.c", "-o", folder / "a"], check=True)
    return folder / "a"


def test_symbols_are_those_of_nm(program: Path) -> None:
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    places = {words[2]: int(words[0], 16) for line in lines if len(words := line.split()) == 3}
    of = image(str(program))
    for name in ("table", "hidden"):
        assert of.data.at(places[name]) == name
        assert of.data.at(places[name] + 16383) == name
        assert of.data.at(places[name] + 16384) != name
        page = (places[name] + 8192) & ~4095
        assert of.data.most_of(page, page + 4096) == name
    for name in ("use", "main"):
        assert of.functions.at(places[name]) == name
    assert of.functions.at(places["use"] - 1) != "use"


def test_places_in_the_file_have_addresses(program: Path) -> None:
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    assert len(loads) > 1
    for words in loads:
        offset, address = int(words[1], 16), int(words[2], 16)
        assert image(str(program)).address_of(offset) == address
    assert image(str(program)).address_of(1 << 40) is None


def test_half_of_a_page_or_more_names_it() -> None:
    table = Table((("a", 0, 5000), ("b", 5000, 1000), ("c", 8192, 2047), ("d", 12288, 2048), ("e", 20000, 0)))
    assert [table.most_of(page * 4096, page * 4096 + 4096) for page in range(5)] == [
        "a",
        None,
        None,
        "d",
        None,
    ]
    assert table.at(4999) == "a"
    assert table.at(5000) == "b"
    assert table.at(6000) is None
    assert table.at(30000) == "e"
    assert Table(()).at(5) is None
    assert Table(()).most_of(0, 4096) is None


def test_what_is_no_elf_file_says_nothing(tmp_path: Path) -> None:
    assert image(str(tmp_path / "none")).segments == ()
    (tmp_path / "text").write_text("#!/bin/sh\n")
    assert image(str(tmp_path / "text")).segments == ()
    (tmp_path / "cut").write_bytes(b"\x7fELF" + bytes(10))
    assert image(str(tmp_path / "cut")).segments == ()
