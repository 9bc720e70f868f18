"""Command lines of `cxloom` that pages and messages show, held against what the command takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cxloom.cli.app import COMMANDS, loaded

_LOADED: dict[str, Any] = {}


def _command(name: str) -> Any:
    if name not in _LOADED:
        _LOADED[name] = loaded(COMMANDS[name][0], name)
    return _LOADED[name]


def wrong_in(words: Sequence[str]) -> Iterator[str]:
    """Commands and options among the words behind `cxloom` that do not exist. Words in capitals stand for anything."""
    words = list(words)
    if not words or words[0].isupper() or words[0] in ("--help", "--version", "-h", "..."):
        return
    if words[0] not in COMMANDS:
        yield words[0]
        return
    path = words.pop(0)
    command = _command(path)
    if hasattr(command, "commands"):
        if not words or words[0] in ("--help", "..."):
            return
        name = words.pop(0)
        alternatives = name.split("|")  # as `trace info|convert|capture`
        for each in alternatives:
            if each not in command.commands:
                yield f"{path} {each}"
                return
        path = f"{path} {alternatives[0]}"
        command = command.commands[alternatives[0]]
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)} | {
        "--help"
    }
    for word in words:
        if word == "--":
            return
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known:
            yield f"{path} {option}"
