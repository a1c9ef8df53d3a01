"""`CreditOptions`: the options of `dm.credit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from ..._typing import DataLike, FilePath, ModelLike
from ..._validation import reject
from ...core.execute import CapabilityOptions, Execution
from ...core.groups import SEED, TRUST
from ...core.options import Option
from ...errors import ArgumentError
from ...relations.algebra.change import STRONG_THRESHOLD, ChangeRelation
from ...runs.fingerprint import compute_data_hash
from .ladder import ModelFamily, resolve_ladder
from .loans import LoanData, choose_relations, load_loans
from .measures import DEFAULT_APPROVAL_RATE
from .preparation import DEFAULT_REPEATS, TEST_SHARE

CreditRelationsLike: TypeAlias = str | ChangeRelation | Sequence[str | ChangeRelation] | Mapping[str, ChangeRelation]
LadderLike: TypeAlias = str | ModelFamily | Sequence[str | ModelFamily]

SHARE = "a number above 0 and below 1"


def parse_ladder(text: str) -> list[str]:
    """Return the names in a list that is separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(frozen=True, kw_only=True)
class CreditSubject:
    """What is judged: the given models by name, or None to train some, with the loans and the relations."""

    models: dict[str, ModelLike] | None
    loans: LoanData
    later: LoanData | None
    relations: tuple[ChangeRelation, ...]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class CreditOptions(CapabilityOptions):
    """The options of one judgement of credit risk models, validated."""

    OWNER: ClassVar[str] = "credit"

    model: Annotated[
        ModelLike | Mapping[str, ModelLike] | None,
        Option(
            "Fitted models by name, or one: anything that `dm.wrap` takes. Without one, models are trained.",
            stored=False,
        ),
    ] = None
    data: Annotated[
        DataLike | None,
        Option(
            "Loans, one per row. Models of yours are judged on all of them, so these should not be their training data. By "
            "default a synthetic book of 10,000 mortgages whose true risk is known.",
            stored=False,
        ),
    ] = None
    target: Annotated[
        str | None,
        Option(
            'The column that says who defaulted; ``"default"`` or ``"target"`` if there is one. Models of yours can be judged '
            "without it.",
            "COL",
            help="The column that says who defaulted. By default 'default' or 'target'.",
        ),
    ] = None
    _: KW_ONLY
    outcome: Annotated[
        object,
        Option(
            "The value of `target`, and the class of the models, that means default. By default the first that occurs of "
            '"default", "defaulted", "bad", 1 and True.',
            "VALUE",
            help="The value of that column that means default, e.g. bad.",
        ),
    ] = None
    relations: Annotated[
        CreditRelationsLike | None,
        Option(
            'What is expected instead of HMR1 to HMR5: `ChangeRelation` objects, or names such as ``"credit.HMR1"``.',
            "RELATION",
            flag="relation",
            help="What is expected instead of HMR1 to HMR5: credit.HMR1 ..., or module:object. Repeatable.",
            repeatable=True,
            expected="relations about changes, or their names",
        ),
    ] = None
    promises: Annotated[
        FilePath | None,
        Option(
            "A file of expectations, such as ``credit_score: lowers default``, to build the relations from.",
            "FILE",
            help="A promises file with lines such as 'credit_score: lowers default'.",
        ),
    ] = None
    columns: Annotated[
        Mapping[str, str] | None,
        Option(
            'The names of your columns for "credit_score", "dti" and "ltv", if they differ.',
            "ROLE=COL",
            flag="column",
            help="Your column for credit_score, dti or ltv, e.g. credit_score=fico. Repeatable.",
            repeatable=True,
        ),
    ] = None
    additive: Annotated[
        bool,
        Option(
            "Whether to add fixed steps instead of multiplying, in the default relations.",
            help="Add fixed steps to credit score, DTI and LTV instead of multiplying.",
        ),
    ] = False
    ladder: Annotated[
        LadderLike,
        Option(
            'The models to train: ``"short"``, ``"published"`` (all sizes of the thesis, which takes hours), or names of '
            'families: ``"logistic_regression"``, ``"decision_tree"``, ``"random_forest"``, ``"neural_network"``, '
            '``"gradient_boosting"``, ``"xgboost"``, ``"lightgbm"``.',
            "NAMES",
            help="The models to train, separated by commas: short, published, logistic_regression, decision_tree, "
            "random_forest, neural_network, gradient_boosting, xgboost, lightgbm.",
            parse=parse_ladder,
        ),
    ] = "short"
    constraints: Annotated[
        bool,
        Option(
            "Whether to train boosting models with monotone constraints too, to measure what these repair and cost.",
            flag="no-constraints",
            flag_value=False,
            help="Do not train boosting models with monotone constraints too.",
        ),
    ] = True
    repetitions: Annotated[
        int, Option("How often models are trained, each time on another random part of the loans.", "N", low=1)
    ] = 5
    threshold: Annotated[
        float,
        Option(
            "The share of strong violations of one relation above which a model is rejected.",
            "SHARE",
            low=0,
            below=1,
            expected="a share from 0 to below 1",
        ),
    ] = 0.01
    strong: Annotated[
        float,
        Option(
            "The size from which a violation is strong, as a difference of probabilities.",
            "SIZE",
            above=0,
            below=1,
            expected=SHARE,
        ),
    ] = STRONG_THRESHOLD
    approval_rate: Annotated[
        float,
        Option(
            "The share of applicants who are approved, to count defaults among them.",
            "SHARE",
            above=0,
            below=1,
            expected=SHARE,
        ),
    ] = DEFAULT_APPROVAL_RATE
    test_share: Annotated[
        float,
        Option(
            "The share of loans that is held out to test trained models.", "SHARE", above=0, below=1, expected=SHARE
        ),
    ] = TEST_SHARE
    repeats: Annotated[
        int, Option("How often each defaulted loan is used in training, since defaults are rare.", "N", low=1)
    ] = DEFAULT_REPEATS
    later: Annotated[
        DataLike | None,
        Option(
            "Loans of a later year, with the same columns: models are trained on `data` and tested on these.",
            "DATA",
            help="Loans of a later year: train on DATA, test on these.",
            stored=False,
        ),
    ] = None
    seed: Annotated[int, SEED] = 0
    trust: Annotated[bool, TRUST] = False
    name: Annotated[
        str | None,
        Option(
            "What reports call the loans.",
            "TEXT",
            help="What reports call the loans. The default is the name of DATA.",
            stored=False,
        ),
    ] = None

    def validate(self) -> None:
        """Raise `ArgumentError` if the options contradict each other, or name no family of models."""
        super().validate()
        if self.promises is not None and self.relations is not None:
            raise ArgumentError("relations= and promises= both say what is expected of the models. Give only one.")
        resolve_ladder(self.ladder, self.constraints)
        if isinstance(self.model, Mapping) and not (self.model and all(isinstance(name, str) for name in self.model)):
            reject("model", self.OWNER, "a model, or at least one model by name", self.model)
        if self.model is not None and self.data is None:
            raise ArgumentError("A model is judged on loans that it was not trained on. Give them: data=...")
        if self.model is not None and self.later is not None:
            raise ArgumentError("later= is for models that are trained here. Give the later loans as data=... instead.")

    @property
    def families(self) -> list[ModelFamily]:
        """The families of the ladder, with their constrained twins."""
        return resolve_ladder(self.ladder, self.constraints)

    @property
    def models(self) -> dict[str, ModelLike] | None:
        """The given models by name; None if models are trained."""
        if self.model is None:
            return None
        return dict(self.model) if isinstance(self.model, Mapping) else {_find_model_name(self.model): self.model}

    def make_subject(self, execution: Execution[Any]) -> CreditSubject:
        """Return the models, the loans, and the relations that their columns allow."""
        models, seed = self.models, self.seed
        loans = load_loans(self.data, self.target, self.outcome, required=models is None, name=self.name, seed=seed)
        relations, notes = choose_relations(
            loans,
            relations=self.relations,
            promises=self.promises,
            columns=self.columns,
            outcome=self.outcome,
            additive=self.additive,
        )
        later = None
        if self.later is not None:
            later = load_loans(self.later, loans.target, loans.outcome, required=True, name="later loans", seed=seed)
        return CreditSubject(models=models, loans=loans, later=later, relations=tuple(relations), notes=notes)

    def describe_run(self, execution: Execution[CreditSubject]) -> dict[str, Any]:
        """Return the name of the loans and the request, with the models and the loans to compare."""
        subject = execution.subject
        later = None if subject.later is None else compute_data_hash(subject.later.applicants)
        return {
            "system": subject.loans.name,
            "parameters": self.to_request() | {"later": later},
            "model": subject.models or {str(family): type(family) for family in self.families},
            "seeds": subject.loans.applicants.assign(defaulted=subject.loans.defaulted),
        }


def _find_model_name(model: ModelLike) -> str:
    if isinstance(model, str):
        return model.replace("\\", "/").rpartition("/")[2]
    steps = getattr(model, "steps", None)  # of a pipeline
    inner = steps[-1][1] if isinstance(steps, list) and steps else model
    return str(getattr(model, "__name__", type(inner).__name__))
