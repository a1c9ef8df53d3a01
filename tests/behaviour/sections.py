"""The sections of the record that call the public functions of ``import datamorphic as dm``."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import planted_models as planted
from canonical import numeric_columns
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm

Section = Callable[[], Any]  # returns the numbers to be digested
SECTIONS: dict[str, Section] = {}
NEEDS: dict[str, str] = {}  # section name -> data set or package without which it is skipped
#: beginnings of the names of sections where a search is guided by scores from matrix products or exp: see `record`
SCORE_GUIDED = (
    "explore/iris logistic",
    "explore/iris svc",
    "explore/options",
    "explore/wine logistic",
    "front/diff/logistic and svc",
    "front/estimate",
    "front/intervals",
    "front/nearest",
    "plan/iris logistic",
    "select/options/surrogate",
    "test/wine logistic",
)

STRATEGIES = ("random_walk", "random_target", "directed_walk", "auto")
REFINEMENTS = ("auto", "bisect", "score", "multisection")
SUBJECTS = ("Box 1", "Box 2", "Circle 1", "Circle 2", "Line 1", "Line 2", "Sin 1", "Sin 2", "Triangle 1", "Triangle 2")
GENERATORS = (
    "MT-RT",
    "MT-ART-Min",
    "MT-ART-Avg",
    "MT-ART-Max",
    "SFIDMT-ART",
    "MT-BART",
    "MT-IPART",
    "MT-RPART",
    "SFIDMT-BART",
    "FSCS-ART",
    "MD-ART",
    "RRT",
    "RPART",
    "BART",
    "IPART",
    "Sobol",
    "Halton",
    "RT",
    "FSCS",
    "SFIDMT-ART-joint",
    "MT-ART-Min-2",
    "MT-ART-Avg-2",
    "MT-ART-Max-2",
    "FSCS-EC",
)
SELECTORS = (
    "random",
    "MRGS-ART",
    "MRGS-ART-fair",
    "MRGS-ART+",
    "MRGS-IPART",
    "MRGS-IPART-fair",
    "MRGS-RPART",
    "MRGS-distance",
    "feedback",
    "near-miss",
)
SCENARIOS = ("A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "C1", "C2", "C3", "C4", "C5")
PROGRAMS = ("BesselJ", "Erf", "PntLinePos", "Sin", "TriSquare", "TriSquarePlus", "rj", "sncndn", "tanh")
SHIPPED_DATA = ("iris", "wine", "breast_cancer")
LOCAL_DATA = (
    "bank_churners",
    "banknote",
    "cleveland",
    "german_credit",
    "haberman",
    "hawks",
    "ionosphere",
    "mammography",
    "mushroom",
    "oil_spill",
    "penguins",
    "phoneme",
    "pima",
    "red_wine",
    "sonar",
    "wheat_seeds",
)


def add(name: str, section: Section, needs: str = "") -> None:
    """Register a section; `needs` names a data set or a package without which it is skipped."""
    if name in SECTIONS:
        raise ValueError(f"Two sections are called {name!r}.")
    SECTIONS[name] = section
    if needs and needs not in SHIPPED_DATA:
        NEEDS[name] = needs


def section(name: str, needs: str = "") -> Callable[[Section], Section]:
    """Register the decorated function under a name."""

    def register(function: Section) -> Section:
        add(name, function, needs)
        return function

    return register


def reason_to_skip(name: str) -> str:
    """Return why a section cannot run here; an empty string if it can."""
    need = NEEDS.get(name)
    if need is None:
        return ""
    if need in LOCAL_DATA:
        return "" if need in dm.data.available() else f"the data set {need!r} is not in the data folder"
    return "" if importlib.util.find_spec(need) else f"the package {need!r} is not installed"


# -- models and data -------------------------------------------------------------------------------------------------


def load_inputs(name: str, rows: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a data set with its target and without it; at most `rows` rows, evenly spaced."""
    data = dm.data.load(name)
    if rows is not None and len(data) > rows:
        data = data.iloc[np.linspace(0, len(data) - 1, rows).astype(int)].reset_index(drop=True)
    return data, data.drop(columns="target")


def load_numbers(name: str, rows: int | None = None) -> pd.DataFrame:
    """Return a data set with its numeric columns and its target only."""
    data, inputs = load_inputs(name, rows)
    numbers = inputs.select_dtypes("number").dropna(axis="columns")
    return numbers.assign(target=data["target"])


def fit(model: Any, data: pd.DataFrame) -> Any:
    return model.fit(data.drop(columns="target"), data["target"])


def fit_encoded(model: Any, data: pd.DataFrame) -> Callable[[pd.DataFrame], Any]:
    """Return a function of frames with text columns: categories are encoded before the model is asked."""
    inputs = data.drop(columns="target")
    codes = {
        column: {v: i for i, v in enumerate(sorted(inputs[column].dropna().astype(str).unique()))}
        for column in inputs.columns
        if not pd.api.types.is_numeric_dtype(inputs[column])
    }

    def encode(frame: pd.DataFrame) -> np.ndarray:
        columns = [
            frame[c].astype(str).map(codes[c]).fillna(-1).to_numpy(float)
            if c in codes
            else frame[c].fillna(-1).to_numpy(float)
            for c in inputs.columns
        ]
        return np.column_stack(columns)

    model.fit(encode(inputs), data["target"])

    def classify(frame: pd.DataFrame) -> Any:
        return model.predict(encode(frame))

    return classify


MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "small tree": lambda: DecisionTreeClassifier(max_leaf_nodes=6, random_state=0),
    "forest": lambda: RandomForestClassifier(5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(4, max_depth=4, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=6, random_state=0),
    "ada boost": lambda: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=4, random_state=0
    ),
    "knn": lambda: KNeighborsClassifier(3),
    "naive bayes": lambda: GaussianNB(),
    "logistic": lambda: make_pipeline(StandardScaler(), planted.make_exact_regression()),
    # where a solver stops within its tolerance depends on the processor; the minimum itself does not
    "svc": lambda: make_pipeline(StandardScaler(), SVC(tol=1e-10, random_state=0)),
}


# -- explore ---------------------------------------------------------------------------------------------------------


def front_numbers(front: Any) -> dict[str, Any]:
    return {
        "pairs": len(front.pairs),
        "walks": front.walks,
        "runs": front.runs,
        "calls": front.calls,
        "mutants": front.mutants,
        "capability": front.capability,
        "cost": front.cost,
        "border": front.pairs.drop(columns="border"),
    }


def walk(*arguments: Any, strategy: str = "random_walk", **options: Any) -> dm.Front:
    """Explore with random walks unless the section names another strategy."""
    return dm.explore(*arguments, strategy=strategy, progress=False, **options)


def explore_subject(name: str, **options: Any) -> dict[str, Any]:
    options = {"walks": 200, "seeds": 60, **options}
    return front_numbers(walk(dm.subjects[name], **options))


def explore_model(model: str, data: str, rows: int | None = None, **options: Any) -> dict[str, Any]:
    frame = load_numbers(data, rows)
    options = {"walks": 150, **options}
    fitted = fit(MODELS[model](), frame)
    return front_numbers(walk(fitted, frame, target="target", **options))


def explore_mixed(data: str, rows: int, **options: Any) -> dict[str, Any]:
    """Explore a tree on data with text columns."""
    frame, _ = load_inputs(data, rows)
    classify = fit_encoded(DecisionTreeClassifier(max_depth=8, random_state=0), frame)
    options = {"walks": 150, **options}
    return front_numbers(walk(classify, frame, target="target", **options))


for _subject in SUBJECTS:
    for _strategy in STRATEGIES:
        add(f"explore/{_subject}/{_strategy}/seed0", partial(explore_subject, _subject, strategy=_strategy, seed=0))
for _subject in ("Box 1", "Sin 2", "Triangle 1"):
    for _refine in REFINEMENTS:
        add(f"explore/{_subject}/refine {_refine}/seed3", partial(explore_subject, _subject, refine=_refine, seed=3))
    for _strategy in STRATEGIES[:3]:
        add(
            f"explore/{_subject}/{_strategy} growing/seed5",
            partial(explore_subject, _subject, strategy=_strategy, pool="growing", seed=5),
        )
for _model, _data in (
    ("tree", "iris"),
    ("knn", "iris"),
    ("naive bayes", "iris"),
    ("logistic", "iris"),
    ("svc", "iris"),
    ("forest", "wine"),
    ("logistic", "wine"),
    ("tree", "breast_cancer"),
    ("gradient boosting", "breast_cancer"),
):
    for _strategy in STRATEGIES:
        add(f"explore/{_data} {_model}/{_strategy}/seed0", partial(explore_model, _model, _data, strategy=_strategy))
for _model in ("logistic", "tree", "svc"):
    for _refine in REFINEMENTS:
        add(
            f"explore/iris {_model}/refine {_refine}/seed1",
            partial(explore_model, _model, "iris", refine=_refine, strategy="random_target", seed=1),
        )
_EXPLORE_OPTIONS: dict[str, dict[str, Any]] = {
    "delta": {"delta": 1e-3},
    "steps 5": {"max_halvings": 5},
    "walk distance 5": {"walk_distance": 5},
    "moves of two features": {"moves": ["petal width (cm)", "up_petal length (cm)"]},
    "budget 900 runs": {"budget": "900 runs"},
    "30 seeds": {"seeds": 30},
    "batch 20": {"batch": 20},
    "threads": {"engine": "threads:2"},
}
for _option, _values in _EXPLORE_OPTIONS.items():
    add(f"explore/options/{_option}", partial(explore_model, "logistic", "iris", seed=2, **_values))
for _data, _rows in (("red_wine", 600), ("german_credit", 400), ("bank_churners", 600), ("mushroom", 600)):
    for _strategy in STRATEGIES:
        add(
            f"explore/{_data}/{_strategy}/seed0",
            partial(explore_mixed, _data, _rows, strategy=_strategy, walks=60),
            _data,
        )
add("explore/red_wine/forest/growing", partial(explore_model, "forest", "red_wine", 500, pool="growing"), "red_wine")


@section("explore/numbers/threshold")
def explore_threshold() -> Any:
    space = dm.Space([dm.Continuous("x", 0, 6, step=0.3), dm.Continuous("y", 0, 6, step=0.3)])
    fronts = {
        name: walk(lambda f: np.sin(f.x) * f.y + (f.x > 4), space, walks=100, seeds=30, **options)
        for name, options in {"threshold": {"threshold": 0.5}, "jump": {"jump": 0.4}, "middle": {}}.items()
    }
    return {name: front_numbers(front) for name, front in fronts.items()}


@section("explore/labels/hierarchy")
def explore_hierarchy() -> Any:
    space = dm.Space([dm.Continuous("x", 0, 6, step=0.3), dm.Integer("n", 0, 20)])

    def classify(frame):
        big = np.where(frame.x > 3, "big", "small").astype(object)
        return big + "/" + np.where(frame.n > 7, "many", "few").astype(object)

    return {
        labels: front_numbers(walk(classify, space, walks=100, seeds=30, labels=labels))
        for labels in ("plain", "hierarchy", "auto")
    }


@section("explore/mixed space/constraints")
def explore_constraints() -> Any:
    def classify(frame):
        return np.where(frame.x.fillna(3) * 2 + (frame.c == "b") > frame.n.fillna(4), "red", "blue")

    return front_numbers(walk(classify, mixed_space(), walks=150, seeds=50, seed=4))


@section("explore/test system")
def explore_test_system() -> Any:
    return front_numbers(walk(planted.SoundSystem, walks=150, seed=1))


@section("explore/failing model")
def explore_failing_model() -> Any:
    data = planted.make_applicants(120)
    front = walk(planted.FailingLender(), data, target="decision", walks=100)
    return {**front_numbers(front), "incidents": len(front.incidents)}


def plan_numbers(plan: Any) -> dict[str, Any]:
    table = plan.table.drop(columns=["seconds", "seconds_per_pair"])
    return {
        "best": plan.best,
        "walk distance": plan.walk_distance,
        "step factor": plan.step_factor,
        "spent": plan.spent,
        "shares": plan.shares,
        "table": table,
    }


for _subject in ("Box 1", "Sin 2", "Line 1"):
    add(f"plan/{_subject}", lambda name=_subject: plan_numbers(dm.plan(dm.subjects[name], walks=600)))


@section("plan/iris logistic")
def plan_iris() -> Any:
    iris = dm.data.load("iris")
    return plan_numbers(dm.plan(fit(MODELS["logistic"](), iris), iris, target="target", walks=500, trial=40, seed=3))


# -- fronts ----------------------------------------------------------------------------------------------------------


def iris_front(model: str = "tree", seed: int = 0, walks: int = 200) -> Any:
    iris = dm.data.load("iris")
    return walk(fit(MODELS[model](), iris), iris, target="target", walks=walks, seed=seed)


def difference_numbers(difference: Any) -> dict[str, Any]:
    return {
        "counts": difference.counts,
        "calls": difference.calls,
        "kept": difference.kept,
        "resolution": difference.resolution,
        "unchanged": difference.unchanged,
        "rows asked": difference.rows_asked,
        "rows near": difference.rows_near,
        "rows": difference.rows,
        "table": numeric_columns(difference.table, "status", "front"),
    }


for _pair in (("tree", "tree"), ("tree", "small tree"), ("logistic", "svc")):
    add(
        f"front/diff/{_pair[0]} and {_pair[1]}",
        lambda pair=_pair: difference_numbers(iris_front(pair[0]).diff(iris_front(pair[1], 1))),
    )
add("front/diff/tolerance", lambda: difference_numbers(iris_front().diff(iris_front("forest", 1), tolerance=0.05)))
add("front/quality", lambda: numeric_columns(iris_front().quality()))


@section("front/estimate")
def front_estimate() -> Any:
    front = iris_front("logistic")
    estimates = [front.estimate(walks) for walks in (50, 200, 1000, 50_000)]
    return [[estimate.walks, estimate.pairs, estimate.runs] for estimate in estimates]


@section("front/intervals")
def front_intervals() -> Any:
    front = iris_front("svc")
    return {"capability": front.capability_interval(), "cost": front.cost_interval()}


@section("front/nearest")
def front_nearest() -> Any:
    front = iris_front("logistic")
    return {k: front.nearest(dm.data.load("iris").iloc[::10], k=k) for k in (1, 3)}


@section("front/deciding")
def front_deciding() -> Any:
    front = iris_front("forest")
    return {"deciding": front.deciding(), "counts": front.border_counts}


@section("front/save and load")
def front_save_and_load() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "front.parquet"
        front = iris_front("tree")
        front.save(path)
        return front_numbers(dm.Front.load(path))


@section("front/augment")
def front_augment() -> Any:
    wine = dm.data.load("wine")
    front = walk(fit(MODELS["tree"](), wine), wine, target="target", walks=200)
    augmented = front.augment(wine, "target")
    return {"added": augmented.added, "effect": augmented.effect, "frame": augmented.frame}


# -- spaces ----------------------------------------------------------------------------------------------------------


def mixed_space(moves: str = "clip") -> Any:
    return dm.Space(
        [
            dm.Continuous("x", 0, 6.28, step=0.2, nullable=True),
            dm.Continuous("y", 0, 100),
            dm.Integer("n", 0, 10, nullable=True),
            dm.Integer("m", -50, 50, step=5),
            dm.Categorical("c", ["a", "b", "d"]),
            dm.Categorical("flag", [True, False], nullable=True),
        ],
        moves=moves,
        constraints=["n <= y"],
    )


def space_numbers(space: Any) -> dict[str, Any]:
    first, second = space.sample(60, seed=0), space.sample(60, seed=1)
    numbers = {
        "sample": first,
        "distance": space.distance(first, second),
        "scaled distance": space.distance(first, second, scaled=True),
        "midpoint": space.midpoint(first, second),
        "valid": space.valid(first),
    }
    for name in space.names:
        numbers[f"up {name}"], numbers[f"down {name}"] = space.up(first, name), space.down(first, name)
    paths = [space.path(first.iloc[[i]], second.iloc[[i]], delta=0.05) for i in range(5)]
    numbers["paths"] = [[path.counts, path.midpoints, len(path.moves)] for path in paths]
    return numbers


add("space/mixed/clip", lambda: space_numbers(mixed_space()))
add("space/mixed/open", lambda: space_numbers(mixed_space("open")))


@section("space/constraints")
def space_constraints() -> Any:
    table = pd.DataFrame({"city": ["Rome", "Oslo", "Pisa"], "land": ["Italy", "Norway", "Italy"]})
    space = dm.Space(
        [
            dm.Categorical("city", ["Rome", "Oslo", "Pisa"]),
            dm.Categorical("land", ["Italy", "Norway"]),
            dm.Continuous("free", 0, 70),
            dm.Continuous("total", 0, 300),
            *(dm.Integer(name, 0, 1) for name in ("red", "green", "blue")),
        ],
        constraints=[dm.AllowedCombinations(table), "free <= total", dm.OneHot(["red", "green", "blue"])],
    )
    first, second = space.sample(60, seed=0), space.sample(60, seed=1)
    moved = {name: [space.up(first, name), space.down(first, name)] for name in space.names}
    return {"sample": first, "midpoint": space.midpoint(first, second), "moved": moved, "valid": space.valid(second)}


def inferred_space(name: str) -> Any:
    frame, inputs = load_inputs(name, 300)
    space = dm.Space.from_frame(frame, target="target")
    features = [[f.name, f.kind, f.low, getattr(f, "high", None), f.step] for f in space.features]
    points = space.sample(40, seed=0)
    rows = inputs.iloc[:40]
    return {"features": features, "sample": points, "distance": space.distance(points, rows, scaled=True)}


for _data in (*SHIPPED_DATA, "red_wine", "german_credit", "mushroom", "penguins", "bank_churners"):
    add(f"space/inferred/{_data}", partial(inferred_space, _data), _data)


@section("space/hints")
def space_hints() -> Any:
    frame = pd.DataFrame({"age": [20, 30, 50, 70], "card": ["Blue", "Gold", "Blue", "Gold"], "x": [0.1, 0.5, 2.0, 9.0]})
    space = dm.Space.from_frame(
        frame, kinds={"age": "integer"}, steps={"age": 3}, bounds={"age": (20, 80)}, orders={"card": ["Gold", "Blue"]}
    )
    return space_numbers(space)


# -- systems ---------------------------------------------------------------------------------------------------------


def wrapped_answers(model: str, data: str = "iris") -> Any:
    frame = dm.data.load(data)
    inputs = frame.drop(columns="target")
    system = dm.wrap(fit(MODELS[model](), frame), space=dm.Space.from_frame(inputs))
    outputs = system.execute(inputs, scores=True)
    return {"values": outputs.values, "status": outputs.status, "scores": outputs.scores}


for _model in MODELS:
    add(f"wrap/{_model}", partial(wrapped_answers, _model))


@section("wrap/functions")
def wrap_functions() -> Any:
    frame = mixed_space().sample(50, seed=2)
    batched = dm.wrap(lambda f: np.where(f.y > 40, f.m, f.m + 1), space=mixed_space())
    scalar = dm.wrap(lambda y, m: int(y + m > 30), space=mixed_space(), scalar=True)
    guarded = dm.wrap(planted.FailingLender(), guarded=True, name="guarded")
    rows = planted.make_applicants(400).drop(columns="decision")
    answers = guarded.execute(rows)
    return [
        batched.execute(frame).values,
        scalar.execute(frame).values,
        np.where(answers.ok, answers.values, "no answer"),
        answers.status,
    ]


@section("test system/cases")
def test_system_cases() -> Any:
    system = dm.TestSystem.collect(planted.SoundSystem)
    seeds = system.make_seeds(n=20, seed=1)
    longer = system.mutate("longer", seeds, seed=2)
    between = system.mutate("between", seeds, longer, seed=3)
    both = dm.TestSet.concat([seeds, longer])
    names = {"data": sorted(system.datamorphisms), "moves": sorted(system.moves)}
    return {"seeds": seeds.frame(), "longer": longer.frame(), "between": between.frame(), "both": len(both), **names}


for _name in ("iris", "wine", "breast_cancer", *LOCAL_DATA):
    add(f"data/{_name}", lambda name=_name: dm.data.load(name), _name)


# -- check -----------------------------------------------------------------------------------------------------------


def report_numbers(report: Any) -> dict[str, Any]:
    table = numeric_columns(report.table, "relation", "purpose", "strictness")
    return {
        "relations": len(table),
        "violated": int((table["violated"] > 0).sum()),
        "runs": report.runs,
        "calls": report.calls,
        "passed": report.passed,
        "table": table,
        "violations": report.violations.drop(columns="says", errors="ignore"),
    }


def check_learner(model: str, data: Any = "random", **options: Any) -> Any:
    options = {"inputs": 8, "shrink": False, **options}
    if isinstance(data, str) and data != "random":
        data, options = load_numbers(data, 200), {"target": "target", **options}
    return report_numbers(dm.check(MODELS[model](), data, progress=False, **options))


for _model in ("knn", "naive bayes", "tree", "small tree"):
    add(f"check/random data/{_model}", partial(check_learner, _model))
for _model in ("knn", "naive bayes", "tree"):
    add(f"check/iris/{_model}", partial(check_learner, _model, "iris", inputs=20))
add("check/wine/forest", partial(check_learner, "forest", "wine", relations=["MR-0", "MR-1.1", "MR-2.1"], inputs=10))
add("check/necessary/knn", partial(check_learner, "knn", relations="necessary", seed=4))
add("check/ties counted/knn", partial(check_learner, "knn", relations=["MR-0", "MR-1.1", "MR-3.2"], ties="count"))
add(
    "check/strictness/naive bayes",
    partial(check_learner, "naive bayes", relations=["MR-0", "MR-1.2"], strictness={"MR-1.2": "score_exact"}),
)
add(
    "check/expected failures/knn",
    partial(check_learner, "knn", relations=["MR-1.1", "MR-2.2"], expected_failures={"MR-2.2": "known"}),
)
add("check/budget/knn", partial(check_learner, "knn", relations=["MR-0", "MR-1.1"], budget="20 runs"))
add("check/banknote/small tree", partial(check_learner, "small tree", "banknote", inputs=10), "banknote")


@section("check/shrunk/knn")
def check_shrunk() -> Any:
    report = dm.check(MODELS["knn"](), "random", ["MR-1.1", "MR-0 subset"], inputs=20, progress=False)
    violations = [report.shrunk(number) for number in range(2)]
    smallest = [[v.relation, v.size, v.before, v.expected, v.after] for v in violations]
    return {**report_numbers(report), "smallest": smallest}


class RicherIsApproved(dm.Relation):
    """More income gives the same decision or a better one."""

    name = "richer is approved"
    statement = "more income never changes an approval"

    def follow_up(self, frame, rng):
        return frame.assign(income=(frame.income + 10).clip(upper=190))

    def applies(self, frame):
        return (frame.income < 180).to_numpy()

    def expects(self, before, after):
        return (before != "approve") | (after == "approve")


MODEL_RELATIONS = {
    "monotone income": lambda: dm.monotone("income", "up", "approve"),
    "monotone debt": lambda: dm.monotone("debt", "down", "approve"),
    "invariant gender": lambda: dm.invariant("gender"),
    "own": RicherIsApproved,
}
LENDERS = {
    "sound": planted.Lender,
    "order": planted.OrderDependentLender,
    "batch": planted.BatchDependentLender,
    "silent": planted.SilentLender,
    "failing": planted.FailingLender,
    "not monotone": planted.NonMonotoneLender,
    "two classes": planted.TwoClassLender,
    "gender": planted.GenderDependentLender,
}


def check_lender(lender: str, relation: str = "") -> Any:
    data = planted.make_applicants(150)
    relations = MODEL_RELATIONS[relation]() if relation else "auto"
    return report_numbers(
        dm.check(LENDERS[lender](), data.drop(columns="decision"), relations, inputs=100, shrink=False, progress=False)
    )


for _lender in LENDERS:
    add(f"check/models/{_lender}", partial(check_lender, _lender))
for _lender in ("sound", "not monotone", "gender"):
    for _relation in MODEL_RELATIONS:
        add(f"check/models/{_lender}/{_relation}", partial(check_lender, _lender, _relation))


class DoubledRows(dm.LearnerRelation):
    """Every training row twice changes no label of a tree."""

    name = "doubled rows"
    statement = "each training row twice: the same labels"

    def follow_up(self, data, labels, rng):
        return data.rows(np.repeat(np.arange(len(data.y)), 2))


@section("check/own learner relation/tree")
def check_own_learner_relation() -> Any:
    return check_learner("small tree", "iris", relations=DoubledRows(), inputs=30)


# -- cover and select ------------------------------------------------------------------------------------------------


def selection_numbers(selection: Any) -> dict[str, Any]:
    numbers = {"rows chosen": len(selection.rows), "nodes": selection.nodes, "decisions": selection.decision_nodes}
    if selection.mutants is not None and len(selection.mutants):
        mutants = numeric_columns(selection.mutants, "operator", "kind")
        numbers |= {"mutants": len(mutants), "score": selection.score, "mutant table": mutants}
    return {**numbers, "rows": selection.rows}


def select_rows(model: str, data: str, criterion: str, **options: Any) -> Any:
    frame = load_numbers(data)
    return selection_numbers(dm.select(fit(MODELS[model](), frame), frame, criterion, target="target", **options))


def coverage_numbers(coverage: Any) -> dict[str, Any]:
    numbers = {
        "share": coverage.share,
        "shares": coverage.shares,
        "covered": coverage.covered,
        "counts": coverage.counts,
        "uncovered": numeric_columns(coverage.uncovered()),
        "fix": coverage.fix(),
    }
    if hasattr(coverage, "score"):
        numbers |= {"score": coverage.score, "mutants": numeric_columns(coverage.mutants, "operator", "kind")}
    return numbers


def cover_rows(model: str, data: str, criterion: str, **options: Any) -> Any:
    frame = load_numbers(data)
    options = {"target": "target", "criterion": criterion, "progress": False, **options}
    return coverage_numbers(dm.cover(fit(MODELS[model](), frame), frame.iloc[::3], **options))


TREE_DATA = (*SHIPPED_DATA, "banknote", "pima", "haberman", "sonar", "wheat_seeds", "cleveland")
for _data in TREE_DATA:
    for _criterion in ("DTC", "BVA", "DTMT"):
        add(f"select/{_data} tree/{_criterion}", partial(select_rows, "tree", _data, _criterion), _data)
        add(f"cover/{_data} tree/{_criterion}", partial(cover_rows, "tree", _data, _criterion), _data)
    add(f"select/{_data} tree/DTMT minimal", partial(select_rows, "tree", _data, "DTMT", minimal=True, seed=2), _data)
for _model in ("small tree", "forest", "extra trees", "ada boost"):
    for _criterion in ("DTC", "BVA", "DTMT"):
        add(f"select/iris {_model}/{_criterion}", partial(select_rows, _model, "iris", _criterion, seed=1))
        add(f"cover/iris {_model}/{_criterion}", partial(cover_rows, _model, "iris", _criterion))
for _model in ("gradient boosting", "histogram boosting"):
    for _criterion in ("DTC", "DTMT"):
        add(f"select/iris {_model}/{_criterion}", partial(select_rows, _model, "iris", _criterion, seed=1))
_SELECT_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "DTC minimal": ("DTC", {"minimal": True}),
    "BVA unit": ("BVA", {"offset": "unit"}),
    "BVA half": ("BVA", {"offset": 0.5}),
    "BVA beyond": ("BVA", {"offset": "beyond"}),
    "DTMT two per node": ("DTMT", {"per_node": 2}),
    "DTMT all constants": ("DTMT", {"per_node": None}),
    "DTMT seed 9": ("DTMT", {"seed": 9}),
}
for _option, (_criterion, _values) in _SELECT_OPTIONS.items():
    add(f"select/options/{_option}", partial(select_rows, "tree", "wine", _criterion, **_values))
for _joint in (True, False):
    add(f"select/options/DTMT joint {_joint}", partial(select_rows, "forest", "iris", "DTMT", joint=_joint))
    add(f"cover/options/DTMT joint {_joint}", partial(cover_rows, "forest", "iris", "DTMT", joint=_joint))
add("select/options/surrogate", partial(select_rows, "svc", "iris", "DTMT", surrogate=True))
add("cover/options/surrogate", partial(cover_rows, "knn", "iris", "DTC", surrogate=True))
add("cover/options/BVA half", partial(cover_rows, "tree", "wine", "BVA", offset=0.5))


@section("select/regression tree/tolerance")
def select_regression() -> Any:
    wine = dm.data.load("wine").drop(columns="target")
    tree = DecisionTreeRegressor(max_leaf_nodes=8, random_state=0).fit(wine.drop(columns="proline"), wine["proline"])
    return {
        tolerance: selection_numbers(dm.select(tree, wine, "DTMT", target="proline", tolerance=tolerance))
        for tolerance in (0, 100.0)
    }


@section("trees/pmml round trip")
def pmml_round_trip() -> Any:
    iris = dm.data.load("iris")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.pmml"
        dm.trees.write_pmml(dm.trees.read_forest(fit(MODELS["forest"](), iris)), path)
        forest = dm.trees.read_pmml(path)
        return selection_numbers(dm.select(forest, iris, "DTMT", target="target", seed=3))


def boosted_selection(package: str) -> Any:
    iris = load_numbers("iris")
    if package == "xgboost":
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=3, max_depth=3, n_jobs=1)
    elif package == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=3, num_leaves=5, n_jobs=1, verbose=-1)
    else:
        from catboost import CatBoostClassifier

        model = CatBoostClassifier(iterations=3, depth=3, verbose=0, thread_count=1, allow_writing_files=False)
    return selection_numbers(dm.select(fit(model, iris), iris, "DTMT", target="target"))


for _package in ("xgboost", "lightgbm", "catboost"):
    add(f"select/{_package}/DTMT", partial(boosted_selection, _package), _package)


# -- mutate ----------------------------------------------------------------------------------------------------------


@section("mutate/textbook learner")
def mutate_textbook_learner() -> Any:
    path = Path(__file__).with_name("textbook_learner.py")
    mutation = dm.mutate(path, limit=8, inputs=12, compared=40, seed=1, timeout=60, progress=False)
    mutants = mutation.mutants[["operator", "line", "state"]]
    return {"score": mutation.score, "mutants": mutants, "survivors": len(mutation.survivors)}


# -- hunt, generate, simulate ----------------------------------------------------------------------------------------


def hunt_numbers(hunt: Any) -> dict[str, Any]:
    return {
        "f measures": hunt.f_measures,
        "groups": hunt.groups,
        "calls": hunt.calls,
        "violated": hunt.violated,
        "table": hunt.table,
        "violations": hunt.violations,
    }


def hunt_program(program: str, mutant: str, relations: Any = None, **options: Any) -> Any:
    options = {"budget": 400, "trials": 3, "seed": 1, "progress": False, **options}
    return hunt_numbers(dm.hunt(dm.programs[program].mutants[mutant], relations, **options))


for _generator in GENERATORS:
    add(f"hunt/tanh emu10/{_generator}", partial(hunt_program, "tanh", "emu10", "tripling", generator=_generator))
for _program in PROGRAMS:
    add(f"hunt/{_program} m3/all relations", partial(hunt_program, _program, "m3", trials=2, stop_after=None))
for _selector in SELECTORS:
    add(f"hunt/Sin m2/{_selector}", partial(hunt_program, "Sin", "m2", selector=_selector, budget=200, trials=2))
add("hunt/tanh emu10/3 candidates", partial(hunt_program, "tanh", "emu10", "tripling", k=3))
add("hunt/Sin m2/batch 7", partial(hunt_program, "Sin", "m2", batch=7))
for _program in PROGRAMS:
    add(f"programs/{_program}", lambda name=_program: numeric_columns(dm.programs[name].regions, "mutant", "relation"))


def hunt_area(relation: str, generator: str) -> Any:
    relations = {r.name: r for r in (planted.doubled_sides, planted.swapped_sides, planted.increasing)}
    chosen = relations[relation] if relation else list(relations.values())
    return hunt_numbers(
        dm.hunt(planted.area, chosen, generator=generator, budget=300, trials=2, stop_after=5, progress=False)
    )


for _relation in ("doubled sides", "swapped sides", "increasing", ""):
    for _generator in ("MT-RT", "SFIDMT-ART", "MT-IPART"):
        add(f"hunt/area {_relation or 'all'}/{_generator}", partial(hunt_area, _relation, _generator))


@section("hunt/model")
def hunt_model() -> Any:
    data = planted.make_applicants(150)
    hunt = dm.hunt(
        planted.NonMonotoneLender(),
        RicherIsApproved,
        data=data,
        target="decision",
        budget=300,
        trials=2,
        stop_after=3,
        progress=False,
    )
    return hunt_numbers(hunt)


def generated_groups(generator: str, relation: Any) -> Any:
    groups = dm.generate(relation, generator, n=60, seed=3)
    return {"sources": groups.sources, "follow-ups": groups.follow_ups}


for _generator in GENERATORS:
    add(f"generate/doubled sides/{_generator}", partial(generated_groups, _generator, planted.doubled_sides))
    add(f"generate/unit square/{_generator}", partial(generated_groups, _generator, [(0, 1), (0, 1)]))


def simulation_numbers(generator: str = "SFIDMT-ART", **options: Any) -> Any:
    options = {"trials": 15, "rate": 0.02, "budget": 2000, "workers": 1, "seed": 2, "progress": False, **options}
    simulation = dm.simulate(generator, **options)
    return {
        "f measure": simulation.f_measure,
        "f ratio": simulation.f_ratio,
        "cohens d": simulation.cohens_d,
        "f measures": simulation.f_measures,
    }


for _generator in GENERATORS:
    add(f"simulate/block/{_generator}", partial(simulation_numbers, _generator))
for _region in ("strip", "point"):
    for _generator in ("MT-RT", "SFIDMT-ART", "IPART", "MT-BART"):
        add(f"simulate/{_region}/{_generator}", partial(simulation_numbers, _generator, region=_region))
for _scenario in SCENARIOS:
    for _generator in ("SFIDMT-ART", "MT-IPART"):
        add(f"simulate/{_scenario}/{_generator}", partial(simulation_numbers, _generator, scenario=_scenario))
for _selector in SELECTORS:
    add(
        f"simulate/selectors/{_selector}",
        lambda name=_selector: simulation_numbers(
            selector=name,
            relation=[planted.doubled_sides, planted.swapped_sides, planted.increasing],
            trials=8,
            budget=400,
            violating=1,
        ),
    )
for _dimension in (1, 3):
    add(f"simulate/block/dimension {_dimension}", partial(simulation_numbers, dimension=_dimension))
add("simulate/point/10 boxes", partial(simulation_numbers, region="point", boxes=10))


# -- laws ------------------------------------------------------------------------------------------------------------


def broken_laws(system: Any) -> Any:
    """Return the verdict and the names of broken laws; which examples are drawn depends on the modules loaded."""
    report = dm.laws(system, examples=60, progress=False)
    return {"holds": report.holds, "broken": sorted(result.law for result in report.broken)}


for _subject in ("Box 1", "Sin 1"):
    add(f"laws/{_subject}", lambda name=_subject: broken_laws(dm.subjects[name]))
add("laws/sound system", lambda: broken_laws(planted.SoundSystem))
add("laws/faulty system", lambda: broken_laws(planted.FaultySystem))
add("laws/iris", lambda: broken_laws(dm.data.load("iris").drop(columns="target")))
add("laws/mixed space", lambda: broken_laws(mixed_space()))


# -- test ------------------------------------------------------------------------------------------------------------


def audit_numbers(result: Any) -> dict[str, Any]:
    findings = [
        [f.check, f.about, f.level, f.confidence, f.cases, f.cases_tried, f.rate, list(f.interval), len(f.examples)]
        for f in result.findings
    ]
    outcomes = [[o.check, o.state, o.calls, len(o.findings)] for o in result.outcomes]
    numbers = {"passed": result.passed, "complete": result.complete, "calls": result.calls}
    front = front_numbers(result.front) if result.front is not None else None
    return {**numbers, "findings": findings, "outcomes": outcomes, "front": front}


def without_calls(numbers: dict[str, Any]) -> dict[str, Any]:
    """Drop model calls: how a failing batch is divided depends on how fast the model answers."""
    outcomes = [[check, state, count] for check, state, _, count in numbers["outcomes"]]
    front = {name: value for name, value in numbers["front"].items() if name != "calls"}
    return {**numbers, "calls": None, "outcomes": outcomes, "front": front}


def audit_lender(lender: str, **options: Any) -> Any:
    options = {"expect": planted.PROMISES, "protected": ["gender"], "budget": None, **options}
    data = planted.make_applicants(200)
    return audit_numbers(dm.test(LENDERS[lender](), data, target="decision", progress=False, **options))


def audit_model(model: str, data: str, **options: Any) -> Any:
    frame = load_numbers(data, 250)
    fitted = fit(MODELS[model](), frame)
    options = {"budget": None, "only": AUDIT_WITHOUT_LEARNING, **options}
    return audit_numbers(dm.test(fitted, frame, target="target", progress=False, **options))


AUDIT_WITHOUT_LEARNING = (
    "repeats",
    "answers",
    "row order",
    "batches",
    "column order",
    "borders",
    "classes",
    "adequacy",
)
for _lender in LENDERS:
    if _lender != "failing":
        add(f"test/lender {_lender}", partial(audit_lender, _lender))
add("test/lender failing", lambda: without_calls(audit_lender("failing")))
add("test/lender sound/2000 runs", partial(audit_lender, "sound", budget="2000 runs"))
add("test/lender gender/one check", partial(audit_lender, "gender", only="protected"))
for _model, _data in (("tree", "iris"), ("logistic", "wine"), ("knn", "iris"), ("forest", "breast_cancer")):
    add(f"test/{_data} {_model}", partial(audit_model, _model, _data))
add("test/iris naive bayes/learning", partial(audit_model, "naive bayes", "iris", only="learning"))
add("test/red_wine forest", partial(audit_model, "forest", "red_wine"), "red_wine")
add("test/Box 1", lambda: audit_numbers(dm.test(dm.subjects["Box 1"], budget=None, progress=False)))


@section("test/baseline")
def audit_baseline() -> Any:
    data = planted.make_applicants(200)
    options = {"target": "decision", "only": ("borders", "baseline"), "budget": None, "progress": False}
    before = dm.test(planted.Lender(), data, **options)
    after = dm.test(planted.GenderDependentLender(), data, baseline=before.front, **options)
    return {"before": audit_numbers(before), "after": audit_numbers(after)}


@section("test/json round trip")
def audit_round_trip() -> Any:
    result = dm.test(
        planted.SilentLender(), planted.make_applicants(150), target="decision", budget=None, only="answers"
    )
    return audit_numbers(dm.Result.from_json(result.to_json()))


# -- asserts ---------------------------------------------------------------------------------------------------------


def raises(call: Callable[[], Any]) -> str:
    """Return the name of the exception that a call raises; an empty string if it raises none."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return ""


@section("asserts/holds")
def assert_holds_outcomes() -> Any:
    data = planted.make_applicants(100)
    outcomes = {}
    for lender, make_model in LENDERS.items():
        for relation in ("repeats", "row order", "batches", "column order"):
            call = partial(dm.assert_holds, make_model(), data, relation, target="decision", cases=60, seed=0)
            outcomes[f"{lender}, {relation}"] = raises(call)
        for name, make_relation in MODEL_RELATIONS.items():
            call = partial(dm.assert_holds, make_model(), data, make_relation(), target="decision", cases=60, seed=0)
            outcomes[f"{lender}, {name}"] = raises(call)
    return outcomes


@section("asserts/covers")
def assert_covers_outcomes() -> Any:
    iris = dm.data.load("iris")
    tree = fit(MODELS["tree"](), iris)
    return {
        f"{criterion}, {share}, {rows} rows": raises(
            partial(dm.assert_covers, tree, iris.iloc[:: 150 // rows], criterion, share, target="target")
        )
        for criterion in ("DTC", "DTMT")
        for share in (0.5, 0.8, 0.9)
        for rows in (10, 150)
    }


@section("asserts/front unchanged")
def assert_front_outcomes() -> Any:
    space = dm.Space([dm.Continuous("age", 0, 100)])
    models = {limit: (lambda age, limit=limit: "adult" if age > limit else "child") for limit in (18, 18.5, 21)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "front.parquet"
        walk(models[18], space, scalar=True, walks=50).save(path)
        return {
            limit: raises(partial(dm.assert_front_unchanged, model, baseline=path, scalar=True))
            for limit, model in models.items()
        }


@section("asserts/parametrized relations")
def parametrized_relations() -> Any:
    @dm.parametrize_with_relations([KNeighborsClassifier(3), GaussianNB()])
    def test_relation(*args, **kwargs):
        """Stands for a user's test."""

    marks = [mark for mark in test_relation.pytestmark if mark.name == "parametrize"]
    return [[len(mark.args[1]), [p.id for p in mark.args[1] if hasattr(p, "id")]] for mark in marks]


@section("errors/wrong use")
def wrong_use_errors() -> Any:
    iris = dm.data.load("iris")
    tree = fit(MODELS["tree"](), iris)
    calls: dict[str, Callable[[], Any]] = {
        "unknown strategy": lambda: dm.explore(tree, iris, "wander", target="target"),
        "growing auto": lambda: dm.explore(tree, iris, "auto", pool="growing", target="target"),
        "negative walks": lambda: dm.explore(tree, iris, walks=-1, target="target"),
        "unknown target": lambda: dm.explore(tree, iris, target="label"),
        "class instead of model": lambda: dm.explore(GaussianNB, iris, target="target"),
        "not fitted": lambda: dm.explore(GaussianNB(), iris.drop(columns="target")),
        "always fails": lambda: dm.explore(planted.BrokenModel(), iris.drop(columns="target"), walks=5),
        "unknown relation": lambda: dm.check(GaussianNB(), "random", "MR-99"),
        "unknown criterion": lambda: dm.cover(tree, iris, criterion="XYZ"),
        "no tree": lambda: dm.cover(GaussianNB().fit(iris.drop(columns="target"), iris.target), iris),
        "unknown generator": lambda: dm.generate([(0, 1)], "nobody"),
        "unknown selector": lambda: dm.hunt(dm.programs["Sin"], selector="nobody"),
        "unknown scenario": lambda: dm.simulate(scenario="Z9", trials=1),
        "unknown check": lambda: dm.test(tree, iris, only="nothing"),
        "unknown data": lambda: dm.wrap("no_such_file.skops"),
        "pickle without trust": lambda: dm.wrap("model.pkl"),
        "bad bounds": lambda: dm.Continuous("x", 3, 1),
        "two features of one name": lambda: dm.Space([dm.Integer("n", 0, 1), dm.Integer("n", 0, 1)]),
        "resume without store": lambda: dm.explore(tree, iris, target="target", resume=1),
    }
    return {name: raises(call) for name, call in calls.items()}


# -- the public surface ----------------------------------------------------------------------------------------------


@section("surface/names")
def public_names() -> Any:
    return sorted(dm.__all__)


def signature_of(function: Any) -> Any:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    empty = inspect.Parameter.empty
    # the repr of a function has an address
    return [
        [p.name, p.kind.name, "" if p.default is empty else "function" if callable(p.default) else repr(p.default)]
        for p in parameters
    ]


@section("surface/signatures")
def public_signatures() -> Any:
    signatures = {}
    for name in dm.__all__:
        value = getattr(dm, name)
        if callable(value):
            signatures[name] = signature_of(value)
        if inspect.isclass(value):
            for method in public_attributes(value):
                with contextlib.suppress(AttributeError):
                    if inspect.isroutine(getattr(value, method)) and name != "Status":
                        signatures[f"{name}.{method}"] = signature_of(getattr(value, method))
    signatures |= {f"data.{name}": signature_of(getattr(dm.data, name)) for name in ("load", "available")}
    return signatures


@section("surface/errors")
def public_errors() -> Any:
    errors = {name: value for name, value in vars(dm.errors).items() if inspect.isclass(value)}
    return {
        name: [base.__name__ for base in value.__mro__]
        for name, value in errors.items()
        if issubclass(value, Exception | Warning)
    }


def public_attributes(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


@section("surface/attributes")
def result_attributes() -> Any:
    """List the public attributes of one result of every verb."""
    iris = dm.data.load("iris")
    tree = fit(MODELS["small tree"](), iris)
    front = iris_front(walks=60)
    report = dm.check(MODELS["knn"](), "random", ["MR-1.1"], inputs=10, progress=False)
    test = dm.test(planted.SilentLender(), planted.make_applicants(100), target="decision", only="answers", budget=None)
    laws = dm.laws(planted.SoundSystem, examples=10, progress=False)
    tanh = dm.programs["tanh"]
    results = {
        "explore": front,
        "explore diff": front.diff(front),
        "explore estimate": front.estimate(100),
        "explore augment": front.augment(iris, "target"),
        "plan": dm.plan(dm.subjects["Box 1"], walks=100),
        "check": report,
        "check violation": report.shrunk(0),
        "cover DTC": dm.cover(tree, iris, target="target"),
        "cover DTMT": dm.cover(tree, iris, target="target", criterion="DTMT"),
        "select": dm.select(tree, iris, "DTMT", target="target"),
        "hunt": dm.hunt(tanh, "tripling", budget=5, progress=False),
        "generate": dm.generate(tanh.relations["tripling"], n=3),
        "simulate": dm.simulate("MT-RT", trials=2, rate=0.1, progress=False),
        "laws": laws,
        "laws result": laws.results[0],
        "test": test,
        "test finding": test.findings[0],
        "test outcome": test.outcomes[0],
        "test example": test.findings[0].examples[0],
        "program": tanh,
        "program mutant": tanh.mutants["emu10"],
        "space": mixed_space(),
        "space path": mixed_space().path(mixed_space().sample(1), mixed_space().sample(1, seed=1)),
        "space points": mixed_space().points(mixed_space().sample(2)),
        "wrap": dm.wrap(tree),
        "forest": dm.trees.read_forest(tree),
        "subject": dm.subjects["Box 1"],
    }
    return {name: public_attributes(result) for name, result in results.items()}
