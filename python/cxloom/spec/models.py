"""Pydantic models of the declared parameters, made at run time: what the Python builder checks its keywords with.

The core stays the judge of every value; a model refuses early, in the line of Python that made the mistake.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic import Field as PydanticField

from cxloom import _core
from cxloom.base.errors import InputError, together
from cxloom.spec import declared
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import described, join, python_value

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


class _WrongError(ValueError):
    """An InputError on its way through pydantic."""

    def __init__(self, error: InputError) -> None:
        super().__init__(error.problem)
        self.error = error


def model(category: str, kind: str) -> type[BaseModel]:
    """The model of a kind's parameters, such as ``model("devices", "host")``. Raises InputError for an unknown kind."""
    return _kind_model(category, _named(kind, "kind"))


@functools.cache
def _kind_model(category: str, kind: str) -> type[BaseModel]:
    known = declared.kinds(category)
    if kind not in known:
        raise InputError(
            f"unknown kind '{kind}'", allowed=listed(known), suggestion=nearest(kind, known), path="kind"
        )
    return _model(kind, known[kind]["doc"], declared.kind_fields(category, kind))


@functools.cache
def section_model(section: str) -> type[BaseModel]:
    """The model of the parameters of a section, by the name that they are known by: ``link``, ``run``, ..."""
    info = declared.declarations()[section]
    return _model(section, info["doc"], declared.fields(info))


def requester_model(pattern: str | None) -> type[BaseModel]:
    """The model of a requester's workload with a pattern; None for a part of a workload, or one without a pattern.

    Raises InputError for an unknown pattern.
    """
    return _pattern_model(None if pattern is None else _named(pattern, "pattern"))


@functools.cache
def _pattern_model(pattern: str | None) -> type[BaseModel]:
    known = declared.kinds("patterns")
    if pattern is not None and pattern not in known:
        near = nearest(pattern, known)
        raise InputError(
            f"unknown pattern '{pattern}'", allowed=listed(known), suggestion=near, path="pattern"
        )
    own: dict[str, declared.Field] = {}
    for kind in known if pattern is None else [pattern]:
        own |= declared.kind_fields("patterns", kind)
    if pattern is None:  # what a part does not say, another part may
        own = {name: {**field, "required": False} for name, field in own.items()}
    common = declared.fields(declared.declarations()["workload"])
    return _model("workload", "What a requester does.", {**common, **own})


def _named(value: object, path: str) -> str:
    """The name of a kind or pattern. Raises InputError for what is no text."""
    if not isinstance(value, str):
        raise InputError("not a text", found=described(value), allowed="a text", path=path)
    return value


def forget() -> None:
    """Make the models anew next time: a plug-in may have registered more kinds."""
    for cached in (_kind_model, section_model, _pattern_model):
        cached.cache_clear()


def check(model_type: type[BaseModel], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as given, once the model accepts them. Raises InputError with the paths of the wrong ones."""
    try:
        plain = {name: python_value(value) for name, value in params.items()}
        checked = model_type.model_validate(plain).model_dump(
            exclude_unset=True, by_alias=True, warnings=False
        )
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise together([_translated(each, model_type) for each in found]) from None
    return {name: checked[name] for name in params}  # in the order given


def _model(name: str, doc: str, fields: declared.Fields) -> type[BaseModel]:
    members: dict[str, Any] = {}
    for field in fields.values():
        default = ... if field["required"] else field["default"] or None
        key = str(field["name"])
        # A parameter may be called as a method of all models is, such as `copy`: that is its alias.
        member, alias = (f"{key}_", key) if hasattr(BaseModel, key) else (key, None)
        members[member] = (_type(field), PydanticField(default, alias=alias, description=_description(field)))
    config = ConfigDict(extra="forbid", validate_default=False, protected_namespaces=())
    title = "".join(part.capitalize() for part in name.replace("_", "-").split("-"))
    return create_model(title, __config__=config, __doc__=doc, **members)


def _description(field: declared.Field) -> str:
    return f"{field['doc']} (Source: {field['source']}.)" if field["source"] else str(field["doc"])


def _type(field: declared.Field) -> Any:
    plain = _item_type(field["type"], field)
    if field["required"] or not field["default"]:
        return plain if field["required"] else plain | None
    return Annotated[plain | None, WrapValidator(_or_default(field))]


def _or_default(field: declared.Field) -> Callable[[object, ValidatorFunctionWrapHandler], object]:
    """A validator that takes the default in words, too."""

    def checked(value: object, otherwise: ValidatorFunctionWrapHandler) -> object:
        return value if declared.says_default(field, value) else otherwise(value)

    return checked


def _item_type(kind: str, field: declared.Field) -> Any:
    if kind in ("any", "weights"):
        return Any
    if kind == "choice":
        return Annotated[Any, BeforeValidator(_choice(field["choices"]))]
    if kind == "map":
        whole = _model(field["name"], field["doc"], declared.fields(field))
        if field["short_for"]:
            return Annotated[Any, AfterValidator(_text_or_map(field["short_for"], whole))]
        return Annotated[whole, BeforeValidator(_as_map)]
    if kind == "kind":
        return Annotated[Any, AfterValidator(_kinded(field["category"]))]
    if kind == "list":
        return Annotated[list[_item_type(field["item"], field)], BeforeValidator(_as_list)]  # type: ignore[misc]
    return Annotated[Any, BeforeValidator(_judged("text" if kind == "file" else kind))]


def _judged(kind: str) -> Callable[[object], object]:
    """A validator that asks the core, and gives the core's message."""

    def checked(value: object) -> object:
        try:
            _core.parse(kind, value)
        except InputError as error:
            raise _WrongError(error) from None
        return value

    return checked


def _choice(choices: Sequence[str]) -> Callable[[object], object]:
    def checked(value: object) -> object:
        if value not in choices:
            near = nearest(value, choices) if isinstance(value, str) else ""
            raise _wrong("unknown choice", value, listed(choices, len(choices)), near)
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


def _text_or_map(short_for: str, whole: type[BaseModel]) -> Callable[[object], object]:
    """A validator of a map, or of the value of its key `short_for` alone, which it leaves as written."""

    def checked(value: object) -> object:
        params = {short_for: value} if isinstance(value, str) else value
        if not isinstance(params, Mapping):
            raise _wrong(
                "neither a text nor a map", value, f"the value of '{short_for}', or key: value pairs"
            )
        try:
            check(whole, params)
        except InputError as error:
            raise _WrongError(error) from None
        return value

    return checked


def _as_list(value: object) -> object:
    if isinstance(value, (tuple, str)):
        return [value] if isinstance(value, str) else list(value)
    if not isinstance(value, list):
        raise _wrong("not a list", value, "a list such as [a, b]")
    return value


def _as_map(value: object) -> object:
    if not isinstance(value, (Mapping, BaseModel)):
        raise _wrong("not a map of parameters", value, "key: value pairs")
    return value


def _wrong(problem: str, value: object, allowed: str, suggestion: str = "") -> _WrongError:
    return _WrongError(InputError(problem, found=described(value), allowed=allowed, suggestion=suggestion))


def _translated(found: ErrorDetails, model_type: type[BaseModel]) -> InputError:
    path = ""
    for step in found["loc"]:
        path = join(path, step)
    if found["type"] == "extra_forbidden":
        known = _known(model_type, found["loc"])
        name = str(found["loc"][-1])
        return InputError(
            f"unknown key '{name}'", allowed=listed(known), suggestion=nearest(name, known), path=path
        )
    if found["type"] == "missing":
        return InputError(f"'{found['loc'][-1]}' is missing", path=path.rpartition(".")[0])
    wrong = found.get("ctx", {}).get("error")
    if not isinstance(wrong, _WrongError):
        return InputError("a wrong value", found=described(found["input"]), path=path)
    inner = [
        InputError(
            each.problem,
            found=each.found,
            allowed=each.allowed,
            suggestion=each.suggestion,
            path=f"{path}.{each.path}" if each.path else path,
        )
        for each in getattr(wrong.error, "errors", (wrong.error,))
    ]
    return together(inner)


def _known(model_type: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys that the model declares where an unknown one was found."""
    here = model_type
    for step in location[:-1]:
        annotation = _fields(here)[str(step)].annotation
        parts = [getattr(t, "__origin__", t) for t in getattr(annotation, "__args__", [annotation])]
        nested = [t for t in parts if isinstance(t, type)]
        here = next((t for t in nested if issubclass(t, BaseModel)), here)
    return list(_fields(here))


def _fields(model_type: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the names of the parameters."""
    return {field.alias or name: field for name, field in model_type.model_fields.items()}
