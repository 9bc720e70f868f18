"""Composes YAML with libyaml, where it reads the text as YAML 1.2 does, in a tenth of the time of ruamel.yaml.

libyaml knows YAML 1.1. What the two versions read otherwise is left to ruamel.yaml, and so is each text with an error,
whose problems ruamel.yaml names better.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from typing import Any, Protocol

from cxloom.base import limits


class YamlNode(Protocol):
    """What the nodes of PyYAML, which has libyaml, and of ruamel.yaml have in common."""

    id: str
    """``scalar``, ``sequence`` or ``mapping``."""
    tag: Any
    style: str | None
    """How a scalar is quoted; nothing if it is plain."""
    value: Any
    """The text of a scalar, nodes of a sequence, pairs of nodes of a mapping."""
    start_mark: Any


_READ_OTHERWISE = re.compile(
    "|".join(
        (
            r"[\x00-\x09\x0b-\x1f\x7f]",  # control characters
            r"!|^%|^---|^\.\.\.",  # tags, directives, documents
            r"(?:^|[\s\[{,:\-])\?",  # keys that are marked as such
            r"[|>][^\n]*#|[|>][-+0-9]* *\n *(?:\n|#|\Z)",  # texts on lines of their own that begin with nothing
            r"(?:^|[\s\[{,])[&*][\w-]+[^\s,\]}\w-]",  # names of anchors
        )
    ),
    re.MULTILINE,
)
_BEYOND_ASCII = r"[^\x00-\x7f\xa1-\u1fff\u2010-\u2027\u2030-\ud7ff]"
"""Other control characters, and what ends a line in one version alone; compiled where a text is not of ASCII."""
_BLOCKS = re.compile(r"^[ -]*", re.MULTILINE)
_DEPTHS = {"[": 1, "{": 1, "]": -1, "}": -1}


def composed(text: str) -> YamlNode | None:
    """The node of a text; scalars have a style if they are quoted, and no tags.

    None without a node, and where ruamel.yaml is to read.
    """
    if _READ_OTHERWISE.search(text) or _may_be_deep(text):
        return None
    if not text.isascii() and re.search(_BEYOND_ASCII, text):
        return None
    from yaml import YAMLError

    loader = _loader()(text)
    try:
        node: YamlNode | None = loader.get_single_node()
        return node
    except YAMLError:
        return None
    finally:
        loader.dispose()


def _may_be_deep(text: str) -> bool:
    """Whether the text may nest deeper than a spec does: PyYAML composes by recursion in C, without limit."""
    flow = max(accumulate(_DEPTHS[bracket] for bracket in re.findall(r"[][{}]", text)), default=0)
    block = max(len(match.group()) for match in _BLOCKS.finditer(text))
    return flow + block > 4 * limits.DEPTH


@cache
def _loader() -> Any:
    """The class that composes; a resolver of YAML 1.2 in the place of PyYAML's own."""
    from yaml._yaml import CParser

    class Loader(CParser):
        """What a parser asks of its resolver: which tags values without one have. Here none."""

        def resolve(self, _kind: type, _value: str | None, _implicit: object) -> str:
            return ""

        def descend_resolver(self, _node: object, _index: object) -> None: ...

        def ascend_resolver(self) -> None: ...

    return Loader
