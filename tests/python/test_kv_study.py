"""Studies of KV caches: runs that are no systems, the studies that are shipped, and the how-to on pools."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from kv_support import ROOT, TRACES, write_trace

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.study import read, run_study
from cxloom.study.shipped import find
from cxloom.study.state import State

SLOW = pytest.mark.skipif("CXLOOM_SLOW" not in os.environ, reason="slow: set CXLOOM_SLOW=1")

HITS = """\
title: A prompt that comes again
source: own
kv_hits:
  requests: {trace: t.jsonl}
  tiers: [{name: tier, blocks: 10}]
sweep: {tiers.tier.blocks: [2, 10]}
expect:
  - {measure: hit_blocks, at: {tiers.tier.blocks: 10}, value: 4, tolerance: 0%, source: counted}
  - {measure: hit_blocks, at: {tiers.tier.blocks: 2}, value: 2, tolerance: 0%, source: counted}
"""
SERVING = """\
title: Servers
source: own
kv:
  model: llama-3-8b
  requests: {generate: {chats: 5, rate: 1/s}}
  servers: {flops: 100TFLOP/s, memory_bandwidth: 2TB/s}
  tiers: [{name: tier, blocks: 100, bandwidth: 10GB/s}]
sweep: {servers.flops: [100TFLOP/s, 200TFLOP/s]}
"""


def study_of(folder: Path, text: str) -> Path:
    write_trace(folder, [(0, 2048, 1, [1, 2, 3, 4]), (9, 2048, 1, [1, 2, 3, 4])])
    (folder / "study.yaml").write_text(text)
    return folder / "study.yaml"


def test_a_study_of_hits_is_run_beside_what_is_counted(tmp_path: Path) -> None:
    """A prompt comes again, and LRU has its beginning: the last of it was used first."""
    outcome = run_study(read(study_of(tmp_path, HITS)), jobs=1, out=tmp_path / "out")
    assert [each.state for each in outcome.comparisons] == [State.MET, State.MET]
    wrong = HITS.replace("value: 4", "value: 3")
    assert not run_study(read(study_of(tmp_path, wrong)), jobs=1, out=tmp_path / "out").passed


def test_a_trace_that_has_changed_is_run_again(tmp_path: Path) -> None:
    study = read(study_of(tmp_path, HITS))
    before = [spec.digest() for spec in study.specs]
    write_trace(tmp_path, [(0, 2048, 1, [1, 2, 3, 4]), (9, 2048, 1, [1, 2, 3, 5])])
    after = [spec.digest() for spec in study.specs]
    assert len({*before, *after}) == 4


def test_no_more_than_the_first_requests_are_read(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, [(0, 512, 1, [1]), (1, 512, 1, [1]), (2, 512, 1, [1])])
    assert [len(cx.kv.read_requests(trace, first=first)) for first in (1, 2, 3, 9)] == [1, 2, 3, 3]
    # What stands behind them is not looked at.
    trace.write_text(trace.read_text() + "no request\n")
    assert len(cx.kv.read_requests(trace, first=3)) == 3
    with pytest.raises(InputError, match=r"t\.jsonl:4"):
        cx.kv.read_requests(trace)
    with pytest.raises(InputError, match="at least 1"):
        cx.kv.read_requests(trace, first=0)


def test_traces_are_also_looked_for_in_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(tmp_path, HITS)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "t.jsonl").rename(tmp_path / "elsewhere" / "t.jsonl")
    with pytest.raises(InputError, match="CXLOOM_TRACES"):
        run_study(read(study), jobs=1)
    monkeypatch.setenv("CXLOOM_TRACES", str(tmp_path / "elsewhere"))
    assert run_study(read(study), jobs=1).passed


def test_a_study_of_servers_has_a_table_and_a_page(tmp_path: Path, cxloom: Any) -> None:
    study = study_of(tmp_path, SERVING)
    done = cxloom("study", "run", str(study), "--out", str(tmp_path / "out"), "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["table"]
    assert [row["flops"] for row in rows] == ["100TFLOP/s", "200TFLOP/s"]
    assert rows[1]["ttft_s"] < rows[0]["ttft_s"]
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kv_hits:", "kv_hit:", "unknown key 'kv_hit'"),
        ("trace: t.jsonl", "trace: u.jsonl", "no such file"),
        ("trace: t.jsonl", "trac: t.jsonl", "unknown key 'trac'"),
        ("name: tier, blocks: 10", "name: tier, block: 10", "unknown key 'block'"),
        ("measure: hit_blocks, at: {tiers.tier.blocks: 10}", "measure: hit_block", "no measure 'hit_block'"),
        ("tiers.tier.blocks: [2, 10]", "tiers.teir.blocks: [2, 10]", "a path that matches nothing"),
        ("source: own\n", "source: own\nsystem: {preset: esf/validation}\n", "both 'system' and 'kv_hits'"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        run_study(read(study_of(tmp_path, HITS.replace(old, new))), jobs=1)
    assert "study.yaml:" in str(caught.value)


@pytest.mark.parametrize("name", ["kv/hit_rates", "kv/pool", "kv/tiers"])
def test_shipped_studies_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "kv/hit_rates":
        if not (TRACES / "mooncake_synthetic.jsonl").exists():
            pytest.skip("Mooncake's traces are not here: CXLOOM_TRACES names their folder")
        monkeypatch.setenv("CXLOOM_TRACES", str(TRACES))
    outcome = run_study(read(find(name), quick=True), jobs=1)
    assert outcome.comparisons
    assert outcome.passed


@SLOW
def test_whole_traces_are_beside_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (TRACES / "mooncake_conversation.jsonl").exists():
        pytest.skip("Mooncake's traces are not here: CXLOOM_TRACES names their folder")
    monkeypatch.setenv("CXLOOM_TRACES", str(TRACES))
    outcome = run_study(read(find("kv/hit_rates")), jobs=1)
    states = [each.state for each in outcome.comparisons]
    assert (states.count(State.MET), states.count(State.OPEN)) == (11, 6)
    assert outcome.passed


def test_the_how_to_on_pools_says_what_comes_out(
    tmp_path: Path, cxloom: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/kv.md: its file, its commands, and what it says that they show."""
    monkeypatch.chdir(tmp_path)
    page = (
        (ROOT / "docs" / "kv.md").read_text(encoding="utf-8").partition("## How many servers share a pool")[2]
    )
    (tmp_path / "pool.yaml").write_text(page[page.index("```yaml\n") + 8 :].split("```")[0])
    commands = page[page.index("```sh\n") + 6 :].split("```")[0].splitlines()
    found = {}
    for command in commands:
        words = command.split()
        assert words[0] == "cxloom"
        done = cxloom(*words[1:])
        assert done.code == 0, done.err
        found[words[words.index("--out") + 1]] = json.loads(done.out)
    one, four = found["one.json"], found["four.json"]
    assert four["ttft_s"]["parts"]["load"] > 1.3 * one["ttft_s"]["parts"]["load"]
    assert four["fabric"]["loads"]["link pool->sw"] > 2 * one["fabric"]["loads"]["link pool->sw"]
    wide = "fabric.links[2].phy=pcie5-x16"
    done = cxloom(*commands[1].split()[1:], "--set", wide)
    assert json.loads(done.out)["ttft_s"]["parts"]["load"] < 0.8 * four["ttft_s"]["parts"]["load"]
    waits = cxloom(*commands[1].split()[1:], "--set", "recompute=never")
    computed = [each["tiers"]["cxl"]["computed_tokens"] for each in (four, json.loads(waits.out))]
    assert computed[0] > computed[1]
