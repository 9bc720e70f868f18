"""Laws of what is measured of requests: they are those of the rows, and the parts make up the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from validation.laws import law
from validation.laws.intervals import around_bandwidth, around_mean, around_percentile, told
from validation.laws.look import HUBS, Array, Look
from validation.systems import LINE, Spec
from validation.unloaded import bytes_of

PAGE = 4096
RUN = 1e-3
"""Percentiles of all requests are right to this."""
PART = 1e-2
"""Those of single components and kinds."""


def moved(look: Look, of: Any) -> float:
    """Bytes that memories exchanged for the requests of a mask."""
    return float(look.size[of & (look.served | look.buffered)].sum())


KINDS = {"read": 0, "write": 1, "atomic": 2, "flush": 3}
PLURALS = {"reads": "read", "writes": "write", "atomics": "atomic", "flushes": "flush"}


def of_kind(look: Look) -> Array | None:
    """The requests that a statistic of one kind is about; None if it is about all."""
    return look.rows["kind"] == KINDS[look.path[0]] if look.path[0] in KINDS else None


@law("requests", *PLURALS, *(f"{kind}.requests" for kind in KINDS))
def counts(look: Look, value: int) -> None:
    kind = look.rows["kind"]
    wanted = KINDS.get(PLURALS.get(look.path[0], look.path[0]))
    look.equal(value, len(kind) if wanted is None else int((kind == wanted).sum()))


@law("write_backs")
def write_backs(look: Look, value: int) -> None:
    if not (look.buffers and look.copied):  # a persist buffer takes lines of pages that move
        look.equal(value, look.over("per_memory", "write_backs"))
    own = look.over("per_requester", "write_backs") + look.copied
    # What a cache does not allocate for is written past it, of pages that move, too.
    unknown = look.copied_in_caches + look.given_up
    if not unknown and not look.copied_late:
        look.equal(value, own)
    look.within(value, own - look.copied_late, own + unknown)
    if not look.cached.any() and look.whole and not unknown and not look.copied_late:
        look.equal(value, look.copied)


def kind_of_errors(look: Look) -> Array:
    """The rows, of all, of the kind that a count of errors is about."""
    kind = look.all_rows["kind"]
    return kind == KINDS[look.path[0]] if look.path[0] in KINDS else kind >= 0


@law("errors.requests", "errors.latency_ns.*")
@law(*(f"{kind}.errors.{what}" for kind in KINDS for what in ("requests", "latency_ns.*")))
def errors(look: Look, value: Any, *keys: str) -> None:
    what = look.path[-2:] if keys else ("requests",)
    precision = PART if look.path[0] in KINDS else RUN
    look.check_errors(value, kind_of_errors(look), precision, what)
    # Who was answered without data moved nothing, and a row says so of whoever moved nothing.
    if not any("cache" in device for device in look.spec["devices"].values()) and look.controllers_take_time:
        assert (look.served | look.buffered).all()
    rows = look.all_rows
    hubs = [i for i, name in enumerate(look.outcome.nodes) if look.device(name)["kind"] in HUBS]
    buffered = rows.get("persist_buffer_ps", np.zeros(1)) > 0
    assert look.wrong[np.isin(rows["target"], hubs) & ~buffered].all()


@law("errors.first.*")
def first_error(look: Look, value: Any, key: str) -> None:
    rows, summary = look.all_rows, look.summary["errors"]["first"]
    first = look.wrong & (rows["completed_ps"] == rows["completed_ps"][look.wrong].min())
    node = look.outcome.nodes.index
    for column, known in (
        ("address", int(summary["address"], 16)),
        ("requester", node(summary["requester"])),
        ("target", node(summary["answered_by"])),
    ):
        first &= rows[column] == known
    assert first.any()
    look.equal(summary["at_ns"], float(rows["completed_ps"][first].min()) / 1000)


@law("failed_write_backs")
def failed_write_backs(look: Look, value: int) -> None:
    if not any(link.get("outage", {}).get("fail") for link in look.spec["links"]):
        look.equal(value, 0)
    look.within(value, 0, look.summary["requests"] + look.summary["write_backs"] + value)


@law("simulated_time_ns")
def length(look: Look, value: float) -> None:
    completed = look.all_rows["completed_ps"]
    if look.whole:
        opened = (look.all_rows["created_ps"] + look.all_rows["requester_queue_ps"]).min()
        look.equal(value, float(completed.max() - opened) / 1000)
    elif len(completed):
        look.within(value, float(completed.max() - completed.min()) / 1000, look.outcome.end_ns)


@law("bandwidth_gb_per_s", *(f"{kind}.bandwidth_gb_per_s" for kind in KINDS))
def bandwidth(look: Look, value: float) -> None:
    kind = of_kind(look)
    kind = look.served | True if kind is None else kind
    back = 0 if look.path[0] in ("read", "atomic", "flush") else LINE * look.summary["write_backs"]
    ahead = 0 if look.path[0] in ("write", "atomic", "flush") else LINE * look.summary.get("prefetches", 0)
    look.equal(value * look.length, moved(look, kind) + back + ahead)


@law("bandwidth_ci95", *(f"{kind}.bandwidth_ci95" for kind in KINDS))
def bandwidth_interval(look: Look, value: list[float] | None) -> None:
    kind = of_kind(look)
    of = np.ones(len(look.rows["id"]), dtype=bool) if kind is None else kind
    around_bandwidth(look, value, of, look.summary if kind is None else look.summary[look.path[0]])


@law("latency_ns.*", *(f"{kind}.latency_ns.*" for kind in KINDS))
def latency(look: Look, value: Any, key: str) -> None:
    kind = of_kind(look)
    of = np.ones(len(look.rows["id"]), dtype=bool) if kind is None else kind
    if key == "ci95":
        around_mean(look, value, of)
    elif key.endswith("_ci95"):
        measures = look.summary if kind is None else look.summary[look.path[0]]
        around_percentile(look, value, of, measures["latency_ns"][key.removesuffix("_ci95")])
    else:
        look.check_latency(value, of, RUN if kind is None else PART, key)


@law("stationary")
def stationary(look: Look, value: bool | None) -> None:
    assert value in (True, False, None)
    told(look, value, np.ones(len(look.rows["id"]), dtype=bool))
    noted = any("not stationary" in note for note in look.summary["notes"])
    look.equal(value is False, noted)


@law("breakdown_ns.*", *(f"{kind}.breakdown_ns.*" for kind in KINDS))
def breakdown(look: Look, value: float | None, segment: str) -> None:
    kind = of_kind(look)
    look.check_breakdown(value, np.ones(len(look.rows["id"]), dtype=bool) if kind is None else kind, segment)


@law("mean_hops")
def mean_hops(look: Look, value: float | None) -> None:
    hops = look.rows["hops"]
    look.equal(value, float(hops.mean()) if len(hops) else None)


@law("by_hops")
def no_hops(look: Look, value: Spec) -> None:
    """It is empty where nothing was answered with data."""
    assert value == {}
    assert len(look.rows["hops"]) == 0


@law("by_hops.*.*")
def by_hops(look: Look, value: float, hops: str, key: str) -> None:
    latency = look.latency[look.rows["hops"] == int(hops)]
    exact = {"requests": len, "mean_ns": np.mean, "min_ns": np.min, "max_ns": np.max}
    look.equal(value, exact[key](latency) if key == "requests" else float(exact[key](latency)))


@law("mix_windows.*")
def mix_windows(look: Look, value: float | None, key: str) -> None:
    """Cut again from the rows: after the first instant, instants until there are requests enough."""
    rows, fewest = look.rows, look.spec["outputs"]["mix_windows"]
    moved = np.where(look.served, look.size, 0)
    ends, starts = np.unique(rows["completed_ps"], return_index=True)
    mixes, bandwidths, begin = [], [], 0
    for end in range(1, len(ends)):
        window = slice(starts[begin + 1], starts[end + 1] if end + 1 < len(ends) else None)
        reads = rows["kind"][window] == 0
        if len(reads) >= fewest:
            mixes.append(min(reads.mean(), 1 - reads.mean()))
            bandwidths.append(1000 * float(moved[window].sum()) / float(ends[end] - ends[begin]))
            begin = end
    slope = np.polyfit(mixes, bandwidths, 1)[0] if len(set(mixes)) > 1 else None
    expected = {
        "windows": lambda: len(mixes),
        "mix_degree": lambda: float(np.mean(mixes)) if mixes else None,
        "bandwidth_gb_per_s": lambda: float(np.mean(bandwidths)) if mixes else None,
        "slope_gb_per_s": lambda: slope if slope is None else float(slope),
        "determination": lambda: None if slope is None else float(np.corrcoef(mixes, bandwidths)[0, 1] ** 2),
    }
    look.equal(value, expected[key](), rel=1e-6)


# --- By requester ---


@law("per_requester.*.requests")
def requester_requests(look: Look, value: int, name: str) -> None:
    look.equal(value, int(look.of("requester", name).sum()))


@law("per_requester.*.bandwidth_gb_per_s")
def requester_bandwidth(look: Look, value: float, name: str) -> None:
    own = look.summary["per_requester"][name]
    pages = 2 * look.page_lines(name) * own.get("pages_moved", 0)
    through_cache = "cache" in look.device(name)
    known = moved(look, look.of("requester", name)) + LINE * own.get("write_backs", 0)
    known += 0 if through_cache else LINE * pages
    # The cache has some lines of pages that move; some move when the window is closed, and some for nothing.
    least = known - LINE * min(pages, 2 * look.copied_late)
    most = known + LINE * (2 * look.given_up + (pages if through_cache else 0))
    # What came ahead is known of all requesters together.
    most += LINE * look.summary.get("prefetches", 0) if name in look.prefetching else 0
    if least == most or (
        least == known and name in look.prefetching and len(look.prefetching) == 1 and not pages
    ):
        look.equal(value * look.length, most)
    look.within(value * look.length, least, most)
    look.equal(look.over("per_requester", "bandwidth_gb_per_s"), look.summary["bandwidth_gb_per_s"])


@law("per_requester.*.in_flight_mean")
def in_flight(look: Look, value: float, name: str) -> None:
    """Little: of all requests, however they were answered, for each of them holds a slot."""
    own, rows = look.all_of("requester", name), look.all_rows
    if look.whole:
        held = (rows["completed_ps"] - rows["created_ps"] - rows["requester_queue_ps"])[own].sum() / 1000
        look.equal(value * look.length, float(held))
    look.within(value, 0, look.device(name).get("queue", 64))


@law("per_requester.*.errors.requests", "per_requester.*.errors.latency_ns.*")
def requester_errors(look: Look, value: Any, name: str, *keys: str) -> None:
    what = look.path[-2:] if keys else ("requests",)
    look.check_errors(value, look.all_of("requester", name), PART, what)


@law("per_requester.*.fences")
def fences(look: Look, value: int, name: str) -> None:
    ids = look.all_rows["id"][look.all_of("requester", name)]
    every = look.spec["workload"][name]["fence_every"]
    if look.whole:
        look.equal(value, int(((ids > 0) & (ids % every == 0)).sum()))
    look.within(value, 0, len(ids) / every + look.device(name).get("queue", 64))


@law("per_requester.*.pages.*")
def pages(look: Look, value: int, name: str, node: str) -> None:
    """A program that touched its pages before the run has frames for its footprint, wherever they move.

    Otherwise it has them for what it accessed: frames are apart, so that a whole run's rows are in all of them. A
    memory is a node here.
    """
    work = look.spec["workload"][name]
    if work.get("touched", "before") == "before":
        others = sum(look.summary["per_requester"][name]["pages"].values()) - value
        look.equal(value, -(-bytes_of(work["footprint"]) // bytes_of(work.get("page", "4KiB"))) - others)
    if look.copied or look.copied_in_caches:
        look.within(value, 0)  # frames are left, and used again
        return
    own = look.of("requester", name)
    frames = np.unique(look.rows["address"][own & look.of("target", node)] // PAGE)
    if look.whole and work.get("touched") == "during" and (look.rows["size"][own] <= LINE).all():
        look.equal(value, len(frames))
    look.within(value, len(frames))


@law("per_requester.*.pages_moved")
def pages_moved(look: Look, value: int, name: str) -> None:
    """After one move into a memory that had no page of the program's, they are what is there."""
    if "tiering" in look.spec["workload"][name]:
        tiering = look.summary["per_requester"][name]["tiering"]
        bytes_moved = value * LINE * look.page_lines(name)
        look.equal(bytes_moved, tiering["promoted_bytes"] + tiering["demoted_bytes"])
        return
    if any("offline" in event for event in look.spec["events"]):
        left = value * LINE * look.page_lines(name)
        moved_bytes = [each["moved_bytes"] for each in look.summary.get("removals", {}).values()]
        look.within(left, 0, sum(moved_bytes))
        return
    (event,) = (each["move_pages"] for each in look.spec["events"])
    look.equal(value, look.summary["per_requester"][name]["pages"][event["to"]])


@law("per_requester.*.pages_not_moved")
def pages_not_moved(look: Look, value: int, name: str) -> None:
    own = look.summary["per_requester"][name]
    each_once = "tiering" not in look.spec["workload"][name]  # a policy may ask for a page again
    look.within(value, 0, sum(own["pages"].values()) - own["pages_moved"] if each_once else float("inf"))


@law("per_requester.*.page_moves_ns")
def page_moves(look: Look, value: float, name: str) -> None:
    """A page takes at least a read and a write of a line."""
    rows = look.rows["completed_ps"] - look.rows["created_ps"]
    moved = look.summary["per_requester"][name]["pages_moved"]
    look.within(value, moved * float(2 * rows.min()) / 1000)


@law("per_requester.*.page_wait_ns")
def page_wait(look: Look, value: float, name: str) -> None:
    if "tiering" in look.spec["workload"][name]:  # each access waits by itself
        if look.whole:  # to the end of the run
            look.within(value, 0, float(look.all_rows["process_ps"].sum()) / 1000)
        look.within(value, 0)
        return
    look.within(value, 0, look.summary["per_requester"][name]["page_moves_ns"])


@law("per_requester.*.fence_wait_ns")
def fence_wait(look: Look, value: float, name: str) -> None:
    """With a fence after each access nothing else holds the next one up: its wait is the latency before it."""
    own = look.of("requester", name)
    count = look.summary["per_requester"][name]["fences"]
    if look.whole and count and look.spec["workload"][name]["fence_every"] == 1:
        last = own & (look.rows["id"] == look.rows["id"][own].max())
        look.equal(value * count, float(look.latency[own].sum() - look.latency[last].sum()))
    look.within(value, 0, look.length)


@law("per_requester.*.cache_hit_rate")
def hit_rate(look: Look, value: float, name: str) -> None:
    own = look.of("requester", name)
    # A hit crosses no link; whoever waits for the line of another has that one's hops, unless the line is at home.
    hits = own & (look.rows["hops"] == 0) & (look.rows["mshr_ps"] == 0)
    if look.whole and not look.device(name).get("memory") and not look.summary["errors"]["requests"]:
        if not look.atomics:
            look.equal(value * own.sum(), float(hits.sum()))
        # Who waits for the end of an atomic operation may have hit its line, or may have waited for it before.
        look.within(value * own.sum(), 0, float((own & (look.rows["hops"] == 0)).sum()))
    look.within(value, 0, 1)


@law("per_requester.*.cache_levels")
def cache_levels(look: Look, value: list[Spec], name: str) -> None:
    """To a level comes what missed in those before it; all together hit as often as the cache does."""
    came = int(look.of("requester", name).sum()) if look.whole else value[0]["lookups"]
    look.equal(len(value), 1 + len(look.device(name)["cache"]["levels"]))
    for level in value:
        if look.whole and not look.summary["errors"]["requests"]:
            look.equal(level["lookups"], came)
        look.equal(level["hit_rate"], level["hits"] / came if came else 0.0)
        came -= level["hits"]
    hits = sum(level["hits"] for level in value)
    look.equal(look.summary["per_requester"][name]["cache_hit_rate"] * value[0]["lookups"], float(hits))


@law("per_requester.*.cache_atomics", "per_requester.*.home_atomics")
def atomics_by_place(look: Look, value: int, name: str) -> None:
    """They are counted when they begin, and those that a memory made have been there."""
    own = look.of("requester", name) & (look.rows["kind"] == 2)
    measures = look.summary["per_requester"][name]
    queue = look.device(name).get("queue", 64)
    if look.whole and not look.summary["errors"]["requests"]:
        both = measures.get("cache_atomics", 0) + measures.get("home_atomics", 0)
        look.equal(both, int(own.sum()))
        if look.controllers_take_time and look.path[-1] == "home_atomics":
            look.equal(value, int((own & look.made).sum()))
    look.within(value, 0, own.sum() + queue)


@law("per_requester.*.write_backs")
def requester_write_backs(look: Look, value: int, name: str) -> None:
    """All but those lines that a kernel flushes, of memory that is taken out of use."""
    flushed = sum(each["flushed_lines"] for each in look.summary.get("removals", {}).values())
    own = look.over("per_requester", "write_backs")
    if not flushed:
        look.equal(own, look.summary["write_backs"])
    look.within(look.summary["write_backs"] - own, 0, flushed)
    look.within(value, 0, look.summary["write_backs"])


@law("per_requester.*.bandwidth_ci95")
def requester_bandwidth_interval(look: Look, value: list[float] | None, name: str) -> None:
    around_bandwidth(look, value, look.of("requester", name), look.summary["per_requester"][name])


@law("per_requester.*.latency_ns.*")
def requester_latency(look: Look, value: float | None, name: str, key: str) -> None:
    own = look.of("requester", name)
    if key == "ci95":
        around_mean(look, value, own)
    else:
        look.check_latency(value, own, PART, key)


# --- The run itself ---


@law("completed", "truncated", "stop_reason", "seed", "notes", "coherence", "per_home")
def of_the_run(look: Look, value: Any) -> None:
    key = look.path[0]
    ended = {"completed": True, "truncated": False, "stop_reason": "finished: every request was answered"}
    ended |= {"seed": look.spec["run"]["seed"], "coherence": {}, "per_home": {}}
    if key in ended:
        look.equal(value, ended[key])
    else:
        assert all(isinstance(note, str) for note in value)


@law("per_io", "per_switch")
def nothing_there(look: Look, value: Spec) -> None:
    kinds = ("io-engine",) if look.path == ("per_io",) else HUBS
    look.equal(value, {})
    look.equal([name for name, device in look.spec["devices"].items() if device["kind"] in kinds], [])


@law("unlimited.*")
def unlimited(look: Look, value: list[str], part: str) -> None:
    summary: Spec = look.summary
    if part == "links":
        found = [
            way
            for link, ways in summary["per_link"].items()
            for way, measures in ways.items()
            if measures["messages"] and look.ns_per_byte(link, way) == 0
        ]
        look.equal(sorted(value), sorted(found))
    elif part == "buses":
        free = [
            n for n in summary["per_switch"] if look.device(n).get("bandwidth", "unlimited") == "unlimited"
        ]
        look.equal(
            value, [n for n in free if look.device(n)["kind"] == "bus" and look.leaving(n, "messages")]
        )
    else:
        look.equal(
            value, [name for name, measures in summary["per_memory"].items() if _free(look, name, measures)]
        )


def _free(look: Look, name: str, measures: Spec) -> bool:
    owner = look.device(name).get("memory", look.device(name))
    media = owner.get("media", {})
    places = "queue" in owner or {"read_buffer", "write_buffer"} <= owner.keys()
    bounded = places or "banks" in media or media.get("bandwidth", "unlimited") != "unlimited"
    others = sum(measures.get(key, 0) for key in ("prefetches", "drains"))
    used = measures["requests"] + measures["write_backs"] + others > 0
    return used and not bounded and media.get("kind", "fixed") == "fixed"
