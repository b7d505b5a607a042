"""A real Chromium for the tests and for the measuring script; it may ask for files and for nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
VISIT_SECONDS = 20


@contextmanager
def browser(*, width: int = 1280, height: int = 900) -> Iterator[Any]:
    """Yield a fresh browser with an empty cache, its log of requests on."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        resize(driver, width, height)
        yield driver
    finally:
        driver.quit()


def resize(driver: Any, width: int, height: int = 900) -> None:
    """Give the page exactly this width: a window has one of its own below which it does not go."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def visit(driver: Any, address: str) -> None:
    """Open a page and wait until it is there: on a busy machine `get` may return on the page before."""
    from selenium.webdriver.support.wait import WebDriverWait

    there = "return document.readyState === 'complete' && document.URL"
    driver.get(address)
    WebDriverWait(driver, VISIT_SECONDS).until(lambda _: driver.execute_script(there) == address)


def requests(driver: Any) -> list[str]:
    """Return every address asked for since this was last called."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
