"""The table of necessity: what each kind of learner must keep, tried on the learners themselves."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from datamorphic._tables import parse_rows
from datamorphic.data.knn import KNN
from datamorphic.data.naive_bayes import NaiveBayes
from datamorphic.errors import DataError, UsageError
from datamorphic.relations.algebra.base import INAPPLICABLE, VIOLATED
from datamorphic.relations.learners.clusterers import CLUSTER_RELATIONS
from datamorphic.relations.learners.exemptions import EXEMPTIONS
from datamorphic.relations.learners.necessity import (
    STRICTNESS,
    find_requirement,
    is_known_learner,
    override_requirement,
)
from datamorphic.relations.learners.requirement import SCALING_UNDONE, SIGNS_FLIPPED, Requirement, may_fail
from datamorphic.relations.learners.result import JudgingOptions, LearnerSubject
from datamorphic.relations.learners.runner import answer_flow, check_relation
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.relations.learners.smoothing import SMOOTHING_FACTORS, is_smoothing_decisive
from datamorphic.relations.learners.table import (
    CONDITIONS,
    RequirementRow,
    build_requirements,
    read_learners,
    read_sections,
    read_ties,
)
from datamorphic.systems.learner import Learner, has_weight_parameter
from datamorphic.systems.training import Training, TrainingBatch
from support.cases import LONG, in_one_test

FAMILIES = {
    "1nn": KNeighborsClassifier(1),
    "3nn": KNeighborsClassifier(3),
    "5nn, weighted": KNeighborsClassifier(5, weights="distance"),
    "centroids": NearestCentroid(),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(),
    "short tree": DecisionTreeClassifier(max_depth=3),
    "forest": RandomForestClassifier(3),
    "extra trees": ExtraTreesClassifier(3),
    "boosting": GradientBoostingClassifier(n_estimators=2),
    "histograms": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3),
    "logistic": LogisticRegression(solver="newton-cholesky"),
    "svm, linear": SVC(kernel="linear", max_iter=5000),
    "svm": SVC(),
    "linear svm": LinearSVC(max_iter=200),
    "network": MLPClassifier((4,), max_iter=5),
}
PIPELINES = {
    "scaled 3nn": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "scaled bayes": make_pipeline(MinMaxScaler(), GaussianNB()),
    "scaled logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Threads that wait for each other take longer than these small fits."""
    with threadpool_limits(1):
        yield


def judged(learner, name, data, seed=0, source=None, ties="aside"):
    """What became of a relation, judged as the table says."""
    view = find_requirement(name, learner)
    judging = JudgingOptions("score_exact" if name == "MR-3.2 odds" else view.strictness, ties, seed)
    numbers = range(len(data.trainings))
    flow = check_relation(
        LEARNER_RELATIONS[name],
        LearnerSubject(learner),
        data,
        numbers,
        judging,
        source_outputs=source,
        requirement=view,
    )
    return answer_flow(flow, Learner(learner, seed=seed))


def necessary(learner):
    return {name for name in LEARNER_RELATIONS if find_requirement(name, learner).necessary}


# -- the table -------------------------------------------------------------------------------------------------

# what the study says of k = 1, of k > 1 and of naive Bayes
PUBLISHED = {
    "MR-0": (True, True, True),
    "MR-1.1": (True, False, True),
    "MR-1.2": (True, True, True),
    "MR-2.1": (True, True, True),
    "MR-2.2": (True, False, True),
    "MR-3.1": (True, True, True),
    "MR-3.2": (True, True, True),
    "MR-4.1": (True, False, True),
    "MR-4.2": (True, True, False),
    "MR-5.1": (True, False, True),
    "MR-5.2": (True, False, False),
    "MR-NBC": (False, False, True),
    # and what follows from the same arguments
    "MR-0 mirrored": (True, True, True),
    "MR-0 subset": (False, False, True),
    "MR-2.2 shared": (True, True, True),
    "MR-3.2 odds": (True, False, True),
    "MR-4.1 subset": (True, False, True),
    "sample order": (True, True, True),
    "constant column": (True, True, True),
    "weights": (False, False, True),
    "sparse": (True, True, False),
    "contradicted row": (False, False, False),
}
ALGORITHMS = {
    "k = 1": [KNeighborsClassifier(1), KNeighborsClassifier(1, weights="distance"), KNN(1)],
    "k > 1": [
        KNeighborsClassifier(3),
        KNeighborsClassifier(2, algorithm="brute"),
        KNN(5),
        KNeighborsClassifier(5, weights="distance"),
    ],
    "naive Bayes": [GaussianNB(), NaiveBayes()],
}


@in_one_test("name, algorithm", list(product(PUBLISHED, ALGORITHMS)))
def test_the_published_table(name, algorithm):
    needed = PUBLISHED[name][list(ALGORITHMS).index(algorithm)]
    for learner in ALGORITHMS[algorithm]:
        assert find_requirement(name, learner).necessary == needed, learner


OF_CLASSIFIERS = {"label renaming", "label type", "probabilities"}
OF_ALL = {
    *("refit", "queried again", "queried alone", "queried backwards"),
    *("fitted before", "frames", "accepts sparse", "answers", "unit weights"),
}
ALWAYS = OF_ALL | OF_CLASSIFIERS
WEIGHT_RELATIONS = {"unit weights", "zero weights", "class without weight"}
OTHERS = {
    "centroids": set(PUBLISHED) - {"MR-0 subset", "MR-3.2 odds", "MR-4.2", "MR-5.2", "weights", "contradicted row"},
    "tree": {"MR-0", "MR-1.1", "MR-3.1", "contradicted row", "sample order", "weights", "sparse"} | WEIGHT_RELATIONS,
    "short tree": {"MR-0", "sample order", "weights", "sparse"} | WEIGHT_RELATIONS,
    "forest": {"MR-0", "sparse"},
    "extra trees": {"MR-0", "MR-3.1", "contradicted row", "sample order", "weights", "sparse"} | WEIGHT_RELATIONS,
    "boosting": {"MR-0"},
    "histograms": {"MR-0", "MR-2.1", "constant column"},
    "logistic": {"MR-1.1", "MR-1.2", "sample order", "weights", "sparse", "unit weights", "zero weights"},
    "svm, linear": set(),
    "svm": set(),
    "linear svm": set(),
    "network": set(),
}


@in_one_test("family", OTHERS)
def test_necessary_relations_of_other_learners(family):
    drawn_by_weight = {"unit weights"} if family == "forest" else set()
    assert necessary(FAMILIES[family]) == (OTHERS[family] | ALWAYS) - drawn_by_weight


@in_one_test("learner", FAMILIES.values())
def test_every_family_has_a_row_for_every_relation(learner):
    assert is_known_learner(learner)
    assert {"refit", "label renaming"} <= {
        name for name in LEARNER_RELATIONS if find_requirement(name, learner).necessary
    }
    for name in LEARNER_RELATIONS:
        held = find_requirement(name, learner)
        assert held.strictness in STRICTNESS
        assert 0 < len(held.reason) < 115
        assert "\n" not in held.reason
        assert "it is unknown" not in held.reason, name
        assert not (held.necessary and held.strictness not in ("class_exact", "score_exact"))


def test_all_learners_of_the_table_are_tested():
    names = {type(learner).__name__ for learner in FAMILIES.values()}
    classifiers = {name for name, row in read_learners().items() if row.kind == "classifier"}
    of_any_learner = {"any classifier", "KNeighborsRegressor", "BaggingClassifier", "OneVsRestClassifier"}
    assert names == classifiers - of_any_learner


def test_the_files_of_the_table_fit_together():
    sections, learners = read_sections(), read_learners().values()
    assert {section for row in learners for section in row.sections} == set(sections)
    assert {row.exemption for row in learners} == {"", *EXEMPTIONS}
    rows = [row for section in sections.values() for row in section]
    assert {condition.removeprefix("not ") for row in rows for condition in row.when} == set(CONDITIONS)
    known = {*LEARNER_RELATIONS, *CLUSTER_RELATIONS, SCALING_UNDONE, SIGNS_FLIPPED, "*"}
    assert {relation for row in rows for relation in row.relations} <= known
    for row in rows:
        assert bool(row.relations) == bool(row.reason) == (row.requirement != "stop")


def test_every_requirement_says_whether_ties_may_decide():
    """A section that is missing from ties.csv would hide faults behind ties, or report ties as faults."""
    ties, sections = read_ties(), read_sections()
    for section, rows in sections.items():
        necessary = {name for row in rows if row.requirement.startswith("must") for name in row.relations}
        undecided = {name for name in necessary if not {(section, name), (section, "*")} & set(ties)}
        assert not undecided, f"Say in ties.csv whether a tie may decide about {undecided} of {section!r}."
    for section, relation in ties:
        names = {name for row in sections[section] for name in row.relations}
        assert relation in names | {"*"}, (section, relation)


def test_ties_may_decide_where_the_definition_leaves_a_choice():
    nearest, tree = KNeighborsClassifier(1), DecisionTreeClassifier()
    assert find_requirement("sample order", nearest).ties
    assert not find_requirement("refit", nearest).ties
    for name in ("MR-0", "MR-1.1", "MR-3.1", "sample order", "sparse", "weights"):
        assert not find_requirement(name, tree).ties, name
    assert not find_requirement("all features scaled", KMeans(2)).ties
    assert find_requirement("rows reordered", KMeans(2)).ties
    # the mean of the rows is rounded differently in another order
    scaled = make_pipeline(StandardScaler(), GaussianNB())
    assert find_requirement("MR-1.2", scaled).ties
    assert not find_requirement("refit", scaled).ties
    assert find_requirement("sample order", object()).ties  # unknown


class SkipsGaps(BaseEstimator):
    """Nearest row, with gaps at a distance that depends on the order of rows: wrong only where numbers are equal."""

    def fit(self, x, y):
        self.x, self.y = x, y
        return self

    def predict(self, t):
        return self.y[[np.nansum(np.abs(self.x - case), axis=1).argmin() for case in t]]


def test_ties_are_not_set_aside_where_values_are_missing_or_nothing_is_left_open():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (60, 3)).astype(float)
    full = Training(x[:40], rng.choice(["a", "b"], 40), x[40:])
    x = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    gaps = Training(x[:40], full.y, x[40:])
    for requirement, data, is_set_aside in (
        (may_fail("unknown"), full, True),
        (may_fail("unknown"), gaps, False),
        (Requirement(True, "class_exact", "neighbours may tie"), full, True),
        (Requirement(True, "class_exact", "neighbours may tie"), gaps, False),
        (Requirement(True, "class_exact", "counts are exact", ties=False), full, False),
    ):
        flow = check_relation(
            LEARNER_RELATIONS["sample order"],
            LearnerSubject(SkipsGaps()),
            TrainingBatch([data]),
            [0],
            JudgingOptions(),
            requirement=requirement,
        )
        outcome = answer_flow(flow, Learner(SkipsGaps()))
        assert bool(outcome.tied.any()) == is_set_aside
        assert is_set_aside or len(outcome.violations)


def test_a_wrong_condition_is_named():
    text = "section,when,relations,requirement,reason\nforests,no such,MR-0,may fail,why\n"
    with pytest.raises(DataError, match=r"necessity\.csv, row 1: There is no condition 'no such'"):
        parse_rows(text, "necessity.csv", RequirementRow)


def test_later_rows_replace_earlier_ones_and_stop_ends_the_table():
    trees, neighbours = read_learners()["RandomForestClassifier"], read_learners()["KNeighborsClassifier"]
    assert build_requirements(trees, RandomForestClassifier(bootstrap=False), "")["sample order"].necessary
    assert not build_requirements(trees, RandomForestClassifier(), "")["sample order"].necessary
    assert not any(
        requirement.necessary
        for requirement in build_requirements(trees, RandomForestClassifier(n_jobs=2), "").values()
    )
    unknown = build_requirements(neighbours, KNeighborsClassifier(metric="cosine"), "")
    assert set(unknown) == ALWAYS | WEIGHT_RELATIONS | {"overruled"}


# -- tried on the learners -------------------------------------------------------------------------------------


@cache
def awkward():
    """Few rows, many rows, ties, doubled rows with other labels, real numbers."""
    rng = np.random.default_rng(2026)
    sets = [
        draw_random_training(rng, 2, min_rows=most // 2, max_rows=most) for most in ((3, 10, 50) if LONG else (10,))
    ]
    whole = rng.integers(0, 3, (23, 3)).astype(float)
    sets.append(Training(whole[:20], np.array(["a", "b", "c"])[rng.integers(3, size=20)], whole[20:]))
    twice = draw_random_training(rng, 2, min_rows=6, max_rows=12)
    twice = twice.rows(np.tile(np.arange(len(twice.y)), 2))
    sets.append(twice.labelled(rng.permutation(twice.y)))
    x, y = load_iris(return_X_y=True)
    order = rng.permutation(len(x))
    return TrainingBatch([*(sets if LONG else sets[:2]), Training(x[order[:50]], y[order[:50]], x[order[50:53]])])


EVERYONE = FAMILIES | PIPELINES
ONE_OF_EACH_KIND = (
    EVERYONE
    if LONG
    else {name: EVERYONE[name] for name in EVERYONE if name not in ("5nn, weighted", "scaled 3nn", "scaled bayes")}
)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ONE_OF_EACH_KIND.values(), ids=ONE_OF_EACH_KIND)
def test_nothing_necessary_is_violated(learner):
    data, counts = awkward(), Counter()
    source = Learner(learner).execute(data, scores=True)
    for name in LEARNER_RELATIONS:
        if find_requirement(name, learner).necessary:
            outcome = judged(learner, name, data, source=source)
            assert not len(outcome.violations), (name, outcome.data.training_index[outcome.violations])
            assert set(outcome.verdicts) <= {0, INAPPLICABLE}, outcome.message
            counts[name] = outcome.count(0)
    for name, applies in (
        ("accepts sparse", get_tags(learner).input_tags.sparse),
        ("unit weights", has_weight_parameter(learner)),
        ("probabilities", hasattr(learner, "predict_proba")),
    ):
        assert applies or not counts.pop(name, 0)
    assert min(counts.values()) >= (8 if LONG else 4), counts


def test_tiny_inputs_are_inapplicable():
    rng = np.random.default_rng(0)
    data = TrainingBatch([draw_random_training(rng, max_rows=1) for _ in range(3)])
    for name in LEARNER_RELATIONS:
        outcome = judged(KNeighborsClassifier(3), name, data)
        assert set(outcome.verdicts) == {INAPPLICABLE}
        assert len(outcome.messages) == 3


@cache
def ordinary(number):
    rng = np.random.default_rng([3, number])
    data = draw_random_training(rng, 10, min_rows=12, max_rows=30)
    return TrainingBatch([data]) if len(data.classes) == 3 else ordinary(number + 1000)


FAILING = FAMILIES | {"svm, fixed": SVC(gamma=0.05), "bayes, priors": GaussianNB(priors=[0.8, 0.1, 0.1])}


@pytest.mark.slow
@pytest.mark.parametrize("learner", FAILING.values(), ids=FAILING)
def test_expected_failures_occur(learner):
    """The table is no pessimist: these are violated on ordinary data, in which no numbers tie."""
    left = {name for name in LEARNER_RELATIONS if find_requirement(name, learner).strictness == "expected_failure"}
    assert left
    for number in range(40):
        data = ordinary(number)
        source = Learner(learner, seed=number).execute(data, scores=True)
        left -= {name for name in left if judged(learner, name, data, number, source, "count").count(VIOLATED)}
        if not left:
            break
    assert not left


# -- pipelines, and learners of others -------------------------------------------------------------------------


def test_requirements_of_pipelines():
    scaled = make_pipeline(StandardScaler(), "passthrough", make_pipeline(KNeighborsClassifier(1)))
    # with other rows a standard deviation is another; scaled, an attribute's own scale makes no difference
    other_rows = {
        "MR-3.1",
        "MR-3.2",
        "MR-3.2 odds",
        "MR-4.1",
        "MR-4.1 subset",
        "MR-5.1",
        "MR-5.2",
        "sparse",
        "overruled",
    }
    assert necessary(scaled) == (necessary(KNeighborsClassifier(1)) - other_rows) | {"MR-0 subset"}
    assert "learns from the changed rows" in find_requirement("MR-3.2", scaled).reason
    assert (
        "StandardScaler undoes"
        in find_requirement("MR-0", make_pipeline(StandardScaler(), LogisticRegression())).reason
    )
    half = make_pipeline(StandardScaler(with_std=False), LogisticRegression())
    assert not find_requirement("MR-0", half).necessary
    for learner in (MLPClassifier(), SVC(), LinearSVC()):
        assert not find_requirement("MR-0", make_pipeline(StandardScaler(), learner)).necessary
    columns = ColumnTransformer([("c", OneHotEncoder(), ["c"]), ("n", make_pipeline(StandardScaler()), ["n"])])
    assert necessary(make_pipeline(columns, GaussianNB())) == ALWAYS | {"MR-1.1"}
    reason = "it is unknown whether MR-0 must hold in a pipeline with ColumnTransformer"
    assert find_requirement("MR-0", make_pipeline(columns, GaussianNB())).reason == reason
    for steps in ([PCA(2)], [StandardScaler(), PCA(2)], [ColumnTransformer([("p", PCA(1), ["c"])])]):
        unknown = make_pipeline(*steps, GaussianNB())
        assert not is_known_learner(unknown)
        assert necessary(unknown) == ALWAYS


class Own:
    """A learner of one's own, that may say whose algorithm it is."""

    def __init__(self, like=None):
        self.like = like


def test_a_learner_may_name_its_algorithm():
    bayes = GaussianNB(priors=[0.5, 0.5])
    for learner, like in (
        (Own(bayes), bayes),
        (make_pipeline(StandardScaler(), Own(bayes)), make_pipeline(StandardScaler(), bayes)),
        (Own(make_pipeline(StandardScaler(), bayes)), make_pipeline(StandardScaler(), bayes)),
        (KNN(4), KNeighborsClassifier(4)),
    ):
        assert is_known_learner(learner)
        assert necessary(learner) == necessary(like)
    own = Own()
    own.like = own
    for unknown in (own, Own(), Own("GaussianNB"), Own(Own(bayes)), Own(PCA())):
        assert not is_known_learner(unknown)
        assert not necessary(unknown)
    bayes_with_claim = GaussianNB()
    bayes_with_claim.like = KNeighborsClassifier(1)  # scikit-learn's own are what they are
    assert find_requirement("MR-4.2", bayes_with_claim) == find_requirement("MR-4.2", GaussianNB())


def test_every_learner_of_a_known_library_must_answer_alike():
    expected = {
        RidgeClassifier(): ALWAYS,
        BaggingClassifier(DecisionTreeClassifier()): ALWAYS - {"unit weights"},
        Ridge(solver="sag"): OF_ALL,
        PCA(): OF_ALL,
        IsolationForest(): OF_ALL,
    }
    for learner, names in expected.items():
        assert necessary(learner) == names

    class Own(DecisionTreeClassifier):
        pass

    assert not necessary(Own())
    assert not necessary(BaggingClassifier(Own()))  # its parts may draw at random


def test_weights_of_trees_are_not_comparable_where_values_are_missing():
    for second, is_necessary in ((2.0, True), (np.nan, False)):
        x = np.array([[1.0], [second], [3.0]])
        data = Training(x, np.array([0, 1, 0]), x[2:])
        assert find_requirement("weights", DecisionTreeClassifier(), data).necessary is is_necessary


def test_unknown_learners_have_no_necessary_relations():
    class Derived(GaussianNB):
        pass

    for learner in (Derived(), object()):
        assert not is_known_learner(learner)
        for name in LEARNER_RELATIONS:
            assert not find_requirement(name, learner).necessary
            assert "it is unknown whether" in find_requirement(name, learner).reason
    assert "it is unknown whether" in find_requirement("my own", GaussianNB()).reason


@in_one_test(
    ("name", "keeps", "parameters"),
    [
        ("MR-0", KNeighborsClassifier(), {"metric": "cosine"}),
        ("MR-1.2", KNeighborsClassifier(), {"metric_params": {"w": [1, 2]}}),
        ("MR-2.2 shared", KNeighborsClassifier(), {"metric": "chebyshev"}),
        ("MR-2.2 shared", KNeighborsClassifier(), {"p": np.inf}),
        ("sparse", KNeighborsClassifier(), {"p": 3}),
        ("MR-1.1", NearestCentroid(), {"priors": [0.5, 0.5]}),
        ("MR-2.1", GaussianNB(), {"var_smoothing": 0}),
        ("MR-3.2", GaussianNB(), {"var_smoothing": 0.1}),
        ("MR-4.1", GaussianNB(), {"priors": [0.5, 0.5]}),
        ("MR-1.1", DecisionTreeClassifier(), {"criterion": "entropy"}),
        ("MR-3.1", DecisionTreeClassifier(), {"ccp_alpha": 0.1}),
        ("weights", DecisionTreeClassifier(), {"min_samples_leaf": 2}),
        ("sample order", DecisionTreeClassifier(), {"class_weight": "balanced"}),
        ("sample order", ExtraTreesClassifier(), {"bootstrap": True}),
        ("refit", RandomForestClassifier(), {"n_jobs": 2}),
        ("MR-0", GradientBoostingClassifier(), {"init": GaussianNB()}),
        ("MR-0", HistGradientBoostingClassifier(), {"categorical_features": [0]}),
        ("MR-2.1", HistGradientBoostingClassifier(), {"max_features": 0.5}),
        ("MR-1.2", LogisticRegression(solver="newton-cholesky"), {"solver": "saga"}),
        ("MR-1.2", LogisticRegression(solver="newton-cholesky"), {"C": 1e6}),
        ("weights", LogisticRegression(solver="newton-cholesky"), {"class_weight": {0: 2}}),
        ("zero weights", LinearSVC(dual=False), {"dual": True}),
        ("sample order", Ridge(), {"solver": "sag"}),
        ("weights", DecisionTreeRegressor(), {"min_samples_leaf": 2}),
    ],
)
def test_parameters_make_relations_unnecessary(name, keeps, parameters):
    assert find_requirement(name, keeps).necessary
    assert not find_requirement(name, clone(keeps).set_params(**parameters)).necessary


# -- data that take promises away ------------------------------------------------------------------------------


def test_smoothing_makes_relations_of_naive_bayes_unnecessary():
    """A class that does not vary has the variance of the smoothing alone, and doubling changes it."""
    rng = np.random.default_rng(0)
    flat = np.array([np.append(np.zeros(15), rng.uniform(0, 10, 15)) for _ in range(12)]).T
    near = Training(flat, np.repeat([0, 1], 15), np.full((1, 12), 6e-4))
    iris = awkward().trainings[-1]
    assert not find_requirement("MR-3.2", GaussianNB(), near).necessary
    assert "decisive" in find_requirement("MR-3.2", GaussianNB(), near).reason
    assert find_requirement("MR-1.1", GaussianNB(), near).necessary
    assert all(
        find_requirement(name, GaussianNB(), iris).necessary for name in SMOOTHING_FACTORS if name != "MR-3.2 odds"
    )


@pytest.mark.slow
def test_indecisive_smoothing_changes_no_prediction():
    """The bounds, beside fits with as much smoothing as the follow-up data may have."""
    counts = Counter()
    for number in range(40 if LONG else 16):
        data = draw_random_training(np.random.default_rng(number), 4, min_rows=2, max_rows=3 + number % 6)
        if len(data.classes) < 2:
            continue
        before = GaussianNB().fit(data.x, data.y)
        tells = is_smoothing_decisive("MR-0 subset", before, data)
        counts[tells] += 1
        if not tells:
            for times in (1 / 4, 1 / 2, 2, 4):
                after = GaussianNB(var_smoothing=times * 1e-9).fit(data.x, data.y)
                assert after.predict(data.t).tolist() == before.predict(data.t).tolist()
        if not is_smoothing_decisive("MR-3.2 odds", before, data):
            after = GaussianNB(var_smoothing=2e-9).fit(data.x, data.y)
            np.testing.assert_allclose(after.predict_proba(data.t), before.predict_proba(data.t), atol=1e-6)
    assert min(counts[True], counts[False]) > 2, counts


X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1] * 3)


@in_one_test(
    ("name", "learner", "x", "why"),
    [
        ("MR-0", KNeighborsClassifier(3), pd.DataFrame({"a": X[:, 0], "b": [True, False] * 3}), "booleans"),
        ("MR-0", GaussianNB(), pd.DataFrame({"a": X[:, 0], "b": [True, False] * 3}), "booleans"),
        ("MR-1.2", KNeighborsClassifier(3), X + 1e9, "far from zero"),
        ("MR-1.2", NearestCentroid(), X + 1e9, "far from zero"),
        ("MR-0", GaussianNB(), X + 1e9, "far from zero"),
        ("MR-0", DecisionTreeClassifier(), X + 1e7, "single precision"),
        ("MR-3.1", DecisionTreeClassifier(), X * 1e-6, "single precision"),
        ("MR-0", HistGradientBoostingClassifier(), X + 1e9, "far from zero"),
    ],
)
def test_data_make_relations_unnecessary(name, learner, x, why):
    t = x.iloc[:1] if hasattr(x, "iloc") else x[:1]
    assert why in find_requirement(name, learner, Training(x, Y, t)).reason
    assert find_requirement(name, learner, Training(X, Y, X[:1])).necessary
    assert find_requirement(name, learner).necessary
    assert find_requirement("refit", learner, Training(x, Y, t)).necessary
    if name != "MR-3.1":  # a scaler brings numbers near to zero
        assert find_requirement(name, make_pipeline(StandardScaler(), learner), Training(x, Y, t)).necessary


def test_values_on_a_threshold_and_equal_rows_make_relations_of_trees_unnecessary():
    tree, copies = DecisionTreeClassifier(), np.column_stack([X[:, 0] * 0, [np.nan, 1, 2, 3, 4, 5]])
    between, above = (
        Training(X, Y, X[2:3]),
        Training(X, Y, X[2:3] + 0.5),
    )  # 4 lies between 2 and 6, where a threshold may be
    for learner in (tree, HistGradientBoostingClassifier()):
        assert "on a threshold" in find_requirement("MR-0", learner, between).reason
        assert find_requirement("MR-0", learner, above).necessary
    assert find_requirement("sample order", tree, between).necessary
    assert find_requirement("MR-1.1", tree, Training(copies, Y, copies[:1])).necessary
    copies[1, 1] = np.nan  # now the first two rows are equal
    assert "equal rows" in find_requirement("MR-1.1", tree, Training(copies, Y, copies[:1])).reason
    assert find_requirement("MR-1.1", tree, Training(copies, np.array([0, 0, 1, 0, 1, 1]), copies[:1])).necessary


@pytest.mark.slow
@in_one_test("learner", [*EVERYONE.values(), GaussianNB(priors=[0.5, 0.5])])
def test_requirements_exist_for_unusual_data(learner):
    odd = pd.DataFrame({"a": [1.0, np.inf, -np.inf, 2.0], "b": [np.nan] * 4})
    words = pd.DataFrame({"c": list("uvuv")})
    same = pd.DataFrame({"a": [1.0] * 4})
    for x in (odd, odd[["b"]], words, same):
        data = Training(x, np.array(["p", 1, "q", 1], dtype=object), x[:1])
        for name in LEARNER_RELATIONS:
            assert find_requirement(name, learner, data).reason


# -- a user's own view -----------------------------------------------------------------------------------------


def test_a_requirement_can_be_overridden():
    held = find_requirement("MR-0", KNeighborsClassifier(3))
    assert override_requirement(held) == held
    assert override_requirement(held, "score_exact").strictness == "score_exact"
    assert override_requirement(held, "score_exact").necessary
    assert not override_requirement(held, "expected_failure").necessary
    failing = override_requirement(held, expected_failure="ours is a hash of the digits")
    assert (failing.necessary, failing.strictness, failing.reason) == (
        False,
        "expected_failure",
        "ours is a hash of the digits",
    )
    with pytest.raises(UsageError, match="one of 'class_exact'"):
        override_requirement(held, "exactly")
