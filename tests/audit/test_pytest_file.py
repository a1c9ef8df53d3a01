"""Results pinned as files of tests: they pass as they are written, and tell what changes."""

from __future__ import annotations

import ast
import os
import pickle
from dataclasses import replace

import _pytest.stepwise  # noqa: F401
import hypothesis  # noqa: F401  # what runs of pytest inside this one need is loaded once, outside
import numpy as np
import pandas as pd
import pyarrow.parquet  # noqa: F401
import pytest
import sklearn.naive_bayes

import datamorphic as dm
import datamorphic.audit.run  # runs of pytest inside this one drop modules that are imported later
from datamorphic.audit.outcome import Outcome
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import Example, Finding
from datamorphic.errors import UsageError
from datamorphic.reporting.python_code import format_comment, format_literal
from datamorphic.runs.flow import Budget

pytest_plugins = ["pytester"]

FEW = ("answers", "repeats", "row order", "protected", "borders")


class ByGender:
    """A model with a fault: it looks at the gender."""

    def predict(self, frame):
        return np.where(frame.income + 10 * (frame.gender == "m") > 50, "yes", "no")


class ByIncome:
    """The same model, fixed."""

    def predict(self, frame):
        return np.where(frame.income > 50, "yes", "no")


def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"income": rng.uniform(0, 100, 60).round(1), "gender": rng.choice(["f", "m"], 60), "label": ["no"] * 60}
    )


def outcome(check="protected", state="passed", findings=(), **more):
    return Outcome(check=check, asks="Is it so?", state=state, findings=tuple(findings), **more)


def finding(**about):
    default = {
        "check": "protected",
        "about": "gender",
        "title": "The decision depends on gender",
        "level": "fault",
        "confidence": 1.0,
        "detail": "3 of 9 cases.",
        "remedy": "Leave it out.",
    }
    return Finding(**default | about)


def result_of(*outcomes, **about):
    default = {
        "subject": "Model",
        "kind": "a classifier, fitted",
        "data": "9 inputs",
        "outcomes": outcomes,
        "seed": 0,
        "budget": "60 s",
        "seconds": 1.0,
        "calls": 9,
    }
    return AuditResult(**default | about)


@pytest.fixture
def folder(pytester, monkeypatch):
    """A folder with a model, data, and the words of a command that tested them there."""
    people().to_csv("people.csv", index=False)
    pytester.makepyfile(
        models="""
        import numpy as np

        class ByGender:
            WEIGHT = 10

            def predict(self, frame):
                return np.where(frame.income + self.WEIGHT * (frame.gender == "m") > 50, "yes", "no")

        MODEL = ByGender()
    """
    )
    words = {
        "from_files": True,
        "model": "models:MODEL",
        "data": "people.csv",
        "subject": None,
        "target": "label",
        "protected": ["gender"],
        "monotone": [],
        "invariant": [],
        "towards": None,
        "expect": None,
        "baseline": None,
        "trust": False,
    }
    return pytester.path, words


def checked_up(words):
    options = {"protected": words["protected"], "seed": 3, "only": FEW}
    return run_test(words, ByGender(), pd.read_csv("people.csv"), "label", **options)


def run_test(words, *arguments, **options):
    """Return the result of a test that was requested with these words."""
    return replace(dm.test(*arguments, budget="20s", **options), words=words)


# -- the whole loop --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pinned_tests_pass_and_report_changes(folder, pytester):
    path, words = folder
    result = checked_up(words)
    assert [item.check for item in result.findings] == ["protected"]
    file = result.to_pytest(path / "pinned" / "test_model.py")
    assert sorted(item.name for item in file.parent.iterdir()) == ["test_model.front.parquet", "test_model.py"]
    text = file.read_text(encoding="utf-8")
    assert 'attrgetter("MODEL")(import_module("models"))' in text
    assert 'pd.read_csv(HERE / "../people.csv")' in text
    assert str(path) not in text  # both folders may be moved
    assert result.to_pytest(path / "pinned" / "test_model.py").read_text(encoding="utf-8") == text

    def run():
        return pytester.runpytest_inprocess("-W", "error", "-ra", "-p", "no:cacheprovider", str(file))

    today = run()
    today.assert_outcomes(passed=6, xfailed=1)
    today.stdout.fnmatch_lines(["XFAIL *::test_protected_gender_is_fixed - The decision depends on gender"])
    models = path / "models.py"
    models.write_text(models.read_text().replace("WEIGHT = 10", "WEIGHT = 0"))
    fixed = run()
    fixed.assert_outcomes(passed=5, failed=2)  # the fault is fixed, and the border has moved: both are reported
    fixed.stdout.fnmatch_lines(
        ["*XPASS(strict)* The decision depends on gender*", "*The border of * differs from the baseline *"]
    )
    models.write_text(
        models.read_text()
        .replace("WEIGHT = 0", "calls = 0")
        .replace(
            "return np.where",
            "self.calls += 1\n        return np.full(len(frame), self.calls) if self.calls > 0 else np.where",
        )
    )
    worse = run()
    worse.stdout.fnmatch_lines(
        ["FAILED *::test_passing_checks_go_on_passing?repeats?*", "FAILED *::test_there_are_no_new_findings*"]
    )


@pytest.mark.slow
def test_files_of_models_and_learners(folder, pytester):
    path, words = folder
    learner = sklearn.naive_bayes.GaussianNB()
    frame = people().assign(label=np.where(people().income > 50, "yes", "no"))[["income", "label"]]
    frame.to_csv(path / "numbers.csv", index=False)
    (path / "model.pkl").write_bytes(pickle.dumps(learner))
    words |= {"model": "model.pkl", "data": "numbers.csv", "protected": [], "trust": True}
    result = run_test(words, learner, frame, "label", only=["repeats", "borders"])
    file = result.to_pytest(path / "test_learner.py")
    text = file.read_text(encoding="utf-8")
    assert "fitted" in text
    assert 'return load_model(HERE / "model.pkl", trust=True)' in text
    pytester.runpytest_inprocess("-W", "error", str(file)).assert_outcomes(passed=4)


@pytest.mark.slow
def test_subjects_are_pinned(pytester):
    words = {"from_files": True, "subject": "Box 1", "model": None, "data": None}
    result = run_test(words, dm.subjects["Box 1"], only=["repeats", "borders"])
    file = result.to_pytest(pytester.path / "test_box.py")
    assert 'dm.subjects["Box 1"]' in file.read_text(encoding="utf-8")
    pytester.runpytest_inprocess("-W", "error", str(file)).assert_outcomes(passed=4)


@pytest.mark.slow
def test_objects_in_memory_must_be_filled_in(pytester):
    frame = people()
    result = dm.test(ByGender(), frame, "label", ["gender"], budget="20s", only=FEW)
    file = result.to_pytest(pytester.path / "test_model.py")
    empty = pytester.runpytest_inprocess("-W", "error", str(file))
    outcomes = empty.parseoutcomes()
    assert set(outcomes) == {"errors"}  # nothing passes, and nothing that fails is excused
    empty.stdout.fnmatch_lines(["*Fill in the fixture 'model' of this file: return ByGender, *"])
    frame.to_csv(pytester.path / "people.csv", index=False)
    text = file.read_text(encoding="utf-8")
    assert text.count("# FILL IN: ") == 2
    for name, body in (
        ("model", "from faults import ByGender; return ByGender()"),
        ("data", 'return pd.read_csv("people.csv")'),
    ):
        text = text.replace(
            f"pytest.fail(\"Fill in the fixture '{name}'", f"{body}\n    (\"Fill in the fixture '{name}'"
        )
    pytester.makepyfile(faults="import numpy as np\n" + source_of(ByGender))
    file.write_text(text, encoding="utf-8")
    pytester.runpytest_inprocess("-W", "error", str(file)).assert_outcomes(passed=6, xfailed=1)


@pytest.mark.slow
def test_checks_without_time_are_skipped(folder, pytester):
    path, words = folder
    file = checked_up(words).to_pytest(path / "test_model.py")
    text = file.read_text(encoding="utf-8")
    assert 'budget="300 s"' in text  # more than there was
    assert "LEFT_OUT = []" in text
    file.write_text(text.replace('budget="300 s"', 'budget="1 run"'), encoding="utf-8")
    slow = pytester.runpytest_inprocess("-W", "error", "-rs", "-p", "no:cacheprovider", str(file))
    outcomes = slow.parseoutcomes()
    assert set(outcomes) == {"passed", "skipped", "xfailed"}  # the example of what was found still shows it
    assert outcomes["skipped"] == 4
    slow.stdout.fnmatch_lines(["SKIPPED * borders: the budget was spent *"])
    models = path / "models.py"
    models.write_text(models.read_text().replace("WEIGHT = 10", "WEIGHT = 0"))
    fixed = pytester.runpytest_inprocess("-W", "error", "-k", "is_fixed", "-p", "no:cacheprovider", str(file))
    fixed.assert_outcomes(skipped=1, deselected=6)  # it may be fixed: the check did not run


class ByChance:
    def predict(self, frame):
        return np.where(np.random.default_rng().random(len(frame)) < 0.3, "yes", "no")


class ByTheOthers:
    def predict(self, frame):
        return np.where(frame.income > frame.income.mean(), "yes", "no")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "check"), [(ByChance, "repeats"), (ByTheOthers, "batches")])
def test_no_border_is_pinned_if_answers_depend_on_the_query(folder, pytester, kind, check):
    path, words = folder
    pytester.makepyfile(shaky=f"import numpy as np\n{source_of(kind)}\nMODEL = {kind.__name__}()")
    words |= {"model": "shaky:MODEL", "protected": []}
    result = run_test(words, kind(), pd.read_csv("people.csv"), "label", only=["repeats", "batches", "borders"])
    assert [item.check for item in result.findings] == [check]
    assert len(result.front)
    file = result.to_pytest(path / "test_shaky.py")
    text = file.read_text(encoding="utf-8")
    assert f"# Not pinned: the border (answers depend on how the model is queried: {check})." in text
    assert not (path / "test_shaky.front.parquet").exists()
    outcomes = pytester.runpytest_inprocess("-W", "error", str(file)).parseoutcomes()
    assert set(outcomes) == {"passed", "xfailed"}


def source_of(kind):
    import inspect

    return inspect.getsource(kind)


# -- what is written -------------------------------------------------------------------------------------------


def written(result, folder, name="test_it.py"):
    return result.to_pytest(folder / name).read_text(encoding="utf-8")


def test_each_finding_has_a_test_with_its_example(tmp_path):
    pair = Example(
        text="gender from f to m: no becomes yes",
        case={"income": 42.5, "gender": "f"},
        answer="no",
        changed={"gender": "m"},
        new_answer="yes",
    )
    silent = Example(text="income 3.0: no answer", case={"income": 3.0, "gender": None})
    order = Example(text="in another order", case={"income": 1.0}, answer="no", changed={}, new_answer="yes")
    same = Example(text="the score falls", case={"income": 1.0}, answer="no", changed={"income": 2.0}, new_answer="no")
    result = result_of(
        outcome(findings=[finding(examples=(pair,))], state="found"),
        outcome("answers", "found", [finding(check="answers", about="given", examples=(silent,))]),
        outcome("row order", "found", [finding(check="row order", about="", examples=(order,))]),
        outcome("monotone", "found", [finding(check="monotone", about="income", examples=(same,))]),
        outcome("classes", "found", [finding(check="classes", about="a b"), finding(check="classes", about="a-b")]),
        outcome("repeats"),
        outcome("baseline", "broke", why="ValueError: no"),
        outcome("adequacy", "not run", why="it is no tree"),
    )
    text = written(result, tmp_path)
    names = [
        node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and "is_fixed" in node.name
    ]
    assert sorted(names) == [
        "test_answers_given_is_fixed",
        "test_classes_a_b_is_fixed",
        "test_classes_a_b_is_fixed_",
        "test_monotone_income_is_fixed",
        "test_protected_gender_is_fixed",
        "test_row_order_is_fixed",
    ]
    assert 'assert ask(model, data, case, case | changed) != ["no", "yes"]  # the answers today' in text
    assert "assert ask(model, data, case) != [None]  # the answers today" in text
    assert text.count("assert ask(") == 2  # the others show nothing when they are asked one by one
    assert '    # case = {"income": 1.0}\n' in text
    assert 'PASSED = ["repeats"]' in text
    assert "# Not pinned: baseline (broke: ValueError: no)." in text
    assert "front" not in text  # there is none
    unreached = finding(check="adequacy", about="", examples=(silent,))  # its answer is not known, that is all
    text = written(result_of(outcome("adequacy", "found", [unreached])), tmp_path)
    assert "ask(" not in text
    assert '    # case = {"income": 3.0, "gender": None}\n' in text


class Richer(dm.Relation):
    name, statement = "richer", "more income: the same answer"

    def follow_up(self, frame, rng):
        return frame.assign(income=frame.income + 30)


class Same(dm.Relation):
    name, statement = "same", "the same again: the same answer"

    def follow_up(self, frame, rng):
        return frame


@pytest.mark.slow
@pytest.mark.parametrize("own", [Richer, Same])
def test_relations_in_memory_are_not_pinned(tmp_path, own):
    front = dm.test(ByIncome(), people(), "label", budget="20s", only=["borders"]).front
    result = dm.test(
        ByIncome(),
        people(),
        "label",
        expect=[own()],
        baseline=front,
        budget="20s",
        only=["repeats", "invariant", "baseline"],
    )
    assert [item.about for item in result.findings] == ["richer"] * (own is Richer)
    text = written(result, tmp_path)
    assert 'PASSED = ["repeats", "borders"]' in text
    assert "FOUND = []" in text
    assert 'LEFT_OUT = ["invariant", "baseline"]' in text
    assert f"# Not pinned: invariant (relations that are objects in memory: {own.name}).\n" in text
    assert "# Not pinned: baseline (the baseline was an object in memory).\n" in text
    assert "is_fixed" not in text
    assert "# Add space=, scalar= and similar options" in text
    file = dm.test(ByIncome(), people(), "label", baseline=saved(front, tmp_path), budget="20s", only="baseline")
    assert 'PASSED = ["borders", "baseline"]' in written(file, tmp_path)


def saved(front, folder):
    front.save(folder / "front.parquet")
    return folder / "front.parquet"


def test_checks_that_did_not_run_are_not_pinned(tmp_path):
    text = written(
        result_of(
            outcome("repeats"),
            outcome("borders", "not run", why="the budget was spent before its turn", skip_reason="budget spent"),
            outcome("protected", "not run", why="interrupted", skip_reason="interrupted"),
            outcome("adequacy", "not run", why="it is no tree", skip_reason="inapplicable"),
        ),
        tmp_path,
    )
    assert 'PASSED = ["repeats"]' in text
    assert 'LEFT_OUT = ["borders", "protected"]' in text
    assert "# Not pinned: borders (not run: the budget was spent before its turn).\n" in text


@pytest.mark.parametrize(
    ("budget", "written_as"),
    [
        ("60 s", '"300 s"'),
        ("0.5 s", '"300 s"'),
        ("450.5 s", '"451 s"'),
        ("1080000 s", '"1080000 s"'),
        ("10,000 runs", '"10,000 runs"'),
        ("no limit", "None"),
    ],
)
def test_the_budget_is_generous(tmp_path, budget, written_as):
    assert f" budget={written_as}," in written(result_of(outcome(), budget=budget), tmp_path)
    Budget.parse(ast.literal_eval(written_as))


def test_options_of_the_command_are_written_again(tmp_path):
    words = {"from_files": True, "model": "m.pkl", "timeout": 2.5, "batch": 7, "trust": True, "scalar": True}
    text = written(result_of(outcome(), words=words), tmp_path)
    for item in ("timeout=2.5,", "batch=7,", "trust=True,", "scalar=True,"):
        assert f"        {item}\n" in text
    assert "# Add space=" not in text


def test_expectations_are_written_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expect.toml").write_text('invariant = ["id"]\nmonotone = {debt = "down"}\n')
    words = {
        "from_files": True,
        "model": "m.onnx",
        "data": "data:iris",
        "target": "y",
        "protected": ["gender"],
        "monotone": ["a=b=up"],
        "invariant": ["name"],
        "towards": "yes",
        "expect": "expect.toml",
        "baseline": "old.parquet",
    }
    text = written(result_of(outcome(), words=words), tmp_path / "tests")
    assert 'monotone": {"debt": "down", "a=b": "up"}' in text
    assert '"invariant": ["id", "name"]' in text
    assert '"outcome": "yes"' in text
    assert 'protected=["gender"]' in text
    assert 'baseline=HERE / "../old.parquet"' in text
    assert 'dm.data.load("iris")' in text
    assert 'return HERE / "../m.onnx"' in text
    alone = written(result_of(outcome(), words=words | {"monotone": [], "invariant": [], "towards": None}), tmp_path)
    assert 'expect=HERE / "expect.toml"' in alone
    python = {"target": None, "monotone": ["a=up"], "expect": "expect.toml"}  # read from the file: said once
    assert 'expect=HERE / "expect.toml"' in written(result_of(outcome(), words=python), tmp_path)
    assert "expect=" not in written(result_of(outcome(), words={}), tmp_path)
    assert "budget=None" in written(result_of(outcome(), budget="no limit"), tmp_path)


NASTY = [
    '"""\nimport os; os.abort()\n"""',
    "'); import os; os.abort(); ('",
    "\\' \\\" \\N{BULLET} {0} {boom} %s",
    "a\rb\x00c\x0bd\x0ce\x85f\u2028g\u2029h\u202ei\ud800j",
    "#\n@pytest.fixture\ndef nasty(): ...",
]


@pytest.mark.parametrize("text", NASTY)
def test_no_name_becomes_code(tmp_path, text):
    example = Example(text=text, case={text: text, "n": 1}, answer=text, changed={text: 2.0}, new_answer=3)
    result = result_of(
        outcome(
            text, "found", [finding(check=text, about=text, title=text, detail=text, remedy=text, examples=(example,))]
        ),
        outcome(f"{text} passed", why=text),
        outcome("broken", "broke", why=text),
        subject=text,
        kind=text,
        data=text,
        words={"target": text, "protected": [text], "monotone": [f"{text}=up"], "invariant": [text], "towards": text},
    )
    source = written(result, tmp_path)
    plain = written(
        result_of(
            outcome(
                "x",
                "found",
                [
                    finding(
                        check="x",
                        about="x",
                        examples=(
                            Example(text="x", case={"x": "x", "n": 1}, answer="x", changed={"x": 2.0}, new_answer=3),
                        ),
                    )
                ],
            ),
            outcome("x passed"),
            outcome("broken", "broke", why="x"),
            words={"target": "x", "protected": ["x"], "monotone": ["x=up"], "invariant": ["x"], "towards": "x"},
        ),
        tmp_path,
    )
    assert shape(source) == shape(plain)
    named = {**result.words, "from_files": True, "model": text, "data": text, "expect": None, "baseline": text}
    compile(written(result_of(outcome(), words=named), tmp_path), "it", "exec")
    compile(
        written(result_of(outcome(), words=named | {"subject": text, "data": f"data:{text}"}), tmp_path), "it", "exec"
    )


def shape(source):
    """The code without its literals and the names of its tests."""

    class Plain(ast.NodeTransformer):
        def visit_Constant(self, node):
            return ast.Constant(0)

        def visit_FunctionDef(self, node):
            node.name = node.name if "is_fixed" not in node.name else "test_is_fixed"
            return self.generic_visit(node)

    return ast.dump(Plain().visit(ast.parse(source)))


def test_invalid_module_names_are_files():
    for name in ("os;abort:x", "a:b()", "a:", ":b", "a.b", "a: b", "1a:b"):
        words = {"from_files": True, "model": name, "data": None}
        assert "import_module" not in _text(words), name
    assert "import_module" in _text({"from_files": True, "model": "my.models:Best.one", "data": None})


def _text(words):
    from datamorphic.audit.pytest_file import _TestFile

    return _TestFile(result_of(outcome(), words=words), __import__("pathlib").Path("test_x.py"), None).to_text()


class Shouting(str):
    __slots__ = ()

    def __repr__(self):
        return "__import__('os').abort()"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -2.5,
        1e300,
        "it's",
        'say "it"',
        "both ' and \"",
        "back\\slash",
        "ü",
        (1,),
        (),
        [1, [2.0, "x"]],
        {"a": {"b": (None, False)}},
        float("inf"),
        -float("inf"),
        {"long " + str(i): "text " * 9 for i in range(9)},
    ],
)
def test_literals_are_read_back(value):
    assert eval(format_literal(value, 4), {"float": float}) == value


def test_other_objects_become_text_literals():
    assert format_literal(np.float64(1.5)) == "1.5"
    assert format_literal(np.str_("a")) == '"a"'
    assert format_literal(np.array(True)) == "True"
    assert format_literal(Shouting("calm")) == '"calm"'
    assert format_literal({"x": pd.Timestamp("2020-01-02")}) == '{"x": "2020-01-02 00:00:00"}'
    assert format_literal(float("nan")) == 'float("nan")'
    assert eval(format_literal(Shouting), {}) == str(Shouting)
    assert format_comment("a\nb\u2028c", 0, None) == "# a b c"
    assert "hunter2" not in format_comment("https://me:hunter2@host/?token=hunter2", 0)


def test_a_border_that_cannot_be_saved_is_not_pinned(tmp_path):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    front = dm.explore(lambda frame: [complex(x > 0.5) for x in frame.x], space, walks=20)
    assert len(front)
    text = written(result_of(outcome(), front=front), tmp_path)
    assert "assert_front_unchanged" not in text


def test_paths_that_cannot_be_written_are_reported(tmp_path):
    with pytest.raises(UsageError, match=r"give a name such as test_model\.py"):
        result_of(outcome()).to_pytest(tmp_path / "tests.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="The tests cannot be written"):
        result_of(outcome()).to_pytest(tmp_path / "file" / "test_x.py")
    for theirs in (b"def test_mine(): ...\n", b"\xff", b"#" * 9_000 + b"Written by result.to_pytest(...)."):
        (tmp_path / "test_z.py").write_bytes(theirs)
        with pytest.raises(UsageError, match=r"was not written by to_pytest\. Choose another name"):
            result_of(outcome()).to_pytest(tmp_path / "test_z.py")
        assert (tmp_path / "test_z.py").read_bytes() == theirs
    os.mkdir(tmp_path / "test_y.py")
    with pytest.raises(UsageError, match=r"is a folder\. Name a file in it"):
        result_of(outcome()).to_pytest(tmp_path / "test_y.py")


def test_suggestions_are_not_pinned(tmp_path):
    advice = finding(
        check="suggestions", about="age", title="Directions that could be declared: age up", level="advice"
    )
    for outcomes in ([outcome("suggestions", "found", [advice])], [outcome("suggestions")]):
        text = result_of(*outcomes).to_pytest(tmp_path / "test_model.py").read_text(encoding="utf-8")
        assert "# Not pinned: suggestions (it says what could be declared, not what is wrong)." in text
        assert 'LEFT_OUT = ["suggestions"]' in text
        assert "PASSED = []" in text
        assert "xfail" not in text
