"""What a file of keys is about: a system, servers with a KV cache, a pool, a study. Each has its own command.

Or it is what a command answered.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from pathlib import Path

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


ANSWERS = {
    "cxloom run": {"latency_ns", "breakdown_ns", "per_link"},
    "cxloom compare": {"systems", "sentences", "rows"},
    "cxloom explain": {"chain", "resources", "what_ifs"},
    "cxloom measure": {"measure", "title", "rows"},
    "cxloom energy": {"power_w", "nj_per_request"},
    "cxloom find": {"tried", "sentence"},
    "cxloom crash": {"instants", "lost_instants"},
    "cxloom epochs": {"pages_moved", "shootdowns"},
    "cxloom check": {"routes", "deadlock", "partitions"},
    "cxloom fit": {"parameters", "systems_played"},
    "cxloom advise": {"proposed", "recipe"},
    "cxloom offload": {"sentence", "footprint_bytes"},
    "cxloom sweep": {"directory", "points"},
    "cxloom plan": {"plan", "designs", "prices"},
    "cxloom exec": {"command", "instructions", "systems"},
    "cxloom kv": {"ttft_s", "hit_share"},
    "cxloom study run": {"comparisons", "axes", "passed"},
}
"""Commands with the keys of an answer in JSON that no other one has, and no file of keys."""


def answer_of(keys: Collection[str]) -> str | None:
    """The command that answered with these keys; None if it is no answer of a command."""
    return next((command for command, own in ANSWERS.items() if own <= set(keys)), None)


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
    """Raises SpecError, with the command that takes it, if a file is about something else, or an answer."""
    keys = top.map().keys()
    if (answered := answer_of(keys)) is not None:
        raise Origin(file=top.origin.file).error(
            f"an answer of `{answered}`, and not {wanted.value}",
            allowed=_in_place_of(answered, top.origin.file, wanted),
        )
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


def _in_place_of(answered: str, file: str | None, wanted: FileKind) -> str:
    """The file to take in place of an answer."""
    resolved = None if file is None else Path(file).with_name("spec.yaml")
    if wanted is FileKind.SYSTEM and answered == "cxloom run" and resolved is not None and resolved.exists():
        return str(resolved)
    return f"the file of {wanted.value} that it was made of"
