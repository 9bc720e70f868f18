"""Pages in a real browser: they open from a file without a word of complaint, and do what they say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import PROGRAM, Browser
from page_faults import faults
from PIL import Image
from topologies import TOPOLOGIES, graph

import cxloom as cx
from cxloom.draw.picture import pictures
from cxloom.report.page import Section, document, system_map
from cxloom.report.run_page import run_page
from cxloom.report.study_outcome import read_outcome, write_outcome
from cxloom.report.study_page import study_page
from cxloom.report.sweep_page import sweep_page
from cxloom.study import read, run_study

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium: scripts/bootstrap.sh browser")
SCREEN = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
TOLD = "document.querySelector('#tip').textContent"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run that recorded everything, with a bus and a link that have a bandwidth."""
    folder = tmp_path_factory.mktemp("page")
    system = cx.System("Four memories", preset="esf/validation")
    system.host("host", queue=64)
    system.connect("host", "bus", bandwidth="64GB/s")
    system.workload("host", requests=3000)
    system.outputs(requests=True, series="500ns")
    result = cx.run(system, seed=3, out=folder / "results")
    file = folder / "report.html"
    file.write_text(run_page(result, folder / "results"), encoding="utf-8")
    return file


def ink(picture: np.ndarray) -> float:
    """Share of the pixels that are not of the most frequent colour."""
    packed = picture.reshape(-1, 3).astype(np.int64) @ (65536, 256, 1)
    _, counts = np.unique(packed, return_counts=True)
    return float(1 - counts.max() / len(packed))


def part(browser: Browser, selector: str) -> np.ndarray:
    """What is seen of an element."""
    left, top, width, height = browser.box(selector)
    return browser.picture()[int(top) : int(top + height), int(left) : int(left + width)]


def look_right(browser: Browser, file: Path) -> None:
    """On a screen and on a telephone nothing is cut, no name lies over another, and nobody complains."""
    for size in (PHONE, SCREEN):
        browser.open(file, **size)
        browser.wait_for(lambda: faults(browser) == [], f"{file.name} at {size['width']}: {faults(browser)}")


def fits(browser: Browser) -> bool:
    """Whether nothing reaches beyond the window's right edge."""
    return bool(browser.value("document.documentElement.scrollWidth <= innerWidth"))


def test_it_opens_without_a_word_and_shows_every_plot(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.said == []
    assert browser.value("document.querySelectorAll('.plot svg.chart').length") >= 5
    assert browser.value("document.querySelectorAll('#breakdown .bars rect').length") >= 7 * 5
    for name in ("breakdown", "histogram", "slower", "busy", "queues"):
        _, _, width, height = browser.box(f"#{name}")
        assert width > 300
        assert height > 250
        browser.wait_for(lambda name=name: ink(part(browser, f"#{name}")) > 0.01, name)


def test_nothing_of_the_page_of_a_run_is_cut_and_no_name_lies_over_another(
    browser: Browser, page: Path
) -> None:
    look_right(browser, page)


def test_the_pointer_on_a_bar_a_link_and_a_device_tells_of_it(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.hover("#breakdown .bars rect")
    browser.wait(f"{TOLD}.startsWith('all')")
    assert "process: 10 ns" in browser.value(TOLD)
    browser.value("document.querySelector('#slower').scrollIntoView({block: 'center', behavior: 'instant'})")
    end = browser.value(
        "(e => [e.right, e.bottom])(document.querySelector('#slower .curve path').getBoundingClientRect())"
    )
    browser.point(*end)
    browser.wait(f"{TOLD}.includes('% take longer than')")
    browser.hover("[data-tip^='mem2']")
    browser.wait("document.querySelector('#tip').classList.contains('shown')")
    assert "mem2: memory" in browser.value("document.querySelector('#tip').textContent")
    browser.hover(".cx-hit[data-tip^='host->bus']")
    browser.wait("document.querySelector('#tip').textContent.startsWith('host->bus')")
    assert "GB/s" in browser.value("document.querySelector('#tip').textContent")
    browser.press("Escape", 27)
    assert not browser.value("document.querySelector('#tip').classList.contains('shown')")


def test_a_click_on_the_legend_hides_a_segment(browser: Browser, page: Path) -> None:
    browser.open(page)
    keys = "Array.from(document.querySelectorAll('#breakdown .keys [aria-pressed]'), e => e.ariaPressed)"
    shown = "document.querySelectorAll('#breakdown .bars').length"
    count = browser.value(shown)
    assert set(browser.value(keys)) == {"true"}
    browser.click("#breakdown .keys button")
    browser.wait(f"{shown} === {count - 1}")
    assert browser.value(keys) == ["false"] + ["true"] * (len(browser.value(keys)) - 1)
    browser.click("#breakdown .keys button")
    browser.wait(f"{shown} === {count}")


def test_a_part_of_a_plot_is_enlarged_by_dragging_over_it_and_shown_whole_again(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    ticks = "Array.from(document.querySelectorAll('#queues .axes .middle'), e => e.textContent)"
    whole = browser.value(ticks)
    left, top, width, height = browser.box("#queues .field")
    browser.drag((left + 0.4 * width, top + height / 2), (left + 0.5 * width, top + height / 2))
    browser.wait(f"{ticks}.join() !== '{','.join(whole)}'")
    low, *_, high = (float(text) for text in browser.value(ticks)[:-1])
    assert high - low < 0.15 * (float(whole[-2]) - float(whole[0]))
    browser.click("#queues .keys button:last-child")
    browser.wait(f"{ticks}.join() === '{','.join(whole)}'")


def test_tables_are_sorted_by_mouse_and_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    column = (
        "Array.from(document.querySelector('#parts table').tBodies[0].rows, row => row.cells[{}].textContent)"
    )
    busy = browser.value(column.format(1))
    assert float(busy[0].rstrip(" %")) >= float(busy[1].rstrip(" %"))
    browser.click("#parts table th:first-child button")
    names = browser.value(column.format(0))
    assert names == sorted(names, reverse=True)
    browser.value("document.querySelector('#parts table th:first-child button').focus()")
    browser.press("Enter", 13)
    assert browser.value(column.format(0)) == sorted(names)
    assert browser.value("document.querySelector('#parts table th').getAttribute('aria-sort')") == "ascending"
    browser.click("#parts table th:nth-child(3) button")
    numbers = [float(text) for text in browser.value(column.format(2))]
    assert numbers == sorted(numbers, reverse=True)


def test_the_system_can_be_enlarged(browser: Browser, page: Path) -> None:
    browser.open(page)
    width = "document.querySelector('.map svg.cx-picture').viewBox.baseVal.width"
    whole = browser.value(width)
    browser.click(".map [data-zoom=in]")
    assert browser.value(width) < whole
    browser.click(".map [data-zoom=all]")
    assert browser.value(width) == whole


def darkness(browser: Browser) -> float:
    return float(255 - browser.picture().mean())


def test_dark_is_dark_by_system_and_by_switch_and_paper_is_light(browser: Browser, page: Path) -> None:
    text = "getComputedStyle(document.querySelector('#breakdown text')).fill"
    browser.open(page)
    assert darkness(browser) < 60
    ink_of_light = browser.value(text)
    browser.look(dark=True)
    browser.wait(f"{text} !== '{ink_of_light}'")
    assert darkness(browser) > 190
    browser.click("#theme")
    browser.wait(f"{text} === '{ink_of_light}'")
    assert darkness(browser) < 60
    browser.click("#theme")
    browser.look(dark=True, paper=True)  # what is printed is on light paper in any case
    browser.wait(f"{text} === '{ink_of_light}'")
    assert darkness(browser) < 60
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.look()
    browser.value("localStorage.clear(); delete document.documentElement.dataset.theme")


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_is_wider_than_the_window(browser: Browser, page: Path, dark: bool) -> None:
    browser.open(page, **PHONE, dark=dark)
    browser.wait("document.querySelector('#breakdown svg.chart').getBoundingClientRect().width <= 390")
    assert browser.said == []
    assert fits(browser)
    wide = "Array.from(document.querySelectorAll('.plot, .map, .tiles, h1, nav'), e => e.getBoundingClientRect().right)"
    assert max(browser.value(wide)) <= 390


def test_a_window_that_changes_its_size_is_filled_again(browser: Browser, page: Path) -> None:
    width = "document.querySelector('#breakdown svg.chart').getBoundingClientRect().width"
    browser.open(page)
    browser.wait(f"{width} > 1000")
    wide = browser.value(width)
    browser.resize(800, 900)
    browser.wait(f"{width} < {wide - 100}")
    assert fits(browser)


def test_every_control_is_reached_by_the_keyboard_and_has_a_name(browser: Browser, page: Path) -> None:
    browser.open(page)
    unnamed = (
        "Array.from(document.querySelectorAll('button, a[href]')).filter(e => e.tabIndex < 0 || "
        "!(e.getAttribute('aria-label') || e.textContent.trim())).length"
    )
    assert browser.value(unnamed) == 0
    browser.value("document.querySelector('.skip').focus()")
    assert browser.value("document.querySelector('.skip').getBoundingClientRect().left") > 0  # it is seen now
    browser.press("Tab", 9)
    assert browser.value("document.activeElement.id") == "theme"


def test_text_is_legible_in_both_colours(browser: Browser, page: Path) -> None:
    """WCAG 2.2 asks for a contrast of 4.5 between text and what is behind it."""
    program = """(() => {
      const lum = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
        .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
      const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (!c.startsWith('rgba') && c.startsWith('rgb(')) return c; } return 'rgb(255,255,255)'; };
      const text = 'h1, h2, h3, p, a, dt, dd, td, th, small, pre, figcaption, button';
      return Math.min(...Array.from(document.querySelectorAll(text))
        .filter(e => e.offsetParent && !e.closest('.skip'))
        .map(e => { const [a, b] = [lum(getComputedStyle(e).color), lum(behind(e))];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }));
    })()"""
    for dark in (False, True):
        browser.open(page, dark=dark)
        browser.wait(f"{program} >= 4.5")  # a page that is open takes other colours when it next draws


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_looks_as_it_did(browser: Browser, page: Path, dark: bool) -> None:
    """Coarse greys of the top of the page: fonts may differ, but not what is where. CXLOOM_RENEW=1 takes them anew."""
    browser.open(page, dark=dark)
    browser.wait("document.querySelector('#breakdown svg.chart').getBoundingClientRect().width > 1000")
    browser.point(2, 2)
    greys = Image.fromarray(browser.picture()).convert("L").resize((40, 28), Image.Resampling.BOX)
    kept = Path(__file__).parent / "pictures" / f"report-{'dark' if dark else 'light'}.png"
    if os.environ.get("CXLOOM_RENEW"):
        greys.save(kept)
    before = np.asarray(Image.open(kept), dtype=float)
    differences = np.abs(np.asarray(greys, dtype=float) - before)
    assert differences.mean() < 6
    assert np.abs(np.fliplr(greys) - before).mean() > 6  # a page the other way round would be noticed


def test_the_page_of_a_study_and_a_map_of_many_devices_open_without_a_word(
    browser: Browser, tmp_path: Path
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(
        "title: A ring\n"
        "system:\n"
        "  topology: {kind: ring, switches: 4, switch: {kind: switch, port_bandwidth: 16GB/s}}\n"
        "  workload: {'host*': {pattern: random, requests: 50}}\n"
        "sweep: {'devices.host*.queue': [1, 4]}\n"
        "expect:\n"
        "  - {measure: latency_ns.mean, least: 1, source: time}\n"
        "  - {measure: requests, value: 100, tolerance: 20%, source: counting}\n"
        "table: {queue: 'devices.host*.queue', ns: latency_ns.mean}\n"
        "plot: {x: queue, y: ns}\n"
    )
    write_outcome(run_study(read(study), jobs=1), tmp_path)
    pages = {"study": study_page(read_outcome(tmp_path), tmp_path)}
    drawn = pictures(graph(TOPOLOGIES["spine-leaf-of-496"]))
    pages["map"] = document("Many", "", [Section("system", "", system_map(drawn))])
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        look_right(browser, tmp_path / f"{name}.html")
        assert ink(browser.picture()) > 0.01
    browser.hover(".wide [data-tip^='host[0-13]']")
    browser.wait("document.querySelector('#tip').textContent === 'host[0-13]: 14 x host'")


def test_what_is_asked_for_and_what_goes_wrong_is_noticed(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<html data-ready="yes"><img src="https://example.org/x.png"><script>missing()</script></html>',
        encoding="utf-8",
    )
    browser.open(bad)
    browser.wait("document.readyState === 'complete'")
    said = " ".join(browser.said)
    assert "asked for https://example.org/x.png" in said
    assert "missing is not defined" in said


def test_names_are_shown_as_they_are_written(browser: Browser, tmp_path: Path) -> None:
    """Values, cases and titles of a user are text wherever they go: no tag in them is one of the page."""
    near, far, title = "<i>near</i>", "a&lt;b & <img src=x onerror=alert(1)>", "<u>Two</u> & more $x$"
    study = tmp_path / "study.yaml"
    study.write_text(
        json.dumps(
            {
                "title": title,
                "source": "<s>a paper</s>",
                "system": {"preset": "esf/validation", "workload": {"host": {"requests": 100}}},
                "cases": {near: {"run.seed": 1}, far: {"run.seed": 2}},
                "sweep": {"devices.host.queue": [1, 4, 8]},
                "expect": [
                    {"measure": "latency_ns.mean", "value": 200, "tolerance": "900%", "source": "<b>s</b>"}
                ],
                "table": {"<em>way</em>": "case", "queue": "devices.host.queue", "<q>ns": "latency_ns.mean"},
                "plots": {
                    "lines": {"x": "queue", "y": "<q>ns", "lines": "<em>way</em>", "title": title},
                    "bars": {"x": "<em>way</em>", "stack": ["<q>ns"], "panels": "<em>way</em>"},
                },
            }
        )
    )
    write_outcome(run_study(read(study), jobs=1), tmp_path)
    swept = cx.sweep(
        "esf/validation", {"name": [near, far], "devices.host.queue": [1, 2]}, out=tmp_path / "sweep"
    )
    pages = {
        "of-study": study_page(read_outcome(tmp_path), tmp_path),
        "of-sweep": sweep_page(swept, tmp_path / "sweep"),
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        look_right(browser, tmp_path / f"{name}.html")
        shown = browser.value(
            "[...document.querySelectorAll('.plot')].map(each => each.textContent).join('|')"
        )
        unbroken = "".join(shown.split())  # a name may go on in the next line, where its blank was
        for written in (near, far, *(["<em>way</em>", "<q>ns"] if name == "of-study" else [])):
            assert "".join(written.split()) in unbroken
        assert browser.value("document.querySelectorAll('main :is(i, b, u, s, em, q, img)').length") == 0


def test_the_course_of_tasks_is_a_bar_for_each_on_the_row_of_who_did_it(
    browser: Browser, tmp_path: Path
) -> None:
    system = cx.System("Tasks", preset="esf/validation")
    graph = cx.TaskGraph()
    graph.object("weights", "64KiB")
    graph.processor("cores", 1e12)
    before = []
    for layer in range(3):
        load = graph.kernel(f"load {layer}", "host", reads=["weights"])
        before = [graph.compute(f"layer {layer}", "cores", time="2us", after=[load, *before])]
    system.tasks(**graph.section())
    result = cx.run(without_work(system), out=tmp_path / "results")
    file = tmp_path / "report.html"
    file.write_text(run_page(result, tmp_path / "results"), encoding="utf-8")
    browser.open(file)
    assert browser.said == []
    browser.wait("document.querySelectorAll('#gantt .bars rect').length === 6")
    browser.hover("#gantt .bars rect")
    browser.wait(f"{TOLD} !== ''")
    assert browser.value(TOLD) == "layer 0: 2.00 us, after load 0"
    rows = browser.value("[...document.querySelectorAll('#gantt .axes .last')].map(tick => tick.textContent)")
    assert sorted(rows) == ["cores", "host"]
    assert browser.value("document.querySelector('#tasks').textContent").count("layer 2") >= 2
    look_right(browser, file)


def without_work(system: cx.System) -> cx.System:
    """The same, but its host has tasks to do instead, which have no warm-up."""
    spec = {key: value for key, value in system.resolve().plain().items() if key != "workload"}
    return cx.System.from_yaml(json.dumps(spec | {"run": {"seed": 1}}))
