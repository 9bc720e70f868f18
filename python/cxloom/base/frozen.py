"""Dicts and lists that do not change, and are in all else what they were: they print, compare and serialise alike."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("results do not change; dict() or list() gives a copy that does")


class FrozenDict(dict[str, Any]):
    """A dict that does not change."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenDict, (dict(self),))


class FrozenList(list[Any]):
    """A list that does not change."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = _refuse
    pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenList, (list(self),))


def frozen(value: Any) -> Any:
    """Plain data that does not change, at any depth. What is one object in two places stays one."""
    return _frozen(value, {})


def _frozen(value: Any, done: dict[int, Any]) -> Any:
    if isinstance(value, (FrozenDict, FrozenList)) or not isinstance(value, (dict, list)):
        return value
    if id(value) not in done:
        done[id(value)] = (
            FrozenDict({key: _frozen(item, done) for key, item in value.items()})
            if isinstance(value, dict)
            else FrozenList(_frozen(item, done) for item in value)
        )
    return done[id(value)]
