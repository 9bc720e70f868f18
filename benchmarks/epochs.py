"""Minutes of tiering: CPU time and peak memory of `cxloom epochs` on 130 GB for ten minutes, by policy and page.

python benchmarks/epochs.py [KIND ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KINDS = ("autonuma", "memory-tiering", "tpp", "hemem")
PAGES = ("2MiB",)


def system(kind: str, page: str) -> dict[str, Any]:
    """130 GB of 64 threads, a fifth of them hot and at first on CXL memory, behind 50 GB of local memory."""
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "20ns", "queue": 640, "core": {"cores": 64}},
            "local": {
                "kind": "memory",
                "capacity": "50GiB",
                "media": {"kind": "fixed", "latency": "80ns", "bandwidth": "400GB/s"},
            },
            "cxl": {
                "kind": "memory",
                "capacity": "128GiB",
                "media": {"kind": "fixed", "latency": "120ns", "bandwidth": "40GB/s"},
            },
        },
        "links": [{"between": ["host", "local"]}, {"between": ["host", "cxl"], "delay": "40ns"}],
        "address_map": [{"to": "local"}, {"to": "cxl"}],
        "workload": {
            "host": {
                "pattern": "objects",
                "objects": [
                    {"name": "cold", "size": "104GB", "accesses": 0.1, "pattern": "random"},
                    {"name": "hot", "size": "26GB", "accesses": 0.9, "pattern": "random"},
                ],
                "align": page,
                "threads": 64,
                "shared_footprint": True,
                "requests": 10**13,
                "page": page,
                "addresses": "first-touch",
                "tiering": {"kind": kind},
            }
        },
        "run": {"warmup": 0},
    }


def measured(kind: str, page: str) -> dict[str, Any]:
    """The study in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.yaml"
        spec.write_text(json.dumps(system(kind, page)))
        words = ["epochs", str(spec), "--duration", "600s", "--json", "--quiet", "--check", "0"]
        done = subprocess.run(
            [sys.executable, "-m", "cxloom", *words], capture_output=True, text=True, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def main() -> None:
    """Prints a row for each policy and page."""
    print(f"{'policy':<16}{'page':>6}{'CPU s':>8}{'peak GB':>9}{'faults':>14}{'moves':>12}{'windows':>9}")
    for kind in sys.argv[1:] or KINDS:
        for page in PAGES:
            found = measured(kind, page)
            cost = found["cost"]
            print(
                f"{kind:<16}{page:>6}{cost['cpu_s']:>8.1f}{cost['peak_memory_bytes'] / 1e9:>9.2f}"
                f"{found['faults']:>14,}{found['pages_moved']:>12,}{found['window_runs']:>9}",
                flush=True,
            )


if __name__ == "__main__":
    main()
