"""The page of servers with a KV cache in tiers: when the first token comes, what is found where, what limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from cxloom import _core
from cxloom.base.words import counted
from cxloom.display import palette
from cxloom.display.numbers import duration, percent, significant
from cxloom.kv.serving import TIER_COLUMNS, Served, share_text
from cxloom.report import plots
from cxloom.report.page import Cell, Section, answer, document, facts, notes, plot, table, tiles

_MISSED = "computed"
_HEADS = ("mean", "p50", "p90", "p99", "max")


def serving_page(served: Served) -> str:
    """The text of the page."""
    title = "KV cache" if served.name == "serving" else served.name
    foot = f"cxloom {escape(_core.__version__)}. This page holds all that it needs; nothing is fetched."
    return document(title, _lead(served), list(_sections(served.found)), foot)


def shares_of_prompts(found: Mapping[str, Any]) -> dict[str, float]:
    """Where the tokens of all prompts came from: a tier, by its name, or the servers; they sum to 1.

    What a tier had and the servers computed all the same is theirs.
    """
    tokens = found["prompt_tokens"]
    loaded = {
        name: (tier["hit_tokens"] - tier["computed_tokens"]) / tokens if tokens else 0.0
        for name, tier in found["tiers"].items()
    }
    return loaded | {_MISSED: 1 - sum(loaded.values())}


def _lead(served: Served) -> str:
    found = served.found
    first, each = found["ttft_s"], found["time_per_token_s"]
    entries = [
        ("first token", _time(first["mean"]), f"mean; p99 {_time(first['p99'])}"),
        *(() if each is None else (("each token after", _time(each["mean"]), "mean"),)),
        ("found of prompts", share_text(found["hit_share"]), f"{share_text(found['loaded_share'])} loaded"),
        ("requests a second", significant(found["requests_per_s"]), f"{found['requests']:,} of them"),
        ("limit", found["limit"]["resource"], f"{share_text(found['limit']['occupied'])} occupied"),
    ]
    return answer(served.sentence) + tiles(entries) + notes(found["notes"])


def _sections(found: Mapping[str, Any]) -> Iterator[Section]:
    if len(found["series"]) > 1:
        yield Section("course", "What is found, and how long that takes", _course(found))
    yield Section("first", "The first token", _first(found))
    yield Section("tiers", "What is found where", _tiers(found))
    yield Section("waits", "What limits", _waits(found))
    if found["fabric"] is not None:
        yield Section("fabric", "The fabric", _fabric(found["fabric"]))
    yield Section("servers", "Servers", _servers(found))


def _course(found: Mapping[str, Any]) -> str:
    """The tiers' shares one on the other, and the time to the first token above them, over time."""
    series = found["series"]
    times = [row["until_s"] for row in series]
    data: list[dict[str, Any]] = []
    for index, name in enumerate(found["tiers"]):
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "stackgroup": "found",
                "x": times,
                "y": [_times(100, row["hit_shares"][name]) for row in series],
                "line": {"width": 1, "color": palette.part(index)},
                "tip": "{name} has {y} % up to {x} s",
            }
        )
    data.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "first token",
            "yaxis": "y2",
            "x": times,
            "y": [_times(1000, row["ttft_s"]) for row in series],
            "line": {"width": 2, "color": palette.VERMILION},
            "marker": {"size": 5},
            "tip": "first token after {y} ms up to {x} s",
        }
    )
    second = plots.titled("first token (ms)", rangemode="tozero")
    figure = {
        "data": data,
        "layout": plots.layout(
            "Found of the prompts, by tier, and the mean time to the first token",
            plots.titled("simulated time (s)"),
            plots.titled("of the prompts' tokens (%)", range=[0, 104], showgrid=True),
            yaxis2=second,
        ),
    }
    text = "Each point is of the time since the one before. What no tier has the servers compute."
    moved = plots.lines(
        {name: (times, [row["loaded_gb_per_s"][name] for row in series]) for name in found["tiers"]},
        "Loaded from each tier",
        plots.titled("simulated time (s)"),
        plots.titled("GB/s", rangemode="tozero", showgrid=True),
        tip="{y} GB/s at {x} s",
    )
    return (
        f'<p class="soft">{text}</p>{plot("found", figure, "Shares found by tier, and the first token, over time")}'
        f"{plot('loaded', moved, 'Bandwidth of loads by tier over time')}"
    )


def _first(found: Mapping[str, Any]) -> str:
    parts = found["ttft_s"]["parts"]
    colours = {"queue": palette.part(0), "load": palette.part(1), "compute": palette.part(2)}
    figure = _bars(
        {name: ({"mean": 1000 * seconds}, colours.get(name, "")) for name, seconds in parts.items()},
        "Mean time to the first token by what it went to",
        "time (ms)",
        "ms",
    )
    text = (
        "queue: until its turn comes and a step of decoding lets the processor go. load: what computation does not "
        "hide of moving the prefix. compute: the rest of the prompt."
    )
    rows = [
        [Cell(name, look="text"), *(Cell(_time(each[head]), each[head]) for head in _HEADS)]
        for name, key in (("first token", "ttft_s"), ("each token after", "time_per_token_s"))
        if (each := found[key]) is not None
    ]
    return (
        f'<p class="soft">{text}</p>{plot("parts", figure, "Parts of the mean time to the first token")}'
        f"{table(['', *_HEADS], rows, caption='Times of requests', sortable=False)}"
    )


def _tiers(found: Mapping[str, Any]) -> str:
    shares = shares_of_prompts(found)
    figure = _bars(
        {
            name: ({"prompts": 100 * share}, "" if name == _MISSED else palette.part(index))
            for index, (name, share) in enumerate(shares.items())
        },
        "Where the prompts' tokens come from",
        "of the prompts' tokens (%)",
        "%",
    )
    rows = [
        [Cell(name, look="text"), *(Cell(text(tier[key]), tier[key]) for key, text in TIER_COLUMNS.values())]
        for name, tier in found["tiers"].items()
    ]
    head = ["tier", *TIER_COLUMNS]
    return f"{plot('sources', figure, 'Where the tokens of prompts come from')}{table(head, rows, caption='Tiers')}"


def _waits(found: Mapping[str, Any]) -> str:
    limit = found["limit"]
    busy = sorted(((share, name) for name, share in limit["busy"].items() if share), reverse=True)[:12]
    names = [name for _, name in busy]
    figure = {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": names,
                "x": [100 * share for share, _ in busy],
                "marker": {
                    "color": [palette.VERMILION if n == limit["resource"] else palette.BLUE for n in names]
                },
                "tip": "{y}: {x} % of the time",
            }
        ],
        "layout": plots.layout(
            "How busy each resource is, and how long servers wait",
            plots.titled("of the time (%)", range=[0, 104], showgrid=True),
            {},
            height=60 + 26 * max(len(names), 2),
            showlegend=False,
        ),
    }
    text = (
        "Means over the servers. Writes limit nothing by themselves, as nobody waits for them; "
        "'waiting for' a tier is a processor that stands still for its load. The limit is in red."
    )
    rows = [
        [Cell(name, look="text"), Cell(share_text(share), share)] for name, share in limit["busy"].items()
    ]
    return (
        f'<p class="soft">{text}</p>{plot("busy", figure, "Shares of the time of resources and of waiting")}'
        f"{table(['resource', 'of the time'], rows, caption='Resources')}"
    )


def _fabric(fabric: Mapping[str, Any]) -> str:
    entries = [
        ("sets of moves that were measured", f"{fabric['sets']:,}"),
        ("error of their rates", f"{percent(fabric['relative_error'])}, mean over the time (99 %)"),
        ("of the worst of them", percent(fabric["largest_error"])),
    ]
    loads = sorted(fabric["loads"].items(), key=lambda each: -each[1])
    rows: list[Sequence[Cell | str]] = [
        [Cell(name, look="text"), Cell(percent(share), share)] for name, share in loads
    ]
    return facts(entries) + table(["link or memory", "busy"], rows, caption="Loads over the whole run")


def _servers(found: Mapping[str, Any]) -> str:
    rows = [
        [
            Cell(str(number), number, look="text"),
            Cell(f"{each['requests']:,}", each["requests"]),
            Cell(share_text(each["prefill_share"]), each["prefill_share"]),
            Cell(share_text(each["decode_share"]), each["decode_share"]),
        ]
        for number, each in enumerate(found["servers"])
    ]
    text = f"{counted(len(rows), 'server')} in {_time(found['time_s'])}; shares of that time."
    head = ["server", "requests", "prefill", "decoding"]
    return f'<p class="soft">{text}</p>{table(head, rows, caption="Servers")}'


def _bars(
    parts: Mapping[str, tuple[Mapping[str, float], str]], title: str, axis: str, unit: str
) -> dict[str, Any]:
    """One bar, piled up from parts of a colour each; of none it is grey."""
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": list(values),
            "x": list(values.values()),
            "marker": {"color": colour or "#8a939c"},
            "tip": f"{{name}}: {{x}} {unit}",
        }
        for name, (values, colour) in parts.items()
    ]
    made = plots.layout(title, plots.titled(axis, showgrid=True), {}, height=110, barmode="stack")
    return {"data": data, "layout": made}


def _times(factor: float, value: float | None) -> float | None:
    """None: no request had one in that time."""
    return None if value is None else factor * value


def _time(seconds: float) -> str:
    return duration(seconds * 1e9)
