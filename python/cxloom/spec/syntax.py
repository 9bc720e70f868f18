"""The errors in text that is no YAML, in words of ours: the library speaks of its tokens and productions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cxloom.spec.node import Origin, SpecError

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

_BRACKETED = re.compile(r"(?<![\w-])[A-Za-z_][\w-]*(?:\[[\d*,\s-]*\])+")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")

_MEANINGS = (
    (r"expected ',' or '}'", "a ',' or the closing '}' is missing"),
    (r"expected ',' or ']'", "a ',' or the closing ']' is missing"),
    (r"expected <block end>", "this is indented otherwise than what it belongs to"),
    (r"mapping values are not allowed", "a second ': ' in one entry; quote a text that has one"),
    (r"sequence entries are not allowed", "a '-' where no list can begin"),
    (r"mapping keys are not allowed", "a '?' where no key can begin"),
    (r"could not find expected ':'", "an entry without ':'"),
    (r"end of stream|document separator", "a quote is not closed"),
    (r"undefined alias", "an alias (*) of what has no anchor (&)"),
    (r"duplicate anchor", "an anchor (&) that is there twice"),
    (r"cannot start any token", "a character that begins nothing; quote a text that begins with it"),
    (
        r"escape|hexadecimal",
        "a '\\' in double quotes that stands for nothing; single quotes take it as it is",
    ),
    (r"node content|stream end", "a value or a closing bracket is missing"),
    (r"tag|URI|'!'", "a tag, which a spec has not"),
    (r"directive|%YAML|version|digit", "a line that begins with '%'"),
    (r"document start", "something behind the end of the document"),
    (r"chomping|indentation indicator", "a text after '|' or '>' that is not on lines of its own"),
)
"""The mistake of a person for each problem of the library, by an expression that finds it."""
_OTHERWISE = "something is out of place"


def syntax_error(error: MarkedYAMLError, text: str, origin_at: Callable[[int, int], Origin]) -> SpecError:
    """The error of the YAML library as ours, at its place."""
    problem = " ".join(str(error.problem or error).split())
    at_the_end = "stream end" in problem or "end of stream" in problem
    mark = (
        error.context_mark if at_the_end and error.context_mark else error.problem_mark or error.context_mark
    )
    row, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines() or [""]
    row = min(row, len(lines) - 1)
    origin = origin_at(row + 1, column + 1)
    bracketed = _unquoted(lines[row], column)
    if bracketed:
        return origin.error(
            f"{bracketed} is not quoted",
            allowed=f'"{bracketed}": YAML gives brackets and * a meaning of their own',
        )
    if "'\\t'" in problem:
        return origin.error("a tab", allowed="spaces: YAML does not indent with tabs")
    if error.context == "expected a single document in the stream":
        return origin.error("a second document", found="'---'", allowed="one spec in a file")
    words = next((words for expression, words in _MEANINGS if re.search(expression, problem)), _OTHERWISE)
    return origin.error(f"not YAML: {words}")


def _unquoted(line: str, column: int) -> str:
    """The name with brackets or ``*`` that YAML stumbled over at `column`, if it did."""
    blanked = _QUOTED.sub(lambda match: "_" * len(match.group()), line)
    for match in _BRACKETED.finditer(blanked):
        is_block_key = not blanked[: match.start()].strip() and blanked[match.end() :].startswith(":")
        if match.start() <= column <= match.end() and not is_block_key:
            return match.group()
    star = blanked.rfind("*", 0, column + 2)
    if star >= 0 and column - star <= 1:
        name = re.match(r"\*[\w-]*", blanked[star:])
        return name.group() if name else ""
    return ""
