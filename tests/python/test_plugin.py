"""A component built outside the tree against the public header works like one inside."""

import subprocess
import sys
from pathlib import Path

import pytest
from plugin_support import built, results_of, run

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def library() -> Path:
    return built(EXAMPLE / "retimer.cpp")


def test_a_plugin_runs_and_its_parameter_counts(library: Path) -> None:
    # There and back through the retimer: 2 x 7 ns, and the rest is 10 process + 40 controller + 45 media.
    summary = results_of(EXAMPLE / "retimer.yaml", library, "devices.host.queue=1")
    assert summary["latency_ns"]["mean"] == 10 + 40 + 45 + 2 * 7
    # It is no switch, and measures nothing.
    assert summary["per_switch"] == {}
    assert "per_device" not in summary


def test_a_plugin_is_described(library: Path) -> None:
    shown = run("components", "retimer", "--plugin", str(library))
    assert shown.returncode == 0, shown.stderr
    assert "Regenerates the signal" in shown.stdout
    assert "10ns" in shown.stdout


def test_without_the_plugin_the_kind_is_unknown() -> None:
    refused = run("run", str(EXAMPLE / "retimer.yaml"))
    assert refused.returncode == 2
    assert "unknown device kind 'retimer'" in refused.stderr
    assert "for a kind of a plug-in: --plugin LIB" in refused.stderr


def test_with_a_plugin_nobody_is_told_of_plugins(library: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text((EXAMPLE / "retimer.yaml").read_text().replace("kind: retimer", "kind: oracle"))
    refused = run("run", str(spec), "--plugin", str(library))
    assert refused.returncode == 2
    assert "unknown device kind 'oracle'" in refused.stderr
    assert "gpu or retimer" in refused.stderr
    assert "--plugin" not in refused.stderr


def test_what_is_no_plugin_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "libfake.so"
    fake.write_text("not a library")
    refused = run("run", str(EXAMPLE / "retimer.yaml"), "--plugin", str(fake))
    assert refused.returncode == 2
    assert "libfake.so" in refused.stderr


IN_PYTHON = """
import cxloom as cx
library = {library!r}
assert not hasattr(cx.System(), "retimer")
cx.load_plugin(library)
system = cx.System()
system.host("host", queue=1).retimer("wire", delay="7ns").memory("mem", capacity="1GiB")
system.connect("host", "wire").connect("wire", "mem").map("mem")
system.workload("host", pattern="random", requests=100, footprint="1MiB")
print(cx.run(system).latency.mean)
try:
    system.retimer("other", dely="7ns")
except cx.InputError as error:
    print(error.suggestion)
try:
    cx.load_plugin(library)
except cx.InputError as error:
    print(error)
"""


def test_a_plugin_is_loaded_in_python(library: Path) -> None:
    code = IN_PYTHON.format(library=str(library))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    mean, suggestion, twice = done.stdout.splitlines()
    assert float(mean) == 10 + 40 + 45 + 2 * 7
    assert suggestion == "delay"
    assert "libretimer.so" in twice
