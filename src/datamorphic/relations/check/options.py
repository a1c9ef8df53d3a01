"""The options of `check`."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._estimates import refuse_many_rows
from ..._text import pluralise
from ..._typing import DataLike, LearnerLike, ModelLike
from ..._validation import validate_choice
from ...core.execute import Execution
from ...core.groups import SEED
from ...core.options import Option
from ...core.parsing import parse_pairs
from ...errors import ArgumentError
from ...morphisms.model_options import ModelOptions
from ...runs.keep import StoreOptions, resolve_seed
from ...space.blocks import expand_arrays
from ...space.frames import join_target
from ...space.space import Space
from ...systems.distribution import FUNCTION, Distribution, is_distribution
from ...systems.files import complete_name, load_model, name_model
from ...systems.function_runner import NumericFunction
from ...systems.learner import Learner, format_learner
from ..algebra.answers import FunctionAnswers, find_answers_relation
from ..algebra.base import MetamorphicRelation, SystemRelation
from ..algebra.function import prepare_function
from ..catalogue.distributions import build_distribution_relations, prepare_distribution
from ..catalogue.functions import KnownFunction, build_function_relations, find_function_name
from ..catalogue.registry import RelationsLike
from ..learners.base import ClusterRelation
from ..learners.necessity import is_known_learner
from ..learners.requirement import STRICTNESS
from ..learners.sampling import MAX_TRAINING_ROWS, MIXED_DATA, is_random
from ..learners.waves import TrainingSource
from .learner_session import LearnerSession, prepare_outcomes
from .model_session import ModelRelationOutcome, ModelSession
from .selection import build_requirements, select_relations, validate_like


@dataclass(frozen=True, kw_only=True)
class CheckSubject:
    """What is checked: a learner that is trained, a model that is queried, or a fitted learner that is both."""

    name: str
    data: str  # in words
    learner: LearnerSession | None
    model: ModelSession | None
    known: bool  # whether the table says which relations the learner must satisfy
    other: CheckSubject | None = None  # what it is compared with

    @property
    def sessions(self) -> list[LearnerSession | ModelSession]:
        """The relations that need training, then those that need queries."""
        return [session for session in (self.learner, self.model) if session is not None]


def parse_strictness(texts: Sequence[str]) -> dict[str, str]:
    """Return how to judge relations from ``MR-0=class_stat``."""
    return parse_pairs(texts, "--strictness", "RELATION=HOW")


def parse_expected_failures(texts: Sequence[str]) -> dict[str, str]:
    """Return the relations that may be violated, with the reasons, from ``MR-0=known``."""
    return parse_pairs(texts, "--expect-failure", "RELATION=REASON")


@dataclass(frozen=True, eq=False)
class CheckOptions(ModelOptions):
    """The options of `dm.check`, validated."""

    OWNER: ClassVar[str] = "check"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("model", "data", "relations", "target", "inputs", "seed", "engine")

    model: Annotated[
        ModelLike,
        Option(
            'A learner, a fitted model, a function, ``"weka:IBk -K 3"``, ``"python:/path/to/python module:object"`` for a learner '
            "or a function of another Python, or the path of a model file.",
            stored=False,
            former_names=("learner",),
        ),
    ]
    data: Annotated[
        DataLike | str | None,
        Option(
            'For a learner, random training sets of many kinds by default, ``"mixed"``: numbers of any scale, whole numbers, gaps, '
            "copied rows, constant columns, labels that are text or numbers. Or the random data of Xie et al. (2011), "
            '``"random"``: up to 50 rows of 4 numbers from 1 to 20, with random labels L0, L1, L2. For a clusterer, both are groups '
            "of rows that are far from each other. Or rows of your own, or an array of images with the shape (n, height, width).",
            stored=False,
        ),
    ] = MIXED_DATA
    relations: Annotated[
        RelationsLike,
        Option(
            'All that apply, ``"auto"``; those that must hold, ``"necessary"``; or some by name (``"MR-1.1"``, '
            '``"text.typo of review"``, ``"image.noise"``, or ``"audio"`` for all of sounds) or as objects of your own.',
            "RELATION",
            flag="relation",
            help="A relation: its name (MR-1.1, 'text.typo of review', image.noise), module:object, or 'necessary'. Repeatable. "
            "The default is all that apply.",
            repeatable=True,
            expected="'auto', 'necessary', a relation, the name of one, or several of these",
        ),
    ] = "auto"
    target: Annotated[
        str | npt.ArrayLike | None,
        Option(
            "The column of `data` with the labels, or one label per case. A clusterer does not see it.",
            "COL",
            help="The column of DATA that holds the label.",
        ),
    ] = None
    inputs: Annotated[
        int,
        Option(
            "The number of test cases per relation.",
            "N",
            low=1,
            help="Number of inputs per relation.",
            label="Inputs per relation",
        ),
    ] = 300
    _: KW_ONLY
    rows: Annotated[
        int,
        Option(
            "The largest number of rows of a random training set; with `data`, the smallest number.",
            "N",
            low=1,
            help="Largest number of rows of a random training set.",
            label="Rows of a random training set, at most",
        ),
    ] = MAX_TRAINING_ROWS
    like: Annotated[
        LearnerLike | None,
        Option(
            "An estimator of scikit-learn whose algorithm the learner implements. The learner must satisfy the relations that "
            "this estimator must satisfy.",
            "CLASS",
            help="The scikit-learn class whose algorithm it implements, e.g. sklearn.naive_bayes:GaussianNB.",
        ),
    ] = None
    against: Annotated[
        ModelLike | None,
        Option(
            "Another learner or model, such as that of an earlier release: which relations hold in only one of both, and where "
            'answers to the same inputs differ. ``"python:/path/to/python"`` is the same object in another environment.',
            "MODEL",
            help="Another learner or model that gets the same inputs, or 'python:PYTHON': the same one in another environment.",
            stored=False,
        ),
    ] = None
    expected_failures: Annotated[
        Mapping[str, str] | None,
        Option(
            "Names of relations whose violations are no faults, each with the reason.",
            "RELATION=REASON",
            flag="expect-failure",
            help="A relation whose violation is not a fault. Repeatable.",
            parse=parse_expected_failures,
            repeatable=True,
        ),
    ] = None
    strictness: Annotated[
        Mapping[str, str] | None,
        Option(
            'How to judge relations of learners, by name: ``"class_exact"``, ``"score_exact"``, ``"class_stat"``, '
            '``"score_stat"``.',
            "RELATION=HOW",
            help="How to judge a relation of learners: class_exact, score_exact, class_stat or score_stat. Repeatable.",
            parse=parse_strictness,
            repeatable=True,
        ),
    ] = None
    ties: Annotated[
        str,
        Option(
            'Whether violations that depend on a tie are set ``"aside"`` or ``"count"``. They disappear when all numbers change '
            "slightly.",
            choices=("aside", "count"),
            flag="count-ties",
            flag_value="count",
            help="Also count violations that depend on a tie.",
            label="Also count violations that depend on a tie",
        ),
    ] = "aside"
    shrink: Annotated[
        bool,
        Option(
            "Whether to look for the smallest violation of each violated relation.",
            flag="no-shrink",
            flag_value=False,
            help="Report violations as they are, not the smallest ones.",
        ),
    ] = True
    vary_parameters: Annotated[
        bool,
        Option(
            "Whether half of the training sets are for the learner with another value of one parameter: a documented choice, or a "
            "boundary of a documented range. What must hold is looked up for that value.",
            help="Also try other values of the learner's parameters: documented choices and boundaries of ranges.",
            label="Also try other values of the learner's parameters",
        ),
    ] = False
    seed: Annotated[int | None, SEED] = 0

    def validate(self) -> None:
        """Raise `ArgumentError` for what types and limits do not say, and join labels that were given apart from the data."""
        super().validate()
        if self.like is not None:
            validate_like(self.OWNER, self.like)
        for strictness in (self.strictness or {}).values():
            validate_choice("strictness", self.OWNER, strictness, STRICTNESS)
        data, target = join_target(self.data, self.target, getattr(self.space, "blocks", ()))
        self.set(data=data, target=target)
        if self.seed is None and self.store is None:
            self.set(seed=resolve_seed(None, StoreOptions("none")))  # reports name it

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of relations and estimators, their names."""
        like = None if self.like is None else format_learner(self.like)
        names = {"relations": _name_relations(self.relations), "like": like}
        if self.against is not None:
            names["against"] = self.against if isinstance(self.against, str) else format_learner(self.against)
        return super().to_request() | names

    def make_subject(self, execution: Execution[Any]) -> CheckSubject:
        """Return the learner and the model, each with the relations to check on it, and what it is compared with."""
        subject = self._make_subject(execution)
        if self.against is None:
            return subject
        other = copy.copy(self)
        other.set(model=complete_name(self.against, self.model), name=None)
        if self.relations == "necessary":  # by the first of both
            outcomes = [outcome for session in subject.sessions for outcome in session.outcomes]
            other.set(relations=[out.relation for out in outcomes if not isinstance(out.relation, FunctionAnswers)])
        if subject.model is not None and isinstance(subject.model.subject.sut, Distribution):
            other.set(data=subject.model.subject.seeds.frame)  # which was drawn with the quantiles of the first
        return replace(subject, other=_match_subjects(subject, other._make_subject(execution)))

    def _make_subject(self, execution: Execution[Any]) -> CheckSubject:
        seed = int(execution.seed)  # type: ignore[arg-type]  # validation has made it an int
        target: Any = self.target  # the name of a column: validation has joined labels with the data
        model, model_name = _load_model(self.model, self.trust, self.name)
        data = self.data
        relations = self.relations
        if is_distribution(model) and (is_random(data) or FUNCTION in getattr(data, "columns", ())):
            if isinstance(relations, str) and relations in ("auto", "necessary"):
                relations = list(build_distribution_relations(model).values())
            model, data = prepare_distribution(model, self.inputs, seed, None if is_random(data) else data)
        elif is_random(data) and (function := find_function_name(model)):
            if isinstance(relations, str) and relations in ("auto", "necessary"):
                relations = list(build_function_relations(function).values())
            model = KnownFunction(model, function)
        if data is None and target is None and self.space is None and hasattr(model, "fit"):
            data = MIXED_DATA
        like = model if self.like is None else self.like
        trained_relations, queried_relations = select_relations(
            relations, model, data, like=like, target=target, has_space=self.space is not None
        )
        requirements = build_requirements(trained_relations, like, self.strictness or {}, self.expected_failures or {})
        if isinstance(relations, str) and relations == "necessary":
            trained_relations = [relation for relation in trained_relations if requirements[relation.name].necessary]
        clusters = any(isinstance(relation, ClusterRelation) for relation in trained_relations)
        learner_session = model_session = None
        if trained_relations:
            learner_session = LearnerSession(
                learner=model,
                outcomes=prepare_outcomes(trained_relations, requirements, seed, self.ties),
                inputs=TrainingSource.of(
                    expand_arrays(data), target, self.rows, self.inputs, seed, model if clusters else None
                ),
                random_data=str(data) if is_random(data) else "",
                drive=execution.drive,
                like=self.like,
            )
        if queried_relations:
            model_session = self._prepare_queries(execution, model, model_name, data, target, queried_relations)
        data_text = self._format_data(data, bool(trained_relations), clusters)
        return CheckSubject(
            name=model_name
            or (format_learner(model) if learner_session or model_session is None else model_session.subject.name),
            data=data_text,
            learner=learner_session,
            model=model_session,
            known=not trained_relations or self.like is not None or is_known_learner(model),
        )

    def _prepare_queries(
        self,
        execution: Execution[Any],
        model: Any,
        name: str | None,
        data: Any,
        target: str | None,
        relations: Sequence[SystemRelation],
    ) -> ModelSession:
        """Return the model with its inputs and the relations that query it."""
        if isinstance(data, Space):  # inputs are drawn, changed, and made into frames
            refuse_many_rows(self.OWNER, "inputs", self.inputs, 4 * len(data))
        has_inputs = not is_random(data) or self.space is not None
        system = prepare_function(model, relations, has_inputs)
        if isinstance(system, NumericFunction) and (answers := find_answers_relation(relations, system.width)):
            relations = [answers, *relations]
        subject = self.build_subject(
            execution,
            None if is_random(data) else data,
            target,
            model=system,
            seeds=self.inputs,
            name=name,
            **({} if self.against is None else {"rng": np.random.default_rng(execution.seed)}),  # the same for both
        )
        return ModelSession(
            subject=subject,
            outcomes=[ModelRelationOutcome(relation=relation) for relation in relations],
            drive=execution.drive,
            seed=int(execution.seed),  # type: ignore[arg-type]
            shrinks=self.shrink,
        )

    def _format_data(self, data: object, is_trained: bool, clusters: bool) -> str:
        if is_random(data):
            return "random training sets" if is_trained else "inputs drawn from the domains of the relations"
        size = pluralise(len(data), "row") if hasattr(data, "__len__") else "inputs drawn from a space"
        if not is_trained:
            return size
        if clusters:
            return f"{size}, parts of them drawn as training sets"
        return f"{size}, training sets and cases drawn from them, labels in {self.target}"

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return the name of what is checked and the request, with the model and the data to compare."""
        return {
            "system": execution.subject.name,
            "parameters": self.to_request(),
            "model": self.model,
            "seeds": self.data,
        }


def _match_subjects(subject: CheckSubject, other: CheckSubject) -> CheckSubject:
    """Return what is compared, with a name of its own; raise `ArgumentError` if it is another kind of system."""
    kinds = [_describe_kind(one) for one in (subject, other)]
    if kinds[0] != kinds[1]:
        raise ArgumentError(
            f"against must be the same kind of system: {subject.name} is {kinds[0]}, and {other.name} is {kinds[1]}."
        )
    return replace(other, name=f"the other {other.name}") if other.name == subject.name else other


def _describe_kind(subject: CheckSubject) -> str:
    if subject.learner is None:
        return "a model that is queried"
    kind = subject.learner.subject.traits.kind
    if subject.learner.is_clusterer:
        kind = "clusterer"
    elif subject.learner.subject.is_regression:
        kind = "regressor"
    return f"a {kind or 'classifier'}" + ("" if subject.model is None else " that is fitted")


def _load_model(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and its name; None for the name of its class."""
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or name_model(model)
    return (model.learner, name or model.name) if isinstance(model, Learner) else (model, name)


def _name_relations(relations: RelationsLike) -> Any:
    """Return relations by name, as a run store keeps them."""
    if isinstance(relations, str):
        return relations
    if isinstance(relations, Mapping):
        return list(relations)
    if isinstance(relations, MetamorphicRelation | type):
        return relations.name or str(relations)
    return [_name_relations(relation) for relation in relations]
