"""The JSON Schema of files of KV caches: it accepts what the core accepts, and refuses what an editor can see."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from kv_support import ROOT

import cxloom as cx
from cxloom import _core
from cxloom.kv import spec as kv_spec
from cxloom.spec import read_file, read_text
from cxloom.spec.jsonschema import KV_QUANTITIES, kv_schema

BASE = """\
model: llama-3-8b
requests: {generate: {chats: 4, rate: 1/s}}
servers: {flops: 100TFLOP/s, memory_bandwidth: 1TB/s}
tiers: [{name: hbm, capacity: 1GiB}]
"""


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(kv_schema())
    return Draft202012Validator(kv_schema())


def complaints(validator: Draft202012Validator, text: str) -> list[str]:
    return [error.message for error in validator.iter_errors(read_text(text).plain())]


def test_the_command_prints_it(cxloom: Callable[..., Any]) -> None:
    assert json.loads(cxloom("schema", "kv").out) == kv_schema()
    wrong = cxloom("schema", "vk")
    assert wrong.code == 2
    assert "spec, kv" in wrong.err


def test_it_accepts_what_pages_show(validator: Draft202012Validator) -> None:
    shown = []
    for name in ("docs/kv.md", "docs/model/kv.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        shown += [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "tiers:" in block]
    assert len(shown) == 2
    for text in shown:
        assert complaints(validator, text) == []


@pytest.mark.parametrize("name", ["pool", "tiers"])
def test_it_accepts_what_studies_run(validator: Draft202012Validator, name: str) -> None:
    study = read_file(ROOT / "studies" / "kv" / f"{name}.yaml").plain()
    assert isinstance(study, dict)
    assert [error.message for error in validator.iter_errors(study["kv"])] == []


@pytest.mark.parametrize(
    "line",
    [
        "inclusion: exclusive",
        "seed: 7",
        "every: 1s",
        "model: {layers: 2, hidden: 64, heads: 4}",
        "model: {family: opt, layers: 2, hidden: 64, heads: 4, kv_heads: 2, parameters: 1e9}",
        "requests: {trace: t.jsonl, format: qwen-bailian, first: 5, speed: 2}",
        "requests: {generate: {chats: 4, rate: 6/min, turns: 2.5}}",
        "tiers: [{name: a, blocks: 5, policy: s3-fifo}, {name: b, blocks: 5, policy: {kind: lru}, shared: true}]",
        "servers: {flops: 1.5PFLOP/s, memory_bandwidth: 1TB/s, assign: chat, batch: 3}",
        "loads: first",
        "fabric: rack.yaml",
    ],
)
def test_what_it_accepts_the_core_accepts(validator: Draft202012Validator, line: str) -> None:
    key = line.split(":")[0]
    kept = "".join(f"{each}\n" for each in BASE.splitlines() if each.split(":")[0] != key)
    text = f"{kept}{line}\n"
    assert complaints(validator, text) == []
    if key != "fabric":  # there is no such file
        few = cx.kv.generate_requests(chats=2, rate="1/s", turns=2)
        cx.kv.serving.serve_tree(kv_spec.with_values(read_text(text), []), requests=few)


@pytest.mark.parametrize(
    "line",
    [
        "modle: llama-3-8b",
        "model: llama-4",
        "model: {layers: 2, hidden: 64}",
        "requests: {generate: {chats: 4, rate: 1}}",
        "requests: {generate: {chats: 0, rate: 1/s}}",
        "requests: {trace: t.jsonl, format: moon}",
        "servers: {memory_bandwidth: 1TB/s}",
        "servers: {flops: 100TB/s, memory_bandwidth: 1TB/s}",
        "servers: {flops: 1TFLOP/s, memory_bandwidth: 1TB/s, count: 0}",
        "tiers: [{capacity: 1GiB}]",
        "tiers: [{name: hbm, capacity: 1}]",
        "tiers: [{name: hbm, capacity: 1GiB, policy: lur}]",
        "tiers: [{name: hbm, capacity: 1GiB, latncy: 1us}]",
        "writes: throguh",
        "fabric: {devices: {host: {kind: hots}}}",
        "fabric: {devices: {host: {kind: host}}, workload: {host: {pattern: random}}}",
    ],
)
def test_it_refuses_what_the_core_refuses(validator: Draft202012Validator, line: str) -> None:
    key = line.split(":")[0]
    text = "".join(f"{each}\n" for each in BASE.splitlines() if each.split(":")[0] != key) + line
    assert complaints(validator, text) != []
    with pytest.raises(cx.InputError):
        cx.kv.serving.serve_tree(kv_spec.with_values(read_text(text), []))


def test_every_declared_key_is_described(validator: Draft202012Validator) -> None:
    def compare(fields: list[dict[str, Any]], properties: dict[str, Any]) -> int:
        count = 0
        for field in fields:
            about = properties[field["name"]]
            assert field["doc"] in about["description"]
            below = about.get("items", about)
            count += 1 + (compare(field["fields"], below["properties"]) if field["fields"] else 0)
        return count

    assert compare(_core.declarations()["kv"]["fields"], kv_schema()["properties"]) > 40


@pytest.mark.parametrize(
    ("kind", "text", "right"),
    [
        ("flop rate", "312TFLOP/s", True),
        ("flop rate", "1e12FLOP/s", True),
        ("flop rate", "3TFLOP", False),
        ("flop rate", "1.5 PFLOP/s", True),
        ("flop rate", "1FLOP/s", True),
        ("request rate", "0.1/s", True),
        ("request rate", "6/min", True),
        ("request rate", "2/h", True),
        ("request rate", "2k/s", True),
        ("request rate", "unlimited", True),
        ("request rate", "2/day", False),
        ("request rate", "2", False),
    ],
)
def test_rates_are_written_as_the_core_reads_them(kind: str, text: str, right: bool) -> None:
    assert (re.search(KV_QUANTITIES[kind][0], text) is not None) == right
    line = f"servers: {{flops: '{text}', memory_bandwidth: 1TB/s}}\n"
    if kind == "request rate":
        line = f"requests: {{generate: {{chats: 4, rate: '{text}'}}}}\n"
    key = line.split(":")[0]
    spec = "".join(f"{each}\n" for each in BASE.splitlines() if each.split(":")[0] != key) + line
    plain: Any = read_text(spec).plain()

    def read() -> None:
        _core.kv_requests_of(plain)
        _core.kv_generate(plain["requests"]["generate"], 512, 1)

    if right:
        read()
    else:
        with pytest.raises(cx.InputError, match="rate"):
            read()
