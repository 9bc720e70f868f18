"""YAML as specs take it: values, lines, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cxloom.base.errors import InputError, InputErrors
from cxloom.spec import read_file, read_text, to_yaml
from cxloom.spec.node import Origin
from cxloom.spec.reader import compose


def value_of(text: str) -> object:
    node = compose(f"key: {text}", lambda line, column: Origin(line=line, column=column))
    assert node is not None
    return node.map()["key"].plain()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("0x1000", 4096),
        ("0o17", 15),
        ("16_000", 16000),
        ("1e3", 1000.0),
        ("0.67", 0.67),
        ("67%", "67%"),
        ("10ns", "10ns"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("'8'", "8"),
        ("mem[*]", "mem[*]"),
        ("[a, 'mem[*]']", ["a", "mem[*]"]),
    ],
)
def test_values_follow_yaml_1_2(text: str, expected: object) -> None:
    value = value_of(text)
    assert value == expected
    assert type(value) is type(expected)


def test_every_value_knows_its_place() -> None:
    top = read_text("devices:\n  host: {kind: host,\n         queue: 64}\n", "s.yaml")
    queue = top.map()["devices"].map()["host"].map()["queue"]
    assert (queue.origin.file, queue.origin.line, queue.origin.column) == ("s.yaml", 3, 17)
    assert queue.key is not None
    assert (queue.key.line, queue.key.column) == (3, 10)
    assert queue.origin.path == "devices.host.queue"


def test_anchors_and_merge_keys_work() -> None:
    top = read_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\n")
    assert top.plain() == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 1, "y": 2}}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key 'a', found it on lines 1 and 3"),
        ("a: {b: 1, b: 2}\n", 1, "a.b: duplicate key 'b'"),
        ("a: [x, mem[*]]\n", 1, "mem[*] is not quoted"),
        ("x: 1\na: {to: mem[0-3]}\n", 2, "mem[0-3] is not quoted"),
        ("a: {to: cpu[0][*]}\n", 1, "cpu[0][*] is not quoted"),
        ("a: *\n", 1, "* is not quoted"),
        ("*: {x: 1}\n", 1, "* is not quoted"),
        ("a: {to: *}\n", 1, "* is not quoted"),
        ("a: *mem\n", 1, "*mem is not quoted"),
        ("a:\n\tb: 1\n", 2, "a tab"),
        ("a: {queue:64}\n", 1, "no space after the ':'"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("a: !!python/name:os.system x\n", 1, "a tag"),
        ("a: &a [*a]\n", 1, "an alias inside of what it stands for"),
        ("a: 99999999999999999999\n", 1, "the number is too large"),
        ("a: [1\nb: 2\n", 2, "not YAML"),
        ("a: 1\nb: 'x\nc: 1\n", 2, "not YAML"),
        ("a: b: c\n", 1, "not YAML"),
        ("- a\n- b\n", 1, "not a spec, found a list"),
        ("just words\n", 1, "not a spec, found 'just words'"),
        ("? [a, b]\n: 1\n", 1, "a key that is not text"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(InputError) as error:
        read_text(text, "s.yaml")
    assert words in str(error.value)
    assert (error.value.file, error.value.line) == ("s.yaml", line)


def test_all_that_is_wrong_is_said_in_order() -> None:
    text = "a: {b: 1, b: 2}\nc: [!x 1, 99999999999999999999]\nd: {e: !!str 3, f: ok, f: 4}\na: 5\n"
    with pytest.raises(InputErrors) as caught:
        read_text(text, "s.yaml")
    found = [(each.line, each.path, each.problem) for each in caught.value.errors]
    assert found == [
        (1, "a.b", "duplicate key 'b'"),
        (2, "c[0]", "a tag"),
        (2, "c[1]", "the number is too large"),
        (3, "d.e", "a tag"),
        (3, "d.f", "duplicate key 'f'"),
        (4, "a", "duplicate key 'a'"),
    ]
    assert (caught.value.problem, caught.value.line) == ("duplicate key 'b'", 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1\nb: 2\n", "a ',' or the closing ']' is missing"),
        ("a: {b: 1\nc: 2\n", "a ',' or the closing '}' is missing"),
        ("a: 'x\nb: 1\n", "a quote is not closed"),
        ("a: b: c\n", "a second ': ' in one entry"),
        ("a:\n  b: 1\n c: 2\n", "indented otherwise"),
        ("a: %x\n", "a character that begins nothing"),
        ('a: "\\q"\n', "single quotes take it as it is"),
        ("a: -\n  b\n- c\n", "'-' where no list can begin"),
        ("a: 1\nb\nc: 2\n", "an entry without ':'"),
        ("a: |x\n", "a text after '|' or '>'"),
        ("%YAML 9.x\n---\na: 1\n", "begins with '%'"),
        ("a: {b: 1}}\n", "not YAML"),
        ("a: \x07\n", "a control character"),
    ],
)
def test_no_word_of_the_yaml_library_is_heard(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_text(text, "s.yaml")
    assert words in str(caught.value)
    for foreign in ("while ", "expected", "token", "node", "mapping", "sequence", "<", "scalar", "block"):
        assert foreign not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="the file is empty"):
        read_text(text, "s.yaml")


def test_a_legal_name_in_brackets_is_not_blamed_for_another_mistake() -> None:
    with pytest.raises(InputError, match="not YAML"):
        read_text("mem[0-3]: {kind: memory, {}\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a binary file"),
        ("name: caf\xe9\n".encode("latin-1"), "not UTF-8 text"),
        ("name: x\n".encode("utf-16"), "a binary file"),
        (b"a: \x07\n", "not YAML"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        read_file(path)
    assert error.value.file == str(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a directory, not a file"):
        read_file(tmp_path)
    (tmp_path / "system.yaml").write_text("a: 1")
    with pytest.raises(InputError, match="no such file") as error:
        read_file(tmp_path / "sytem.yaml")
    assert error.value.suggestion == "system.yaml"
    with pytest.raises(InputError, match="cannot be read"):
        read_file("a\0b")
    (tmp_path / "spec.yaml").write_text("a: 1")
    with pytest.raises(InputError, match="a directory, not a file") as error:
        read_file(tmp_path)
    assert error.value.suggestion == str(tmp_path / "spec.yaml")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_a_shell_of_windows_redirects_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes("\ufeffname: x\n".encode(encoding))
    with pytest.raises(InputError, match="a binary file") as error:
        read_file(path)
    assert error.value.found.startswith("UTF-16")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: x\n")
    assert read_file(path).plain() == {"name": "x"}


TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | TEXT
    | st.floats(allow_nan=False, width=32)
)
KEYS = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
PLAIN = st.dictionaries(KEYS, VALUES)


@pytest.mark.parametrize(
    "text", ["a: 1 # all!  here !\nb: 2\n", "a: hello !\nb: 2\n", 'a: " !"\nb: 2\n', "a: [x !, b]\n"]
)
def test_an_exclamation_mark_that_is_no_tag(text: str) -> None:
    assert "a" in read_text(text).plain()  # type: ignore[operator]


@example({"_": {"__": " !", "_": None}})
@given(PLAIN.filter(bool))
def test_what_is_written_reads_back(plain: dict[str, object]) -> None:
    assert read_text(to_yaml(plain)).plain() == plain
