"""The command under pressure: no room on the disk, nobody to print to, places locked away, Ctrl-C too early."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SPEC
from validation.examples import slow, some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.results.outdir import OutputDirectory

COMMAND = f"{sys.executable} -m cxloom"


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script of the shell, in which $cxloom is the command."""
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "cxloom": COMMAND},
        timeout=120,
        check=False,
    )


# --- no room ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kibibytes", "options", "unwritten"),
    [
        (16, "--set outputs.requests=true", "summary.json, spec.yaml, requests.parquet"),
        (1, "", "summary.json, spec.yaml"),
    ],
)
def test_a_run_that_cannot_be_written_is_shown_and_refused(
    spec_file: Path, tmp_path: Path, kibibytes: int, options: str, unwritten: str
) -> None:
    # A limit on the size of files is a full disk that needs no disk.
    done = shell(f"ulimit -f {kibibytes}; $cxloom run {spec_file} --out out {options}", tmp_path)
    assert done.returncode == 2, done.stderr
    assert "2,000 requests in" in done.stdout
    assert "Results are in" not in done.stdout
    assert done.stderr == (
        f"error: out: --out: results cannot be written here: file too large; not written: {unwritten}\n"
    )
    assert os.listdir(tmp_path) == ["system.yaml"]


def test_a_full_disk_leaves_what_was_there(spec_file: Path, tmp_path: Path) -> None:
    earlier = cx.run(spec_file, out=tmp_path / "out")
    before = sorted(os.listdir(tmp_path / "out"))
    options = "--set outputs.requests=true --seed 9 --json"
    done = shell(f"ulimit -f 16; $cxloom run {spec_file} --out out {options}", tmp_path)
    assert done.returncode == 2
    assert '"seed": 9' in done.stdout
    assert sorted(os.listdir(tmp_path / "out")) == before
    assert cx.Result.load(tmp_path / "out")["seed"] == earlier["seed"] == 1


def test_what_a_killed_run_left_is_removed_by_the_next(spec_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with OutputDirectory(out) as alive:
        (own,) = out.iterdir()
        for name in (".requests.parquet.12345-0123abcd.tmp", ".summary.json.1-0123abcd.tmp", ".mine.tmp"):
            (out / name).write_text("")
        cx.run(spec_file, out=out)
        assert sorted(os.listdir(out)) == sorted([own.name, ".mine.tmp", "spec.yaml", "summary.json"])
        alive.commit('{"spec_hash": "of the other run"}', "")
    assert sorted(os.listdir(out)) == [".mine.tmp", "spec.yaml", "summary.json"]


def test_a_run_killed_while_it_names_its_files_is_no_foreigner(spec_file: Path, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("named already")
    with pytest.raises(InputError, match="no result of cxloom"):
        OutputDirectory(tmp_path)
    (tmp_path / ".summary.json.1-0123abcd.tmp").write_text('{"spec_hash": "of the killed run"}')
    cx.run(spec_file, out=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["spec.yaml", "summary.json", "system.yaml"]


# --- nobody to print to ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("redirected", "code", "says"),
    some(
        [
            ("run {} >&-", 2, "standard output cannot be written: it is closed"),
            ("run {} >/dev/full", 2, "standard output cannot be written: no space left on device"),
            ("run {} --json >/dev/full", 2, "standard output cannot be written: no space left on device"),
            ("--help >/dev/full", 2, "standard output cannot be written: no space left on device"),
            ("schema | head -c 1; exit ${{PIPESTATUS[0]}}", 1, ""),
            ("run {} --quiet >&- 2>&- <&-", 0, ""),
            ("run nowhere.yaml 2>/dev/full", 2, ""),
            ("run nowhere.yaml >&- 2>&- <&-", 2, ""),
            ("trace info - <&-", 2, "standard input is closed"),
        ]
    ),
)
def test_a_stream_that_takes_nothing(
    spec_file: Path, tmp_path: Path, redirected: str, code: int, says: str
) -> None:
    done = shell(f"$cxloom {redirected.format(spec_file)}", tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == bool(says)


# --- where it may not look -------------------------------------------------------------------------------------------

AS_NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups " if os.geteuid() == 0 else ""
"""The system lets root look everywhere."""


@pytest.fixture
def locked(tmp_path: Path, spec_text: str) -> Path:
    """A folder that anybody may use, with one, `locked`, that nobody else may."""
    if AS_NOBODY and not (shutil.which("setpriv") and may_anybody_read(tmp_path)):
        pytest.skip("root looks everywhere, and cannot become somebody else here")
    (tmp_path / "system.yaml").write_text(spec_text)
    (tmp_path / "study.yaml").write_text("system: locked/system.yaml\n")
    (tmp_path / "preset.yaml").write_text("preset: locked/system.yaml\n")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "system.yaml").write_text(spec_text)
    (tmp_path / "locked").chmod(0)
    return tmp_path


def may_anybody_read(folder: Path) -> bool:
    """Opens the way to a folder of the tests to everybody; False if the package itself is out of their reach."""
    for part in [folder, *folder.parents]:
        if part.stat().st_uid == os.geteuid() and "pytest-of" in str(part):
            part.chmod(0o755)
    script = f"{AS_NOBODY}{sys.executable} -B -c 'import cxloom._core'"
    return shell(script, folder).returncode == 0


@slow
def test_places_where_nobody_may_look(locked: Path) -> None:
    commands = {
        "run locked/system.yaml": "locked/system.yaml: cannot be read: permission denied",
        "run system.yaml --out locked/out": "locked/out: --out: results cannot be written here: permission",
        "run system.yaml --out locked": "locked: --out: results cannot be written here: permission denied",
        "run preset.yaml": "preset.yaml:1:9: preset: no such file: 'locked/system.yaml'",
        "study run locked/system.yaml": "locked/system.yaml: cannot be read: permission denied",
        "study run study.yaml": "locked/system.yaml': cannot be read: permission denied",
        "trace info locked/trace": "locked/trace: permission denied",
        "trace convert system.yaml locked/trace.txt": "locked/trace.txt: permission denied",
        "demo --out locked/demo": "locked/demo: --out: results cannot be written here: permission denied",
    }
    script = "; ".join(f"{AS_NOBODY}$cxloom {command}; echo $? >&2" for command in commands)
    lines = shell(script, locked).stderr.splitlines()
    assert "Traceback" not in " ".join(lines)
    messages = [line for line in lines if line.startswith("error: ")]
    assert len(messages) == len(commands)
    for message, words in zip(messages, commands.values(), strict=True):
        assert words in message
    assert [line for line in lines if line.isdigit()] == ["2"] * len(commands)


def test_a_working_directory_that_is_gone(spec_file: Path, tmp_path: Path) -> None:
    commands = {
        f"run {spec_file} --json": 0,
        f"run {spec_file} --out out": 2,
        "run system.yaml": 2,
        "trace convert a.txt b.txt": 2,
    }
    script = "mkdir gone; cd gone; rmdir ../gone; "
    script += "; ".join(f"$cxloom {command} >/dev/null; echo $? >&2" for command in commands)
    lines = shell(script, tmp_path).stderr.splitlines()
    assert "Traceback" not in " ".join(lines)
    assert [int(line) for line in lines if line.isdigit()] == list(commands.values())
    study = tmp_path / "study.yaml"
    study.write_text(f"system: {spec_file}\n")
    for arguments in (f"study run {study}", f"run {spec_file} --out out"):
        done = shell(f"mkdir gone; cd gone; rmdir ../gone; $cxloom {arguments}; echo $? >&2", tmp_path)
        assert "the working directory is gone" in done.stderr
        assert done.stderr.endswith("\n2\n")
    system = "s = cx.System(); s.host('h'); s.workload('h', trace='t.txt')"
    code = f"import cxloom as cx; {system}\ntry: s.resolve()\nexcept cx.InputError as e: print(e)"
    done = shell(f'mkdir gone; cd gone; rmdir ../gone; {sys.executable} -c "{code}"', tmp_path)
    assert "the working directory, where this file would be, is gone" in done.stdout, done.stderr


# --- Ctrl-C too early ------------------------------------------------------------------------------------------------

INTERRUPTED = """\
import os, signal, sys
class Finder:
    left = {times}
    def find_spec(self, name, path=None, target=None):
        self.left -= name == {module!r}
        if self.left == 0:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["cxloom", "run", {spec!r}]
from cxloom.__main__ import process
process()
"""


@pytest.mark.parametrize(
    ("module", "times"),
    some(
        [
            ("cxloom.cli", 1),
            ("cxloom.cli.app", 1),
            ("typer", 1),
            ("cxloom.cli.run", 1),
            ("cxloom._core", 1),
            ("yaml", 1),
            ("yaml._yaml", 1),
            ("rich.table", 1),
        ]
    ),
)
def test_ctrl_c_while_modules_are_loaded(spec_file: Path, module: str, times: int) -> None:
    code = INTERRUPTED.format(module=module, times=times, spec=str(spec_file))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: interrupted\n")


STARTED = """\
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "cxloom.cli.process":
            print("up", flush=True)
sys.meta_path.insert(0, Finder())
sys.argv = ["cxloom", "run", "--quiet", "long.yaml"]
from cxloom.cli import main
main()
"""


def test_ctrl_c_at_any_moment_of_the_beginning(tmp_path: Path) -> None:
    """From the first module of the command on, whatever it does meanwhile, it says one thing and ends with code 1."""
    (tmp_path / "long.yaml").write_text(SPEC.replace("requests: 2000", "requests: 100000000"))
    for step in range(16):
        process = subprocess.Popen(
            [sys.executable, "-c", STARTED],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        time.sleep(0.02 * step)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (1, ""), err
        early = err == "error: interrupted\n"
        assert early or err.startswith("\ninterrupted: ending the run"), err
        assert "Traceback" not in err
