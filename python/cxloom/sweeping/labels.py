"""Values of a sweep as tables and legends name them: of maps only what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def labels(values: Sequence[object]) -> list[str]:
    """A short text for each value of an axis, different where the values are.

    A map becomes the entries that not all maps among the values share: of two media `fixed, latency 45ns` and
    `fixed, latency 90ns` that is `latency 45ns` and `latency 90ns`. Nothing stands for None.
    """
    maps = [dict(_entries(value)) for value in values if isinstance(value, Mapping)]
    shared = {
        entry for entry in (maps[0].items() if maps else ()) if all(entry in each.items() for each in maps)
    }
    if all(len(shared) == len(each) for each in maps):
        shared = set()
    for whole in (False, True):
        texts = [_label(value, shared, whole=whole) for value in values]
        if len(set(texts)) >= len({repr(value) for value in values}):
            break
    return texts


def headings(paths: Sequence[str]) -> dict[str, str]:
    """A short heading for each path, different where the paths are: as many of their last words as that takes."""
    found = {}
    for path in paths:
        words = path.split(".")
        ends = (".".join(words[-count:]) for count in range(1, len(words) + 1))
        others = [other for other in paths if other != path]
        found[path] = next((end for end in ends if not any(_ends(other, end) for other in others)), path)
    return found


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f".{end}")


def _label(value: object, shared: set[tuple[str, str]], *, whole: bool) -> str:
    if not isinstance(value, Mapping):
        return "" if value is None else str(value)
    entries = list(_entries(value))
    own = [entry for entry in entries if entry not in shared] or entries
    return ", ".join(_words(path, text, whole=whole) for path, text in own) or "{}"


def _words(path: str, text: str, *, whole: bool) -> str:
    """A value with the last word of its path, or its whole path; a kind says by itself what it is."""
    name = path if whole else path.rpartition(".")[2]
    return text if name == "kind" else f"{name} {text}"


def _entries(value: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, each in value.items():
        if isinstance(each, Mapping) and each:
            yield from _entries(each, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(each)
