"""Java test specifications of Morphy: what their drafts contain, and that no text of theirs becomes code."""

from __future__ import annotations

import ast
import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import TestSystemError, UsageError
from datamorphic.morphisms.java_specs import MAX_SPEC_CHARACTERS, draft_java_spec, read_java_class

CORNERS = r"""
package demo; // class Wrong {
import morphy.annotations.*;
/* class AlsoWrong { @Datamorphism */
public class Corners extends Moves<String, Integer> {
    static { System.out.println("} \" {"); }
    enum Colour { red, black; Colour next() { return red; } }
    @TestSetContainer(inputTypeName = "TwoD", outputTypeName = "Colour")
    public TestPool<TwoD, Colour> testSuite = new TestPool<TwoD, Colour>() {{ add('}'); }};
    @MakeSeed public void randomSeeds() { new Random(); /* } */ }
    @Datamorphism(filter = "tooClose")
    public TestCase<TwoD, Colour> mid(final TestCase<TwoD, Colour> x1, TestCase<TwoD, Colour> x2) {
        String text = "} // not a comment"; char brace = '{'; char quote = '\'';
        return null; // }
    }
    @morphy.annotations.Datamorphism
    public TestCase<Map<String, List<Integer>>, Colour> in(TestCase<TwoD, Colour> seed) throws Exception {
        return seed.input.x;
    }
    @Metamorphism(applicableTestCase = "mutant", applicableDatamorphism = "mid", message = "say \"x\"; " + "import os #")
    public boolean between(TestCase<TwoD, Colour> tc) { tc.getOrigins(); return true; }
    @Metamorphism(applicableTestCase = "all", applicableDatamorphism = "unknown")
    public boolean other(TestCase<TwoD, Colour> tc) { return true; }
    @TestCaseFilter public Boolean tooClose(TestCase<TwoD, Colour> x) { return false; }
    @TestCaseMetric public double distance(TestCase<TwoD, Colour> x) { return 0; }
    @TestSetMetric public double size() { return 0; }
    @TestSetFilter public void sparse() { }
    @TestExecuter public Colour first(TwoD point) { return point.y > 0 ? null : null; }
    @TestExecuter public Colour second(TwoD point) { return null; }
    @Analyser public void save() { }
    private int helper(int n) { return n; }
}
"""
MOVES = """
public class Moves<A, B> {
    @Datamorphism
    public TestCase<TwoD, Colour> upward(TestCase<TwoD, Colour> seed) { return seed.input.y + 0.2; }
}
"""


def write_spec(folder, **sources):
    for name, source in sources.items():
        (folder / f"{name}.java").write_text(source, encoding="utf-8")
    return folder / f"{next(iter(sources))}.java"


def load_draft(path, tmp_path):
    draft = draft_java_spec(path)
    file = tmp_path / "spec_draft.py"
    file.write_text(draft.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("spec_draft", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dm.TestSystem.collect(getattr(module, draft.name)), draft


def test_a_draft_has_the_morphisms_of_the_java_class(tmp_path):
    system, draft = load_draft(write_spec(tmp_path, Corners=CORNERS, Moves=MOVES), tmp_path)
    assert system.name == draft.name == "Corners"
    assert {name: m.arity for name, m in system.datamorphisms.items()} == {"mid": 2, "in_": 1, "upward": 1}
    assert list(system.seed_makers) == ["randomSeeds"]
    assert (list(system.case_metrics), list(system.case_filters)) == (["distance"], ["tooClose"])
    assert (list(system.set_metrics), list(system.set_filters)) == (["size"], ["sparse"])
    assert list(system.analysers) == ["save"]
    assert system.sut.name == "Corners.second"  # the last: a test system has one
    assert system.datamorphisms["mid"].mark.filter == "tooClose"
    between = system.metamorphisms["between"]
    assert between.arity == 3  # the case and, because the code asks for origins, both origins of mid
    assert (between.mark.of, between.mark.applies_to, between.mark.message) == ("mid", "mutant", 'say "x"; import os #')
    other = system.metamorphisms["other"]
    assert (other.arity, other.mark.of, other.mark.applies_to) == (1, None, None)
    kinds = {kind: set(names) for kind, names in draft.morphisms.items()}
    assert kinds["datamorphism"] == {"mid", "in_", "upward"}


def test_the_java_code_is_beside_each_morphism_as_comments(tmp_path):
    path = write_spec(tmp_path, Corners=CORNERS, Moves=MOVES)
    text = dm.TestSystem.draft_from_java(path)
    assert "        # String text = \"} // not a comment\"; char brace = '{'; char quote = '\\'';\n" in text
    assert "    # private int helper(int n) { return n; }" in text
    assert "# Fields of an input in the Java code: x, y." in text
    assert "line 12" in text
    assert "It applies to unknown, which is not a datamorphism of these classes." in text
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    names = {ast.unparse(call.func) for call in calls}
    assert names <= {"NotImplementedError", *(f"dm.{kind}" for kind in ("datamorphism", "metamorphism"))} | {
        f"dm.{kind}" for kind in ("case_filter", "case_metric", "executor")
    }


def test_a_morphism_says_that_it_is_not_translated(tmp_path):
    system, _ = load_draft(write_spec(tmp_path, Moves=MOVES), tmp_path)
    with pytest.raises(TestSystemError, match="upward is not translated from Java yet"):
        system.datamorphisms["upward"].call({"y": 1.0})


def test_a_superclass_that_is_missing_is_named(tmp_path):
    text = dm.TestSystem.draft_from_java(write_spec(tmp_path, Corners=CORNERS))
    assert "The Java class extends Moves, whose source is not in its folder." in text


def test_names_that_python_reserves_are_changed(tmp_path):
    source = """class A {
        @Datamorphism T dm(T rng, T rng, T self) { }
        @Datamorphism T __x(T lambda) { }
        @Datamorphism T up(T a) { }
        @Datamorphism T up(T a, T b) { }
        @TestSetMetric double space() { }
        @TestCaseMetric double wrong(T a, T b) { }
    }"""
    system, draft = load_draft(write_spec(tmp_path, A=source), tmp_path)
    assert {name: m.arity for name, m in system.datamorphisms.items()} == {"dm_": 3, "java__x": 1, "up": 1, "up_2": 2}
    assert list(system.set_metrics) == ["space_"]
    assert not system.case_metrics
    assert "This is no case_metric, which takes the test cases." in draft.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            CORNERS[:900].encode(),
            r"Bad.java, line \d+, has a '\{' that is never closed: the file is not Java, or was cut off",
        ),
        (CORNERS[: CORNERS.index('("} ') + 4].encode(), "line 6, has an unterminated string or comment"),
        (b"class A { /* @Datamorphism", "line 1, has an unterminated string or comment"),
        (b'class A { String s = """ text', "line 1, has an unterminated string or comment"),
        (b"def up(frame):\n    return frame\n", "Bad.java has no Java class"),
        (b"", "Bad.java has no Java class"),
        (b"class A { }", "The class A of Bad.java has no test morphisms"),
        (b"class A", "has the class A without a body"),
        (b"\xca\xfe\xba\xbe\0\0\0class A { }", "Give the .java file, not the compiled class"),
        (b"x" * (MAX_SPEC_CHARACTERS + 1), "Bad.java has more than 500,000 characters"),
    ],
)
def test_files_that_are_no_specification_are_refused(tmp_path, content, message):
    path = tmp_path / "Bad.java"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        draft_java_spec(path)


def test_every_cut_file_is_refused_or_read(tmp_path):
    path = tmp_path / "Corners.java"
    outcomes = set()
    for end in range(0, len(CORNERS), 7):
        path.write_text(CORNERS[:end], encoding="utf-8")
        try:
            draft_java_spec(path)
            outcomes.add(None)
        except UsageError:
            outcomes.add(UsageError)
    assert outcomes == {UsageError}  # the last brace is what makes it a class


@pytest.mark.parametrize(
    "unit", ["{", "(", "@a(", '"a"', "class A { ", "/**/", "<", "a.", '"""a"""', "@X void f() { } "]
)
def test_large_files_are_read_in_little_time(tmp_path, unit):
    path = tmp_path / "A.java"
    body = unit * (MAX_SPEC_CHARACTERS // len(unit) - 20)
    path.write_text("class A { " + body + " }", encoding="utf-8")
    with pytest.raises(UsageError):
        draft_java_spec(path)  # quadratic work would take hours


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"Missing\.java cannot be read: No such file"):
        draft_java_spec(tmp_path / "Missing.java")


@given(
    st.lists(
        st.sampled_from([*"{}();@=\"'/*\\,. \u2028\r", "class A {", "@Datamorphism ", '"""', "T f(T a) {", "}}", "\n"]),
        max_size=30,
    ).map("".join)
)
def test_any_text_gives_valid_python_or_a_message(tmp_path_factory, middle):
    path = tmp_path_factory.mktemp("java") / "A.java"
    path.write_text(f"class A {{ @Datamorphism T g(T a) {{ {middle} }} }}", encoding="utf-8", newline="")
    try:
        text = draft_java_spec(path).text
    except UsageError:
        return
    tree = ast.parse(text)
    assert {type(node) for node in tree.body} == {ast.Expr, ast.Import, ast.ClassDef}


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "Moves.java"
    path.write_bytes(b"\xef\xbb\xbf" + MOVES.replace("\n", "\r\n").encode())
    assert [method.name for method in read_java_class(path).methods] == ["upward"]


def test_the_command_writes_the_draft(tmp_path):
    path = write_spec(tmp_path, Corners=CORNERS, Moves=MOVES)
    out = tmp_path / "corners_spec.py"
    result = CliRunner().invoke(app, ["init", str(path), "--out", str(out)])
    assert result.exit_code == 0
    assert "the test system Corners, drafted from Java" in result.output
    assert "3 datamorphisms: upward, mid, in_" in result.output
    assert out.read_text(encoding="utf-8") == dm.TestSystem.draft_from_java(path)
    again = CliRunner().invoke(app, ["init", str(path), "--out", str(out)])
    assert again.exit_code == 2
    as_json = CliRunner().invoke(app, ["init", str(path), "--out", str(out), "--force", "--json"])
    assert '"system": "corners_spec:Corners"' in as_json.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{spec}", "data:iris"), "drafted without data"),
        (("{spec}", "--target", "y"), "drafted without data"),
        (("model.skops",), "Typical inputs of model.skops are missing"),
    ],
)
def test_the_command_says_what_does_not_fit(tmp_path, arguments, message):
    path = write_spec(tmp_path, Moves=MOVES)
    words = [argument.format(spec=path) for argument in arguments]
    result = CliRunner().invoke(app, ["init", *words, "--out", str(tmp_path / "out_spec.py")])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
