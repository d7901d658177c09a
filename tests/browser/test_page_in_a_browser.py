"""The report's page, opened in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.documents import BACKWARDS, HOSTILE, document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PHONE, DESK = 380, 1440
OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"


def opened(browser: Browser, url: str, width: int = DESK, **more: Any) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900}, **more)
    page.goto(url)
    return page


@pytest.mark.parametrize(
    ("name", "scheme"), [("rich", "light"), ("rich", "dark"), ("bare", "light"), ("hostile", "dark")]
)
def test_it_fetches_nothing_and_the_console_stays_silent(
    browser: Browser, address: Callable[[str], str], name: str, scheme: Any
) -> None:
    url = address(name)
    page = browser.new_page(viewport={"width": DESK, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.evaluate(OPEN_ALL)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.close()
    assert said == []
    assert [each for each in asked if not each.startswith("data:")] == [url]


@pytest.mark.parametrize("name", ["rich", "bare", "hostile", "thousand-pairs"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_runs_over_the_page_s_edge(
    browser: Browser, address: Callable[[str], str], name: str, width: int
) -> None:
    page = opened(browser, address(name), width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    outside = page.evaluate(
        """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, p, dd, dt, li, summary, svg, svg text, .hatched')]
             .filter(each => { const box = each.getBoundingClientRect();
                               return box.width && (box.left < -1 || box.right > innerWidth + 1); })
             .map(each => each.outerHTML.slice(0, 200))"""
    )
    page.close()
    assert outside == []


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_every_figure_is_an_image_with_words_and_has_its_table(
    browser: Browser, address: Callable[[str], str], width: int
) -> None:
    page = opened(browser, address("rich"), width)
    page.evaluate(OPEN_ALL)
    figures = page.evaluate(
        """() => [...document.querySelectorAll('figure:not(.absent)')].map(each => ({
             id: each.id,
             heading: each.querySelector('h3, h5').textContent.trim(),
             roles: [...each.querySelectorAll('svg')].map(svg => svg.getAttribute('role')),
             named: [...each.querySelectorAll('svg')].every(svg =>
               svg.getAttribute('aria-labelledby').split(' ').every(id =>
                 svg.contains(document.getElementById(id)) && document.getElementById(id).textContent.length > 3)),
             shown: [...each.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 200).length,
             marks: each.querySelectorAll('svg path, svg line, svg text').length,
             rows: each.querySelectorAll('table tbody tr').length,
             heads: [...each.querySelectorAll('table')].every(table => table.caption &&
               [...table.querySelectorAll('th')].every(th => th.scope)),
           }))"""
    )
    doubled = page.evaluate(
        """() => { const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
                   return ids.filter((id, place) => ids.indexOf(id) !== place); }"""
    )
    page.close()
    assert doubled == []
    by_id = {figure["id"]: figure for figure in figures}
    assert {"runs", "cues", "deterministic-1", "deterministic-2", "qualitative", "g1-coverage"} <= set(by_id)
    measured = document("rich")["agent_evidence"]["groups"][0]["metrics"]
    complete = [name for name, each in measured.items() if each["coverage"]["complete"]]
    assert sum(name.startswith("g1-pairs-") for name in by_id) == len(complete)
    assert {figure["heading"] for figure in figures} >= {
        "Maintenance runs over time",
        "Total tokens",
        "Agent run time",
        "Total tokens: total over consumers",
        "Agent run time: total over consumers",
    }
    for figure in figures:
        assert set(figure["roles"]) == {"img"}, figure
        assert figure["named"], figure
        assert figure["shown"] == 1, figure
        assert figure["marks"] > 3, figure
        assert figure["rows"] > 0, figure
        assert figure["heads"], figure


CONTRAST = """() => {
  const linear = c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const ground = each => {
    for (; each; each = each.parentElement) {
      const color = numbers(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 0, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, each = node.parentElement;
    if (!node.textContent.trim() || each.closest('title, desc, .skip') || !each.getClientRects().length) continue;
    const style = getComputedStyle(each);
    const ink = numbers(each.closest('svg') ? style.fill : style.color), paper = ground(each);
    const [a, b] = [luminance(ink), luminance(paper)].sort((x, y) => y - x);
    const ratio = ink.length < 3 ? 0 : (a + .05) / (b + .05);
    found.push({ratio, text: node.textContent.trim().slice(0, 40), ink, paper});
  }
  return found; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Browser, address: Callable[[str], str], scheme: Any) -> None:
    grounds = set()
    for name in ("rich", "bare"):
        page = opened(browser, address(name), color_scheme=scheme)
        page.evaluate(OPEN_ALL)
        texts = page.evaluate(CONTRAST)
        page.close()
        assert len(texts) > 100
        assert [each for each in texts if each["ratio"] < 4.5] == []
        grounds |= {sum(each["paper"]) > 3 * 128 for each in texts}
    assert grounds == {scheme == "light"}


def test_it_is_whole_without_scripts(browser: Browser, address: Callable[[str], str]) -> None:
    page = opened(browser, address("rich"), java_script_enabled=False)
    assert page.locator("script").count() == 0
    summary = page.locator("#runs summary")
    table = page.locator("#runs table")
    assert not table.is_visible()
    summary.click()
    assert table.is_visible()
    assert page.locator("#g1-totals-0 svg:visible").count() == 1
    page.close()


def test_print_shows_every_table_on_white(browser: Browser, address: Callable[[str], str]) -> None:
    page = opened(browser, address("rich"), 690, color_scheme="dark")
    page.emulate_media(media="print")
    hidden = page.evaluate("[...document.querySelectorAll('table')].filter(each => !each.checkVisibility()).length")
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('table')].map(each => each.getBoundingClientRect().right))"
    )
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()
    assert hidden == 0
    assert widest <= 691
    assert ground == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_without_evidence_it_says_so_and_speaks_of_no_saving(
    browser: Browser, address: Callable[[str], str], width: int
) -> None:
    page = opened(browser, address("bare"), width)
    page.evaluate(OPEN_ALL)
    evidence = page.locator("#evidence")
    panel = page.locator("#evidence .hatched")
    text = page.locator("body").inner_text().lower()
    assert panel.is_visible()
    assert "not observed" in panel.inner_text().lower()
    assert evidence.locator("svg").count() == 0
    assert page.locator("#deterministic .hatched").is_visible()
    assert page.locator("#qualitative .hatched").is_visible()
    for word in ("saving", "saved", "break-even", "cheaper", "needed less", "consumers"):
        assert word not in text
    page.close()


def test_hostile_names_are_only_text(browser: Browser, address: Callable[[str], str]) -> None:
    page = opened(browser, address("hostile"))
    assert page.title() == f"{HOSTILE} · RepoCue report"
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("img, script, iframe, object, link[rel=stylesheet]").count() == 0
    page.evaluate(OPEN_ALL)
    text = page.locator("body").inner_text()
    assert "good\\u202eevil\\x07\\x00" in text
    assert not set(BACKWARDS) & {"\u202e", "\x07", "\x00"} & set(page.content())
    assert any(HOSTILE in each for each in page.locator("svg desc").all_text_contents())
    page.close()


def test_a_thousand_pairs_stay_readable(browser: Browser, address: Callable[[str], str]) -> None:
    page = opened(browser, address("thousand-pairs"))
    page.evaluate(OPEN_ALL)
    sizes = page.evaluate("[...document.querySelectorAll('figure')].map(each => each.querySelectorAll('*').length)")
    counts = page.evaluate(
        "[...document.querySelectorAll('#g1-pairs-0 td:last-child data')].map(each => Number(each.value))"
    )
    text = page.locator("#g1-pairs-0").inner_text()
    page.close()
    assert max(sizes) < 2500
    assert sum(counts) == 1000
    assert "1,000 pairs are too many for a row each" in text
