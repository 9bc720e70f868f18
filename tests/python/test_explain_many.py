"""Many resources of a kind: what twice of one and of all gains, and how many rows a table has."""

from __future__ import annotations

import json

import pytest

import cxloom as cx
from cxloom.explaining.beside import table as beside
from cxloom.explaining.shown_rows import OF_A_KIND

HOSTS = 8


def waves(requests: int, *, queue: int = 8) -> cx.System:
    """Hosts that have `queue` requests in flight, which all take as long: nothing else has a limit."""
    spec = {
        "devices": {
            f"host[0-{HOSTS - 1}]": {"kind": "host", "queue": queue},
            "sw": {"kind": "switch"},
            "mem": {
                "kind": "memory",
                "capacity": "1GiB",
                "queue": 1024,
                "media": {"kind": "fixed", "latency": "100ns"},
            },
        },
        "links": [{"between": ["host[*]", "sw"]}, {"between": ["sw", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {"host[*]": {"pattern": "random", "requests": requests}},
        "run": {"warmup": 100},
    }
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize("requests", [200, 1000])
def test_twice_the_queue_of_one_host_gains_its_share(requests: int) -> None:
    """A host with twice the places makes twice the requests: of eight alike that is an eighth, and all make 100 %.

    Requests of a closed loop come in waves. The window in which one host has twice as many is half as long, as that
    host is the first to end: with 200 requests it holds 12 waves or 13, so that what was answered in it is up to 8 %
    off, and the gains were between 9 and 18 %.
    """
    explained = cx.explain(waves(requests), jobs=1)
    gains = {each.resource.name: each.gain for each in explained.what_ifs}
    [together] = [gain for name, gain in gains.items() if "and 5 more" in name]
    alone = [gain for name, gain in gains.items() if "and 5 more" not in name]
    assert len(alone) == HOSTS
    assert alone == pytest.approx([1 / HOSTS] * HOSTS, abs=0.002)
    assert together == pytest.approx(1, abs=0.002)
    assert "rises by 100 %, and is the limit again" in explained.sentence


def test_a_table_has_a_few_rows_of_a_kind() -> None:
    explained = cx.explain(waves(400), jobs=1)
    queues = [each for each in explained.resources if each.kind == "the queue of"]
    assert len(queues) == HOSTS
    lines = str(explained).splitlines()
    assert sum(line.startswith("* queue of host") for line in lines) == OF_A_KIND
    assert any(line.startswith(f"  and {HOSTS - OF_A_KIND} more, at most ") for line in lines)
    assert len(explained.to_json()["resources"]) == len(explained.resources)
    assert beside(explained, explained).row_count == 2 + OF_A_KIND  # and the slots of the memory
