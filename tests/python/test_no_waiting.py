"""What is read must be a file: a pipe in its place is refused, and not waited for. Merged maps take no time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.report.study_outcome import read_outcome
from cxloom.spec.reader import read_text
from cxloom.sweeping import manifest, rows
from cxloom.sweeping.store import Store


@pytest.fixture(autouse=True)
def impatience() -> Iterator[None]:
    """Whoever waits for a pipe is interrupted."""

    def give_up(*_: object) -> None:
        raise TimeoutError("somebody waits for a pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 20)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "results": ("summary.json", cx.Result.load),
    "study": ("outcome.json", read_outcome),
    "sweep": ("sweep.json", manifest.read),
    "points of CSV": ("points.csv", lambda folder: rows.read(str(folder / "points.csv"))),
    "points of YAML": ("points.yaml", lambda folder: rows.read(str(folder / "points.yaml"))),
    "points of Parquet": ("points.parquet", lambda folder: rows.read(str(folder / "points.parquet"))),
    "spec": ("spec.yaml", lambda folder: cx.load(folder / "spec.yaml")),
    "directory of results": ("summary.json", lambda folder: cx.run("esf/validation", out=folder)),
    "directory of a sweep": (
        "sweep.json",
        lambda folder: cx.sweep("esf/validation", {"run.seed": [1]}, out=folder),
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_in_place_of_a_file_is_refused(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    os.mkfifo(tmp_path / name)
    with pytest.raises(cx.InputError) as error:
        read(tmp_path)
    assert name in str(error.value)


def test_a_pipe_in_place_of_a_point_is_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = {"grid": {"devices.host.queue": [1, 2]}, "out": tmp_path}
    swept = cx.sweep("esf/validation", **given)
    assert swept.statuses == ["finished"] * 2
    point = sorted((tmp_path / "points").iterdir())[0]
    point.unlink()
    os.mkfifo(point)
    with pytest.raises(OSError, match="a pipe, not a file"):
        Store(tmp_path).read(point.stem)
    with pytest.raises(cx.InputError, match="a pipe, not a file"):
        cx.sweep("esf/validation", **given)


@pytest.mark.parametrize(
    "text",
    [
        "e: &e {{}}\nb: &b {{{many}}}\nx: {{<<: [*b, {aliases}]}}\n",
        "e: &e {{}}\nb: &b {{{many}}}\nx: {{<<: *b, {merges}}}\n",
    ],
    ids=["one merge key", "many merge keys"],
)
def test_merging_takes_no_longer_than_reading(text: str) -> None:
    """m entries that n merge keys leave as they are take m + n steps, not m x n as beside so many plain lines."""

    def seconds(written: str) -> float:
        begun = time.process_time()
        read_text(written)
        return time.process_time() - begun

    many = ", ".join(f"k{i}: 1" for i in range(4000))
    bomb = text.format(many=many, aliases=", ".join(["*e"] * 15000), merges=", ".join(["<<: *e"] * 15000))
    plain = f"b: {{{many}}}\n" + "x: [" + ", ".join(["{}"] * 30000) + "]\n"
    assert seconds(bomb) < 1.5 * seconds(plain) + 0.2


def test_the_first_source_of_a_merge_wins() -> None:
    merged = read_text(
        "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], w: 3}\nd: {x: 4, <<: *b, <<: *a}\n"
    )
    plain = merged.plain()
    assert plain["c"] == {"x": 1, "y": 1, "z": 2, "w": 3}
    assert plain["d"] == {"x": 4, "y": 2, "z": 2}
