"""The demo: a classifier that is trained in a second, and tested in every way that applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._lazy import pd
from ..._text import format_short
from ...audit.result import AuditResult
from ...audit.run import test
from ...data import knn
from ...data.loans.book import make_loan_book
from ...data.products import make_product_queries, make_products
from ...data.programs import programs
from ...data.sets import load
from ...exploration.front import Front
from ...exploration.options import WalkOptions
from ...exploration.run import explore
from ...hunting.measures import f_ratio
from ...hunting.result import Hunt
from ...hunting.run import hunt
from ...morphisms.law_result import LawReport
from ...morphisms.run import laws
from ...morphisms.stock import derive
from ...morphisms.subject import SubjectUnderTest
from ...mutation.forge import SourceMutant, load_module, make_mutants, read_program
from ...relations.catalogue.search import search_relations
from ...relations.check.result import CheckReport
from ...relations.check.run import check
from ...risk.credit.ladder import HistogramBoostingFamily
from ...risk.credit.result import CreditReport
from ...risk.credit.run import credit
from ...runs.driver import CallCounter, drive
from ...runs.flow import ask
from ...space.space import Path, Space
from ...synthesis.combination.result import CombinationResult
from ...synthesis.combination.run import combine
from ...systems.base import Executor
from ...systems.isolation import use_one_blas_thread
from ...systems.search_engines import SqliteSearch
from ...systems.wrap import wrap
from ...trees.coverage.mutation import MutationScore
from ...trees.coverage.run import cover
from .measurements import MeasurementErrors
from .resume import ResumedRun, interrupt_and_resume

if TYPE_CHECKING:
    from ...space.outputs import Outputs

CLASSES = ("malignant", "benign")
#: features of which more must never make a malignant tumour less likely: expectations of the demo
MONOTONE_FEATURES = ("mean radius", "mean concavity", "mean compactness")
#: relations that are checked on a learner with a planted fault
RELATIONS = ("MR-0", "MR-1.2", "MR-2.1", "MR-3.1", "MR-3.2", "MR-4.2", "sample order")
DISTRIBUTION = "kappa3"  # of SciPy; whether the release that is installed has a bug is not known
MISREAD_FEATURE, MISREAD_FACTOR = "mean radius", 10  # a length in another unit than the model expects
PROGRAM, MUTANT, RELATION = "tanh", "m1", "tripling"  # found so soon that nothing needs to be compiled
GENERATORS = ("MT-RT", "SFIDMT-ART")
LAW_EXAMPLES = 20
RESUMED_WALKS = 200
LOANS = 1_500
LOAN_MODELS = ("logistic_regression", HistogramBoostingFamily(sizes=(30, 60)))
DIGIT_WALKS = 40
PRODUCTS = 1_000
QUERIES = 40
TRIALS = 20
MAX_GROUPS = 100_000  # per trial; far more than a trial needs


@dataclass(frozen=True)
class HuntRace:
    """The hunts of each generator until the first violation."""

    change: str
    hunts: dict[str, Hunt]

    @property
    def ratio(self) -> float:
        """The groups of the second generator divided by those of the first."""
        first, second = (self.hunts[name].measured for name in GENERATORS)
        return f_ratio(second, first).value


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Everything the demo computed."""

    space: Space
    sut: Executor
    rows: int
    accuracy: float
    audit: AuditResult
    laws: LawReport
    path: Path  # a walk from a malignant to a benign tumour
    outputs: Outputs  # the answers along it
    cost: CallCounter
    combination: CombinationResult  # of errors of measurement
    resumed: ResumedRun
    flip: pd.DataFrame  # the smallest change that alters the answer for one patient
    served: AuditResult  # of the classifier behind a service that sends lengths in another unit
    mutant: SourceMutant  # of a learner
    mutant_report: CheckReport  # the relations of the mutant
    distribution: CheckReport  # what every probability distribution satisfies, of one in SciPy
    race: HuntRace
    digits: Front  # the border of a classifier of handwritten digits
    search: CheckReport  # what users expect of a search engine
    loans: CreditReport  # models of credit risk, and what a lender expects of them
    tests: MutationScore  # how well held-out patients test a decision tree
    extra: pd.DataFrame  # patients that would test it better

    @property
    def front(self) -> Front:
        """The border of the classifier."""
        assert self.audit.front is not None
        return self.audit.front

    @property
    def changes(self) -> list[int]:
        """The steps of the walk at which the answer changes."""
        labels = self.outputs.values
        return np.flatnonzero(labels[1:] != labels[:-1]).tolist()

    @property
    def fault_detectors(self) -> list[str]:
        """The names of the relations that the mutant of the learner violates."""
        return [entry.relation for entry in self.mutant_report.faults]

    def format_change(self, step: int) -> str:
        """Return one change of the answer as text."""
        before, after = self.path.walk().frame.iloc[step], self.path.walk().frame.iloc[step + 1]
        features = [name for name in self.space.names if before[name] != after[name]]
        values = ", ".join(
            f"{name} from {format_short(before[name])} to {format_short(after[name])}" for name in features[:3]
        )
        more = f" (and {len(features) - 3} more)" if len(features) > 3 else ""
        labels = self.outputs.values
        return f"step {step + 1} changes {values}{more}: {labels[step]} becomes {labels[step + 1]}"


def run_demo(seed: int = 0) -> Demo:
    """Train a classifier and test it in every way that applies."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    frame = load("breast_cancer")
    inputs: Any = frame.filter(like="mean ")
    labels = np.array(CLASSES)[frame["target"].to_numpy()]
    train, unseen, train_labels, unseen_labels = train_test_split(inputs, labels, random_state=seed % 2**32)
    # The relations of learners train it some seventy times, and liblinear is the fastest solver for few rows.
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="liblinear")).fit(train, train_labels)

    space = Space.from_frame(inputs)
    sut = wrap(model, space=space, name="logistic regression")
    audit = test(
        model,
        inputs.assign(diagnosis=labels),
        "diagnosis",
        expect={"monotone": dict.fromkeys(MONOTONE_FEATURES, "up"), "outcome": "malignant"},
        seed=seed,
        name=sut.name,
        space=space,
        progress=False,
    )
    front = audit.front
    assert front is not None

    tree = DecisionTreeClassifier(random_state=seed % 2**32).fit(train, train_labels)
    tests = cover(tree, unseen, criterion="DTMT", progress=False)
    assert isinstance(tests, MutationScore)

    cost = CallCounter()
    predictions = model.predict(inputs)
    first_malignant = inputs.iloc[int(np.argmax(predictions == "malignant"))]
    first_benign = inputs.iloc[int(np.argmax(predictions == "benign"))]
    path = space.path(first_malignant, first_benign)
    outputs = drive(ask(path.walk(), scores=True, note="walking"), sut, tally=cost)
    subject = SubjectUnderTest(name=sut.name, sut=sut, system=derive(space, sut), seeds=space.points(inputs))
    mutant, mutant_report = check_mutant(seed)
    least_certain = int(np.argmin(np.abs(model.decision_function(unseen))))
    return Demo(
        space=space,
        sut=sut,
        rows=len(inputs),
        accuracy=float(model.score(unseen, unseen_labels)),
        audit=audit,
        laws=laws(derive(space, sut), examples=LAW_EXAMPLES, seed=seed, progress=False),
        path=path,
        outputs=outputs,
        cost=cost,
        combination=combine(MeasurementErrors(model, inputs), "permutations", seed=seed, progress=False),
        resumed=interrupt_and_resume(subject, seed, WalkOptions(strategy="random_target", walks=RESUMED_WALKS)),
        flip=front.nearest(unseen.iloc[[least_certain]]),
        served=check_service(model, unseen.assign(diagnosis=unseen_labels), seed),
        mutant=mutant,
        mutant_report=mutant_report,
        distribution=check_distribution(seed),
        race=race_generators(seed),
        digits=explore_digits(seed),
        search=check_search(seed),
        loans=judge_loan_models(seed),
        tests=tests,
        extra=tests.fix(),
    )


def check_service(model: Any, patients: pd.DataFrame, seed: int) -> AuditResult:
    """Test the classifier behind a service that sends a length in another unit."""

    def predict(rows: pd.DataFrame) -> Any:
        return model.predict(rows.assign(**{MISREAD_FEATURE: rows[MISREAD_FEATURE] * MISREAD_FACTOR}))

    options: dict[str, Any] = {"only": ["repairs"], "seed": seed, "name": "the service", "progress": False}
    return test(predict, patients, "diagnosis", **options)


def check_mutant(seed: int) -> tuple[SourceMutant, CheckReport]:
    """Make a nearest-neighbour learner that does not add up its distances, and check its relations."""
    program = read_program(knn)
    mutants = make_mutants(program.text, ["ASR"], name=program.name)
    mutant = next(
        mutant for mutant in mutants if mutant.function == "squared_distance" and mutant.after.startswith("total = ")
    )
    with load_module(mutant.source, program.name, program.package) as module:
        return mutant, check(module.KNN(3), "random", RELATIONS, inputs=20, seed=seed, progress=False)


def check_distribution(seed: int) -> CheckReport:
    """Check a distribution of the SciPy that is installed with the relations that every distribution satisfies."""
    import scipy.stats

    name = f"scipy.stats.{DISTRIBUTION} of SciPy {scipy.__version__}"
    return check(getattr(scipy.stats, DISTRIBUTION), relations="necessary", seed=seed, name=name, progress=False)


def race_generators(seed: int) -> HuntRace:
    """Hunt a program that uses 10 instead of 1, with each generator."""
    program = programs[PROGRAM]
    mutant = program.mutants[MUTANT]
    relation = program.relations[RELATION]
    hunts = {
        name: hunt(mutant, relation, name, budget=MAX_GROUPS, trials=TRIALS, seed=seed, progress=False)
        for name in GENERATORS
    }
    line = mutant.source.splitlines()[mutant.line - 1].strip()
    return HuntRace(f"{mutant.before} became {mutant.after} in one line, {line}", hunts)


def judge_loan_models(seed: int) -> CreditReport:
    """Train credit risk models on synthetic loans, and test what a lender expects of them."""
    loans = make_loan_book(LOANS, seed=seed)
    return credit(data=loans, ladder=LOAN_MODELS, repetitions=1, seed=seed, name="synthetic loans", progress=False)


def explore_digits(seed: int) -> Front:
    """Train a classifier of handwritten digits, and find pairs of nearly equal images with different answers."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    digits = load_digits()
    with use_one_blas_thread():  # for small images, more threads double the time
        model = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=200)).fit(digits.data, digits.target)
        return explore(model, digits.images, walks=DIGIT_WALKS, seed=seed, progress=False)


def check_search(seed: int) -> CheckReport:
    """Check what users expect of a search engine over a synthetic shop."""
    with SqliteSearch(make_products(PRODUCTS, seed=seed)) as engine:
        return check(engine, make_product_queries(QUERIES, seed=seed), search_relations(), seed=seed, progress=False)
