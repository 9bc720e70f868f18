"""Execution traces of Chakra as graphs of tasks: what is read, what becomes of it, what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from chakra_files import (
    COLL,
    COMP,
    LOAD,
    METADATA,
    RECV,
    SEND,
    STORE,
    Written,
    block,
    trace_bytes,
    write_trace,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from kv_support import TRACES
from validation.examples import examples

import cxloom as cx
from cxloom.tasks.chakra.trace import NodeType, read_chakra

US = 1000.0

SYSTEM: dict[str, Any] = {
    "devices": {
        "host": {"kind": "host"},
        "gpu": {"kind": "gpu", "posted": 1024},
        "cxl": {"kind": "memory", "capacity": "64GiB"},
    },
    "links": [
        {
            "between": ["host", "gpu"],
            "bandwidth": "28GB/s",
            "header": "24B",
            "data_header": "24B",
            "port_delay": "100ns",
        },
        {"between": ["host", "cxl"], "bandwidth": "200GB/s", "port_delay": "25ns"},
    ],
    "address_map": [{"to": ["cxl"]}],
}


def tasks_of(*nodes: Written, folder: Path, **options: Any) -> dict[str, dict[str, Any]]:
    """The tasks of a trace by their names."""
    return {task["name"]: task for task in cx.import_chakra(write_trace(folder, *nodes), **options).tasks}


def played(cxloom: Callable[..., Any], folder: Path, file: Path, *options: str) -> dict[str, Any]:
    """What `cxloom run` says of the tasks of a trace, with the section that the import prints."""
    outcome = cxloom("tasks", "import", file, "--out", folder / "g.jsonl", "--json", *options)
    assert outcome.code == 0, outcome.err
    spec = SYSTEM | {"tasks": json.loads(outcome.out)["tasks"]}
    (folder / "spec.yaml").write_text(yaml.safe_dump(spec))
    run = cxloom("run", folder / "spec.yaml", "--json")
    assert run.code == 0, run.err
    found: dict[str, Any] = json.loads(run.out)["tasks"]
    return found


def test_a_graph_takes_its_longest_way(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    # CPU 10 us, then GPU 30 us beside a collective of 1 MB at 50 GB/s (20 us), then GPU 5 us behind both.
    nodes = [
        Written(7, name="call", duration=10, attributes={"is_cpu_op": True}),
        Written(3, name="matmul", data=[7], duration=30),
        Written(4, COLL, "reduce", data=[7], attributes={"comm_size": 1_000_000}),
        Written(5, name="step", data=[3, 4], duration=5),
    ]
    found = played(cxloom, tmp_path, write_trace(tmp_path, *nodes), "--network", "50GB/s")
    assert found["time_ns"] == 45 * US
    assert found["per_task"]["reduce#4"]["end_ns"] == 30 * US
    assert {lane: each["busy_ns"] for lane, each in found["per_lane"].items()} == {
        "cpu": 10 * US,
        "gpu-cores": 35 * US,
        "network": 20 * US,
    }
    slower = played(cxloom, tmp_path, tmp_path / "t.et", "--network", "10GB/s")
    assert slower["time_ns"] == (10 + 100 + 5) * US


def test_tensors_are_copies_of_the_dma_engine(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    size = 1 << 20
    nodes = [
        Written(0, LOAD, "load", attributes={"tensor_size": size}),
        Written(1, COMP, "layer", data=[0], duration=10),
        Written(2, STORE, "store", data=[1], attributes={"tensor_size": 2 * size}),  # behind the first
    ]
    found = played(cxloom, tmp_path, write_trace(tmp_path, *nodes))
    # Packets of 256 B take 10 ns, 5.8 us the launch, and 1 us the latency of one at most: docs/model/dma.md.
    for name, packets in (("load#0", 4096), ("store#2", 8192)):
        task = found["per_task"][name]
        took = task["end_ns"] - task["start_ns"]
        assert 5800 + packets * 10 < took < 5800 + packets * 10 + 1000
        assert task["bytes"] == packets * 256
    assert json.loads((tmp_path / "g.jsonl").read_text().splitlines()[2])["offset"] == f"{size}B"
    assert [each["task"] for each in found["critical_path"]] == ["load#0", "layer#1", "store#2"]


def test_operations_are_played_at_the_rate_that_is_given(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    nodes = [
        Written(0, duration=7, attributes={"num_ops": 2_000_000}),
        Written(1, duration=3, data=[0], attributes={"is_cpu_op": True}),
    ]
    file = write_trace(tmp_path, *nodes)
    assert played(cxloom, tmp_path, file)["time_ns"] == 10 * US
    by_ops = played(cxloom, tmp_path, file, "--compute", "ops", "--flops", "1e12")
    assert by_ops["time_ns"] == (2 + 3) * US
    assert played(cxloom, tmp_path, file, "--compute", "ops", "--flops", "5e11")["time_ns"] == (4 + 3) * US


def test_a_duration_is_zero_only_in_a_trace_that_records_durations(tmp_path: Path) -> None:
    """Protobuf leaves out a 0, so that a duration of 0 and none look the same."""
    nodes = [Written(0, duration=5), Written(1, duration=None, data=[0]), Written(2, duration=0, data=[1])]
    assert [task["time"] for task in tasks_of(*nodes, folder=tmp_path).values()] == ["5us", "0us", "0us"]
    with pytest.raises(cx.InputError, match=r"record 2: node 1 .* has no recorded duration"):
        tasks_of(nodes[1], Written(0, LOAD, duration=None, attributes={"tensor_size": 64}), folder=tmp_path)
    counted = Written(1, duration=None, attributes={"num_ops": 7})
    by_ops = tasks_of(counted, folder=tmp_path, compute="ops", flops=1e12)
    assert by_ops["n#1"] == {"name": "n#1", "kind": "compute", "on": "gpu-cores", "flops": 7}
    on_cpu = Written(1, duration=None, attributes={"num_ops": 7, "is_cpu_op": True})
    with pytest.raises(cx.InputError, match="no recorded duration") as caught:
        tasks_of(on_cpu, folder=tmp_path, compute="ops", flops=1e12)
    assert caught.value.allowed == "its duration"  # operations are played on the GPU alone


def test_work_without_a_time_is_noted_once(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """Beside a node with one: two of three take nothing, and the first is that of the file, not of the order."""
    nodes = [
        Written(9, name="late", duration=None, start=5, data=[4]),
        Written(4, name="timed", duration=5),
        Written(6, name="early", duration=None),
        Written(7, LOAD, duration=None, attributes={"tensor_size": 64}),
    ]
    file = write_trace(tmp_path, *nodes)
    graph = cx.import_chakra(file)
    assert [node.id for node in graph.untimed] == [9, 6]
    outcome = cxloom("tasks", "import", file, "--out", tmp_path / "g.jsonl", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["notes"] == graph.notes
    assert outcome.err.count("note:") == 1
    assert "2 of 3 nodes to compute take 0 us" in outcome.err
    assert "node 9 ('late'), record 2" in outcome.err
    told = cx.import_chakra(write_trace(tmp_path, Written(1, duration=0), Written(2, duration=3)))
    assert (told.untimed, told.notes) == ((), [])


def test_what_runs_on_the_cpu_is_said_by_a_truth_value_or_a_number(tmp_path: Path) -> None:
    nodes = [
        Written(each, duration=1, attributes={"is_cpu_op": said})
        for each, said in enumerate((False, True, 0, 1))
    ]
    found = tasks_of(*nodes, folder=tmp_path)
    assert [task["on"] for task in found.values()] == ["gpu-cores", "cpu", "gpu-cores", "cpu"]


def test_each_tensor_is_behind_the_one_before_it_within_the_window(tmp_path: Path) -> None:
    nodes = [Written(each, LOAD, attributes={"tensor_size": 5000}) for each in range(4)]
    found = cx.import_chakra(write_trace(tmp_path, *nodes), window="20KiB", device="npu", tensors="pool")
    assert [task.get("offset", "0B") for task in found.tasks] == ["0B", "8192B", "0B", "8192B"]
    assert {(task["from"], task["to"]) for task in found.tasks} == {("pool", "npu")}
    assert found.section("g.jsonl")["objects"] == [{"name": "pool", "size": "13192B"}]
    wide = cx.import_chakra(tmp_path / "t.et")
    assert [task.get("offset", "0B") for task in wide.tasks] == ["0B", "8192B", "16384B", "24576B"]


def test_what_has_no_work_hands_its_dependences_on(tmp_path: Path) -> None:
    nodes = [
        Written(0, duration=1),
        Written(1, METADATA, data=[0]),
        Written(2, 0, data=[1]),
        Written(3, data=[2], duration=1),
    ]
    found = cx.import_chakra(write_trace(tmp_path, *nodes))
    assert [(task["name"], task.get("after")) for task in found.tasks] == [("n#0", None), ("n#3", ["n#0"])]
    assert found.dropped == 2
    assert "2 without work" in found.sentence


def test_tasks_are_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    nodes = [Written(0, start=5), Written(1, start=3, data=[4]), Written(2, start=5), Written(4, start=9)]
    names = [task["name"] for task in cx.import_chakra(write_trace(tmp_path, *nodes)).tasks]
    assert names == ["n#0", "n#2", "n#4", "n#1"]


def test_dependences_by_control_are_taken_where_they_are_asked_for(tmp_path: Path) -> None:
    nodes = [Written(0, duration=1), Written(1, control=[0], duration=1)]
    assert "after" not in tasks_of(*nodes, folder=tmp_path)["n#1"]
    assert "1 dependence by control" in cx.import_chakra(tmp_path / "t.et").sentence
    assert tasks_of(*nodes, folder=tmp_path, control=True)["n#1"]["after"] == ["n#0"]
    # As traces of PyTorch have it: the operator that calls is needed by control, and needs by data what it called.
    both = [Written(0, control=[1], duration=1), Written(1, data=[0], duration=1)]
    assert tasks_of(*both, folder=tmp_path)["n#1"]["after"] == ["n#0"]
    with pytest.raises(cx.InputError, match="circle"):
        tasks_of(*both, folder=tmp_path, control=True)


def test_sends_and_receives_have_lanes_of_their_own(tmp_path: Path) -> None:
    sizes = {"comm_size": 1000}
    nodes = [
        Written(0, SEND, attributes=sizes),
        Written(1, RECV, attributes=sizes),
        Written(2, RECV, duration=4),
    ]
    found = tasks_of(*nodes, folder=tmp_path, network="1GB/s")
    assert [(task["on"], task["time"]) for task in found.values()] == [
        ("network", "1000000ps"),
        ("receive", "1000000ps"),
        ("receive", "4us"),
    ]


BAD: list[tuple[str, bytes, str]] = [
    ("cut off", trace_bytes(Written(1, duration=1), Written(2))[:-3], "record 3: a message of"),
    ("cut in a length", trace_bytes(Written(1)) + b"\x80", "record 3: a number is cut off"),
    ("type", trace_bytes(Written(1, 9)), "record 2: a node of type 9"),
    ("a text", b"this is no trace of Chakra\n" * 4, "record "),
    ("json", b'{"nodes": [1, 2, 3]}', "a trace in JSON, which is not read"),
    ("lines of json", b'{"nodes": [1, 2, 3]}\n' * 2, "record "),
    ("empty", b"", "an empty file"),
    ("no work", trace_bytes(Written(1, METADATA)), "a trace without work"),
    ("twice", trace_bytes(Written(1), Written(2), Written(1)), "record 4: a second node 1"),
    (
        "nobody",
        trace_bytes(Written(1, data=[2])),
        "record 2: node 1 ('n') needs a node that there is not, found 2",
    ),
    ("itself", trace_bytes(Written(1, data=[1])), "in a circle, found 1 for 1"),
    (
        "circle",
        trace_bytes(Written(3), Written(1, data=[2]), Written(2, data=[1])),
        "record 3: nodes that wait",
    ),
    ("size", trace_bytes(Written(1, LOAD)), "record 2: node 1 ('n') has no tensor_size"),
    ("huge", trace_bytes(Written(1, LOAD, attributes={"tensor_size": 2 << 30})), "--window, of one tensor"),
    ("below", trace_bytes(Written(1, LOAD, attributes={"tensor_size": -1})), "tensor_size -1"),
    ("word", trace_bytes(Written(1, LOAD, attributes={"tensor_size": "big"})), "tensor_size 'big'"),
    (
        "bool",
        trace_bytes(Written(1, LOAD, attributes={"tensor_size": True})),
        "record 2: node 1 ('n') has as tensor_size True",
    ),
    ("operations as bool", trace_bytes(Written(1, COLL, attributes={"comm_size": True})), "comm_size True"),
    (
        "cpu",
        trace_bytes(Written(1, duration=5, attributes={"is_cpu_op": "false"})),
        "record 2: node 1 ('n') has as is_cpu_op 'false'",
    ),
    (
        "cpu of a call",
        trace_bytes(Written(1, COLL, duration=5, attributes={"is_cpu_op": 1.0})),
        "is_cpu_op 1.0",
    ),
    ("cpu by two", trace_bytes(Written(1, duration=5, attributes={"is_cpu_op": 2})), "is_cpu_op 2"),
    (
        "operations alone",
        trace_bytes(Written(1, duration=5), Written(2, duration=None, attributes={"num_ops": 8})),
        "record 3: node 2 ('n') has no recorded duration allowed: its duration, or its operations: --compute ops",
    ),
    (
        "no times",
        trace_bytes(Written(1, duration=None), Written(2, duration=None)),
        "record 2: node 1 ('n') has no recorded duration",
    ),
    ("network", trace_bytes(Written(1, COLL, attributes={"comm_size": 8})), "--network"),
    ("duration", trace_bytes(Written(1, COLL)), "neither a duration nor a comm_size"),
    ("gzip", gzip.compress(trace_bytes(Written(1)))[:-9], "not whole as a file of gzip"),
    ("wire", trace_bytes() + b"\x02\x0b\x00", "record 2: field 1 has the wire type 3"),
    ("field", trace_bytes() + b"\x02\x58\x00", "record 2: field 11, which a node does not have"),
    ("kind", trace_bytes() + b"\x03\x0a\x01a", "record 2: field 1 is no integer"),
    ("utf", trace_bytes() + b"\x03\x12\x01\xff", "no text in UTF-8"),
    ("long", trace_bytes() + b"\x0c\x08" + b"\xff" * 11, "more than 64 bits"),
]


@pytest.mark.parametrize(("text", "said"), [each[1:] for each in BAD], ids=[each[0] for each in BAD])
def test_a_bad_file_is_refused_with_its_record(
    tmp_path: Path, cxloom: Callable[..., Any], text: bytes, said: str
) -> None:
    (tmp_path / "bad.et").write_bytes(text)
    outcome = cxloom("tasks", "import", tmp_path / "bad.et", "--out", tmp_path / "g.jsonl")
    assert outcome.code == 2
    assert "bad.et" in outcome.err
    assert said in " ".join(outcome.err.split()).replace(" found: ", ", found ")
    assert not (tmp_path / "g.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--compute", "guess"], "time, ops"),
        (["--compute", "ops"], "--flops"),
        (["--flops", "1e12"], "no effect"),
        (["--compute", "ops", "--flops", "-1"], "more than 0"),
        (["--compute", "ops", "--flops", "1e12"], "has no num_ops"),
        (["--network", "fast"], "--network"),
        (["--window", "0B"], "--window"),
        (["--out", "graph.yaml"], ".jsonl"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, cxloom: Callable[..., Any], options: list[str], said: str
) -> None:
    file = write_trace(tmp_path, Written(1, duration=1))
    outcome = cxloom("tasks", "import", file, "--out", tmp_path / "g.jsonl", *options)
    assert outcome.code == 2
    assert said in outcome.err


def test_no_file_is_refused(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    outcome = cxloom("tasks", "import", tmp_path / "none.et", "--out", tmp_path / "g.jsonl")
    assert outcome.code == 2
    assert "none.et" in outcome.err


names = st.text(max_size=12)
ids = st.integers(0, 2**64 - 1)
values = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), names)


@st.composite
def written(draw: st.DrawFn) -> list[Written]:
    chosen = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    return [
        Written(
            each,
            draw(st.integers(0, 7)),
            draw(names),
            data=draw(st.lists(st.sampled_from(chosen[:index] or [each]), unique=True)) if index else [],
            control=draw(st.lists(ids, max_size=2)),
            start=draw(ids),
            duration=draw(ids),
            attributes=draw(st.dictionaries(names, values, max_size=3)),
            packed=draw(st.booleans()),
        )
        for index, each in enumerate(chosen)
    ]


@given(written(), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[Written], zipped: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.et"
    data = trace_bytes(*nodes, version="0.0.4")
    file.write_bytes(gzip.compress(data) if zipped else data)
    trace = read_chakra(file)
    assert trace.version == "0.0.4"
    assert [
        (node.id, node.type, node.name, node.after, node.start, node.duration, dict(node.attributes))
        for node in trace.nodes
    ] == [
        (
            node.id,
            NodeType(node.type),
            node.name,
            tuple(node.data),
            node.start,
            node.duration,
            node.attributes,
        )
        for node in nodes
    ]


@given(written(), st.data())
@settings(max_examples=examples(80), deadline=None)
def test_damage_is_read_or_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[Written], data: st.DataObject
) -> None:
    whole = bytearray(trace_bytes(*nodes))
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.getbasetemp() / "damaged.et"
    file.write_bytes(whole[:cut])
    files = []
    try:
        files.append(read_chakra(file).file)
    except cx.InputError as error:
        files.append(error.file)
    assert files == [str(file)]


@pytest.mark.parametrize(
    ("name", "nodes", "time"),
    [
        # One collective of 1 MiB at 50 GB/s.
        ("astra_all_reduce_8npus_1MB.0.et", 1, 20971.520),
        # A ring of 8: 14 steps of a send and a receive of 128 KiB (2621.44 ns each), and 7 sums of 7 us.
        ("astra_ring_allreduce_8npus_1MB.0.et", 35, 14 * 2 * 2621.440 + 7 * 7000),
    ],
)
def test_traces_of_astra_sim_run(
    tmp_path: Path, cxloom: Callable[..., Any], name: str, nodes: int, time: float
) -> None:
    if not (TRACES / name).exists():
        pytest.skip(f"{name} is not here: CXLOOM_TRACES names the folder of traces (astra-sim's examples)")
    found = played(cxloom, tmp_path, TRACES / name, "--network", "50GB/s")
    assert len(found["per_task"]) == nodes
    assert found["time_ns"] == pytest.approx(time)


def test_an_attribute_of_a_list_is_passed_over(tmp_path: Path) -> None:
    listed = block(10, block(1, b"shape") + block(10, block(1, b"\x01\x02")))
    message = Written(1, duration=2).message()[1:] + listed
    (tmp_path / "l.et").write_bytes(trace_bytes() + bytes([len(message)]) + message)
    assert cx.import_chakra(tmp_path / "l.et").tasks[0]["time"] == "2us"
