"""The report, opened in a real browser without a window: what is shown, and how large."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.sight.test_report import report_of_a_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(BROWSERS)} is installed (Debian: chromium)"),
]

# Written into a copy of the page, which has no program of its own.
MEASURE = """<script>
const size = one => { const box = one.getBoundingClientRect(); return [box.width, box.height]; };
const all = (what, f) => [...document.querySelectorAll(what)].map(f);
window.onload = () => { document.body.dataset.measured = JSON.stringify({
  headings: all("h2", one => one.innerText),
  svg: all("svg", size),
  images: all("img", one => [one.naturalWidth, one.naturalHeight, ...size(one)]),
  rows: all("table", one => one.rows.length),
  width: document.documentElement.scrollWidth,
  loaded: performance.getEntriesByType("resource").map(one => one.name).filter(one => !one.startsWith("data:")),
}); };
</script>"""


def browse(page: Path, *options: str) -> str:
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={page.parent / 'profile'}",
            "--window-size=1100,2600",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout


def test_a_browser_shows_every_part(tmp_path: Path) -> None:
    page = tmp_path / "measured.html"
    page.write_text(report_of_a_run(tmp_path / "report.html").replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    found = re.search(r'data-measured="([^"]*)"', browse(page, "--dump-dom", "--virtual-time-budget=5000"))
    assert found is not None
    measured = json.loads(unescape(found[1]))
    assert measured["headings"][:3] == ["Result", "Curves", "Predictions"]
    assert len(measured["headings"]) == 8
    assert len(measured["svg"]) == 2
    assert all(width > 200 and height > 150 for width, height in measured["svg"])
    assert len(measured["images"]) == 8
    assert all(one[:2] == [2, 2] and one[2] == one[3] > 60 for one in measured["images"])
    assert measured["rows"][0] == 3  # a header and two epochs
    assert measured["width"] <= 1100  # nothing hangs over at the side
    assert measured["loaded"] == []


def test_a_browser_paints_it(tmp_path: Path) -> None:
    report_of_a_run(tmp_path / "report.html")
    browse(tmp_path / "report.html", f"--screenshot={tmp_path / 'shot.png'}", "--hide-scrollbars")
    with Image.open(tmp_path / "shot.png") as image:
        colours = np.asarray(image.convert("RGB")).reshape(-1, 3)
        assert image.size == (1100, 2600)
    for colour in ("2563a8", "c2571a", "3a7d44", "f5f6f8"):  # both lines of a curve, a right prediction, the ground
        wanted = np.frombuffer(bytes.fromhex(colour), np.uint8)
        assert (colours == wanted).all(1).sum() > 20, colour
