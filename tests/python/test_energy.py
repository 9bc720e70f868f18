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
from cxloom.base.errors import InputError
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
X16_BITS = 16 * 32e9
"""Bits a second of one direction of x16 at 32 GT/s."""


@pytest.fixture
def system(tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(X16)
    return tmp_path / "s.yaml"


def rows_of(energy: Any) -> dict[tuple[str, str], Any]:
    return {(row.component, row.part): row for row in energy.rows}


def test_a_port_sends_and_receives_at_all_times(system: Path) -> None:
    rows = rows_of(cx.energy(system, {"port_pj_per_bit": 6}))
    full = 2 * X16_BITS * 6e-12
    for row in (rows["host", "port of host-sw"], rows["sw", "port of host-sw"]):
        assert row.power_w == row.idle_w == pytest.approx(full, rel=1e-6)
        assert row.basis == "given"
    assert rows["mem", "port of sw-mem"].power_w == pytest.approx(full / 2, rel=1e-6)
    assert rows["host-sw", "2 retimers"].power_w == pytest.approx(
        2 * 2 * X16_BITS * Figures().retimer_pj_per_bit * 1e-12, rel=1e-6
    )


def test_a_port_that_sleeps_needs_what_it_carries(system: Path) -> None:
    link = cx.run(system).summary["per_link"]["sw-mem"]
    busy = sum(way["utilization"] for way in link.values())
    assert busy > 0.01
    rows = rows_of(cx.energy(system, {"port_pj_per_bit": 6, "port_idle_share": 0}))
    row = rows["sw", "port of sw-mem"]
    assert row.idle_w == 0
    assert row.power_w == pytest.approx(busy * X16_BITS / 2 * 6e-12, rel=1e-6)
    quarter = rows_of(cx.energy(system, {"port_pj_per_bit": 6, "port_idle_share": 0.25}))[
        "sw", "port of sw-mem"
    ]
    assert quarter.power_w == pytest.approx(0.75 * row.power_w + 0.25 * X16_BITS * 6e-12, rel=1e-6)


@pytest.mark.parametrize(("lanes", "watts", "least", "most"), [(96, 18.6, 1.03, 1.05), (48, 8.0, 1.37, 1.39)])
def test_the_figures_of_two_switches_beside_others(
    lanes: int, watts: float, least: float, most: float
) -> None:
    """PCIe 3.0, typical: PEX8796 and PEX8748. The figures say so much more, as docs/energy.md does."""
    figures = Figures()
    told = figures.switch_w + lanes * 16e9 * figures.port_pj_per_bit * 1e-12
    assert least < told / watts < most


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
    assert any("nvm media without currents" in said.what for said in cx.energy(system).missing)


def test_a_link_of_ones_own_needs_what_it_carries(system: Path) -> None:
    summary = cx.run(system).summary
    sent = sum(way["bytes"] for way in summary["per_link"]["host-near"].values())
    found = cx.energy(system, {"links": {"host-*": 1.5}})
    row = rows_of(found)["host-near", "link"]
    assert row.power_w == pytest.approx(8 * sent * 1.5e-12 / (summary["simulated_time_ns"] * 1e-9))
    assert not any("phy" in said.what for said in found.missing)
    assert any("host-near" in said.names for said in cx.energy(system).missing)


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
    assert found.missing[0].names == ["near"]


MORE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "port_pj_per_bit": lambda was: {"port_pj_per_bit": 2 * was},
    "port_idle_share": lambda _was: {"port_pj_per_bit": 20, "port_idle_share": 1},
    "switch_w": lambda was: {"switch_w": was + 1},
    "retimer_pj_per_bit": lambda was: {"retimer_pj_per_bit": 2 * was},
    "controller_w": lambda _was: {"controller_w": 7},
    "links": lambda _was: {"links": {"host-near": 3}},
    "media": lambda _was: {"media": {"near": {"read_pj_per_bit": 0, "write_pj_per_bit": 0, "idle_w": 1}}},
}


@pytest.mark.parametrize("name", Figures.model_fields)
def test_more_of_a_figure_is_more_power(system: Path, name: str) -> None:
    assert cx.energy(system, MORE[name](getattr(Figures(), name))).power_w > cx.energy(system).power_w


@pytest.mark.parametrize("name", some(presets.names()))
def test_the_account_of_a_preset_adds_up(name: str) -> None:
    found = cx.energy(name)
    plain = found.to_json()
    if found.rows:
        assert plain["power_w"] == pytest.approx(sum(row["power_w"] for row in plain["rows"]))
        assert plain["nj_per_request"] == pytest.approx(sum(row["nj_per_request"] for row in plain["rows"]))
    assert all(0 <= row.idle_w <= row.power_w * (1 + 1e-9) for row in found.rows)
    assert found.rows or found.missing
    assert len(str(found)) > 100


def test_currents_of_nothing_are_no_power(system: Path) -> None:
    zero = dict.fromkeys((f"IDD{name}" for name in ("0", "2N", "3N", "4R", "4W", "5B")), 0)
    dram = {"kind": "dram", "preset": "DDR4-3200", "currents": zero | {"VDD": 1.2}}
    found = cx.energy(cx.load(system).set("devices.mem.media", dram))
    row = rows_of(found)["mem", "dram devices"]
    assert row.power_w == row.idle_w == 0


def test_lanes_need_as_much_whatever_limits_what_they_carry(system: Path) -> None:
    whole = cx.energy(system).power_w
    narrow = cx.load(system).set("devices.sw.port_bandwidth", "4GB/s")
    assert cx.energy(narrow).power_w == pytest.approx(whole)


def test_each_of_several_links_has_its_row(system: Path) -> None:
    twice = cx.energy(cx.load(system).set("links[0].count", 2))
    assert len(rows_of(twice)) == len(twice.rows)
    assert ("sw", "port of host-sw#2") in rows_of(twice)


def test_media_within_others_have_names_of_their_own() -> None:
    figures = {"read_pj_per_bit": 100, "write_pj_per_bit": 200, "idle_w": 2}
    rows = rows_of(cx.energy("expander/cxl-ssd", {"media": {"cxl.backing": figures}}))
    memory = cx.run("expander/cxl-ssd").summary["per_memory"]["cxl"]
    read, written = (8e9 * memory[f"backing_media_{way}_gb_per_s"] for way in ("read", "write"))
    row = rows["cxl", "backing flash media"]
    assert row.power_w == pytest.approx(2 + (100 * read + 200 * written) * 1e-12)
    assert ("cxl", "cache dram devices") in rows


def test_what_has_no_effect_and_what_is_otherwise_is_said(system: Path) -> None:
    [said] = cx.energy("expander/x16-ddr5", {"switch_w": 3, "retimer_pj_per_bit": 3}).notes
    assert said == "without effect in this system: retimer_pj_per_bit and switch_w"
    failing = cx.load(system).set("links[0].degraded", {"at": "1us", "phy": "pcie5-x4"})
    assert any("host-sw" in note and "go down" in note for note in cx.energy(failing).notes)


def test_errors_are_said(system: Path) -> None:
    events = [{"at": "2us", "fail": {"link": ["sw", "mem"]}}]
    notes = cx.energy(cx.load(system).set("events", events)).notes
    assert any("an error" in note and "that of all, by the others" in note for note in notes)
    said = "what events fail is counted as if it had not failed"
    assert said in notes
    moves = {"requester": "host", "from": "near", "to": "mem", "share": "50%", "rate": "2GB/s"}
    placed = {"kind": "bind", "nodes": ["near"]}
    apart = cx.load(system).set("address_map", [{"to": ["mem"]}, {"to": ["near"]}])
    moved = apart.set("workload.host.addresses", placed)
    assert said not in cx.energy(moved.set("events", [{"at": "1us", "move_pages": moves}])).notes


def test_the_command_writes_what_it_prints(cxloom: Callable[..., Any], system: Path, tmp_path: Path) -> None:
    files = [tmp_path / "e.json", tmp_path / "e.csv"]
    done = cxloom("energy", system, "--json", *(f"--out={file}" for file in files))
    assert done.code == 0
    assert json.loads(done.out) == json.loads(files[0].read_text())
    assert files[1].read_text().startswith("component,part,power_w,idle_w,nj_per_request,basis\n")
    table = cxloom("energy", system, "--set", "devices.mem.media=fixed").out
    assert "port of sw-mem" in table
    assert "fixed media without currents that are known" in " ".join(table.split())


def test_a_table_of_many_components_has_those_alike_in_one_row(tmp_path: Path) -> None:
    def shown(leaves: int) -> tuple[str, list[list[str]]]:
        pod = tmp_path / "pod.yaml"
        pod.write_text(
            f"topology: {{kind: spine-leaf, leaves: {leaves}, spines: 2, devices_per_leaf: 2}}\n"
            "workload: {'host[*]': {pattern: random, requests: 100}}\n"
        )
        energy = cx.energy(pod, {"switch_w": 20})
        assert len(energy.rows) == leaves + 2
        columns = [list(column.cells) for column in energy.table().columns]
        return energy.sentence, [[str(cell) for cell in row] for row in zip(*columns, strict=True)]

    assert [row[0] for row in shown(22)[1]].count("leaf21") == 1
    said, rows = shown(28)
    assert [(row[0], row[2]) for row in rows] == [("leaf[*] (28)", "560"), ("spine[*] (2)", "40")]
    assert said.endswith("the most, 93 %, is switch without its ports of leaf[*] (28).")


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ("port_pj_pre_bit: 3", "did you mean 'port_pj_per_bit'?"),
        ("port_pj_per_bit: -3", "out of bounds"),
        ("port_idle_share: 2", "out of bounds"),
        ("port_idle_share: 30%", "not a number"),
        ("port_pj_per_bit: true", "not a number"),
        ("port_pj_per_bit: 1e300", "out of bounds"),
        ("media: {mem: {reads: 3}}", "read_pj_per_bit, write_pj_per_bit or idle_w"),
        ("media: {mem: {read_pj_per_bit: 3}}", "a value is missing"),
        ("media: 3", "a map of names"),
        ("media: {mem: [1]}", "a map of read_pj_per_bit, write_pj_per_bit and idle_w"),
        ("links: {host-near: fast}", "not a number"),
        ("links: {near-host: 3}", "allowed: host-near"),
        ("links: {host-sw: 3}", "no links without phy of this name"),
        ("media: {'mem[0-3]': {read_pj_per_bit: 1, write_pj_per_bit: 1}}", "allowed: mem or near"),
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


@pytest.mark.parametrize("text", ["", "# nothing\n", "links:\n"])
def test_no_figures_are_the_defaults(system: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "figures.yaml").write_text(text)
    assert cx.energy(system, tmp_path / "figures.yaml").rows == cx.energy(system).rows


def test_figures_are_a_file_or_a_map(system: Path) -> None:
    with pytest.raises(InputError, match="a YAML file of figures, or a map"):
        cx.energy(system, 7)  # type: ignore[arg-type]


def test_an_account_without_rows_has_no_sums(system: Path) -> None:
    bare = cx.energy("esf/validation")
    assert bare.to_json()["power_w"] is None
    assert bare.frame().columns == ["component", "part", "power_w", "idle_w", "nj_per_request", "basis"]
    assert "Nothing of this system" in str(bare)
