"""What `make` says while it prepares the environment: packages as they come, and what to do behind a proxy."""

from __future__ import annotations

import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pip
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cmake", "ninja", "nanobind", "scikit-build-core")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with an empty environment in place: what remains are the packages."""
    for name in ("scripts", "constraints.txt"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    (packages,) = (tmp_path / ".venv" / "lib").glob("python*/site-packages")
    (packages / "pip").symlink_to(Path(pip.__file__).parent)
    (tmp_path / ".venv" / ".root").write_text(str(tmp_path))
    return tmp_path


def prepared(tree: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return subprocess.run(
        ["bash", "scripts/bootstrap.sh", "venv"],
        cwd=tree,
        env={**clean, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0", "NO_PROXY": "*", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index whose certificate nobody has signed that pip trusts, as a proxy that opens TLS shows one."""
    folder = tmp_path_factory.mktemp("index")
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    making = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run(
        [openssl, *making, "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    server = http.server.ThreadingHTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # the client hangs up, as it should
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def test_the_certificate_of_a_proxy_is_named_with_what_to_set(tree: Path, proxy: str) -> None:
    done = prepared(tree, PIP_INDEX_URL=proxy)
    assert done.returncode != 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert "certificate" in line
    assert "PIP_CERT=" in line


def test_packages_are_named_as_they_come(tree: Path) -> None:
    """From an index of our own, over plain HTTP: each package with its size, and no line of pip's that helps nobody."""
    index = tree / "simple"
    for name in PACKAGES:
        wheel = f"{name.replace('-', '_')}-{pinned(name)}-py3-none-any.whl"
        (index / name).mkdir(parents=True)
        write_wheel(index / name / wheel, name.replace("-", "_"), pinned(name))
        (index / name / "index.html").write_text(f'<a href="{wheel}">{wheel}</a>')
    handler = partial(QuietHandler, directory=str(tree))
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = prepared(tree, PIP_INDEX_URL=f"http://localhost:{server.server_port}/simple", PIP_NO_CACHE_DIR="1")
    server.shutdown()
    server.server_close()
    lines = done.stdout.splitlines()
    assert "190 MB" in lines[0]
    *named, last = lines[1:]
    assert {line.split("-")[0].strip() for line in named} == {name.replace("-", "_") for name in PACKAGES}
    assert all(line.endswith(")") for line in named)
    assert last.strip() == "unpacking"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Says nothing of what it serves."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def pinned(name: str) -> str:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    (version,) = [
        line.partition("==")[2] for line in lines if line.lower().replace("_", "-").startswith(f"{name}==")
    ]
    return version


def write_wheel(path: Path, name: str, version: str) -> None:
    """An empty package."""
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
