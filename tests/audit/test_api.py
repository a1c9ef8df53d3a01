"""``dm.test``: whatever it is given, what it says, what it keeps, and how it takes bad input."""

from __future__ import annotations

import functools
import os
import signal
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from datamorphic.audit.checks import CHECKS
from datamorphic.audit.expectations import parse_expectations, read_expectations
from datamorphic.core.result import LEVELS
from datamorphic.errors import ArgumentError, DataError, SystemFailed, UsageError
from support.cases import LONG
from support.lending import PROMISES, Lender, LooksAtGender, NotMonotone, SilentInACorner, people

PEOPLE = people(200)
FEW = PEOPLE.head(80)


@functools.cache
def audit(model):
    """Return the audit of a model of `PEOPLE`, which tests only read."""
    return dm.test(
        model(PEOPLE), FEW, "decision", protected="gender", expect=PROMISES, budget="60s", seed=0, progress=False
    )


def outcome(result, check):
    return next(item for item in result.outcomes if item.check == check)


# -- whatever it is given ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fitted_classifier_with_labels():
    from sklearn.naive_bayes import GaussianNB

    iris = dm.data.load("iris").iloc[::2]
    model = GaussianNB().fit(iris.drop(columns="target"), iris["target"])
    result = dm.test(model, iris, target="target")
    assert result.passed
    assert result.kind == "a fitted classifier of 3 classes (GaussianNB)"
    assert outcome(result, "learning").state == "passed"
    assert outcome(result, "number types").why == "no column has integers"
    share = (model.predict(iris.drop(columns="target")) == iris["target"]).mean()
    assert any(f"agrees with the label for {100 * share:.3g}%" in note for note in result.notes)
    assert [item.check for item in result.outcomes] == [check.name for check in CHECKS]


@pytest.mark.slow
def test_a_learner_is_fitted_first():
    from sklearn.tree import DecisionTreeClassifier

    iris = dm.data.load("iris")
    learner = DecisionTreeClassifier(random_state=0)
    result = dm.test(learner, iris, target="target", only=["answers", "adequacy"])
    assert not hasattr(learner, "tree_")  # the caller's own is left as it was
    assert "fitted to these data" in result.kind
    assert "leaves of the tree, 100% reached" in outcome(result, "adequacy").why
    with pytest.raises(ArgumentError, match=r"not fitted\. Fit it first, or give a frame with labels"):
        dm.test(learner, iris.drop(columns="target"))


def test_a_forest_without_labels():
    from sklearn.ensemble import RandomForestClassifier

    iris = dm.data.load("iris")
    inputs = iris.drop(columns="target")
    forest = RandomForestClassifier(10, random_state=0).fit(inputs, iris["target"])
    result = dm.test(forest, inputs.head(20), only=["answers", "learning", "adequacy", "classes"])
    assert "target=" in outcome(result, "learning").why
    assert result.findings[-1].check == "adequacy"  # twenty rows of one class reach few leaves
    assert result.findings[-1].level == "advice"


@pytest.mark.slow
def test_a_regressor():
    from sklearn.linear_model import LinearRegression

    frame = PEOPLE.drop(columns=["decision", "gender"])
    model = LinearRegression().fit(frame, frame.income - 2 * frame.debt)
    only = ["classes", "repeats", "batches", "monotone", "invariant"]
    result = dm.test(
        model, frame, expect={"monotone": {"income": "up", "debt": "down"}, "invariant": ["age"]}, only=only
    )
    assert result.passed
    assert outcome(result, "classes").why == "the answers are numbers"
    wrong = dm.test(model, frame, expect={"monotone": {"debt": "up"}}, only="monotone")
    assert wrong.findings[0].title == "A higher debt can lower the answer"
    assert wrong.findings[0].level == "fault"


@pytest.mark.parametrize(
    ("make_model", "advice"),
    [
        (GaussianNB, "Add training data there, or withdraw the declaration. GaussianNB has no monotone constraints"),
        (
            lambda: make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=5)),
            "Fit the model with a monotone constraint on debt (monotonic_cst), add",
        ),
    ],
)
def test_monotone_constraints_are_advised_for_models_that_have_them(make_model, advice):
    frame = PEOPLE.drop(columns=["decision", "gender"])
    model = make_model().fit(frame, frame.debt > frame.debt.median())
    result = dm.test(model, frame, expect={"monotone": {"debt": "down"}}, only="monotone", progress=False)
    assert result.findings[0].remedy.startswith(advice)
    function = dm.test(model.predict, frame, expect={"monotone": {"debt": "down"}}, only="monotone", progress=False)
    assert function.findings[0].remedy.startswith(
        "If the model can be trained with a monotone constraint on debt, do so."
    )


@pytest.mark.slow
def test_a_function_and_a_test_system():
    space = dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 0, 5)])
    only = ["answers", "row order", "borders", "adequacy"]
    result = dm.test(lambda x, n: "a" if x > 0.5 else "b", space, scalar=True, only=only)
    assert result.passed
    assert outcome(result, "row order").why == "the function takes one case at a time"
    assert outcome(result, "adequacy").why == "no data are given, so there is no test set to judge"
    assert dm.test(dm.subjects["Box 1"], only=["answers", "borders"]).passed


def test_the_metamorphisms_of_a_test_system():
    class Line:
        space = dm.Space([dm.Continuous("x", 0, 10)])

        @dm.executor
        def classify(self, p):
            return np.where((p.x > 3) & ~p.x.between(6, 7), "high", "low")

        @dm.datamorphism
        def more(self, p):
            return p.assign(x=(p.x + 1).clip(upper=10))

        @dm.metamorphism(of="more")
        def never_falls(self, case, origin):
            return ~((origin.output == "high") & (case.output == "low"))

        @dm.metamorphism(of="more")
        def has_an_answer(self, case):
            return case.output != ""

    result = dm.test(Line, only="metamorphisms")
    (finding,) = result.findings
    assert finding.about == "never_falls"
    assert 0 < finding.rate < 0.2
    assert "after more" in finding.examples[0].text


def test_clusterers_and_arrays():
    from sklearn.cluster import KMeans

    matrix = PEOPLE[["income", "debt"]].to_numpy()
    only = ["answers", "column order", "number types", "borders"]
    result = dm.test(KMeans(3, random_state=0, n_init=1).fit(matrix), matrix, only=only)
    assert not result.at_least("fault")
    assert "fitted on arrays" in outcome(result, "column order").why


# -- what it says ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_findings_are_ranked_and_reproducible():
    result = audit(LooksAtGender)
    ranks = [LEVELS.index(finding.level) for finding in result.findings]
    assert ranks == sorted(ranks)
    finding = next(item for item in result.findings if item.check == "protected")
    assert finding.about == "gender"
    low, high = finding.interval
    assert low < finding.rate < high
    example = finding.examples[0]
    assert set(example.changed) == {"gender"}
    assert example.answer != example.new_answer
    model = LooksAtGender(PEOPLE)
    before = pd.DataFrame([dict(example.case)])
    assert model.predict(before)[0] == example.answer
    assert model.predict(before.assign(**example.changed))[0] == example.new_answer
    again = dm.test(
        LooksAtGender(PEOPLE), FEW, "decision", protected="gender", expect=PROMISES, seed=0, only="protected"
    )
    assert again.findings[0] == finding
    assert "only='protected'" in result.command(finding)


def test_the_table_of_changes_equals_a_plain_count():
    model = LooksAtGender(PEOPLE)
    result = dm.test(model, PEOPLE, "decision", protected="gender", only="protected")
    inputs = PEOPLE.drop(columns="decision")
    swapped = inputs.assign(gender=np.where(inputs.gender == "f", "m", "f"))
    counted = {}
    before_after = zip(inputs.gender, swapped.gender, model.predict(inputs), model.predict(swapped), strict=True)
    for change in before_after:
        if change[2] != change[3]:
            counted[change] = counted.get(change, 0) + 1
    (section,) = outcome(result, "protected").findings[0].sections
    table_counts = {(g.strip("'"), h.strip("'"), a, b): int(n) for g, h, a, b, n, _ in section.table.rows}
    assert table_counts == counted
    assert result.findings[0].cases == sum(counted.values())
    assert result.findings[0].cases_tried == len(inputs)


def test_a_regressors_dependence_on_a_protected_number():
    frame = PEOPLE.drop(columns=["decision"])
    result = dm.test(lambda f: f["income"] - 0.1 * f["age"], frame, protected=["age"], only="protected")
    assert result.findings[0].rate == 1.0
    ways = {tuple(row[:4]) for row in outcome(result, "protected").findings[0].sections[0].table.rows}
    assert ways == {("any", "higher", "any", "lower"), ("any", "lower", "any", "higher")}


@pytest.mark.slow
def test_results_survive_json_with_any_names():
    frame = PEOPLE.rename(columns={"income": "kind", "debt": "kind_", "age": "\u202e<b>"})
    model = SilentInACorner(PEOPLE)

    def renamed(frame):
        return model.predict(frame.rename(columns={"kind": "income", "kind_": "debt", "\u202e<b>": "age"}))

    only = ["answers", "protected", "invariant", "dependence", "borders"]
    result = dm.test(renamed, frame, "decision", protected="gender", expect={"invariant": ["kind_"]}, only=only)
    assert result.findings
    text = result.to_json()
    again = dm.results.AuditResult.from_json(text)
    assert again == result
    assert again.to_json() == text
    assert again.findings == result.findings
    assert again.to_html() == result.to_html()
    for bad in ("", "[]", "{}", '{"outcomes": 3}', '{"format": 99, "outcomes": []}'):
        with pytest.raises(DataError, match="not the JSON of an audit"):
            dm.results.AuditResult.from_json(bad)


def test_one_predicted_class_and_unknown_labels():
    def always(label):
        return lambda frame: np.full(len(frame), label)

    only = ["answers", "classes"]
    titles = [finding.title for finding in dm.test(always("review"), PEOPLE, "decision", only=only).findings]
    assert sorted(titles) == ["The class 'approve' is never predicted", "The class 'reject' is never predicted"]
    others = dm.test(always("yes"), PEOPLE, "decision", only=only)
    assert [finding.title for finding in others.findings] == ["Every input gets the same answer: 'yes'"]
    assert "not classes of the model" in outcome(others, "classes").why
    numbers = dm.test(always(1.0), PEOPLE.assign(decision=1.0), "decision", only=only)
    assert outcome(numbers, "classes").why == "the answers are numbers"


def test_classes_are_compared_as_text():
    from sklearn.naive_bayes import GaussianNB

    frame = PEOPLE[["income", "debt"]].assign(y=(PEOPLE.income > 90).astype(float))
    floats = GaussianNB().fit(frame[["income", "debt"]], frame.y)
    assert not dm.test(floats, frame, "y", only="classes").findings  # labels 0.0 and 1.0 are classes
    from sklearn.dummy import DummyClassifier

    dull = DummyClassifier(strategy="constant", constant=[0.0]).fit(frame[["income", "debt"]], frame.y)
    assert dm.test(dull, frame, "y", only="classes").findings[0].title == "The class 1 is never predicted"
    texts = frame.assign(y=frame.y.astype(int).astype(str))
    ints = GaussianNB().fit(frame[["income", "debt"]], frame.y.astype(int))
    assert not dm.test(ints, texts, "y", only="classes").findings
    gaps = PEOPLE.assign(decision=PEOPLE.decision.where(PEOPLE.index > 3, None))
    assert not dm.test(Lender(PEOPLE), gaps, "decision", only="classes").findings


@pytest.mark.slow
def test_a_check_runs_the_checks_it_needs(tmp_path):
    model = Lender(PEOPLE)
    front = dm.explore(model, PEOPLE, target="decision", walks=30, strategy="random_target")
    front.save(tmp_path / "front.parquet")
    result = dm.test(model, PEOPLE, "decision", baseline=tmp_path / "front.parquet", only="baseline")
    assert [item.check for item in result.outcomes if item.state == "passed"] == ["borders", "baseline"]


def test_protected_columns_need_not_be_inputs():
    from sklearn.naive_bayes import GaussianNB

    seen = PEOPLE[["income", "debt"]]
    model = GaussianNB().fit(seen, PEOPLE.decision)
    result = dm.test(
        model, PEOPLE, "decision", protected="gender", expect={"invariant": ["age"]}, only=["protected", "invariant"]
    )
    assert result.passed
    assert "gender is not an input of the model" in outcome(result, "protected").why
    with pytest.raises(DataError, match="declared monotone"):
        dm.test(model, PEOPLE, "decision", expect={"monotone": {"age": "up"}})


# -- what declares ---------------------------------------------------------------------------------------------


def test_expectations_from_files(tmp_path):
    toml = tmp_path / "promises.toml"
    toml.write_text('outcome = "approve"\ninvariant = ["age"]\n[monotone]\nincome = "up"\n')
    yaml = tmp_path / "promises.yaml"
    yaml.write_text("outcome: approve\ninvariant: [age]\nmonotone:\n  income: up\n")
    assert parse_expectations(toml) == parse_expectations(str(yaml))
    result = dm.test(NotMonotone(PEOPLE), PEOPLE, "decision", expect=toml, only="monotone")
    assert result.findings[0].about == "income"
    yaml.write_text("towards: approve\ninvariant: [age]\nmonotone:\n  income: up\n")
    with pytest.warns(DeprecationWarning, match="The expectation 'towards' is now called 'outcome'"):
        assert parse_expectations(yaml) == parse_expectations(toml)
    broken = tmp_path / "broken.toml"
    broken.write_text("monotone = [")
    with pytest.raises(DataError, match=r"broken\.toml is not TOML"):
        read_expectations(broken)
    with pytest.raises(DataError, match="cannot be read"):
        read_expectations(tmp_path / "absent.toml")
    yaml.write_text("!!python/object/apply:os.system ['true']")
    with pytest.raises(DataError, match="is not YAML"):
        read_expectations(yaml)
    yaml.write_text("- a list")
    with pytest.raises(DataError, match="must declare the expectations"):
        read_expectations(yaml)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"monoton": {}}, "Did you mean 'monotone'"),
        ({"monotone": ["income"]}, "a mapping of features"),
        ({"monotone": {"income": "sideways"}}, "one of 'up'"),
        ({"invariant": [3]}, "the names of features"),
        ({"relations": ["MR"]}, "only in Python"),
        (7, "a mapping, relations, or the path"),
        (
            {"monotone": {"incme": "up"}},
            "'incme' is declared monotone, but is not an input of the model. Did you mean 'income'",
        ),
        ({"protected": "gendr"}, "Did you mean 'gender'"),
        ({"monotone": {"income": "up"}, "outcome": "best"}, "The model has no class"),
    ],
)
def test_invalid_expectations_are_reported(expect, says):
    with pytest.raises(UsageError, match=says):
        dm.test(Lender(PEOPLE), PEOPLE, "decision", expect=expect, only="monotone")


def test_relations_of_the_user():
    class Richer(dm.Relation):
        name = "richer"
        statement = "more income is never a reason to reject"

        def follow_up(self, frame, rng):
            return frame.assign(income=(frame.income + 20).clip(upper=199))

        def expects(self, before, after):
            return ~((before != "reject") & (after == "reject"))

    assert not dm.test(Lender(PEOPLE), PEOPLE, "decision", expect=Richer(), only="invariant").findings
    result = dm.test(NotMonotone(PEOPLE), PEOPLE, "decision", expect=[Richer()], only="invariant")
    assert result.findings[0].title == "A relation is violated: richer"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"only": "nonsense"}, "must be one of 'repeats'"),
        ({"budget": "soon"}, "not understood"),
        ({"target": "decisoin"}, "Did you mean 'decision'"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"timeout": 0}, "above 0"),
        ({"baseline": 7}, "a Front, a path or None"),
        ({"baseline": "nowhere.parquet"}, "nowhere.parquet"),
        ({"engine": "abacus"}, "engine"),
        ({"kinds": {"incme": "integer"}}, "incme"),
        ({"space": dm.Space.from_frame(PEOPLE), "kinds": {"age": "integer"}}, "only one of the two"),
    ],
)
def test_invalid_arguments_are_reported(options, says):
    with pytest.raises(UsageError, match=says):
        dm.test(Lender(PEOPLE), PEOPLE, **({"target": "decision"} | options))


@pytest.mark.slow
def test_invalid_data_are_reported():
    with pytest.raises(DataError, match="no rows"):
        dm.test(Lender(PEOPLE), PEOPLE.head(0), "decision")
    with pytest.raises(ArgumentError, match="no inputs to start from"):
        dm.test(Lender(PEOPLE))
    assert dm.test(Lender(PEOPLE), PEOPLE.head(1), "decision").outcomes  # one row is data, too


# -- systems that misbehave ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_system_without_any_answer_fails():
    def broken(frame):
        raise RuntimeError("no weights")

    with pytest.raises(SystemFailed, match=r"no answer to any of 60 rows.*no weights"):
        dm.test(broken, PEOPLE.head(60), "decision")


def test_a_random_system_does_not_repeat_its_answers():
    rng = np.random.default_rng(0)
    result = dm.test(lambda frame: rng.choice(["a", "b"], len(frame)), FEW.drop(columns="decision"))
    assert result.findings[0].check == "repeats"
    assert "do not repeat" in outcome(result, "row order").why


@pytest.mark.slow
def test_a_check_that_breaks_does_not_stop_the_others(monkeypatch):
    from datamorphic.audit.checks import health

    def breaks(context, turn):
        raise ZeroDivisionError("ours")

    broken = [
        c
        if c.name != "classes"
        else health.Check(
            name="classes", question=c.question, weight=1, find_skip_reason=lambda context: "", run=breaks
        )
        for c in CHECKS
    ]
    monkeypatch.setattr("datamorphic.audit.run.CHECKS", broken)
    result = dm.test(Lender(PEOPLE), PEOPLE, "decision", only=["answers", "classes", "adequacy"])
    assert outcome(result, "classes").state == "broke"
    assert outcome(result, "classes").why == "ZeroDivisionError: ours"
    assert not result.passed
    assert outcome(result, "adequacy").state != "not run"


@pytest.mark.slow
def test_hanging_rows_are_reported_with_a_timeout():
    def hangs(frame):
        if (frame.income > 190).any() and len(frame) < 3:
            time.sleep(60)
        if (frame.income > 190).any():
            raise ValueError("too rich")
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(
        hangs, PEOPLE.head(40).assign(income=lambda f: f.income.clip(upper=188)), "decision", timeout=5, only="repeats"
    )
    assert result.passed


@pytest.mark.slow
def test_a_budget_of_runs_is_not_exceeded():
    result = dm.test(Lender(PEOPLE), PEOPLE, "decision", expect=PROMISES, protected="gender", budget="2000 runs")
    assert result.calls <= 2100  # and what was asked to measure the pace
    tight = dm.test(Lender(PEOPLE), PEOPLE, "decision", budget="0.01s")
    assert "budget" in outcome(tight, "borders").why


@pytest.mark.slow
def test_a_slow_system_gets_fewer_queries(clock):
    batch_sizes = []

    def slow(frame):
        batch_sizes.append(len(frame))
        clock.move(0.002 * len(frame))
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(slow, PEOPLE, "decision", budget="2s")
    assert sum(batch_sizes) < 1500  # two seconds and a little; unlimited it asks ten times as much
    assert outcome(result, "answers").state == "passed"


def test_ctrl_c_keeps_earlier_findings():
    call_sizes = []

    def predict_and_interrupt(frame):
        call_sizes.append(len(frame))
        if len(call_sizes) == 40:  # after the first checks, each of which queries a few times
            os.kill(os.getpid(), signal.SIGINT)
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(predict_and_interrupt, PEOPLE, "decision", budget="1m")
    assert "interrupted" in [item.why for item in result.outcomes]
    assert outcome(result, "repeats").state == "passed"


@pytest.mark.slow
def test_a_slow_first_call_does_not_count(clock):
    class Lazy:
        ready = False

        def __call__(self, frame):
            if not self.ready:
                clock.move(0.5)
                self.ready = True
            return np.where(frame.income > 90, "a", "b")

    result = dm.test(Lazy(), PEOPLE, "decision", budget="20s", only=["answers", "row order"])
    assert outcome(result, "answers").why.startswith("200 given inputs and 1,998 generated ones")
    assert outcome(result, "row order").why == "200 cases, 1,000 comparisons"


@pytest.mark.slow
@pytest.mark.parametrize("calls_before_pause", [1, 2, 3])
def test_one_pause_of_the_computer_does_not_make_a_system_seem_slow(calls_before_pause, clock):
    call_sizes = []

    def predict_with_pause(frame):
        call_sizes.append(len(frame))
        if len(call_sizes) == calls_before_pause + 1:
            clock.move(1.0)
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(predict_with_pause, PEOPLE, "decision", budget="30s", only="answers", progress=False)
    assert outcome(result, "answers").why.startswith("200 given inputs and 1,998 generated ones")


@pytest.mark.slow
def test_the_cost_of_a_call_is_not_a_cost_per_row(clock):
    def far(frame):
        clock.move(0.02)
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(far, PEOPLE, "decision", budget="30s", only=["answers", "row order", "batches"])
    assert outcome(result, "answers").why.startswith("200 given inputs and 1,998 generated ones")
    assert outcome(result, "row order").state == "passed"


@pytest.mark.slow
def test_a_small_budget_goes_to_the_first_checks():
    rng = np.random.default_rng(0)
    random = dm.test(lambda frame: rng.choice(["a", "b"], len(frame)), PEOPLE, "decision", budget="3000 runs")
    assert not random.passed
    assert outcome(random, "repeats").state == "found"
    silent = dm.test(SilentInACorner(people(400)), people(400), "decision", budget="6000 runs")
    assert outcome(silent, "answers").state == "found"
    assert silent.calls <= 6_600


@pytest.mark.slow
def test_a_system_that_cannot_take_a_batch():
    def one_only(frame):
        return ["a"]

    result = dm.test(one_only, PEOPLE.head(30), "decision", only="answers", budget="300 runs")
    assert result.findings[0].title == "The model fails on a batch, but answers its rows in smaller batches"


@pytest.mark.slow
def test_findings_are_reported_although_time_is_up(clock):
    def raises(frame):
        clock.move(0.01 * len(frame))
        if (frame.income > 150).any():
            raise ValueError("too rich")
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(raises, PEOPLE.head(60), "decision", budget="6s", only="answers")
    assert "too rich" in result.findings[0].examples[0].text


@pytest.mark.slow
def test_relations_that_were_not_tried_do_not_pass():
    vague = dm.test(Lender(PEOPLE), PEOPLE, "decision", expect={"monotone": {"income": "up"}}, only="monotone")
    assert outcome(vague, "monotone").state == "not run"
    assert "say which one" in outcome(vague, "monotone").why
    assert not vague.passed
    with pytest.raises(ArgumentError, match="The model has no class"):
        dm.test(Lender(PEOPLE), PEOPLE, "decision", expect={"monotone": {"income": "up"}, "outcome": "yes"})
    function = dm.test(
        lambda f: f.income * 2,
        PEOPLE,
        "decision",
        expect={"monotone": {"income": "up"}, "outcome": "yes"},
        only="monotone",
    )
    assert outcome(function, "monotone").state == "broke"
    assert "answers are numbers" in outcome(function, "monotone").why


@pytest.mark.slow
def test_a_broken_relation_does_not_hide_other_findings():
    class Short(dm.Relation):
        name = "short"

        def follow_up(self, frame, rng):
            return frame.iloc[:3]

    result = dm.test(
        SilentInACorner(PEOPLE), PEOPLE.head(100), "decision", expect=Short(), only=["invariant", "answers"]
    )
    assert "returned 3 rows" in outcome(result, "invariant").why
    assert outcome(result, "answers").state == "found"


def test_unfitted_learners_are_reported():
    from sklearn.ensemble import StackingClassifier
    from sklearn.naive_bayes import GaussianNB, MultinomialNB

    frame = PEOPLE[["income", "debt", "decision"]]
    stacked = StackingClassifier([("nb", GaussianNB())], final_estimator=GaussianNB())
    assert dm.test(stacked, frame, "decision", only=["repeats"]).passed
    with pytest.raises(UsageError, match="could not be fitted"):
        dm.test(MultinomialNB(), frame.assign(debt=-frame.debt), "decision")


@pytest.mark.slow
def test_the_command_to_reproduce_a_finding_works():
    result = audit(NotMonotone)
    finding = next(item for item in result.findings if item.check == "monotone")
    names = {"dm": dm, "model": NotMonotone(PEOPLE), "data": FEW}
    assert replace(finding, evidence=()) in eval(result.command(finding), names).findings


# -- what is kept ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_violations_are_stored_and_tried_first(tmp_path):
    store = tmp_path / "runs.sqlite"
    inputs = PEOPLE[PEOPLE.income < 100]

    class Narrow(Lender):
        """Looks at gender only where hardly anybody is."""

        def predict(self, frame):
            answers = super().predict(frame)
            answers[((frame.gender == "f") & (frame.income == inputs.income.iloc[3])).to_numpy()] = "odd"
            return answers

    model = Narrow(PEOPLE)
    first = dm.test(model, inputs, "decision", protected="gender", only="protected", store=store)
    assert first.findings
    few = inputs.drop(index=inputs.index[3])  # the case is no longer among the data
    assert not dm.test(model, few, "decision", protected="gender", only="protected").findings
    space = dm.Space.from_frame(inputs.drop(columns="decision"))
    again = dm.test(model, few, "decision", protected="gender", only="protected", store=store, space=space)
    assert again.findings  # remembered
    mended = dm.test(Lender(PEOPLE), few, "decision", protected="gender", only="protected", store=store, space=space)
    assert mended.passed
    with dm.Store.open(store) as opened:
        runs = opened.runs()
        assert [run.verb for run in runs] == ["test"] * 3
        assert runs[0].summary["faults"] == 1
        with opened.fetch(runs[0].id, "result.json") as file:
            assert file.read_text() == first.to_json()


def test_hints_for_columns_shape_the_space_and_the_request():
    result = dm.test(
        Lender(PEOPLE),
        PEOPLE,
        "decision",
        only="borders",
        budget="2000 runs",
        kinds={"age": "continuous"},
        bounds={"age": (0, 150)},
    )
    age = result.front.space["age"]
    assert (age.kind, age.low, age.high) == ("continuous", 0, 150)
    assert "kinds={'age': 'continuous'}, bounds={'age': [0, 150]}" in result.code()


def test_outcomes_say_for_programs_why_a_check_was_skipped():
    result = dm.test(Lender(PEOPLE), PEOPLE, "decision", only=["answers", "monotone"], budget=None)
    assert outcome(result, "monotone").skip_reason == "inapplicable"
    assert outcome(result, "borders").skip_reason == "not requested"
    assert outcome(result, "answers").skip_reason == ""
    spent = dm.test(Lender(PEOPLE), PEOPLE, "decision", only="borders", budget="1 runs")
    assert outcome(spent, "borders").unfinished


class Positional:
    """A model that reads columns by position."""

    def predict(self, frame):
        return np.where(frame.to_numpy()[:, 0].astype(float) > 90, "a", "b")


def test_columns_read_by_position_are_advice_for_libraries_that_are_known_for_it():
    inputs = PEOPLE.select_dtypes("number")
    (finding,) = dm.test(Positional(), inputs, only="column order").findings
    assert finding.level == "concern"
    known = type("Known", (Positional,), {"__module__": "lightgbm.sklearn"})
    (finding,) = dm.test(known(), inputs, only="column order").findings
    assert finding.level == "advice"
    assert "known of this kind of model" in finding.detail


@pytest.mark.slow
@pytest.mark.parametrize("model", [LooksAtGender, NotMonotone, *([Lender, SilentInACorner] if LONG else [])])
def test_findings_have_one_count_a_remedy_and_plain_words(model):
    for finding in audit(model).single_findings:
        assert finding.remedy, finding
        assert finding.inputs or not finding.examples, finding
        if finding.noun == "row" and finding.rows:
            assert (finding.affected_rows, finding.rows) == (finding.cases, finding.cases_tried), finding
        if finding.rows:
            assert f"{finding.affected_rows:,} of" in finding.detail or finding.affected_rows == finding.rows, finding
        words = set(f"{finding.title} {finding.detail}".lower().split())
        assert not words & {"sweep", "swept", "cut", "cuts", "front", "mutant", "mutants", "kill"}, finding
        assert "MR-" not in finding.title
