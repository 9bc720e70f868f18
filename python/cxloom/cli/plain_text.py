"""Arguments that are text, or that a function of ours reads, as nearly all are: taken without Pydantic.

Typer has it check every argument, also that text is text, and its import is a third of a short command. So it is asked
only about arguments of other types, which are few, and only where they are given.
"""

from __future__ import annotations

from typing import Any


def take_text_as_it_is(command: Any) -> None:
    """Makes a command of Typer, with those below it, take text without a check. One that checks none stays as it is."""
    for below in getattr(command, "commands", {}).values():
        take_text_as_it_is(below)
    params = command.get_params  # with the option for help, which comes when it is asked for

    def unchecked(ctx: Any) -> list[Any]:
        found: list[Any] = params(ctx)
        for param in found:
            if hasattr(param, "get_runtime_param") and "get_runtime_param" not in vars(param):
                param.get_runtime_param = _Unchecked(param.get_runtime_param, param.type_descriptor).itself
        return found

    command.get_params = unchecked


class _Unchecked:
    """What Typer has for a parameter (`given` makes it), for values that need it."""

    def __init__(self, given: Any, descriptor: Any) -> None:
        self._given = given
        self._parse = descriptor.parameter_info.parser
        if self._parse is None and descriptor.annotation in (str, list[str]):
            self._parse = str

    def itself(self) -> _Unchecked:
        """In the place of the function that makes it."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that the command gets."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if self._parse is None or (several and isinstance(value, str)):
            return self._given().coerce(value, param=param, ctx=ctx)
        return [self._parse(each) for each in value] if several else self._parse(value)
