"""Reference pages of the site, from what the core declares: parameters, kinds, measures, segments, tables.

The numbers and sentences are those of ``cxloom components``: nothing is written twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cxloom.spec import declared

Fields = Sequence[Mapping[str, Any]]

_SECTIONS = {
    "link": "Links",
    "region": "Regions of the address map",
    "workload": "Workloads",
    "tasks": "Graphs of tasks",
    "event": "Events",
    "run": "How a simulation is run",
    "outputs": "Outputs",
    "kv": "Servers with KV caches",
}
"""Sections with parameters of their own, and the titles of their pages."""


def pages() -> dict[str, str]:
    """The pages by their file names, in the order in which they are listed."""
    made = {f"{category}.md": _category(category, title) for category, title in declared.categories().items()}
    made |= {f"{name}.md": _section(name, title) for name, title in _SECTIONS.items()}
    return made | {"measures.md": _measures(), "segments.md": _segments(), "tables.md": _tables()}


def _category(category: str, title: str) -> str:
    lines = [f"# {title}", "", "Written as `kind: NAME`, or NAME alone where a part takes one.", ""]
    for name, info in declared.kinds(category).items():
        lines += [f"## {name}", "", _text(str(info["doc"])), ""]
        lines += _parameters(info["fields"])
        if info["statistics"]:
            lines += ["**Measures** of the summary:", "", *_measure_rows(info["statistics"]), ""]
    return "\n".join(lines) + "\n"


def _section(name: str, title: str) -> str:
    info = declared.declarations()[name]
    return "\n".join([f"# {title}", "", _text(str(info["doc"])), "", *_parameters(info["fields"])]) + "\n"


def _parameters(fields: Fields, depth: int = 0) -> list[str]:
    """A table of parameters; those of parameters with parameters of their own follow, each below its name."""
    if not fields:
        return []
    rows = ["| parameter | type | default | meaning |", "| --- | --- | --- | --- |"]
    rows += [f"| `{each['name']}` | {_type(each)} | {_default(each)} | {_meaning(each)} |" for each in fields]
    below: list[str] = []
    for each in fields:
        if each["fields"] and depth < 3:
            below += [f"Parameters of `{each['name']}`:", "", *_parameters(each["fields"], depth + 1)]
    return [*rows, "", *below]


def _type(field: Mapping[str, Any]) -> str:
    if field["choices"]:
        return ", ".join(f"`{choice}`" for choice in field["choices"])
    if field["category"] in declared.categories():
        return f"[{field['type']}]({field['category']}.md)"
    return str(field["type"])


def _default(field: Mapping[str, Any]) -> str:
    if field["required"]:
        return "required"
    return f"`{field['default']}`" if field["default"] else "none"


def _meaning(field: Mapping[str, Any]) -> str:
    parts = [str(field["doc"])]
    least, most = field["minimum"], field["maximum"]
    if least and most:
        parts.append(f"From {least} to {most}.")
    elif least or most:
        parts.append(f"At least {least}." if least else f"At most {most}.")
    if field["source"]:
        parts.append(f"*Source: {field['source']}.*")
    return _cell(" ".join(parts))


def _measures() -> str:
    lines = ["# Measures of the summary", "", "What `summary.json` holds; `*` stands for any name.", ""]
    return "\n".join([*lines, *_measure_rows(declared.declarations()["measures"]), ""])


def _measure_rows(measures: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "| measure | unit | meaning |"
    yield "| --- | --- | --- |"
    for path, measure in declared.statistics(list(measures)):
        yield f"| `{path}` | {measure['unit']} | {_cell(str(measure['doc']))} |"


def _segments() -> str:
    lines = [
        "# Segments of a latency",
        "",
        "Every picosecond of a request is charged to one of these, so that they sum to its latency.",
        "",
        "| segment | at | waiting | meaning |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{each['name']}` | {each['place']} | {'yes' if each['waits'] else ''} | {_cell(str(each['doc']))} |"
        for each in declared.segments().values()
    ]
    return "\n".join(lines) + "\n"


def _tables() -> str:
    lines = [
        "# Tables of rows",
        "",
        "What `--out` writes beside the summary, as Parquet, if `outputs` asks for it.",
        "",
    ]
    for name, columns in declared.tables().items():
        lines += [f"## {name}", "", "| column | unit | meaning |", "| --- | --- | --- |"]
        lines += [f"| `{each['name']}` | {each['unit']} | {_cell(str(each['doc']))} |" for each in columns]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|").replace("\n", " ")


def _text(text: str) -> str:
    """Text in which nothing but code and emphasis is Markdown: a ``*`` or ``<`` of a name stays what it is."""
    parts = re.split(r"(`[^`]*`|\*Source: .*\*$)", text)
    return "".join(part if at % 2 else re.sub(r"([*<_\[\]])", r"\\\1", part) for at, part in enumerate(parts))
