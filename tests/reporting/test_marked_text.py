"""Texts with marked words."""

from __future__ import annotations

import pickle

from datamorphic.reporting.document import Page, Section, Table
from datamorphic.reporting.html import render_page
from datamorphic.reporting.markdown import format_page
from datamorphic.reporting.marked_text import MarkedText, has_several_words
from support.cases import in_one_test


@in_one_test(
    ("before", "after", "marked"),
    [
        ("A good film.", "A bad film.", "A [-good-]{+bad+} film."),
        ("A film.", "A very good film.", "A{+ very good+} film."),
        ("Do not go.", "Do go.", "Do[- not-] go."),
        ("same", "same", "same"),
        ("", "new words", "{+new words+}"),
        ("a b", "a  b", "a [-b-]{+ b+}"),
        ("שלום עולם", "שלום ילדה", "שלום [-עולם-]{+ילדה+}"),
    ],
)
def test_changed_words_are_marked(before, after, marked):
    text = MarkedText.compare(before, after)
    assert text == marked
    before_side, after_side = text.split_sides()
    assert "".join(piece for _, piece in before_side.pieces) == before
    assert "".join(piece for _, piece in after_side.pieces) == after
    again = pickle.loads(pickle.dumps(text))
    assert (again, again.pieces) == (text, text.pieces)


def test_html_is_escaped():
    text = MarkedText.compare("a <b>bold</b> word", "a <script>alert(1)</script> word\u202e")
    html = text.to_html()
    assert "<script" not in html
    assert "&lt;script&gt;" in html or "&lt;" in html
    assert "\u202e" not in html
    assert html.count("<del>") >= 1
    assert html.startswith('<bdi class="edits">')


def test_pages_show_marks():
    change = MarkedText.compare("a <i>good</i> film", "a <i>bad</i> film")
    page = Page(
        title="t", lead="", sections=[Section(heading="h", text="", table=Table(columns=["c"], rows=[[change]]))]
    )
    html = render_page(page)
    assert "a &lt;i&gt;<del>good</del><ins>bad</ins>&lt;/i&gt; film" in html
    assert r"\[-good-\]\{+bad+\}" in format_page(page)


def test_a_changed_space_can_be_seen():
    assert "<ins>␣</ins>" in MarkedText([("same", "a"), ("add", " ")]).to_html()


def test_long_texts_show_the_words_around_the_change():
    text = MarkedText.compare("word " * 500 + "good" + " more" * 500, "word " * 500 + "bad" + " more" * 500)
    short = text.shorten(200)
    assert "[-good-]{+bad+}" in short
    assert len(short) < 250
    assert short.startswith("…")
    assert short.endswith("…")
    everything = MarkedText.compare(
        " ".join(f"a{i}" for i in range(900)), " ".join(f"b{i}" for i in range(900))
    ).shorten(300)
    assert len(everything) < 700


def test_words():
    assert has_several_words("two words")
    assert not has_several_words("one")
    assert not has_several_words(3)
