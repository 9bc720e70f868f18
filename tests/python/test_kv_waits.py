"""What a serving run books as waiting, calls its limit and lets be found: of writes, shared tiers and latencies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kv_support import SERVING, write_trace

import cxloom as cx

SERVER = {"flops": "2496TFLOP/s", "memory_bandwidth": "16TB/s"}
TOKEN = 327_680
"""Bytes of a token of llama-3-70b."""


def chats(rate: str, count: int, **values: Any) -> dict[str, Any]:
    """Requests that are drawn."""
    drawn = {"chats": count, "rate": rate, "turns": 4, "pause": "10s", "system_tokens": 2048}
    return {"generate": {**drawn, **values}}


def serve(requests: Any, tiers: list[dict[str, Any]], count: int = 1, **values: Any) -> Any:
    """What a run of these requests finds."""
    spec = {
        "model": "llama-3-70b",
        "requests": requests,
        "servers": {**SERVER, "count": count},
        "tiers": tiers,
        **values,
    }
    return cx.kv.serve(spec).found


def tier(**values: Any) -> dict[str, Any]:
    """A tier with room for all."""
    return {"name": "cxl", "blocks": 20_000, **values}


# --- writes ---


@pytest.mark.parametrize(("later", "found"), [(1.5, 0), (2.5, 8192)])
def test_blocks_are_found_when_their_write_is_done(tmp_path: Path, later: float, found: int) -> None:
    """8192 tokens at 2 GB/s are written 1.34 s behind the prefill, which takes .47 s."""
    prompt = list(range(16))
    trace = write_trace(tmp_path, [(0, 8192, 1, prompt), (later, 8192, 1, prompt)])
    slow = serve({"trace": str(trace)}, [tier(bandwidth="2GB/s")], recompute="never")
    assert slow["hit_tokens"] == found
    near = serve({"trace": str(trace)}, [tier()], recompute="never")
    assert near["hit_tokens"] == 8192


def test_the_write_of_the_last_request_is_not_behind(tmp_path: Path) -> None:
    """At 128 GB/s each write ends before the next prompt is there, but the last is under way where the run ends."""
    prompts = [(0, 8192, 1, list(range(16))), (100, 12288, 1, list(range(24)))]
    found = serve({"trace": str(write_trace(tmp_path, prompts))}, [tier(bandwidth="128GB/s")])
    assert found["tiers"]["cxl"]["unwritten_bytes"] == 4096 * TOKEN
    assert not found["notes"]


def test_no_more_is_written_than_the_way_moves_and_what_is_left_is_said() -> None:
    shares = []
    for gigabytes in (0.1, 1, 100):
        found = serve(chats("1/s", 40), [tier(bandwidth=f"{gigabytes}GB/s")])
        cxl = found["tiers"]["cxl"]
        blocks = cxl["stored_blocks"] + cxl["fetched_blocks"] + cxl["demoted_blocks"]
        assert cxl["written_bytes"] <= gigabytes * 1e9 * found["time_s"]
        assert cxl["written_bytes"] + cxl["unwritten_bytes"] == blocks * 512 * TOKEN
        assert (gigabytes < 1) == any("Writes to cxl fall behind" in note for note in found["notes"])
        shares.append(found["hit_share"])
    assert shares[0] < shares[1] < shares[2]


def test_writes_limit_nothing_as_nobody_waits_for_them() -> None:
    found = serve(chats("0.2/s", 30), [{"name": "hbm", "blocks": 5000}, tier(bandwidth="0.1GB/s")])
    assert found["limit"]["busy"]["writes to cxl"] > 0.9
    assert found["limit"]["busiest"] == "compute"


# --- the limit ---


def test_a_shared_tier_is_as_full_as_what_it_moves() -> None:
    """Each of many servers loads now and then: the pool, which could serve all at once, has much left."""
    found = serve(
        chats("16/s", 400), [tier(shared=True, bandwidth="25GB/s", together="400GB/s")], 16, loads="first"
    )
    busy, length = found["limit"]["busy"], found["time_s"]
    moved = found["tiers"]["cxl"]["loaded_bytes"]
    assert busy["reads of cxl"] == pytest.approx(moved / 400e9 / length, rel=1e-6)
    assert busy["each server's reads of cxl"] == pytest.approx(moved / 25e9 / 16 / length, rel=1e-6)
    assert found["tiers"]["cxl"]["read_busy"] == busy["reads of cxl"] < 0.3
    free = serve(
        chats("16/s", 400), [tier(shared=True, bandwidth="25GB/s", together="unlimited")], 16, loads="first"
    )
    assert free["limit"]["busy"]["reads of cxl"] == 0
    assert not free["limit"]["resource"].endswith("reads of cxl")


def test_a_server_that_stands_still_for_loads_is_not_idle() -> None:
    """Each layer waits 10 ms for a tier that moves little: the latency is what requests wait for."""
    burst = chats("200/s", 40, answer_tokens=1)
    found = serve(burst, [tier(bandwidth="1TB/s", latency="10ms")], recompute="never")
    limit = found["limit"]
    assert limit["busy"]["reads of cxl"] < 0.05
    assert limit["resource"] == "waiting for cxl"
    assert limit["occupied"] == pytest.approx(
        limit["busy"]["compute"] + limit["busy"]["waiting for cxl"], rel=1e-9
    )
    stalls = found["ttft_s"]["parts"]["load"] * found["requests"]
    assert limit["busy"]["waiting for cxl"] == pytest.approx(stalls / found["time_s"], rel=1e-6)
    # Where bandwidth is what lacks, the way has the name.
    slow = serve(burst, [tier(bandwidth="2GB/s")], recompute="never", loads="first")
    assert slow["limit"]["resource"] == "reads of cxl"
    # And where there is little to do, arrivals.
    assert serve(chats("0.01/s", 20), [tier()])["limit"]["resource"] == "arrivals"


# --- parts and rows ---


def test_waiting_for_a_step_of_decoding_is_no_load() -> None:
    for loads in ("first", "layers"):
        parts = serve(chats("0.5/s", 30), [], loads=loads)["ttft_s"]["parts"]
        assert parts["load"] == 0
        assert parts["queue"] > 0


def test_rows_begin_with_the_first_arrival_and_the_last_is_as_long_as_it_is(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, [(5000 + i, 1000, 50, [0, i + 1]) for i in range(10)])
    found = serve({"trace": str(trace)}, [], every="4s")
    rows = found["series"]
    assert [row["until_s"] for row in rows] == [4, 8, found["time_s"]]
    ends = [0, *(row["until_s"] for row in rows)]
    made = sum(row["tokens_per_s"] * (b - a) for row, a, b in zip(rows, ends, ends[1:], strict=False))
    assert made == pytest.approx(500)


def test_a_row_has_no_more_loaded_than_the_tier_gives() -> None:
    """A load of a prefix lies in the rows in which it goes on, and not where it was asked for."""
    found = serve(
        chats("1/s", 60), [tier(bandwidth="2GB/s")], recompute="never", loads="first", every="200ms"
    )
    rates = [row["loaded_gb_per_s"]["cxl"] for row in found["series"]]
    assert max(rates) == pytest.approx(2, rel=1e-6)
    ends = [0, *(row["until_s"] for row in found["series"])]
    loaded = sum(rate * (b - a) for rate, a, b in zip(rates, ends, ends[1:], strict=False))
    assert loaded * 1e9 == pytest.approx(found["tiers"]["cxl"]["loaded_bytes"], rel=1e-6)


def test_the_sentence_says_what_was_found_and_what_was_loaded() -> None:
    served = cx.kv.serve({**SERVING, "servers": {**SERVING["servers"], "flops": "1000TFLOP/s"}})
    found = served.found
    computed = sum(each["computed_tokens"] for each in found["tiers"].values())
    assert computed > 0
    assert found["loaded_share"] == pytest.approx((found["hit_tokens"] - computed) / found["prompt_tokens"])
    assert f"{100 * found['loaded_share']:.1f} % are loaded" in served.sentence
