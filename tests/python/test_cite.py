"""``cxloom cite``: the publications that the components of a system name, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.citing.cited import cited_by
from cxloom.citing.publications import PUBLICATIONS
from cxloom.spec import declared, presets

Call = Callable[..., Any]

SPEC = """
devices:
  host: {kind: host}
  mem: {kind: memory, media: MEDIA}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random}}
"""


def keys(spec: str) -> set[str]:
    found = cited_by(cx.System.from_yaml(spec).resolve())
    return {each.publication.key for each in found.cited}


def sources(fields: Any) -> Iterator[str]:
    for field in fields:
        if field["source"]:
            yield field["source"]
        yield from sources(field["fields"])


def declared_sources() -> set[str]:
    found = declared.declarations()
    of = [each["fields"] for category in declared.categories() for each in declared.kinds(category).values()]
    of += [
        found[name]["fields"] for name in ("link", "region", "workload", "run", "outputs", "kv", "kv_model")
    ]
    return {source for fields in of for source in sources(fields)}


def test_every_publication_is_named_by_a_parameter_or_a_preset() -> None:
    texts = [*declared_sources()]
    texts += [path.read_text() for name in presets.names() if (path := presets.path_of(name)) is not None]
    pages = Path(__file__).parents[2] / "docs"
    texts += [path.read_text() for path in pages.rglob("*.md")]
    assert [each.key for each in PUBLICATIONS if not any(map(each.names, texts))] == []


def test_what_a_system_has_is_cited_and_what_it_has_not_is_not() -> None:
    fixed = keys(SPEC.replace("MEDIA", "{kind: fixed}"))
    assert "esf" in fixed  # the host's process_time
    assert not fixed & {"jesd79-5", "mqsim", "rrip", "dragonfly", "persistent-switches"}
    assert "jesd79-5" in keys(SPEC.replace("MEDIA", "{kind: dram, preset: DDR5-4800}"))
    assert "mqsim" in keys(SPEC.replace("MEDIA", "{kind: flash}"))
    cached = SPEC.replace("MEDIA", "fixed").replace(
        "{kind: host}", "{kind: host, cache: {size: 1MiB, policy: srrip}}"
    )
    assert "rrip" in keys(cached)


def test_the_parameters_are_named_that_are_from_a_publication() -> None:
    found = cited_by(cx.System.from_yaml(SPEC.replace("MEDIA", "fixed")).resolve())
    (esf,) = [each for each in found.cited if each.publication.key == "esf"]
    assert {"host.process_time", "memory.controller_time"} <= set(esf.parameters)


FAILING = """
devices: {"host[0-1]": {kind: host}, sw: {kind: switch}, mem: {kind: memory}}
links: [{between: ["host[*]", sw]}, {between: [sw, mem]}]
address_map: [{to: mem}]
workload: {"host[*]": {pattern: random}}
events: [{at: 1us, ACTION}]
"""


def test_what_has_no_effect_is_not_cited() -> None:
    """Wires without a layer, pages that are not placed, timeouts of what never fails: their sources were listed."""
    plain = SPEC.replace("MEDIA", "{kind: fixed}")
    assert keys(plain) == {"esf", "cxl"}
    physical = plain.replace("links: [{", "links: [{phy: pcie5-x8, ")
    assert physical != plain
    assert keys(physical) == {"esf", "cxl", "pcie"}  # its flits
    assert keys(physical.replace("pcie5-x8", "pcie5-x8, flit: none")) == {
        "esf",
        "cxl",
        "pcie-performance",
        "pcie",
    }
    found = {
        name for each in cited_by(cx.System.from_yaml(plain).resolve()).cited for name in each.parameters
    }
    assert not {name.split(".")[-1] for name in found} & {
        "spares",
        "retimers",
        "bundle",
        "credit_time",
        "vppbs",
    }
    assert "pcie" not in keys(FAILING.replace("ACTION", "repair: {link: [sw, mem]}"))
    assert "pcie" in keys(FAILING.replace("ACTION", "fail: {device: host1}"))


def test_a_system_cites_the_standard_of_its_dram() -> None:
    dram = SPEC.replace("MEDIA", "{kind: dram, preset: NAME}")
    for name, own in (("DDR4-3200", "jesd79-4"), ("DDR5-4800", "jesd79-5"), ("LPDDR5X-8533", "jesd209-5")):
        assert {key for key in keys(dram.replace("NAME", name)) if key.startswith("jesd")} == {own}


@pytest.mark.parametrize("name", presets.names())
def test_what_is_printed_is_bibtex(name: str, cxloom: Call) -> None:
    text = cxloom("cite", name).out
    entries = [each for each in text.split("\n\n") if each.strip()]
    for entry in entries:
        body = "\n".join(line for line in entry.splitlines() if not line.startswith("%"))
        assert re.fullmatch(r"@[a-z]+\{[a-z0-9-]+,\n(  [a-zA-Z]+ += \{.*\},\n)+\}\n?", body), body
        assert body.count("{") == body.count("}")
    assert entries[0].startswith("@software{cxloom,")
    assert f"version = {{{cx.__version__}}}" in entries[0]


def test_results_are_cited_as_their_system(tmp_path: Path, cxloom: Call) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        SPEC.replace("MEDIA", "{kind: dram, preset: DDR5-4800}").replace("random}", "random, requests: 9}")
    )
    cxloom("run", spec, "--out", tmp_path / "results")
    assert cxloom("cite", tmp_path / "results").out == cxloom("cite", spec).out
    found = json.loads(cxloom("cite", spec, "--json").out)
    assert "jesd79-5" in [each["key"] for each in found["cited"]]
    assert any("own choice" in each for each in found["elsewhere"])


def test_what_is_no_result(tmp_path: Path, cxloom: Call) -> None:
    done = cxloom("cite", tmp_path / "none")
    assert done.code == 2
    assert "no such file" in done.err


def test_the_file_of_the_citation_has_the_version() -> None:
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text()
    assert f"\nversion: {cx.__version__}\n" in text
