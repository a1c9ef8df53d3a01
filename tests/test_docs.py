"""All Python in the documentation runs, block after block, as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::datamorphic.errors.AmbiguousData")
def test_the_code_runs(page, capsys):
    code = blocks(page)
    assert code
    names = {}
    for number, block in enumerate(code):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    for line in re.findall(r"^# (midpoint: BROKEN.*)$", "".join(code), flags=re.MULTILINE):
        assert line in capsys.readouterr().out  # what the page says is printed is printed


def test_the_values_the_readme_states_are_so():
    names = {}
    for block in blocks(ROOT / "README.md"):
        exec(block, names)
        for call, stated in re.findall(r"^(space\.\S.*?\))\s+# (.+)$", block, flags=re.MULTILINE):
            assert repr(eval(call, names)) == stated
