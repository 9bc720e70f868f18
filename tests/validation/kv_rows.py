"""Parameters of serving with a KV cache, and of the policies of its tiers: what turning each changes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from validation.systems import Spec, changed
from validation.turns import DIFFERS, FALLS, RISES, Turn

import cxloom as cx

Found = Mapping[str, Any]

CHATS: Spec = {"chats": 40, "rate": "4/s", "turns": 3, "pause": "4s", "system_tokens": 1024}
MODEL: Spec = {"layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 8, "vocabulary": 32000}
BASE: Spec = {
    "name": "turned",
    "model": MODEL,
    "requests": {"generate": CHATS, "block": 64},
    "servers": {"count": 2, "flops": "20TFLOP/s", "memory_bandwidth": "500GB/s", "batch": 8},
    "tiers": [
        {"name": "near", "blocks": 40, "bandwidth": "10GB/s"},
        {"name": "far", "blocks": 200, "shared": True, "bandwidth": "3GB/s", "together": "4GB/s"},
    ],
}


def played(spec: Spec, _feeds: Any = None) -> Any:
    """The result of a run."""
    return cx.kv.serve(spec).to_json()


def of_trace(spec: Spec, _feeds: Any = None) -> Any:
    """The same of a trace, which stands where the spec has its lines."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.jsonl"
        written = spec["requests"]["trace"]
        file.write_text("".join(json.dumps(line) + "\n" for line in written))
        return played(changed(spec, ("requests.trace", str(file))))


def measure(*path: str) -> Callable[[Any], Any]:
    """A value of the result."""

    def of(found: Any) -> Any:
        for key in path:
            found = found[key]
        return found

    return of


FIRST, HITS, TIME = measure("ttft_s", "mean"), measure("hit_share"), measure("time_s")
LOAD = measure("ttft_s", "parts", "load")
COMPUTE = measure("ttft_s", "parts", "compute")
TOKEN = measure("time_per_token_s", "mean")


def lines(block: int, **more: Any) -> list[Spec]:
    """A trace of a few requests, all of one prefix."""
    return [
        {"timestamp": 2 * i, "input_length": 4 * block, "output_length": 3, "hash_ids": [1, 2, 3, 10 + i]}
        | more
        for i in range(6)
    ]


def turn(parameter: str, path: str, values: tuple[Any, Any], effect: Any, of: Any, base: Spec = BASE) -> Turn:
    """A row."""
    return Turn(parameter, base, path, values, effect, of, play=played)


def request_rows() -> Iterator[Turn]:
    """Where requests come from."""
    key, path = "kv.requests", "requests"
    yield turn(key, "requests.generate.chats", (20, 60), RISES, measure("requests"))
    yield turn(f"{key}.generate", "requests.generate.chats", (20, 60), RISES, measure("requests"))
    yield turn(f"{key}.first", f"{path}.first", (10, 30), RISES, measure("requests"))
    yield turn(f"{key}.speed", f"{path}.speed", (1, 4), FALLS, TIME)
    yield turn(
        f"{key}.block",
        f"{path}.block",
        (64, 512),
        FALLS,
        HITS,
        changed(BASE, ("tiers", [{"name": "all", "blocks": 100000}])),
    )
    made = f"{path}.generate"
    for name, values, effect, of in (
        ("chats", (20, 60), RISES, measure("requests")),
        ("rate", ("1/s", "8/s"), FALLS, TIME),
        ("turns", (1, 5), RISES, measure("requests")),
        ("pause", ("1s", "20s"), RISES, TIME),
        ("system_prompts", (1, 50), FALLS, HITS),
        ("system_tokens", (512, 4096), RISES, measure("prompt_tokens")),
        ("question_tokens", (100, 2000), RISES, measure("prompt_tokens")),
        ("answer_tokens", (50, 500), RISES, TIME),
    ):
        yield turn(f"{key}.generate.{name}", f"{made}.{name}", values, effect, of)
    traced = changed(BASE, ("requests", {"trace": lines(512)}))
    yield Turn(
        f"{key}.trace",
        traced,
        f"{path}.trace",
        (lines(512), lines(512)[:3]),
        FALLS,
        measure("requests"),
        play=of_trace,
    )
    both = lines(16, chat_id=1, parent_chat_id=-1, turn=1)
    forms = changed(BASE, ("requests", {"trace": both, "block": 16}))
    # What one form has in milliseconds the other has in seconds.
    yield Turn(
        f"{key}.format", forms, f"{path}.format", ("mooncake", "qwen-bailian"), RISES, TIME, play=of_trace
    )


def server_rows() -> Iterator[Turn]:
    """Servers."""
    key, path = "kv.servers", "servers"
    yield turn(key, f"{path}.count", (1, 4), FALLS, FIRST)
    yield turn(f"{key}.count", f"{path}.count", (1, 4), FALLS, FIRST)
    yield turn(f"{key}.flops", f"{path}.flops", ("20TFLOP/s", "80TFLOP/s"), FALLS, COMPUTE)
    yield turn(f"{key}.memory_bandwidth", f"{path}.memory_bandwidth", ("200GB/s", "2TB/s"), FALLS, TOKEN)
    yield turn(f"{key}.batch", f"{path}.batch", (1, 8), FALLS, measure("ttft_s", "parts", "queue"))
    alone = changed(BASE, ("tiers", [{"name": "own", "blocks": 400}]))
    # A conversation that stays at a server finds there what it has said.
    yield turn(f"{key}.assign", f"{path}.assign", ("in-turn", "chat"), RISES, HITS, alone)


def tier_rows() -> Iterator[Turn]:
    """Tiers."""
    key, far = "kv.tiers", "tiers.1"
    slow = changed(BASE, ("recompute", "never"), ("loads", "first"))
    yield turn(key, "tiers", (BASE["tiers"][:1], BASE["tiers"]), RISES, HITS)
    renamed = [{**BASE["tiers"][0], "name": "other"}, BASE["tiers"][1]]
    yield turn(f"{key}.name", "tiers", (BASE["tiers"], renamed), DIFFERS, lambda found: list(found["tiers"]))
    yield turn(f"{key}.blocks", f"{far}.blocks", (100, 800), RISES, HITS)
    held = changed(BASE, ("tiers", [{"name": "own", "capacity": "100MiB"}]))
    yield turn(f"{key}.capacity", "tiers.0.capacity", ("100MiB", "800MiB"), RISES, HITS, held)
    yield turn(f"{key}.policy", f"{far}.policy", ("fifo", "far"), RISES, HITS)
    own = {"name": "far", "blocks": 200, "bandwidth": "3GB/s"}
    pair = changed(BASE, ("tiers.1", own))
    yield turn(f"{key}.shared", f"{far}.shared", (False, True), DIFFERS, HITS, pair)
    yield turn(f"{key}.bandwidth", f"{far}.bandwidth", ("1GB/s", "4GB/s"), FALLS, LOAD, slow)
    yield turn(f"{key}.together", f"{far}.together", ("1GB/s", "8GB/s"), FALLS, LOAD, slow)
    yield turn(f"{key}.latency", f"{far}.latency", ("0ns", "5ms"), RISES, LOAD, slow)


def fabric_rows() -> Iterator[Turn]:
    """A fabric that the blocks move over: two servers and two pools, each near one time and far another."""
    framed = {"header": "24B", "data_header": "24B", "port_delay": "20ns"}
    engine = {"kind": "gpu", "peer_to_peer": True, "streams": 2, "posted": 1024}
    pool = {"kind": "memory", "capacity": "64GiB"}
    ends = {"host": "64GB/s", "gpu[*]": "28GB/s", "slow[*]": "4GB/s", "near": "28GB/s", "far": "2GB/s"}
    fabric = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch"},
            "gpu[0-1]": engine,
            "slow[0-1]": engine,
            "near": pool,
            "far": pool,
        },
        "links": [
            {"between": [end, "sw"], "bandwidth": bandwidth, **framed} for end, bandwidth in ends.items()
        ],
        "address_map": [{"to": "near"}, {"to": "far"}],
    }
    base = changed(
        BASE,
        ("fabric", fabric),
        ("servers.devices", ["gpu0", "gpu1"]),
        ("tiers", [{"name": "pool", "blocks": 400, "shared": True, "devices": ["near"]}]),
        ("recompute", "never"),
        ("loads", "first"),
    )
    yield turn("kv.fabric", "fabric.links.3.bandwidth", ("2GB/s", "28GB/s"), FALLS, LOAD, base)
    yield turn("kv.tiers.devices", "tiers.0.devices", (["far"], ["near"]), FALLS, LOAD, base)
    behind = (["slow0", "slow1"], ["gpu0", "gpu1"])
    yield turn("kv.servers.devices", "servers.devices", behind, FALLS, LOAD, base)


def run_rows() -> Iterator[Turn]:
    """What holds for all."""
    yield turn("kv.name", "name", ("one", "other"), DIFFERS, measure("name"))
    yield turn("kv.model", "model.layers", (16, 32), RISES, COMPUTE)
    # From a shared tier a block leaves to one server, and others do not find it.
    alone = changed(BASE, ("servers.count", 1))
    yield turn("kv.inclusion", "inclusion", ("inclusive", "exclusive"), RISES, HITS, alone)
    yield turn("kv.writes", "writes", ("through", "back"), FALLS, measure("tiers", "far", "stored_blocks"))
    slow = changed(BASE, ("recompute", "never"))
    yield turn("kv.loads", "loads", ("first", "layers"), FALLS, LOAD, slow)
    slower = changed(BASE, ("tiers.1.bandwidth", "100MB/s"), ("tiers.1.together", "200MB/s"))
    yield turn("kv.recompute", "recompute", ("never", "cost"), FALLS, FIRST, slower)
    yield turn("kv.every", "every", ("5s", "1s"), RISES, lambda found: len(found["series"]))
    yield turn("kv.seed", "seed", (1, 2), DIFFERS, TIME)


def model_rows() -> Iterator[Turn]:
    """The shape of a model: weights are computed with and read for each token, blocks are loaded."""
    slow = changed(BASE, ("recompute", "never"), ("loads", "first"))
    latent = changed(slow, ("model.latent", 256))
    for name, values, effect, of, base in (
        ("family", ("gpt2", "llama"), RISES, COMPUTE, BASE),
        ("layers", (16, 32), RISES, COMPUTE, BASE),
        ("hidden", (1024, 2048), RISES, COMPUTE, BASE),
        ("ffn", (4096, 16384), RISES, COMPUTE, BASE),
        ("heads", (16, 32), RISES, COMPUTE, changed(BASE, ("model.head_width", 128))),
        ("kv_heads", (4, 16), RISES, LOAD, slow),
        ("head_width", (64, 256), RISES, COMPUTE, BASE),
        ("vocabulary", (1000, 200_000), RISES, TOKEN, BASE),
        ("latent", (0, 256), FALLS, LOAD, slow),
        ("rope", (0, 1024), RISES, LOAD, latent),
        ("parameters", (1e8, 4e9), RISES, TOKEN, BASE),
        ("active", (1e8, 4e9), RISES, COMPUTE, BASE),
        ("value_bytes", (1, 4), RISES, LOAD, slow),
    ):
        yield turn(f"kv_model.{name}", f"model.{name}", values, effect, of, base)


def policy_rows() -> Iterator[Turn]:
    """Policies of tiers."""
    one = changed(BASE, ("tiers", [{"name": "own", "blocks": 60, "policy": {"kind": "s3-fifo"}}]))
    at = "tiers.0.policy"
    yield turn("kv_policies.s3-fifo.small", f"{at}.small", (0.1, 0.9), DIFFERS, HITS, one)
    yield turn("kv_policies.s3-fifo.ghost", f"{at}.ghost", (0.0, 4.0), DIFFERS, HITS, one)
    far = changed(one, ("servers.count", 1), (at, {"kind": "far"}))
    yield turn("kv_policies.far.equals", f"{at}.equals", ("first", "last"), RISES, HITS, far)


def kv_rows() -> Iterator[Turn]:
    """All of them."""
    yield from request_rows()
    yield from server_rows()
    yield from tier_rows()
    yield from fabric_rows()
    yield from run_rows()
    yield from model_rows()
    yield from policy_rows()
