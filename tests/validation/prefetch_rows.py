"""The parameters of prefetchers in the table: of each kind, and where a cache has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Spec, changed, direct, feed
from validation.turns import DIFFERS, FALLS, RISES, Measure, Turn, hit_rate, latency

AT = "devices.host.cache.prefetch"


def of_host(name: str) -> Measure:
    """A measure of `host`."""
    return lambda outcome: int(outcome.summary["per_requester"]["host"][name])


def ahead(kind: str, cache_of: str = "host", **params: Any) -> Spec:
    """One access at a time, line after line, through a cache with this prefetcher. There is time for a line to come."""
    cache = {"size": "64KiB", "prefetch": {"kind": kind, **params}}
    work = {"pattern": "sequential", "reads": 1.0}
    host = {"kind": cache_of, "queue": 1, "issue_interval": "120ns", "cache": cache}
    return direct(host=host, work=work)


def apart(lines: int, kind: str, **params: Any) -> Spec:
    """The same, but lines so many apart."""
    work = {"pattern": "strided", "stride": f"{64 * lines}B", "footprint": "16MiB"}
    return changed(ahead(kind, **params), *((f"workload.host.{key}", value) for key, value in work.items()))


def at_once(spec: Spec) -> Spec:
    """The same without a pause between an answer and the next access: lines come late."""
    return changed(spec, ("devices.host.issue_interval", ...))


def common_rows(kind: str, base: Spec) -> Iterator[Turn]:
    """What every prefetcher has. In `base` lines are wanted across more than a small page."""
    name = f"prefetchers.{kind}"
    # Each access asks for one line at least: several at a time ask for more.
    busy = changed(base, ("devices.host.queue", 8), ("devices.host.issue_interval", "2ns"))
    yield Turn(f"{name}.registers", busy, f"{AT}.registers", (1, 16), RISES, of_host("prefetches"))
    yield Turn(f"{name}.registers", busy, f"{AT}.registers", (1, 16), FALLS, of_host("prefetches_dropped"))
    yield Turn(f"{name}.page", base, f"{AT}.page", ("512B", "4KiB"), RISES, of_host("prefetches_useful"))


def next_line_rows() -> Iterator[Turn]:
    """The lines behind one that is new."""
    yield from common_rows("next-line", ahead("next-line"))
    base = ahead("next-line")
    hurried = at_once(base)
    yield Turn("prefetchers.next-line.degree", hurried, f"{AT}.degree", (1, 4), FALLS, latency)
    # What is too far ahead is driven out before it is used.
    small = changed(base, ("devices.host.cache.size", "1KiB"), ("workload.host.pattern", "random"))
    useless = of_host("prefetches_useless")
    yield Turn("prefetchers.next-line.degree", small, f"{AT}.degree", (1, 4), RISES, useless)


def stride_rows() -> Iterator[Turn]:
    """Streams of equal strides."""
    name, useful = "prefetchers.stride", of_host("prefetches_useful")
    yield from common_rows("stride", ahead("stride"))
    yield Turn(f"{name}.degree", at_once(apart(3, "stride")), f"{AT}.degree", (1, 4), FALLS, latency)
    yield Turn(f"{name}.confidence", apart(3, "stride"), f"{AT}.confidence", (1, 8), FALLS, useful)
    # Four streams in turn, each in a page of its own.
    woven = changed(ahead("stride"), ("workload.host", {"trace": "woven"}))
    addresses = [4096 * stream + 192 * i for i in range(20) for stream in range(4)]
    yield Turn(
        f"{name}.streams", woven, f"{AT}.streams", (3, 4), RISES, useful,
        feeds=lambda: {"host": feed(addresses)},
    )  # fmt: skip


def streamer_rows() -> Iterator[Turn]:
    """Streams in one direction."""
    name, useful = "prefetchers.streamer", of_host("prefetches_useful")
    base = ahead("streamer")
    yield from common_rows("streamer", base)
    yield Turn(f"{name}.distance", at_once(base), f"{AT}.distance", (2, 20), FALLS, latency)
    yield Turn(f"{name}.degree", at_once(base), f"{AT}.degree", (1, 4), FALLS, latency)
    yield Turn(f"{name}.confidence", apart(2, "streamer"), f"{AT}.confidence", (1, 8), FALLS, useful)
    woven = changed(base, ("workload.host", {"trace": "woven"}))
    addresses = [4096 * stream + 64 * i for i in range(60) for stream in range(4)]
    yield Turn(
        f"{name}.streams", woven, f"{AT}.streams", (3, 4), RISES, useful,
        feeds=lambda: {"host": feed(addresses)},
    )  # fmt: skip


def best_offset_rows() -> Iterator[Turn]:
    """The one offset that would have been in time most often."""
    name, useful = "prefetchers.best-offset", of_host("prefetches_useful")
    yield from common_rows("best-offset", apart(3, "best-offset"))
    base = apart(3, "best-offset")
    yield Turn(f"{name}.max_offset", base, f"{AT}.max_offset", (2, 63), RISES, useful)
    yield Turn(f"{name}.best_score", base, f"{AT}.best_score", (31, 4), RISES, useful)
    patient = changed(base, (f"{AT}.best_score", 1000))
    yield Turn(f"{name}.rounds", patient, f"{AT}.rounds", (4, 1000), FALLS, useful)
    yield Turn(f"{name}.recent", at_once(base), f"{AT}.recent", (1, 256), RISES, useful)
    # No offset is good for lines in no order.
    astray = changed(base, ("workload.host.pattern", "random"), ("workload.host.stride", ...))
    few = changed(astray, (f"{AT}.rounds", 16), ("workload.host.footprint", "1MiB"))
    yield Turn(f"{name}.confidence", few, f"{AT}.confidence", (1, 16), FALLS, of_host("prefetches"))


def leap_rows() -> Iterator[Turn]:
    """The stride of the majority."""
    name, useful = "prefetchers.leap", of_host("prefetches_useful")
    base = apart(3, "leap")
    busy = changed(base, ("devices.host.queue", 8), ("devices.host.issue_interval", "2ns"))
    yield Turn(f"{name}.registers", busy, f"{AT}.registers", (1, 16), RISES, of_host("prefetches"))
    yield Turn(f"{name}.page", base, f"{AT}.page", ("512B", "4KiB"), RISES, useful)
    yield Turn(f"{name}.window", base, f"{AT}.window", (1, 8), RISES, useful)
    # Three strides of three lines, then others: of two strides one is soon taken for a trend.
    woven = changed(base, ("workload.host", {"trace": "woven"}))
    addresses = [64 * (32 * i + line) for i in range(100) for line in (0, 3, 6, 9, 20)]
    feeds = lambda: {"host": feed(addresses)}  # noqa: E731
    yield Turn(f"{name}.history", woven, f"{AT}.history", (2, 32), FALLS, of_host("prefetches"), feeds=feeds)
    yield Turn(f"{name}.split", woven, f"{AT}.split", (1, 16), DIFFERS, of_host("prefetches"), feeds=feeds)


def prefetch_rows() -> Iterator[Turn]:
    """All of them."""
    for kind in ("host", "accelerator"):
        base = ahead("none", cache_of=kind)
        name = f"devices.{kind}.cache.prefetch"
        for each in ("next-line", "stride", "best-offset", "leap"):
            yield Turn(name, base, AT, ("none", each), RISES, hit_rate)
            yield Turn(name, base, AT, ("none", each), FALLS, latency)
    yield from next_line_rows()
    yield from stride_rows()
    yield from streamer_rows()
    yield from best_offset_rows()
    yield from leap_rows()
