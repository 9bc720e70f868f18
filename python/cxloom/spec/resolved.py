"""A resolved spec: as plain data, for the core, and by a hash that says whether two are the same."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cxloom import _core
from cxloom.base.errors import InputError, InputErrors, reason_of
from cxloom.spec import declared, paths
from cxloom.spec.node import Node, Origin, from_plain
from cxloom.spec.node import Path as SpecPath

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
_KEY = functools.cache(_ENCODER.encode)
_AT_ONCE = 1000
_MOST_THREADS = 256
"""`ThreadCount::kMost` of the core, which refuses more."""


class Resolved(NamedTuple):
    """A spec, device by device and link by link, each value with its origin."""

    root: Node

    def plain(self) -> dict[str, Any]:
        """The spec as plain data, as `spec.yaml` holds it."""
        return {key: node.plain() for key, node in self.root.map().items()}

    def lean(self) -> dict[str, Any]:
        """The spec as the core takes it, where generated links need not be objects of Python."""
        return {key: node.lean() for key, node in self.root.map().items()}

    def threads(self) -> int:
        """How many threads it asks for by `run.threads`, with `auto` one for each processor; of a wrong value 1."""
        run = self.root.get("run")
        asked = run.get("threads") if run is not None else None
        value = 1 if asked is None or asked.value is None else asked.value
        if value == "auto":
            return len(os.sched_getaffinity(0))
        return value if isinstance(value, int) and value <= _MOST_THREADS else 1

    def in_threads(self, most: int) -> Resolved:
        """A spec of the same system in so many threads; this one if it asks for no more."""
        if self.threads() <= most:
            return self
        place = Origin(path="run.threads")
        return Resolved(paths.assign(self.root, ("run", "threads"), from_plain(most, place)))

    def traces(self) -> dict[str, Node]:
        """The workload of each requester that replays a trace, by the requester's name."""
        workload = self.root.get("workload")
        entries = workload.map() if workload is not None else {}
        return {name: entry for name, entry in entries.items() if entry.get("trace") is not None}

    def files(self) -> dict[SpecPath, Node]:
        """The files that the spec names, traces included, by where in the spec each is named."""
        traces = {("workload", name, "trace"): entry.map()["trace"] for name, entry in self.traces().items()}
        return traces | dict(declared.files(self.root))

    def hash(self) -> str:
        """A stable hash of the spec, 16 hexadecimal digits; of files it takes the contents, not where they lie.

        `run.threads` is left out, as all results are the same for any number of them.
        """
        return self.digest()[:16]

    def digest(self) -> str:
        """The whole of `hash`, 64 hexadecimal digits: of the SHA-256."""
        spec: Any = _without_threads(self.lean())
        for path, file in self.files().items():
            spec = replaced(spec, path, digest_of(Path(file.text())))
        digest = hashlib.sha256()
        for piece in _json(spec, self.root):
            digest.update(piece.encode())
        return digest.hexdigest()

    def placed(self, error: InputError) -> InputError:
        """An error of the core, at the place where the value was written; one that knows its file stays as it is."""
        if isinstance(error, InputErrors):
            return InputErrors(self.placed(each) for each in error.errors)
        return error if error.file else paths.placed(self.root, error)

    def errors(self) -> list[InputError]:
        """The errors of the entries, each looked at by itself, at their places.

        Nothing is looked at in a spec so large that nobody would want to wait for it.
        """
        sections = [node.value for node in self.root.map().values()]
        if (
            sum(len(section) for section in sections if isinstance(section, (dict, list)))
            > _core.ENTRIES_LOOKED_AT
        ):
            return []
        return [self.placed(error) for error in self.entry_errors()]

    def entry_errors(self) -> Sequence[InputError]:
        """The errors of the entries as the core finds them, by their paths; looked for once."""
        return self.root.once(
            ("errors", declared.generation()), lambda: tuple(_core.spec_errors(self.lean()))
        )


def replaced(plain: Any, path: SpecPath, value: str) -> Any:
    """Plain data with another value at a path; what is not on the path is shared."""
    if not path:
        return value
    copied = plain.copy()
    copied[path[0]] = replaced(plain[path[0]], path[1:], value)
    return copied


def _json(spec: dict[str, Any], root: Node) -> Iterator[str]:
    """The one JSON text of a spec, in pieces of some links: of very many, the whole would be large.

    That of a section is made once where it is what the tree has.
    """
    opening = "{"
    for key in sorted(spec):
        yield f"{opening}{_KEY(key)}:"
        opening = ","
        if isinstance(spec[key], _core.GeneratedLinks):
            links, before = iter(spec[key]), "["
            while some := list(itertools.islice(links, _AT_ONCE)):
                yield before + _ENCODER.encode(some)[1:-1]
                before = ","
            yield "[]" if before == "[" else "]"
        elif (section := root.map()[key]).lean() is spec[key]:
            yield section.once("json", functools.partial(_ENCODER.encode, spec[key]))
        else:
            yield _ENCODER.encode(spec[key])
    yield "}" if spec else "{}"


def _without_threads(spec: dict[str, Any]) -> dict[str, Any]:
    """How many play it makes no other system."""
    run = spec.get("run")
    if not isinstance(run, dict) or "threads" not in run:
        return spec
    others = {key: value for key, value in run.items() if key != "threads"}
    return {key: value for key, value in spec.items() if key != "run"} | ({"run": others} if others else {})


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, which is read once for each version of it. Raises InputError if it cannot be read."""
    try:
        if not path.is_file():  # it was one when the system was built
            raise InputError("not a file any more", file=path)
        status = path.stat()
        return _content_digest(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=path) from None


@functools.lru_cache(maxsize=256)
def _content_digest(path: Path, *_version: int) -> str:
    """The digest of a file, which is read once for each version: the points of a sweep may share a trace."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
