"""Running: results, determinism, records, the result directory, ends before the end."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from validation.examples import slow

import cxloom as cx


@pytest.fixture
def system(spec_file: Path) -> cx.System:
    return cx.load(spec_file)


def comparable(result: cx.Result) -> dict[str, object]:
    return {key: value for key, value in result.summary.items() if key != "cost"}


def test_the_peak_of_memory_is_that_of_the_run_alone(spec_file: Path) -> None:
    """What the system says of a process includes the peak of its launcher, which exec passes on."""
    program = (
        "import subprocess, sys\n"
        "held = bytearray(b'x' * (512 << 20))\n"
        f"subprocess.run([sys.executable, '-m', 'cxloom', 'run', {str(spec_file)!r}, '--json'], check=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 20 << 20 < json.loads(done.stdout)["cost"]["peak_memory_bytes"] < 200 << 20


def test_the_results_of_an_idle_system_are_the_sum_of_its_parts(system: cx.System) -> None:
    result = cx.run(system.set("devices.host.queue", 1).set("devices.bus.bandwidth", "unlimited"))
    # 10 process, 2 x 50 ports, 2 x 1 bus, 40 controller, 45 media
    assert result.latency.mean == result.latency.max == pytest.approx(197.0)
    assert result.bandwidth == pytest.approx(64 / 197.0, rel=1e-3)
    assert result.count == result.reads + result.writes == 2000
    assert result.read.latency.p99 == pytest.approx(197.0, rel=1e-3)
    assert not result.truncated
    assert sum(result.breakdown.values()) == pytest.approx(result.latency.mean)
    assert set(result.per_memory) == {"mem0", "mem1", "mem2", "mem3"}
    assert result.per_requester["host"].latency.p99 == pytest.approx(197.0, rel=1e-3)
    assert sum(memory["requests"] for memory in result.per_memory.values()) == 2000


def test_the_same_spec_and_seed_give_the_same_results(system: cx.System) -> None:
    assert comparable(cx.run(system)) == comparable(cx.run(system))
    first, other = cx.run(system, seed=2), cx.run(system, seed=3)
    assert (first["seed"], other["seed"]) == (2, 3)
    assert first.reads != other.reads


def test_a_pool_of_threads_gives_what_one_gives(system: cx.System) -> None:
    seeds = [1, 2, 3, 4] * 2
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda seed: comparable(cx.run(system, seed=seed)), seeds))
    assert results == [comparable(cx.run(system, seed=seed)) for seed in seeds]


def test_recorded_requests_account_for_every_picosecond(system: cx.System) -> None:
    result = cx.run(system.set("devices.host.queue", 256), requests=True)
    frame = result.requests()
    assert len(frame) == result.count
    segments = [f"{name}_ps" for name in result.breakdown]
    latency = frame["completed_ps"] - frame["created_ps"]
    assert (frame.select(pl.sum_horizontal(segments)).to_series() == latency).all()
    assert latency.mean() / 1000 == pytest.approx(result.latency.mean)  # type: ignore[operator]
    assert set(frame["kind"].cast(pl.String).unique()) == {"read", "write"}
    assert (frame["kind"].cast(pl.String) == "read").sum() == result.reads
    assert set(frame["target"].cast(pl.String).unique()) == {"mem0", "mem1", "mem2", "mem3"}


def test_requests_that_were_not_recorded_are_played_again(system: cx.System) -> None:
    unrecorded, recorded = cx.run(system), cx.run(system, requests=True)
    assert "requests" not in unrecorded.tables
    assert unrecorded.requests().equals(recorded.requests())


def test_a_truncated_run_is_not_played_again(system: cx.System) -> None:
    # The whole run would give requests that the truncated one never answered.
    result = cx.run(system, max_time="2us")
    assert result.truncated
    with pytest.raises(cx.InputError, match="recorded no requests"):
        result.requests()
    assert cx.run(system, max_time="2us", requests=True).requests().height == result["requests"]


def test_series_are_recorded_on_request(system: cx.System) -> None:
    with pytest.raises(cx.InputError, match="recorded no series"):
        cx.run(system).series()
    frame = cx.run(system.set("outputs.series", "100ns")).series()
    assert {"time_ps", "name", "utilization", "queue"} <= set(frame.columns)
    assert frame["utilization"].max() <= 1.0  # type: ignore[operator]
    sums = (
        frame.with_columns(pl.col("name").cast(pl.String)).group_by("name").agg(pl.col("utilization").mean())
    )
    busy = dict(sums.iter_rows())
    assert {"bus->host", "bus upstream", "bus downstream", "mem0"} <= busy.keys()
    # The bus is what limits this system; a memory holds requests, and is never busy or idle.
    assert busy["bus upstream"] > 0
    assert busy["mem0"] is None
    short = cx.run(system.set("outputs.series", "1s"))
    assert short.series().is_empty()
    said = "the series has no rows: an interval of 1s is longer than the measured window"
    assert [note for note in short["notes"] if said in note]


def test_a_result_directory_holds_everything(system: cx.System, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    result = cx.run(system.set("outputs.series", "100ns"), requests=True, out=out)
    assert sorted(os.listdir(out)) == ["requests.parquet", "series.parquet", "spec.yaml", "summary.json"]
    assert json.loads((out / "summary.json").read_text()) == result.summary
    loaded = cx.Result.load(out)
    assert loaded.summary == result.summary
    assert loaded.requests().equals(cx.run(system, requests=True).requests())
    assert loaded.requests().equals(result.requests())
    assert len(loaded.series()) == len(result.series()) > 0
    again = cx.run(out / "spec.yaml")
    assert comparable(again) == comparable(result)


def test_a_directory_of_an_earlier_run_is_used_again(system: cx.System, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cx.run(system, out=out, requests=True)
    (out / "notes.txt").write_text("mine")
    cx.run(system, out=out, seed=9)
    assert sorted(os.listdir(out)) == ["notes.txt", "spec.yaml", "summary.json"]
    assert cx.Result.load(out)["seed"] == 9


def test_results_can_be_saved_later(system: cx.System, tmp_path: Path) -> None:
    result = cx.run(system, requests=True)
    result.save(tmp_path / "out")
    assert cx.Result.load(tmp_path / "out").requests().equals(result.requests())
    assert cx.Result.load(tmp_path / "out").summary == result.summary
    with pytest.raises(cx.InputError, match="no results here"):
        cx.Result.load(tmp_path)


def test_a_time_limit_truncates_at_the_same_place_every_time(system: cx.System, tmp_path: Path) -> None:
    system.set("workload.host.requests", 200_000)
    result = cx.run(system, max_time="50us", out=tmp_path / "out")
    assert result.truncated
    assert not result["completed"]
    assert "50.0 us" in result.stop_reason
    assert 0 < result.count < 200_000
    assert comparable(cx.run(system, max_time="50us")) == comparable(result)
    assert cx.Result.load(tmp_path / "out").truncated
    with pytest.raises(cx.InputError, match="max_time: the unit is missing"):
        cx.run(system, max_time="50")


def test_a_run_that_cannot_finish_is_diagnosed(system: cx.System, tmp_path: Path) -> None:
    # No answer is there before links have delivered more than is allowed.
    system.set("devices.bus.bus_time", "15us").set("run.livelock_deliveries", 1).set(
        "workload.host.requests", 40_000
    )
    with pytest.raises(cx.UnfinishedError, match="livelock") as error:
        cx.run(system, out=tmp_path / "out")
    result = error.value.result
    assert result.truncated
    assert not result["completed"]
    assert "livelock" in result.stop_reason
    assert cx.Result.load(tmp_path / "out").summary == result.summary
    copy = pickle.loads(pickle.dumps(error.value))
    assert isinstance(copy, cx.SimulationError)
    assert str(copy) == str(error.value)


@slow
def test_records_of_a_long_run_leave_memory_as_they_come(spec_file: Path, tmp_path: Path) -> None:
    script = (
        "import cxloom as cx, resource, sys\n"
        "system = cx.load(sys.argv[1]).set('workload.host.requests', int(sys.argv[2]))\n"
        "cx.run(system, requests=True, out=sys.argv[3])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def peak_kib(requests: int) -> int:
        arguments = [str(spec_file), str(requests), str(tmp_path / str(requests))]
        return int(subprocess.check_output([sys.executable, "-c", script, *arguments], timeout=120))

    few, many = peak_kib(400_000), peak_kib(1_600_000)
    row_bytes = 200
    assert many - few < 1_200_000 * row_bytes / 1024 / 4
    assert len(cx.Result.load(tmp_path / "1600000").requests()) == 1_600_000


ENDLESS = "workload.host.requests=100000000"


def start(spec: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cxloom", "run", str(spec), "--set", ENDLESS, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_running(process: subprocess.Popen[str]) -> None:
    """Waits until the process has worked for longer than it takes to load, however busy the machine is."""
    ticks = os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 60
    cpu_seconds = 0.0
    while cpu_seconds < 2.0:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
        cpu_seconds = (
            int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11]) / ticks
        )


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=slow)])
def test_an_interrupt_leaves_labelled_results(
    spec_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    process = start(spec_file, "--out", out, "--json", "--set", "outputs.requests=true")
    wait_until_running(process)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 1, stderr
    summary = json.loads(stdout)
    assert summary["truncated"]
    assert summary["requests"] > 0
    assert sorted(os.listdir(out)) == ["requests.parquet", "spec.yaml", "summary.json"]
    assert len(cx.Result.load(out).requests()) == summary["requests"]


@slow
def test_an_interrupt_without_a_directory_writes_nothing(spec_file: Path, tmp_path: Path) -> None:
    process = start(spec_file)
    wait_until_running(process)
    before = sorted(os.listdir(tmp_path))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1, stderr
    assert sorted(os.listdir(tmp_path)) == before


def test_a_killed_run_leaves_no_result(spec_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(spec_file, "--out", out)
    wait_until_running(process)
    process.kill()
    process.communicate(timeout=60)
    with pytest.raises(cx.InputError, match="no results here"):
        cx.Result.load(out)
    cx.run(spec_file, out=out)  # what it left is in nobody's way
    assert cx.Result.load(out).count == 2000


def test_a_result_reads_well(system: cx.System) -> None:
    result = cx.run(system)
    assert repr(result).startswith("<Result: 2,000 requests, ")
    assert "where a request's time went" in str(result)
    assert json.loads(result.to_json()) == result.summary


def test_show_prints_the_table_of_the_command(spec_text: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = cx.run(cx.System.from_yaml(spec_text))
    result.show()
    assert capsys.readouterr().out == f"{result}\n"
