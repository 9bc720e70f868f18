"""From what is written to the resolved spec: ranges, globs, presets, topologies, overrides, and back to YAML."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec import Node, Override, read_file, read_text, resolve, to_yaml


def resolved(text: str, *sets: str) -> dict[str, Any]:
    return resolve(read_text(text, "s.yaml"), [Override.parse(each) for each in sets]).plain()


def test_the_example_is_expanded(spec_text: str) -> None:
    spec = resolved(spec_text)
    assert list(spec["devices"]) == ["host", "bus", "mem0", "mem1", "mem2", "mem3"]
    assert spec["devices"]["mem2"]["media"] == {"kind": "fixed", "latency": "45ns"}
    assert [link["between"] for link in spec["links"]] == [
        ["host", "bus"],
        ["bus", "mem0"],
        ["bus", "mem1"],
        ["bus", "mem2"],
        ["bus", "mem3"],
    ]
    assert spec["links"][0]["port_delay"] == "25ns"
    assert spec["address_map"] == [{"to": ["mem0", "mem1", "mem2", "mem3"], "interleave": "256B"}]
    assert spec["workload"]["host"]["reads"] == "67%"


DEVICES = 'devices: {"h[0-1]": {kind: host}, "m[0-2]": {kind: memory}, b: {kind: bus}}\n'


@pytest.mark.parametrize(
    ("entry", "pairs"),
    [
        ('{between: ["h[*]", "m[*]"]}', ["h0m0", "h0m1", "h0m2", "h1m0", "h1m1", "h1m2"]),
        ('{between: ["m[*]", "m[*]"]}', ["m0m1", "m0m2", "m1m2"]),
        ('{between: ["h[*]", "m[0-1]"], pairwise: true}', ["h0m0", "h1m1"]),
        ('{between: [b, "*"]}', ["bh0", "bh1", "bm0", "bm1", "bm2"]),
        ('{between: ["m[2,0]", b]}', ["m2b", "m0b"]),
    ],
)
def test_links_join_what_globs_name(entry: str, pairs: list[str]) -> None:
    links = resolved(f"{DEVICES}links: [{entry}]")["links"]
    assert ["".join(link["between"]) for link in links] == pairs
    assert all("pairwise" not in link for link in links)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{between: [b, b]}", "a device cannot be linked to itself"),
        ("{between: [b]}", "a link joins two ends"),
        ("{between: [b, m0, m1]}", "a link joins two ends"),
        ("{bandwidth: 1GB/s}", "a link joins two ends"),
        ("{between: [b, n0]}", "unknown device 'n0'"),
        ('{between: [b, "n[*]"]}', "'n[*]' matches no device"),
        ('{between: ["h[*]", "m[*]"], pairwise: true}', "as many devices on either side"),
        ("{between: [b, 3]}", "not a text"),
        ("host-bus", "not a map"),
    ],
)
def test_a_wrong_link_is_refused_with_its_line(entry: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        resolved(f"{DEVICES}links:\n  - {entry}\n")
    assert words in str(error.value)
    assert (error.value.file, error.value.line) == ("s.yaml", 3)
    assert error.value.path.startswith("links[0]")


def test_globs_give_defaults_that_names_override() -> None:
    spec = resolved(
        "devices:\n  m[0-1]: {kind: memory, queue: 4}\n  m2: {kind: memory}\n  m[*]: {queue: 9, capacity: 1GiB}\n"
    )
    assert {name: device["queue"] for name, device in spec["devices"].items()} == {"m0": 4, "m1": 4, "m2": 9}
    assert all(device["capacity"] == "1GiB" for device in spec["devices"].values())


@pytest.mark.parametrize("second", ["m1", "m[1-4]"])
def test_a_device_declared_twice_is_refused_with_both_lines(second: str) -> None:
    with pytest.raises(InputError) as error:
        resolved(f"devices:\n  m[0-2]: {{kind: memory}}\n  {second}: {{kind: memory}}\n")
    assert "'m1' is declared twice, found it in 'devices.m[0-2]' on line 2 too" in str(error.value)
    assert error.value.line == 3


def test_a_preset_is_laid_under_a_file() -> None:
    spec = resolved(
        """
preset: esf/validation
devices:
  "mem[*]": {media: {latency: 60ns}}
  mem3: {capacity: 32GiB}
  mem4: {kind: memory, capacity: 8GiB}
links:
  - {between: [bus, host], bandwidth: 32GB/s}
  - {between: [bus, mem4]}
workload:
  host: {reads: 50%}
run: {seed: 7}
"""
    )
    assert spec["devices"]["mem0"]["media"]["latency"] == "60ns"
    assert spec["devices"]["mem0"]["media"]["bandwidth"] == "38.4GB/s"
    assert spec["devices"]["mem0"]["capacity"] == "16GiB"
    assert spec["devices"]["mem3"]["capacity"] == "32GiB"
    assert spec["devices"]["mem4"] == {"kind": "memory", "media": {"latency": "60ns"}, "capacity": "8GiB"}
    assert spec["links"][0] == {"between": ["host", "bus"], "port_delay": "25ns", "bandwidth": "32GB/s"}
    assert [link["between"] for link in spec["links"]][-1] == ["bus", "mem4"]
    assert len(spec["links"]) == 6
    assert spec["workload"]["host"] == {
        "pattern": "random",
        "reads": "50%",
        "requests": 16000,
        "footprint": "1GiB",
    }
    assert spec["run"] == {"warmup": 16000, "seed": 7}


def test_another_kind_or_pattern_forgets_the_parameters_of_the_old_one() -> None:
    preset = "preset: esf/validation\n"
    spec = resolved(
        f"{preset}devices: {{host: {{kind: accelerator}}}}\nworkload: {{host: {{pattern: strided}}}}"
    )
    assert spec["devices"]["host"] == {"kind": "accelerator"}
    assert spec["workload"]["host"] == {"requests": 16000, "pattern": "strided"}
    spec = resolved(f"{preset}workload: {{host: {{trace: x.parquet}}}}")
    assert set(spec["workload"]["host"]) == {"requests", "trace"}


def test_a_file_may_start_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("preset: esf/validation\nrun: {seed: 3}\n")
    (tmp_path / "top.yaml").write_text("preset: base.yaml\nname: top\n")
    spec = resolve(read_file(tmp_path / "top.yaml")).plain()
    assert (spec["name"], spec["run"]["seed"], spec["run"]["warmup"]) == ("top", 3, 16000)


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        (
            "esf/validatoin",
            "unknown preset 'esf/validatoin'; allowed: char/a, char/b, char/c, cxl/pins-x16-64, dmsim/asic, "
            "dmsim/fpga, dmsim/local, dmsim/remote, dmsim/switch, esf/validation, expander/asic-ddr5, "
            "expander/cxl-ssd and 8 more; "
            "did you mean 'esf/validation'?",
        ),
        ("nowhere.yaml", "no such file"),
        ("top.yaml", "a preset that starts from itself"),
        ("[a]", "not a text"),
    ],
)
def test_a_wrong_preset_is_refused(tmp_path: Path, preset: str, words: str) -> None:
    path = tmp_path / "top.yaml"
    path.write_text(f"\npreset: {preset}\n")
    with pytest.raises(InputError) as error:
        resolve(read_file(path))
    assert words in str(error.value)
    assert error.value.line == 2


RING = "topology: {kind: ring, switches: 4, link: {bandwidth: 8GB/s}}\n"


def test_a_topology_is_expanded_and_adjusted() -> None:
    spec = resolved(
        f'{RING}devices: {{"mem[*]": {{queue: 8}}, extra: {{kind: memory}}}}\n'
        "links: [{between: [sw1, sw0], bandwidth: 2GB/s}, {between: [sw0, extra]}]"
    )
    assert [name for name in spec["devices"] if name.startswith("sw")] == ["sw0", "sw1", "sw2", "sw3"]
    assert spec["devices"]["mem0"] == {"kind": "memory", "queue": 8}
    between = {tuple(sorted(link["between"])): link for link in spec["links"]}
    assert between["sw0", "sw1"]["bandwidth"] == "2GB/s"
    assert between["sw1", "sw2"]["bandwidth"] == "8GB/s"
    assert ("extra", "sw0") in between
    assert len(between) == len(spec["links"]) == 9
    assert spec["address_map"][0]["to"] == ["mem0", "mem1"]


def test_overrides_reach_a_topology_before_it_is_expanded() -> None:
    spec = resolved(
        RING, "topology.switches=6", "topology.link.bandwidth=9GB/s", "devices.sw5.port_delay=1ns"
    )
    assert spec["devices"]["sw5"] == {"kind": "switch", "port_delay": "1ns"}
    assert spec["links"][0]["bandwidth"] == "9GB/s"
    spec = resolved("topology: {kind: ring, switches: 4}", "topology.edge_link.delay=3ns")
    assert spec["links"][-1]["delay"] == "3ns"
    with pytest.raises(InputError, match=r"topology\.switches: .*from --set topology\.switches=2"):
        resolved(RING, "topology.switches=2")


def test_errors_in_a_topology_point_at_it() -> None:
    with pytest.raises(InputError) as error:
        resolved("name: x\ntopology: {kind: ring, switchs: 4}\n")
    assert (error.value.line, error.value.path) == (2, "topology.switchs")


@pytest.mark.parametrize(
    ("override", "where", "expected"),
    [
        ("devices.host.queue=8", ("devices", "host", "queue"), 8),
        ("devices.host.instruction_time=1ns", ("devices", "host", "instruction_time"), "1ns"),
        ("devices.host.cache.size=1MiB", ("devices", "host", "cache"), {"size": "1MiB"}),
        ("devices.mem[*].media.latency=50ns", ("devices", "mem3", "media", "latency"), "50ns"),
        ("devices.mem[1-2].queue=3", ("devices", "mem2", "queue"), 3),
        ("devices.*.port_delay=2ns", ("devices", "bus", "port_delay"), "2ns"),
        ("links[1].bandwidth=4GB/s", ("links", 4, "bandwidth"), "4GB/s"),
        ("links[*].reverse.delay=4ns", ("links", 0, "reverse", "delay"), "4ns"),
        ("address_map[0].to=[mem1, mem0]", ("address_map", 0, "to"), ["mem1", "mem0"]),
        ("workload.host.rate=5M/s", ("workload", "host", "rate"), "5M/s"),
        ("run.routing=random", ("run", "routing"), "random"),
        ("outputs.requests=true", ("outputs", "requests"), True),
        ("devices.mem0.media={kind: fixed}", ("devices", "mem0", "media"), {"kind": "fixed"}),
        ("name=another", ("name",), "another"),
    ],
)
def test_an_override_sets_what_its_path_names(
    spec_text: str, override: str, where: tuple[str | int, ...], expected: object
) -> None:
    value: Any = resolved(spec_text, override)
    for step in where:
        value = value[step]
    assert value == expected


def test_an_override_makes_what_is_missing_on_the_way() -> None:
    spec = resolved(
        "devices: {m: {kind: memory}, n: {kind: memory, media: fixed}}", "devices.*.media.latency=9ns"
    )
    assert spec["devices"]["m"]["media"] == {"kind": "fixed", "latency": "9ns"}
    assert spec["devices"]["n"]["media"] == {"kind": "fixed", "latency": "9ns"}


@pytest.mark.parametrize(
    ("override", "suggestion"),
    [
        ("devices.hsot.queue=1", "devices.host.queue"),
        ("devices.host.queu=1", "devices.host.queue"),
        ("device.host.queue=1", "devices.host.queue"),
        ("devices.mem[*].media.latncy=1ns", "devices.mem[*].media.latency"),
        ("devices.mem[0-9].queue=1", "devices.mem0.queue"),
        ("links[7].bandwidth=1GB/s", "links[0].bandwidth"),
        ("workload.hots.reads=1", "workload.host.reads"),
        ("run.sead=1", "run.seed"),
        ("devices.cpu[*].queue=1", ""),
        ("address_map[3].size=1GiB", "address_map[0].size"),
        ("events[2].at=1us", "events[0].at"),
        ("workload.host.phases[5].reads=1", "workload.host.phases[0].reads"),
    ],
)
def test_a_path_that_matches_nothing_is_an_error(spec_text: str, override: str, suggestion: str) -> None:
    """A list that is too short is told with its entries: beyond the links the same path was offered again."""
    text = f"{spec_text}\nevents: [{{at: 1us, fail: {{device: mem0}}}}]\n"
    text = text.replace("host: {pattern", "host: {phases: [{reads: 1, requests: 10}, {requests: 5}], pattern")
    with pytest.raises(InputError) as error:
        resolved(text, override)
    assert "matches nothing" in error.value.problem
    assert f"(from --set {override})" in error.value.problem
    assert error.value.suggestion == suggestion


@pytest.mark.parametrize(
    ("override", "to"),
    [
        ("address_map=[{to: mem1}]", ["mem1"]),
        ("address_map[0]={to: [mem1, mem3]}", ["mem1", "mem3"]),
        ("address_map[0].to=mem[*]", ["mem0", "mem1", "mem2", "mem3"]),
        ('address_map[0].to=[mem0, "mem[2-3]"]', ["mem0", "mem2", "mem3"]),
    ],
)
def test_regions_are_set_as_they_are_written(spec_text: str, override: str, to: list[str]) -> None:
    assert resolved(spec_text, override)["address_map"][0]["to"] == to


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("address_map[0].to=nem1", "address_map[0].to: unknown device 'nem1'"),
        ("address_map=[{interleave: 256B}]", "'to' is missing"),
        ("address_map[0]=mem0", "not a map"),
    ],
)
def test_wrong_regions_that_are_set_are_refused(spec_text: str, override: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        resolved(spec_text, override)
    assert problem in str(error.value)
    assert f"(from --set {override})" in str(error.value)


@pytest.mark.parametrize("override", ["devices.host.queue", "=3", "devices..queue=3", "run.seed=[1"])
def test_a_malformed_override_is_an_error(spec_text: str, override: str) -> None:
    with pytest.raises(InputError):
        resolved(spec_text, override)


NAMES = st.from_regex(r"[a-z]{1,3}", fullmatch=True)


@st.composite
def written_specs(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """A spec with ranges of memories behind a bus, and how many of each there are."""
    counts = draw(
        st.dictionaries(NAMES.filter(lambda name: name != "bus"), st.integers(1, 12), min_size=1, max_size=4)
    )
    lines = ["devices:", "  bus: {kind: bus}"]
    lines += [f"  {stem}[0-{count - 1}]: {{kind: memory, queue: {count}}}" for stem, count in counts.items()]
    lines += [
        "links:",
        *(f'  - {{between: [bus, "{stem}[*]"], delay: {n}ns}}' for n, stem in enumerate(counts)),
    ]
    lines += ["address_map:", *(f'  - {{to: "{stem}[*]"}}' for stem in counts)]
    return "\n".join(lines), counts


@given(written_specs())
def test_every_range_is_spelt_out_once(written: tuple[str, dict[str, int]]) -> None:
    text, counts = written
    spec = resolved(text)
    names = [f"{stem}{i}" for stem, count in counts.items() for i in range(count)]
    assert list(spec["devices"]) == ["bus", *names]
    assert [link["between"] for link in spec["links"]] == [["bus", name] for name in names]
    assert [name for region in spec["address_map"] for name in region["to"]] == names


@given(written_specs())
def test_what_is_resolved_reads_back_to_the_same(written: tuple[str, dict[str, int]]) -> None:
    first = resolve(read_text(written[0]))
    again = resolve(read_text(to_yaml(first.plain())))
    assert again.plain() == first.plain()
    assert again.hash() == first.hash()


def test_the_hash_is_of_the_meaning_and_not_of_the_form(spec_text: str) -> None:
    first = resolve(read_text(spec_text)).hash()
    assert resolve(read_text("# a comment\n" + spec_text)).hash() == first
    assert (
        resolve(read_text(spec_text.replace("{warmup: 200, seed: 1}", "{seed: 1, warmup: 200}"))).hash()
        == first
    )
    assert resolve(read_text(spec_text), [Override.parse("devices.mem2.media.latency=46ns")]).hash() != first


def test_a_trace_is_found_beside_its_spec_and_hashed_by_its_contents(tmp_path: Path) -> None:
    hashes = []
    for folder, content in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.trace").write_text(content)
        (tmp_path / folder / "s.yaml").write_text(
            "devices: {h: {kind: host}}\nworkload: {h: {trace: t.trace}}"
        )
        spec = resolve(read_file(tmp_path / folder / "s.yaml"))
        assert spec.plain()["workload"]["h"]["trace"] == str(tmp_path / folder / "t.trace")
        hashes.append(spec.hash())
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    "text",
    [
        "topology: {kind: fully-connected, switches: 64}\nworkload: {'host*': {pattern: random, requests: 1}}",
        "topology: {kind: ring, switches: 4, link: {bandwidth: 1GB/s}}\nlinks: [{between: [sw0, sw2]}]",
        "topology: {kind: chain, switches: 2}\nname: two",
        "devices: {host: {kind: host}}",
    ],
)
def test_the_hash_is_that_of_the_plain_spec(text: str) -> None:
    """However the links are held, and however many are looked at in one go."""
    spec = resolve(read_text(text))
    whole = json.dumps(spec.plain(), sort_keys=True, separators=(",", ":"))
    assert spec.hash() == hashlib.sha256(whole.encode()).hexdigest()[:16]


def test_generated_links_are_made_when_they_are_asked_for() -> None:
    text = "topology: {kind: spine-leaf, spines: 2, leaves: 4, devices_per_leaf: 2}\n"
    text += "workload: {'host*': {pattern: random, requests: 9}}"
    spec = resolve(read_text(text))
    links, plain = spec.lean()["links"], spec.plain()["links"]
    assert isinstance(links, _core.GeneratedLinks)
    assert isinstance(plain, list)
    assert len(links) == len(plain) == 2 * 4 + 8
    assert [links[index] for index in range(len(links))] == list(links) == plain
    assert links[0] is not links[0]
    with pytest.raises(IndexError):
        links[len(links)]
    assert _core.check(spec.lean()) == _core.check(spec.plain())


def test_generated_parts_become_nodes_when_they_are_looked_at() -> None:
    text = "topology: {kind: fully-connected, switches: 64}\nworkload: {'host*': {pattern: random, requests: 1}}\n"
    spec = resolve(read_text(text, "big.yaml"))
    links = spec.root.map()["links"]
    plain = links.plain()
    assert isinstance(plain, list)
    assert len(plain) == 64 * 63 // 2 + 64
    spec.hash()
    assert getattr(links, "_nodes") is None  # noqa: B009 - nobody has looked
    node = links.list()[7]
    assert node.plain() == plain[7]
    assert (node.origin.path, node.origin.file, node.origin.line) == ("links[7]", "big.yaml", 1)
    assert node.map()["between"].list()[1].origin.path == "links[7].between[1]"
    assert pickle.loads(pickle.dumps(links)).plain() == plain


def test_one_override_of_many_devices_copies_what_is_above_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the devices copied all of them."""
    copied: list[int] = []
    copy = Node.with_entries

    def counting(node: Node, entries: Mapping[str, Node]) -> Node:
        copied.append(len(entries))
        return copy(node, entries)

    monkeypatch.setattr(Node, "with_entries", counting)
    spec = resolved(
        "devices: {'mem[0-299]': {kind: memory, capacity: 1GiB}}", "devices.mem[*].media.latency=60ns"
    )
    assert spec["devices"]["mem299"]["media"] == {"kind": "fixed", "latency": "60ns"}
    assert copied.count(300) == 1
