"""Advice beside a GPU, whose copies are no pages that are placed."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom.base.errors import InputError

SPEC = """
devices:
  host: {kind: host, queue: 256}
  gpu:  {kind: gpu, launch_time: 0ns, streams: 2}
  near: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 60ns, bandwidth: 40GB/s}}
  far:  {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 90ns, bandwidth: 20GB/s}}
links:
  - {between: [host, gpu], phy: pcie4-x16, flit: none, port_delay: 75ns}
  - {between: [host, near]}
  - {between: [host, far], delay: 10ns}
address_map: [{to: near}, {to: far}]
workload:
  host: {pattern: random, requests: 20000, footprint: 16MiB}
  gpu:  {pattern: transfer, size: 128KiB, base: 1GiB, footprint: 512MiB, requests: 12}
"""


def test_what_a_gpu_takes_all_of_gains_nothing() -> None:
    """Far memory gives its 20 GB/s to the copies: pages there would only take from them. Alone they gain half."""
    beside = cx.advise(cx.System.from_yaml(SPEC), jobs=1)
    assert beside.proposed.policy == "first-touch"
    assert beside.proposed.throughput == pytest.approx(60, rel=0.03)
    assert {each.requester for each in beside.objects} == {"host"}
    [note] = beside.notes
    assert note.startswith("the work of gpu goes on beside it, where it is: ")
    assert beside.proposed.beside["gpu"] == pytest.approx(20, rel=0.08)
    alone = cx.advise(cx.System.from_yaml(SPEC).set("workload.gpu", None), jobs=1)
    assert alone.proposed.policy == "optimum"
    assert alone.gain(alone.proposed) == pytest.approx(0.5, abs=0.05)
    assert not alone.notes


def test_a_gpu_alone_has_nothing_to_place(tmp_path: Path) -> None:
    file = tmp_path / "gpu.yaml"
    file.write_text(SPEC.replace("  host: {pattern: random, requests: 20000, footprint: 16MiB}\n", ""))
    with pytest.raises(InputError, match="no workload has pages that are placed") as caught:
        cx.advise(file)
    assert (caught.value.path, caught.value.line) == ("workload.gpu", 13)
