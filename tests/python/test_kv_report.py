"""The page of servers with a KV cache: what stands on it, in a browser too, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from browser import PROGRAM, Browser
from page_faults import faults
from test_report import Page

import cxloom as cx
from cxloom.kv.serving import Served
from cxloom.report.serving_page import serving_page, shares_of_prompts

TIERS = [
    {"name": "hbm", "capacity": "8GiB"},
    {"name": "dram", "capacity": "32GiB", "bandwidth": "20GB/s", "latency": "1us"},
    {"name": "cxl", "capacity": "256GiB", "shared": True, "bandwidth": "5GB/s", "latency": "2us"},
]
SPEC: dict[str, Any] = {
    "name": "A <b>pool</b> of 'two'",
    "model": "llama-3-70b",
    "requests": {
        "generate": {"chats": 60, "rate": "0.5/s", "turns": 4, "pause": "10s", "system_tokens": 2048}
    },
    "servers": {"count": 2, "flops": "2496TFLOP/s", "memory_bandwidth": "16TB/s"},
    "tiers": TIERS,
    "every": "20s",
}
FABRIC = {
    "devices": {
        "host": {"kind": "host"},
        "gpu[0-1]": {"kind": "gpu", "peer_to_peer": True, "streams": 2, "posted": 1024},
        "sw": {"kind": "switch"},
        "pool": {"kind": "memory", "capacity": "1TiB"},
    },
    "links": [
        {"between": ["host", "sw"], "phy": "pcie4-x16", "flit": "none"},
        {"between": ["gpu[*]", "sw"], "phy": "pcie4-x16", "flit": "none"},
        {"between": ["sw", "pool"], "phy": "pcie4-x16", "flit": "none"},
    ],
    "address_map": [{"to": "pool"}],
}
PLOTS = ("found", "loaded", "parts", "sources", "busy")


@pytest.fixture(scope="module")
def served() -> Served:
    return cx.kv.serve(SPEC)


def test_tokens_of_prompts_come_from_one_place_each(served: Served) -> None:
    """What was found and loaded is of its tier; all else was computed, which is 1 less the share that is loaded."""
    shares = shares_of_prompts(served.found)
    assert list(shares) == ["hbm", "dram", "cxl", "computed"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["computed"] == pytest.approx(1 - served.found["loaded_share"])
    assert sum(1 for share in shares.values() if share > 0.02) >= 3


def test_the_page_is_whole_and_says_what_was_found(served: Served) -> None:
    text = serving_page(served)
    Page(text)
    assert "<title>A &lt;b&gt;pool&lt;/b&gt; of &#x27;two&#x27;</title>" in text
    assert served.sentence.replace("'", "&#x27;") in text
    for name in PLOTS:
        assert text.count(f'id="{name}"') == 1
    for name in ("hbm", "dram", "cxl"):
        assert f">{name}</td>" in text
    assert "The fabric" not in text
    (plotted,) = (json.loads(part.split("</script>")[0]) for part in text.split('data-plot="found">')[1:])
    by_name = {trace["name"]: trace for trace in plotted["data"]}
    rows = served.found["series"]
    assert by_name["first token"]["y"] == [
        None if each["ttft_s"] is None else 1000 * each["ttft_s"] for each in rows
    ]
    assert by_name["dram"]["y"] == [
        None if (share := each["hit_shares"]["dram"]) is None else 100 * share for each in rows
    ]


def test_a_run_of_one_row_has_no_course() -> None:
    text = serving_page(cx.kv.serve(SPEC | {"every": "3600s"}))
    assert 'id="found"' not in text
    assert 'id="sources"' in text


def test_a_fabric_has_its_loads_and_the_error_of_its_rates() -> None:
    pool = {"name": "cxl", "capacity": "256GiB", "shared": True, "devices": ["pool"]}
    servers = SPEC["servers"] | {"devices": ["gpu[*]"]}
    served = cx.kv.serve(SPEC | {"tiers": [pool], "servers": servers, "fabric": FABRIC})
    text = serving_page(served)
    assert "The fabric" in text
    for name in served.found["fabric"]["loads"]:
        assert name.replace(">", "&gt;") in text
    assert "error of their rates" in text


def test_the_commands_write_the_page(served: Served, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump(SPEC))
    result, page = tmp_path / "pool.json", tmp_path / "page.html"
    done = cxloom("kv", tmp_path / "pool.yaml", "--out", result, "--html", page, "--quiet")
    assert done.code == 0, done.err
    assert page.read_text() == serving_page(served)
    done = cxloom("report", result, "--figures", tmp_path / "figures")
    assert done.code == 0, done.err
    assert (tmp_path / "pool.html").read_text() == page.read_text()
    names = {file.name for file in (tmp_path / "figures").iterdir()}
    assert names == {
        f"{name}.{form}" for name in ("found", "loaded", "first_token") for form in ("pdf", "png")
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is no JSON"),
        ("[1]", "not a result of servers with KV caches"),
        ('{"name": "x", "cost": {}}', "no 'ttft_s'"),
        ("{}", "no 'name'"),
    ],
)
def test_what_is_no_result_is_refused(
    text: str, said: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    (tmp_path / "x.json").write_text(text)
    done = cxloom("report", tmp_path / "x.json")
    assert done.code == 2
    assert said in done.err
    assert "x.json" in done.err
    assert not (tmp_path / "x.html").exists()


def test_a_page_of_another_name_is_refused(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump(SPEC))
    done = cxloom("kv", tmp_path / "pool.yaml", "--html", tmp_path / "page.pdf")
    assert done.code == 2
    assert "--html" in done.err


@pytest.mark.skipif(PROGRAM is None, reason="no chromium: scripts/bootstrap.sh browser")
def test_it_opens_without_a_word_and_shows_every_plot(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(serving_page(served), encoding="utf-8")
    browser = Browser()
    try:
        browser.open(file)
        assert browser.said == []
        for name in PLOTS:
            _, _, width, height = browser.box(f"#{name}")
            assert width > 300
            assert height > 100
            assert browser.value(f"document.querySelectorAll('#{name} svg.chart').length") >= 1
        browser.hover("#sources .bars rect")
        browser.wait("document.querySelector('#tip').textContent.startsWith('hbm: ')")
        column = "Array.from(document.querySelector('#waits table').tBodies[0].rows, row => row.cells[0].textContent)"
        before = browser.value(column)
        browser.click("#waits table th:nth-child(2) button")
        assert browser.value(column) != before
        assert browser.value(column)[0] == served.found["limit"]["busiest"]
        for width in (1400, 390):
            browser.resize(width, 844)
            browser.wait_for(lambda: faults(browser) == [], f"at {width}: {faults(browser)}")
    finally:
        browser.close()


def test_the_page_of_a_file_of_servers_is_asked_of_kv(tmp_path: Path, cxloom: Any) -> None:
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump(SPEC))
    done = cxloom("report", tmp_path / "pool.yaml")
    assert done.code == 2
    assert "cxloom kv" in done.err
    assert "cxloom run" not in done.err
