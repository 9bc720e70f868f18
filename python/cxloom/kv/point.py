"""A run of KV caches as a point of a study: its values set, ready to be carried out in whatever process."""

from __future__ import annotations

import hashlib
import json
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError, InputErrors
from cxloom.kv import spec
from cxloom.kv.requests import Requests, generate_requests
from cxloom.kv.serving import serve_tree
from cxloom.spec import paths
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.spec.resolved import digest_of

SERVING, HITS = "kv", "kv_hits"
"""What is run: servers in time, or what requests find without it."""
_OF_HITS = ("trace", "format", "block", "first", "generate")


@dataclass(frozen=True, slots=True)
class KvRun:
    """A run that nothing more is set in."""

    root: Node
    kind: str
    """`SERVING` or `HITS`."""

    def plain(self) -> dict[str, Any]:
        """Its keys as plain data."""
        return {key: node.plain() for key, node in self.root.map().items()}

    def digest(self) -> str:
        """A digest of all that decides what comes out; of a trace it takes the contents. Raises InputError if that is
        not there."""
        whole: dict[str, Any] = {"kind": self.kind, "spec": self.plain()}
        if self._trace() is not None:
            whole["trace"] = digest_of(spec.trace_of(self.root))
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()

    def carried_out(self) -> dict[str, Any]:
        """What it finds, with its cost. Raises InputError for what is wrong in it."""
        if self.kind == SERVING:
            served = serve_tree(self.root)
            return {**served.found, "cost": _cost(served.cost["cpu_s"])}
        began = time.process_time()
        found = self._hits(self._requests())
        return {**found, "cost": _cost(time.process_time() - began)}

    def checked(self) -> dict[str, Any]:
        """What it would report, of a few requests that are drawn. Raises InputError for what is wrong in it."""
        few = generate_requests(chats=4, rate="1/s", turns=3, block=self._block())
        return dict(serve_tree(self.root, requests=few).found) if self.kind == SERVING else self._hits(few)

    def _trace(self) -> Node | None:
        requests = self.root.get("requests")
        return None if requests is None else requests.get("trace")

    def _block(self) -> int:
        asked = _core.kv_requests_of(self._as_serving()) if self.kind == HITS else None
        if asked is None:
            try:
                asked = _core.kv_requests_of(self.plain())
            except InputError as error:
                raise paths.located(self.root, error) from None
        return int(asked["block"])

    def _as_serving(self) -> dict[str, Any]:
        """What the core checks the keys of requests by."""
        requests = self.root.get("requests")
        if requests is None:
            raise self.root.place.error("'requests' is missing", allowed="a trace, or generate")
        for key, node in requests.map().items():
            if key not in _OF_HITS:
                raise (node.key or node.place).error(
                    f"unknown key '{key}'", allowed=listed(_OF_HITS), suggestion=nearest(key, _OF_HITS)
                )
        plain: dict[str, Any] = {"requests": requests.plain(), "model": "llama-3-8b", "tiers": []}
        seed = self.root.get("seed")
        if seed is not None:
            plain["seed"] = seed.plain()
        return plain | {"servers": {"flops": "1TFLOP/s", "memory_bandwidth": "1TB/s"}}

    def _requests(self) -> Requests:
        return spec.requests_named(self.root, self._as_serving())

    def _hits(self, requests: Requests) -> dict[str, Any]:
        params = {key: value for key, value in self.plain().items() if key != "requests"}
        try:
            found: dict[str, Any] = _core.kv_hits(params, requests.core)
        except InputErrors as errors:
            raise InputErrors([paths.located(self.root, each) for each in errors.errors]) from None
        except InputError as error:
            raise paths.located(self.root, error) from None
        return found


def _cost(seconds: float) -> dict[str, float]:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"cpu_seconds": round(seconds, 6), "peak_memory_bytes": memory}


class KvTemplate:
    """A run that is resolved again and again, each time with other values.

    Args:
        top: its tree as read.
        kind: `SERVING` or `HITS`.
        overrides: values that are set every time, before those of `resolve`.
    """

    def __init__(self, top: Node, kind: str, overrides: Sequence[Override] = ()) -> None:
        self._top = top
        self._kind = kind
        self._always = tuple(overrides)

    def resolve(self, overrides: Sequence[Override] = ()) -> KvRun:
        """The run under these values. Raises InputError."""
        return KvRun(spec.with_values(self._top, [*self._always, *overrides]), self._kind)
