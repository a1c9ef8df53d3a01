"""Choose the relations of a check, and find out what a learner must satisfy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._text import suggest_name
from ..._typing import LearnerLike
from ..._validation import reject
from ...errors import ArgumentError, ModelError
from ...space.blocks import has_arrays
from ...systems.base import Executor
from ...systems.clusterer import is_clusterer
from ...systems.learner import is_regressor
from ...systems.traits import has_method, is_transformer, read_traits
from ..algebra.base import MetamorphicRelation, SystemRelation
from ..catalogue.predictor import PREDICTOR_RELATIONS
from ..catalogue.registry import RelationsLike, resolve_relations
from ..learners.base import ClusterRelation, LearnerRelation
from ..learners.clusterers import CLUSTER_RELATIONS
from ..learners.necessity import find_requirement, is_known_learner, override_requirement
from ..learners.requirement import Requirement
from ..learners.sampling import RANDOM_DATA, is_random
from ..learners.sklearn import LEARNER_RELATIONS

CLUSTER_STRICTNESS = ("class_exact", "expected_failure")  # how relations of clusterers can be judged


def validate_like(owner: str, like: LearnerLike, others: str = "") -> None:
    """Raise ArgumentError unless the table of necessary relations has an estimator; `others` are what else is accepted."""
    if not is_known_learner(like):
        expected = "an estimator of scikit-learn in the table of learners, for example KNeighborsClassifier(3)"
        reject("like", owner, expected + others, like)


def select_relations(
    request: RelationsLike, model: Any, data: object, *, like: LearnerLike, target: str | None, has_space: bool
) -> tuple[list[LearnerRelation], list[SystemRelation]]:
    """Return the relations that need training, and those that need queries.

    `like` is the estimator whose relations the model must satisfy, by default itself.
    """
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class, not a learner. Create one: {model.__name__}().")
    clusters = not isinstance(model, Executor) and hasattr(model, "fit") and (is_clusterer(model) or is_clusterer(like))
    transforms = not isinstance(model, Executor) and is_transformer(model)
    learns = (
        clusters
        or transforms
        or (hasattr(model, "fit") and has_method(model, "predict") and not isinstance(model, Executor))
    )
    random_data = is_random(data)
    if learns and random_data:
        refuse_random_data(model)
    if isinstance(data, str) and not random_data:
        raise ArgumentError(f"data must be a frame, the path of a CSV or Parquet file, or 'random'. Got {data!r}.")
    if learns and isinstance(data, str) and data == RANDOM_DATA and is_regressor(model):
        raise ArgumentError(
            f"The random data of Xie et al. (2011) have labels, but {type(model).__name__} learns numbers. Use data='mixed', or "
            "give data, and the column of the numbers as target=."
        )
    has_rows = hasattr(data, "columns") if clusters else target is not None
    trains = learns and (random_data or (has_rows and not has_arrays(data)))
    answers = not random_data and (not learns or _is_fitted(model))
    if isinstance(request, str) and request in ("auto", "necessary"):
        if not trains and not answers:
            raise ArgumentError(
                "Training the learner needs labels. Give their column as target=, or use data='random'."
                if learns
                else f"{type(model).__name__} has neither predict nor transform for new rows, so there are no answers to compare. Wrap it "
                "in a class with predict."
                if hasattr(model, "fit")
                else "Random data are for learners, and this model cannot be trained. Give a frame of its inputs."
            )
        known_relations = list_learner_relations(model, clusters)
        return known_relations if trains else [], list(PREDICTOR_RELATIONS.values()) if answers else []
    relations: dict[str, MetamorphicRelation] = {}
    for relation in resolve_relations(
        request, "relations", "check", "'auto', 'necessary', ", getattr(model, "relations", None)
    ):
        if not relation.name:
            raise ArgumentError(f"The relation {type(relation).__name__} has no name. Give it one: name = '...'.")
        if relations.setdefault(relation.name, relation) is not relation:
            raise ArgumentError(f"Two relations are called {relation.name!r}. Give each a name of its own.")
    learner_relations = [relation for relation in relations.values() if isinstance(relation, LearnerRelation)]
    model_relations = [relation for relation in relations.values() if isinstance(relation, SystemRelation)]
    if learner_relations and not learns:
        raise ModelError(
            f"The relation {learner_relations[0].name!r} is about learners, but {type(model).__name__} has no fit and "
            "predict."
        )
    cluster_relations = [relation for relation in learner_relations if isinstance(relation, ClusterRelation)]
    if cluster_relations and not clusters:
        name = cluster_relations[0].name
        raise ModelError(f"The relation {name!r} is about clusterers, but {type(model).__name__} is not one.")
    if cluster_relations and len(cluster_relations) < len(learner_relations):
        raise ArgumentError(
            "Relations of clusterers compare clusters, and other relations of learners labels. Check them one after the other."
        )
    has_inputs = has_space or all(relation.draws_inputs for relation in model_relations)
    if model_relations and random_data and not has_inputs:
        raise ArgumentError(
            f"The relation {model_relations[0].name!r} is about fitted models. Give a frame of inputs as data."
        )
    return learner_relations, model_relations


def list_learner_relations(model: object, clusters: bool) -> list[LearnerRelation]:
    """Return the relations that can apply to a learner of its kind."""
    if clusters:
        return list(CLUSTER_RELATIONS.values())
    kind = read_traits(model).kind
    return [
        relation
        for relation in LEARNER_RELATIONS.values()
        if (kind != "transformer" or relation.transformers)
        and (kind not in ("regressor", "outlier detector") or relation.regressors)
    ]


def refuse_random_data(model: object) -> None:
    """Raise `ModelError` if a learner cannot learn from random tables."""
    traits, name = read_traits(model), type(model).__name__
    if traits.several_targets:
        raise ModelError(f"{name} learns several targets at once, but relations compare one answer per case.")
    if not traits.tables:
        raise ModelError(
            f"{name} does not learn from rows of attributes, and random data are such rows. Check it as a part of a pipeline."
        )


def _is_fitted(model: object) -> bool:
    """Return whether a model that follows the conventions of scikit-learn is fitted."""
    if "sklearn" not in sys.modules:  # then the model cannot be one of its estimators
        return False
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return False
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError, AttributeError):  # AttributeError: a step without the conventions
        return False
    return True


def build_requirements(
    relations: list[LearnerRelation],
    learner: LearnerLike,
    strictness: Mapping[str, str],
    expected_failures: Mapping[str, str],
) -> dict[str, Requirement]:
    """Return the requirement of each relation, as the table or the user has it."""
    requirements = {relation.name: find_requirement(relation.name, learner) for relation in relations}
    for relation in relations:
        if relation.about_scores and requirements[relation.name].strictness == "class_exact":
            requirements[relation.name] = replace(requirements[relation.name], strictness="score_exact")
    for argument, overrides in (("strictness", strictness), ("expected_failures", expected_failures)):
        for name in overrides:
            if name not in requirements:
                raise ArgumentError(
                    f"{argument} names the relation {name!r}, which is not checked. {suggest_name(name, requirements)}"
                )
    for relation in relations:
        if (
            isinstance(relation, ClusterRelation)
            and strictness.get(relation.name, "class_exact") not in CLUSTER_STRICTNESS
        ):
            raise ArgumentError(
                f"strictness of {relation.name!r} must be 'class_exact' or 'expected_failure', since clusters have no scores and "
                f"no distribution. Got {strictness[relation.name]!r}."
            )
    for name, relation_strictness in strictness.items():
        requirements[name] = override_requirement(requirements[name], relation_strictness)
    for name, reason in expected_failures.items():
        requirements[name] = override_requirement(requirements[name], expected_failure=reason)
    for name in requirements:
        if name not in {**LEARNER_RELATIONS, **CLUSTER_RELATIONS} and name not in expected_failures:
            requirements[name] = replace(requirements[name], reason="a relation of your own")
    return requirements
