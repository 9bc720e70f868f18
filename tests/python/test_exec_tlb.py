"""Programs on systems whose cores translate addresses: what look-ups and walks of the page table take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exec_support import spec
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.execution import execute, replay
from cxloom.execution.result import Execution, ExecutionResult
from cxloom.report.execution_page import execution_page
from cxloom.report.execution_table import sentence
from cxloom.trace import PAGE_WALK, capture, open_trace
from cxloom.trace.capturing import CacheLevel

TINY = (CacheLevel("L1", "1KiB", 4),)
STEPS = 20_000
CYCLE = 0.25
LOOK_UP = 7 * CYCLE
NEAREST = 5 * CYCLE
"""The latency of a load that hits."""
TLB = "{entries: 64, ways: 4, second_entries: 512, second_ways: 4}"


def with_tlb(folder: Path, name: str = "near", latency: str = "80ns", tlb: str = TLB, **instead: str) -> Path:
    """A system whose cores have this TLB."""
    return spec(folder, name, latency, **{"core: {}": f"core: {{tlb: {tlb}}}"}, **instead)


def played(command: list[str], system: Path, **options: Any) -> ExecutionResult:
    """What the marked part takes."""
    return execute(command, [cx.System.load(str(system))], caches=TINY, region="marks", **options)


def idle(system: Path) -> float:
    """A read of a line, ns."""
    [route] = cx.System.load(str(system)).check()["routes"]
    return float(route["idle_read_ns"]["mean"])


@needs_qemu
@pytest.mark.parametrize(
    ("pages", "tlb", "reads", "cycles"),
    [
        (32, TLB, 1, 0),  # all in the first level
        (256, TLB, 1, 7),  # in the second
        (
            4096,
            TLB,
            2,
            7,
        ),  # in neither: the entry of the page is read from memory, what is above it is at hand
        (
            4096,
            TLB.replace("{", "{walk_cache: 0, "),
            2,
            7 + 3 * 5,
        ),  # what is above it is in the nearest cache
        (4096, TLB.replace("{", "{page: 2MiB, "), 1, 0),  # eight pages
    ],
)
def test_a_step_of_a_chase_through_pages(
    program: str,
    tmp_path: Path,
    pages: int,
    tlb: str,
    reads: int,
    cycles: int,
) -> None:
    system = with_tlb(tmp_path, tlb=tlb)
    # A set in which what comes by leaves the entries of the upper levels where they are.
    caches = (CacheLevel("L1", "4KiB", 64),) if "walk_cache" in tlb else TINY
    result = execute(
        [program, "pages", str(pages), "4096"], [cx.System.load(str(system))], caches=caches, region="marks"
    )
    [execution] = result.executions
    step = reads * idle(system) + cycles * CYCLE
    assert execution.time_ns == pytest.approx(STEPS * step, rel=0.002)
    assert sum(execution.parts().values()) == pytest.approx(1.0)
    found = result.translation
    assert found is not None
    assert found.misses == pytest.approx(STEPS if cycles else 0, abs=20)
    assert found.walks == pytest.approx(STEPS * (reads - 1), abs=20)
    loads = 4 if "walk_cache" in tlb else 1
    assert found.loads == pytest.approx(loads * found.walks, abs=60)
    assert execution.core["walk_ns"] == pytest.approx(STEPS * (reads - 1) * idle(system), rel=0.03, abs=2000)


@needs_qemu
def test_a_chase_waits_for_a_walk_that_another_read_began(program: str, tmp_path: Path) -> None:
    """Another line of the page is read first, and the step needs the place of the page as well."""
    system = with_tlb(tmp_path)
    [execution] = played([program, "beside", "4096", "4096"], system).executions
    assert execution.time_ns == pytest.approx(STEPS * (2 * idle(system) + LOOK_UP), rel=0.01)


@needs_qemu
def test_without_a_tlb_pages_cost_nothing(program: str, tmp_path: Path) -> None:
    result = played([program, "pages", "4096", "4096"], spec(tmp_path))
    assert result.executions[0].time_ns == pytest.approx(STEPS * idle(spec(tmp_path)), rel=0.002)
    assert result.translation is None
    assert "walk_ns" not in result.executions[0].core
    assert "tlb" not in result.to_dict()


@needs_qemu
def test_a_triad_hardly_notices(program: str, tmp_path: Path) -> None:
    """A walk for each 64 lines, and the entry of the page is on the line of that before for seven of eight."""
    bandwidth = [
        played([program, "triad", "65536"], system).executions[0].summary["bandwidth_gb_per_s"]
        for system in (spec(tmp_path), with_tlb(tmp_path, "far", "80ns"))
    ]
    assert bandwidth[1] == pytest.approx(bandwidth[0], rel=0.02)


@needs_qemu
def test_walkers_bound_the_walks_under_way(program: str, tmp_path: Path) -> None:
    """Independent reads, each behind a walk that goes to memory: as many at a time as there are walkers."""
    took = {}
    for walkers in (1, 2, 4):
        wide = {"20GB/s": "2000GB/s", "64GB/s": "2000GB/s"}
        system = with_tlb(tmp_path, f"of{walkers}", tlb=TLB.replace("{", f"{{walkers: {walkers}, "), **wide)
        [execution] = played([program, "touch", "4096", "4096"], system).executions
        took[walkers] = execution.time_ns
        assert execution.time_ns == pytest.approx(4 * 4096 * idle(system) / walkers, rel=0.01)
    assert took[1] > took[2] > took[4]


@needs_qemu
def test_page_tables_are_where_they_are_put(
    program: str,
    tmp_path: Path,
    cxloom: Callable[..., Any],
) -> None:
    """With the data, or on the other side."""
    file, out = tmp_path / "both.yaml", tmp_path / "result.json"
    file.write_text(
        "name: both\n"
        "devices:\n"
        f"  host: {{kind: host, process_time: 5ns, core: {{tlb: {TLB}}}}}\n"
        "  near: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 80ns}}\n"
        "  far: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 280ns}}\n"
        'links: [{between: ["host", "near"]}, {between: ["host", "far"], port_delay: 1ns}]\n'
        "address_map: [{to: near}, {to: far}]\n"
    )

    def steps(*options: str) -> list[float]:
        more = ("--levels", "L1:1KiB:4", "--roi", "marks", "--out", out)
        outcome = cxloom("exec", "--system", file, *options, *more, "--", program, "pages", "4096", "4096")
        assert outcome.code == 0, outcome.err
        return [each["time_ns"] / STEPS for each in json.loads(out.read_text())["systems"]]

    near, far = 90, 294
    bind = "{{kind: bind, nodes: [{}]}}".format
    assert steps("--membind", "far") == [
        pytest.approx(2 * near + LOOK_UP, rel=0.01),
        pytest.approx(2 * far + LOOK_UP, rel=0.01),
    ]
    assert steps("--membind", "far", "--page-tables", bind("near"))[1] == pytest.approx(
        near + far + LOOK_UP, rel=0.01
    )
    assert steps("--page-tables", bind("far")) == [
        pytest.approx(2 * near + LOOK_UP, rel=0.01),
        pytest.approx(near + far + LOOK_UP, rel=0.01),
    ]
    wrong = cxloom("exec", "--system", file, "--page-tables", bind("fra"), "--", program)
    assert wrong.code == 2
    assert "--page-tables.nodes[0]" in wrong.err
    assert "fra" in wrong.err


@needs_qemu
def test_the_result_names_page_walks(program: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    out, page = tmp_path / "result.json", tmp_path / "page.html"
    options = ("--levels", "L1:1KiB:4", "--roi", "marks", "--out", out, "--html", page)
    outcome = cxloom("exec", "--system", with_tlb(tmp_path), *options, "--", program, "pages", "4096", "4096")
    assert outcome.code == 0, outcome.err
    said = " ".join(outcome.err.split())
    assert "goes to page walks: waiting for page walks" in said
    assert "page walks of 1" in said
    found = json.loads(out.read_text())
    instructions = found["instructions"]
    walks = found["tlb"]["walks"]
    assert walks == pytest.approx(STEPS, abs=30)
    assert found["tlb"]["walks_per_kilo_instruction"] == pytest.approx(1000 * walks / instructions)
    assert found["tlb"]["misses_per_kilo_instruction"] >= found["tlb"]["walks_per_kilo_instruction"]
    assert found["systems"][0]["time_parts"]["page walks"] == pytest.approx(0.5, abs=0.01)
    text = page.read_text()
    assert "page walks" in text
    assert "misses of the TLB" in text


@needs_qemu
def test_look_ups_in_caches_are_page_walks_too(program: str, tmp_path: Path) -> None:
    """Everything is in the first-level cache but the translations: what the second level takes is not executing."""
    result = execute(
        [program, "pages", "256", "4096"], [cx.System.load(str(with_tlb(tmp_path)))], region="marks"
    )
    [execution] = result.executions
    step = NEAREST + LOOK_UP
    assert execution.time_ns == pytest.approx(STEPS * step, rel=0.05)
    assert execution.parts()["page walks"] == pytest.approx(LOOK_UP / step, rel=0.05)
    assert sum(execution.parts().values()) == pytest.approx(1.0)
    assert "page walks" in sentence(execution, "near")


@needs_qemu
def test_a_replay_has_the_walks_of_its_recording(program: str, tmp_path: Path) -> None:
    system = cx.System.load(str(with_tlb(tmp_path)))
    trace = tmp_path / "trace.parquet"
    command = [program, "pages", "4096", "4096"]
    online = execute(command, [system], caches=TINY, record=trace)
    again = replay(trace, [system])
    assert again.translation == online.translation is not None
    for one, other in zip(online.executions, again.executions, strict=True):
        assert one.time_ns == other.time_ns
        assert one.core == other.core
        assert one.parts() == other.parts()
    walks = sum(int((batch.role == PAGE_WALK).sum()) for batch in open_trace(trace))
    assert STEPS < walks < online.accesses
    # What is captured without a system is what another run does on one.
    captured = tmp_path / "captured.parquet"
    core = json.loads(open_trace(trace).metadata["core"])
    capture(command, captured, caches=TINY, core=core)
    apart = replay(captured, [system])
    assert apart.executions[0].time_ns == pytest.approx(online.executions[0].time_ns, rel=0.02)
    assert execution_page(apart)


@needs_qemu
def test_a_sample_of_a_program_is_the_whole(program: str, tmp_path: Path) -> None:
    """Windows of a chase, behind its first lap."""
    from cxloom.execution.sampling import Sampling

    system = cx.System.load(str(with_tlb(tmp_path)))
    command = [program, "pages", "4096", "4096"]
    # The warm-up outlasts the reorder window, which the last steps of the window before it are still in.
    sampling = Sampling(head=12_000, period=2500, window=500, warm_up=1000, periods=5)

    def run(sampling: Sampling | None) -> Execution:
        return execute(command, [system], caches=TINY, region="marks", sampling=sampling).executions[0]

    whole, part = run(None), run(sampling)
    assert part.sampled is not None
    assert part.time_ns == pytest.approx(whole.time_ns, rel=0.01)
    assert part.parts()["page walks"] == pytest.approx(whole.parts()["page walks"], rel=0.02)


@needs_qemu
def test_the_shipped_servers_have_one(program: str, tmp_path: Path) -> None:
    for name in ("xeon-gold-6416h", "xeon-platinum-8468v", "epyc-9354"):
        result = execute(
            [program, "pages", "4096", "4096"], [cx.System.load(f"server/{name}")], region="marks"
        )
        assert result.translation is not None
        assert result.translation.walks == pytest.approx(STEPS, abs=50)


def test_page_tables_that_nobody_reads_or_that_have_two_places(
    tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    tables = ("--page-tables", "{kind: bind, nodes: [mem]}")
    for system, more, said in (
        (spec(tmp_path), (), "--page-tables: the core of 'host' reads no page tables"),
        (
            with_tlb(tmp_path, "far"),
            ("--place", "tables=mem"),
            "--page-tables: page tables are put in two places",
        ),
    ):
        outcome = cxloom("exec", "--system", system, *tables, *more, "--", "true")
        assert outcome.code == 2
        assert said in outcome.err


def test_mistakes(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    for given, said in {
        "{ways: 5}": "entries must be a multiple of ways",
        "{page: 1GiB}": "4KiB or 2MiB",
        "{walkers: 0}": "at least 1",
        "{entrys: 1}": "did you mean",
    }.items():
        outcome = cxloom("check", with_tlb(tmp_path, tlb=given))
        assert outcome.code == 2
        assert said in " ".join(outcome.err.split()), outcome.err
        assert "tlb" in outcome.err
