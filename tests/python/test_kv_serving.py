"""Servers of a language model with a KV cache in tiers: closed forms, sums, contention, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kv_support import ROOT, SERVING, write_trace

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec.override import Override

FLOPS = 8 * 312e12
PAGE = (ROOT / "docs" / "model" / "kv.md").read_text(encoding="utf-8")


def with_values(spec: dict[str, Any], **values: Any) -> dict[str, Any]:
    """A copy with other top-level values."""
    return {**json.loads(json.dumps(spec)), **values}


def alone(tmp_path: Path, bandwidth: str, **values: Any) -> Any:
    """Two requests of 12288 tokens a long time apart, whose first 8192 are the same: the second finds these."""
    first, second = list(range(24)), [*range(16), *range(100, 108)]
    trace = write_trace(tmp_path, [(0, 12288, 1, first), (100, 12288, 1, second)])
    spec = {
        "model": "llama-3-70b",
        "requests": {"trace": str(trace)},
        "servers": {"flops": "2496TFLOP/s", "memory_bandwidth": "16TB/s"},
        "tiers": [{"name": "pool", "blocks": 100, "bandwidth": bandwidth}],
        **values,
    }
    return cx.kv.serve(spec).found


@pytest.mark.parametrize(
    ("gigabytes", "first", "layers"),
    [(128, 0.2897, 0.2690), (25, 0.3761, 0.2701), (10, 0.5371, 0.2721), (2, 1.6109, 1.3455)],
)
def test_a_request_that_is_alone_takes_the_closed_form(
    tmp_path: Path, gigabytes: int, first: float, layers: float
) -> None:
    for loads, expected in (("first", first), ("layers", layers)):
        found = alone(tmp_path, f"{gigabytes}GB/s", loads=loads, recompute="never")
        times = found["ttft_s"]
        assert times["max"] == pytest.approx(max(0.7533, expected), abs=5e-5)
        assert times["min"] == pytest.approx(min(0.7533, expected), abs=5e-5)
        form = cx.kv.first_token_seconds(
            "llama-3-70b", 12288, 8192, flops=FLOPS, bandwidth=gigabytes * 1e9, loads=loads
        )
        assert 2 * times["mean"] == pytest.approx(0.75332 + form, abs=1e-4)


def test_what_is_slower_to_load_than_to_compute_is_computed(tmp_path: Path) -> None:
    found = alone(tmp_path, "2GB/s", recompute="cost", loads="first")
    assert found["ttft_s"]["max"] == pytest.approx(0.7533, abs=5e-5)
    assert found["tiers"]["pool"]["hit_tokens"] == found["tiers"]["pool"]["computed_tokens"] == 8192
    # Layer by layer a part of it hides behind the computation of the rest.
    part = alone(tmp_path, "2GB/s", recompute="cost", loads="layers")
    assert 0 < part["tiers"]["pool"]["computed_tokens"] < 8192
    assert part["ttft_s"]["min"] < 0.7533 - 0.1
    fast = alone(tmp_path, "25GB/s", recompute="cost")
    assert fast["tiers"]["pool"]["computed_tokens"] == 0


def test_the_parts_of_the_first_token_sum_to_it() -> None:
    for loads in ("first", "layers"):
        found = cx.kv.serve(with_values(SERVING, loads=loads)).found
        assert sum(found["ttft_s"]["parts"].values()) == pytest.approx(found["ttft_s"]["mean"], rel=1e-9)
        assert all(part >= 0 for part in found["ttft_s"]["parts"].values())


def test_what_is_counted_agrees() -> None:
    found = cx.kv.serve(SERVING).found
    tiers = found["tiers"].values()
    assert found["hit_tokens"] == sum(tier["hit_tokens"] for tier in tiers)
    assert sum(row["requests"] for row in found["series"]) == found["requests"]
    assert sum(server["requests"] for server in found["servers"]) == found["requests"]
    bytes_each = cx.kv.model("llama-3-8b").kv_bytes
    for tier in tiers:
        written = tier["stored_blocks"] + tier["fetched_blocks"] + tier["demoted_blocks"]
        assert tier["written_bytes"] + tier["unwritten_bytes"] == written * 128 * bytes_each
        assert tier["held_blocks"] <= tier["capacity_blocks"]
        # A token of a prompt that is there as a whole is computed, so that less is loaded than found.
        assert tier["loaded_bytes"] <= (tier["hit_tokens"] - tier["computed_tokens"]) * bytes_each
    assert all(0 <= share <= 1 for share in found["limit"]["busy"].values())


def test_one_server_finds_what_the_requests_find_without_time() -> None:
    requests = cx.kv.generate_requests(block=128, **SERVING["requests"]["generate"])
    tiers = [{"name": "near", "blocks": 60}, {"name": "far", "blocks": 300}]
    spec = with_values(SERVING, servers={**SERVING["servers"], "count": 1}, tiers=tiers)
    for inclusion in ("inclusive", "exclusive"):
        served = cx.kv.serve({**spec, "inclusion": inclusion}).found["tiers"]
        still = cx.kv.hits(
            requests, [{"name": t["name"], "blocks": t["blocks"]} for t in tiers], inclusion=inclusion
        )
        for name in ("near", "far"):
            assert served[name]["hit_blocks"] == still["tiers"][name]["hit_blocks"]
            assert served[name]["demoted_blocks"] == still["tiers"][name]["demoted_blocks"]


def test_servers_of_a_shared_tier_slow_each_other_down(tmp_path: Path) -> None:
    """Servers load 8192 tokens at the same instant: the shares of n of them take n times as long."""
    common = list(range(16))
    prompts = [(0, 8192, 1, common)]
    prompts += [(100, 12288, 1, [*common, *range(100 * i, 100 * i + 8)]) for i in range(1, 9)]
    trace = write_trace(tmp_path, prompts)
    load = 8192 * 327_680 / 25e9

    def loading(servers: int, together: str) -> float:
        spec = {
            "model": "llama-3-70b",
            "requests": {"trace": str(trace), "first": 1 + servers},
            "servers": {"count": servers, "flops": "2496TFLOP/s", "memory_bandwidth": "16TB/s"},
            "tiers": [
                {"name": "pool", "blocks": 1000, "shared": True, "bandwidth": "25GB/s", "together": together}
            ],
            "loads": "first",
            "recompute": "never",
        }
        found = cx.kv.serve(spec).found
        return float(found["ttft_s"]["parts"]["load"]) * (1 + servers)

    for servers in (1, 2, 4, 8):
        assert loading(servers, "200GB/s") == pytest.approx(servers * load, rel=1e-6)
        assert loading(servers, "25GB/s") == pytest.approx(servers * servers * load, rel=1e-6)


def test_more_servers_make_a_shared_tier_the_limit() -> None:
    """Servers that do nothing but load wait for the pool: constants for each would not show it."""
    tiers = [{"name": "cxl", "blocks": 100_000, "shared": True, "bandwidth": "1GB/s", "together": "1GB/s"}]
    chats = {
        "chats": 150,
        "rate": "5/s",
        "turns": 4,
        "pause": "5s",
        "system_tokens": 8192,
        "answer_tokens": 2,
    }
    few, many = (
        cx.kv.serve(
            with_values(
                SERVING,
                requests={"generate": chats, "block": 128},
                servers={**SERVING["servers"], "count": count},
                tiers=tiers,
                recompute="never",
            )
        ).found
        for count in (1, 8)
    )
    assert many["limit"]["resource"] == "reads of cxl"
    assert many["limit"]["busy"]["reads of cxl"] > 0.9
    assert many["limit"]["busy"]["compute"] < few["limit"]["busy"]["compute"]


def test_runs_repeat() -> None:
    first, second = (cx.kv.serve(SERVING).found for _ in range(2))
    assert first == second


def test_decoding_takes_the_longer_of_memory_and_operations(tmp_path: Path) -> None:
    """A request alone: each token reads all weights and what is cached of it."""
    trace = write_trace(tmp_path, [(0, 1024, 101, [1, 2])])
    spec = {
        "model": "llama-3-8b",
        "requests": {"trace": str(trace)},
        "servers": {"flops": "1000TFLOP/s", "memory_bandwidth": "1TB/s"},
        "tiers": [],
    }
    found = cx.kv.serve(spec).found
    shape = cx.kv.model("llama-3-8b")
    read = shape.weight_bytes + (1024 + 99 / 2) * shape.kv_bytes
    assert found["time_per_token_s"]["mean"] == pytest.approx(read / 1e12, rel=1e-6)
    assert found["tokens_per_s"] == pytest.approx(101 / found["time_s"])


# --- the command, and what it refuses ---

BLOCK = PAGE[PAGE.index("```yaml\n") + 8 :].split("```")[0]


def test_the_example_of_the_page_runs(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "pool.yaml").write_text(BLOCK)
    done = cxloom("kv", str(tmp_path / "pool.yaml"), "--set", "requests.generate.chats=30")
    assert done.code == 0
    assert "The first token waits for: queue" in done.out
    out = tmp_path / "found.json"
    done = cxloom("kv", str(tmp_path / "pool.yaml"), "--json", "--out", str(out), "--set", "servers.count=1")
    found = json.loads(done.out)
    assert found == json.loads(out.read_text())
    assert len(found["servers"]) == 1
    assert found["tiers"].keys() == {"hbm", "dram", "cxl"}


@pytest.mark.parametrize(
    ("written", "changed", "line", "said"),
    [
        ("llama-3-70b", "llama-3-7b", 2, "unknown model 'llama-3-7b'"),
        ("servers: {count: 2,", "servers: {cuont: 2,", 4, "unknown key 'cuont'"),
        ("servers: {count: 2,", "servers: {count: 0,", 4, "at least 1"),
        ("2496TFLOP/s", "2496", 4, "a rate such as 312TFLOP/s"),
        ("policy: s3-fifo", "policy: s4-fifo", 7, "unknown KV policy kind 's4-fifo'"),
        ("policy: s3-fifo", "policy: {kind: s3-fifo, small: 2}", 7, "at most 1"),
        ("capacity: 128GiB, ", "", 7, "a tier has a capacity"),
        ("name: dram", "name: hbm", 5, "two tiers have one name"),
        ("{name: hbm,", "{name: hbm, shared: true,", 5, "a tier that servers share is in front"),
        ("latency: 1us}", "latency: 1us, together: 5GB/s}", 7, "no effect"),
        (
            "generate: {chats: 200",
            "trace: no.jsonl, generate: {chats: 200",
            3,
            "either of a trace or generated",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    tmp_path: Path, written: str, changed: str, line: int, said: str
) -> None:
    assert written in BLOCK
    file = tmp_path / "pool.yaml"
    file.write_text(BLOCK.replace(written, changed))
    with pytest.raises(InputError) as raised:
        cx.kv.serve(file)
    error = raised.value
    assert said in f"{error.problem} {error.allowed}"
    assert (str(error.file), error.line) == (str(file), line)


def test_a_trace_is_found_beside_the_file_and_its_errors_are_in_it(
    cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    trace = write_trace(tmp_path, [(0, 600, 5, [1, 2])])
    start, end = BLOCK.index("requests:"), BLOCK.index("servers:")
    file = tmp_path / "pool.yaml"
    file.write_text(BLOCK[:start] + f"requests: {{trace: {trace.name}}}\n" + BLOCK[end:])
    assert cx.kv.serve(file).found["requests"] == 1
    trace.write_text(trace.read_text() + '{"timestamp": 1}\n')
    done = cxloom("kv", str(file))
    assert done.code == 2
    assert f"{trace}:2" in done.err.replace("\n", "")
    trace.unlink()
    assert "no such file" in cxloom("kv", str(file)).err


def test_values_are_set_by_the_names_of_tiers(tmp_path: Path) -> None:
    overrides = [Override.parse("tiers.cxl.blocks=100"), Override.parse("servers.count=1")]
    found = cx.kv.serve(SERVING, overrides=overrides).found
    assert found["tiers"]["cxl"]["capacity_blocks"] == 100
    with pytest.raises(InputError, match="a path that matches nothing"):
        cx.kv.serve(SERVING, overrides=[Override.parse("tiers.cxk.blocks=100")])
    with pytest.raises(InputError, match="conversation"):
        cx.kv.serve(
            with_values(SERVING, servers={**SERVING["servers"], "assign": "chat"}),
            requests=cx.kv.read_requests(write_trace(tmp_path, [(0, 600, 5, [1, 2])])),
        )


def test_values_are_set_by_the_places_of_tiers_as_errors_have_them() -> None:
    found = cx.kv.serve(SERVING, overrides=[Override.parse("tiers[2].blocks=100")]).found
    assert found["tiers"]["cxl"]["capacity_blocks"] == 100
    with pytest.raises(InputError) as caught:
        cx.kv.serve(SERVING, overrides=[Override.parse("tiers[2].bandwidth=0GB/s")])
    assert caught.value.path == "tiers[2].bandwidth"
    with pytest.raises(InputError, match="hbm, dram, cxl"):
        cx.kv.serve(SERVING, overrides=[Override.parse("tiers[3].blocks=100")])
