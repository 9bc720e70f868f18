"""A small copy of a tiering spec: memory, footprint and the policy's sizes and times divided by one factor.

What a page, a fault and a move cost stays as it is, and so does the rate of accesses. Each page then has as many
accesses, scans and faults as in the large one, but fewer pages wait for them and each second is shorter.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, MutableMapping
from typing import Any

from cxloom.base.errors import InputError
from cxloom.spec import declared
from cxloom.spec.parts import entry, part_of, parts_of, quantity

Spec = dict[str, Any]


def scaled(spec: Mapping[str, Any], device: str, page: int, factor: int) -> Spec:
    """The copy of a resolved spec in which the program of that device is so many times smaller.

    Raises InputError for a spec whose address map says sizes: they would have to be divided with their memories. And
    for a memory whose capacity is not declared.
    """
    small: Spec = copy.deepcopy(dict(spec))
    if factor == 1:
        return small
    for index, region in enumerate(small.get("address_map", [])):
        found = next((key for key in ("size", "base", "device_base") if region.get(key) is not None), None)
        if found is not None:
            raise InputError(
                "a region with a size or an address of its own has no small copy",
                found=f"{found}: {region[found]}",
                path=f"address_map[{index}].{found}",
            )
        silent = next((name for name in region["to"] if part_of(small, name, "memory") is None), None)
        if silent is not None:
            raise InputError(
                "a memory whose kind does not declare its capacity has no small copy",
                found=f"'{silent}' of kind '{small['devices'][silent]['kind']}'",
                path=f"address_map[{index}].to",
            )
    for name in small["devices"]:
        for part in parts_of(small, name, "memory"):
            size = quantity("bytes", part.text("capacity"))
            entry(small, part)["capacity"] = f"{_pages(size, page, factor) * page}B"
        _shrink_extents(small["devices"][name], page, factor)
    work = small["workload"][device]
    for each in (work, *(work.get("phases") or ())):
        _shrink_pattern(each, page, factor)
    work["tiering"] = _shrunk_policy(work["tiering"], page, factor)
    return small


def _pages(size: float, page: int, factor: int) -> int:
    return max(1, round(size / factor / page))


def _shrink_extents(device: Any, page: int, factor: int) -> None:
    """Divides extents of dynamic capacity: into whole pages, none of which two have that were apart."""
    given = device.get("dynamic_capacity") if isinstance(device, Mapping) else None
    for extent in (given or {}).get("extents") or ():
        base, size = (quantity("bytes", extent[key]) for key in ("base", "size"))
        first, end = math.ceil(base / factor / page), math.floor((base + size) / factor / page)
        extent["base"], extent["size"] = f"{first * page}B", f"{max(1, end - first) * page}B"


def _shrink_pattern(work: MutableMapping[str, Any], page: int, factor: int) -> None:
    fields = declared.kind_fields("patterns", work.get("pattern"))
    for key in ("footprint", "base"):
        if key not in fields or (key == "base" and work.get(key) is None):
            continue
        value = work.get(key, fields[key]["default"])
        kind = "bytes" if key == "footprint" else "address"
        size = int(str(value), 0) if kind == "address" else quantity("bytes", value)
        pages = round(size / factor / page)
        work[key] = f"{max(1, pages) * page}B" if kind == "bytes" else hex(pages * page)
    for each in work.get("objects") or ():
        each["size"] = f"{_pages(quantity('bytes', each['size']), page, factor) * page}B"
    if work.get("requests") is not None:
        work["requests"] = max(1, int(work["requests"]) // factor)


def _shrunk_policy(policy: Any, page: int, factor: int) -> Spec:
    written: Spec = dict(policy) if isinstance(policy, Mapping) else {"kind": policy}
    for key, field in declared.kind_fields("tiering", written["kind"]).items():
        value = written.get(key, field["default"])
        if field["type"] == "time":
            written[key] = f"{max(1, round(quantity('time', value) * 1000 / factor))}ps"
        elif field["type"] == "bytes":
            size = quantity("bytes", value)
            written[key] = f"{_pages(size, page, factor) * page if size else 0}B"
    return written
