"""The ladder of models: one family per kind of model, from small to large, as in chapter 8 of Ying (2024).

A family is trained once per repetition and answers for all its sizes: boosting trees are added one after the other, and
forests are grown and dropped in chunks, so that 20,000 trees need no more memory than one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..._text import pluralise, suggest_name
from ..._validation import import_optional, reject
from ...data.learners import ignore_convergence_warnings
from ...errors import ArgumentError
from .measures import Flags, Floats

FOREST_CHUNK_TREES = 50
BOOSTING_DEPTH = 3  # of each tree, as in scikit-learn's GradientBoostingClassifier
LEARNING_RATE = 0.1

PUBLISHED_BOOSTING_SIZES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 500, 1000)
PUBLISHED_FOREST_SIZES = (1, 50, 100, 500, 1000, 5000, 10_000, 20_000)
PUBLISHED_NETWORK_SHAPES = tuple((neurons, layers) for layers in (1, 2, 3) for neurons in (1, 2, 3, 4, 5))


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A model of the ladder: a family at one size."""

    name: str
    family: str
    size: str
    unit: str = ""  # in which sizes are counted
    complexity: float  # larger models of the family have more
    constrained: bool = False  # whether its directions are fixed by constraints
    twin: str = ""  # the name of the same model without constraints


@dataclass(frozen=True, kw_only=True)
class TrainingLoans:
    """The training data of a model: loans as a matrix, who defaulted, and expected directions."""

    matrix: Floats
    defaulted: Flags
    columns: Sequence[str]
    signs: Mapping[str, int]  # per column, 1 if more of it may only raise the probability of default, -1 if only lower


@dataclass(frozen=True, kw_only=True)
class RungAnswer:
    """What a trained model of the ladder answers: one probability of default per row."""

    rung: Rung
    probabilities: Floats
    coefficients: Mapping[str, float] = field(
        default_factory=dict
    )  # of a linear model, for the columns with a direction


@dataclass(frozen=True, kw_only=True)
class ModelFamily:
    """Models of one kind at several sizes."""

    name: ClassVar[str]

    @property
    def rungs(self) -> list[Rung]:
        """The models, smallest first."""
        raise NotImplementedError

    def split(self) -> Sequence[ModelFamily]:
        """Return families that are trained apart; sizes that grow from each other stay together."""
        return [self]

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train, and yield the answers to `inputs` for each model, smallest first."""
        raise NotImplementedError


# -- single models -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LogisticFamily(ModelFamily):
    """Logistic regression, which reports the signs of its coefficients."""

    name = "logistic regression"

    @property
    def rungs(self) -> list[Rung]:
        """The one model."""
        return [Rung(name=self.name, family=self.name, size="", complexity=0)]

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train, and yield the answers with the coefficients of the columns that have a direction."""
        from sklearn.linear_model import LogisticRegression

        with ignore_convergence_warnings():
            model = LogisticRegression(max_iter=1000).fit(training.matrix, training.defaulted)
        weights = dict(zip(training.columns, model.coef_[0].tolist(), strict=True))
        yield RungAnswer(
            rung=self.rungs[0],
            probabilities=model.predict_proba(inputs)[:, 1],
            coefficients={name: weights[name] for name in training.signs if name in weights},
        )


@dataclass(frozen=True, kw_only=True)
class TreeFamily(ModelFamily):
    """Decision trees of growing depth."""

    name = "decision tree"
    depths: tuple[int, ...] = (3, 6, 10)

    @property
    def rungs(self) -> list[Rung]:
        """One tree per depth."""
        return [
            Rung(
                name=f"{self.name}, depth {depth}",
                family=self.name,
                size=f"depth {depth}",
                unit="depth",
                complexity=depth,
            )
            for depth in self.depths
        ]

    def split(self) -> Sequence[ModelFamily]:
        """Return a family per depth."""
        return [replace(self, depths=(depth,)) for depth in self.depths]

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train one tree per depth, and yield its answers."""
        from sklearn.tree import DecisionTreeClassifier

        for depth, rung in zip(self.depths, self.rungs, strict=True):
            tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
            tree.fit(training.matrix, training.defaulted)
            yield RungAnswer(rung=rung, probabilities=tree.predict_proba(inputs)[:, 1])


@dataclass(frozen=True, kw_only=True)
class NetworkFamily(ModelFamily):
    """Neural networks by neurons per layer and layers; "3*1" has three neurons in one layer."""

    name = "neural network"
    shapes: tuple[tuple[int, int], ...] = PUBLISHED_NETWORK_SHAPES

    @property
    def rungs(self) -> list[Rung]:
        """One network per shape."""
        return [
            Rung(
                name=f"{self.name}, {neurons}*{layers}",
                family=self.name,
                size=f"{neurons}*{layers}",
                unit="neurons",
                complexity=neurons * layers,
            )
            for neurons, layers in self.shapes
        ]

    def split(self) -> Sequence[ModelFamily]:
        """Return a family per shape."""
        return [replace(self, shapes=(shape,)) for shape in self.shapes]

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train one network per shape, and yield its answers."""
        from sklearn.neural_network import MLPClassifier

        for (neurons, layers), rung in zip(self.shapes, self.rungs, strict=True):
            with ignore_convergence_warnings():
                network = MLPClassifier((neurons,) * layers, random_state=seed)
                network.fit(training.matrix, training.defaulted)
            yield RungAnswer(rung=rung, probabilities=network.predict_proba(inputs)[:, 1])


# -- forests and boosting ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SizedFamily(ModelFamily):
    """Models of growing numbers of trees."""

    sizes: tuple[int, ...] = PUBLISHED_BOOSTING_SIZES
    constrained = False

    @property
    def rungs(self) -> list[Rung]:
        """One model per number of trees."""
        family = f"{self.name} with constraints" if self.constrained else self.name
        return [
            Rung(
                name=f"{family}, {trees}",
                family=family,
                size=trees,
                unit="trees",
                complexity=size,
                constrained=self.constrained,
                twin=f"{self.name}, {trees}" if self.constrained else "",
            )
            for size in self.sizes
            for trees in [pluralise(size, "tree")]
        ]


@dataclass(frozen=True, kw_only=True)
class ForestFamily(SizedFamily):
    """Random forests of growing size, grown and dropped in chunks."""

    name = "random forest"
    sizes: tuple[int, ...] = PUBLISHED_FOREST_SIZES
    chunk_trees: int = FOREST_CHUNK_TREES

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Grow chunks of trees, and yield the mean of their answers at each size."""
        from sklearn.ensemble import RandomForestClassifier

        rng = np.random.default_rng(seed)
        total, tree_count = np.zeros(len(inputs)), 0
        for size, rung in zip(self.sizes, self.rungs, strict=True):
            while tree_count < size:
                chunk = min(self.chunk_trees, size - tree_count)
                forest = RandomForestClassifier(chunk, random_state=int(rng.integers(2**31)))
                forest.fit(training.matrix, training.defaulted)
                total += chunk * forest.predict_proba(inputs)[:, 1]
                tree_count += chunk
            yield RungAnswer(rung=rung, probabilities=total / tree_count)


@dataclass(frozen=True, kw_only=True)
class PublishedBoostingFamily(SizedFamily):
    """Gradient boosting as published, with scikit-learn's exact trees, trained once for all sizes."""

    name = "gradient boosting (exact splits)"

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train once, and yield the answers after each number of trees."""
        from scipy.special import expit
        from sklearn.ensemble import GradientBoostingClassifier

        model = GradientBoostingClassifier(n_estimators=max(self.sizes), random_state=seed)
        model.fit(training.matrix, training.defaulted)
        rungs = dict(zip(self.sizes, self.rungs, strict=True))
        for tree_count, margins in enumerate(model.staged_decision_function(inputs), start=1):
            if tree_count in rungs:
                yield RungAnswer(rung=rungs[tree_count], probabilities=expit(margins.ravel()))


@dataclass(frozen=True, kw_only=True)
class ConstrainableFamily(SizedFamily):
    """Gradient boosting in a library whose trees can be constrained to a direction per column."""

    constrained: bool = False

    def answer(self, training: TrainingLoans, inputs: Floats, seed: int) -> Iterator[RungAnswer]:
        """Train once, and yield the answers after each number of trees."""
        signs = [training.signs.get(name, 0) for name in training.columns] if self.constrained else None
        answers = self._predict_sizes(self._train(training, signs, seed), inputs)
        for rung, probabilities in zip(self.rungs, answers, strict=True):
            yield RungAnswer(rung=rung, probabilities=np.asarray(probabilities, dtype=np.float64))

    def _train(self, training: TrainingLoans, signs: Sequence[int] | None, seed: int) -> Any:
        """Return a model of the largest size; `signs` has a direction per column, 0 for none."""
        raise NotImplementedError

    def _predict_sizes(self, model: Any, inputs: Floats) -> Iterator[Any]:
        """Yield the probabilities after each number of trees."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class HistogramBoostingFamily(ConstrainableFamily):
    """Gradient boosting with scikit-learn's `HistGradientBoostingClassifier`."""

    name = "gradient boosting"

    def _train(self, training: TrainingLoans, signs: Sequence[int] | None, seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=max(self.sizes),
            max_depth=BOOSTING_DEPTH,
            learning_rate=LEARNING_RATE,
            early_stopping=False,
            monotonic_cst=signs,
            random_state=seed,
        )
        return model.fit(training.matrix, training.defaulted)

    def _predict_sizes(self, model: Any, inputs: Floats) -> Iterator[Any]:
        for tree_count, probabilities in enumerate(model.staged_predict_proba(inputs), start=1):
            if tree_count in self.sizes:
                yield probabilities[:, 1]


@dataclass(frozen=True, kw_only=True)
class XGBoostFamily(ConstrainableFamily):
    """Gradient boosting of XGBoost."""

    name = "XGBoost"

    def _train(self, training: TrainingLoans, signs: Sequence[int] | None, seed: int) -> Any:
        xgboost = import_optional("xgboost", "boost", "The family 'xgboost'")
        model = xgboost.XGBClassifier(
            n_estimators=max(self.sizes),
            max_depth=BOOSTING_DEPTH,
            learning_rate=LEARNING_RATE,
            monotone_constraints=None if signs is None else tuple(signs),
            random_state=seed,
            n_jobs=1,
        )
        return model.fit(training.matrix, training.defaulted.astype(np.int64))

    def _predict_sizes(self, model: Any, inputs: Floats) -> Iterator[Any]:
        for size in self.sizes:
            yield model.predict_proba(inputs, iteration_range=(0, size))[:, 1]


@dataclass(frozen=True, kw_only=True)
class LightGBMFamily(ConstrainableFamily):
    """Gradient boosting of LightGBM."""

    name = "LightGBM"

    def _train(self, training: TrainingLoans, signs: Sequence[int] | None, seed: int) -> Any:
        lightgbm = import_optional("lightgbm", "boost", "The family 'lightgbm'")
        model = lightgbm.LGBMClassifier(
            n_estimators=max(self.sizes),
            max_depth=BOOSTING_DEPTH,
            num_leaves=2**BOOSTING_DEPTH,
            learning_rate=LEARNING_RATE,
            monotone_constraints=signs,
            random_state=seed,
            n_jobs=1,
            verbose=-1,
        )
        return model.fit(training.matrix, training.defaulted.astype(np.int64))

    def _predict_sizes(self, model: Any, inputs: Floats) -> Iterator[Any]:
        for size in self.sizes:
            yield model.booster_.predict(inputs, num_iteration=size)


# -- ladders -----------------------------------------------------------------------------------------------------------

#: families by the name that `dm.credit` takes, at sizes that take a minute or two
SHORT_BOOSTING_SIZES = (10, 50, 100, 500)
FAMILIES: dict[str, ModelFamily] = {
    "logistic_regression": LogisticFamily(),
    "decision_tree": TreeFamily(),
    "random_forest": ForestFamily(sizes=(1, 50, 100)),
    "neural_network": NetworkFamily(shapes=((3, 1),)),
    "gradient_boosting": HistogramBoostingFamily(sizes=SHORT_BOOSTING_SIZES),
    "xgboost": XGBoostFamily(sizes=SHORT_BOOSTING_SIZES),
    "lightgbm": LightGBMFamily(sizes=SHORT_BOOSTING_SIZES),
}
SHORT_LADDER = ("logistic_regression", "decision_tree", "random_forest", "neural_network", "gradient_boosting")
PUBLISHED_LADDER: tuple[ModelFamily, ...] = (
    LogisticFamily(),
    TreeFamily(),
    NetworkFamily(),
    PublishedBoostingFamily(),
    ForestFamily(),
    HistogramBoostingFamily(),
)


def resolve_ladder(ladder: object, constraints: bool, owner: str = "credit") -> list[ModelFamily]:
    """Return the families of a ladder, with a constrained twin for each that can have one.

    Examples
    --------
    >>> [family.name for family in resolve_ladder(["logistic_regression"], constraints=True)]
    ['logistic regression']
    """
    names: Sequence[object] = [ladder] if isinstance(ladder, str | ModelFamily) else ladder  # type: ignore[assignment]
    if not isinstance(names, Sequence) or not names:
        reject("ladder", owner, "'short', 'published', or names of families of models", ladder)
    families: list[ModelFamily] = []
    for name in names:
        if isinstance(name, ModelFamily):
            families.append(name)
        elif not isinstance(name, str):
            reject("ladder", owner, "'short', 'published', or names of families of models", ladder)
        elif name == "short":
            families += [FAMILIES[key] for key in SHORT_LADDER]
        elif name == "published":
            families += PUBLISHED_LADDER
        elif name in FAMILIES:
            families.append(FAMILIES[name])
        else:
            raise ArgumentError(
                f"There is no family of models {name!r}. {suggest_name(name, ['short', 'published', *FAMILIES])}"
            )
    twins: list[ModelFamily] = []
    if constraints:
        twins = [
            type(family)(sizes=family.sizes, constrained=True)
            for family in families
            if isinstance(family, ConstrainableFamily) and not family.constrained
        ]
    return list(dict.fromkeys([*families, *twins]))
