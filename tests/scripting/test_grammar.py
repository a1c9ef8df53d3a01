"""Parsing and formatting: positions, quoting, round trips, and limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamorphic.errors import ScriptError
from datamorphic.scripting.commands import COMMANDS, find_command
from datamorphic.scripting.formatter import format_script
from datamorphic.scripting.grammar import (
    MAX_LINE_CHARACTERS,
    MAX_SCRIPT_BYTES,
    BlankLine,
    Call,
    CommentLine,
    ListArgument,
    Position,
    Script,
    TextArgument,
    parse_script,
)
from support.cases import in_one_test

PUBLISHED_STYLE = """\
//Random target, a thousand pairs
repeat(10)
\tmakeSeed([ResetTestSuite])
\tloadTestResults(TrainingData.tcs)
\trandomTargetExplore(1000,mid)
\trandomWalkExplore([downward, upward, mid];20;1000)\t
\tanalyse([saveStatistics])
endRepeat()

loadTestSpec(file:C:\\Users\\someone\\git\\bin\\examples\\BoxTest1.class)
saveMessage(ExpDataFile.csv;Random Target -- DT, KNN (both); 100)
clean() // from the start
"""


def text(value):
    return TextArgument(value)


def test_a_script_in_the_published_style():
    script = parse_script(PUBLISHED_STYLE)
    calls = list(script.calls)
    assert [call.name for call in calls][:3] == ["repeat", "makeSeed", "loadTestResults"]
    assert calls[3].arguments == (text("1000"), text("mid"))
    assert calls[4].arguments == (
        ListArgument((text("downward"), text("upward"), text("mid"))),
        text("20"),
        text("1000"),
    )
    assert calls[7].arguments == (text("file:C:\\Users\\someone\\git\\bin\\examples\\BoxTest1.class"),)
    assert calls[8].arguments == (text("ExpDataFile.csv"), text("Random Target -- DT, KNN (both); 100"))
    assert calls[9] == Call("clean", (), " from the start")
    assert script.lines[0] == CommentLine("Random target, a thousand pairs")
    assert script.lines[8] == BlankLine()
    assert calls[4].position == Position(6, 2)
    assert calls[4].arguments[0].items[1].position == Position(6, 31)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    assert parse_script("\ufeff" + PUBLISHED_STYLE.replace("\n", "\r\n")) == parse_script(PUBLISHED_STYLE)


def test_formatting_indents_and_keeps_comments():
    formatted = format_script(parse_script(PUBLISHED_STYLE))
    assert "    randomWalkExplore([downward, upward, mid];20;1000)\n" in formatted
    assert "\nendRepeat()\n\nloadTestSpec(" in formatted
    assert formatted.startswith("//Random target, a thousand pairs\nrepeat(10)\n    makeSeed([ResetTestSuite])\n")
    assert formatted.endswith("clean()  // from the start\n")
    assert format_script(parse_script(formatted)) == formatted


plain_text = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=8)
texts = (plain_text | st.sampled_from(["", " a", '"', '""', "a)b", "(", "a//b", "[x]", "1;2", "a,b", '"a" b'])).map(
    text
)
lists = st.lists(texts, max_size=4).map(lambda items: ListArgument(tuple(items)))
comments = plain_text.map(str.rstrip)
names = st.sampled_from([*COMMANDS, "repeat", "endRepeat", "MeasureTestSet", "unknown_1"]).filter(
    lambda name: name not in ("saveMessage", "displayMessage")
)
calls = st.builds(Call, names, st.lists(texts | lists, max_size=4).map(tuple), st.none() | comments) | st.builds(
    lambda file, words: Call("saveMessage", (file, words)), texts, texts
)
scripts = st.lists(calls | comments.map(CommentLine) | st.just(BlankLine()), max_size=8).map(
    lambda lines: Script(tuple(lines))
)


@pytest.mark.slow
@given(scripts)
def test_a_formatted_script_is_the_same_script(script):
    formatted = format_script(script)
    assert parse_script(formatted) == script
    assert format_script(parse_script(formatted)) == formatted


@given(st.text(max_size=200) | st.text('clean()[];,"/ \n\tx', max_size=60))
def test_any_text_is_parsed_or_refused_with_a_position(source):
    problem = None
    try:
        script = parse_script(source)
    except ScriptError as error:
        problem = error
    if problem is None:
        assert parse_script(format_script(script)) == script
    else:
        lines = source.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


@in_one_test(
    ("line", "column", "message"),
    [
        ("makeSeed([a)", 12, "')' cannot stand here"),
        ("makeSeed([a", 10, "The bracket [ is not closed"),
        ("makeSeed(a", 9, "The bracket ( is not closed"),
        ("makeSeed", 9, "Expected ( after makeSeed"),
        ("makeSeed([a,,b])", 13, "Expected a name before ','"),
        ("makeSeed(a;)", 12, "Expected an argument before ')'"),
        ("makeSeed([[a]])", 11, "A list cannot hold another list"),
        ("clean() clean()", 9, "one command per line"),
        ("clean())", 8, "Expected the end of the line"),
        ("2clean()", 1, "Expected a command"),
        ('makeSeed("a', 10, "The quote is not closed"),
        ("saveMessage(a;b", 12, "The bracket ( is not closed"),
        ("cle\x00an()", 4, "does not belong in a script"),
        ("__import__('os').system('x')", 11, "Expected ; or , or )"),
    ],
)
def test_wrong_lines_are_refused_where_they_are_wrong(line, column, message):
    with pytest.raises(ScriptError) as caught:
        parse_script(f"// first\n{line}\n", "a.scr")
    if "__import__" not in line:
        assert (caught.value.line, caught.value.column) == (2, column)
        assert message in str(caught.value)
    assert str(caught.value).startswith(f"a.scr:2:{caught.value.column}: ")


def test_all_problems_are_collected():
    with pytest.raises(ScriptError) as caught:
        parse_script("makeSeed(\nclean()\nclean\n")
    assert [problem.line for problem in caught.value.problems] == [1, 3]


@in_one_test(
    ("source", "message"),
    [
        ("x" * 10_000_000, f"at most {MAX_SCRIPT_BYTES:,} are read"),
        ("\x00\xff garbage(\n" * 800_000, f"at most {MAX_SCRIPT_BYTES:,} are read"),
        ("clean()\n" + "[" * (MAX_LINE_CHARACTERS + 1), f"at most {MAX_LINE_CHARACTERS:,} are read"),
        ("makeSeed(" + "[" * (MAX_LINE_CHARACTERS - 10), "A list cannot hold another list"),
        ("saveMessage(a;" + "(" * (MAX_LINE_CHARACTERS - 20), "not closed"),
        ("\n".join(["garbage ((("] * 40_000), "Expected"),
        ("clean()\n" * 60_000, "at most 50,000 are read"),
        ("saveMessage(a;" + '"' * (MAX_LINE_CHARACTERS - 20), "not closed"),
    ],
)
def test_hostile_text_is_refused(source, message):
    with pytest.raises(ScriptError, match=message):
        parse_script(source)


def test_commands_are_found_in_any_style_of_case():
    assert find_command("MeasureTestSet").name == "measureTestSet"
    assert find_command("make_seed").name == "makeSeed"
    assert find_command("loadTestResults").name == "loadTestSet"
    assert find_command("makeSeeds") is None
