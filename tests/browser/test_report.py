"""The report as people use it: in a real Chromium, from files, by mouse and by keyboard."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from engine.records import Counterexample, Student
from engine.results import file_name
from tests.browser import chromium, classroom

pytestmark = pytest.mark.skipif(
    chromium.CHROMIUM is None or chromium.DRIVER is None, reason="no Chromium with its driver on this machine"
)

SIZE = 40


def hostile(result):
    """Return a submission whose every text tries to become part of the page."""
    text = classroom.HOSTILE
    first, *others = result.items
    example = Counterexample(f"softmax({text})", text, text)
    verdict = replace(first.checks[0].verdict, message=text, counterexample=example)
    checks = (replace(first.checks[0], verdict=verdict), *first.checks[1:])
    item = replace(
        first, checks=checks, diagnosis=text, explanation=text, written=(replace(first.written[0], text=text),)
    )
    return replace(
        result, id=text, items=(item, *others), students=(Student("1", text),), output=text, problems=(text,)
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    results = classroom.classroom(SIZE)
    classroom.write(folder, [*results[:-1], hostile(results[-1])])
    return folder / "report"


@pytest.fixture(scope="module")
def driver():
    with chromium.browser() as started:
        yield started


@pytest.fixture
def page(driver, report):
    """The overview, freshly opened; nothing but files was asked for, and nothing complained."""
    chromium.resize(driver, 1280)
    driver.get_log("browser")
    chromium.requests(driver)
    chromium.visit(driver, (report / "index.html").as_uri())
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] in {"WARNING", "SEVERE"}] == []
    asked = chromium.requests(driver)
    assert asked
    assert [address for address in asked if not address.startswith("file:///")] == []


def one(driver, selector):
    return driver.find_element("css selector", selector)


def every(driver, selector):
    return driver.find_elements("css selector", selector)


def shown(driver):
    """Return the ids of the rows that are not hidden, from top to bottom."""
    return driver.execute_script(
        "return [...document.querySelectorAll('.map tbody tr')].filter(r => !r.hidden).map(r => r.querySelector('a').textContent)"
    )


def column(driver, number):
    """Return the texts of a column of the rows that are not hidden."""
    return driver.execute_script(
        "return [...document.querySelectorAll('.map tbody tr')].filter(r => !r.hidden).map(r => r.cells[arguments[0]].textContent)",
        number,
    )


def choose(driver, name, value):
    from selenium.webdriver.support.select import Select

    Select(one(driver, f".tools [name={name}]")).select_by_value(value)


def press(driver, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def focused(driver):
    return driver.switch_to.active_element


# ── the overview ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_column_sorts_both_ways_and_says_so(page):
    heads = every(page, ".names th")
    heads[1].find_element("css selector", "button").click()
    scores = [float(text.split()[0]) for text in column(page, 1) if not text.startswith("–")]
    assert scores == sorted(scores)
    assert heads[1].get_attribute("aria-sort") == "ascending"
    heads[1].find_element("css selector", "button").click()
    again = [float(text.split()[0]) for text in column(page, 1) if not text.startswith("–")]
    assert again == scores[::-1]
    assert [head.get_attribute("aria-sort") for head in heads].count("descending") == 1
    assert len(shown(page)) == SIZE


def test_an_item_sorts_from_worst_to_best(page):
    every(page, ".names th")[4].find_element("css selector", "button").click()
    letters = column(page, 4)
    assert letters == sorted(letters, key="URTBKMWH·".index)
    assert len(set(letters)) > 2


def test_search_takes_ids_and_names(page):
    one(page, "[name=search]").send_keys("STUDENT_00")
    assert shown(page) == [f"student_{number:03}" for number in range(10)]
    assert one(page, "output").text == f"10 of {SIZE}"
    one(page, "[name=search]").clear()
    one(page, "[name=search]").send_keys("Student 007")
    assert shown(page) == ["student_007"]


def test_filters_go_together_and_can_be_taken_back(page):
    choose(page, "status", "waiting")
    waiting = shown(page)
    assert 0 < len(waiting) < SIZE
    assert all("waiting" in text for text in column(page, 3))
    choose(page, "of", "2")
    choose(page, "outcome", "!")
    both = shown(page)
    assert set(both) < set(waiting)
    assert "H" not in column(page, 4 + 2)
    one(page, ".tools [type=reset]").click()
    assert len(shown(page)) == SIZE


def test_a_mistake_leads_to_those_who_made_it(page):
    row = one(page, ".mistakes tbody tr")
    count = int(row.find_element("css selector", ".numeric").text)
    row.find_element("css selector", "button").click()
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(shown(page)) == count
    assert row.find_element("css selector", ".who a").text in shown(page)


def test_a_hard_item_leads_to_those_it_was_hard_for(page):
    button = every(page, ".filters[data-item] button")[0]
    item = button.text
    button.click()
    page.execute_async_script("setTimeout(arguments[0], 50)")
    place = next(n for n, head in enumerate(every(page, ".names th")) if head.get_attribute("data-id") == item)
    assert 0 < len(shown(page)) < SIZE
    assert "H" not in column(page, place)


def test_a_cell_leads_to_the_item_unfolded(page):
    cell = every(page, ".map tbody tr")[3].find_elements("css selector", "td")[3]
    cell.click()
    assert page.current_url.endswith("submissions/student_002.html#attention.softmax")
    assert one(page, "details:has([id='attention.softmax'])").get_attribute("open") is not None


def test_the_map_is_walked_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('.map td[tabindex]').focus()")
    press(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert focused(page).get_attribute("aria-label").startswith("attention.dot_product_attention: ")
    assert len(every(page, ".map tbody td[tabindex]")) == 1
    press(page, Keys.ENTER)
    assert page.current_url.endswith("submissions/student_001.html#attention.dot_product_attention")


def test_the_first_tab_offers_to_skip_to_the_content(page):
    from selenium.webdriver.common.keys import Keys

    press(page, Keys.TAB)
    assert focused(page).get_attribute("class") == "skip"
    assert focused(page).rect["x"] >= 0
    press(page, Keys.TAB)
    style = "const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth"
    assert page.execute_script(style) == "solid2px"


def test_dark_is_a_switch_that_follows_along_links(page):
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(paper)
    one(page, ".bar-top button").click()
    dark = page.execute_script(paper)
    assert dark != light
    one(page, ".map tbody a").click()
    assert page.execute_script(paper) == dark
    one(page, ".bar-top button").click()
    assert page.execute_script(paper) == light
    assert page.execute_script("return localStorage.length + sessionStorage.length + document.cookie.length") == 0


def test_a_system_that_is_dark_has_dark_pages(page):
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(paper)
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    assert page.execute_script(paper) != light
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_cells_are_cells_to_a_screen_reader(page):
    """The map is laid out without table layout; its meaning must stay a table's."""
    page.execute_script("document.querySelector('.map tbody').scrollIntoView()")
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    nodes = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
    assert roles.count("cell") > 500
    assert roles.count("columnheader") > 100
    assert roles.count("rowheader") > 10
    assert roles.count("main") == roles.count("banner") == 1


# ── every page ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["index.html", "submissions/student_000.html"])
def test_a_phone_does_not_scroll_sideways(page, report, place):
    chromium.resize(page, 390, 844)
    chromium.visit(page, (report / place).as_uri())
    page.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    wide = "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
    assert page.execute_script(wide) == 0


def test_what_students_wrote_stays_text(page, report):
    from selenium.common.exceptions import NoAlertPresentException

    for place in ("index.html", None):
        name = f"submissions/{file_name(classroom.HOSTILE)}.html"
        chromium.visit(page, (report / (place or name)).as_uri())
        with pytest.raises(NoAlertPresentException):
            _ = page.switch_to.alert
        assert len(every(page, "img, iframe, object, embed")) == 0
        assert len(every(page, "script")) == 1
        assert classroom.HOSTILE in one(page, "body").get_attribute("textContent")


def test_the_hostile_row_leads_to_its_page(page):
    link = next(link for link in every(page, ".map tbody a") if link.text == classroom.HOSTILE)
    link.click()
    assert one(page, "h1").text == classroom.HOSTILE


# ── one submission ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_call_of_a_counterexample_can_be_copied(page, report):
    chromium.visit(page, (report / "submissions" / "student_000.html").as_uri())
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    button = one(page, ".copies button")
    button.click()
    page.execute_async_script("setTimeout(arguments[0], 100)")
    assert button.text == "Copied"
    pasted = "const done = arguments[0]; navigator.clipboard.readText().then(done, e => done(String(e)))"
    assert page.execute_async_script(pasted) == "softmax(np.array([1.0, 2.0]))"


def test_items_fold_and_unfold_together(page, report):
    chromium.visit(page, (report / "submissions" / "student_000.html").as_uri())
    close, total = every(page, ".folding button")[1], len(every(page, "details.item"))
    assert 0 < len(every(page, "details.item[open]")) < total
    close.click()
    assert len(every(page, "details.item[open]")) == 0
    every(page, ".folding button")[0].click()
    assert len(every(page, "details.item[open]")) == total


def test_pages_say_the_same_without_scripts(page, report):
    from selenium.webdriver.support.wait import WebDriverWait

    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get((report / "index.html").as_uri())
        WebDriverWait(page, 20).until(lambda _: len(every(page, ".map tbody tr")) == SIZE)
        assert not one(page, ".tools").is_displayed()
        assert not any(button.is_displayed() for button in every(page, "button"))
        one(page, ".map tbody a").click()
        assert len(every(page, "figure.plot svg")) > 0
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_page_prints_with_everything_unfolded(report, tmp_path):
    printed = tmp_path / "page.pdf"
    place = (report / "submissions" / "student_000.html").as_uri()
    command = [chromium.CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={printed}", place]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_size > 50_000
