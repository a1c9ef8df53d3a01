"""``datamorphic patterns`` as users and machines call it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)])


def test_patterns_are_listed_by_scope(run):
    result = run("patterns")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines.index("No restriction") < lines.index("Query-based systems") < lines.index("Numbers and tables")
    assert any(line.split()[:2] == ["Partition", "Difference"] for line in lines)


def test_a_pattern_is_explained_with_an_example(run):
    result = run("patterns", "query-meaning")
    assert result.exit_code == 0
    for text in ("QM1", "Similar (stated in section 6.3.3 of Ying 2024)", "knows no plurals", "search.SwapJD", "way"):
        assert text in result.stdout


def test_trees_in_the_terminal(run):
    result = run("patterns", "--tree")
    assert [line.split()[0] for line in result.stdout.splitlines() if line[:1].isupper()][:2] == ["Symmetry", "Sets"]
    assert run("patterns", "similar", "--tree").stdout.startswith("Similar")


def test_a_page_and_json(run, tmp_path):
    page = tmp_path / "patterns.html"
    result = run("patterns", "--html", page)
    assert result.exit_code == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    assert len(json.loads(run("patterns", "--json").stdout)["patterns"]) == 35
    document = json.loads(run("patterns", "Similar", "--tree", "--json").stdout)
    assert document["layers"][0] == ["Similar"]
    assert document["parents"][0] == {
        "name": "Symmetry",
        "inferred": False,
        "source": "stated in section 6.3.2 of Ying 2024",
    }


def test_an_unknown_pattern_gets_one_line(run):
    result = run("patterns", "Similarity")
    assert result.exit_code == 2
    assert "There is no pattern 'Similarity'. Did you mean 'Similar'" in result.stderr
