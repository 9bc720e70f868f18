"""Plays systems in one queue of events, and in threads in as many parts as each can have: the same must come out.

    python tests/divided/check.py PLAYER [--systems FILE] [--random N] [--seed N] [--threads N] [--watched PLAYER]

PLAYER is `cxloom_divided`; the watched one is built with ThreadSanitizer (`make threads-check`), and plays what ran
side by side: one thread has nothing to race with. FILE is what tests/same_bytes/systems.py wrote. Random systems are
those of the tests: all media, caches that are kept coherent, links of flits with errors, credits and outages, events of
all kinds. Exit code 1 if a system differs; each is named, a random one with its spec.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from validation.coherent_systems import coherent_systems  # noqa: E402
from validation.featured_systems import featured  # noqa: E402
from validation.mixed_systems import mixed_systems  # noqa: E402
from validation.random_systems import systems  # noqa: E402
from validation.rich_systems import rich_systems  # noqa: E402
from validation.test_divided_past import past_systems  # noqa: E402
from validation.test_divided_requesters import requester_systems  # noqa: E402

Spec = dict[str, Any]


def random_specs(count: int, number: int) -> list[Spec]:
    """So many systems of the tests' strategies, links of which take time."""
    found: list[Spec] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.one_of(
            systems(),
            rich_systems(),
            coherent_systems(),
            mixed_systems(),
            featured(),
            requester_systems(),
            past_systems(),
        ),
        st.integers(1, 5),
    )
    def draw(spec: Spec, delay: int) -> None:
        links = [{"delay": f"{delay + i % 3}ns"} | link for i, link in enumerate(spec["links"])]
        # Enough of them that there are windows far from both ends of the run.
        work = {
            name: own | ({"requests": 8 * own["requests"]} if "requests" in own else {})
            for name, own in spec["workload"].items()
        }
        if not any("trace" in own for own in work.values()):
            found.append(spec | {"links": links, "workload": work})

    draw()
    return found


def play(player: Path, spec: Spec, *how: str) -> str:
    """What comes out, without how windows were played."""
    done = subprocess.run([player, *how], input=json.dumps(spec), capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def compare(player: Path, watched: Path | None, threads: int, named: tuple[str, Spec]) -> tuple[str, str]:
    """The name of a system, and what was found: "one part", "merged", "side by side", or what differs."""
    name, spec = named
    whole, divided = play(player, spec, "whole"), play(player, spec, "divided", str(threads))
    if whole.startswith("exit") or divided.startswith("exit"):
        # The time of a deadlock may be the end of a window.
        same = re.sub(r"\(at [^,)]*", "(at", whole) == re.sub(r"\(at [^,)]*", "(at", divided)
        return name, "refused" if same else f"{whole[:300]} | {divided[:300]}"
    one, many = json.loads(whole), json.loads(divided)
    windows = many.pop("side_by_side", None)
    many.pop("windows", None)
    reason = many.pop("reason")
    if one != many | {"reason": reason}:
        return name, f"{[key for key in one if one[key] != many[key]]} differ: {json.dumps(spec)}"
    if windows is None:
        return name, f"one part: {reason}"
    if not windows:
        return name, "merged"
    if watched and (seen := play(watched, spec, "divided", str(threads))) != divided:
        return name, f"watched: {seen[:3000]}: {json.dumps(spec)}"
    return name, "side by side"


def stored(file: Path) -> Iterator[tuple[str, Spec]]:
    """The systems of a file that read no trace."""
    for name, spec in json.loads(file.read_text()).items():
        if not any("trace" in work for work in spec.get("workload", {}).values()):
            yield name, spec


def main() -> None:
    """Plays all of them and counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("player", type=Path)
    parser.add_argument("--systems", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--watched", type=Path, metavar="PLAYER")
    arguments = parser.parse_args()
    named = list(stored(arguments.systems)) if arguments.systems else []
    if arguments.random:
        specs = random_specs(arguments.random, arguments.seed)
        named += [(f"random {i}", spec) for i, spec in enumerate(specs)]
    play_all = partial(compare, arguments.player, arguments.watched, arguments.threads)
    counts: Counter[str] = Counter()
    bad = 0
    with ThreadPoolExecutor(2) as pool:
        for name, outcome in pool.map(play_all, named):
            known = outcome in ("merged", "side by side", "refused") or outcome.startswith("one part: ")
            counts[re.sub("'.*?'", "'...'", outcome) if known else "different"] += 1
            if not known:
                bad += 1
                print(f"{name}: {outcome}", flush=True)
    print(f"{len(named)} systems: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
