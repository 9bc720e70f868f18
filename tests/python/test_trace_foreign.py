"""The traces of other tools: told by what is in them, and read to the accesses that they stand for."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from foreign_traces import FORMS

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.trace import FORMATS, READ, TraceBatch, open_trace, write_trace
from cxloom.trace.format import DTYPES

SYSTEM = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem], bandwidth: 32GB/s}]
address_map: [{to: mem}]
"""
WORK = "workload: {{host: {{trace: {}}}}}\n"


def read(path: Path, **options: Any) -> TraceBatch:
    batches = list(open_trace(path, **options))
    return TraceBatch(*(np.concatenate([getattr(batch, name) for batch in batches]) for name in DTYPES))


def same(one: TraceBatch, other: TraceBatch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in DTYPES)


def told(form: str) -> dict[str, Any]:
    """What has to be said beside a trace, so that all is known of it."""
    about = FORMS[form]
    return {
        **about.options,
        **({"tick": "1ns"} if about.ticks else {}),
        **({"format": form} if about.needs_format else {}),
    }


def arguments(form: str) -> list[str]:
    """The same as the command takes it."""
    given = told(form)
    if "levels" in given:
        given["levels"] = ",".join(map(str, given["levels"]))
    return [part for key, value in given.items() for part in (f"--{key}", value)]


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": lambda content: bytes(pa.compress(content, codec="zstd", asbytes=True)),
    "xz": lzma.compress,
    "two streams of xz": lambda content: lzma.compress(content[:7]) + lzma.compress(content[7:]),
}


def test_every_form_of_the_core_is_here() -> None:
    assert set(FORMS) == set(FORMATS) - {"parquet", "text", "lackey"}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("form", FORMS)
def test_forms_are_recognised_however_packed(form: str, packing: str, tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(PACKINGS[packing](FORMS[form].content))
    reader = open_trace(tmp_path / "given", **told(form))
    assert reader.format == form
    assert same(read(tmp_path / "given", **told(form)), FORMS[form].batch)
    assert same(read(tmp_path / "given", **told(form) | {"format": form}), FORMS[form].batch)


@pytest.mark.parametrize("form", FORMS)
def test_info_and_convert_know_them(form: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path, batch = tmp_path / "given", FORMS[form].batch
    path.write_bytes(FORMS[form].content)
    found = json.loads(cxloom("trace", "info", path, "--json", *arguments(form)).out)
    assert found["format"] == form
    assert (found["accesses"], found["reads"]) == (len(batch), int((batch.kind == READ).sum()))
    assert found["instructions"] == int(batch.instruction_gap.sum())
    for target in ("ours.parquet", "ours.txt"):
        assert cxloom("trace", "convert", path, tmp_path / target, *arguments(form)).code == 0
        assert same(read(tmp_path / target), batch)


@pytest.mark.parametrize("form", FORMS)
def test_a_run_replays_them(form: str, tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(FORMS[form].content)
    beside = {key: value for key, value in told(form).items() if key != "tick"}
    if FORMS[form].batch.timestamp[0] >= 0:
        beside |= {"replay": "timestamps"} | ({"tick": "1ns"} if FORMS[form].ticks else {})
    work = f"given, {json.dumps(beside)[1:-1]}" if beside else "given"
    spec = SYSTEM.replace("1GiB", "4GiB") + WORK.format(work) + "outputs: {requests: true}\n"
    (tmp_path / "spec.yaml").write_text(spec)
    result = cx.run(cx.load(tmp_path / "spec.yaml"))
    batch = FORMS[form].batch
    # A flush of a host without caches has nothing to write back, and is no request.
    assert result.summary["reads"] == int((batch.kind == READ).sum())
    rows = result.requests()
    reads = batch.address[batch.kind == READ]
    assert set(rows.filter(rows["kind"] == "read")["address"].to_list()) == set(reads.tolist())


@pytest.mark.parametrize("form", [form for form in FORMS if FORMS[form].has_lines])
def test_garbage_is_named_by_its_line_and_what_the_file_was_taken_for(form: str, tmp_path: Path) -> None:
    about, path = FORMS[form], tmp_path / "given"
    head = b"".join(about.content.splitlines(keepends=True)[:2])
    path.write_bytes(head + about.garbage)
    with pytest.raises(InputError) as caught:
        read(path, **told(form))
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    said = f"(the file was taken for {form}: " in caught.value.allowed
    assert said == (not about.needs_format)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_cut_off_is_refused_or_ends_with_a_whole_access(
    form: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    content, path = FORMS[form].content, tmp_path / "given"
    for kept in range(1, len(content), 1 if len(content) < 100 else 17):
        path.write_bytes(content[:kept])
        try:
            batch = read(path, **told(form) | {"format": form})
        except InputError as error:
            assert error.file == str(path)  # noqa: PT017 - some are refused, some are not
        else:
            assert len(batch) <= len(FORMS[form].batch)
    path.write_bytes(gzip.compress(content)[:-12])
    outcome = cxloom("trace", "info", path, "--format", form, *arguments(form))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("content", "forms"),
    [
        (b"0 64\n1 128\n", ["ramulator2-simple-o3", "dinero"]),
        (b"31: read 0x40\n", ["dramsys-stl", "dramsys-rstl"]),
        (b"8,0 3 1 0.000000000 697 Q W 16 + 8 [a]\n", ["blkparse", "blkparse-queued"]),
    ],
)
def test_what_could_be_of_several_forms_is_not_guessed(
    content: bytes, forms: list[str], tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    path = tmp_path / "given.trc"
    path.write_bytes(content)
    outcome = cxloom("trace", "info", path)
    assert outcome.code == 2
    assert "--format: the content fits several forms of traces" in " ".join(outcome.err.split())
    assert all(form in outcome.err for form in forms)
    spec = tmp_path / "spec.yaml"
    spec.write_text(SYSTEM + WORK.format("given.trc"))
    refused = cxloom("check", spec)
    assert refused.code == 2
    assert "spec.yaml:4" in refused.err
    assert "format: NAME beside it" in " ".join(refused.err.split())
    spec.write_text(SYSTEM + WORK.format(f"given.trc, format: {forms[-1]}"))
    assert cxloom("check", spec).code == 0


def test_files_of_dramsys_say_by_their_names_what_their_cycles_count(tmp_path: Path) -> None:
    for name, form in [("a.stl", "dramsys-stl"), ("a.rstl", "dramsys-rstl"), ("a.rstl.xz", "dramsys-rstl")]:
        content = FORMS["dramsys-rstl"].content
        (tmp_path / name).write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
        assert open_trace(tmp_path / name).format == form


def test_what_is_no_trace_says_which_forms_there_are(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text("Dear reader,\nthis is no trace.\n")
    with pytest.raises(InputError, match="not a line of a trace in any form that is known") as caught:
        open_trace(path)
    assert caught.value.line == 1
    assert all(form in str(caught.value) for form in FORMATS)


def test_a_large_request_becomes_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text("1,hm,0,Write,4096,33554432,1\n")
    reader = open_trace(path)
    counts = [len(batch) for batch in reader]
    assert sum(counts) == 1 << 19  # of 32 MiB
    assert max(counts) <= 1 << 17


def test_times_that_go_back_are_remarked_on(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "given"
    path.write_text("50,hm,0,Read,0,64,1\n40,hm,0,Read,64,64,1\n60,hm,0,Read,64,64,1\n")
    assert read(path).timestamp.tolist() == [0, 0, 1_000_000]
    for command in (("info", path), ("convert", path, tmp_path / "out.txt")):
        said = cxloom("trace", *command)
        assert "1 request with a time before that of the request above" in said.out


@pytest.mark.parametrize("form", [*(form for form in FORMS if FORMS[form].ticks), "text"])
def test_ticks_whose_length_nobody_says_are_no_times(
    form: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    path = tmp_path / "given"
    path.write_bytes(b"0x40 R 0\n0x80 R 3\n" if form == "text" else FORMS[form].content)
    chosen = ["--format", form]
    assert "ticks; --tick says how long one takes" in cxloom("trace", "info", path, *chosen).out
    found = json.loads(cxloom("trace", "info", path, *chosen, "--json").out)
    assert found["first_timestamp_ps"] is None
    assert found["last_tick"] > found["first_tick"]
    converted = cxloom("trace", "convert", path, tmp_path / "out.parquet", *chosen)
    assert converted.code == 2
    assert "--tick" in converted.err
    assert not (tmp_path / "out.parquet").exists()
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        SYSTEM.replace("1GiB", "4GiB") + WORK.format(f"given, format: {form}, replay: timestamps")
    )
    for command in ("check", "run"):
        refused = cxloom(command, spec)
        assert refused.code == 2
        text = " ".join(refused.err.split())
        assert "spec.yaml:4" in text
        assert "workload.host.trace" in text
        assert "counts ticks or cycles, and does not say how long one takes" in text
        assert "tick: 625ps" in text
    # As fast as the queue allows, no times are needed.
    spec.write_text(SYSTEM.replace("1GiB", "4GiB") + WORK.format(f"given, format: {form}"))
    assert cxloom("check", spec).code == 0


# A cycle of 2.4 GHz takes 1250/3 ps: the access at cycle 3 n is due at 1250 n ps, however large n is.
def test_ticks_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text("".join(f"0x40 READ {cycle}\n" for cycle in (1, 3, 2_400_000_000, 2_400_000_001)))
    assert read(path, tick="2.4GHz").timestamp.tolist() == [416, 1250, 10**12, 10**12 + 416]
    # 0.000333 ps less than that of 2.4 GHz: after a second of cycles it shows.
    assert read(path, tick="416.667ps").timestamp.tolist()[2] == 1_000_000_800_000
    with pytest.raises(InputError, match="unknown unit"):
        open_trace(path, tick="2.4GB")


def test_a_spec_replays_cycles_by_their_frequency(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    spec = SYSTEM + WORK.format("given.trc, replay: timestamps, tick: 1.6GHz")
    (tmp_path / "given.trc").write_text("".join(f"{64 * i:#x} READ {1000 * i}\n" for i in range(20)))
    (tmp_path / "spec.yaml").write_text(spec)
    result = json.loads(cxloom("run", tmp_path / "spec.yaml", "--json").out)
    assert (result["requests"], result["reads"]) == (20, 20)
    # From the first access to the last one's answer: 19 000 cycles, and a latency.
    assert result["simulated_time_ns"] == 19_000 * 0.625 + result["latency_ns"]["mean"]


# --- repeated --------------------------------------------------------------------------------------------------------


def repeated(tmp_path: Path, work: str) -> Path:
    """A spec that replays accesses at 0 and 1 us so often."""
    (tmp_path / "given.trc").write_text("0x40 READ 0\n0x80 READ 1000\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        SYSTEM
        + WORK.format(f"given.trc, replay: timestamps, tick: 1ns, {work}")
        + "outputs: {requests: true}\n"
    )
    return spec


# Each round begins where the one before it ended: accesses are due at 0, 1, 1, 2, 2 and 3 us.
def test_a_trace_is_repeated(tmp_path: Path) -> None:
    rows = cx.run(cx.load(repeated(tmp_path, "repeat: 3"))).requests().sort("created_ps")
    assert sorted(rows["address"].to_list()) == [0x40] * 3 + [0x80] * 3
    first = rows["created_ps"][0]
    assert [time - first for time in rows["created_ps"].to_list()] == [
        0,
        10**6,
        10**6,
        2 * 10**6,
        2 * 10**6,
        3 * 10**6,
    ]


def test_forever_ends_with_the_requests_or_the_time(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    spec = repeated(tmp_path, "repeat: forever, requests: 501")
    assert json.loads(cxloom("run", spec, "--json").out)["requests"] == 501
    spec = repeated(tmp_path, "repeat: forever")
    assert cxloom("check", spec).code == 0
    refused = cxloom("run", spec)
    assert refused.code == 2
    text = " ".join(refused.err.split())
    assert "workload.host.repeat: a trace that is repeated for ever, and nothing that ends the run" in text
    limited = json.loads(cxloom("run", spec, "--max-time", "100us", "--json").out)
    assert limited["truncated"]
    assert limited["requests"] >= 199


@pytest.mark.parametrize("times", ["0", "-1", "never", "1.5"])
def test_how_often_is_a_number_or_forever(times: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    refused = cxloom("check", repeated(tmp_path, f"repeat: {times}"))
    assert refused.code == 2
    assert "1 or more, or forever" in refused.err


# --- gaps without a core ---------------------------------------------------------------------------------------------


# 1000 instructions between accesses, on a host that gives them no time: as if there were none, and it says so.
@pytest.mark.parametrize(
    ("host", "work", "said"),
    [
        ("", "", True),
        (", instruction_time: 1ns", "", False),
        (", core: {width: 4}", "", False),
        ("", ", rate: 10M/s", False),
    ],
)
def test_instruction_gaps_that_take_no_time_are_said(
    host: str, work: str, said: bool, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    (tmp_path / "given").write_text("".join(f"1000 {64 * i}\n" for i in range(50)))
    spec = tmp_path / "spec.yaml"
    spec.write_text(SYSTEM.replace("{kind: host}", f"{{kind: host{host}}}") + WORK.format(f"given{work}"))
    note = "the instructions between the accesses of workload.host took no time"
    result = json.loads(cxloom("run", spec, "--json").out)
    assert any(note in each for each in result["notes"]) == said
    assert (note in " ".join(cxloom("check", spec).out.split())) == said


def test_a_trace_without_gaps_has_none_to_lose(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "given").write_text("0x40 R\n0x80 W\n")
    (tmp_path / "spec.yaml").write_text(SYSTEM + WORK.format("given"))
    assert "took no time" not in cxloom("run", tmp_path / "spec.yaml", "--json").out


# --- options ---------------------------------------------------------------------------------------------------------


def test_coordinates_become_addresses_by_the_levels(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "trace"
    path.write_text("R 0,0,3\nW 1,2,3\n")  # of 2 channels with 3 banks of 4 bursts
    found = json.loads(cxloom("trace", "info", path, "--levels", "2,3,4", "--json").out)
    assert found["format"] == "ramulator2-read-write"
    assert (found["lowest_address"], found["highest_address"]) == (3 * 64, (1 * 12 + 2 * 4 + 3) * 64 + 63)


def test_a_spec_says_how_large_the_dram_is_whose_coordinates_a_trace_has(tmp_path: Path) -> None:
    (tmp_path / "given.trc").write_text("R 0,0,3\nW 1,2,3\n")
    spec = SYSTEM + WORK.format("given.trc, levels: [2, 3, 4]") + "outputs: {requests: true}\n"
    (tmp_path / "spec.yaml").write_text(spec)
    rows = cx.run(cx.load(tmp_path / "spec.yaml")).requests()
    assert sorted(rows["address"].to_list()) == [3 * 64, (1 * 12 + 2 * 4 + 3) * 64]


@pytest.mark.parametrize("form", FORMS)
def test_options_that_a_form_has_no_use_for_are_refused(form: str, tmp_path: Path) -> None:
    path, about = tmp_path / "given", FORMS[form]
    path.write_bytes(about.content)
    given = {"format": form, **about.options}
    assert open_trace(path, **given).format == form
    if not about.ticks:
        with pytest.raises(
            InputError, match=r"a tick of a trace (that has no times|whose times have)"
        ) as caught:
            open_trace(path, tick="1ns", **given)
        assert caught.value.path == "tick"
    if not about.options:
        with pytest.raises(InputError, match="levels of a trace that has addresses") as caught:
            open_trace(path, levels=[2], format=form)
        assert caught.value.path == "levels"


def test_our_own_forms_know_their_times(tmp_path: Path) -> None:
    for name in ("ours.parquet", "ours.txt"):
        write_trace(tmp_path / name, [FORMS["dramsim3"].batch])
        with pytest.raises(InputError, match="a tick of a trace whose times are picoseconds"):
            open_trace(tmp_path / name, tick="1ns")


def test_what_a_preset_says_of_its_trace_is_forgotten_with_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        SYSTEM + WORK.format("a.trc, replay: timestamps, tick: 1ns, levels: [2], format: dramsim3")
    )
    over = "preset: ./base.yaml\nworkload: {host: {requests: 5, %s}}\n"
    for source, kept in [("trace: b.trc", {"replay": "timestamps"}), ("pattern: random", {})]:
        (tmp_path / "over.yaml").write_text(over % source)
        work = cx.load(tmp_path / "over.yaml").resolve().plain()["workload"]["host"]
        assert {key: work[key] for key in ("replay", "tick", "levels", "format") if key in work} == kept
