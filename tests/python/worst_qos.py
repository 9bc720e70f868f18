"""The worst logical devices: a memory with three of them in two virtual switches, and one thing wrong."""

from __future__ import annotations

from worst_inputs import RUN, Bad, raw

SHARED = """\
name: shared
devices:
  one: {kind: host, throttle: {rate: 2GB/s, window: 1us}}
  two: {kind: host}
  sw:  {kind: switch, vcs: [{upstream: one, bind: [{to: mem, ld: 0}]}, {upstream: two, bind: [{to: mem, ld: 1}]}]}
  mem:
    kind: memory
    queue: 8
    logical_devices:
      - {capacity: 1GiB, allocated_bandwidth: 3, host: one}
      - {capacity: 1GiB, bandwidth_limit: 4GB/s, host: two}
      - {capacity: 1GiB}
links:
  [{between: [one, sw]}, {between: [two, sw]}, {between: [sw, mem]}]
address_map:
  - {to: mem, ld: 0}
  - {to: mem, ld: 1}
  - {to: mem, ld: 2}
workload:
  one: {pattern: random, requests: 50, footprint: 1GiB}
  two: {pattern: random, requests: 50, base: 0x40000000, footprint: 2GiB}
events:
  - {at: 1us, bind: {switch: sw, vcs: 1, vppb: 1, to: mem, ld: 2}}
"""

LD = "devices.mem.logical_devices"
VCS = "devices.sw.vcs"

# What is written instead of what; the line of the error, and what it says.
CASES: list[tuple[str, str, int, list[str]]] = [
    # weights and limits
    ("allocated_bandwidth: 3", "allocated_bandwidth: 0", 10, [f"{LD}[0].allocated_bandwidth", "at least 1"]),
    ("allocated_bandwidth: 3", "allocated_bandwidth: 257", 10, ["allocated_bandwidth", "257", "at most 256"]),
    ("allocated_bandwidth: 3", "allocated_bandwidth: 1.5", 10, ["not a whole number", "1.5"]),
    ("queue: 8", "io_time: 8ns", 9, [LD, "it needs a queue"]),
    ("limit: 4GB/s", "limit: 4GB", 11, [f"{LD}[1].bandwidth_limit", "unknown unit 'GB'", "GB/s"]),
    ("limit: 4GB/s", "limit: 4ns", 11, [f"{LD}[1].bandwidth_limit", "unknown unit 'ns'"]),
    ("limit: 4GB/s", "limit: 4", 11, [f"{LD}[1].bandwidth_limit", "the unit is missing"]),
    ("limit: 4GB/s", "limit: 0GB/s", 11, [f"{LD}[1].bandwidth_limit", "above zero"]),
    ("bandwidth_limit", "bandwith_limit", 11, ["did you mean 'bandwidth_limit'?"]),
    # which logical device
    ("ld: 2}", "ld: 3}", 18, ["address_map[2]", "'mem' has 3 logical devices", "ld: 3", "ld: 0 to 2"]),
    ("ld: 2}", "ld: 16}", 18, ["address_map[2].ld", "16", "at most 15"]),
    ("ld: 2}", "ld: -1}", 18, ["address_map[2].ld", "a negative number"]),
    (", ld: 2}", "}", 18, ["address_map[2]", "a region lies within one of them", "ld: 0 to 2"]),
    ("ld: 2}", "ld: 1}", 18, ["address_map[2]", "larger than what its targets have left"]),
    ("{to: mem, ld: 2}", "{to: [mem, mem], ld: 2}", 18, ["named twice", "'mem'", "each device once"]),
    ("ld: 2}", "ld: 2, coherence: hdm-db}", 18, ["address_map[2]", "leave out coherence"]),
    (
        "      - {capacity: 1GiB}\n",
        "      - {capacity: 1GiB}\n" * 15,
        9,
        [LD, "too many", "found: 17", "at most 16"],
    ),
    ("      - {capacity: 1GiB}\n", "      - {host: one}\n", 12, [f"{LD}[2]", "'capacity' is missing"]),
    (
        "queue: 8",
        "queue: 8\n    capacity: 2GiB",
        10,
        [LD, "more bytes than the memory", "found: 3GiB", "at most 2GiB"],
    ),
    ("queue: 8", "queue: 8\n    dcoh: {}", 10, [LD, "leave out dcoh"]),
    ("queue: 8", "write_buffer: 8", 9, [LD, "leave out read_buffer and write_buffer"]),
    ("queue: 8", "queue: 8\n    heads: 0", 9, ["devices.mem.heads", "at least 1"]),
    # whose virtual switch
    (
        "bind: [{to: mem, ld: 1}]",
        "bind: [{to: mem, ld: 0}]",
        5,
        [f"{VCS}[1].bind[0].ld", "'mem ld 0', of vcs 0"],
    ),
    ("bind: [{to: mem, ld: 1}]", "bind: [{to: mem, ld: 3}]", 5, [f"{VCS}[1].bind[0].ld", "0 to 2"]),
    (
        "bind: [{to: mem, ld: 1}]",
        "bind: [{to: one, ld: 3}]",
        5,
        [f"{VCS}[1].bind[0]", "a host without memory"],
    ),
    ("bind: [{to: mem, ld: 1}]", "bind: [mem]", 5, [f"{VCS}[1].bind[0]", "a logical device of it is bound"]),
    ("bind: [{to: mem, ld: 1}]", "bind: [mme]", 5, [f"{VCS}[1].bind[0]", "did you mean 'mem'?"]),
    (
        "bind: [{to: mem, ld: 1}]",
        "bind: [{to: mem, lb: 1}]",
        5,
        [f"{VCS}[1].bind[0].lb", "did you mean 'ld'?"],
    ),
    ("bind: [{to: mem, ld: 1}]", "bind: [{ld: 1}]", 5, [f"{VCS}[1].bind[0]", "'to' is missing"]),
    ("bind: [{to: mem, ld: 1}]", "bind: [1]", 5, [f"{VCS}[1].bind[0]", "neither a text nor a map"]),
    (
        "to: mem, ld: 2}}",
        "to: mem, ld: 1}}",
        23,
        ["events[0].bind.ld", "is bound already", "'mem ld 1', of vcs 1"],
    ),
    ("to: mem, ld: 2}}", "to: mem}}", 23, ["events[0].bind.to", "a logical device of it is bound already"]),
    (
        "to: mem, ld: 2}}",
        "to: mem, ld: 9}}",
        23,
        ["events[0].bind.ld", "'mem' has 3 logical devices", "0 to 2"],
    ),
    ("to: mem, ld: 2}}", "to: mem, ld: 16}}", 23, ["events[0].bind.ld", "at most 15"]),
    # the load that it reports, and throttles
    ("queue: 8", "queue: 8\n    qos: {moderate: 9, severe: 8}", 9, ["devices.mem.qos", "loads rise"]),
    ("queue: 8", "queue: 8\n    qos: {optimal: 0, moderate: 1, severe: 8}", 9, ["qos.optimal", "at least 1"]),
    ("queue: 8", "queue: 8\n    qos: {moderate: 9}", 9, ["devices.mem.qos", "'severe' is missing"]),
    ("queue: 8", "queue: 8\n    qos: {moderat: 9}", 9, ["did you mean 'moderate'?"]),
    ("rate: 2GB/s", "rate: 2GB", 3, ["devices.one.throttle.rate", "unknown unit 'GB'"]),
    ("rate: 2GB/s", "rate: unlimited", 3, ["devices.one.throttle.rate", "a bandwidth"]),
    ("rate: 2GB/s, ", "", 3, ["devices.one.throttle", "'rate' is missing"]),
    ("window: 1us", "window: 0us", 3, ["devices.one.throttle.window", "at least 1ns"]),
    ("window: 1us", "window: 1", 3, ["devices.one.throttle.window", "the unit is missing"]),
    ("window: 1us", "normal_delta: 0", 3, ["throttle.normal_delta", "more than 0, at most 1"]),
    ("window: 1us", "severe_delta: 101%", 3, ["throttle.severe_delta", "more than 0, at most 1"]),
    ("window: 1us", "least: 0", 3, ["throttle.least", "more than 0, at most 1"]),
    # whose it is
    ("host: two}", "host: tow}", 11, [f"{LD}[1].host", "unknown device", "did you mean 'two'?"]),
    ("host: two}", "host: sw}", 11, [f"{LD}[1].host", "makes no requests", "'sw'"]),
    (
        "base: 0x40000000, footprint: 2GiB",
        "footprint: 1GiB",
        21,
        ["workload.two", "belongs to another device", "0x0 + 1GiB", "logical device 0 of 'mem'", "'one'"],
    ),
    (
        "requests: 50, footprint: 1GiB",
        "requests: 50, footprint: 3GiB",
        20,
        ["workload.one.footprint", "belongs to another device", "logical device 1", "'two'", "0x40000000"],
    ),
]


def _rows() -> list[Bad]:
    """Each of them as a row of the table, by the run and by the check."""
    for old, _, _, _ in CASES:
        assert SHARED.count(old) >= 1, old
    return [
        Bad(
            f"{command}: {new.strip()[:60]}",
            tuple(says),
            raw(SHARED.replace(old, new, 1)),
            RUN if command == "run" else ("check", "bad.yaml"),
            line=line,
        )
        for old, new, line, says in CASES
        for command in ("run", "check")
    ]


QOS = _rows()
