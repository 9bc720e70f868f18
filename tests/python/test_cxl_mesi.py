"""The protocol for gem5's Ruby that homes of the simulated system take lines back from: every order of its messages."""

from __future__ import annotations

import re

import cxl_mesi_model as model
import cxl_mesi_orders as orders
import pytest

STABLE = {"I", "S", "M"}


def quiet(line: model.Line) -> bool:
    return (
        not line.messages
        and not line.awaited
        and not line.recalled
        and line.directory.state in STABLE
        and all(cache.state in ("I", "S", "E", "M") for cache in line.caches)
    )


@pytest.mark.parametrize("caches", [1, 2])
def test_no_order_of_messages_has_old_bytes_two_writers_or_no_end(caches: int) -> None:
    lines, follow = orders.explored(caches)
    assert len(lines) > 100
    assert any(line.recalled and line.awaited for line in lines.values()), "they meet"
    # A recall ends also where the home below answers no read before it has.
    assert not orders.without_end(lines, [follow["itself"]], lambda line: not line.recalled)
    assert not orders.without_end(lines, [follow["itself"], follow["grant"]], quiet)
    if caches > 1:
        states = {line.directory.state for line in lines.values()}
        assert states == {state for state, _ in model.DIRECTORY}


def test_what_waits_at_the_directory_is_woken_when_the_line_is_free() -> None:
    busy = {state for (state, _), (_, actions) in model.DIRECTORY.items() if model.WAITS & set(actions)}
    for (state, event), (to, actions) in model.DIRECTORY.items():
        if state in busy and to in STABLE:
            assert "wake" in actions, f"{event} in {state}"


def test_ports_that_wait_for_one_line_have_ranks_of_their_own() -> None:
    text = (model.FOLDER / "CXL_MESI-dir.sm").read_text()
    waiting = set(re.findall(r"stall_and_wait\((\w+)", text))
    ranks = dict(re.findall(r"in_port\((\w+),[^)]*rank=(\d)\)", text))
    assert waiting == {"request_in", "recall_in"}
    assert ranks["recall_in"] > ranks["request_in"]
    assert len(set(ranks.values())) == len(re.findall(r"in_port\(", text))


def test_nothing_but_requests_of_the_core_waits_at_a_cache() -> None:
    waiting = {event for (_, event), (_, actions) in model.CACHE.items() if "z_stall" in actions}
    assert waiting == {"Load", "Store", "Replacement"}


def without_recall_in_a_fetch() -> None:
    model.DIRECTORY["F", "Recall"] = ("F", ["recallWaits"])


def gone_in_a_fetch() -> None:
    model.DIRECTORY["F", "Recall"] = ("F", ["goneAtOnce", "popRecall"])


def gone_in_a_write() -> None:
    model.DIRECTORY["W", "Recall"] = ("W", ["goneAtOnce", "popRecall"])


def upgrade_kept() -> None:
    model.CACHE["SM", "Invalidate"] = ("SM", ["ack", "popOrder"])


def no_wait_for_the_cache() -> None:
    to, actions = model.DIRECTORY["F", "MemData"]
    assert to == "U"
    model.DIRECTORY["F", "MemData"] = ("M", actions)


def no_place() -> None:
    del model.CACHE["MI", "Downgrade"]


@pytest.mark.parametrize(
    "mistake",
    [
        without_recall_in_a_fetch,
        gone_in_a_fetch,
        gone_in_a_write,
        upgrade_kept,
        no_wait_for_the_cache,
        no_place,
    ],
)
def test_a_mistake_in_the_protocol_is_found(monkeypatch: pytest.MonkeyPatch, mistake: object) -> None:
    monkeypatch.setattr(model, "CACHE", dict(model.CACHE))
    monkeypatch.setattr(model, "DIRECTORY", dict(model.DIRECTORY))
    assert callable(mistake)
    mistake()
    try:
        lines, follow = orders.explored(2)
    except model.Wrong:
        return
    assert orders.without_end(lines, [follow["itself"]], lambda line: not line.recalled)
