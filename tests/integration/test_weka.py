"""Weka as a learner: it answers what Weka itself answers, declared labels count, and Java's errors are ours.

Run with DATAMORPHIC_WEKA_JAR set to test another version of Weka.
"""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.cli.load import load_system
from datamorphic.errors import ArgumentError, BadAnswer, DataError, ModelError, SystemRaised
from datamorphic.systems import weka
from datamorphic.systems import weka_jvm as jvm
from datamorphic.systems.files import load_model
from datamorphic.systems.isolation import IsolatedSystem
from datamorphic.systems.weka import Weka, explain_missing_weka, find_jar, make_weka_learner
from datamorphic.testing.conformance import check_executor

WHY = explain_missing_weka()
runs_weka = pytest.mark.skipif(bool(WHY), reason=WHY)

RNG = np.random.default_rng(7)
X = RNG.uniform(1, 20, (35, 4))
Y = np.array(["L0", "L1", "L2"])[RNG.integers(0, 3, 35)]
T = RNG.uniform(-10, 40, (40, 4))  # many outside the ranges of the training rows
MIXED = pd.DataFrame(
    {
        "number": [1.5, 2.5, np.nan, 8.0, 9.5, 7.0, 3.0, 8.5],
        "text": ["low", "low", "low", "high", None, "high", "mid", "mid"],
        "kind": pd.Categorical(list("xxyyxyxy"), categories=["y", "x", "never"]),
        "flag": [True, True, False, False, True, False, True, False],
    }
)
MIXED_Y = np.array([0, 0, 0, 1, 1, 1, 0, 1])


# -- right answers ---------------------------------------------------------------------------------------------


def neighbours(x, y, t, k, labels):
    """Plain IBk: distances of normalised numbers; ranges grow with each case, also with those asked before."""
    low, high, shares = x.min(axis=0), x.max(axis=0), []
    for case in t:
        low, high = np.minimum(low, case), np.maximum(high, case)
        distance = (((x - case) / (high - low)) ** 2).sum(axis=1)
        nearest = distance <= np.sort(distance)[k - 1]
        votes = np.array([1 / len(x) + (nearest & (y == label)).sum() for label in labels])
        shares.append(votes / votes.sum())
    return np.array(shares)


@pytest.mark.slow
@runs_weka
@pytest.mark.parametrize("k", [1, 3, 6])
def test_neighbours_are_found_as_by_hand(k):
    labels = ["L2", "never", "L0", "L1"]
    expected = neighbours(X, Y, T, k, labels)
    learner = Weka(f"IBk -K {k}").fit(X, Y, classes=labels)
    np.testing.assert_allclose(learner.predict_proba(T), expected, rtol=1e-9)
    again = Weka(f"IBk -K {k}").fit(X, Y, classes=labels).predict(T)
    assert again.tolist() == [labels[place] for place in expected.argmax(axis=1)]  # ties: the label declared first
    assert learner.classes_.tolist() == labels


@pytest.mark.slow
@runs_weka
def test_the_order_of_labels_decides_ties():
    x, y = np.array([[1.0], [3.0]]), ["a", "b"]
    for classes in (["a", "b"], ["b", "a"], ["never", "b", "a"]):
        expected = next(label for label in classes if label != "never")
        assert Weka("IBk -K 2").fit(x, y, classes=classes).predict([[2.0]]).tolist() == [expected]


ARFF = """@relation data
@attribute number numeric
@attribute text {high, low, mid}
@attribute kind {y, x, never}
@attribute flag {False, True}
@attribute class {1, 0, 2}
@data
"""


@runs_weka
@pytest.mark.parametrize("options", ["IBk -K 3", "NaiveBayes", "J48 -M 1", "SMO", "ZeroR", "rules.OneR -B 1"])
def test_answers_are_those_of_weka_itself(options):
    """Weka reads the same rows from a text of its own, and is asked row by row."""
    rows = MIXED.assign(label=MIXED_Y).astype(object)
    text = ARFF + rows.where(rows.notna(), "?").to_csv(index=False, header=False)
    learner = Weka(options).fit(MIXED, MIXED_Y, classes=[1, 0, 2])
    import jpype

    data = jpype.JClass("weka.core.Instances")(jpype.JClass("java.io.StringReader")(text))
    data.setClassIndex(4)
    model = jpype.JClass(weka.resolve_class_name(options.split()[0], find_jar()))()
    model.setOptions(jpype.JClass("weka.core.Utils").splitOptions(options.partition(" ")[2]))
    model.buildClassifier(data)
    labels = [[1, 0, 2][int(model.classifyInstance(data.instance(i)))] for i in range(len(MIXED))]
    chances = [list(model.distributionForInstance(data.instance(i))) for i in range(len(MIXED))]
    assert learner.predict(MIXED).tolist() == labels
    np.testing.assert_array_equal(learner.predict_proba(MIXED), chances)


@runs_weka
def test_an_answer_may_be_missing():
    nothing = Weka("FilteredClassifier").fit(X[:0], Y[:0], classes=["b", "a"])
    assert nothing.predict_proba(T[:2]).tolist() == [[0, 0], [0, 0]]
    assert nothing.predict(T[:2]).tolist() == [None, None]
    first = Weka("J48").fit(X[:0], Y[:0], classes=["b", "a"])  # asks its tree, and not its distribution
    assert (first.predict_proba(T[:1]).tolist(), first.predict(T[:1]).tolist()) == ([[0, 0]], ["b"])
    fitted = Weka("IBk").fit(X, Y)
    fitted._fitted_model.labels = fitted._fitted_model.labels[:1]
    with pytest.raises(BadAnswer, match="label number 2 of 1"):
        fitted.predict(X)


@runs_weka
def test_numbers_that_are_not_whole_are_learnt_as_numbers():
    learner = Weka("IBk").fit(X, X[:, 0])
    np.testing.assert_array_equal(learner.predict(X), X[:, 0])
    assert not hasattr(learner, "classes_")
    with pytest.raises(ModelError, match="fitted on numbers"):
        learner.predict_proba(X)
    assert Weka("IBk").fit(X, np.arange(35.0) % 2).classes_.tolist() == [0.0, 1.0]
    assert Weka("IBk").fit(X, X[:, 0], classes=sorted(X[:, 0])).predict(X[:1]).tolist() == [X[0, 0]]


# -- what it is given ------------------------------------------------------------------------------------------


@runs_weka
def test_columns_are_taken_by_name_and_unseen_values_are_missing():
    learner = Weka("J48 -M 1 -U").fit(MIXED[["text", "flag"]], MIXED_Y)
    assert learner.feature_names_in_.tolist() == ["text", "flag"]
    assert learner.predict(MIXED[["number", "flag", "text"]]).tolist() == learner.predict(MIXED).tolist()
    seen = learner.predict_proba(MIXED.assign(text="high"))
    unseen, missing = (learner.predict_proba(MIXED.assign(text=value)) for value in ("brand new", None))
    np.testing.assert_array_equal(unseen, missing)
    assert (unseen != seen).any()
    np.testing.assert_array_equal(learner.predict(MIXED[["text", "flag"]].to_numpy()), learner.predict(MIXED))


@runs_weka
def test_one_table_in_many_forms():
    expected = Weka("NaiveBayes").fit(X, Y).predict_proba(T)
    holed = X.copy()
    holed[3, 1] = np.nan
    for training, cases in (
        (pd.DataFrame(X), pd.DataFrame(T)),
        (X.tolist(), T.tolist()),
        (np.asfortranarray(X), T[::-1][::-1]),
        (pd.DataFrame(X).astype(object), pd.DataFrame(T).astype("Float64")),
    ):
        np.testing.assert_array_equal(Weka("NaiveBayes").fit(training, Y).predict_proba(cases), expected)
    plain = Weka("NaiveBayes").fit(holed, Y).predict_proba(T)
    nullable = Weka("NaiveBayes").fit(pd.DataFrame(holed).convert_dtypes(), list(Y)).predict_proba(T)
    np.testing.assert_array_equal(plain, nullable)
    assert (plain != expected).any()
    lone = pd.DataFrame({"c": pd.Categorical([7, 5, 5, 7], categories=[7, 5])})
    assert Weka("IBk").fit(lone, list("abba")).predict(lone).tolist() == list("abba")


@runs_weka
@pytest.mark.parametrize(
    "labels",
    [
        ["a,b", 'it\'s "so"'],
        ["ü€😀", "new\nline\\"],
        ["\ud800", "?"],
        ["", " "],
        ["a\0", "a"],
        ["x" * 300, "y" * 300],
        [1, "1"],
        [2, 1],
        [True, False],
        [(1, 2), (3, 4)],
        [pd.Timestamp("2026-01-01"), None],
        [b"a", 1.5],
    ],
    ids=ascii,
)
def test_labels_of_any_kind(labels):
    y = [labels[i % 2] for i in range(len(X))]
    known = [label for label in labels if label is not None] + ["else"]
    learner = pickle.loads(pickle.dumps(Weka("IBk").fit(X, y, classes=known)))
    answers = learner.predict(X).tolist()
    assert [(type(a), a) for a, b in zip(answers, y, strict=True) if b is not None] == [
        (type(b), b) for b in y if b is not None
    ]
    assert list(learner.classes_) == known


@runs_weka
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, Y, ["L0", "L1"]), "label 'L2' is not among those declared"),
        ((X, Y, ["L0", "L0"]), "must be unique"),
        ((X, Y, ["L0", None]), "None and NaN are missing values"),
        ((X, Y, "L0"), "'classes' parameter of fit must be a sequence of labels"),
        ((X, Y, [["L0"]]), "hashable.*a list"),
        ((X, [[1]] * 35), "hashable.*a list"),
        ((X, Y[:4]), "35 training rows need a label each. Got 4"),
        ((X, np.zeros((35, 2))), r"one label per row.*\(35, 2\)"),
        ((X[0], Y), "a table of rows and columns. Got ndarray"),
        (([[1.0], [1.0, 2.0]], ["a", "b"]), "a table of rows and columns. Got list"),
        ((pd.DataFrame({"day": pd.to_datetime(["2026-01-01"] * 35)}), Y), "column 'day' is of type datetime64"),
        ((pd.DataFrame({"list": [[1]] * 35}), Y), "hashable.*a list"),
    ],
)
def test_data_that_cannot_be_learnt(arguments, message):
    with pytest.raises((DataError, ArgumentError), match=message):
        Weka("IBk").fit(*arguments)


@runs_weka
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X[:, :2], "fitted on 4 columns, but the data have 2"),
        (X[0], "a table of rows and columns"),
        (pd.DataFrame(X[:, :3], columns=list("abc")), "fitted on a column 'd', which is not in the data"),
        (pd.DataFrame(X, columns=list("abcd")).assign(b="text"), "fitted on numbers in the column 'b'"),
        (pd.DataFrame(X, columns=list("abcd")).assign(b=pd.Timestamp(0)), "fitted on numbers in the column 'b'"),
    ],
)
def test_data_that_cannot_be_asked(table, message):
    learner = Weka("IBk").fit(pd.DataFrame(X, columns=list("abcd")), Y)
    with pytest.raises(DataError, match=message):
        learner.predict(table)


@runs_weka
@pytest.mark.parametrize("options", ["IBk", "NaiveBayes", "J48"])
def test_data_at_the_edge(options):
    """Weka's answer, or its words: nothing else comes out."""
    odd = X.copy()
    odd[0, 0], odd[1, 1], odd[2] = np.inf, -np.inf, np.nan
    for x, y, classes in (
        (X[:0], Y[:0], None),
        (X, ["a"] * 35, None),
        (X[:, :0], Y, None),
        (odd, Y, None),
        (X * 1e306, Y, None),
        (np.full_like(X, np.nan), Y, None),
        (X, [None] * 35, ["a", "b"]),
        (pd.DataFrame(X, columns=["class", "class", 0, "0"]), Y, None),
    ):
        learner, message = Weka(options), ""
        try:
            answers = learner.fit(x, y, classes=classes).predict(x)
        except SystemRaised as error:
            message = str(error)
        if message:
            assert message.startswith(("weka.", "java.lang.Exception: "))
            assert "\n" not in message
        else:
            assert len(answers) == len(x)
            assert set(answers) <= {*learner.classes_, None}
    assert Weka(options).fit(X, ["a"] * 35, classes=["b", "a"]).predict(T[:2]).tolist() == ["a", "a"]
    learner = Weka(options).fit(X, Y)
    assert (learner.predict(X[:0]).shape, learner.predict_proba(X[:0]).shape) == ((0,), (0, 3))


@runs_weka
def test_exceptions_of_java_are_errors_in_one_line():
    with pytest.raises(SystemRaised, match=r"^weka\.core\.Unsupported\w+: .*Cannot handle numeric class!$") as caught:
        Weka("NaiveBayes").fit(X, X[:, 0])
    assert caught.value.__suppress_context__
    learner = Weka("J48")
    with pytest.raises(SystemRaised, match="Cannot handle unary class"):
        learner.fit(X, ["a"] * 35)
    with pytest.raises(ModelError, match=r"Weka\('J48'\) is not fitted"):
        learner.predict(X)


# -- names and options -----------------------------------------------------------------------------------------


@runs_weka
@pytest.mark.parametrize(
    "options",
    [
        "IBk",
        " lazy.IBk\n-K\n3 ",
        "weka.classifiers.lazy.IBk -K 3",
        "classifiers.lazy.IBk",
        "bayes.NaiveBayes -D",
        r'IBk -A "weka.core.neighboursearch.LinearNNSearch -A \"weka.core.ManhattanDistance -R first-last\""',
    ],
)
def test_names_and_options_that_are_taken(options):
    learner = Weka(options)
    assert learner.check() is learner


@runs_weka
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("IBk -K", "rejects the options '-K' of weka.classifiers.lazy.IBk.*No value given"),
        ("IBk -K x", 'NumberFormatException: For input string: "x"'),
        ("IBk -K 3 -QQ 4 more", r"[Ii]llegal options: -QQ 4 more"),
        ('IBk -A "open', "Quote parse error"),
        ("IBk -A java.lang.Runtime", "rejects the options .-A java.lang.Runtime."),
        ("IBk -K \ud800", "half a surrogate pair"),
        ("ibk -K 3", "no classifier 'ibk'. Did you mean 'IBk'"),
        ("NaiveBayse", "Did you mean 'NaiveBayes"),
        ("java.lang.Runtime", "no classifier 'java.lang.Runtime'"),
        ("weka.core.Utils", "no classifier 'weka.core.Utils'"),
        ("weka/classifiers/lazy/IBk", "no classifier 'weka/classifiers/lazy/IBk'"),
        ("../lazy.IBk", "no classifier"),
        ("..", "no classifier '..'"),
        ("IBk\0", r"no classifier 'IBk\\x00'"),
        ("Evaluation", "Evaluation is not a classifier"),
        ("MultipleClassifiersCombiner", "is not a classifier"),
        ("bayes.net.search.fixed.NaiveBayes", "is not a classifier"),
        ("", "name of a classifier"),
        (" \n", "name of a classifier"),
        (None, "name of a classifier"),
        (3, "name of a classifier"),
    ],
)
def test_names_and_options_that_are_refused(options, message):
    with pytest.raises((ModelError, ArgumentError), match=message) as caught:
        Weka(options).fit(X, Y)
    assert "\n" not in str(caught.value)


@pytest.fixture
def fake(tmp_path):
    """A jar with names of classes and nothing in them."""
    with zipfile.ZipFile(tmp_path / "fake.jar", "w") as archive:
        for name in ("Classifier", "lazy/IBk", "lazy/IBk$1", "a/Same", "b/Same", "b/deep/IBk", "b/deep/Part"):
            archive.writestr(f"weka/classifiers/{name}.class", b"")
        archive.writestr("weka/core/Utils.class", b"")
    return str(tmp_path / "fake.jar")


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("IBk", "lazy.IBk"),
        ("lazy.IBk", "lazy.IBk"),
        ("deep.IBk", "b.deep.IBk"),
        ("Part", "b.deep.Part"),
        ("weka.classifiers.a.Same", "a.Same"),
    ],
)
def test_names_are_looked_up_in_the_jar(fake, name, whole):
    assert weka.resolve_class_name(name, fake) == f"weka.classifiers.{whole}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Same", r"ambiguous.*classifiers\.a\.Same, weka\.classifiers\.b\.Same"),
        ("IBk$1", "no classifier"),
        ("Utils", "no classifier 'Utils'"),
        ("k", "no classifier 'k'"),
        ("SAME", "Did you mean 'Same'"),
    ],
)
def test_names_that_are_not_in_the_jar(fake, name, message):
    with pytest.raises(ModelError, match=message):
        weka.resolve_class_name(name, fake)


# -- jars and machines -----------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch):
    """A machine without Weka."""
    monkeypatch.delenv(weka.JAR_VARIABLE, raising=False)
    monkeypatch.setattr(weka, "DEBIAN_JAR", "/there/is/no/weka.jar")
    monkeypatch.setattr(weka, "_find_wrapper_jar", str)
    weka._find_jar_path.cache_clear()
    yield monkeypatch
    weka._find_jar_path.cache_clear()


def test_a_machine_without_weka(bare):
    with pytest.raises(ModelError) as caught:
        Weka("IBk").fit(X, Y)
    for text in (explain_missing_weka(), caught.value):
        for remedy in ("apt install weka", "pip install python-weka-wrapper3", "DATAMORPHIC_WEKA_JAR="):
            assert remedy in str(text)


def test_where_the_jar_is_looked_for(bare, tmp_path):
    places = {name: str(tmp_path / f"{name}.jar") for name in ("wrapper", "debian", "variable", "given")}
    for place in places.values():
        open(place, "w").close()
    jars = []
    bare.setattr(weka, "_find_wrapper_jar", lambda: places["wrapper"])
    jars.append(find_jar())
    weka._find_jar_path.cache_clear()
    bare.setattr(weka, "DEBIAN_JAR", places["debian"])
    jars.append(find_jar())
    bare.setenv(weka.JAR_VARIABLE, places["variable"])
    jars.append(find_jar())
    jars.append(find_jar(tmp_path / "given.jar"))
    assert jars == [os.path.realpath(place) for place in places.values()]
    bare.setenv(weka.JAR_VARIABLE, "/nowhere/weka.jar")
    assert "no file '/nowhere/weka.jar'" in explain_missing_weka()


def test_files_that_are_not_weka(tmp_path):
    (tmp_path / "text.jar").write_text("no jar")
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as archive:
        archive.writestr("Other.class", b"")
    for jar, message in (
        (tmp_path / "none.jar", "no file"),
        (tmp_path, "no file"),
        (tmp_path / "text.jar", "cannot be read as a jar"),
        (tmp_path / "other.jar", "without Weka's classifiers"),
        (7, "'jar' parameter of Weka must be the path"),
    ):
        with pytest.raises((ModelError, ArgumentError), match=message):
            Weka("IBk", jar=jar).fit(X, Y)


def test_a_machine_without_java_or_its_bridge(monkeypatch, fake):
    jpype = pytest.importorskip("jpype", reason="pip install 'datamorphic[weka]'")
    monkeypatch.setattr(jpype, "getDefaultJVMPath", lambda: (_ for _ in ()).throw(jpype.JVMNotFoundException("none")))
    assert "apt install default-jre-headless" in explain_missing_weka(fake)
    monkeypatch.setitem(__import__("sys").modules, "jpype", None)
    assert "pip install 'datamorphic[weka]'" in explain_missing_weka(fake)


@pytest.mark.parametrize("memory", ["1k", "15m", "2", "-2g", "1g -XX:+Crash", "99999999999g"])
def test_memory_that_java_would_not_start_with(monkeypatch, memory):
    monkeypatch.setenv(jvm.MEMORY_VARIABLE, memory)
    with pytest.raises(ModelError, match="must be at least 16m, as in 512m or 2g"):
        jvm._read_memory_limit()


@pytest.mark.slow
@runs_weka
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java compiler")
def test_the_compiled_loops_are_those_of_the_source(tmp_path):
    source = Path(jvm.LOOPS_FOLDER) / "datamorphic" / "WekaLoops.java"
    compiler = ["javac", "--release", "11", "-g:none", "-cp", find_jar(), "-d", str(tmp_path)]
    subprocess.run([*compiler, str(source)], check=True)
    new_class = tmp_path / "datamorphic" / "WekaLoops.class"
    assert new_class.read_bytes() == source.with_suffix(".class").read_bytes(), "run: make java"


@runs_weka
def test_a_process_runs_one_jar_and_no_fork(monkeypatch, tmp_path):
    learner = Weka("IBk").fit(X, Y)
    other = shutil.copy(find_jar(), tmp_path / "weka.jar")
    with pytest.raises(ModelError, match=r"This process runs Weka from.*another process"):
        Weka("IBk", jar=other).fit(X, Y)
    monkeypatch.setattr(jvm._running, "process_id", -1)
    for call in (learner.predict, learner.predict_proba, lambda x: Weka("IBk").fit(x, Y)):
        with pytest.raises(ModelError, match="forked"):
            call(X)


@runs_weka
def test_java_prints_nothing(capfd):
    Weka("IBk").check()
    import jpype

    for stream in (jpype.JClass("java.lang.System").out, jpype.JClass("java.lang.System").err):
        stream.println("noise")
        stream.flush()
    assert capfd.readouterr() == ("", "")


# -- an estimator among others ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "like"),
    [
        ("IBk", KNeighborsClassifier(1)),
        ("lazy.IBk -K 5", KNeighborsClassifier(5)),
        ("IBk -K 3 -I", None),
        ("weka.classifiers.bayes.NaiveBayes", GaussianNB()),
        ("NaiveBayes -D", None),
        ("J48", None),
    ],
)
def test_what_it_is_like(options, like):
    assert repr(Weka(options).like) == repr(like)


def test_parameters():
    learner = Weka("IBk -K 3", jar="some.jar")
    twin = clone(learner)
    assert (repr(twin), repr(Weka("J48"))) == ("Weka('IBk -K 3', jar='some.jar')", "Weka('J48')")
    assert twin.set_params(options="J48", jar=None).get_params() == {"options": "J48", "jar": None}
    assert repr(pickle.loads(pickle.dumps(learner))) == repr(learner)
    with pytest.raises(ArgumentError, match=r"no parameter 'optoins'\. Did you mean 'options'"):
        learner.set_params(optoins="J48")
    assert is_classifier(learner)
    assert not any(hasattr(learner, name) for name in ("classes_", "n_features_in_", "feature_names_in_"))
    assert repr(make_weka_learner("weka:IBk -K 3")) == "Weka('IBk -K 3')"
    with pytest.raises(ArgumentError, match="a text like 'weka:IBk -K 3'"):
        make_weka_learner("IBk -K 3")


@runs_weka
@pytest.mark.parametrize("options", ["IBk -K 3", "NaiveBayes", "J48", "AttributeSelectedClassifier", "Bagging"])
def test_a_fitted_one_can_be_copied(options):
    learner = Weka(options).fit(X, Y)
    for twin in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        assert pickle.dumps(twin)  # without having been asked
        np.testing.assert_array_equal(twin.predict_proba(X), Weka(options).fit(X, Y).predict_proba(X))
    assert not hasattr(clone(learner), "classes_")


@runs_weka
def test_saved_models_are_data():
    learner = Weka("IBk").fit(X, Y)
    import jpype

    stream = jpype.JClass("java.io.ByteArrayOutputStream")()
    jpype.JClass("weka.core.SerializationHelper").write(stream, jpype.JClass("java.net.URL")("http://127.0.0.1/"))
    for saved, message in ((bytes(stream.toByteArray()), "REJECTED"), (b"nonsense", "cannot read")):
        learner._fitted_model.model = saved
        with pytest.raises(ModelError, match=message):
            learner.predict(X)


@pytest.mark.slow
@runs_weka
def test_threads_do_not_disturb_each_other():
    def train(k):
        return Weka(f"IBk -K {k % 5 + 1}").fit(X, Y).predict_proba(T).tolist()

    shared = Weka("NaiveBayes").fit(X, Y)
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(train, range(40)))
        answers = list(pool.map(lambda _: shared.predict(T).tolist(), range(20)))
    assert several == [train(k) for k in range(40)]
    assert all(answer == shared.predict(T).tolist() for answer in answers)


@pytest.mark.slow
@runs_weka
def test_a_fitted_one_is_a_system_here_and_in_another_process():
    space = dm.Space([dm.Continuous(name, 1, 20) for name in "abcd"])
    frame = space.sample(60, seed=0)
    learner = Weka("J48").fit(frame, np.where(frame["a"] > frame["b"], "over", "under"))
    sut = dm.wrap(learner, space=space)
    check_executor(sut, space.sample(50, seed=1, points=True))
    isolated = IsolatedSystem(sut, timeout=60)
    assert isolated.execute(frame).same(sut.execute(frame)).all()
    isolated.close()


@runs_weka
def test_one_name_serves_check_test_and_wrap():
    assert load_system("weka:IBk -K 3", None, False) == ("weka:IBk -K 3", {"trust": False})
    assert repr(load_model("weka:IBk -K 3")) == "Weka('IBk -K 3')"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=Y)
    result = dm.test("weka:IBk -K 3", frame, target="label", only=["repeats"], budget="60s")
    assert (result.subject, result.fitted_on_given_data) == ("weka:IBk -K 3", True)
    with pytest.raises(ModelError, match="weka:IBk is a learner and is not fitted"):
        dm.explore("weka:IBk", frame.drop(columns="label"))
