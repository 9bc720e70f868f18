"""Requests to a language model: from a trace in JSON Lines, or drawn."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec.names import nearest
from cxloom.trace.files import Source, errors_of

FORMATS = ("mooncake", "qwen-bailian")
"""The forms of a trace of requests."""

_AT_ONCE = 1 << 20
"""Bytes that are read at once."""


@dataclass(frozen=True)
class Requests:
    """Requests with the prefix blocks of their prompts, in the order of their arrival."""

    core: _core.KvRequests = field(repr=False)

    def __len__(self) -> int:
        return len(self.core)

    def __getitem__(self, number: int) -> dict[str, Any]:
        """A request: ``arrival_s``, ``input`` and ``output`` in tokens, ``chat`` and ``blocks``.

        Raises IndexError if there is none with that number.
        """
        found: dict[str, Any] = self.core.request(number if number >= 0 else number + len(self))
        return found

    @property
    def block_tokens(self) -> int:
        """Tokens of a block."""
        return self.core.block_tokens

    @property
    def blocks(self) -> int:
        """Blocks of all prompts."""
        return self.core.blocks

    @property
    def distinct(self) -> int:
        """Different blocks."""
        return self.core.distinct


def read_requests(
    path: str | os.PathLike[str],
    *,
    format: str = "mooncake",
    block: int | None = None,
    first: int | None = None,
) -> Requests:
    """The requests of a trace.

    Args:
        path: a file in JSON Lines, which may be compressed (gzip, zstd, bzip2, xz).
        format: "mooncake", or "qwen-bailian".
        block: tokens of a block; by default 512, with qwen-bailian 16.
        first: no more than the first so many requests; what stands behind them is not read.

    Raises InputError, with file and line, for a line that is no request or lacks a field, for hashes that do not fit
    the tokens, for a trace that is cut off or empty, and for an unknown format.
    """
    if format not in FORMATS:
        raise InputError(
            f"unknown format '{format}'",
            allowed=", ".join(FORMATS),
            suggestion=nearest(format, FORMATS),
            path="format",
        )
    if block is not None and (not isinstance(block, int) or not 1 <= block <= 1_000_000):
        raise InputError("not a block", found=f"{block}", allowed="1 to 1000000 tokens", path="block")
    if first is not None and (not isinstance(first, int) or first < 1):
        raise InputError("not a number of requests", found=f"{first}", allowed="at least 1", path="first")
    reader = _core.KvTraceReader(format, block or 0)
    with errors_of(path), Source(path).open_text() as stream:
        try:
            left = first
            while part := stream.read(_AT_ONCE):
                if left is not None:
                    lines = part.splitlines(keepends=True)[:left]
                    left -= sum(line.endswith(b"\n") for line in lines)
                    part = b"".join(lines)
                reader.feed(part)
                if left == 0:
                    break
            return Requests(reader.finish())
        except InputError as error:
            if line := re.fullmatch(r"line (\d+)", error.path or ""):
                error.line, error.path = int(line[1]), ""
            raise


def generate_requests(*, block: int = 512, seed: int = 1, **params: Any) -> Requests:
    """Requests that are drawn: conversations of several turns behind a few system prompts.

    Args:
        block: tokens of a block.
        seed: what is drawn depends on it and the parameters alone.
        params: as `generate` in the file of a serving run has them (``docs/model/kv.md``): ``chats`` and ``rate`` are
            required.

    Raises InputError for parameters that are wrong.
    """
    return Requests(_core.kv_generate(_plain(params), block, seed))


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    return dict(params)
