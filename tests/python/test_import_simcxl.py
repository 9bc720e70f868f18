"""``cxloom import simcxl``: a script that makes a board with CXL memory, read and never run, as a spec."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.importing.simcxl import read_board, read_simcxl
from cxloom.importing.simcxl_system import spec_of

Call = Callable[..., Any]

SCRIPT = """
import argparse, sys
open("it-ran", "w")
parser = argparse.ArgumentParser()
parser.add_argument('--is_asic', type=str, choices=['True', 'False'], default='True')
parser.add_argument('--num_cpus', type=int, default=2)
parser.add_argument('--cpu_type', type=str, choices=['TIMING', 'O3'], default='O3')
args = parser.parse_args()
caches = ThreeLevels(l1d_size="32kB", l1d_assoc=8, l1i_size="32kB", l2_size="1MB", l3_size="8MiB", l3_assoc=16)
memory = DIMM_DDR5_4400(size="3GB")
if args.is_asic == 'False':
    far = SingleChannelDDR4_3200(size="8GB")
else:
    far = DIMM_DDR5_4400(size="8GB")
processor = SimpleSwitchableProcessor(
    switch_core_type=CPUTypes.O3 if args.cpu_type == 'O3' else CPUTypes.TIMING, num_cores=args.num_cpus)
board = X86Board(clk_freq="2GHz", processor=processor, memory=memory, cache_hierarchy=caches, cxl_memory=far,
                 is_asic=(args.is_asic == 'True'))
for core in processor.start:
    core.usePerf = False
"""
BOARD = """
class X86Board:
    def setup(self):
        if self._is_asic:
            control.configCXL(Latency("15ns"), 48)
        else:
            self.pc.cxlmemory.proto_proc_lat = Latency("70ns")
            self.pc.cxlmemory.rsp_size = 20
            self.pc.cxlmemory.req_size = 24
        self.bridge = CXLBridge(bridge_lat="40ns", proto_proc_lat="10ns", req_fifo_depth=64, resp_fifo_depth=32)
"""


def spec(script: str = SCRIPT, board: str = "", **given: str) -> tuple[dict[str, Any], str]:
    read = read_simcxl(script, "x.py", given)
    if board:
        read_board(board, "x86_board.py", read)
    made = spec_of(read)
    return made.spec, "\n".join(made.notes)


def test_the_numbers_of_board_and_device_are_on_the_way() -> None:
    made, _ = spec()
    far, near = made["devices"]["cxl"], made["devices"]["local"]
    assert far["media"] == near["media"] == {"kind": "dram", "preset": "DDR5-4400"}
    assert (far["capacity"], near["capacity"]) == ("8GiB", "3GiB")
    # What CXL adds to an idle read: twice 50 + 12 ns of the bridge, and 15 ns of the device.
    system = cx.System.from_yaml(json.dumps(made))
    (route,) = system.check()["routes"]
    idle = route["idle_read_ns"]
    assert idle["most"] - idle["least"] == pytest.approx(2 * (50 + 12 + 15), abs=2)
    assert far["queue"] == 48
    assert made["links"][1]["credits"] == 128
    assert made["devices"]["host"]["core"] == {
        "clock": "2G/s", "cores": 2,
        "caches": [{"size": "32KiB", "ways": 8, "cycles": 3}, {"size": "1MiB", "ways": 16, "cycles": 10}],
    }  # fmt: skip
    assert made["devices"]["host"]["cache"] == {"size": "8MiB", "ways": 16, "access_time": "48000ps"}


def test_arguments_and_a_board_of_somebodys_own() -> None:
    made, said = spec(board=BOARD, is_asic="False", num_cpus="12", cpu_type="TIMING")
    far = made["devices"]["cxl"]
    assert far["media"]["preset"] == "DDR4-3200"
    assert far["controller_time"] == "140ns"
    assert far["queue"] == 20
    assert made["links"][1] == {
        "between": ["host", "cxl"], "port_delay": "0ns", "delay": "50ns", "credits": 32,
    }  # fmt: skip
    assert made["devices"]["host"]["queue"] == 12
    for words in ("req_size of 24", "req_fifo_depth of 64", "TIMING cores"):
        assert words in said
    assert spec(board=BOARD)[0]["devices"]["cxl"]["queue"] == 48


def test_a_text_is_true_whatever_it_says() -> None:
    script = SCRIPT.replace("if args.is_asic == 'False':", "if args.is_asic:")
    made, said = spec(script, is_asic="False")
    assert "`if args.is_asic` in line 11: the text 'False' is true in Python" in said
    assert made["devices"]["cxl"]["media"]["preset"] == "DDR4-3200"
    assert made["devices"]["cxl"]["queue"] == 36


@pytest.mark.parametrize("test", ["args.is_asic.lower() == 'true'", "settings.asic == 'True'", "flag()"])
def test_what_a_call_or_another_module_gives_is_not_known(test: str) -> None:
    """A call was like no text and true by itself, so that `lower()` made an FPGA of an ASIC."""
    with pytest.raises(cx.InputError, match="which device: is_asic"):
        spec(SCRIPT.replace("is_asic=(args.is_asic == 'True')", f"is_asic=({test})"))
    chosen = SCRIPT.replace("CPUTypes.O3 if args.cpu_type == 'O3'", f"CPUTypes.O3 if {test}")
    with pytest.raises(cx.InputError, match="not a kind of core") as refused:
        spec(chosen)
    assert refused.value.found == "what only a run of the script would tell"
    branch = SCRIPT.replace("if args.is_asic == 'False':", f"if {test}:")
    with pytest.raises(cx.InputError, match="only a run of the script would tell which way"):
        spec(branch)


@pytest.mark.parametrize(
    ("was", "instead", "device"),
    [
        ("if self._is_asic:", "if self._is_asic == True:", "ASIC"),
        ('control.configCXL(Latency("15ns"), 48)', "self.set_up_asic()", "ASIC"),
        ("else:", "if not self._is_asic:", "FPGA"),
    ],
)
def test_a_board_that_does_not_tell_its_device_is_refused(was: str, instead: str, device: str) -> None:
    """The numbers of the sources were taken for its own."""
    assert was in BOARD
    with pytest.raises(cx.InputError, match=f"no numbers of the device of an {device} in this board"):
        spec(board=BOARD.replace(was, instead), is_asic=str(device == "ASIC"))


def test_arguments_may_have_any_name() -> None:
    script = SCRIPT.replace("args.", "options.").replace("args =", "options =")
    made, _ = spec(script, is_asic="False", num_cpus="3")
    assert made["devices"]["cxl"]["controller_time"] == "120ns"
    assert made["devices"]["host"]["core"]["cores"] == 3
    assert spec(script)[0]["devices"]["cxl"]["controller_time"] == "30ns"


@pytest.mark.parametrize(
    ("named", "unnamed", "what"),
    [
        ('X86Board(clk_freq="2GHz", processor=processor', 'X86Board("2GHz", processor', "X86Board"),
        ("switch_core_type=CPUTypes.O3", "CPUTypes.O3", "SimpleSwitchableProcessor"),
        ('l1d_size="32kB"', '"32kB"', "ThreeLevels"),
    ],
)
def test_arguments_without_names_are_refused(named: str, unnamed: str, what: str) -> None:
    """They were passed over: of 2 GHz and twelve cores out of order, one in order of 2.4 GHz was left."""
    with pytest.raises(cx.InputError, match=f"arguments of {what} without names") as refused:
        spec(SCRIPT.replace(named, unnamed))
    assert refused.value.line is not None


def test_what_is_not_followed_is_said() -> None:
    script = SCRIPT.replace("is_asic=(", "uncore=3, is_asic=(").replace('size="3GB"', 'size="3GB", ranks=2')
    said = spec(
        script + "board.bridge.bridge_lat = '70ns'\n", BOARD.replace("resp_fifo_depth=32", "ranges=[]")
    )[1]
    for words in (
        "Line 19 is not followed: `for core in processor.start:`.",
        "Line 21 is not followed: `board.bridge.bridge_lat = '70ns'`.",
        "board: uncore.",
        "memory: ranks.",
        "bridge: ranges.",
    ):
        assert words in said
    assert "Line 3" not in said


def test_a_hierarchy_of_two_levels_is_said() -> None:
    made, said = spec(SCRIPT.replace('l3_size="8MiB", l3_assoc=16', "num_l2_banks=1"))
    assert made["devices"]["host"]["cache"] == {"size": "1MiB", "ways": 16, "access_time": "5000ps"}
    assert "cache_hierarchy ThreeLevels: of its caches only the 2" in said


def test_the_command_writes_a_spec_that_runs(
    cxloom: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_text(SCRIPT)
    Path("x86_board.py").write_text(BOARD)
    done = cxloom(
        "import", "simcxl", "x.py", "--arg", "num_cpus=4", "--board", "x86_board.py", "--out", "made.yaml"
    )
    assert done.code == 0, done.err
    assert not Path("it-ran").exists()
    assert "Crossbars and gem5's memory controllers" in " ".join(done.out.split())
    assert "# - Crossbars" in Path("made.yaml").read_text()
    ran = cxloom("run", "made.yaml", "--set", "workload.host.requests=200", "--json")
    assert json.loads(ran.out)["requests"] == 200


@pytest.mark.parametrize(
    ("script", "arguments", "words"),
    [
        ("def", [], "x.py:1: not Python"),
        ("a = 3", [], "no board with CXL memory"),
        (SCRIPT, ["--arg", "num_cpu=3"], "the script has no argument --num_cpu"),
        (SCRIPT, ["--arg", "num_cpus=many"], "not an integer"),
        (SCRIPT, ["--arg", "cpu_type=KVM"], "not a value of --cpu_type"),
        (SCRIPT, ["--arg", "num_cpus"], "not an argument"),
        (SCRIPT.replace("args.is_asic == 'False'", "sys.argv[1]"), [], "x.py:11: only a run of the script would tell"),
        (SCRIPT.replace("DIMM_DDR5_4400(size=\"8GB\")", "SingleChannelHBM()"), [], "no DRAM of a kind that is here"),
        (SCRIPT.replace("DIMM_DDR5_4400(size=\"8GB\")", "DIMM_DDR5_9999()"), [], "devices.cxl.media.preset"),
        (SCRIPT.replace('"8GB"', "some"), [], "not a size: cxl_memory.size"),
        (SCRIPT.replace("2GHz", "fast"), [], "not a clock: clk_freq"),
        (SCRIPT, ["--board", "x.py"], "no CXLBridge in this board"),
    ],
)  # fmt: skip
def test_what_is_refused(
    cxloom: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_text(script)
    done = cxloom("import", "simcxl", "x.py", *arguments, "--out", "made.yaml")
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not Path("made.yaml").exists()
