"""Measure how long the report of a large class takes to write and to open: `python -m tests.browser.open_times [SIZE]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.browser.chromium import browser
from tests.browser.classroom import classroom, write

LOADED = "const t = performance.getEntriesByType('navigation')[0]; return t.loadEventEnd"
PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"


def main(size: int) -> None:
    """Print seconds to write, and milliseconds until the load event and the first paint, each in a fresh browser."""
    with tempfile.TemporaryDirectory() as folder:
        results = classroom(size)
        items = len(results[0].items)
        started, used = time.perf_counter(), time.process_time()
        write(Path(folder), results)
        print(f"{size} submissions × {items} items: written in {time.perf_counter() - started:.1f} s "
              f"({time.process_time() - used:.1f} s of it computing)")  # fmt: skip
        report = Path(folder) / "report"
        for page in (report / "index.html", report / "submissions" / "student_000.html"):
            print(f"{page.name}: {page.stat().st_size / 2**20:.2f} MiB")
            for number in range(3):
                with browser() as driver:
                    driver.get(page.as_uri())
                    loaded, painted = driver.execute_script(LOADED), driver.execute_script(PAINTED)
                    print(
                        f"  cold start {number + 1}: load event after {loaded:.0f} ms, first paint after {painted:.0f} ms"
                    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
