"""The pictures of measurements, as people know them from the tools that measure hardware so.

Matplotlib is loaded where a picture is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cxloom.measure.measurement import Measurement

_WIDTH = 6.5


def breakdown(measured: Measurement) -> Figure:
    """A bar for each memory, piled up from where the time goes."""
    from cxloom.display.charts import breakdown as bars

    rows = [row for row in measured.rows if row["latency_ns"] is not None]
    segments = list(dict.fromkeys(part for row in rows for part in row["breakdown_ns"]))
    return bars(
        {row["memory"]: {part: row["breakdown_ns"].get(part, 0.0) for part in segments} for row in rows},
        _heading(measured),
    )


def matrix(measured: Measurement) -> Figure:
    """A field for each requester and memory: the darker, the farther."""
    from cxloom.display import style

    memories = [key for key in measured.rows[0] if key != "requester"]
    names = [row["requester"] for row in measured.rows]
    values = [[row[memory] for memory in memories] for row in measured.rows]
    made = style.figure(_WIDTH, 1.2 + 0.45 * len(names))
    axes = made.add_subplot()
    numbers = [[float("nan") if value is None else value for value in row] for row in values]
    known = [value for row in values for value in row if value is not None]
    low, high = 0.6 * min(known), 1.2 * max(known)
    axes.imshow(numbers, cmap="Blues", aspect="auto", vmin=low, vmax=high)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value is not None:
                dark = value > 0.55 * (low + high)
                colour = "white" if dark else "black"
                axes.text(x, y, f"{value:.1f}", ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(range(len(memories)), memories, rotation=0 if len(memories) < 8 else 60)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0, labelsize=9)
    style.heading(made, _heading(measured))
    return made


def sizes(measured: Measurement) -> Figure:
    """Latency over the size, both in logarithms; below, the hit rates of the levels."""
    from cxloom.display import style

    rows = [row for row in measured.rows if row["latency_ns"] is not None]
    levels = [key for key in rows[0] if key.endswith("_hits")]
    made = style.figure(_WIDTH, 5.2 if levels else 3.4)
    upper, *lower = made.subplots(2 if levels else 1, 1, sharex=True, squeeze=False)[:, 0]
    bytes_ = [row["bytes"] for row in rows]
    upper.plot(bytes_, [row["latency_ns"] for row in rows], **style.line(0))
    upper.set_xscale("log", base=2)
    style.logarithmic(upper.yaxis, "latency (ns)")
    for axes in lower:
        for index, level in enumerate(levels):
            hits = [100 * row[level] for row in rows]
            axes.plot(bytes_, hits, label=f"{level[:2].upper()} hits", **style.line(index + 1))
        axes.set_ylabel("reads (%)")
        axes.legend(frameon=False, fontsize=8)
    _size_axis(lower[0] if lower else upper)
    for axes in (upper, *lower):
        axes.grid(alpha=0.25)
        style.plain(axes)
    style.heading(made, _heading(measured))
    return made


def loaded(measured: Measurement) -> Figure:
    """Latency over bandwidth, a curve for each memory and share of reads."""
    from cxloom.display.charts import lines

    memories, mixes = ({row[key] for row in measured.rows} for key in ("memory", "reads"))
    curves: dict[str, tuple[list[Any], list[Any]]] = {}
    for row in measured.rows:
        if row["latency_ns"] is None:
            continue
        parts = [row["memory"]] * (len(memories) > 1) + [f"{100 * row['reads']:.4g} % reads"] * (
            len(mixes) > 1
        )
        name = ", ".join(parts)
        xs, ys = curves.setdefault(name, ([], []))
        xs.append(row["bandwidth_gb_per_s"])
        ys.append(row["latency_ns"])
    to = "" if len(memories) > 1 else f"to {next(iter(memories), '')}"
    made = lines(curves, "bandwidth (GB/s)", "latency of the probe (ns)", _heading(measured), to)
    made.axes[0].set_xlim(left=0)
    return made


def bandwidth(measured: Measurement) -> Figure:
    """Bars by the mix, side by side for the memories."""
    return _grouped(measured, "mix")


def stream(measured: Measurement) -> Figure:
    """Bars by the kernel, side by side for the memories."""
    return _grouped(measured, "kernel")


def _grouped(measured: Measurement, group: str) -> Figure:
    from cxloom.display import palette, style

    groups = list(dict.fromkeys(row[group] for row in measured.rows))
    memories = list(dict.fromkeys(row["memory"] for row in measured.rows))
    made = style.figure(_WIDTH, 3.4)
    axes = made.add_subplot()
    width = 0.8 / len(memories)
    for index, memory in enumerate(memories):
        found = {row[group]: row["bandwidth_gb_per_s"] for row in measured.rows if row["memory"] == memory}
        places = [place + (index - (len(memories) - 1) / 2) * width for place in range(len(groups))]
        bars = axes.bar(
            places,
            [found.get(each) or 0.0 for each in groups],
            0.92 * width,
            label=memory,
            color=palette.part(index),
        )
        if len(memories) <= 4:
            axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_ylabel("bandwidth (GB/s)")
    style.plain(axes)
    if len(memories) > 1:
        style.legend_below(made)
    style.heading(made, _heading(measured), "" if len(memories) > 1 else f"to {memories[0]}")
    return made


def _heading(measured: Measurement) -> str:
    return f"{measured.system}: {measured.title}"


def _size_axis(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    from cxloom.display.numbers import size

    def shown(value: float, _place: object) -> str:
        return size(value).replace(".00 ", " ").replace(".0 ", " ")

    axes.xaxis.set_major_formatter(FuncFormatter(shown))
    axes.tick_params(axis="x", labelrotation=45)
    axes.set_xlabel("size, logarithmic")
