"""The parameters of media but DRAM in the table: fixed latency, non-volatile memory, measured curves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.systems import Spec, changed, direct
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth, latency, of_memory, worst


def media_rows() -> Iterator[Turn]:
    """Media of fixed latency."""
    base = direct()
    at = "devices.mem.media"
    kind = ("devices.mem.media", {"kind": "fixed", "latency": "45ns"})
    base = changed(base, kind)
    in_line = changed(base, ("workload.host.pattern", "sequential"), (f"{at}.banks", 4))
    yield Turn("media.fixed.latency", base, f"{at}.latency", ("45ns", "90ns"), RISES, latency)
    yield Turn("media.fixed.write_latency", base, f"{at}.write_latency", (..., "150ns"), RISES, latency)
    yield Turn("media.fixed.bandwidth", base, f"{at}.bandwidth", ("unlimited", "4GB/s"), FALLS, bandwidth)
    yield Turn("media.fixed.banks", base, f"{at}.banks", (..., 2), FALLS, bandwidth)
    yield Turn(
        "media.fixed.bank_interleave", in_line, f"{at}.bank_interleave", ("64B", "64KiB"), FALLS, bandwidth
    )


def nvm_rows() -> Iterator[Turn]:
    """Non-volatile media."""
    at = "devices.mem.media"
    wide = {"kind": "nvm", "block": "256B"}
    base = direct(memory={"media": {"kind": "nvm"}})
    blocks = direct(memory={"media": wide}, work={"pattern": "sequential"})
    writes = direct(memory={"media": {"kind": "nvm", "banks": 4}}, work={"reads": 0.0})
    again = direct(memory={"media": {**wide, "hold": 32}}, work={"footprint": "8KiB"})

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"media.nvm.{key}", base, f"{at}.{key}", values, effect, measure)

    yield turn("preset", base, ("nvm-100-200", "optane-dcpmm"), RISES, latency)
    yield turn("read_latency", base, ("100ns", "300ns"), RISES, latency)
    yield turn("write_latency", writes, ("200ns", "400ns"), FALLS, bandwidth)
    yield turn("banks", base, (16, 2), FALLS, bandwidth)
    yield turn("block", base, ("64B", "256B"), RISES, of_memory("write_amplification"))
    yield turn("write_buffer", writes, (64, 4), RISES, of_memory("media_queue_mean"))
    yield turn("hold", again, (0, 32), RISES, of_memory("merged_writes"))
    yield turn("read_buffer", blocks, (0, 64), FALLS, of_memory("read_amplification"))
    yield turn("buffer_write_latency", base, ("10ns", "90ns"), RISES, latency)
    yield turn("buffer_read_latency", again, ("10ns", "90ns"), RISES, latency)
    yield turn("read_bandwidth", base, ("unlimited", "1GB/s"), FALLS, bandwidth)
    yield turn("write_bandwidth", writes, ("unlimited", "0.5GB/s"), FALLS, bandwidth)
    yield turn("wear_region", base, ("64B", "64KiB"), FALLS, of_memory("wear_max"))
    yield turn("endurance", base, (..., 1), RISES, of_memory("worn_lines"))


def cached_rows() -> Iterator[Turn]:
    """A cache of pages before other media."""
    at = "devices.mem.media"
    cached = {
        "kind": "cached",
        "size": "64KiB",
        "cache": {"kind": "fixed", "latency": "40ns"},
        "backing": {"kind": "fixed", "latency": "1us"},
    }
    base = direct(memory={"media": cached}, work={"footprint": "256KiB"})
    zipf = {"pattern": "zipf", "exponent": 1.2, "requests": 5000, "footprint": "256KiB"}
    skewed = direct(memory={"media": {**cached, "page": "64B", "size": "8KiB"}}, work=zipf)
    loop = direct(memory={"media": {**cached, "size": "16KiB", "ways": 4}}, work={"pattern": "sequential"})
    loop = changed(loop, ("workload.host.footprint", "20KiB"))
    hits = of_memory("page_hit_rate")

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"media.cached.{key}", base, f"{at}.{key}", values, effect, measure)

    slow = {"kind": "fixed", "latency": "200ns"}
    yield turn("size", base, ("64KiB", "256KiB"), FALLS, latency)
    sequential = changed(base, ("workload.host.pattern", "sequential"))
    yield turn("page", sequential, ("4KiB", "256B"), RISES, of_memory("page_misses"))
    yield turn("ways", skewed, (1, 16), RISES, hits)
    yield turn("policy", loop, ("lru", "mru"), RISES, hits)
    ahead = changed(loop, ("workload.host.footprint", "1MiB"), ("devices.host.queue", 1))
    yield turn("prefetch", ahead, ("none", "next-line"), FALLS, latency)
    yield turn("lookup_time", base, ("5ns", "50ns"), RISES, latency)
    yield turn("misses", base, (1, 16), RISES, bandwidth)
    yield turn("cache", base, (cached["cache"], slow), RISES, latency)
    yield turn("backing", base, (slow, cached["backing"]), RISES, latency)


def inline_ecc_rows() -> Iterator[Turn]:
    """Lines of ECC among the data of other media."""
    backing = {"kind": "fixed", "latency": "40ns", "banks": 1}
    ecc = {"kind": "inline-ecc", "cache": "1KiB", "backing": backing}
    base = direct(memory={"media": ecc}, work={"footprint": "256KiB"})
    loop = changed(base, ("workload.host.pattern", "sequential"), ("workload.host.footprint", "64KiB"))
    loop = changed(loop, ("devices.mem.media.cache", "8KiB"))

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"media.inline-ecc.{key}", base, f"devices.mem.media.{key}", values, effect, measure)

    hits = of_memory("ecc_hit_rate")
    in_turn = changed(base, ("workload.host.pattern", "sequential"))
    yield turn("data_lines", in_turn, (3, 15), RISES, bandwidth)
    yield turn("cache", base, ("1KiB", "16KiB"), RISES, hits)
    # Lines whose groups all fall into one set.
    work = {"pattern": "strided", "stride": "64KiB", "footprint": "256KiB"}
    strides = direct(memory={"media": {**ecc, "cache": "8KiB"}}, host={"queue": 1}, work=work)
    yield turn("ways", strides, (1, 0), RISES, hits)
    yield turn("backing", base, (backing, {**backing, "latency": "80ns"}), RISES, latency)


def compressed_rows() -> Iterator[Turn]:
    """Blocks that are compressed on their way into other media."""
    backing = {"kind": "fixed", "latency": "40ns", "bandwidth": "4GB/s"}
    compressed = {"kind": "compressed", "backing": backing, "engines": 64}
    base = direct(memory={"media": compressed}, work={"footprint": "256KiB"})
    writes = changed(base, ("workload.host.reads", 0.0))
    spread = changed(writes, ("devices.mem.media.spread", 0.5))
    share = of_memory("stored_share")
    one = changed(base, ("devices.mem.media.engines", 1))

    def turn(key: str, base: Spec, values: tuple[Any, Any], effect: Any, measure: Measure) -> Turn:
        return Turn(f"media.compressed.{key}", base, f"devices.mem.media.{key}", values, effect, measure)

    yield turn("block", base, ("1KiB", "4KiB"), FALLS, bandwidth)
    yield turn("sector", writes, ("256B", "1KiB"), RISES, share)
    # All blocks of the footprint have the ratio of one page then, which is above the mean.
    yield turn("page", spread, ("4KiB", "1MiB"), FALLS, share)
    yield turn("ratio", base, (1, 4), RISES, bandwidth)
    yield turn("spread", writes, (0, 1), RISES, share)
    yield turn("compress_time", writes, ("200ns", "2us"), RISES, latency)
    yield turn("decompress_time", base, ("100ns", "1us"), RISES, latency)
    yield turn("engines", one, (1, 2), RISES, bandwidth)
    yield turn("backing", base, (backing, {**backing, "latency": "400ns"}), RISES, latency)


def curve(reads: float = 1.0, bandwidth: str = "8GB/s", latency: str = "200ns") -> list[Spec]:
    """A curve of two points for each of two read shares; the arguments are of its last."""
    return [
        {"reads": 0.0, "bandwidth": "1GB/s", "latency": "150ns"},
        {"reads": 0.0, "bandwidth": "6GB/s", "latency": "300ns"},
        {"reads": reads, "bandwidth": "1GB/s", "latency": "100ns"},
        {"reads": reads, "bandwidth": bandwidth, "latency": latency},
    ]


def curve_file(latency_ns: int) -> str:
    """A table in a file."""
    path = Path(tempfile.mkdtemp()) / "curve.csv"
    path.write_text(f"bandwidth_gb_per_s,latency_ns\n1,100\n10,{latency_ns}\n", encoding="utf-8")
    return str(path)


def curve_rows() -> Iterator[Turn]:
    """Media that follow a measured curve."""
    at = "devices.mem.media"
    base = direct(memory={"media": {"kind": "curve", "points": curve()}})
    file = direct(memory={"media": {"kind": "curve", "file": curve_file(200)}})
    open_loop = changed(base, ("workload.host.rate", "60M/s"))  # 3.84 GB/s
    bursts = changed(open_loop, ("workload.host.arrivals", "poisson"))
    slower = curve(), curve(latency="400ns")
    name = "media.curve.points"
    yield Turn(name, open_loop, f"{at}.points", slower, RISES, latency)
    yield Turn(f"{name}.reads", base, f"{at}.points", (curve(), curve(0.6)), FALLS, latency)
    yield Turn(
        f"{name}.bandwidth", base, f"{at}.points", (curve(), curve(bandwidth="20GB/s")), RISES, bandwidth
    )
    yield Turn(f"{name}.latency", open_loop, f"{at}.points", slower, RISES, latency)
    yield Turn("media.curve.file", file, f"{at}.file", (curve_file(200), curve_file(800)), RISES, latency)
    yield Turn("media.curve.elsewhere", base, f"{at}.elsewhere", ("0ns", "60ns"), FALLS, latency)
    yield Turn("media.curve.window", bursts, f"{at}.window", (4, 256), FALLS, worst)
