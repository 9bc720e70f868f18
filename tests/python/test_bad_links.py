"""Links with a physical layer that cannot be: refused with the place and the reason, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from validation.examples import some

Call = Callable[..., object]

# What is said of the link from the host to the bus, in the seventh line of the example, and what the error says.
CASES = [
    ("phy: pcie5-x3", ["links[0].phy", "pcie5-x3", "x1, x2, x4, x8 or x16"]),
    ("phy: pcie5-x32", ["links[0].phy", "x1, x2, x4, x8 or x16"]),
    ("phy: pcie8-x16", ["links[0].phy", "pcie3 to pcie7"]),
    ("phy: pcie5x16", ["links[0].phy", "did you mean 'pcie5-x16'?"]),
    ("phy: 16", ["links[0].phy", "pcie5-x16"]),
    ("phy: pcie6-x16, flit: none", ["links[0].flit", "from 64 GT/s (pcie6) on there are flits"]),
    ("flit: none", ["links[0]", "set phy"]),
    ("phy: pcie5-x16, link_layer: 5%", ["links[0]", "link_layer", "set phy, and flit: none"]),
    ("link_layer: 5%", ["links[0]", "link_layer", "set phy, and flit: none"]),
    ("phy: pcie5-x16, flit: none, link_layer: 100%", ["links[0].link_layer", "at most 99%"]),
    ("phy: pcie5-x16, flit: none, link_layer: -1%", ["links[0].link_layer"]),
    ("phy: pcie5-x16, flit: none, errors: {bit_error_rate: 1e-9}", ["links[0]", "errors", "with flits"]),
    ("phy: pcie5-x16, flit: none, outage: {at: 1us}", ["links[0]", "outage", "with flits"]),
    ("phy: pcie5-x16, flit: none, header: 8B", ["links[0]", "leave out header and data_header"]),
    ("phy: pcie6-x16, flit: 68B", ["links[0]", "68B flits end at 32 GT/s", "flit: 256B"]),
    ("phy: pcie5-x16, flit: 65B", ["links[0].flit", "did you mean '68B'?"]),
    ("phy: pcie5-x16, credits: 0", ["links[0].credits", "at least 1"]),
    ("phy: pcie5-x16, credits: {M2S Req: 0}", ["links[0].credits.M2S Req", "at least 1"]),
    ("phy: pcie6-x16, credits: {BISnp: 4}", ["unknown message class", "did you mean 'S2M BISnp'?"]),
    ("phy: pcie5-x16, credits: {M2S Rqe: 4}", ["unknown message class", "did you mean 'M2S Req'?"]),
    ("phy: pcie5-x16, credits: {M2S Req: some}", ["links[0].credits.M2S Req", "not a whole number"]),
    ("phy: pcie5-x16, credits: {S2M BISnp: 4}", ["links[0]", "68B flits carry no", "S2M BISnp"]),
    ("phy: pcie5-x16, credits: {S2M BISnp: 4, IO: 4}", ["links[0]", "68B flits carry no", "S2M BISnp"]),
    ("phy: pcie5-x16, errors: {bit_error_rate: 1.0}", ["links[0].errors.bit_error_rate", "below 1"]),
    ("phy: pcie5-x16, errors: {bit_error_rate: -0.1}", ["links[0].errors.bit_error_rate", "at least 0"]),
    ("phy: pcie5-x16, errors: {every: 0}", ["links[0].errors.every", "at least 1"]),
    ("phy: pcie5-x16, ide: {mode: containmnt}", ["links[0].ide.mode", "did you mean 'containment'?"]),
    ("phy: pcie5-x16, ide: {mode: skid, aggregation: 0}", ["links[0].ide.aggregation", "at least 1"]),
    ("phy: pcie5-x16, ide: {mode: skid, aggregation: 256}", ["links[0].ide.aggregation", "at most 255"]),
    ("phy: pcie5-x16, outage: {at: 1us, length: 0ns}", ["links[0].outage.length", "at least"]),
    (
        "phy: pcie5-x16, outage: {length: 2us}",
        ["links[0].outage", "without a time at which the outage begins: set at"],
    ),
    (
        "phy: pcie5-x16, outage: {fail: true}",
        ["links[0].outage", "without a time at which the outage begins: set at"],
    ),
    ("outage: {fail: true}", ["links[0]"]),
    ("phy: pcie5-x16, degraded: {at: 1us}", ["links[0].degraded", "needs both at and phy"]),
    ("phy: pcie5-x16, degraded: {phy: pcie5-x8}", ["links[0].degraded", "needs both at and phy"]),
    ("phy: pcie5-x8, degraded: {at: 1us, phy: pcie5-x16}", ["links[0]", "fewer lanes or a lower speed"]),
    ("phy: pcie5-x8, degraded: {at: 1us, phy: pcie5-x8}", ["links[0]", "fewer lanes or a lower speed"]),
    ("phy: pcie5-x16, bandwidth: 64GB/s", ["links[0]", "leave out bandwidth"]),
    ("phy: pcie5-x16, reverse: {bandwidth: 64GB/s}", ["links[0]", "leave out bandwidth"]),
    ("phy: pcie5-x16, duplex: half", ["links[0]", "is full duplex"]),
    ("phy: pcie5-x16, header: 8B", ["links[0]", "leave out header and data_header"]),
    ("phy: pcie5-x16, data_header: 8B", ["links[0]", "leave out header and data_header"]),
    ("flit: 256B", ["links[0]", "set phy"]),
    ("sync_header_bypass: true", ["links[0]", "sync_header_bypass", "set phy"]),
    ("phy: pcie6-x16, sync_header_bypass: true", ["links[0]", "sync headers end at 32 GT/s", "leave out"]),
    ("phy: pcie7-x1, sync_header_bypass: true", ["links[0]", "sync headers end at 32 GT/s", "leave out"]),
    ("phy: pcie5-x16, sync_header_bypas: true", ["links[0]", "did you mean 'sync_header_bypass'?"]),
    ("phy: pcie5-x16, sync_header_bypass: 1", ["links[0].sync_header_bypass"]),
    ("phy: pcie6-x16, retimers: 3", ["links[0].retimers", "at most two retimers", "pcie7"]),
    ("phy: pcie7-x16, retimers: 5", ["links[0].retimers", "at most 4"]),
    ("retimers: 1", ["links[0]", "retimers", "set phy"]),
    ("phy: pcie5-x16, retimer_delay: 5ns", ["links[0]", "retimer_delay", "set retimers"]),
    ("phy: pcie5-x16, retimers: 1, retimer_delay: fast", ["links[0].retimer_delay", "fast"]),
    ("phy: pcie7-x16, bundle: true", ["links[0].bundle", "set count to 2 or more"]),
    (
        "phy: pcie5-x16, bundle: true, count: 2",
        ["links[0].bundle", "flits of 256 B", "68 B by default", "set flit: 256B"],
    ),
    (
        "phy: pcie5-x16, flit: 68B, bundle: true, count: 2",
        ["links[0].flit", "flits of 256 B", "set flit: 256B"],
    ),
    ("phy: pcie5-x16, flit: none, bundle: true, count: 2", ["links[0].flit", "not none", "set flit: 256B"]),
    ("bundle: true, count: 2", ["links[0].bundle", "flits of 256 B", "no physical layer", "set phy"]),
    ("phy: pcie7-x16, bundle: 2", ["links[0].bundle"]),
    ("credit_time: 50ns", ["links[0]", "credit_time", "set credits"]),
    ("credits: 4, credit_time: -1ns", ["links[0].credit_time"]),
    ("errors: {every: 5}", ["links[0]", "set phy"]),
    ("ide: {mode: skid}", ["links[0]", "set phy"]),
    ("outage: {at: 1us}", ["links[0]", "set phy"]),
    ("degraded: {at: 1us, phy: pcie5-x8}", ["links[0]", "set phy"]),
]


@pytest.mark.parametrize(("link", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_link_is_refused_at_its_line(
    spec_text: str, tmp_path: Path, cxloom: Call, link: str, words: list[str]
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(spec_text.replace("port_delay: 25ns", f"port_delay: 25ns, {link}"))
    outcome = cxloom("run", path, "--out", tmp_path / "results")
    assert outcome.code == 2, outcome.err  # type: ignore[attr-defined]
    assert outcome.err.startswith(f"error: {path}:7:"), outcome.err  # type: ignore[attr-defined]
    for each in words:
        assert each in outcome.err  # type: ignore[attr-defined]
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "phy", some([f"pcie{g}-x{lanes}" for g in range(3, 8) for lanes in (1, 2, 4, 8, 16)])
)
def test_every_physical_layer_that_there_is_runs(
    spec_text: str, tmp_path: Path, cxloom: Call, phy: str
) -> None:
    path = tmp_path / "good.yaml"
    text = spec_text.replace("port_delay: 25ns", f"port_delay: 25ns, phy: {phy}")
    path.write_text(text.replace("requests: 2000", "requests: 50"))
    assert cxloom("run", path).code == 0  # type: ignore[attr-defined]
