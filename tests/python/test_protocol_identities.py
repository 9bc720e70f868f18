"""The log of the protocol names edge ports and logical devices."""

from __future__ import annotations

import polars as pl

import cxloom as cx


def test_messages_name_edge_ports_by_their_pbr_identities() -> None:
    """Identities count the ports of switches that lead to devices: switch by switch, in the order of their links."""
    spec = """
        devices:
          near: {kind: switch}
          far: {kind: switch}
          host[0-1]: {kind: host}
          gfd: {kind: memory, capacity: 1MiB}
          bus: {kind: bus}
          mem: {kind: memory, capacity: 1MiB}
        links:
          - {between: [near, far]}
          - {between: [host1, near]}
          - {between: [gfd, far]}
          - {between: [host0, near]}
          - {between: [bus, far]}
          - {between: [bus, mem]}
          - {between: [host0, far]}
        address_map: [{to: gfd}, {to: mem}]
        workload: {"host[*]": {pattern: random, footprint: 2MiB, requests: 50}}
    """
    system = cx.System.from_yaml(spec)
    ports = system.check()["pbr_ids"]
    assert [(port["switch"], port["device"]) for port in ports] == [
        ("near", "host1"),
        ("near", "host0"),
        ("far", "gfd"),
        ("far", "bus"),
        ("far", "host0"),
    ]
    frame = cx.run(system, log="protocol").protocol()
    identity = {"host1": 0, "host0": 1, "gfd": 2, "mem": None}  # host0: its first one
    for node, number in (("source", "spid"), ("destination", "dpid")):
        found = frame.select(pl.col(node).cast(pl.String), number).unique()
        assert dict(found.iter_rows()) == identity


def test_messages_name_the_logical_device() -> None:
    """One host, the second logical device of a memory, and another memory, which has no LD-ID."""
    spec = """
    devices:
      host: {kind: host, queue: 1}
      sw: {kind: switch}
      mld: {kind: memory, logical_devices: [{capacity: 4KiB}, {capacity: 4KiB}]}
      mem: {kind: memory, capacity: 4KiB}
    links: [{between: [host, sw]}, {between: [sw, mld]}, {between: [sw, mem]}]
    address_map: [{to: mld, ld: 1}, {to: mem}]
    workload: {host: {pattern: sequential, requests: 128, size: 64B, footprint: 8KiB, reads: 1.0}}
    """
    frame = cx.run(cx.System.from_yaml(spec), log="protocol").protocol()
    of_mld = pl.col("address") < 4096
    assert frame.filter(of_mld)["ld"].to_list() == [1] * 128
    assert frame.filter(~of_mld)["ld"].null_count() == 128
    assert set(frame["opcode"].unique()) == {"MemRd", "MemData"}
