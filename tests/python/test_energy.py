"""The account of a run's energy: against closed forms, figure by figure, on all presets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import some

import cxloom as cx
from cxloom.consumption.figures import Figures
from cxloom.spec import presets

X16 = """\
devices:
  host: {kind: host, queue: 64}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 1GiB, media: {kind: nvm}}
  near: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 50ns}}
links:
  - {between: [host, sw], phy: pcie5-x16, retimers: 2}
  - {between: [sw, mem], phy: pcie5-x8}
  - {between: [host, near], bandwidth: 64GB/s}
address_map: [{to: [mem, near], interleave: 4KiB}]
workload: {host: {pattern: random, reads: 60%, requests: 2000, footprint: 256MiB}}
"""
X16_BITS = 8 * 64e9 * 128 / 130
"""Bits a second of one direction of x16 at 32 GT/s, after the line code."""


@pytest.fixture
def system(tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(X16)
    return tmp_path / "s.yaml"


def rows_of(energy: Any) -> dict[tuple[str, str], Any]:
    return {(row.component, row.part): row for row in energy.rows}


def test_a_port_sends_and_receives_at_all_times(system: Path) -> None:
    rows = rows_of(cx.energy(system, {"port_pj_per_bit": 6}))
    full = 2 * X16_BITS * 6e-12
    for row in (rows["host", "port to sw"], rows["sw", "port to host"]):
        assert row.power_w == row.idle_w == pytest.approx(full, rel=1e-6)
        assert row.basis == "given"
    assert rows["mem", "port to sw"].power_w == pytest.approx(full / 2, rel=1e-6)
    assert rows["host-sw", "2 retimers"].power_w == pytest.approx(
        2 * 2 * X16_BITS * Figures().retimer_pj_per_bit * 1e-12, rel=1e-6
    )


def test_a_port_that_sleeps_needs_what_it_carries(system: Path) -> None:
    link = cx.run(system).summary["per_link"]["sw-mem"]
    busy = sum(way["utilization"] for way in link.values())
    assert busy > 0.01
    rows = rows_of(cx.energy(system, {"port_pj_per_bit": 6, "port_idle_share": 0}))
    row = rows["sw", "port to mem"]
    assert row.idle_w == 0
    assert row.power_w == pytest.approx(busy * X16_BITS / 2 * 6e-12, rel=1e-6)
    quarter = rows_of(cx.energy(system, {"port_pj_per_bit": 6, "port_idle_share": 0.25}))["sw", "port to mem"]
    assert quarter.power_w == pytest.approx(0.75 * row.power_w + 0.25 * X16_BITS * 6e-12, rel=1e-6)


def test_the_figures_of_two_switches_give_a_third() -> None:
    """PEX8796: 96 lanes of 8 GT/s, typically 18.6 W."""
    figures = Figures()
    assert figures.switch_w + 96 * 16e9 * figures.port_pj_per_bit * 1e-12 == pytest.approx(18.6, rel=0.04)


@pytest.mark.parametrize("name", ["mem", "near"])
def test_media_need_what_they_read_and_write(system: Path, name: str) -> None:
    """Those of NVM count it; those of a fixed latency read and write what requests ask for."""
    measured = cx.run(system).summary["per_memory"][name]
    prefix = "media_" if name == "mem" else ""
    read, written = (8e9 * measured[f"{prefix}{way}_gb_per_s"] for way in ("read", "write"))
    assert min(read, written) > 0
    given = {"media": {f"{name}*": {"read_pj_per_bit": 1, "write_pj_per_bit": 2, "idle_w": 0.5}}}
    row = rows_of(cx.energy(system, given))[name, f"{'nvm' if name == 'mem' else 'fixed'} media"]
    assert row.power_w == pytest.approx(0.5 + (read + 2 * written) * 1e-12, rel=1e-6)
    assert (row.idle_w, row.basis) == (0.5, "given")
    assert any("nvm media without currents" in said for said in cx.energy(system).missing)


def test_a_link_of_ones_own_needs_what_it_carries(system: Path) -> None:
    summary = cx.run(system).summary
    sent = sum(way["bytes"] for way in summary["per_link"]["host-near"].values())
    found = cx.energy(system, {"links": {"host-*": 1.5}})
    row = rows_of(found)["host-near", "link"]
    assert row.power_w == pytest.approx(8 * sent * 1.5e-12 / (summary["simulated_time_ns"] * 1e-9))
    assert not any("phy" in said for said in found.missing)
    assert any("host-near" in said for said in cx.energy(system).missing)


def test_dram_is_what_the_core_counts() -> None:
    memory = cx.run("expander/x16-ddr5").summary["per_memory"]["cxl"]
    row = rows_of(cx.energy("expander/x16-ddr5"))["cxl", "dram devices"]
    assert row.power_w == pytest.approx(1e-3 * memory["power_mw"])
    rest = memory["energy_background_uj"] + memory["energy_refresh_uj"]
    assert row.idle_w / row.power_w == pytest.approx(rest / memory["energy_uj"])
    assert row.basis == "counted"


def test_the_figures_of_the_page_are_figures(system: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "energy.md"
    (text,) = re.findall(r"```yaml\n(port_pj.*?)```", page.read_text(), re.DOTALL)
    (system.parent / "figures.yaml").write_text(text)
    found = cx.energy(system, system.parent / "figures.yaml")
    assert {row.basis for row in found.rows} == {"given"}
    assert len(found.missing) == 2  # requesters, and the medium that its glob leaves out
    assert found.missing[0].endswith(": near")


MORE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "port_pj_per_bit": lambda was: {"port_pj_per_bit": 2 * was},
    "port_idle_share": lambda _was: {"port_pj_per_bit": 20, "port_idle_share": 1},
    "switch_w": lambda was: {"switch_w": was + 1},
    "retimer_pj_per_bit": lambda was: {"retimer_pj_per_bit": 2 * was},
    "controller_w": lambda _was: {"controller_w": 7},
    "links": lambda _was: {"links": {"host-near": 3}},
    "media": lambda _was: {"media": {"near": {"idle_w": 1}}},
}


@pytest.mark.parametrize("name", Figures.model_fields)
def test_more_of_a_figure_is_more_power(system: Path, name: str) -> None:
    assert cx.energy(system, MORE[name](getattr(Figures(), name))).power_w > cx.energy(system).power_w


@pytest.mark.parametrize("name", some(presets.names()))
def test_the_account_of_a_preset_adds_up(name: str) -> None:
    found = cx.energy(name)
    plain = found.to_json()
    assert plain["power_w"] == pytest.approx(sum(row["power_w"] for row in plain["rows"]))
    assert plain["nj_per_request"] == pytest.approx(sum(row["nj_per_request"] for row in plain["rows"]))
    assert all(0 <= row.idle_w <= row.power_w * (1 + 1e-9) for row in found.rows)
    assert found.rows or found.missing
    assert len(str(found)) > 100


def test_the_command_writes_what_it_prints(cxloom: Callable[..., Any], system: Path, tmp_path: Path) -> None:
    files = [tmp_path / "e.json", tmp_path / "e.csv"]
    done = cxloom("energy", system, "--json", *(f"--out={file}" for file in files))
    assert done.code == 0
    assert json.loads(done.out) == json.loads(files[0].read_text())
    assert files[1].read_text().startswith("component,part,power_w,idle_w,nj_per_request,basis\n")
    table = cxloom("energy", system, "--set", "devices.mem.media=fixed").out
    assert "port to mem" in table
    assert "fixed media without currents that are known" in " ".join(table.split())


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ("port_pj_pre_bit: 3", "did you mean 'port_pj_per_bit'?"),
        ("port_pj_per_bit: -3", "out of bounds"),
        ("port_idle_share: 2", "out of bounds"),
        ("port_idle_share: 30%", "not a number"),
        ("media: {mem: {reads: 3}}", "read_pj_per_bit, write_pj_per_bit or idle_w"),
        ("media: 3", "media"),
        ("links: {a: fast}", "not a number"),
        ("- 3", "key: value pairs"),
    ],
)
def test_figures_that_are_none_are_refused(
    cxloom: Callable[..., Any], system: Path, tmp_path: Path, figures: str, says: str
) -> None:
    file = tmp_path / "figures.yaml"
    file.write_text(f"\n{figures}\n")
    done = cxloom("energy", system, "--figures", file, "--out", tmp_path / "e.json")
    assert done.code == 2
    assert says in done.err
    assert "figures.yaml:2" in done.err
    assert not (tmp_path / "e.json").exists()
