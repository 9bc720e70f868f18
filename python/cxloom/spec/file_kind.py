"""What a file of keys is about: a system, servers with a KV cache, a pool, a study. Each has its own command."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from cxloom.spec.node import Node, Origin

_OF_SYSTEMS = {"preset", "topology", "devices", "links", "address_map", "workload", "tasks", "events"}
_OF_STUDIES = {"title", "system", "studies", "expect"}
_OF_SERVERS = {"servers", "tiers"}
_OF_PLANS = {"demand", "designs"}


class FileKind(Enum):
    """What a file is about, in the words of a message."""

    SYSTEM = "a system"
    SERVERS = "servers with a KV cache"
    STUDY = "a study"
    PLAN = "a pool for many servers"


_COMMANDS = {
    FileKind.SYSTEM: "run",
    FileKind.SERVERS: "kv",
    FileKind.STUDY: "study run",
    FileKind.PLAN: "plan",
}


def kind_of(keys: Collection[str]) -> FileKind | None:
    """What a file with these keys at its top is about; None if they do not tell."""
    if _OF_STUDIES & set(keys):
        return FileKind.STUDY
    if _OF_PLANS & set(keys) and not _OF_SYSTEMS & set(keys):
        return FileKind.PLAN
    if set(keys) >= _OF_SERVERS and not _OF_SYSTEMS & set(keys):
        return FileKind.SERVERS
    return FileKind.SYSTEM if _OF_SYSTEMS & set(keys) else None


def refuse_other(top: Node, wanted: FileKind) -> None:
    """Raises SpecError, with the command that takes it, if a file is about something else than `wanted`."""
    keys = top.map().keys()
    found = kind_of(keys)
    own = {
        FileKind.SYSTEM: _OF_SYSTEMS,
        FileKind.SERVERS: _OF_SERVERS,
        FileKind.STUDY: _OF_STUDIES,
        FileKind.PLAN: _OF_PLANS,
    }[wanted]
    if found is None or found is wanted or own & keys:
        return
    import shlex  # for a message

    file = "FILE" if top.origin.file is None else shlex.quote(top.origin.file)
    raise Origin(file=top.origin.file).error(
        f"{found.value}, and not {wanted.value}", allowed=f"cxloom {_COMMANDS[found]} {file}"
    )
