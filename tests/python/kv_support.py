"""What tests of KV caches share: traces, if they are here, and small serving runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

ROOT = Path(__file__).parents[2]
TRACES = Path(os.environ.get("CXLOOM_TRACES", ROOT.parent / "shared" / "data"))
"""The folder of the traces, which the repository does not have."""


def trace(name: str) -> cx.kv.Requests:
    """A trace of Mooncake's; the test is skipped where it is not here."""
    file = TRACES / f"mooncake_{name}.jsonl"
    if not file.exists():
        pytest.skip(
            f"{file.name} is not here: CXLOOM_TRACES names the folder of Mooncake's traces (FAST25-release)"
        )
    return cx.kv.read_requests(file)


def write_trace(
    folder: Path, prompts: list[tuple[float, int, int, list[int]]], name: str = "t.jsonl"
) -> Path:
    """A trace of requests: seconds, tokens in and out, and hashes."""
    lines = [
        {"timestamp": round(1000 * at), "input_length": tokens, "output_length": out, "hash_ids": hashes}
        for at, tokens, out, hashes in prompts
    ]
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


CHATS: dict[str, Any] = {"chats": 60, "rate": "2/s", "turns": 3, "pause": "5s", "system_tokens": 2048}

SERVING: dict[str, Any] = {
    "name": "small",
    "model": "llama-3-8b",
    "requests": {"generate": CHATS, "block": 128},
    "servers": {"count": 2, "flops": "100TFLOP/s", "memory_bandwidth": "2TB/s", "batch": 16},
    "tiers": [
        {"name": "hbm", "blocks": 40},
        {"name": "dram", "blocks": 120, "bandwidth": "20GB/s", "latency": "2us"},
        {
            "name": "cxl",
            "blocks": 600,
            "shared": True,
            "bandwidth": "10GB/s",
            "together": "15GB/s",
            "latency": "3us",
        },
    ],
}
"""Two servers with a KV cache in three tiers, which all have work."""
