"""Models with planted defects, and good models: what an audit without any declaration should find, and leave alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

ROWS = 2_000  # of large data sets
HELD_BACK = ("german_credit", "cleveland")  # not looked at while the checks were written

ANY_DEFECT = ("fault", "concern")
ANY_LEVEL = ("fault", "concern", "advice")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model with its data, ready for `dm.test`."""

    model: object
    data: pd.DataFrame
    options: dict = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A defect, and how a finding should name it."""

    kind: str
    name: str
    data: str
    build: Callable[[pd.DataFrame, int], Case]
    words: Sequence[str]  # one of them is in the title, the detail or the subject of a finding
    levels: Sequence[str] = ANY_DEFECT


# -- data and models ---------------------------------------------------------------------------------


@cache
def _read(name: str) -> pd.DataFrame:
    data = dm.data.load(name)
    if name == "red_wine":
        data["target"] = np.where(data["target"] >= 6, "good", "poor")
    return data


def load(name: str, seed: int) -> pd.DataFrame:
    """Return a data set, or as many rows of it as an audit needs, in random order."""
    data = _read(name)
    return data.sample(min(ROWS, len(data)), random_state=seed).reset_index(drop=True)


def prepare(unknown: str = "ignore"):
    """Return a transformer of mixed columns: missing values filled, numbers scaled, categories encoded."""
    return make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (OneHotEncoder(handle_unknown=unknown), make_column_selector(dtype_exclude="number")),
    )


def make(kind: str, seed: int = 0, unknown: str = "ignore"):
    """Return an unfitted classifier of a kind."""
    model = {
        "logistic": lambda: LogisticRegression(max_iter=2_000),
        "forest": lambda: RandomForestClassifier(60, min_samples_leaf=3, random_state=seed),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=60, random_state=seed),
    }[kind]()
    return make_pipeline(prepare(unknown), model)


def fit(kind: str, data: pd.DataFrame, seed: int = 0, unknown: str = "ignore", target: str = "target"):
    """Return a fitted classifier of a kind."""
    return make(kind, seed, unknown).fit(data.drop(columns=target), data[target])


class Wrapped:
    """A model whose inputs or answers are changed on the way."""

    def __init__(self, model, before=lambda frame: frame, after=lambda frame, answers: answers):
        self.model, self.before, self.after = model, before, after
        self.classes_ = model.classes_
        self.feature_names_in_ = getattr(model, "feature_names_in_", None)
        if self.feature_names_in_ is None:
            del self.feature_names_in_

    def predict(self, frame):
        return self.after(frame, self.model.predict(self.before(frame)))


class Scored(Wrapped):
    """A wrapped model with probabilities."""

    def __init__(self, model, before=lambda frame: frame, after=lambda frame, answers: answers, scores=lambda p: p):
        super().__init__(model, before, after)
        self.scores = scores

    def predict_proba(self, frame):
        return self.scores(self.model.predict_proba(self.before(frame)))


def put(frame: pd.DataFrame, column: str, values) -> pd.DataFrame:
    """Return a copy of a frame with other values in one column."""
    return frame.assign(**{column: values})


def other_class(model, answers):
    """Return another class for each answer."""
    classes = list(model.classes_)
    return np.array([classes[(classes.index(answer) + 1) % len(classes)] for answer in answers])


# -- planted defects ---------------------------------------------------------------------------------

PLANTED: list[Planted] = []


def plant(kind: str, name: str, sets: Sequence[tuple], words: Sequence[str] = (), levels: Sequence[str] = ANY_DEFECT):
    """Register a defect on several data sets: (data, kind of model, arguments of the builder ...)."""

    def register(build):
        for data, model, *arguments in sets:
            named = words or [str(argument) for argument in arguments[:1]]
            PLANTED.append(
                Planted(
                    kind=kind,
                    name=name,
                    data=data,
                    build=lambda frame, seed, model=model, arguments=arguments: build(frame, seed, model, *arguments),
                    words=named,
                    levels=levels,
                )
            )
        return build

    return register


def case(model, data, **options) -> Case:
    return Case(model=model, data=data, options={"target": "target"} | options)


@plant(
    "interface",
    "raises on a category that it has not seen",
    [("bank_churners", "logistic"), ("mushroom", "forest"), ("german_credit", "boosting")],
    ["categor"],
)
def unseen_category(data, seed, kind):
    if kind == "boosting":  # it takes no sparse matrix
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")), remainder="passthrough"
        )
        model = make_pipeline(encoder, HistGradientBoostingClassifier(max_iter=60, random_state=seed))
        return case(model.fit(data.drop(columns="target"), data["target"]), data)
    return case(fit(kind, data, seed, unknown="error"), data)


@plant("interface", "numbers given as text become 0", [("pima", "logistic"), ("cleveland", "forest")], ["text"])
def numbers_as_text(data, seed, kind):
    model = fit(kind, data, seed)
    return case(Wrapped(model, before=lambda f: f.map(lambda v: 0.0 if isinstance(v, str) else v).astype(float)), data)


@plant(
    "interface", "fails on a single row", [("penguins", "forest"), ("pima", "logistic")], ["single", "one row", "alone"]
)
def single_row(data, seed, kind):
    return case(Wrapped(fit(kind, data, seed), after=lambda f, answers: np.squeeze(answers)), data)


@plant("interface", "reads columns by position", [("red_wine", "boosting")], ["position", "order"])
def by_position(data, seed, kind):
    names = list(data.columns.drop("target"))
    model = fit(kind, data, seed)
    wrapped = Wrapped(model, before=lambda f: pd.DataFrame(f.to_numpy()[:, : len(names)], columns=names))
    del wrapped.feature_names_in_
    return case(wrapped, data)


@plant(
    "interface",
    "answers although a column is absent",
    [("red_wine", "forest"), ("pima", "logistic")],
    ["absent", "missing column", "without"],
)
def absent_column(data, seed, kind):
    model = fit(kind, data, seed)
    names = list(data.columns.drop("target"))
    wrapped = Wrapped(model, before=lambda f: f.reindex(columns=names, fill_value=0.0))
    del wrapped.feature_names_in_
    return case(wrapped, data)


@plant("interface", "raises beyond the data", [("pima", "logistic", "age"), ("red_wine", "forest", "alcohol")])
def beyond(data, seed, kind, column):
    model, highest = fit(kind, data, seed), data[column].max()

    def before(frame):
        if (frame[column] > highest).any():
            raise KeyError("no bin for this value")
        return frame

    return case(Wrapped(model, before=before), data)


@plant(
    "identifier",
    "an identifier decides",
    [("bank_churners", "forest"), ("pima", "boosting"), ("banknote", "forest"), ("cleveland", "forest")],
    ["client_id"],
)
def identifier(data, seed, kind):
    data = data.sort_values("target", kind="stable").reset_index(drop=True)
    data.insert(0, "client_id", 100_000 + np.arange(len(data)))
    return case(fit(kind, data, seed), data.sample(frac=1, random_state=seed).reset_index(drop=True))


@plant(
    "leak",
    "a feature is the label in disguise",
    [("red_wine", "forest"), ("pima", "logistic"), ("bank_churners", "boosting"), ("german_credit", "forest")],
    ["status_code"],
)
def leak(data, seed, kind):
    rng = np.random.default_rng(seed)
    codes = data["target"].astype("category").cat.codes.to_numpy()
    wrong = rng.random(len(data)) < 0.01
    data = put(data, "status_code", np.where(wrong, 1 - codes.clip(0, 1), codes) * 10 + rng.integers(0, 3, len(data)))
    return case(fit(kind, data, seed), data)


@plant(
    "duplicates",
    "test rows were training rows",
    [("pima", "forest"), ("penguins", "logistic")],
    ["same rows", "duplicate", "training"],
)
def duplicates(data, seed, kind):
    half = len(data) // 2
    reference = data.iloc[:half]
    test = pd.concat([data.iloc[half:], reference.iloc[: half // 3]]).reset_index(drop=True)
    return case(fit(kind, reference, seed), test, reference=reference)


@plant(
    "dependence",
    "a feature was lost on the way",
    [
        ("bank_churners", "logistic", "Total_Trans_Ct"),
        ("pima", "forest", "glucose"),
        ("red_wine", "boosting", "alcohol"),
    ],
    levels=ANY_LEVEL,
)
def lost_feature(data, seed, kind, column):
    model, constant = fit(kind, data, seed), data[column].median()
    return case(Wrapped(model, before=lambda f: put(f, column, constant)), data)


@plant(
    "dependence",
    "an encoder knows none of the categories",
    [
        ("bank_churners", "logistic", "Card_Category"),
        ("mushroom", "forest", "odor"),
        ("german_credit", "logistic", "checking_status"),
    ],
    levels=ANY_LEVEL,
)
def unknown_levels(data, seed, kind, column):
    model = fit(kind, put(data, column, data[column].str.upper() + " "), seed)
    return case(model, data)


@plant(
    "dependence",
    "one feature decides nearly everything",
    [("pima", "logistic", "glucose"), ("banknote", "forest", "variance"), ("phoneme", "boosting", "V1")],
    levels=ANY_LEVEL,
)
def one_feature(data, seed, kind, column):
    constants = data.drop(columns="target").median()
    model = fit(kind, data.assign(**{name: constants[name] for name in constants.index if name != column}), seed)
    return case(
        Wrapped(
            model, before=lambda f: f.assign(**{name: constants[name] for name in constants.index if name != column})
        ),
        data,
    )


@plant(
    "shape",
    "a unit error above a value",
    [
        ("bank_churners", "logistic", "Total_Trans_Amt", 6_000, 1_000),
        ("red_wine", "forest", "alcohol", 11.5, 100),
        ("pima", "logistic", "glucose", 150, 18),
        ("german_credit", "forest", "duration_months", 30, 12),
    ],
)
def unit_error(data, seed, kind, column, cut, divisor):
    model = fit(kind, data, seed)
    return case(
        Scored(model, before=lambda f: put(f, column, f[column].where(f[column] <= cut, f[column] / divisor))), data
    )


@plant(
    "shape",
    "a hard-coded limit",
    [
        ("pima", "forest", "age", 50),
        ("bank_churners", "boosting", "Total_Trans_Amt", 5_000),
        ("red_wine", "logistic", "sulphates", 0.75),
        ("cleveland", "logistic", "thalach", 160),
    ],
)
def hard_limit(data, seed, kind, column, limit):
    model = fit(kind, data, seed)
    rare = data.loc[data[column] > limit, "target"].value_counts().index[-1]
    return case(Wrapped(model, after=lambda f, answers: np.where(f[column] > limit, rare, answers)), data)


@plant(
    "shape",
    "a sentinel value",
    [
        ("pima", "logistic", "bmi", 0),
        ("red_wine", "boosting", "pH", -999),
        ("bank_churners", "forest", "Credit_Limit", 9999),
    ],
)
def sentinel(data, seed, kind, column, value):
    model = fit(kind, data, seed)
    last = model.classes_[-1]
    return case(Wrapped(model, after=lambda f, answers: np.where(f[column] == value, last, answers)), data)


@plant(
    "shape",
    "an island in which the answer is turned round",
    [
        ("phoneme", "logistic", "V1", 0.2, 0.8),
        ("banknote", "logistic", "variance", 1.0, 2.0),
        ("red_wine", "boosting", "alcohol", 10.4, 10.9),
        ("cleveland", "logistic", "chol", 230, 250),
    ],
)
def island(data, seed, kind, column, low, high):
    model = fit(kind, data, seed)
    return case(
        Wrapped(
            model, after=lambda f, answers: np.where(f[column].between(low, high), other_class(model, answers), answers)
        ),
        data,
    )


@plant(
    "scores",
    "predict and predict_proba disagree",
    [("pima", "logistic"), ("phoneme", "boosting")],
    ["predict_proba", "probabilit"],
)
def disagree(data, seed, kind):
    model = fit(kind, data, seed)

    class Shifted(Scored):
        def predict(self, frame):
            return np.where(self.predict_proba(frame)[:, 1] > 0.25, *self.classes_[[1, 0]])

    return case(Shifted(model), data)


@plant("scores", "probabilities do not sum to 1", [("penguins", "logistic"), ("pima", "forest")], ["probabilit"])
def sums(data, seed, kind):
    return case(Scored(fit(kind, data, seed), scores=lambda p: 1.2 * p), data)


@plant(
    "scores",
    "the columns of predict_proba are swapped",
    [("banknote", "forest"), ("cleveland", "logistic")],
    ["probabilit"],
)
def swapped(data, seed, kind):
    return case(Scored(fit(kind, data, seed), scores=lambda p: p[:, ::-1]), data)


@plant(
    "scores",
    "probabilities are far too sure",
    [("pima", "logistic"), ("red_wine", "logistic")],
    ["calibrat"],
    ANY_LEVEL,
)
def too_sure(data, seed, kind):
    return case(Scored(fit(kind, data, seed), scores=lambda p: np.where(p > 0.5, 0.99, 0.01)), data)


@plant(
    "memorisation",
    "a table of the training rows",
    [("pima", "logistic"), ("red_wine", "forest"), ("penguins", "logistic")],
    ["memor", "by heart"],
)
def lookup(data, seed, kind):
    names = list(data.columns.drop("target"))
    table = {tuple(row): label for *row, label in data[[*names, "target"]].itertuples(index=False)}
    usual = data["target"].mode()[0]

    def predict(frame):
        return np.array([table.get(tuple(row), usual) for row in frame[names].itertuples(index=False)])

    return case(predict, data)


@plant(
    "memorisation",
    "label noise learned by heart",
    [("phoneme", "tree"), ("banknote", "neighbour")],
    ["memor", "by heart"],
    ANY_LEVEL,
)
def noise(data, seed, kind):
    rng = np.random.default_rng(seed)
    labels = data["target"].to_numpy()
    classes = np.unique(labels)
    flipped = rng.random(len(data)) < 0.2
    data = put(data, "target", np.where(flipped, np.where(labels == classes[0], classes[1], classes[0]), labels))
    model = DecisionTreeClassifier(random_state=seed) if kind == "tree" else KNeighborsClassifier(1)
    return case(model.fit(data.drop(columns="target"), data["target"]), data)


def group_wrong(data, seed, kind, column, inside):
    model = fit(kind, data, seed)
    rng = np.random.default_rng(seed)
    wrong = rng.random(1 << 16) < 0.8

    def after(frame, answers):
        # which rows of the group are answered wrongly depends on the row, not on chance
        keys = pd.util.hash_pandas_object(frame, index=False).to_numpy() % len(wrong)
        return np.where(inside(frame) & wrong[keys], other_class(model, answers), answers)

    return case(Wrapped(model, after=after), data)


SLICES = [
    ("bank_churners", "boosting", "Gender", lambda f: (f["Gender"] == "F") & (f["Customer_Age"] < 42)),
    ("bank_churners", "forest", "Marital_Status", lambda f: f["Marital_Status"] == "Divorced"),
    ("red_wine", "forest", "alcohol", lambda f: (f["alcohol"] > 11) & (f["pH"] > 3.3)),
    ("phoneme", "boosting", "V3", lambda f: (f["V3"] > 1) & (f["V2"] < 0.5)),
    ("german_credit", "logistic", "housing", lambda f: f["housing"] == f["housing"].mode()[0]),
]
plant("slices", "worse for a group", SLICES)(group_wrong)


@plant("answers", "the answer depends on the batch", [("red_wine", "logistic")], ["batch"])
def batch_mean(data, seed, kind):
    model = fit(kind, data, seed)
    names = list(data.columns.drop("target"))
    return case(Wrapped(model, before=lambda f: f[names] - f[names].mean() + data[names].mean()), data)


@plant("answers", "the answer is partly random", [("pima", "logistic"), ("mushroom", "forest")], ["same case"])
def random_answers(data, seed, kind):
    model, rng = fit(kind, data, seed), np.random.default_rng(seed)
    return case(Wrapped(model, after=lambda f, a: np.where(rng.random(len(f)) < 0.1, other_class(model, a), a)), data)


@plant("answers", "it raises in a region", [("banknote", "forest", "skewness"), ("phoneme", "logistic", "V2")])
def raises_inside(data, seed, kind, column):
    model, limit = fit(kind, data, seed), data[column].quantile(0.9)

    def before(frame):
        if (frame[column] > limit).any():
            raise ZeroDivisionError("division by zero")
        return frame

    return case(Wrapped(model, before=before), data)


@plant("answers", "a class is never predicted", [("penguins", "logistic", "Chinstrap")])
def lost_class(data, seed, kind, label):
    model = fit(kind, data, seed)
    return case(Wrapped(model, after=lambda f, answers: np.where(answers == label, "Adelie", answers)), data)


@plant(
    "offers",
    "a column that looks protected is offered",
    [("bank_churners", "boosting", "Gender"), ("pima", "logistic", "age"), ("cleveland", "forest", "sex")],
    levels=["advice"],
)
def protected(data, seed, kind, column):
    return case(fit(kind, data, seed), data)


# -- good models -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Good:
    """A good model: an audit finds neither a fault nor a concern."""

    name: str
    data: str
    build: Callable[[pd.DataFrame, int], Case]


def _classifiers(seed):
    return {
        "logistic regression": LogisticRegression(max_iter=2_000),
        "decision tree": DecisionTreeClassifier(max_depth=5, random_state=seed),
        "random forest": RandomForestClassifier(80, random_state=seed),
        "gradient boosting": GradientBoostingClassifier(n_estimators=50, random_state=seed),
        "histogram boosting": HistGradientBoostingClassifier(max_iter=60, random_state=seed),
        "neighbours": KNeighborsClassifier(7),
        "SVC": SVC(),
        "MLP": MLPClassifier((32,), max_iter=600, random_state=seed),
        "naive Bayes": GaussianNB(),
    }


def _boosters(seed):
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    return {
        "XGBoost": XGBClassifier(n_estimators=50, random_state=seed),
        "LightGBM": LGBMClassifier(n_estimators=50, random_state=seed, verbose=-1),
        "CatBoost": CatBoostClassifier(iterations=50, random_seed=seed, verbose=False, allow_writing_files=False),
    }


def _good(name):
    def build(data, seed):
        numeric = data.drop(columns="target").select_dtypes(exclude="number").empty
        if name in _REGRESSORS:
            y = pd.to_numeric(data["target"])
            return case(make_pipeline(prepare(), _REGRESSORS[name](seed)).fit(data.drop(columns="target"), y), data)
        if name == "float32 scores of a function":
            model = fit("logistic", data, seed)
            return case(lambda frame: model.predict_proba(frame).astype(np.float32), data, classes=list(model.classes_))
        if name == "ordinal codes":
            encoder = make_column_transformer(
                (
                    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                    make_column_selector(dtype_exclude="number"),
                ),
                remainder="passthrough",
            )
            model = make_pipeline(encoder, HistGradientBoostingClassifier(max_iter=60, random_state=seed))
            return case(model.fit(data.drop(columns="target"), data["target"]), data)
        model = (_classifiers(seed) | (_boosters(seed) if name in ("XGBoost", "LightGBM", "CatBoost") else {}))[name]
        labels = data["target"]
        if name == "XGBoost":
            data = put(data, "target", labels.astype("category").cat.codes)
            labels = data["target"]
        plain = numeric and name in (
            "decision tree",
            "random forest",
            "histogram boosting",
            "XGBoost",
            "LightGBM",
            "CatBoost",
        )
        model = model if plain else make_pipeline(prepare(), model)
        return case(model.fit(data.drop(columns="target"), labels), data)

    return build


_REGRESSORS = {
    "linear regression": lambda seed: LinearRegression(),
    "ridge": lambda seed: Ridge(),
    "forest of numbers": lambda seed: RandomForestRegressor(60, random_state=seed),
    "boosting of numbers": lambda seed: HistGradientBoostingRegressor(max_iter=60, random_state=seed),
    "neighbours of numbers": lambda seed: KNeighborsRegressor(7),
}
GOOD = [
    Good(name=name, data=data, build=_good(name))
    for data, names in {
        "bank_churners": [
            "logistic regression",
            "random forest",
            "histogram boosting",
            "MLP",
            "ordinal codes",
            "float32 scores of a function",
        ],
        "pima": [
            "logistic regression",
            "decision tree",
            "random forest",
            "XGBoost",
            "LightGBM",
            "CatBoost",
            "neighbours",
            "SVC",
            "naive Bayes",
        ],
        "red_wine": ["random forest", "gradient boosting", "MLP", "SVC", "float32 scores of a function"],
        "phoneme": ["decision tree", "histogram boosting", "neighbours", "forest of numbers"],
        "mushroom": ["logistic regression", "decision tree", "ordinal codes"],
        "penguins": ["logistic regression", "SVC", "LightGBM"],
        "haberman": ["linear regression", "ridge", "boosting of numbers", "neighbours of numbers"],
        "german_credit": ["logistic regression", "random forest", "histogram boosting"],
        "cleveland": ["logistic regression", "SVC", "CatBoost"],
    }.items()
    for name in names
]
