"""The page: escaped, offline, and without errors in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from datamorphic.reports.html import render, write
from datamorphic.reports.summary import Line, Report, Section, Table

EVIL = "<script>document.title='owned'</script>"


@pytest.fixture
def evil_report():
    line = Line(EVIL, "step", "value", [0.1, 0.9], [EVIL, "b"], [EVIL, "two"])
    table = Table([EVIL], [[EVIL], [3]])
    return Report("A title", EVIL, [Section(EVIL, EVIL, "bad", table, line), Section("Plain", "text")])


def test_every_string_is_escaped_and_nothing_is_fetched(evil_report):
    page = render(evil_report)
    own = page[page.rindex("</style>") :]
    body = own[own.index("<body>") :]
    assert EVIL not in body
    assert "&lt;script&gt;" in body
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)\s*=""", page)


def test_a_report_without_pictures_needs_no_library():
    page = render(Report("Short", "Nothing to see.", [Section("One", "line")]))
    assert "<script" not in page
    assert len(page) < 10_000


@pytest.mark.skipif(not shutil.which("chromium"), reason="no browser: apt-get install chromium")
def test_the_page_works_in_a_browser(tmp_path, evil_report):
    file = write(evil_report, tmp_path / "deep" / "report.html")
    command = [
        shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=8000",
        "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "<title>A title</title>" in result.stdout  # the script in the texts did not run
    assert 'class="main-svg"' in result.stdout  # the picture was drawn
    assert "Uncaught" not in result.stderr
