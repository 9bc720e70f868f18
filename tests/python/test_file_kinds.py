"""A file that another command takes: whoever gives it to the wrong one hears which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SYSTEM = """
devices: {h: {kind: host}, m: {kind: memory}}
links: [{between: [h, m]}]
address_map: [{to: m}]
workload: {h: {pattern: random, requests: 10, footprint: 4KiB}}
"""
SERVERS = """
model: llama-3-8b
requests: {generate: {chats: 2, rate: 1/s}}
servers: {flops: 100TFLOP/s, memory_bandwidth: 2TB/s}
tiers: [{name: hbm, blocks: 40}]
"""
STUDY = "title: One system\nsystem: {preset: esf/validation}\n"

OF_SYSTEMS = (("run",), ("check",), ("explain",), ("draw",), ("resolve",), ("measure", "latency"))


@pytest.mark.parametrize("command", OF_SYSTEMS)
@pytest.mark.parametrize(
    ("text", "found", "way"),
    [(SERVERS, "servers with a KV cache", "cxloom kv"), (STUDY, "a study", "cxloom study run")],
)
def test_what_is_no_system_is_led_to_its_command(
    command: tuple[str, ...], text: str, found: str, way: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    done = cxloom(command[0], file, *command[1:])
    assert done.code == 2
    assert f"{found}, and not a system" in done.err
    assert f"{way} {file}" in done.err.replace("\n", "")
    assert done.err.count("error") == 1


@pytest.mark.parametrize(
    ("text", "found", "way"), [(SYSTEM, "a system", "cxloom run"), (STUDY, "a study", "cxloom study run")]
)
def test_what_are_no_servers_is_led_to_its_command(
    text: str, found: str, way: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    done = cxloom("kv", file)
    assert done.code == 2
    assert f"{found}, and not servers with a KV cache" in done.err
    assert f"{way} {file}" in done.err.replace("\n", "")
    assert done.err.count("error") == 1


@pytest.mark.parametrize(
    ("text", "found", "way"),
    [(SYSTEM, "a system", "cxloom run"), (SERVERS, "servers with a KV cache", "cxloom kv")],
)
def test_what_is_no_study_is_led_to_its_command(
    text: str, found: str, way: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    done = cxloom("study", "run", file)
    assert done.code == 2
    assert f"{found}, and not a study" in done.err
    assert f"{way} {file}" in done.err.replace("\n", "")


ANSWERS = [
    ("explain", "esf/validation", "--json"),
    ("compare", "esf/validation", "--with", "devices.host.queue=1", "--json"),
    ("check", "esf/validation", "--json"),
    ("run", "esf/validation", "--json"),
]


@pytest.mark.parametrize("answered", ANSWERS)
def test_an_answer_is_told_as_that(
    answered: tuple[str, ...], tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """That of explain was told to be a study, and each key of the others to be unknown."""
    file = tmp_path / "answer.json"
    file.write_text(cxloom(*answered).out)
    for command, wanted in (("run", "a system"), ("cite", "a system"), ("kv", "servers with a KV cache")):
        done = cxloom(command, file)
        assert done.code == 2
        assert f"an answer of `cxloom {answered[0]}`, and not {wanted}" in " ".join(done.err.split())
        assert done.err.count("error") == 1


def test_a_summary_leads_to_the_spec_beside_it(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    folder = tmp_path / "results"
    cxloom("run", "esf/validation", "--set", "workload.host.requests=200", "--out", folder, "--quiet")
    done = cxloom("check", folder / "summary.json")
    assert done.code == 2
    assert str(folder / "spec.yaml") in done.err.replace("\n", "")


def test_a_preset_is_a_system(cxloom: Callable[..., Any]) -> None:
    done = cxloom("kv", "char/a")
    assert done.code == 2
    assert "a preset of a system" in done.err
    assert "cxloom run char/a" in done.err


def test_a_key_of_another_kind_in_a_system_is_a_key_too_many(
    tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(SYSTEM + "tiers: []\nservers: {}\ntitle: mine\n")
    done = cxloom("check", file)
    assert done.code == 2
    assert [f"unknown key '{key}'" in done.err for key in ("tiers", "servers", "title")] == [True] * 3


def test_keys_of_a_model_that_is_a_name_are_not_set(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(SERVERS)
    done = cxloom("kv", file, "--set", "model.layers=3")
    assert done.code == 2
    assert "the model is a name" in done.err
    assert "'llama-3-8b'" in done.err
    assert "--set model=NAME" in done.err
    assert "kind" not in done.err
    shape = "model={layers: 3, hidden: 1024, heads: 16}"
    assert cxloom("kv", file, "--quiet", "--set", shape, "--set", "model.layers=4").code == 0
