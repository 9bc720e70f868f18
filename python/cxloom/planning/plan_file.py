"""The file of a plan: read, with values set from outside, and checked, each mistake at its line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from cxloom.base.errors import Gathered, InputError, InputErrors
from cxloom.display.numbers import size as shown_size
from cxloom.planning import inputs, packing
from cxloom.planning.demand import Demand
from cxloom.planning.designs import KINDS, Design, NoPool, Sparse
from cxloom.planning.generated import arrival_rate, generated
from cxloom.planning.pod import Template, check_built, check_heads, template_of
from cxloom.planning.prices import Prices
from cxloom.planning.reach import reach_of
from cxloom.planning.traced import traced
from cxloom.spec import paths
from cxloom.spec.file_kind import FileKind, refuse_other
from cxloom.spec.names import NAME, listed, nearest
from cxloom.spec.node import Node, Origin, described, from_plain
from cxloom.spec.override import Override
from cxloom.spec.quantities import checked
from cxloom.spec.reader import read_file

_SECTIONS: dict[str, type[inputs.Inputs]] = {
    "servers": inputs.Servers,
    "sizing": inputs.Sizing,
    "traffic": inputs.Traffic,
    "prices": Prices,
    "run": inputs.Run,
}
_KEYS = ("name", "servers", "demand", "designs", "sizing", "traffic", "prices", "run")
_Section = TypeVar("_Section", bound=BaseModel)


@dataclass(frozen=True)
class Plan:
    """A plan that is checked as far as it can be without its trace."""

    root: Node
    name: str
    servers: inputs.Servers
    demand: inputs.Demand
    designs: Mapping[str, Design]
    sizing: inputs.Sizing
    traffic: inputs.Traffic | None
    """None: nothing is simulated."""
    prices: Prices
    run: inputs.Run

    @property
    def folder(self) -> str:
        """Where files are that it names."""
        return self.root.origin.folder

    @property
    def trace(self) -> Path | None:
        """Its trace."""
        return None if self.demand.trace is None else Path(self.folder, self.demand.trace)

    @property
    def seeds(self) -> range:
        """The seeds of its demands."""
        return range(self.run.seed, self.run.seed + self.run.seeds)

    def demanded(self, seed: int) -> Demand:
        """The demand under a seed. Raises InputError at its place in the file, or in the trace."""
        try:
            made = self._demanded(seed)
            if made.finish <= made.begin or not made.counted.any():
                raise InputError(
                    "nothing is left to count",
                    found=f"from {made.begin / 86400:.4g}d to {made.finish / 86400:.4g}d",
                    allowed="a shorter warmup, a later until, or more VMs",
                    path="demand",
                )
        except InputError as error:
            raise paths.located(self.root, error) from None
        return made

    def _demanded(self, seed: int) -> Demand:
        given = self.demand
        if given.generate is not None:
            return generated(
                given.generate,
                self.servers,
                seed,
                pool_share=given.pool_share,
                warmup=given.warmup,
                until=given.until,
            )
        assert self.trace is not None
        return traced(given, self.trace, self.servers, seed)

    def template(self, design: str) -> Template | None:
        """The host, device and link of a design; None without devices. Raises InputError at its place."""
        given = self.designs[design]
        if isinstance(given, NoPool):
            return None
        try:
            return template_of(given, self.folder)
        except InputError as error:
            raise paths.located(self.root, with_path(error, f"designs.{design}")) from None


def read(file: str | os.PathLike[str] | Mapping[str, Any]) -> Node:
    """The tree of a file, or of a map as Python has it. Raises InputError for one that is about something else."""
    root = from_plain(dict(file), Origin()) if isinstance(file, Mapping) else read_file(file)
    refuse_other(root, FileKind.PLAN)
    return root


def planned(root: Node, overrides: Sequence[Override] = ()) -> Plan:
    """The plan of a tree with values set in it. Raises InputError, several at once."""
    for override in overrides:
        root = _assigned(root, override)
    root = _without_nulls(root)
    top = root.map()
    for key, node in top.items():
        if key not in _KEYS:
            raise (node.key or node.place).error(
                f"unknown key '{key}'", allowed=listed(_KEYS), suggestion=nearest(key, _KEYS)
            )
    for key in ("servers", "demand", "designs"):
        if key not in top:
            raise root.place.error(f"'{key}' is missing", allowed="servers, demand and designs")
    errors = Gathered()
    found: dict[str, Any] = {}
    for key, params in _SECTIONS.items():
        with errors.one():
            found[key] = _section(root, key, params) if key in top or key != "traffic" else None
    with errors.one():
        found["demand"] = _demand(root)
    with errors.one():
        found["designs"] = _designs(root)
    errors.raise_any()
    name = top.get("name")
    plan = Plan(root, "plan" if name is None else str(name.plain()), **found)
    _check_together(plan)
    return plan


def _without_nulls(root: Node) -> Node:
    """The tree as if what is null were not there; a design is not taken back by having nothing written below it."""

    def kept(node: Node, names: frozenset[str] = frozenset()) -> Node:
        if isinstance(node.value, dict):
            entries = {
                key: kept(each, frozenset(each.map()) if key == "designs" and node is root else frozenset())
                for key, each in node.value.items()
                if each.value is not None or key in names
            }
            return node.with_entries(entries)
        if isinstance(node.value, list):
            return Node([kept(each) for each in node.value], node.origin, node.key)
        return node

    return kept(root)


def _section(root: Node, path: str, params: type[_Section]) -> _Section:
    node = paths.follow(root, path)[0]
    given = {} if root.map().get(path.partition(".")[0]) is None else node.map()
    try:
        return checked(params, {name: each.plain() for name, each in given.items()}, path)
    except InputError as error:
        raise paths.located(root, error) from None


def _demand(root: Node) -> inputs.Demand:
    """Its parts one by one, so that each says what it knows itself."""
    top = root.map()["demand"].map()
    parts: dict[str, Any] = {}
    errors = Gathered()
    nested: dict[str, type[inputs.Inputs]] = {"generate": inputs.Generate, "columns": inputs.Columns}
    for key, params in nested.items():
        if key in top:
            with errors.one():
                parts[key] = _nested(root, f"demand.{key}", params)
    errors.raise_any()
    try:
        given = {key: node.plain() for key, node in top.items()}
        return checked(inputs.Demand, given | parts, "demand")
    except InputError as error:
        raise paths.located(root, error) from None


def _nested(root: Node, path: str, params: type[_Section]) -> _Section:
    parts: dict[str, Any] = {}
    node = paths.follow(root, path)[0]
    errors = Gathered()
    if params is inputs.Generate:
        sizes, life = node.get("sizes"), node.get("lifetime")
        if life is not None:
            with errors.one():
                parts["lifetime"] = _section(root, f"{path}.lifetime", inputs.Lifetime)
        if sizes is not None:
            parts["sizes"] = []
            for index in range(len(sizes.list())):
                with errors.one():
                    parts["sizes"].append(_section(root, f"{path}.sizes[{index}]", inputs.VmSize))
    errors.raise_any()
    try:
        return checked(params, {key: each.plain() for key, each in node.map().items()} | parts, path)
    except InputError as error:
        raise paths.located(root, error) from None


def _designs(root: Node) -> dict[str, Design]:
    found: dict[str, Design] = {}
    errors = Gathered()
    entries = root.map()["designs"].map()
    if not entries:
        raise root.map()["designs"].place.error("no designs", allowed="at least one, by its name")
    for name, node in entries.items():
        with errors.one():
            found[name] = _design(root, name, node)
    errors.raise_any()
    return found


def _design(root: Node, name: str, node: Node) -> Design:
    if re.fullmatch(NAME, name) is None:
        raise (node.key or node.place).error(
            "not a name", found=f"'{name}'", allowed="letters, digits, _ and -"
        )
    given = {key: each.plain() for key, each in node.map().items()}
    kind = given.get("kind")
    if kind is None:
        raise node.place.error("'kind' is missing", allowed=listed(KINDS))
    if not isinstance(kind, str) or kind not in KINDS:
        raise node.map()["kind"].place.error(
            "unknown kind", found=described(kind), allowed=listed(KINDS), suggestion=nearest(str(kind), KINDS)
        )
    try:
        return checked(KINDS[kind], given, f"designs.{name}")
    except InputError as error:
        raise paths.located(root, error) from None


def _check_together(plan: Plan) -> None:
    """Raises InputError for sections that do not go together, and values without effect."""
    errors = Gathered()
    for name, design in plan.designs.items():
        with errors.one():
            try:
                _check_design(plan, design)
            except InputError as error:
                raise paths.located(plan.root, with_path(error, f"designs.{name}")) from None
    errors.errors += [paths.located(plan.root, each) for each in (*_conflicts(plan), *_without_effect(plan))]
    errors.raise_any()


def _check_design(plan: Plan, design: Design) -> None:
    """Raises InputError, with a path within the design."""
    reach = reach_of(design, plan.servers.count)
    if not isinstance(design, NoPool):
        check_heads(design, reach, is_simulated=plan.traffic is not None)
        check_built(design, reach, template_of(design, plan.folder))


def _conflicts(plan: Plan) -> list[InputError]:
    given, found = plan.demand, []

    def wrong(problem: str, path: str, allowed: str, seen: str = "") -> None:
        found.append(InputError(problem, path=path, allowed=allowed, found=seen))

    if (given.trace is None) == (given.generate is None):
        wrong("where VMs come from is not said, or said twice", "demand", "one of trace and generate")
    elif given.generate is not None:
        try:
            arrival_rate(given.generate, plan.servers)
        except InputError as error:
            found.append(error)
        most = max(size.cores for size in given.generate.sizes)
        if most > plan.servers.cores:
            wrong(
                "a VM that fits no server",
                "demand.generate.sizes",
                f"at most {plan.servers.cores} cores",
                f"{most} cores",
            )
        largest = max(size.memory for size in given.generate.sizes)
        if plan.servers.dram is not None and largest > plan.servers.dram:
            wrong(
                "a VM that fits no server",
                "demand.generate.sizes",
                f"at most {shown_size(plan.servers.dram)}",
                shown_size(largest),
            )
    elif plan.run.seeds > 1 and given.keep >= 1:
        allowed = "seeds with a keep below 100%, or with generate"
        wrong("a trace is the same under all seeds", "run.seeds", allowed, str(plan.run.seeds))
    if plan.servers.spare_cores >= plan.servers.cores:
        wrong(
            "a server that is always sold out",
            "servers.spare_cores",
            f"fewer than its {plan.servers.cores} cores",
            str(plan.servers.spare_cores),
        )
    if plan.traffic is not None and not plan.traffic.per_gib and not plan.traffic.per_vm:
        wrong("no traffic", "traffic", "per_gib, per_vm, or both")
    if sum(isinstance(each, NoPool) for each in plan.designs.values()) > 1:
        wrong(
            "two designs without a pool",
            "designs",
            "at most one of kind none: the others are compared with it",
        )
    return found


def _without_effect(plan: Plan) -> Iterator[InputError]:
    """Values that were written and change nothing."""
    given = plan.demand
    written = given.model_fields_set
    if given.generate is not None:
        for key in sorted(
            {"format", "machine", "columns", "time_unit", "memory_unit", "keep", "since"} & written
        ):
            yield InputError(f"'{key}' has no effect without a trace", path=f"demand.{key}")
        if "batches" in plan.sizing.model_fields_set:
            yield InputError("'batches' has no effect without a trace", path="sizing.batches")
        drawn, life = given.generate, given.generate.lifetime
        if life.distribution != "lognormal" and "sigma" in life.model_fields_set:
            yield InputError(
                f"'sigma' has no effect with lives that are {life.distribution}",
                path="demand.generate.lifetime.sigma",
            )
        if "period" in drawn.model_fields_set and "swing" not in drawn.model_fields_set:
            yield InputError("'period' has no effect without swing", path="demand.generate.period")
    elif "batches" in plan.sizing.model_fields_set and plan.run.seeds > 1:
        yield InputError("'batches' has no effect with several seeds", path="sizing.batches")
    if given.trace is not None and given.format != "columns":
        for key in sorted({"columns", "memory_unit", "time_unit"} & written):
            yield InputError(
                f"'{key}' has no effect with a public format", path=f"demand.{key}", allowed="format: columns"
            )
    if given.trace is not None and given.format != packing.FORMAT and "machine" in written:
        yield InputError(
            f"'machine' has no effect with format: {given.format}",
            path="demand.machine",
            allowed=f"format: {packing.FORMAT}",
        )
    for name, design in plan.designs.items():
        if (
            isinstance(design, Sparse)
            and not isinstance(design.graph, str)
            and "graph_seed" in design.model_fields_set
        ):
            yield InputError(
                "'graph_seed' has no effect with a graph that is written", path=f"designs.{name}.graph_seed"
            )


def with_path(error: InputError, path: str) -> InputError:
    """The error with its path below another one."""
    if isinstance(error, InputErrors):
        return InputErrors([with_path(each, path) for each in error.errors])
    if error.file is None:
        error.path = ".".join(filter(None, (path, error.path)))
    return error


def _assigned(root: Node, override: Override) -> Node:
    """The tree with a value at a path, of whose parts all but the last are there, or sections that may be left out."""
    steps = tuple(override.path.split("."))
    node: Node | None = root
    for depth, step in enumerate(steps[:-1]):
        below = None if node is None else node.get(int(step) if step.isdigit() else step)
        if below is None and not (depth == 0 and step in _KEYS):
            known = list(node.value) if node is not None and isinstance(node.value, dict) else []
            raise override.value.origin.error(
                "a path that matches nothing",
                found=f"'{override.path}'",
                allowed=listed(map(str, known)),
                suggestion=nearest(step, map(str, known)),
            )
        node = below
    path = tuple(int(step) if step.isdigit() else step for step in steps)
    return paths.assign(root, path, override.value)
