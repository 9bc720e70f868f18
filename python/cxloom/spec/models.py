"""Pydantic models of the declared parameters, made at run time: what the Python builder checks its keywords with.

The core stays the judge of every value; a model refuses early, in the line of Python that made the mistake.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)
from pydantic import Field as PydanticField

from cxloom import _core
from cxloom.errors import InputError
from cxloom.spec import declared
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import described, join

QUANTITIES = ("time", "bytes", "bandwidth", "frequency")
"""The types that are written as text with a unit."""


class _WrongError(ValueError):
    """An InputError on its way through pydantic."""

    def __init__(self, error: InputError) -> None:
        super().__init__(error.problem)
        self.error = error


@functools.cache
def model(category: str, kind: str) -> type[BaseModel]:
    """The model of a kind's parameters, such as ``model("devices", "host")``. Raises InputError for an unknown kind."""
    known = declared.kinds(category)
    if kind not in known:
        raise InputError(
            f"unknown kind '{kind}'", allowed=listed(known), suggestion=nearest(kind, known), path="kind"
        )
    return _model(kind, known[kind]["doc"], declared.kind_fields(category, kind))


@functools.cache
def section_model(section: str) -> type[BaseModel]:
    """The model of what `link`, `region`, `run` or `outputs` take."""
    info = declared.declarations()[section]
    return _model(section, info["doc"], declared.fields(info))


@functools.cache
def requester_model(pattern: str | None) -> type[BaseModel]:
    """The model of a requester's workload with a pattern; None for a part of a workload, or one without a pattern.

    Raises InputError for an unknown pattern.
    """
    known = declared.kinds("patterns")
    if pattern is not None and pattern not in known:
        near = nearest(pattern, known)
        raise InputError(
            f"unknown pattern '{pattern}'", allowed=listed(known), suggestion=near, path="pattern"
        )
    own: dict[str, declared.Field] = {}
    for kind in known if pattern is None else [pattern]:
        own |= declared.kind_fields("patterns", kind)
    common = declared.fields(declared.declarations()["workload"])
    return _model("workload", "What a requester does.", {**common, **own})


def forget() -> None:
    """Make the models anew next time: a plug-in may have registered more kinds."""
    for cached in (model, section_model, requester_model):
        cached.cache_clear()


def check(model_type: type[BaseModel], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as given, once the model accepts them. Raises InputError with the path of the first wrong one."""
    try:
        checked = model_type.model_validate(dict(params)).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise _translated(error, model_type) from None
    return {name: checked[name] for name in params}  # in the order given


def _model(name: str, doc: str, fields: declared.Fields) -> type[BaseModel]:
    members: dict[str, Any] = {}
    for field in fields.values():
        default = ... if field["required"] else field["default"] or None
        members[field["name"]] = (_type(field), PydanticField(default, description=_description(field)))
    config = ConfigDict(extra="forbid", validate_default=False, protected_namespaces=())
    title = "".join(part.capitalize() for part in name.replace("_", "-").split("-"))
    return create_model(title, __config__=config, __doc__=doc, **members)


def _description(field: declared.Field) -> str:
    return f"{field['doc']} (Source: {field['source']}.)" if field["source"] else str(field["doc"])


def _type(field: declared.Field) -> Any:
    plain = _item_type(field["type"], field)
    return plain if field["required"] else plain | None


def _item_type(kind: str, field: declared.Field) -> Any:
    if kind in QUANTITIES:
        return Annotated[str, BeforeValidator(_quantity(kind))]
    if kind == "choice":
        return Literal[tuple(field["choices"])]
    if kind == "map":
        return _model(field["name"], field["doc"], declared.fields(field))
    if kind == "kind":
        return Annotated[Any, AfterValidator(_kinded(field["category"]))]
    if kind == "list":
        return Annotated[list[_item_type(field["item"], field)], BeforeValidator(_as_list)]  # type: ignore[misc]
    simple: dict[str, Any] = {
        "any": Any,
        "integer": StrictInt,
        "boolean": StrictBool,
        "text": StrictStr,
        "file": StrictStr,
        "address": Annotated[Any, AfterValidator(_one_of("a hexadecimal address such as 0x1000", int, str))],
        "fraction": Annotated[
            Any, AfterValidator(_one_of("a number, or a percentage such as 67%", int, float, str))
        ],
        "real": Annotated[Any, AfterValidator(_one_of("a number", int, float))],
    }
    return simple[kind]


def _quantity(kind: str) -> Callable[[object], object]:
    def checked(value: object) -> object:
        try:
            _core.parse(kind, value)
        except InputError as error:
            raise _WrongError(error) from None
        return value

    return checked


def _kinded(category: str) -> Callable[[object], object]:
    def checked(value: object) -> object:
        kind = value.get("kind") if isinstance(value, Mapping) else value
        if not isinstance(kind, str):
            raise _WrongError(
                InputError("the kind is missing", found=described(value), allowed="a map with a key 'kind'")
            )
        params = value if isinstance(value, Mapping) else {}
        try:
            check(model(category, kind), {key: item for key, item in params.items() if key != "kind"})
        except InputError as error:
            raise _WrongError(error) from None
        return value

    return checked


def _one_of(allowed: str, *types: type) -> Callable[[object], object]:
    def checked(value: object) -> object:
        if not isinstance(value, types) or isinstance(value, bool):
            raise _WrongError(InputError("a wrong value", found=described(value), allowed=allowed))
        return value

    return checked


def _as_list(value: object) -> object:
    return list(value) if isinstance(value, tuple) else [value] if isinstance(value, str) else value


def _translated(error: ValidationError, model_type: type[BaseModel]) -> InputError:
    first = error.errors(include_url=False)[0]
    path = ""
    for step in first["loc"]:
        path = join(path, step)
    if first["type"] == "extra_forbidden":
        known = _known(model_type, first["loc"])
        name = str(first["loc"][-1])
        return InputError(
            f"unknown key '{name}'", allowed=listed(known), suggestion=nearest(name, known), path=path
        )
    if first["type"] == "missing":
        return InputError(f"'{first['loc'][-1]}' is missing", path=path.rpartition(".")[0])
    wrong = first.get("ctx", {}).get("error")
    if isinstance(wrong, _WrongError):
        inner = wrong.error
        full = path if not inner.path else f"{path}.{inner.path}"
        return InputError(
            inner.problem, found=inner.found, allowed=inner.allowed, suggestion=inner.suggestion, path=full
        )
    expected = str(first.get("ctx", {}).get("expected", "")) or str(first["msg"])
    near = nearest(str(first["input"]), expected.replace("'", "").replace(" or ", ", ").split(", "))
    return InputError(
        "a wrong value", found=described(first["input"]), allowed=expected, suggestion=near, path=path
    )


def _known(model_type: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys that the model declares where an unknown one was found."""
    here = model_type
    for step in location[:-1]:
        annotation = here.model_fields[str(step)].annotation
        nested = [t for t in getattr(annotation, "__args__", [annotation]) if isinstance(t, type)]
        here = next((t for t in nested if issubclass(t, BaseModel)), here)
    return list(here.model_fields)
