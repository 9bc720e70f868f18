"""The file of a serving run: YAML with the keys that the core declares, and values set from outside."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.kv.fabric import split, with_fabric
from cxloom.kv.requests import Requests, generate_requests, read_requests
from cxloom.spec import paths, presets
from cxloom.spec.file_kind import FileKind, refuse_other
from cxloom.spec.node import Node, Step
from cxloom.spec.override import Override
from cxloom.spec.reader import read_file

TRACES = "CXLOOM_TRACES"
"""A variable of the environment: the folder of traces that do not come with cxloom."""
_INDEX = re.compile(r"\[([0-9]{1,6})\]")
_SIZES = ("capacity", "blocks")


def read(path: str | os.PathLike[str], overrides: Sequence[Override] = ()) -> Node:
    """The tree of a file with values set in it, and its fabric resolved. Raises InputError, with file and line."""
    name = os.fspath(path)
    if not os.path.exists(name) and name in presets.names():
        raise InputError(
            "a preset of a system, and not servers with a KV cache", allowed=f"cxloom run {name}", file=name
        )
    return with_values(read_file(path), overrides)


def with_values(root: Node, overrides: Sequence[Override]) -> Node:
    """The tree with values set in it, and its fabric resolved. Raises InputError."""
    refuse_other(root, FileKind.SERVERS)
    own, of_fabric = split(overrides)
    for override in own:
        root = assigned(root, override)
    return with_fabric(root, of_fabric)


def requests_of(root: Node) -> Requests:
    """The requests that a file names. Raises InputError at its place in the file, or in the trace."""
    return requests_named(root, root.plain())


def requests_named(root: Node, plain: Any) -> Requests:
    """The requests that `requests` of a tree names. The core checks them by `plain`, with all that serving needs."""
    try:
        asked = _core.kv_requests_of(plain)
    except InputError as error:
        raise paths.located(root, error) from None
    if asked["trace"] is None:
        generate = plain["requests"]["generate"]
        try:
            return generate_requests(block=asked["block"], seed=asked["seed"], **generate)
        except InputError as error:
            error.path = ".".join(filter(None, ("requests.generate", error.path)))
            raise paths.located(root, error) from None
    first = plain["requests"].get("first")
    return read_requests(trace_of(root), format=asked["format"], block=asked["block"], first=first)


def trace_of(root: Node) -> Path:
    """The trace that a file names: beside it, or in the folder that the variable CXLOOM_TRACES of the environment
    names. Raises InputError at its place if it is in neither."""
    node, _ = paths.follow(root, "requests.trace")
    name = node.text()
    folders = [node.origin.folder, *filter(None, [os.environ.get(TRACES)])]
    for folder in folders:
        if (file := Path(folder, name)).exists():
            return file
    allowed = f"a trace, beside this file or in the folder that {TRACES} names"
    raise paths.located(root, InputError("no such file", found=name, allowed=allowed, path="requests.trace"))


def assigned(root: Node, override: Override) -> Node:
    """The tree with a value at a path; the items of a list go by their ``name`` or their place, ``tiers[0]``."""
    steps: list[Step] = []
    node: Node | None = root
    for word in _INDEX.sub(r".\1", override.path).split("."):
        step = _step(node, word)
        if step is None:
            raise override.value.origin.error(
                "a path that matches nothing", found=f"'{override.path}'", allowed=_known(node)
            )
        if steps == ["model"] and node is not None and isinstance(node.value, str):
            raise override.value.origin.error(
                "the model is a name, and has no keys that could be set",
                found=f"'{node.value}'",
                allowed="--set model=NAME for another one; for a shape of your own a map in the file, such as "
                "model: {layers: 3, hidden: 1024, heads: 16}",
            )
        steps.append(step)
        node = node.get(step) if node is not None else None
    return paths.assign(_without_other_size(root, steps), tuple(steps), override.value)


def _without_other_size(root: Node, steps: Sequence[Step]) -> Node:
    """The tree without the size of a tier for which the one at `steps` is set: a tier has one of both."""
    if len(steps) != 3 or steps[0] != "tiers" or steps[2] not in _SIZES:
        return root
    other = _SIZES[1 - _SIZES.index(str(steps[2]))]
    tiers = root.get("tiers")
    tier = tiers.get(steps[1]) if tiers is not None else None
    if tier is None or not isinstance(tier.value, dict) or tier.get(other) is None:
        return root
    return paths.left_out(root, (*steps[:2], other))


def _step(node: Node | None, word: str) -> Step | None:
    if node is None or not isinstance(node.value, list):
        return word
    for index, item in enumerate(node.value):
        name = item.get("name") if isinstance(item.value, dict) else None
        if word == str(index) or (name is not None and name.value == word):
            return index
    return None


def _known(node: Node | None) -> str:
    items = node.value if node is not None and isinstance(node.value, list) else []
    names = [item.get("name") for item in items if isinstance(item.value, dict)]
    return ", ".join(str(name.value) for name in names if name is not None)
