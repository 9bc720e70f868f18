"""What tiering cannot do is refused before a run: exit code 2, with the file, the line, the key and what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import forked
from plugin_support import built
from validation.examples import some

SPEC = """\
devices:
  host: {kind: host}
  near: {kind: memory, capacity: 64KiB}
  far:  {kind: memory, capacity: 1MiB}
links:
  - {between: [host, near]}
  - {between: [host, far], delay: 100ns}
address_map: [{to: near}, {to: far}]
workload:
  host:
    pattern: random
    requests: 100
    footprint: 64KiB
    addresses: first-touch
    tiering: {kind: promote-on-fault, period: 10us, scan: 64KiB}
"""
KIND = "{kind: promote-on-fault, period: 10us, scan: 64KiB}"
HOT = "{kind: hot-pages, every: 10, hot: 2, period: 10us, keep_free: 8KiB}"
SCAN = "scan_size: 64KiB, period_min: 10us, period_max: 20us, period_floor: 1us"
LINUX = f"{{kind: autonuma, {SCAN}}}"
MODE_2 = f"{{kind: memory-tiering, {SCAN}, threshold: 5us, threshold_step: 1us, threshold_max: 8us}}"
TPP = f"{{kind: tpp, {SCAN}, demote_below: 0.02, demotion_pause: 10us}}"


def refusal(cxloom: Callable[..., Any], tmp_path: Path, text: str, *more: str) -> str:
    """What a run says that is refused; it writes nothing."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(text)
    done = cxloom("run", str(spec), "--out", str(tmp_path / "out"), *more)
    assert done.code == 2, done.out + done.err
    assert done.out == ""
    assert not (tmp_path / "out").exists()
    return str(done.err)


def test_looks_that_leave_no_time_are_told_and_not_played_for_ever(
    cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    """Fourteen near pages at 50 ns are 700 ns: every 600 ns nothing is left, every 900 something, elsewhere all."""
    text = SPEC.replace("footprint: 64KiB", "footprint: 96KiB").replace(KIND, HOT.replace("10us", "600ns"))
    told = refusal(cxloom, tmp_path, text)
    assert "spec.yaml:15:5: workload.host.tiering: the kernel's own work leaves the program no time" in told
    assert "found: 700ns for each look, every 600ns" in told
    for change in (text.replace("600ns", "900ns"), text + "    kernel: {scanner: other}\n"):
        (tmp_path / "spec.yaml").write_text(change)
        assert cxloom("run", str(tmp_path / "spec.yaml")).code == 0


@pytest.mark.parametrize("host", ["core: {}", "queue: 4"])
def test_looks_are_no_mistake_where_a_core_waits_anyway_or_the_work_is_over(
    cxloom: Callable[..., Any], tmp_path: Path, host: str
) -> None:
    """A core with memory of 20 us loses nothing; and a program that has ended has nothing to lose."""
    text = SPEC.replace("footprint: 64KiB", "footprint: 96KiB").replace(KIND, HOT.replace("10us", "600ns"))
    if "core" in host:
        text = text.replace("capacity: 1MiB", "capacity: 1MiB, media: {kind: fixed, latency: 20us}")
    else:
        text = text.replace("requests: 100", "requests: 3")
    text = text.replace(
        "{kind: host}", f"{{kind: host, {host}}}\n  other: {{kind: host}}\n  sw: {{kind: switch}}"
    )
    text = text.replace(
        "links:\n", "links:\n  - {between: [other, sw]}\n  - {between: [far, sw], delay: 100ns}\n"
    )
    text = text.replace("[host, far], delay: 100ns", "[host, sw]")
    text += "  other: {pattern: random, requests: 2000, base: 64KiB, footprint: 1MiB}\n"
    (tmp_path / "spec.yaml").write_text(text)
    done = cxloom("run", str(tmp_path / "spec.yaml"))
    assert done.code == 0, done.err


def test_looks_that_take_nothing_of_the_program_starve_it_not(
    cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    """Each look takes the 2 us of its shoot-down and nothing of the program, which waits for a page: its 64 lines are
    read and written 16 at a time at 20 us, 160 us and 80 looks."""
    text = SPEC.replace("period: 10us, scan: 64KiB", "period: 600ns, scan: 4KiB")
    text = text.replace("capacity: 1MiB", "capacity: 1MiB, media: {kind: fixed, latency: 20us}")
    text = text.replace("near: {kind: memory, capacity: 64KiB", "near: {kind: memory, capacity: 128KiB")
    text = text.replace("addresses: first-touch", "addresses: {kind: bind, nodes: [far]}")
    text += "    kernel: {protect: 0ns, interrupt: 0ns}\n"
    (tmp_path / "spec.yaml").write_text(text)
    done = cxloom("run", str(tmp_path / "spec.yaml"), "--json", "--quiet")
    assert done.code == 0, done.err
    assert json.loads(done.out)["per_requester"]["host"]["pages_moved"] > 0


@pytest.mark.parametrize(
    ("policy", "key", "says"),
    [
        (KIND.replace("10us", "0ns"), "period", "at least 1ps"),
        (KIND.replace("64KiB", "0B"), "scan", "at least 1B"),
        (KIND.replace("64KiB", "2MiB"), "scan", "at most 1088KiB, which near and far have together"),
        (HOT.replace("10us", "0ns"), "period", "at least 1ps"),
        (HOT.replace("every: 10", "every: 0"), "every", "at least 1"),
        (HOT.replace("hot: 2", "hot: 0"), "hot", "at least 1"),
        (HOT.replace("8KiB", "68KiB"), "keep_free", "at most 64KiB, which near has"),
        (LINUX.replace("64KiB", "2MiB"), "scan_size", "at most 1088KiB, which near and far have together"),
        (LINUX.replace("1us", "0ns"), "period_floor", "at least 1ps"),
        (LINUX.replace("64KiB", "0B"), "scan_size", "at least 1B"),
        (
            LINUX.replace("period_max: 20us", "period_max: 5us"),
            "period_max",
            "period_max is below period_min",
        ),
        (LINUX.replace("}", ", consecutive: 0}"), "consecutive", "at least 1"),
        (LINUX.replace("}", ", high_watermark: 1.5}"), "high_watermark", "at most 1"),
        (MODE_2.replace("threshold: 5us", "threshold: 0ns"), "threshold", "at least 1ps"),
        (MODE_2.replace("threshold: 5us", "threshold: 9us"), "threshold", "outside of threshold_step"),
        (MODE_2.replace("}", ", adapt: 0ns}"), "adapt", "at least 1ps"),
        (MODE_2.replace("}", ", rate_window: 0ns}"), "rate_window", "at least 1ps"),
        (MODE_2.replace("}", ", rate_limit: 0GB/s}"), "rate_limit", "rate"),
        (MODE_2.replace("}", ", high_watermark: 0.5}"), "promo_watermark", "is below high_watermark"),
        (TPP.replace("10us}", "0ns}"), "demotion_pause", "at least 1ps"),
        (TPP.replace("0.02", "-1"), "demote_below", "at least 0"),
        ("hemem", "keep_free", "found: 1GiB, the default\n  allowed: at most 64KiB, which near has"),
        ("{kind: hemem, keep_free: 8KiB, cool: 8}", "cool", "no page would be hot"),
        ("{kind: hemem, keep_free: 8KiB, period: 0ns}", "period", "at least 1ps"),
        ("{kind: oracle, foresees: 0}", "foresees", "at least 1"),
        ("{kind: oracle, least: 0}", "least", "at least 1"),
        ("{kind: oracle, period: 0ns}", "period", "at least 1ps"),
    ],
)
def test_a_policy_with_nothing_to_go_by(
    cxloom: Callable[..., Any], tmp_path: Path, policy: str, key: str, says: str
) -> None:
    said = refusal(cxloom, tmp_path, SPEC.replace(KIND, policy))
    assert re.search(rf"spec\.yaml:15(:\d+)?: workload\.host\.tiering\.{key}: ", said), said
    assert says in said


def test_all_there_is_may_be_scanned_and_kept_free(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    for policy in (KIND.replace("64KiB", "1088KiB"), HOT.replace("8KiB", "64KiB")):
        spec.write_text(SPEC.replace(KIND, policy))
        assert cxloom("run", str(spec)).code == 0


def test_a_default_above_all_memory_scans_all_of_it(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    """Linux scans 256 MB at a time at most, which nobody has to write in a system of one."""
    found = {}
    for size in ("", "scan_size: 1088KiB, ", "scan_size: 256MiB, ", "scan_size: 4KiB, "):
        policy = LINUX.replace("scan_size: 64KiB, ", size)
        text = SPEC.replace(KIND, policy).replace("requests: 100", "requests: 9000")
        (tmp_path / "spec.yaml").write_text(text.replace("footprint: 64KiB", "footprint: 256KiB"))
        done = cxloom("run", str(tmp_path / "spec.yaml"), "--json", "--quiet")
        assert done.code == 0, done.err
        found[size] = json.loads(done.out)["per_requester"]["host"]
    default, all_of_it, written, little = found.values()
    assert default == all_of_it == written
    assert default["tiering"]["faults"] > little["tiering"]["faults"] > 0


def test_physical_addresses_do_not_drop_it(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    """Set over a file, too: who has tiering out of the way says so."""
    as_is = "workload.host.addresses=as-is"
    for text, more in ((SPEC.replace("first-touch", "as-is"), ()), (SPEC, ("--set", as_is))):
        said = refusal(cxloom, tmp_path, text, *more)
        assert "workload.host.tiering: tiering has no effect while addresses are as-is" in said
        assert "spec.yaml:15" in said
        assert "tiering to null" in said
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    assert cxloom("run", str(spec), "--set", as_is, "--set", "workload.host.tiering=null").code == 0


PLACEMENT = """
#include <cxloom/placement.hpp>

namespace {

using namespace cxloom;

class Astray final : public PagePlacement {
 public:
  struct Params {
    std::uint64_t node = 0;
    std::uint64_t pages = 1;
    std::uint64_t from = 0;

    static void describe(Schema<Params>& schema) {
      schema.doc("Says what it is told to.");
      schema.field("node", &Params::node).doc("The node of pages from `from` on.");
      schema.field("pages", &Params::pages).doc("So many of them at a time.");
      schema.field("from", &Params::from).doc("Pages before it are in the last node.");
    }
  };
  Astray(const Params& params, const PlacementContext&) : params_(params) {}
  std::optional<Choice> place(std::uint64_t page, std::uint64_t, std::span<const std::uint64_t> free) override {
    if (page < params_.from) return Choice{free.size() - 1, 1};
    return Choice{params_.node, params_.pages};
  }

 private:
  Params params_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.placements.add<Astray>("astray"); }
"""


@pytest.fixture(scope="module")
def astray(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("astray") / "astray.cpp"
    source.write_text(PLACEMENT)
    return built(source)


@pytest.mark.parametrize("touched", ["before", "during"])
@pytest.mark.parametrize("hosts", [1, 2])
@pytest.mark.parametrize(
    ("params", "says"),
    some(
        [
            ("node: 2", ["into a node that is not there", "found: node 2", "allowed: 0 (near) or 1 (far)"]),
            ("node: 2, from: 5", ["page 5 of the program into a node", "found: node 2"]),
            ("node: 0, pages: 0", ["where it has no frame", "found: 0 pages into near"]),
            ("node: 0, pages: 99", ["where it has no frame", "found: 99 pages into near"]),
        ]
    ),
)
def test_a_placement_of_a_plugin_that_goes_astray(
    astray: Path, tmp_path: Path, touched: str, hosts: int, params: str, says: list[str]
) -> None:
    text = SPEC.replace("first-touch", f"{{kind: astray, {params}}}\n    touched: {touched}")
    if hosts == 2:  # memory is divided between them
        text = text.replace("  near:", "  other: {kind: host}\n  near:").replace(
            "  - {between: [host, near]}", "  - {between: [host, near]}\n  - {between: [other, near]}"
        )
        text = text.replace("capacity: 64KiB}", "capacity: 64KiB, heads: 2}")
        text += "  other: {pattern: random, requests: 100, footprint: 4KiB, addresses: first-touch}\n"
    spec = tmp_path / "spec.yaml"
    spec.write_text(text)
    done = forked("run", str(spec), "--plugin", str(astray))
    assert done.returncode == 2, done.stdout + done.stderr
    line = text[: text.index("addresses:")].count("\n") + 1
    assert re.search(rf"spec\.yaml:{line}(:\d+)?: workload\.host\.addresses: ", done.stderr), done.stderr
    for each in says:
        assert each in done.stderr


def test_a_placement_that_goes_astray_while_a_trace_is_played(astray: Path, tmp_path: Path) -> None:
    """Its pages show one by one."""
    lines = [f"0x{page * 4096:x} R 64" for page in range(10)]
    (tmp_path / "trace.txt").write_text("\n".join(["# cxloom-trace 2: address kind size", *lines]) + "\n")
    text = SPEC.replace("first-touch", "{kind: astray, node: 2, from: 5}").replace("footprint: 64KiB", "")
    text = text.replace("pattern: random", f"trace: {tmp_path / 'trace.txt'}").replace("requests: 100", "")
    (tmp_path / "spec.yaml").write_text(text)
    done = forked("run", str(tmp_path / "spec.yaml"), "--plugin", str(astray))
    assert done.returncode == 2, done.stdout + done.stderr
    assert re.search(r"spec\.yaml:14(:\d+)?: workload\.host\.addresses: ", done.stderr), done.stderr
    assert "page 5 of the program into a node that is not there" in done.stderr
