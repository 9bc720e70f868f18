"""`cxloom boot --setup`: what it fetches and from where, and that nothing counts as a set-up that is not whole.

The package manager is a stand-in that serves small packages, built by dpkg-deb; QEMU is one that says its version.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from boot_support import entries
from validation.examples import some

from cxloom.base.errors import InputError
from cxloom.booting import set_up as module
from cxloom.booting.apt import Apt, Package
from cxloom.booting.folder import cache_folder, find_set_up, set_up_folder
from cxloom.booting.kernel_modules import ALL, needed_by, read_modules
from cxloom.booting.mirror import KEYS, find_mirror, mirror_among
from cxloom.booting.qemu import installed_qemu
from cxloom.booting.set_up import set_up

MIRROR = "https://mirror.example/debian"
KERNEL = "linux-image-6.12.1-amd64"

APT = """\
import os, shutil, sys
from pathlib import Path

store, arguments = Path(os.environ["STORE"]), sys.argv[1:]
conf = Path(arguments[arguments.index("-c") + 1]) if "-c" in arguments else Path()
arguments = [each for each in arguments if each not in ("-c", str(conf), "-q", "-y")]
status = [each for each in arguments if "Status-Fd" in each]
tool, names = arguments[0], [each for each in arguments[1:] if not each.startswith("-") and "=" not in each]
with open(store / "asked", "a") as asked:
    print(Path(sys.argv[0]).name, tool, *names, file=asked)
if tool == os.environ.get("FAILS_AT"):
    sys.exit("W: a warning\\nE: Failed to fetch: 404 Not Found")
if tool == os.environ.get("SLEEPS_AT"):
    (store / "sleeping").touch()
    import time
    time.sleep(60)
files = {file.name.partition("_")[0]: file for file in store.glob("*.deb")}
if tool == "indextargets":
    print(os.environ["TARGETS"])
elif tool == "depends":
    print(names[0], "  Depends: " + os.environ["KERNEL"], sep="\\n")
elif "--print-uris" in arguments:
    for name in names:
        print(f"'https://mirror.example/{name}' {files[name].name} {files[name].stat().st_size} SHA256:0")
elif tool == "install":
    for name in names:
        shutil.copy(files[name], conf.parent / "cache/archives")
elif tool == "download":
    shutil.copy(files[names[0]], ".")
for each in status:
    os.write(int(each.rpartition("=")[2]), b"dlstatus:1:50.0:half of it\\n")
"""


def script(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def module_file(name: str, depends: str = "") -> bytes:
    """What counts of a module: what it says of itself."""
    return b"\x7fELF\0license=GPL\0depends=" + depends.encode() + b"\0name=" + name.encode() + b"\0"


def package(store: Path, name: str, files: dict[str, bytes | Path]) -> None:
    """Builds a package of these files."""
    root = store / f"tree-{name}"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: amd64\nMaintainer: a\nDescription: a\n"
    )
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copy(content, root / path)
        else:
            (root / path).write_bytes(content)
    target = store / f"{name}_1_amd64.deb"
    subprocess.run(
        ["dpkg-deb", "-Znone", "--build", "--root-owner-group", root, target], check=True, capture_output=True
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages: of each tool a program that does nothing, with the libraries that it needs, and a kernel."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("no dpkg-deb here")
    store = tmp_path_factory.mktemp("packages")
    true = Path(str(shutil.which("true"))).resolve()
    loader = Path("/lib64/ld-linux-x86-64.so.2").resolve()
    said = subprocess.run([loader, "--list", true], capture_output=True, text=True, check=True).stdout
    libraries = [Path(line.split(" => ")[1].split(" ")[0]) for line in said.splitlines() if " => /" in line]
    needed: dict[str, bytes | Path] = {f"usr/lib/x86_64-linux-gnu/{each.name}": each for each in libraries}
    needed["usr/lib64/ld-linux-x86-64.so.2"] = loader
    for tool in ("cxl", "daxctl", "numactl"):
        package(store, tool, {f"usr/bin/{tool}": true, "usr/share/doc/a": b"not wanted"} | needed)
    package(store, "busybox-static", {"usr/bin/busybox": true})
    kernel: dict[str, bytes | Path] = {"boot/vmlinuz-6.12.1-amd64": b"a kernel"}
    kernel |= {f"usr/lib/modules/6.12.1/kernel/{name}.ko": module_file(name) for name in (*ALL, "other")}
    package(store, KERNEL, kernel)
    return store


@pytest.fixture
def here(tmp_path: Path, packages: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with a package manager, an installed QEMU and an empty cache; gives what was asked of the former."""
    store = tmp_path / "store"
    store.mkdir()
    for each in packages.glob("*.deb"):
        (store / each.name).symlink_to(each)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("apt-get", "apt-cache"):
        script(folder / name, f"#!{sys.executable} -IS\n{APT}")
    script(folder / "qemu-system-x86_64", "#!/bin/sh\necho 'QEMU emulator version 10.1.2 (Debian)'\n")
    keys = tmp_path / "keys.gpg"
    keys.touch()
    monkeypatch.setattr("cxloom.booting.mirror.KEYS", keys)
    for name, value in {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "STORE": str(store),
        "TARGETS": f"{MIRROR}|bookworm|main|Debian",
        "KERNEL": KERNEL,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    return store / "asked"


def left_in(cache: Path) -> list[str]:
    return sorted(each.name for each in cache.iterdir() if each.name != "lock")


def test_a_set_up_has_all_that_a_boot_needs(here: Path) -> None:
    seen: list[tuple[str, float | None]] = []
    done = set_up(watch=lambda doing, share: seen.append((doing, share)))
    assert done.set_up.kernel_version == "6.12.1-amd64"
    assert done.set_up.kernel.read_bytes() == b"a kernel"
    assert done.set_up.qemu.version == (10, 1)
    assert done.packages == 5  # QEMU is installed
    assert "qemu-system-x86" not in here.read_text()
    assert ("fetching the list of packages of Debian trixie", 0.5) in seen
    files = {each.path: each for each in entries(done.set_up.guest.read_bytes())}
    assert {f"cxloom/modules/{name}.ko" for name in ALL} <= files.keys()
    assert "cxloom/modules/other.ko" not in files
    for tool in ("cxl", "daxctl", "numactl"):
        assert f"/cxloom/tools/{tool}" in files[f"cxloom/bin/{tool}"].data.decode()
        assert files[f"cxloom/bin/{tool}"].mode & 0o111 == 0o111
        assert files[f"cxloom/tools/{tool}"].data.startswith(b"\x7fELF")
    assert {"cxloom/lib/libc.so.6", "cxloom/lib/ld-linux-x86-64.so.2", "cxloom/bin/busybox"} <= files.keys()
    assert left_in(cache_folder()) == [set_up_folder().name]
    assert find_set_up() == done.set_up


def test_a_second_set_up_takes_the_place_of_the_first(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up()
    mark = set_up_folder() / "mark"
    mark.touch()
    monkeypatch.setenv("FAILS_AT", "update")
    with pytest.raises(InputError):
        set_up()
    assert mark.exists(), "one that fails leaves the old one"
    monkeypatch.delenv("FAILS_AT")
    set_up()
    assert not mark.exists()
    assert left_in(cache_folder()) == [set_up_folder().name]


@pytest.mark.parametrize("step", ["update", "install", "download"])
def test_what_apt_complains_of_is_said_and_nothing_is_left(
    here: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS_AT", step)
    with pytest.raises(InputError, match="apt cannot fetch") as error:
        set_up()
    assert error.value.found == "Failed to fetch: 404 Not Found"
    assert left_in(cache_folder()) == []
    with pytest.raises(InputError, match="nothing is set up yet") as error:
        find_set_up()
    assert "cxloom boot --setup" in error.value.allowed


@pytest.mark.parametrize("number", some([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]))
def test_an_interrupted_set_up_leaves_nothing_that_counts(
    here: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, "SLEEPS_AT": "download"}
    code = (
        "import cxloom.booting.mirror as m; import pathlib, os; "
        "m.KEYS = pathlib.Path(os.environ['STORE']); import sys; sys.argv = ['cxloom', 'boot', '--setup']; "
        "from cxloom.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (here.parent / "sleeping").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert process.returncode == 1, said
        assert left_in(cache_folder()) == []
    assert not set_up_folder().exists()
    monkeypatch.delenv("SLEEPS_AT", raising=False)
    set_up()  # and it is no hindrance
    assert left_in(cache_folder()) == [set_up_folder().name]


@pytest.mark.parametrize("free", [[1000], [1 << 30, 1000]])
def test_no_room_is_said_before_anything_is_fetched(
    free: list[int], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of packages with less than it takes, or packages with less than they take."""
    usage, left = shutil.disk_usage("/"), iter(free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage._replace(free=next(left)))
    with pytest.raises(InputError, match="no room for the set-up"):
        set_up()
    asked = here.read_text() if here.exists() else ""
    assert ("update" in asked) == (len(free) > 1)
    assert "download" not in [line.split()[1] for line in asked.splitlines() if len(line.split()) == 2]
    assert left_in(cache_folder()) == []


def test_a_full_disk_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(module, "unpack", full)
    with pytest.raises(OSError, match="No space left"):
        set_up()
    assert left_in(cache_folder()) == []


def test_an_old_kernel_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL", "linux-image-6.1.0-amd64")
    with pytest.raises(InputError, match="kernel is too old"):
        set_up()


def test_two_set_ups_do_not_meet(here: Path) -> None:
    cache_folder().mkdir(parents=True)
    with module._alone_in(cache_folder()), pytest.raises(InputError, match="another cxloom boot --setup"):
        set_up()


def test_a_damaged_package_is_said(here: Path) -> None:
    victim = here.parent / "numactl_1_amd64.deb"
    data = victim.read_bytes()
    victim.unlink()
    victim.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="damaged package"):
        set_up()
    assert left_in(cache_folder()) == []


def test_an_installed_qemu_that_is_gone_is_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up()
    monkeypatch.setattr("cxloom.booting.qemu.COMMAND", "qemu-of-nowhere")
    with pytest.raises(InputError, match="no QEMU 10 here any more"):
        find_set_up()


# --- where from ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "on_debian", "mirror"),
    [
        ("https://a/debian/|bookworm|main|Debian", True, "https://a/debian/"),
        (
            "https://a/debian/|bookworm-updates|main|Debian\nhttps://b/|bookworm|main|Debian",
            True,
            "https://b/",
        ),
        ("https://a/security/|bookworm-security|main|Debian", True, None),
        ("https://a/ubuntu/|noble|main|Ubuntu", False, None),
        ("https://a/debian/|bookworm|main|$(ORIGIN)", True, "https://a/debian/"),
        ("https://a/ubuntu/|noble|main|$(ORIGIN)", False, None),
        ("https://a/node/|nodistro|main|Node Source", True, None),
        ("https://a/debian/|bookworm|contrib|Debian", True, None),
        ("", True, None),
    ],
)
def test_the_mirror_is_that_of_the_sources_of_apt(listed: str, on_debian: bool, mirror: str | None) -> None:
    assert mirror_among(listed, on_debian) == mirror


def test_a_given_mirror_counts(here: Path) -> None:
    assert find_mirror() == MIRROR
    assert find_mirror("http://other/debian") == "http://other/debian"
    with pytest.raises(InputError, match="not the address of a mirror"):
        find_mirror("other")


def test_without_apt_the_need_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no apt-get here: .* from Debian's packages"):
        find_mirror()


def test_without_the_keys_the_package_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cxloom.booting.mirror.KEYS", Path("/nowhere/keys.gpg"))
    with pytest.raises(InputError, match="the keys are missing") as error:
        find_mirror()
    assert "debian-archive-keyring" in error.value.allowed
    assert KEYS.name == "debian-archive-keyring.gpg"


def test_apt_is_given_sources_and_folders_of_its_own(tmp_path: Path) -> None:
    Apt(tmp_path / "apt", MIRROR)
    conf = (tmp_path / "apt/apt.conf").read_text()
    assert f'Dir::State::status "{tmp_path}/apt/status";' in conf
    assert "#clear APT::Update::Post-Invoke;" in conf
    assert f"URIs: {MIRROR}\n" in (tmp_path / "apt/debian.sources").read_text()


def test_the_real_apt_reads_that(tmp_path: Path) -> None:
    """The configuration is one that apt takes, and it names no packages: the list was not fetched."""
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get here")
    assert Apt(tmp_path / "apt", MIRROR).with_dependences([]) == []
    with pytest.raises(InputError, match="apt cannot fetch") as error:
        Apt(tmp_path / "other", MIRROR).alone("cxl")
    assert "cxl" in error.value.found


def test_packages_have_their_sizes(here: Path, tmp_path: Path) -> None:
    size = (here.parent / "cxl_1_amd64.deb").stat().st_size
    assert Apt(tmp_path / "apt", MIRROR).with_dependences(["cxl"]) == [Package("cxl_1_amd64.deb", size)]


# --- QEMU and modules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", None),
        ("QEMU emulator version 9.2.1", None),
        ("QEMU emulator version 10.0.2", (10, 0)),
        ("QEMU emulator version 10.2.1", (10, 2)),
        ("QEMU emulator version 11.1.3", None),
        ("something else", None),
    ],
)
def test_an_installed_qemu_of_version_ten_counts(
    said: str, version: tuple[int, int] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "qemu-system-x86_64", f"#!/bin/sh\necho '{said}'\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = installed_qemu()
    assert (None if found is None else found.version) == version


def test_modules_are_read_in_the_order_of_loading(tmp_path: Path) -> None:
    import lzma

    for name in ALL:
        (tmp_path / f"{name}.ko.xz").write_bytes(lzma.compress(module_file(name)))
    assert list(read_modules(tmp_path)) == [*ALL]
    assert read_modules(tmp_path)["cxl_acpi"] == module_file("cxl_acpi")
    (tmp_path / "cxl_mem.ko.xz").write_bytes(lzma.compress(module_file("cxl_mem", "cxl_pci,cxl_other")))
    with pytest.raises(InputError, match="cxl_mem needs another") as error:
        read_modules(tmp_path)
    assert error.value.found == "cxl_other"
    (tmp_path / "cxl_mem.ko.xz").unlink()
    with pytest.raises(InputError, match="the kernel has no module cxl_mem"):
        read_modules(tmp_path)


def test_a_module_says_what_it_needs() -> None:
    assert needed_by(module_file("a", "b,c")) == ["b", "c"]
    assert needed_by(module_file("a")) == []
