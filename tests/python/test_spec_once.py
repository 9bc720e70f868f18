"""What is worked out of a spec's nodes once: it is worked out anew when it may be another, and nobody changes it."""

from __future__ import annotations

import copy
import json
import pickle

import cxloom as cx
from cxloom.draw.graph import graph_of
from cxloom.spec import declared

SPEC = {
    "devices": {
        "host": {"kind": "host", "queue": 4},
        "mem[0-1]": {"kind": "memory", "capacity": "1MiB", "media": {"kind": "fixed", "latency": "50ns"}},
        "sw": {"kind": "switch"},
    },
    "links": [{"between": ["host", "sw"]}, {"between": ["mem[*]", "sw"]}],
    "address_map": [{"to": ["mem[0-1]"]}],
    "workload": {"host": {"pattern": "random", "requests": 20, "footprint": "1MiB"}},
}


def test_lean_is_plain_and_stays_so() -> None:
    """Through a run, its hash, its errors, a drawing, and a way to another process."""
    system = cx.System.from_yaml(json.dumps(SPEC))
    resolved = system.resolve([])
    before = copy.deepcopy(resolved.plain())
    assert resolved.lean() == before
    assert resolved.lean()["devices"] is resolved.lean()["devices"]
    cx.run(system)
    digest = resolved.digest()
    assert resolved.errors() == []
    graph_of(resolved)
    assert resolved.lean() == resolved.plain() == before
    again = pickle.loads(pickle.dumps(resolved))
    assert (again.digest(), again.lean()) == (digest, before)


def test_what_hangs_on_declarations_is_found_anew_after_a_plug_in() -> None:
    root = cx.System.from_yaml(json.dumps(SPEC)).resolve([]).root
    device = root.map()["devices"].map()["host"]
    list(declared.files(root))
    list(declared.files(root))
    known = len(device._known or {})
    declared.forget()  # as loading one does
    list(declared.files(root))
    assert len(device._known or {}) == known + 1
