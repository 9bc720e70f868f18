"""Random prefetchers: with few registers and short memories, so that in a few hundred accesses all of it is used."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from validation.systems import Spec

COMMON = {"registers": st.integers(1, 8), "page": st.sampled_from(["128B", "512B", "4KiB"])}


def kind(name: str, **params: st.SearchStrategy[Any]) -> st.SearchStrategy[Spec]:
    """A kind with any of its parameters."""
    return st.fixed_dictionaries({"kind": st.just(name)}, optional={**COMMON, **params})


def reachable(prefetcher: Spec) -> Spec:
    """With no more confidence than a phase of learning can give."""
    confidence = prefetcher.get("confidence", 2)
    limits = [prefetcher[key] for key in ("best_score", "rounds") if key in prefetcher]
    return {**prefetcher, "confidence": min([confidence, *limits])}


PREFETCHER = st.one_of(
    kind("next-line", degree=st.integers(1, 8)),
    kind("stride", degree=st.integers(1, 4), confidence=st.integers(1, 3), streams=st.integers(1, 8)),
    kind(
        "streamer",
        distance=st.integers(1, 30),
        degree=st.integers(1, 4),
        confidence=st.integers(1, 3),
        streams=st.integers(1, 8),
    ),
    kind(
        "best-offset",
        max_offset=st.integers(1, 16),
        best_score=st.integers(1, 8),
        rounds=st.integers(1, 8),
        confidence=st.integers(1, 4),
        recent=st.integers(1, 64),
    ).map(reachable),
    st.sampled_from(["none", "next-line", "stride", "streamer", "best-offset"]),
)
"""What a cache is given as `prefetch`."""
