"""Pages as text for a terminal."""

from __future__ import annotations

import sys

from datamorphic.reporting.document import Meter, Page, Section, Snippet, Table
from datamorphic.reporting.terminal import format_page


def render(*sections, width=60, **fields):
    return format_page(Page(title="A page", lead="", sections=sections, **fields), width).splitlines()


def test_the_first_line_is_the_verdict_as_a_whole():
    verdict = "No fault was found by any of the checks. " * 4
    assert render(subject="model", verdict=verdict)[0] == f"model: {verdict.strip()}"
    assert render(verdict="Good.") == ["Good."]
    assert render() == ["A page"]


def test_facts_are_aligned_and_do_not_repeat_the_subject():
    facts = [("System", "Box 1"), ("Seed", "0"), ("Notes", "• one\n• two")]
    assert render(subject="Box 1", verdict="Good.", facts=facts) == [
        *["Box 1: Good.", "Seed:  0", "Notes: - one", "       - two"]
    ]


def test_texts_are_wrapped_below_their_heading():
    lines = render(Section(heading="Why", text=f"{'word ' * 20}\n• {'item ' * 20}", badge="fault"))
    assert lines[2] == "FAULT: Why"
    assert all(line.startswith("  word") and len(line) <= 60 for line in lines[3:5])
    assert lines[5].startswith("  - item")
    assert lines[6].startswith("    item")


def test_a_name_with_a_line_break_cannot_look_like_a_finding():
    table = Table(columns=["a"], rows=[["x\nFAULT: forged"]])
    lines = render(Section(heading="One\nFAULT: forged", text="\x1b[31mred", table=table))
    assert not any(line.startswith("FAULT") for line in lines)
    assert "\x1b" not in "".join(lines)


def test_tables_show_their_main_columns_and_rows():
    rows = [[f"r{number}", str(number), "long"] for number in range(1, 13)]
    table = Table(columns=["name", "count", "why"], rows=rows, main_columns=["name", "count"], main_rows=11)
    lines = render(Section(heading="", text="", table=table))
    assert lines[2:4] == ["name  count", "r1        1"]  # numbers are right-aligned
    assert lines[-2:] == ["r11      11", "and 1 more"]


def test_headings_of_columns_are_wrapped_before_cells():
    table = Table(columns=["relation", "a heading that is far too long for its column"], rows=[["x" * 20, "y " * 10]])
    lines = render(Section(heading="", text="", table=table), width=45)
    assert all(len(line) <= 45 for line in lines)
    assert lines[-1] == f"{'x' * 20}  {'y ' * 10}".rstrip()


def test_meters_parts_and_commands_are_shown():
    part = Section(heading="An example", text="x = 1")
    section = Section(
        heading="Finding",
        text="",
        meters=[Meter(label="How sure", share=1.0, text="certain")],
        again="datamorphic test model.skops",
        parts=[part],
    )
    assert render(section)[2:] == [
        *["Finding", "  How sure: certain", "  Repeat: datamorphic test model.skops", "", "  An example", "    x = 1"]
    ]


def test_the_width_is_that_of_a_narrow_terminal(monkeypatch):
    page = Page(title="A page", lead="", sections=[Section(heading="Why", text="word " * 40)])

    def find_longest_line():
        return max(map(len, format_page(page).splitlines()))

    assert 90 < find_longest_line() <= 100
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    assert 50 < find_longest_line() <= 60
    monkeypatch.setenv("COLUMNS", "300")
    assert 90 < find_longest_line() <= 100


def test_snippets_keep_their_lines():
    snippet = Snippet(label="As code", text="if x:\n    y = 1\x1b")
    assert render(Section(heading="Example", text="", snippets=[snippet]))[2:] == [
        *["Example", "  As code:", "    if x:", "        y = 1�"]
    ]


def test_texts_are_translated_before_they_are_wrapped():
    section = Section(heading="Why", text=f"{'word ' * 10}In Python: {'word ' * 10}")
    page = Page(title="A page", lead="", sections=[section])
    text = format_page(page, 60, translate=lambda text: text.partition("In Python")[0])
    assert text.split("\n")[2:] == ["Why", f"  {'word ' * 10}".rstrip()]
