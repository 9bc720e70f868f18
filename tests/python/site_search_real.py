"""The search of the site that ``make site`` built, in a browser without a network.

What somebody types who has one of the sixteen tasks of docs/recipes.md leads to a page that answers it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import PROGRAM, Browser

HTML = Path(__file__).parents[2] / "build" / "site" / "html"
_PAGES = 5
"""The page is among so many of the first that are found."""
WORDS = {
    "second card": "recipes",
    "how much does a second expander help": "recipes",
    "trace on DDR5 against CXL": "recipes traces",
    "compare two systems": "compare",
    "prefetcher plug-in": "recipes model/prefetch tutorials/your-first-device",
    "write a device": "tutorials/your-first-device",
    "half of memory on CXL": "recipes",
    "numactl membind": "model/program model/placement cli",
    "compare topologies": "compare recipes",
    "topology for 16 hosts": "recipes",
    "MLC loaded latency": "measure recipes",
    "MLC curve of a card": "model/curve recipes",
    "fit parameters to a curve": "fit",
    "loaded latency of a server": "recipes measure",
    "two channels DDR4": "recipes",
    "bit error rate": "model/flit_link recipes",
    "four hosts one card": "recipes",
    "logical devices": "recipes model/memory model/virtual_switch reference/devices model/qos",
    "how many terabytes": "recipes",
    "p99 below 500 ns": "recipes sweep",
    "find the highest load": "recipes sweep",
    "spine fails": "recipes model/failures",
    "link failure": "model/failures",
    "results as CSV": "recipes sweep",
    "spreadsheet": "recipes sweep",
    "different workloads on one pool": "recipes",
    "why is it slow": "recipes explain",
    "bottleneck": "explain",
    "DRAM timing": "model/dram",
    "install": "install",
    "how fast is it": "speed",
    "how much memory does a pool save": "plan recipes",
    "what is not modelled": "not-modelled",
}
"""What is typed, and the pages of which one must be found."""

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no browser"),
    pytest.mark.skipif(not HTML.is_dir(), reason="make site has not been run"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser with the first page of the site open, and its search ready."""
    made = Browser()
    made.call("Page.navigate", url=(HTML / "index.html").as_uri())
    made.wait("document.readyState === 'complete'")
    yield made
    made.close()


def found(browser: Browser, words: str) -> list[str]:
    """The pages that the search shows, the best first."""
    browser.value(
        "(() => { const input = document.querySelector('.md-search__input'); input.focus();"
        f"input.value = {json.dumps(words)}; input.dispatchEvent(new KeyboardEvent('keyup', {{bubbles: true}}));"
        "document.querySelector('.md-search-result__list').replaceChildren(); })()"
    )
    browser.wait("document.querySelectorAll('.md-search-result__item > a').length > 0")
    links = browser.value(
        "[...document.querySelectorAll('.md-search-result__item > a.md-search-result__link')].map(each => each.href)"
    )
    pages = [link.partition("?")[0].partition("#")[0].removeprefix(HTML.as_uri() + "/") for link in links]
    return list(dict.fromkeys(pages))


@pytest.mark.parametrize("words", WORDS)
def test_a_task_is_found(browser: Browser, words: str) -> None:
    pages = found(browser, words)[:_PAGES]
    wanted = [
        f"{'' if name.startswith('reference/') else 'docs/'}{name}.html" for name in WORDS[words].split()
    ]
    assert set(wanted) & set(pages), (words, pages)


def test_the_site_asks_for_nothing_from_the_network(browser: Browser) -> None:
    found(browser, "latency")
    assert [said for said in browser.said if "asked for" in said or "rror" in said] == []
