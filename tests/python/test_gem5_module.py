"""What gem5 reads of integrations/gem5 when it is built and configured, with stand-ins for what gem5 has there."""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

MODULE = Path(__file__).parents[2] / "integrations" / "gem5" / "cxloom_gem5"


class Ended(Exception):
    pass


def build(
    folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, python: str = sys.executable
) -> list[str]:
    """Runs the SConscript as SCons does. The sources that it names."""
    (folder / "base").mkdir()
    (folder / "base" / "version.cc").write_text(f'const char *gem5Version = "{version}";\n')
    monkeypatch.setenv("CXLOOM_PYTHON", python)
    sources: list[str] = []

    def node(path: str) -> Any:
        return mock.Mock(srcnode=lambda: mock.Mock(abspath=str(folder)) if path == "#src" else None)

    def end(code: int) -> None:
        raise Ended(code)

    names = {
        "Import": mock.Mock(),
        "Dir": node,
        "Exit": end,
        "SimObject": lambda name, sim_objects: sources.append(name),
        "PySource": lambda package, name: sources.append(name),
        "Source": lambda name, append=None: sources.append(name),
        "DebugFlag": mock.Mock(),
        "env": mock.Mock(),
    }
    runpy.run_path(str(MODULE / "SConscript"), names)
    return sources


def test_every_source_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = build(tmp_path, monkeypatch, "24.0.0.1")
    written = {file.name for file in MODULE.iterdir() if file.suffix in (".cpp", ".py")}
    assert set(sources) == written


@pytest.mark.parametrize("version", ["23.1.0.0", "24.1.0.0", "DEVELOP-FOR-25.0"])
def test_another_gem5_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    with pytest.raises(Ended, match="2"):
        build(tmp_path, monkeypatch, version)
    assert f"written for gem5 24.0, and this is {version}" in capsys.readouterr().out


def test_a_python_without_cxloom_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named cxloom' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(Ended, match="2"):
        build(tmp_path, monkeypatch, "24.0.0.1", str(python))
    assert "CXLOOM_PYTHON names the Python that has" in capsys.readouterr().out


class SimObject:
    connected = False

    def path(self) -> str:
        return type(self).__name__.lower()

    def connectPorts(self) -> None:  # noqa: N802
        self.connected = True


class CoherentXBar(SimObject):
    point_of_coherency = True


def refuse(text: str) -> None:
    raise Ended(text)


BUILT: dict[str, str] = {}
"""What gem5 was built with."""


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    """The classes of CxlPath.py."""
    modules = {name: mock.MagicMock() for name in ("m5", "m5.objects", "m5.params", "m5.proxy")}
    for name, has in {
        "m5.defines": {"buildEnv": BUILT},
        "m5.objects.AbstractMemory": {"AbstractMemory": SimObject},
        "m5.objects.XBar": {"CoherentXBar": CoherentXBar},
        "m5.SimObject": {"SimObject": SimObject},
        "m5.util": {"fatal": refuse},
    }.items():
        modules[name] = types.ModuleType(name)
        vars(modules[name]).update(has)
    with mock.patch.dict(sys.modules, modules):
        return runpy.run_path(str(MODULE / "CxlPath.py"))


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("below", ["point", "above it", "no bus", "nothing"])
def test_shared_copies_want_a_bus_that_tells_of_upgrades(
    objects: dict[str, Any], shares: bool, below: str
) -> None:
    host = objects["CxlHost"]()
    bus = SimObject() if below == "no bus" else CoherentXBar()
    bus.point_of_coherency = below == "point"
    host.shares = shares
    host.cpu_side = mock.Mock(peer=None if below == "nothing" else mock.Mock(simobj=bus))
    host.recalls = mock.Mock(peer=None)
    if shares and below == "point":
        with pytest.raises(Ended, match="cxlhost: shares is set, and coherentxbar is the point of coherency"):
            host.connectPorts()
    else:
        host.connectPorts()
    assert host.connected == (not (shares and below == "point"))


@pytest.mark.parametrize("protocol", ["CXL_MESI", "MESI_Two_Level", None])
@pytest.mark.parametrize("recalled", [False, True])
def test_recalls_want_the_protocol_that_has_them(
    objects: dict[str, Any], monkeypatch: pytest.MonkeyPatch, protocol: str | None, recalled: bool
) -> None:
    if protocol:
        monkeypatch.setitem(BUILT, "PROTOCOL", protocol)
    host = objects["CxlHost"]()
    host.shares = False
    host.cpu_side = mock.Mock(peer=mock.Mock(simobj=SimObject()))
    host.recalls = mock.Mock(peer=mock.Mock() if recalled else None)
    if recalled and protocol != "CXL_MESI":
        with pytest.raises(Ended, match=f"this gem5 is built with {protocol or 'none'}"):
            host.connectPorts()
    else:
        host.connectPorts()
    assert host.connected == (not recalled or protocol == "CXL_MESI")
