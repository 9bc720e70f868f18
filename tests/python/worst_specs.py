"""The worst specs: the example with one thing wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from worst_inputs import RUN, WORKLOAD, Bad, Make, instead

# What is written instead of what in the example; the line of the error, and what it says.
CASES: list[tuple[str, str, int | None, list[str]]] = [
    # misspelt keys
    ("queue: 64", "queu: 64", 3, ["devices.host.queu", "unknown key 'queu'", "did you mean 'queue'?"]),
    ("latency: 45ns", "latncy: 45ns", 5, ["devices.mem[0-3].media.latncy", "did you mean 'latency'?"]),
    ("port_delay: 25ns", "port_dealy: 25ns", 7, ["links[0].port_dealy", "did you mean 'port_delay'?"]),
    ("interleave: 256B", "interlave: 256B", 10, ["address_map[0].interlave", "did you mean 'interleave'?"]),
    ("reads: 67%", "raeds: 67%", 12, ["workload.host.raeds", "did you mean 'reads'?"]),
    ("warmup: 200", "warmpu: 200", 13, ["run.warmpu", "did you mean 'warmup'?"]),
    ("workload:", "wrokload:", 11, ["unknown key 'wrokload'", "did you mean 'workload'?"]),
    # misspelt kinds and choices
    ("kind: host", "kind: hots", 3, ["devices.host.kind", "did you mean 'host'?"]),
    ("kind: fixed", "kind: fixd", 5, ["devices.mem[0-3].media.kind", "did you mean 'fixed'?"]),
    ("pattern: random", "pattern: randm", 12, ["workload.host.pattern", "did you mean 'random'?"]),
    (
        "kind: bus,",
        "kind: bus, duplex: hlaf,",
        4,
        ["devices.bus.duplex", "full or half", "did you mean 'half'?"],
    ),
    ("seed: 1", "seed: 1, routing: rndom", 13, ["run.routing", "did you mean 'random'?"]),
    # units
    (
        "process_time: 10ns",
        "process_time: 10",
        3,
        ["devices.host.process_time", "the unit is missing", "10ns"],
    ),
    (
        "process_time: 10ns",
        "process_time: 10 nanos",
        3,
        ["devices.host.process_time", "unknown unit 'nanos'"],
    ),
    ("process_time: 10ns", "process_time: 10GiB", 3, ["devices.host.process_time", "unknown unit 'GiB'"]),
    ("bandwidth: 64GB/s", "bandwidth: 64", 4, ["devices.bus.bandwidth", "the unit is missing"]),
    ("bandwidth: 64GB/s", "bandwidth: fast", 4, ["devices.bus.bandwidth", "not a quantity"]),
    ("capacity: 16GiB", "capacity: 16", 5, ["devices.mem[0-3].capacity", "the unit is missing"]),
    ("port_delay: 25ns", "port_delay: 25", 7, ["links[0].port_delay", "the unit is missing"]),
    ("footprint: 1GiB", "footprint: 1073741824", 12, ["workload.host.footprint", "the unit is missing"]),
    # negative, zero, beyond bounds, of the wrong type
    ("capacity: 16GiB", "capacity: -16GiB", 5, ["devices.mem[0-3].capacity", "a negative quantity"]),
    ("capacity: 16GiB", "capacity: 0B", 5, ["devices.mem[0-3].capacity", "at least 4KiB"]),
    ("bandwidth: 64GB/s", "bandwidth: 0GB/s", 4, ["devices.bus.bandwidth", "above zero"]),
    ("queue: 64", "queue: 0", 3, ["devices.host.queue", "at least 1"]),
    ("queue: 64", "queue: -1", 3, ["devices.host.queue", "a negative number"]),
    ("queue: 64", "queue: 6.4", 3, ["devices.host.queue", "not a whole number"]),
    ("queue: 64", "queue: [64]", 3, ["devices.host.queue", "not a whole number", "a list"]),
    ("requests: 2000", "requests: 0", 12, ["workload.host.requests", "at least 1"]),
    ("reads: 67%", "reads: 167%", 12, ["workload.host.reads", "at most 1"]),
    ("reads: 67%", "reads: -1%", 12, ["workload.host.reads", "at least 0"]),
    ("interleave: 256B", "interleave: 100B", 10, ["address_map[0].interleave", "power of two"]),
    ("seed: 1", "seed: yes", 13, ["run.seed", "'yes'"]),
    (
        "requests: 2000",
        "requests: 99999999999999999999",
        12,
        ["workload.host.requests", "the number is too large"],
    ),
    # what is missing
    ("kind: host, ", "", 3, ["devices.host", "the kind is missing"]),
    ("requests: 2000, ", "", 12, ["workload.host", "a pattern needs `requests`"]),
    ('to: "mem[*]", ', "", 10, ["address_map[0]", "'to' is missing"]),
    ("between: [host, bus], ", "", 7, ["links[0]", "a link joins two ends"]),
    # names: duplicate, unknown, of the wrong sort
    ("  bus: ", "  host: ", 4, ["devices.host", "duplicate key 'host'", "lines 3 and 4"]),
    (
        "  bus: ",
        "  mem2: {kind: memory}\n  bus: ",
        6,
        ["devices.mem[0-3]", "'mem2' is declared twice", "line 4"],
    ),
    ("warmup: 200", "seed: 2", 13, ["run.seed", "duplicate key 'seed'"]),
    (
        "[host, bus]",
        "[host, buss]",
        7,
        ["links[0].between[1]", "unknown device 'buss'", "did you mean 'bus'?"],
    ),
    ('[bus, "mem[*]"]', '[bus, "men[*]"]', 8, ["links[1].between[1]", "'men[*]' matches no device"]),
    ('to: "mem[*]"', 'to: "mem[0-4]"', 10, ["address_map[0].to", "unknown device 'mem4'"]),
    ('to: "mem[*]"', "to: bus", 10, ["address_map[0].to", "'bus'", "memories"]),
    ('to: "mem[*]"', "to: [mem0, mem1, mem0]", 10, ["address_map[0].to", "'mem0'", "each device once"]),
    (
        "  host: {pattern",
        "  hots: {pattern",
        12,
        ["workload.hots", "unknown device 'hots'", "did you mean 'host'?"],
    ),
    ("  host: {pattern", "  mem0: {pattern", 12, ["workload.mem0", "makes no requests"]),
    ("  bus: ", "  my bus: ", 4, ["devices.my bus", "not a device name"]),
    ("mem[0-3]: ", "mem[3-0]: ", 5, ["devices.mem[3-0]", "the range runs backwards"]),
    ("mem[0-3]: ", "mem[0-x]: ", 5, ["devices.mem[0-x]", "not a range"]),
    # YAML
    ('[bus, "mem[*]"]', "[bus, mem[*]]", 8, ["mem[*] is not quoted", '"mem[*]"']),
    ('to: "mem[*]"', "to: mem[0-3]", 10, ["mem[0-3] is not quoted", '"mem[0-3]"']),
    ('to: "mem[*]"', "to: *", 10, ["* is not quoted"]),
    ("  host:     {", "\thost:     {", 3, ["a tab"]),
    ("queue: 64}", "queue: 64", 4, ["not YAML"]),
    ("queue: 64", "queue:64", 3, ["no space after the ':'"]),
    # graphs and addresses
    (
        '[bus, "mem[*]"]',
        '[bus, "mem[0-2]"]',
        5,
        ["devices.mem[0-3]", "('mem3')", "no links lead from 'host'"],
    ),
    (
        "[host, bus], port",
        "[mem0, bus], port",
        8,
        ["links[1]", "'bus' and 'mem0' are linked twice", "one entry per pair", "count: 2"],
    ),
    ('"mem[*]"]}\naddress', '"mem[*]"], count: 2}\naddress', 8, ["'mem0' has more links than ports"]),
    ("port_delay: 25ns", "port_delay: 25ns, count: 0", 7, ["links[0].count", "at least 1"]),
    ("port_delay: 25ns", "port_delay: 25ns, count: 1025", 7, ["links[0].count", "at most 1024"]),
    # what other values leave without effect
    *(
        (
            "latency: 45ns",
            f"bank_interleave: {size}",
            5,
            ["media.bank_interleave: bank_interleave has no effect"],
        )
        for size in ("64B", "256B")
    ),
    (
        "kind: fixed, latency: 45ns",
        "kind: nvm, write_buffer: 0, buffer_write_latency: 5ns",
        5,
        ["devices.mem[0-3].media.buffer_write_latency: ", "has no effect unless"],
    ),
    (
        "kind: fixed, latency: 45ns",
        "kind: nvm, write_buffer: 0, buffer_read_latency: 5ns",
        5,
        ["devices.mem[0-3].media.buffer_read_latency: ", "has no effect unless"],
    ),
    # flash
    (
        "kind: fixed, latency: 45ns",
        "kind: flash, wear_gap: 5",
        5,
        ["devices.mem[0-3].media.wear_gap: ", "has no effect unless", "wear_levelling: static"],
    ),
    *(
        ("kind: fixed, latency: 45ns", f"kind: flash, {wrong}", 5, [f"devices.mem[0-3].media{key}: ", why])
        for wrong, key, why in (
            ("dies: 0", ".dies", "at least 1"),
            ("page: 5000B", ".page", "a power of two"),
            (
                "over_provisioning: 0",
                ".over_provisioning",
                "without spare pages no block could ever be freed",
            ),
            ("over_provisioning: 1%, blocks: 32", ".over_provisioning", "could never free a block"),
            ("page: 2KiB, sector: 4KiB", "", "a page must have one to 64 sectors"),
            ("collection: greed", ".collection.kind", "greedy"),
        )
    ),
    (
        "capacity: 16GiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns",
        "capacity: 16GiB, controller_time: 40ns, media: {kind: flash, over_provisioning: 20%, blocks: 24",
        5,
        ["devices.mem[0-3].media.blocks: ", "larger than the flash"],
    ),
    (
        "queue: 64",
        "cache: {ways: 1, policy: fifo}",
        3,
        ["devices.host.cache.policy: policy has no effect unless"],
    ),
    ("queue: 64", "cache: {ways: 1, policy: lru}", 3, ["devices.host.cache.policy: policy has no effect"]),
    # prefetchers
    (
        "queue: 64",
        "cache: {prefetch: nextline}",
        3,
        ["devices.host.cache.prefetch", "unknown prefetcher kind 'nextline'", "did you mean 'next-line'?"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: best-ofset, rounds: 3}}",
        3,
        ["devices.host.cache.prefetch.kind", "did you mean 'best-offset'?"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: stride, degre: 3}}",
        3,
        ["devices.host.cache.prefetch.degre", "did you mean 'degree'?"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: next-line, streams: 3}}",
        3,
        ["devices.host.cache.prefetch.streams: unknown key 'streams'"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: none, degree: 3}}",
        3,
        ["devices.host.cache.prefetch.degree: unknown key 'degree'"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: best-offset, best_score: 5, confidence: 6}}",
        3,
        ["devices.host.cache.prefetch: confidence must be at most best_score and at most rounds"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: best-offset, rounds: 1}}",
        3,
        ["devices.host.cache.prefetch", "at most best_score and at most rounds"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: next-line, page: 4000B}}",
        3,
        ["devices.host.cache.prefetch: page must be a multiple of 64 B"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: next-line, page: 64B}}",
        3,
        ["devices.host.cache.prefetch.page", "at least 128B"],
    ),
    (
        "queue: 64",
        "cache: {prefetch: {kind: stride, registers: 0}}",
        3,
        ["devices.host.cache.prefetch.registers", "at least 1"],
    ),
    ("queue: 64", "cache: {prefetch: [next-line]}", 3, ["devices.host.cache.prefetch"]),
    ("queue: 64", "prefetch: next-line", 3, ["devices.host.prefetch: unknown key 'prefetch'"]),
    (
        "queue: 64",
        "cache: null, prefetch: next-line",
        3,
        ["devices.host.prefetch: unknown key 'prefetch'"],
    ),
    (
        "kind: fixed, latency: 45ns",
        "kind: cached, size: 1MiB, backing: fixed, prefetch: next",
        5,
        ["devices.mem[0-3].media.prefetch.kind: unknown prefetcher kind 'next'"],
    ),
    ("port_delay: 25ns", "phy: pcie5-x16, bandwidth: unlimited", 7, ["links[0].bandwidth: bandwidth has no"]),
    ("port_delay: 25ns", "phy: pcie5-x16, header: 16B", 7, ["links[0].header: header has no effect"]),
    ("port_delay: 25ns", "flit: by-generation", 7, ["links[0].flit: flit has no effect unless the link is"]),
    ("port_delay: 25ns", "turnaround: 1ns", 7, ["links[0].turnaround: a full-duplex link has no turnaround"]),
    ("kind: bus,", "kind: bus, turnaround: 1ns,", 4, ["devices.bus.turnaround: a full-duplex bus has no"]),
    ("reads: 67%", "arrivals: fixed", 12, ["workload.host.arrivals: arrivals has no effect without a rate"]),
    (
        "reads: 67%",
        "arrivals: poisson",
        12,
        ["workload.host.arrivals: arrivals has no effect without a rate"],
    ),
    ("reads: 67%", "replay: closed", 12, ["workload.host.replay: replay has no effect without a trace"]),
    ("warmup: 200", "warmup: 200, warmup_time: 1us", 13, ["run.warmup_time: ", "two ways to say the same"]),
    (
        "16GiB,",
        "16GiB, posted_writes: true,",
        5,
        ["mem[0-3].posted_writes: posted_writes need a write_buffer"],
    ),
    (
        "queue: 64",
        "instruction_time: 1ns",
        3,
        ["devices.host.instruction_time", "has no effect unless the workload is a trace"],
    ),
    (
        "queue: 64",
        "core: {width: 2}",
        3,
        ["devices.host.core.cycles_per_instruction", "fewer cycles than instructions that retire take"],
    ),
    (
        "queue: 64",
        "core: {}, instruction_time: 1ns",
        3,
        ["devices.host.instruction_time", "has no effect beside a core"],
    ),
    # tags
    ("queue: 64", "queue: !!int 64", 3, ["devices.host.queue", "a tag", "'!!int'"]),
    ("kind: host,", "kind: !mine host,", 3, ["devices.host.kind", "a tag", "'!mine'"]),
    ("{kind: bus,", "!!map {kind: bus,", 4, ["devices.bus", "a tag", "'!!map'"]),
    ("[host, bus]", "!!seq [host, bus]", 7, ["links[0].between", "a tag", "'!!seq'"]),
    ("[host, bus]", "! &a [host, bus]", 7, ["links[0].between", "a tag"]),
    ("queue: 64", "!!str queue: 64", 3, ["devices.host", "a tag", "'!!str'"]),
    # sizes of addresses
    ("interleave: 256B", "base: 64GB/s", 10, ["address_map[0].base", "not an address", "64GiB"]),
    ("interleave: 256B", "base: -64GiB", 10, ["address_map[0].base", "not an address"]),
    ("footprint: 1GiB", "footprint: 1TiB", 12, ["workload.host.footprint", "runs out of the address map"]),
    (
        "footprint: 1GiB",
        "footprint: 1GiB, base: 0x1000000000",
        12,
        ["workload.host.base: the footprint runs out of the address map", "allowed: addresses in 0x0-"],
    ),
    # infinities
    ("reads: 67%", "reads: 1e400", 12, ["workload.host.reads: the number is too large", "found: 1e400"]),
    ("seed: 1", "seed: -1e400", 13, ["run.seed: the number is too large", "found: -1e400"]),
    ("seed: 1", "seed: .inf", 13, ["run.seed: not a whole number", "found: .inf"]),
    ("reads: 67%", "reads: -.Inf", 12, ["workload.host.reads: not a finite number", "found: -.inf"]),
    (
        "seed: 1",
        "until: {ci: 0%}",
        13,
        ["run.until.ci: out of bounds", "found: 0%", "more than 0 %, at most 100 %"],
    ),
    # kinds that a plug-in may have
    (
        "kind: bus",
        "kind: retimer",
        4,
        ["unknown device kind 'retimer'", "for a kind of a plug-in: --plugin LIB"],
    ),
    ("kind: fixed", "kind: hbf", 5, ["unknown media kind 'hbf'", "for a kind of a plug-in: --plugin LIB"]),
    ("pattern: random", "pattern: gups", 12, ["unknown pattern kind 'gups'", "--plugin LIB"]),
    (
        'address_map:\n  - {to: "mem[*]", interleave: 256B}\n',
        "",
        10,
        ["workload.host", "no memory to access"],
    ),
    # traces that cannot be opened
    (WORKLOAD, "trace: nowhere.parquet", 12, ["workload.host.trace", "nowhere.parquet", "no such file"]),
    (WORKLOAD, "trace: .", 12, ["workload.host.trace", "a directory"]),
    (WORKLOAD, "trace: empty.trace", 12, ["workload.host.trace", "empty.trace: the file is empty"]),
    (WORKLOAD, "trace: noise.bin", 12, ["workload.host.trace", "noise.bin", "binary"]),
    (WORKLOAD, "trace: table.parquet", 12, ["workload.host.trace", "table.parquet"]),
    *(
        (WORKLOAD, f"trace: {work}", 12, [f"workload.host.{key}", *words])
        for work, key, words in [
            (
                "cycles.trace, replay: timestamps",
                "trace",
                ["counts ticks or cycles", "tick: 625ps or 2.4GHz beside it"],
            ),
            ("cycles.trace, replay: timestamps, tick: 625", "tick", ["the unit is missing"]),
            ("cycles.trace, replay: timestamps, tick: 0ps", "tick", ["longer than zero"]),
            ("cycles.trace, replay: timestamps, tick: 9999s", "tick", ["at most 3600s"]),
            ("cycles.trace, levels: [2, 2]", "levels", ["levels of a trace that has addresses"]),
            ("table.trace, levels: [2, 2]", "levels", ["levels of a trace that has addresses"]),
            ("table.trace, replay: timestamps, tick: 1ns", "tick", ["whose times are picoseconds"]),
            (
                "bursts.trace",
                "trace",
                ["coordinates in a DRAM", "levels: [1, 2, 8, 4, 65536, 128] beside it"],
            ),
            ("bursts.trace, levels: [2, x]", "levels[1]", ["not a whole number"]),
            ("bursts.trace, levels: 2", "levels", ["not a list"]),
            ("bursts.trace, levels: [2, 0]", "levels", ["of a size that cannot be"]),
            ("bursts.trace, levels: [2, 2], replay: timestamps, tick: 1ns", "tick", ["that has no times"]),
            ("cycles.trace, format: dramsim4", "format", ["unknown format 'dramsim4'", "'dramsim3'"]),
            ("cycles.trace, format: 3", "format", ["unknown format '3'"]),
            ("cycles.trace, format: parquet", "format", ["not a Parquet file"]),
            ("cycles.trace, repeat: 0", "repeat", ["1 or more, or forever"]),
            ("cycles.trace, repeat: often", "repeat", ["1 or more, or forever"]),
        ]
    ),
    (
        WORKLOAD,
        "trace: cycles.trace, tick: 625ps",
        12,
        ["workload.host.tick", "tick has no effect without replay"],
    ),
    (WORKLOAD, f"{WORKLOAD}, tick: 625ps", 12, ["workload.host.tick", "tick has no effect without replay"]),
    (
        WORKLOAD,
        f"{WORKLOAD}, repeat: 2",
        12,
        ["workload.host.repeat", "repeat has no effect without a trace"],
    ),
    (
        WORKLOAD,
        f"{WORKLOAD}, format: msr",
        12,
        ["workload.host.format", "format has no effect without a trace"],
    ),
    (
        WORKLOAD,
        f"{WORKLOAD}, levels: [2, 2]",
        12,
        ["workload.host.levels", "levels has no effect without a trace"],
    ),
    (WORKLOAD, "trace: 7", 12, ["workload.host.trace", "not a text"]),
]


def beside_traces(make: Make) -> Make:
    """Makes an input beside the bad traces that it may name."""

    def made(folder: Path) -> None:
        (folder / "empty.trace").write_bytes(b"")
        (folder / "cycles.trace").write_text("0x40 READ 0\n0x80 WRITE 3\n")
        (folder / "bursts.trace").write_text("R 0,0\nW 1,1\n")
        (folder / "noise.bin").write_bytes(bytes(range(256)) * 9)
        pq.write_table(pa.table({"a": [1, 2]}), folder / "table.parquet")
        pq.write_table(pa.table({"address": [64, 128], "kind": [0, 1]}), folder / "table.trace")
        make(folder)

    return made


SPECS = [
    Bad(
        f"{command}: {new or 'without ' + old}"[:60].strip(),
        tuple(says),
        beside_traces(instead(old, new)) if "trace" in new else instead(old, new),
        arguments,
        line=line,
    )
    for old, new, line, says in CASES
    for command, arguments in (("run", RUN), ("check", ("check", "bad.yaml")))
]
