"""What is measured is declared: the keys of a run's results are those of `cxloom components`, in their order."""

import json
from pathlib import Path
from typing import Any

import cxloom as cx
from cxloom import _core

BANKS = {"kind": "fixed", "banks": 4}
NVM = {"kind": "nvm", "preset": "optane-dcpmm"}
MEDIA: list[dict[str, Any]] = [
    BANKS,
    NVM,
    {
        "kind": "curve",
        "points": [{"bandwidth": "1GB/s", "latency": "100ns"}, {"bandwidth": "9GB/s", "latency": "1us"}],
    },
    {"kind": "dram", "preset": "DDR5-4800"},
    {"kind": "cached", "size": "64KiB", "cache": BANKS, "backing": NVM},
]


def result_of(media: dict[str, Any], folder: Path) -> dict[str, Any]:
    spec = {
        "devices": {"host": {"kind": "host", "queue": 8}, "mem": {"kind": "memory", "media": media}},
        "links": [{"between": ["host", "mem"], "phy": "pcie5-x16"}],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": 300, "footprint": "1MiB"}},
    }
    file = folder / "system.json"
    file.write_text(json.dumps(spec))
    return dict(cx.run(cx.load(file)).values)


def declared(media: dict[str, Any], prefix: str = "") -> list[str]:
    own = [prefix + each["name"] for each in _core.declarations()["media"][media["kind"]]["statistics"]]
    for part in ("cache", "backing"):
        if part in media:
            own += declared(media[part], f"{prefix}{part}_")
    return own


def test_media_report_what_they_declare(tmp_path: Path) -> None:
    for media in MEDIA:
        reported = list(result_of(media, tmp_path)["per_memory"]["mem"])
        expected = declared(media)
        assert expected, f"{media['kind']} declares nothing"
        at = reported.index(expected[0])
        assert reported[at : at + len(expected)] == expected


def test_links_report_what_they_declare(tmp_path: Path) -> None:
    (ends,) = result_of(BANKS, tmp_path)["per_link"].values()
    names = [each["name"] for each in _core.declarations()["link"]["statistics"]]
    for end in ends.values():
        assert list(end) == names
