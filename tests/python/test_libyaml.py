"""Text that libyaml composes is what ruamel.yaml makes of it: values, quotes, and where they stand."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.error import ReusedAnchorWarning
from validation.examples import examples, some

from cxloom.base.errors import InputError
from cxloom.spec import libyaml
from cxloom.spec.reader import read_text

TREE = Path(__file__).parents[2]
SHIPPED = sorted(
    path
    for folder in ("studies", "examples", "python/cxloom/presets")
    for path in (TREE / folder).rglob("*.yaml")
)
PIECES = (
    *(
        "a",
        "b: ",
        "c:",
        "key: value\n",
        "k: [1, 2]\n",
        "m: {a: 1, b: {c: 2}}\n",
        "<<: ",
        "<<",
        "x y",
        "é",
        "=",
        "::",
    ),
    *(
        "- ",
        "-",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ",",
        ": ",
        ":",
        "?",
        "x? ",
        "'",
        '"',
        "\\",
        "%",
        "@",
        "`",
        "#",
        " # c",
    ),
    *(
        "\n",
        "\n  ",
        "\n    ",
        "\n- ",
        "\n  - ",
        "\n\n",
        "  ",
        "a\n b",
        "---",
        "...",
        "'y'",
        '"x"',
        '"\\x41',
        '"a\n b"',
    ),
    *("&a ", "*a", "&b", "*b ", "|", "|\n  ", ">", ">-\n  ", "|2\n", "|+\n   a\n\n", "!x ", "\t"),
    *(
        "1",
        "0x1",
        "1.5",
        "1e3",
        "-1",
        ".5",
        "07",
        "0o7",
        "1_000",
        "~",
        "null",
        "true",
        "2026-01-01",
        "64GB/s",
        "mem[*]",
    ),
)


def flat(node: Any) -> Any:
    """A node as plain values. The libraries place an empty value before blanks or behind them."""
    place = (node.start_mark.line, node.start_mark.column)
    if node.id == "scalar":
        return (bool(node.style), node.value, place if node.value else None)
    if node.id == "mapping":
        return (place, [(flat(key), flat(value)) for key, value in node.value])
    return (place, [flat(value) for value in node.value])


def by_ruamel(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReusedAnchorWarning)
        return YAML(typ="safe", pure=True).compose(text)


def test_what_is_shipped_is_left_to_nobody() -> None:
    assert [path for path in SHIPPED if libyaml.composed(path.read_text(encoding="utf-8")) is None] == []


@pytest.mark.parametrize("path", some(SHIPPED, one_of=12), ids=lambda path: str(path.relative_to(TREE)))
def test_what_is_shipped_is_read_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert flat(libyaml.composed(text)) == flat(by_ruamel(text))


@settings(max_examples=examples(1800))
@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
def test_any_text_is_read_the_same_or_left_to_the_other(text: str) -> None:
    node = libyaml.composed(text)
    try:
        other = by_ruamel(text)
    except YAMLError:
        assert node is None, "what ruamel.yaml refuses is read"
        return
    if node is not None:
        try:
            expected = flat(other)
        except RecursionError:  # an alias inside of what it stands for
            with pytest.raises(RecursionError):
                flat(node)
            return
        assert flat(node) == expected


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000 + "x", "{a: " * 3000 + "1" + "}" * 3000])
def test_deep_text_is_left_to_the_library_that_has_a_limit(text: str) -> None:
    assert libyaml.composed(text) is None
    with pytest.raises(InputError, match="too deep"):
        read_text(f"a: 1\nb:\n  {text}\n")


def test_an_empty_value_stands_on_the_line_of_its_key() -> None:
    node = read_text("a: \nb: 1\n").map()["a"]
    assert (node.value, node.origin.line) == (None, 1)
