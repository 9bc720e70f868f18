"""The JSON Schema (draft 2020-12) of spec files, from what the core declares: editors complete and check with it.

It says what can be said of a file by itself: keys, types, units, bounds of numbers, kinds. Whether devices that are
named exist, and whether quantities are within their bounds, only ``cxloom check`` knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from cxloom import _core
from cxloom.spec import alike, declared, presets
from cxloom.spec.bases import AUTO

Schema: TypeAlias = dict[str, Any]

_NUMBER = r"([0-9]+(\.[0-9]*)?|\.[0-9]+) *"
_REAL = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_BYTES = "B|[KMGT]iB|[kKMGT]B"
QUANTITIES: dict[str, tuple[str, list[str]]] = {
    "time": (f"^{_NUMBER}(ps|ns|us|ms|s)$", ["10ns", "1.5us"]),
    "bytes": (f"^{_NUMBER}({_BYTES})$", ["64B", "16GiB"]),
    "bandwidth": (f"^(unlimited|{_NUMBER}({_BYTES}|[MGT]b)/s)$", ["64GB/s", "512Gb/s", "unlimited"]),
    "frequency": (f"^(unlimited|{_NUMBER}[kMG]?(/s|Hz))$", ["50M/s", "4GHz", "unlimited"]),
    "period": (f"^{_NUMBER}(ps|ns|us|ms|s|[kMG]?Hz)$", ["625ps", "416.667ps", "2.4GHz"]),
}
"""Pattern and examples of each type that is written with its unit. The core decides (units.cpp, period.cpp)."""

KV_QUANTITIES: dict[str, tuple[str, list[str]]] = {
    "flop rate": (f"^{_REAL} *[kMGTP]?FLOP/s$", ["312TFLOP/s"]),
    "request rate": (f"^(unlimited|{_REAL} *([kMG]?/s|/min|/h))$", ["2/s", "0.1/s", "6/min"]),
}
"""Types of values in files of KV caches alone (flop_rate.cpp, request_rate.cpp)."""
_PLACED = "placed-address"
"""Where a pattern begins: an address, or behind the requester before."""
_NOT_OF_FABRIC = ("workload", "tasks", "events")
"""Sections of a spec that a fabric has not: its traffic are the blocks."""

_NAME = "[A-Za-z_][A-Za-z0-9_-]*"
_DECLARED = rf"^{_NAME}(\[[0-9, -]+\][A-Za-z0-9_-]*)*$"
_GLOB = r"^[A-Za-z0-9_*,\[\] -]*\*[A-Za-z0-9_*,\[\] -]*$"
_NAMES = r"^[A-Za-z0-9_*,\[\] -]+$"


def schema() -> Schema:
    """The schema of a spec file."""
    # A category that is written as a kind, or as a map with a kind and its parameters.
    kinded = [category for category in declared.categories() if category != "patterns"]
    need_kind_or_like = {"anyOf": [{"required": ["kind"]}, {"required": [alike.KEY]}]}
    devices_need_kinds = {"patternProperties": {_DECLARED: need_kind_or_like}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cxloom spec",
        "description": "A system with CXL and its workload.",
        "type": "object",
        "properties": {
            key: {"description": about["doc"], **_written(key, about)}
            for key, about in declared.sections().items()
        },
        "additionalProperties": False,
        # What a preset or a topology declares need not be declared again.
        "if": {"not": {"anyOf": [{"required": ["preset"]}, {"required": ["topology"]}]}},
        "then": {"properties": {"devices": devices_need_kinds}},
        "$defs": {
            "names": {
                "type": "string",
                "pattern": _NAMES,
                "description": "Devices: a name, a range, or a glob.",
            },
            **{entry: _entry(entry) for entry in _shared_entries()},
            "phase": _phase(),
            _PLACED: {"anyOf": [{"const": AUTO}, _type("address", {})]},
            # What many places take is written once, and may hold itself: media before media.
            **{category: _kinded(category) for category in kinded},
            **{f"one-of-{category}": _one_of(category) for category in kinded},
            "link-parameters": _section("link"),
            **{name: _quantity(name) for name in QUANTITIES},
        },
    }


def kv_schema() -> Schema:
    """The schema of a file of servers with KV caches (docs/model/kv.md), with its fabric, which is like a spec."""
    whole = schema()
    serving = _section("kv")
    names = {"enum": list(_core.kv_model_names())}
    serving["properties"] |= {
        "model": serving["properties"]["model"] | {"anyOf": [names, _section("kv_model")]},
        "fabric": serving["properties"]["fabric"]
        | {
            "anyOf": [
                {"type": "string"},
                {key: whole[key] for key in ("if", "then")}
                | {
                    "type": "object",
                    "properties": {
                        key: section
                        for key, section in whole["properties"].items()
                        if key not in _NOT_OF_FABRIC
                    },
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        },
    }
    own = {_name(kind): _quantity(kind) for kind in KV_QUANTITIES}
    return {"$schema": whole["$schema"], "title": "cxloom kv"} | serving | {"$defs": whole["$defs"] | own}


def _written(key: str, about: Mapping[str, Any]) -> Schema:
    """A section: as its form says, but for those in which names stand for many devices."""
    if key == "preset":
        return {"type": "string", "anyOf": [{"enum": presets.names()}, {"pattern": r"\.ya?ml$"}]}
    if key == "devices":
        return _named({_DECLARED: "one-of-devices", _GLOB: "one-of-devices"})
    form, entry = about["form"], about["entry"]
    if form == "text":
        return {"type": "string"}
    if form == "kind":
        return _ref(about["category"])
    if form == "one":
        return _section(entry)
    if form == "each":
        return {"type": "array", "items": _ref(entry)}
    return _named({_NAMES: entry})


def _named(patterns: Mapping[str, str]) -> Schema:
    return {
        "type": "object",
        "patternProperties": {pattern: _ref(name) for pattern, name in patterns.items()},
        "additionalProperties": False,
    }


def _shared_entries() -> list[str]:
    """The schemas of entries of sections that have many."""
    return [
        about["entry"]
        for about in declared.sections().values()
        if about["form"] in ("each", "by_name") and about["entry"]
    ]


def _entry(name: str) -> Schema:
    own = {"link": _link, "region": _region, "workload": _requester}
    return own[name]() if name in own else _section(name)


def _section(name: str) -> Schema:
    info = declared.declarations()[name]
    return _object(declared.fields(info), str(info["doc"]))


def _one_of(category: str) -> Schema:
    """A map with a kind and its parameters; a device may instead be like another one."""
    like = {"type": "string", "pattern": f"^{_NAME}$", "description": alike.DOC}
    return _by_key("kind", _kind_infos(category), {alike.KEY: like} if category == "devices" else {})


def _link() -> Schema:
    ends = {"type": "array", "items": _ref("names"), "minItems": 2, "maxItems": 2}
    link = _section("link")
    link["properties"] = {
        "between": {"description": "The two ends; ranges and globs give all pairs.", **ends},
        "pairwise": {
            "type": "boolean",
            "description": "Join first with first, second with second, and so on.",
        },
        **link["properties"],
    }
    link["required"] = ["between", *link.get("required", [])]
    return link


def _region() -> Schema:
    region = _section("region")
    names = _ref("names")
    region["properties"]["to"] = {
        "description": "The devices that hold the region, in their order.",
        "anyOf": [names, {"type": "array", "items": names, "minItems": 1}],
    }
    return region


def _requester() -> Schema:
    """A workload: a pattern with its parameters, a trace, or phases, which are patterns that follow each other."""
    info = declared.declarations()["workload"]
    patterns = _kind_infos("patterns")
    common = {key: _field(field) for key, field in declared.fields(info).items() if key != "pattern"}
    common["phases"] = {**common["phases"], "items": _ref("phase")}
    return {"description": info["doc"], **_with_auto(_by_key("pattern", patterns, common))}


def _with_auto(entry: Schema) -> Schema:
    """Patterns, where those with a footprint may be placed behind each other."""
    for branch in entry["allOf"]:
        properties = branch["then"]["properties"]
        if {"footprint", "base"} <= properties.keys():
            properties["base"] = _or_auto(properties["base"])
    return entry


def _or_auto(base: Schema) -> Schema:
    """An address, or the word for the end of the footprint of the requester before."""
    return {**{key: base[key] for key in ("description", "default") if key in base}, **_ref(_PLACED)}


def _phase() -> Schema:
    requests = _field(declared.fields(declared.declarations()["workload"])["requests"])
    entry = _with_auto(_by_key("pattern", _kind_infos("patterns"), {"requests": requests}))
    return {**entry, "required": ["pattern"]}


def _name(kind: str) -> str:
    return kind.replace(" ", "-")


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _kind_infos(category: str) -> dict[str, tuple[declared.Fields, str]]:
    return {
        kind: (declared.fields(info), str(info["doc"])) for kind, info in declared.kinds(category).items()
    }


def _by_key(key: str, kinds: Mapping[str, tuple[declared.Fields, str]], common: Schema) -> Schema:
    """A map whose `key` says what else it takes; without it, as in a part laid over a preset, what any kind takes."""
    choice = {
        "enum": list(kinds),
        "description": "\n".join(f"{kind}: {doc}" for kind, (_, doc) in kinds.items()),
    }
    every: Schema = {name: {} for fields, _ in kinds.values() for name in fields}
    branches = [
        {
            "if": {"properties": {key: {"const": kind}}, "required": [key]},
            "then": {
                **_object(fields, doc, complete=False),
                "properties": {key: {"const": kind}, **common, **_object(fields, doc)["properties"]},
            },
        }
        for kind, (fields, doc) in kinds.items()
    ]
    return {
        "type": "object",
        "properties": {key: choice, **every, **common},
        "additionalProperties": False,
        "allOf": branches,
    }


def _kinded(category: str) -> Schema:
    """A parameter that names one of several kinds: `fixed`, or {kind: fixed, latency: 45ns}."""
    return {"anyOf": [{"enum": [*declared.kinds(category), None]}, _ref(f"one-of-{category}")]}


def _object(fields: declared.Fields, doc: str, *, complete: bool = True) -> Schema:
    """A map with the declared keys; `complete` if required ones must be there."""
    result: Schema = {
        "type": "object",
        "description": doc,
        "properties": {name: _field(field) for name, field in fields.items()},
        "additionalProperties": False,
    }
    required = [name for name, field in fields.items() if field["required"]]
    if complete and required:
        result["required"] = required
    return result


def _field(field: declared.Field) -> Schema:
    doc = f"{field['doc']} Source: {field['source']}." if field["source"] else str(field["doc"])
    shape = _type(str(field["type"]), field)
    if not field["required"]:  # `key: null` takes the default again, where a preset has set it
        shape = _or_null(shape)
    default = _default(field)
    if default is None and field["default"]:
        doc += f" Default: {field['default']}."
        # So does its word. An editor needs no sentence.
        word = str(field["default"]).partition(": ")[0]
        shape = shape if " " in word else {"anyOf": [{"const": word}, shape]}
    return {"description": doc, **({} if default is None else {"default": default}), **shape}


def _or_null(shape: Schema) -> Schema:
    if "$ref" in shape:  # what many take says so once
        return shape
    if isinstance(shape.get("type"), str):
        return {**shape, "type": [shape["type"], "null"]}
    if "enum" in shape:
        return {**shape, "enum": [*shape["enum"], None]}
    return {**shape, "anyOf": [*shape["anyOf"], {"type": "null"}]} if "anyOf" in shape else shape


def _default(field: declared.Field) -> Any:
    """The default as a value of its type; None if there is none, or if it is words such as "that of the link"."""
    kind, text = field["type"], str(field["default"])
    if kind == "integer":
        return int(text) if text.isdigit() else None
    if kind == "boolean":
        return {"true": True, "false": False}.get(text)
    if kind in QUANTITIES:
        return text if re.search(QUANTITIES[kind][0], text) else None
    if kind in ("fraction", "real"):
        return float(text) if re.fullmatch(r"[0-9.]+", text) else None
    return (text or None) if kind in ("choice", "kind", "address") else None


def _type(kind: str, field: declared.Field) -> Schema:
    if kind in QUANTITIES or kind in KV_QUANTITIES:
        return _ref(_name(kind))
    if kind == "integer":
        return {"type": "integer", "minimum": int(field["minimum"] or 0), **_maximum(field)}
    if kind in ("fraction", "real"):
        share = {"type": "string", "pattern": "^-?[0-9.]+%$"}
        bounds = {"minimum": float(field["minimum"])} if field["minimum"] else {}
        return {"anyOf": [{"type": "number", **bounds, **_maximum(field)}, share]}
    if kind == "choice":
        return {"enum": list(field["choices"])}
    if kind == "map":
        whole = _object(declared.fields(field), str(field["doc"]))
        return {"anyOf": [{"type": "string"}, whole]} if field["short_for"] else whole
    if kind == "kind":
        return _ref(str(field["category"]))
    if kind == "list":
        return {"type": "array", "items": _type(str(field["item"]), {**field, "minimum": "", "maximum": ""})}
    if kind == "address":
        size = QUANTITIES["bytes"][0].strip("^$")
        pattern = f"^(0[xX][0-9a-fA-F]+|{size})$"
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": pattern}]}
    if kind == "rounds":
        return {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "forever"}]}
    if kind == "weights":
        return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
    if kind == "any":
        return _ref(f"{field['category']}-parameters") if field["category"] else {}
    return {"type": {"boolean": "boolean", "text": "string", "file": "string"}[kind]}


def _quantity(kind: str) -> Schema:
    pattern, examples = (QUANTITIES | KV_QUANTITIES)[kind]
    return {"type": ["string", "null"], "pattern": pattern, "examples": examples}


def _maximum(field: declared.Field) -> Schema:
    return {"maximum": float(field["maximum"])} if field["maximum"] else {}
