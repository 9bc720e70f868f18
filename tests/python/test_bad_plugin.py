"""A library that does not fit is refused with the reason, before anything of it can do harm."""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import once, version_of
from forked import forked
from validation.examples import slow

import cxloom
from cxloom import InputError, _core
from cxloom.spec.plugins import load_plugin

SOURCE = Path(__file__).parent / "plugins" / "bad.cpp"
COMPILER = shutil.which("g++") or shutil.which("c++") or ""
MAGIC = b"cxloom plug-in\0\0"
VERSION, CXX_LIBRARY = 20, 48  # where they stand in a stamp, in all versions
HEADERS, TYPES = 96, 164  # in this one
E_CLASS, E_DATA, E_TYPE, E_MACHINE = 4, 5, 16, 18  # in the header of an ELF file


def compiled(*arguments: str) -> None:
    subprocess.run([COMPILER, *arguments], check=True)


@pytest.fixture(scope="module")
def unlinked() -> Path:
    assert COMPILER, "the build needs a C++ compiler, so it is here"
    flags = ["-std=c++20", "-O0", "-fPIC", f"-I{cxloom.include_dir()}"]

    def make(folder: Path) -> None:
        compiled(*flags, "-c", str(SOURCE), "-o", str(folder / "bad.o"))
        compiled("-shared", str(folder / "bad.o"), "-o", str(folder / "libbad.so"))

    headers = cxloom.include_dir() / "cxloom_version.hpp"
    return once([version_of(COMPILER), *flags, SOURCE, headers], make) / "bad.o"


@pytest.fixture(scope="module")
def library(unlinked: Path) -> Path:
    return unlinked.with_name("libbad.so")


def components(library: Path | str, how: str = "", twice: bool = False) -> subprocess.CompletedProcess[str]:
    plugins = ["--plugin", str(library)] * (2 if twice else 1)
    return forked("components", "idle", *plugins, env=os.environ | {"BAD_PLUGIN": how})


def refused(library: Path | str, how: str = "", twice: bool = False) -> str:
    """What the command says, on one line after the name of the library."""
    done = components(library, how, twice)
    assert done.returncode == 2, done
    first = done.stderr.splitlines()[0]
    assert first.startswith(f"error: {library}: "), done.stderr
    assert done.stdout == ""
    return done.stderr


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_plugin(path)
    assert caught.value.file == str(path)
    return str(caught.value)


def test_it_works_when_nothing_is_wrong(library: Path) -> None:
    done = components(library)
    assert done.returncode == 0, done.stderr
    assert "Does nothing." in done.stdout


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("throws", "fails to register: it throws: no licence"),
        ("throws a number", "fails to register: it throws what is no std::exception"),
        ("throws bytes", r"fails to register: it throws: \xff\xfe"),
        ("waits", "is not loaded after 5 seconds"),
        ("crashes", "ends the program while it is loaded: Segmentation fault"),
        ("exits", "ends the program while it is loaded: exit code 0"),
        ("adds nothing", "fails to register: it adds no kind"),
        ("exists", "fails to register: the device kind 'host' exists already"),
        ("twice", "fails to register: the device kind 'idle' exists already"),
        ("initialiser throws", "ends the program while it is loaded: it throws: boom"),
        ("initialiser throws a number", "it throws what is no std::exception"),
        ("initialiser crashes", "ends the program while it is loaded: Segmentation fault"),
        ("initialiser exits", "ends the program while it is loaded: exit code 0"),
    ],
)
def test_one_that_misbehaves_is_refused(
    library: Path, how: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_PLUGIN", how)
    before = sorted(_core.declarations()["devices"])
    assert reason in message(library)
    assert sorted(_core.declarations()["devices"]) == before


WORKING = """\
devices:
  host: {kind: host}
  way:  {kind: WAY}
  mem:  {kind: memory, capacity: 1GiB, media: {kind: MEDIA}}
links: [{between: [host, way]}, {between: [way, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB}}
"""


@pytest.mark.parametrize(
    ("way", "media", "how", "says"),
    [
        (
            "idle",
            "fixed",
            "throws at work",
            "device 'way' (kind 'idle' of LIB) threw during the run: no coffee",
        ),
        (
            "idle",
            "fixed",
            "throws a number at work",
            "device 'way' (kind 'idle' of LIB) threw during the run: what is no std::exception",
        ),
        ("bus", "lazy", "", "the media of 'mem' (kind 'lazy' of LIB) threw during the run: no bed"),
        (
            "idle",
            "lazy",
            "throws at work",
            "device 'way' (kind 'idle' of LIB) threw during the run: no coffee",
        ),
    ],
)
def test_one_that_throws_at_work_is_named(
    library: Path, tmp_path: Path, way: str, media: str, how: str, says: str
) -> None:
    (tmp_path / "spec.yaml").write_text(WORKING.replace("WAY", way).replace("MEDIA", media))
    command = ["run", "spec.yaml", "--plugin", library, "--json"]
    done = forked(*command, env=os.environ | {"BAD_PLUGIN": how}, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr == f"unfinished: {says.replace('LIB', f'the plug-in {library}')}\n"
    result = json.loads(done.stdout)
    assert result["truncated"]
    assert result["stop_reason"].endswith(says.partition("LIB) ")[2])


@pytest.mark.parametrize(
    ("how", "says", "found", "allowed"),
    [
        (
            "has no such measure",
            "goes by a measure that its measures() does not have",
            "seat_mean",
            "seats_mean",
        ),
        ("has no such parameter", "is doubled by a parameter that it does not have", "seat", "seats"),
    ],
)
def test_what_fills_up_by_what_is_not_declared_is_refused(
    library: Path, tmp_path: Path, how: str, says: str, found: str, allowed: str
) -> None:
    (tmp_path / "spec.yaml").write_text(WORKING.replace("WAY", "idle").replace("MEDIA", "fixed"))
    command = ["explain", "spec.yaml", "--plugin", library]
    done = forked(*command, env=os.environ | {"BAD_PLUGIN": "passes on"}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = forked(*command, env=os.environ | {"BAD_PLUGIN": how}, cwd=tmp_path)
    assert done.returncode == 2, done
    assert f"'the seats of' of the kind 'idle' (plug-in {library}) {says}" in done.stderr
    assert [line.strip() for line in done.stderr.splitlines()[-3:]] == [
        f"found: {found}",
        f"allowed: {allowed}",
        f"did you mean '{allowed}'?",
    ]


def test_a_measure_that_is_not_declared_is_noted(library: Path, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(WORKING.replace("WAY", "idle").replace("MEDIA", "fixed"))
    command = ["run", "spec.yaml", "--plugin", library, "--json"]
    noted = {}
    for how in ("passes on", "declares no guests"):
        done = forked(*command, env=os.environ | {"BAD_PLUGIN": how}, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        noted[how] = [note for note in json.loads(done.stdout)["notes"] if "measures()" in note]
    assert noted["passes on"] == []
    assert noted["declares no guests"] == [
        f"'way' reports guests, which measures() of its kind 'idle' ({library}) does not have"
    ]


@pytest.mark.parametrize(
    ("how", "thrown"),
    [
        ("names no page", "a tiering policy that names a page that was never touched"),
        (
            "names no node",
            "a tiering policy that names node 2, which is not there; allowed: 0 (mem) or 1 (far)",
        ),
        (
            "declares no source",
            "a tiering policy that protects pages and does not declare hint faults",
        ),
    ],
)
def test_a_tiering_policy_that_asks_for_what_is_not_there_is_named(
    library: Path, tmp_path: Path, how: str, thrown: str
) -> None:
    text = WORKING.replace("{kind: WAY}", "{kind: bus}").replace(", media: {kind: MEDIA}", "")
    text = text.replace("  mem:", "  far:  {kind: memory, capacity: 1GiB}\n  mem:")
    text = text.replace("[way, mem]}", "[way, mem]}, {between: [way, far]}").replace(
        "{to: mem}", "{to: mem}, {to: far}"
    )
    text = text.replace("footprint: 1MiB", "footprint: 1MiB, addresses: first-touch, tiering: lost")
    (tmp_path / "spec.yaml").write_text(text)
    command = ["run", "spec.yaml", "--plugin", library, "--json"]
    done = forked(*command, env=os.environ | {"BAD_PLUGIN": how}, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    says = f"the tiering of 'host' (kind 'lost' of the plug-in {library}) threw during the run: {thrown}"
    assert done.stderr == f"unfinished: {says}\n"
    assert json.loads(done.stdout)["truncated"]


@pytest.mark.parametrize(
    ("how", "thrown"), [("", "no rest"), ("throws a number at the end", "what is no std::exception")]
)
def test_one_that_throws_when_the_time_is_over_is_named(
    library: Path, tmp_path: Path, how: str, thrown: str
) -> None:
    """Where `--max-time` ends a run, its window closes: all is written, but for what the plug-in did not tell."""
    text = (
        WORKING.replace("WAY", "bus").replace("MEDIA", "restless").replace("requests: 10", "requests: 10000")
    )
    (tmp_path / "spec.yaml").write_text(
        text.replace("way]}", "way], bandwidth: 8GB/s}") + "outputs: {requests: true}\n"
    )
    limits = ["--max-time", "10us", "--out", "out"]
    command = ["run", "spec.yaml", "--plugin", library, *limits]
    done = forked(*command, env=os.environ | {"BAD_PLUGIN": how}, cwd=tmp_path)
    says = f"the media of 'mem' (kind 'restless' of the plug-in {library}) threw during the run: {thrown}"
    assert done.returncode == 1, done.stderr
    assert done.stderr == f"unfinished: {says}\n"
    assert done.stdout.startswith("TRUNCATED (stopped: the media of 'mem'")
    names = {"requests.parquet", "spec.yaml", "summary.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    result = cxloom.Result.load(tmp_path / "out")
    assert result.truncated
    assert result.stop_reason == f"stopped: {says}"
    assert result["simulated_time_ns"] == 10_000
    assert result.requests().height == result["requests"] > 0
    # The windows of all others are closed: the link's answers are those of the requests, and of one under way.
    carried = result["per_link"]["host-way"]["way->host"]["messages"]
    assert carried - result["requests"] in (0, 1)


def test_the_command_names_the_library_and_the_reason(library: Path) -> None:
    assert "it throws: boom" in refused(library, "initialiser throws")
    assert "the plug-in is loaded already" in refused(library, twice=True)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.so"
    subprocess.run(["mkfifo", str(fifo)], check=True)
    unreadable = tmp_path / "under" / "file.so"
    (tmp_path / "under").write_text("")
    for path, reason in [
        (tmp_path / "nowhere.so", "no such file"),
        (tmp_path, "a directory, not a file"),
        (fifo, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (unreadable, "cannot be loaded"),
    ]:
        assert reason in message(path)


def test_what_is_no_library_is_refused(tmp_path: Path, unlinked: Path) -> None:
    for content, reason in [
        (b"", "an empty file"),
        (b"\x7fEL", "not a shared"),
        (b"text\n" * 99, "not a shared"),
    ]:
        path = tmp_path / "text.so"
        path.write_bytes(content)
        assert reason in message(path)
    assert "an object file, not a shared library" in message(unlinked)
    assert "not a shared library" in message(Path(sys.executable).resolve())


def test_a_library_that_is_cut_off_is_refused_at_every_length(tmp_path: Path, library: Path) -> None:
    whole = library.read_bytes()
    (program_headers, section_headers) = struct.unpack_from("<QQ", whole, 32)
    ends = [program_headers, program_headers + 56, section_headers, section_headers + 64, len(whole)]
    ends += [4, 16, 64, 4096, 8192, *range(1, len(whole), len(whole) // 64)]
    path = tmp_path / "libcut.so"
    for length in sorted({end - back for end in ends for back in (0, 1)} - {0, len(whole)}):
        path.write_bytes(whole[:length])
        text = message(path)
        cut = "the file is cut off" in text and "a complete file: its headers describe more bytes" in text
        assert cut or (length < 4 and "not a shared library" in text), length


def changed(library: Path, tmp_path: Path, change: Callable[[bytearray], None]) -> str:
    content = bytearray(library.read_bytes())
    change(content)
    path = tmp_path / "libchanged.so"
    path.write_bytes(content)
    return message(path)


def test_one_for_another_machine_is_refused(library: Path, tmp_path: Path) -> None:
    def put(offset: int, value: int) -> Callable[[bytearray], None]:
        return lambda content: content.__setitem__(offset, value)

    assert "built for another machine, found 64-bit little-endian, 64-bit ARM" in changed(
        library, tmp_path, put(E_MACHINE, 183)
    )
    assert "found 32-bit little-endian, 32-bit x86" in changed(
        library, tmp_path, lambda content: (put(E_CLASS, 1)(content), put(E_MACHINE, 3)(content))[0]
    )
    assert "found another byte order" in changed(library, tmp_path, put(E_DATA, 2))
    assert "not a shared library" in changed(library, tmp_path, put(E_TYPE, 2))


def test_one_for_another_version_or_layout_is_refused(library: Path, tmp_path: Path) -> None:
    def put(offset: int, value: bytes) -> Callable[[bytearray], None]:
        def change(content: bytearray) -> None:
            stamp = content.index(MAGIC)
            content[stamp + offset : stamp + offset + len(value)] = value

        return change

    for version in (b"0.0.9\0", b"99.0.0-future\0"):
        text = changed(library, tmp_path, put(VERSION, version))
        assert f"built for another version of cxloom, found {version[:-1].decode()}" in text
        assert f"allowed: {cxloom.__version__}" in text
    assert "another C++ library, found libc++; allowed: libstdc++" in changed(
        library, tmp_path, put(CXX_LIBRARY, b"libc++\0")
    )
    text = changed(library, tmp_path, put(HEADERS, b"0123456789ab0000"))
    assert "built with other headers of this version of cxloom, found 0123456789ab; allowed: " in text
    size = put(TYPES + 24, struct.pack("<I", 1))
    assert "options that lay out a type otherwise, found a struct: 1 byte," in changed(
        library, tmp_path, size
    )
    assert "stamp of another size" in changed(library, tmp_path, put(16, struct.pack("<I", 8)))
    assert "does not say what it was built for" in changed(library, tmp_path, put(0, b"other"))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("-D_GLIBCXX_DEBUG", "another C++ library, found libstdc++ in debug mode"),
        ("-fshort-enums", "options that lay out a type otherwise, found an enumeration: 1 byte"),
    ],
)
def test_the_compilers_options_are_in_the_stamp(tmp_path: Path, option: str, says: str) -> None:
    """The compiler itself writes another stamp where it makes something else of a type."""
    source = tmp_path / "stamp.cpp"
    source.write_text("#include <cxloom/plugin.hpp>\nCXLOOM_PLUGIN(registry) {}\n")
    out = tmp_path / "libother.so"
    flags = ["-std=c++20", "-O0", "-shared", "-fPIC", option, f"-I{cxloom.include_dir()}"]
    compiled(*flags, str(source), "-o", str(out))
    assert says in message(out)


def test_a_change_of_a_public_header_is_in_the_stamp(tmp_path: Path) -> None:
    """Headers of a like version: another digest, though all that the stamp itself says of types is the same."""
    include = tmp_path / "include"
    shutil.copytree(cxloom.include_dir(), include)
    version = include / "cxloom_version.hpp"
    text = version.read_text()
    digest = text.partition('kPublicHeaders[] = "')[2].partition('"')[0]
    assert len(digest) == 64
    version.write_text(text.replace(digest, digest[::-1]))
    source, out = tmp_path / "plain.cpp", tmp_path / "libplain.so"
    source.write_text("#include <cxloom/plugin.hpp>\nCXLOOM_PLUGIN(registry) {}\n")
    compiled("-std=c++20", "-O0", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(out))
    assert f"found {digest[::-1][:12]}; allowed: {digest[:12]}" in message(out)


def test_one_without_the_entry_or_the_stamp_is_refused(tmp_path: Path) -> None:
    source, out = tmp_path / "plain.cpp", tmp_path / "libplain.so"
    for text, reason in [
        ("int nothing = 0;", "it has no function cxloom_register"),
        ('extern "C" void cxloom_register(void*) {}', "does not say what it was built for"),
    ]:
        source.write_text(text)
        compiled("-shared", "-fPIC", str(source), "-o", str(out))
        assert reason in message(out)


def test_one_that_lacks_symbols_is_refused(tmp_path: Path, unlinked: Path) -> None:
    source, out = tmp_path / "lacks.cpp", tmp_path / "liblacks.so"
    source.write_text('extern "C" int elsewhere(); int lacking = elsewhere();')
    compiled("-shared", "-fPIC", str(source), str(unlinked), "-o", str(out))
    assert "cannot be loaded: undefined symbol: elsewhere" in message(out)
    source.write_text("namespace cxloom { int elsewhere(int); }\nint lacking = cxloom::elsewhere(1);")
    compiled("-shared", "-fPIC", str(source), str(unlinked), "-o", str(out))
    said = message(out)
    assert "it uses what the library of this cxloom does not have" in said
    assert "found cxloom::elsewhere(int); allowed: what the library has" in said
    other = tmp_path / "libother.so"
    source.write_text('extern "C" int elsewhere() { return 0; }')
    compiled("-shared", "-fPIC", str(source), "-o", str(other))
    compiled("-shared", "-Wl,--no-as-needed", str(unlinked), str(other), "-o", str(out))
    other.unlink()
    assert "libother.so: cannot open shared object file" in message(out)


SWEPT = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 100}}
"""


@slow
def test_a_plugin_that_ends_the_program_costs_a_sweep_its_points_alone(library: Path, tmp_path: Path) -> None:
    """One that throws has unfinished points, whose error names it; one that aborts takes its process along."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(SWEPT)
    sets = ("--set=devices.mem.media=fatal,fixed,lazy,restless", "--seeds=2")
    command = ["sweep", spec, *sets, "--out", tmp_path / "out"]
    done = forked(*command, "--plugin", library, "--json")
    assert done.returncode == 1, done.stderr
    rows = json.loads(done.stdout)["points"]
    assert [row["status"] for row in rows] == [
        *("lost", "lost", "finished", "finished", "unfinished", "unfinished", "unfinished", "unfinished")
    ]
    assert rows[0]["error"] == "its process died 4 times, the last time alone: killed by SIGABRT"
    assert "the media of 'mem'" in rows[4]["error"]
    # Another build of the plug-in is another program: nothing that is there is its.
    other = tmp_path / library.name
    other.write_bytes(library.read_bytes() + b"\0")
    again = forked(*command, "--plugin", other, "--quiet")
    assert again.returncode == 1
    assert again.stderr == ""
    assert len(list((tmp_path / "out" / "points").iterdir())) == 16
