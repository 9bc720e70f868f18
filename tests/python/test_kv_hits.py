"""What requests find in KV caches: against published counts, and of kinds from plug-ins."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from kv_support import trace, write_trace
from plugin_support import PLUGINS, built, run

import cxloom as cx
from cxloom.base.errors import InputError

SLOW = pytest.mark.skipif("CXLOOM_SLOW" not in os.environ, reason="slow: set CXLOOM_SLOW=1")

POLICIES: tuple[Any, ...] = ("fifo", "lru", "lfu", "s3-fifo", {"kind": "far", "equals": "first"})

# Lines, blocks, different blocks, and hit blocks by capacity in the order of POLICIES: counted by an independent
# program in Python over the traces of Mooncake's FAST '25 release (commit 3b5a594).
TABLE: dict[str, tuple[tuple[int, int, int], dict[int, tuple[int, ...]]]] = {
    "conversation": (
        (12031, 288500, 182790),
        {
            1000: (12840, 12847, 13871, 16041, 51685),
            5859: (36168, 39258, 27961, 44000, 101081),
            10000: (52514, 61046, 38133, 56334, 105710),
        },
    ),
    "synthetic": (
        (3993, 121877, 43924),
        {
            1000: (9966, 10252, 5075, 10552, 32068),
            5859: (36754, 37703, 29678, 37622, 66578),
            10000: (49047, 51669, 43974, 50736, 75053),
        },
    ),
}


def found(requests: cx.kv.Requests, blocks: int, policy: Any = "lru") -> int:
    tiers = [{"name": "tier", "blocks": blocks, "policy": policy}]
    count: int = cx.kv.hits(requests, tiers)["hit_blocks"]
    return count


@SLOW
@pytest.mark.parametrize("name", TABLE)
def test_hits_of_whole_traces_are_those_of_the_table(name: str) -> None:
    requests = trace(name)
    sizes, table = TABLE[name]
    assert (len(requests), requests.blocks, requests.distinct) == sizes
    for blocks, expected in table.items():
        assert tuple(found(requests, blocks, policy) for policy in POLICIES) == expected


@SLOW
def test_tiers_of_a_whole_trace_are_those_of_the_table() -> None:
    tiers = [{"name": "first", "blocks": 5859}, {"name": "second", "blocks": 4141}]
    hits = cx.kv.hits(trace("conversation"), tiers, inclusion="exclusive")
    assert [hits["tiers"][name]["hit_blocks"] for name in ("first", "second")] == [39258, 21788]


# Share of the prompts' tokens that LRU finds in 1, 2, 4, 10, 50 and 100 million tokens: Qin et al., FAST '25, Figure 9,
# from the vectors of its PDF.
FIGURE_9 = {
    "conversation": (0.087, 0.120, 0.215, 0.326, 0.398, 0.401),
    "synthetic": (0.146, 0.235, 0.381, 0.589, 0.658, 0.658),
}
FOUND_9 = {
    "conversation": (0.0543, 0.0865, 0.1783, 0.2908, 0.3707, 0.3736),
    "synthetic": (0.1451, 0.2328, 0.3749, 0.5770, 0.6512, 0.6512),
}


@SLOW
@pytest.mark.parametrize("name", FIGURE_9)
def test_shares_beside_the_figure_are_those_of_the_page(name: str) -> None:
    """docs/model/kv.md has them: one trace is met within 1.2 points, and the other lower, which is open."""
    requests = trace(name)
    shares = [
        cx.kv.hits(requests, [{"name": "tier", "blocks": millions * 1_000_000 // 512}])["hit_share"]
        for millions in (1, 2, 4, 10, 50, 100)
    ]
    assert shares == pytest.approx(FOUND_9[name], abs=5e-5)
    below = [published - share for published, share in zip(FIGURE_9[name], shares, strict=True)]
    if name == "synthetic":
        assert all(0 < each < 0.0125 for each in below)  # 1.2 points, rounded
    else:
        assert all(0.026 < each < 0.037 for each in below)


def test_hits_of_the_beginning_of_a_trace() -> None:
    requests = trace("synthetic_first200")
    assert (len(requests), requests.blocks) == (200, 5330)
    lru = [found(requests, blocks) for blocks in (100, 500, 1000, 2000)]
    assert lru == [28, 95, 100, 195]
    # With room for all, what was there before is there again.
    assert found(requests, requests.distinct) == requests.blocks - requests.distinct == 323


def test_a_tier_of_another_policy_finds_no_more_than_one_of_all() -> None:
    requests = trace("conversation_first200")
    most = requests.blocks - requests.distinct
    for policy in (*POLICIES, "far"):
        assert found(requests, 400, policy) <= most
        assert found(requests, requests.distinct, policy) == most


def test_two_tiers_are_one_cut_in_two() -> None:
    requests = trace("synthetic_first200")
    tiers = [{"name": "near", "blocks": 500}, {"name": "far", "blocks": 1500}]
    exclusive = cx.kv.hits(requests, tiers, inclusion="exclusive")
    assert [exclusive["tiers"][name]["hit_blocks"] for name in ("near", "far")] == [95, 100]
    through = cx.kv.hits(requests, tiers)
    assert through["hit_blocks"] == found(requests, 1500)
    assert through["tiers"]["near"]["hit_blocks"] == 95
    back = cx.kv.hits(requests, tiers, writes="back")
    assert back["tiers"]["far"]["stored_blocks"] == 0
    assert back["tiers"]["far"]["demoted_blocks"] > 0


def test_a_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    """A cycle of three blocks in a tier of two: LRU finds nothing, and MRU every second."""
    file = write_trace(tmp_path, [(i, 512, 1, [i % 3]) for i in range(30)])
    spec = tmp_path / "serving.yaml"
    spec.write_text(
        "model: llama-3-8b\n"
        f"requests: {{trace: {file.name}}}\n"
        "servers: {flops: 100TFLOP/s, memory_bandwidth: 2TB/s}\n"
        "tiers: [{name: dram, blocks: 2, policy: lru}]\n"
    )
    library = built(PLUGINS / "most_recent_kv.cpp")

    def hits(policy: str) -> int:
        done = run(
            "kv", str(spec), "--plugin", str(library), "--json", "--set", f"tiers.dram.policy={policy}"
        )
        assert done.returncode == 0, done.stderr
        count: int = json.loads(done.stdout)["hit_blocks"]
        return count

    assert hits("lru") == 0
    assert hits("most-recent") == 14
    # Block 0 is used again and kept; the other place is for 1 and 2, which push each other out.
    assert hits("{kind: most-recent, keep: 1}") == 9
    shown = run("components", "most-recent", "--plugin", str(library))
    assert "The block that was used last leaves" in shown.stdout
    refused = run("kv", str(spec), "--plugin", str(library), "--set", "tiers.dram.policy=most-recnt")
    assert refused.returncode == 2
    assert "unknown KV policy kind 'most-recnt'" in refused.stderr
    assert "most-recent" in refused.stderr


# --- traces ---


def test_traces_may_be_compressed(tmp_path: Path) -> None:
    file = write_trace(tmp_path, [(0, 600, 5, [1, 2]), (3, 512, 5, [1])])
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    requests = cx.kv.read_requests(packed)
    assert requests[1] == {"arrival_s": 3.0, "input": 512, "output": 5, "chat": 1, "blocks": [0]}
    assert requests.distinct == 2
    with pytest.raises(IndexError):
        requests[2]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"timestamp": 0, "input_length": 5, "output_length": 5}', "a request without 'hash_ids'"),
        (
            '{"timestamp": 0, "input_length": 513, "output_length": 5, "hash_ids": [1]}',
            "does not fit 'input_length'",
        ),
        ('{"timestamp": 0, "input_len', "not JSON"),
        ('{"timestamp": -3, "input_length": 5, "output_length": 5, "hash_ids": [1]}', "'timestamp' is wrong"),
    ],
)
def test_a_line_that_is_no_request_is_refused_with_its_place(tmp_path: Path, line: str, problem: str) -> None:
    file = write_trace(tmp_path, [(0, 600, 5, [1, 2])])
    with file.open("a") as trace_file:
        trace_file.write(line + "\n")
    with pytest.raises(InputError) as raised:
        cx.kv.read_requests(file)
    assert problem in raised.value.problem
    assert (raised.value.file, raised.value.line) == (str(file), 2)


def test_a_trace_that_is_cut_off_or_empty_is_refused(tmp_path: Path) -> None:
    file = write_trace(tmp_path, [(0, 600, 5, [1, 2]), (1, 600, 5, [1, 2])])
    file.write_text(file.read_text()[:-20])
    with pytest.raises(InputError, match="cut off"):
        cx.kv.read_requests(file)
    file.write_text("\n")
    with pytest.raises(InputError, match="no requests"):
        cx.kv.read_requests(file)
    with pytest.raises(InputError, match="unknown format 'moncake'"):
        cx.kv.read_requests(file, format="moncake")


# --- the generator ---


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    params: dict[str, Any] = {"chats": 40, "rate": "1/s", "turns": 4, "system_tokens": 2000}
    one, same = (cx.kv.generate_requests(seed=3, **params) for _ in range(2))
    other = cx.kv.generate_requests(seed=4, **params)
    assert [one[i] for i in range(len(one))] == [same[i] for i in range(len(same))]
    assert [one[i] for i in range(10)] != [other[i] for i in range(10)]
    arrivals = [one[i]["arrival_s"] for i in range(len(one))]
    assert arrivals == sorted(arrivals)


def test_turns_of_a_conversation_go_on_behind_each_other() -> None:
    requests = cx.kv.generate_requests(chats=40, rate="1/s", turns=4, system_tokens=2000, block=100)
    last: dict[int, list[int]] = {}
    for i in range(len(requests)):
        request = requests[i]
        assert len(request["blocks"]) == -(-request["input"] // 100)
        if request["chat"] in last:
            before = last[request["chat"]]
            # The last block of a prompt is its own, unless it is full.
            assert request["blocks"][: len(before) - 1] == before[:-1]
        last[request["chat"]] = request["blocks"]
    # All begin with one system prompt: 20 blocks of it.
    assert len({tuple(blocks[:20]) for blocks in last.values()}) == 1
    several = cx.kv.generate_requests(chats=40, rate="1/s", system_tokens=2000, system_prompts=5, block=100)
    assert len({several[i]["blocks"][0] for i in range(len(several))}) == 5


# --- models ---


def test_the_catalogue_has_sources_and_bytes() -> None:
    assert {cx.kv.model(name).kv_bytes for name in ("llama-2-70b", "llama-3-70b")} == {327_680}
    assert all(cx.kv.models().values())
    first = cx.kv.first_token_seconds(
        "llama-3-70b", 12288, 8192, flops=8 * 312e12, bandwidth=25e9, loads="first"
    )
    assert first == pytest.approx(0.3761, abs=5e-5)
    with pytest.raises(InputError, match="unknown model"):
        cx.kv.model("llama-4")
