"""A program and what it needs, put into the guest; its streams; how the guest is spoken with."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from boot_support import Entry, entries
from hypothesis import given
from hypothesis import strategies as st

from cxloom.base.errors import InputError, SimulationError
from cxloom.booting import emulator as module
from cxloom.booting.cpio import CpioWriter
from cxloom.booting.emulator import PORTS, Emulator
from cxloom.booting.guest import Guest
from cxloom.booting.patience import kept_waiting
from cxloom.booting.program import Program
from cxloom.booting.qemu import Qemu
from cxloom.booting.streams import Streams

# --- archives --------------------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-c]{1,3}(/[a-c]{1,3}){0,2}", fullmatch=True), st.binary(max_size=600))
    )
)
def test_an_archive_has_what_was_written_first_under_each_path(files: list[tuple[str, bytes]]) -> None:
    out = io.BytesIO()
    archive = CpioWriter(out)
    expected: dict[str, bytes] = {}
    for path, data in files:
        # A folder that a path needs is there, and not a file any more.
        if not any(path.startswith(f"{other}/") for other in expected):
            if path not in {folder for other in expected for folder in folders_of(other)}:
                expected.setdefault(path, data)
            archive.add_bytes(path, data)
    archive.finish()
    assert len(out.getvalue()) % 512 == 0
    found = entries(out.getvalue())
    assert {each.path: each.data for each in found if each.kind == "-"} == expected
    folders = {each.path for each in found if each.kind == "d"}
    assert folders == {folder for path in expected for folder in folders_of(path)}
    assert len({each.path for each in found}) == len(found)
    places = {each.path: at for at, each in enumerate(found)}
    assert all(places[folder] < places[path] for path in expected for folder in folders_of(path))


def folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def test_archives_follow_each_other_and_keep_links_and_rights(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "file").chmod(0o751)
    (tmp_path / "link").symlink_to("file")
    out = io.BytesIO()
    for name in ("file", "link"):
        archive = CpioWriter(out)
        archive.add_file(f"x/{name}", tmp_path / name)
        archive.finish()
    found = {each.path: each for each in entries(out.getvalue())}
    assert found["x/file"] == Entry("x/file", 0o100751, b"content")
    assert (found["x/link"].kind, found["x/link"].data) == ("l", b"file")


# --- programs --------------------------------------------------------------------------------------------------------


def written(program: Program, *front: str, **variables: str) -> dict[str, Entry]:
    out = io.BytesIO()
    program.write(CpioWriter(out), variables, front)
    return {each.path: each for each in entries(out.getvalue())}


def test_a_program_brings_its_loader_and_its_libraries() -> None:
    found = written(Program(["cat", "a"]))
    cat = str(shutil.which("cat"))
    assert found[f"usr/{cat.lstrip('/').removeprefix('usr/')}"].data == Path(cat).read_bytes()
    loader = next(path for path in found if path.startswith("usr/lib64/ld-linux"))
    assert found[loader].mode & 0o111
    assert any(path.endswith("/libc.so.6") and each.kind == "-" for path, each in found.items())
    assert not any(path.partition("/")[0] in ("bin", "lib", "lib64") for path in found), (
        "those are links in the guest"
    )


def test_the_start_is_what_a_shell_makes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / 'it\'s a "folder"'
    folder.mkdir()
    monkeypatch.chdir(folder)
    command = [
        sys.executable,
        "-c",
        "import os, sys; print(sys.argv[1:], os.environ['A'], os.getcwd())",
        "a b",
        "$HOME",
        "'\n",
    ]
    found = written(Program(command), A="x\ny z")
    assert folder.relative_to("/").as_posix() in found
    said = subprocess.run(
        ["sh", "-c", found["cxloom/program"].data.decode()], cwd="/", capture_output=True, text=True
    )
    assert said.stdout == f"{['a b', '$HOME', chr(39) + chr(10)]} x\ny z {folder}\n"


def test_what_is_to_run_it_comes_first() -> None:
    line = written(Program(["cat"]), "numactl", "--membind=1", "--")["cxloom/program"].data.decode()
    assert "exec numactl --membind=1 -- env -i " in line


def test_files_that_are_not_taken_along_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        Path(name).touch()
    Path("folder").mkdir()
    command = ["cat", "a", "--from=b", str(tmp_path / "c"), "folder", "d", "/proc/self/maps", "--", "="]
    assert Program(command).left_here() == ["a", "b", str(tmp_path / "c")]
    assert Program(command, [Path("a"), tmp_path / "b"]).left_here() == [str(tmp_path / "c")]
    Path("script").write_text("#!/bin/cat\n")
    Path("script").chmod(0o755)
    assert Program(["./script", "script", "a"]).left_here() == ["a"]


@pytest.mark.parametrize("line", ["/bin/cat", "/usr/bin/env cat", "/usr/bin/env -S A=1 cat -u"])
def test_a_script_brings_its_interpreter(line: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{line}\nhello\n")
    script.chmod(0o755)
    found = written(Program([str(script), "more"]))
    assert {str(script).lstrip("/"), "usr/bin/cat"} <= found.keys()
    assert found["cxloom/program"].data.decode().endswith(f" {script} more\n")


def test_a_program_that_is_taken_along_brings_its_libraries() -> None:
    """What another program starts; that one may be linked with nothing of it."""
    found = written(Program(["sh"], [Path("/usr/bin/env"), Path(sys.executable)]))
    alone = written(Program([sys.executable]))
    assert found.keys() >= alone.keys() - {"cxloom/program"}
    assert "usr/bin/env" in found


def test_files_and_folders_are_taken_along(tmp_path: Path) -> None:
    (tmp_path / "folder/inner").mkdir(parents=True)
    (tmp_path / "folder/inner/file").write_text("content")
    (tmp_path / "folder/link").symlink_to("inner")
    found = written(Program(["cat"], [tmp_path / "folder"]))
    base = str(tmp_path).lstrip("/")
    assert found[f"{base}/folder/inner/file"].data == b"content"
    assert (found[f"{base}/folder/link"].kind, found[f"{base}/folder/link"].data) == ("l", b"inner")
    with pytest.raises(InputError, match="no such file or folder to take along") as error:
        Program(["cat"], [tmp_path / "other"])
    assert error.value.path == "--file"


def test_a_program_that_needs_a_missing_library_is_refused(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    (tmp_path / "lib.c").write_text("int lost(void) { return 0; }\n")
    (tmp_path / "main.c").write_text("int lost(void); int main(void) { return lost(); }\n")
    library = tmp_path / "liblost.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "lib.c"], check=True)
    subprocess.run(
        [compiler, "-o", tmp_path / "main", tmp_path / "main.c", library.name, "-L", tmp_path],
        check=True,
        cwd=tmp_path,
    )
    library.unlink()
    with pytest.raises(InputError, match="needs a library that is missing") as error:
        Program([str(tmp_path / "main")])
    assert error.value.found == "liblost.so"
    assert error.value.file == str(tmp_path / "main")


# --- streams and the guest -------------------------------------------------------------------------------------------


@pytest.fixture
def ports() -> Iterator[dict[str, tuple[socket.socket, socket.socket]]]:
    made = {name: socket.socketpair() for name in (*PORTS, "console")}
    yield made
    for pair in made.values():
        for end in pair:
            end.close()


def test_streams_carry_every_byte(
    tmp_path: Path, ports: dict[str, tuple[socket.socket, socket.socket]]
) -> None:
    data = os.urandom(3_000_000)  # more than sockets and pipes hold
    (tmp_path / "in").write_bytes(data)
    heard, thread = bytearray(), None
    theirs = {name: other for name, (_, other) in ports.items()}

    def guest() -> None:
        while piece := theirs["stdin"].recv(1 << 16):
            heard.extend(piece)
        theirs["stdout"].sendall(bytes(heard))
        theirs["stderr"].sendall(b"complaint")
        theirs["control"].send(b"x")

    thread = threading.Thread(target=guest)
    thread.start()
    with (
        open(tmp_path / "in", "rb") as stdin,
        open(tmp_path / "out", "wb") as out,
        open(tmp_path / "err", "wb") as err,
    ):
        ours = {name: each for name, (each, _) in ports.items()}
        streams = Streams(ours, stdin.fileno(), {"stdout": out.fileno(), "stderr": err.fileno()})
        until = time.monotonic() + 60
        while thread.is_alive() and time.monotonic() < until:
            streams.move(0.01)
        thread.join()
        streams.drain()
    assert (tmp_path / "out").read_bytes() == data
    assert (tmp_path / "err").read_bytes() == b"complaint"


def test_an_output_that_takes_no_more_is_named() -> None:
    """In a process of its own, whose standard output is full."""
    code = (
        "import socket\n"
        "from cxloom.booting.streams import Streams\n"
        "ours, theirs = socket.socketpair(); theirs.sendall(b'text')\n"
        "Streams({'stdin': ours, 'stdout': ours, 'stderr': ours}, 0, {'stdout': 1}).drain()"
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.stderr.splitlines()[-1] == "OSError: [Errno 28] No space left on device: 'standard output'"


STAND_IN = """\
import os, socket, sys, time
ports = {}
for place, each in enumerate(sys.argv):
    if each == "-chardev":
        said = dict(part.split("=") for part in sys.argv[place + 1].split(",")[1:])
        ports[said["id"]] = socket.socket(fileno=int(said["fd"]))
mode = os.environ["STAND_IN"]
if mode == "fails":
    sys.exit("qemu: no such option")
if mode == "panics":
    ports["console"].sendall(b"[ 1.0] hello\\r\\n[ 2.0] Kernel panic - not syncing: no init found\\r\\n[ 2.1] bye")
    time.sleep(0.2)
    sys.exit(0)
control = ports["control"]
control.sendall(b"6.12.1\\n")
for line in control.makefile():
    code = 3 if "fails" in line else 0
    if "dies" in line:
        sys.exit(0)
    if "slow" in line:
        time.sleep(0.4)
    if "cpio" in line and mode == "complains":
        code = 1
    elif "cpio" in line:
        ports["files"].recv(1000)
    output = b"the last line\\n"
    control.sendall(f"{code} {len(output)}\\n".encode() + output)
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Qemu:
    """What is started in place of QEMU."""
    (tmp_path / "qemu.py").write_text(STAND_IN)
    return Qemu((sys.executable, str(tmp_path / "qemu.py")), (10, 0))


def test_commands_are_answered_by_code_and_output(stand_in: Qemu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "answers")
    with Emulator(stand_in, []) as emulator:
        guest = Guest(emulator)
        assert guest.wait_for_boot() == "6.12.1"
        assert guest.ask("it fails") == (3, "the last line\n")
        assert guest.run("it works", "this") == "the last line\n"
        with pytest.raises(SimulationError, match=r"^this failed in the guest: the last line$"):
            guest.run("it fails", "this")
        guest.unpack(io.BytesIO(b"an archive"))
        with pytest.raises(SimulationError, match="the guest ended during it dies"):
            guest.ask("it dies")


@pytest.mark.parametrize("busy", [False, True])
def test_a_guest_has_to_answer_in_time_unless_this_computer_runs_others(
    busy: bool, stand_in: Qemu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "answers")
    with Emulator(stand_in, []) as emulator:
        guest = Guest(emulator)
        guest.wait_for_boot()
        # It waits for a processor all the time, or never.
        monkeypatch.setattr(module, "kept_waiting", lambda _process: time.monotonic() if busy else 0.0)
        if busy:
            assert guest.ask("a slow one", patience=0.01)[0] == 0
        else:
            with pytest.raises(SimulationError, match="does not answer any more, during a slow one"):
                guest.ask("a slow one", patience=0.01)


def test_a_process_is_kept_waiting_by_others_on_its_processor(tmp_path: Path) -> None:
    """Two that compute on one processor: together they wait for as long as they go on."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not count it")
    code = f"import os\nos.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}})\nwhile True: pass"
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    try:
        until = time.monotonic() + 60
        while (
            not (waited := min(kept_waiting(each.pid) for each in both)) > 0.05 and time.monotonic() < until
        ):
            time.sleep(0.02)
    finally:
        for each in both:
            each.kill()
            each.wait()
    assert waited > 0.05
    assert kept_waiting(both[0].pid) == 0


def test_a_guest_that_complains_early_is_heard(stand_in: Qemu, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guest does not read the archive, of which there is more than ports hold."""
    monkeypatch.setenv("STAND_IN", "complains")
    with Emulator(stand_in, []) as emulator:
        guest = Guest(emulator)
        guest.wait_for_boot()
        with pytest.raises(SimulationError, match="unpacking the program failed in the guest: the last line"):
            guest.unpack(io.BytesIO(bytes(10_000_000)))


@pytest.mark.parametrize(
    ("mode", "said"),
    [("panics", "Kernel panic - not syncing: no init found"), ("fails", "qemu: no such option")],
)
def test_a_guest_that_does_not_boot_says_why(
    mode: str, said: str, stand_in: Qemu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", mode)
    with (
        Emulator(stand_in, []) as emulator,
        pytest.raises(SimulationError, match="the guest ended during its boot") as error,
    ):
        Guest(emulator).wait_for_boot()
    assert said in str(error.value)


def test_the_emulator_ends_with_us(tmp_path: Path) -> None:
    """Whatever ends us: what is killed cannot end its children."""
    child = tmp_path / "child.py"
    child.write_text(
        "import os, sys, time; open(os.environ['PID'], 'w').write(str(os.getpid())); time.sleep(60)"
    )
    code = (
        "import sys, time; from cxloom.booting.emulator import Emulator; from cxloom.booting.qemu import Qemu\n"
        f"with Emulator(Qemu((sys.executable, {str(child)!r}), (10, 0)), []):\n    time.sleep(60)"
    )
    written_to = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PID": str(written_to)})
    until = time.monotonic() + 60
    while (not written_to.exists() or not written_to.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    number = int(written_to.read_text())
    parent.kill()
    parent.wait()
    while runs(number) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(number)


def runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
