"""The options of ``dm.mutate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from types import ModuleType
from typing import Annotated, Any, ClassVar

from .._estimates import refuse_many_rows
from .._typing import DataLike, FilePath, LearnerLike
from ..core.execute import Execution, KeptOptions
from ..core.groups import SEED, Computing
from ..core.options import Option
from ..core.parsing import parse_budget, parse_size
from ..errors import ArgumentError
from ..relations.algebra.answers import find_answers_relation
from ..relations.algebra.base import MetamorphicRelation
from ..relations.algebra.function import FunctionRelation
from ..relations.catalogue.functions import find_function_name, relations_for
from ..relations.catalogue.registry import RelationsLike, resolve_relations
from ..relations.check.selection import validate_like
from ..relations.learners.base import LearnerRelation
from ..relations.learners.sampling import MAX_TRAINING_ROWS, RANDOM_ATTRIBUTE_COUNT, RANDOM_DATA, is_random
from ..relations.learners.waves import TrainingSource
from ..runs.engines import MAX_WORKERS
from ..runs.flow import Budget
from .child import LearnerFactory, MutationPlan
from .cross_validation import CrossValidationRules
from .forge import read_program

TIMEOUT_FACTOR = 4.0  # a mutant may take this many times as long as the original
MIN_TIMEOUT_SECONDS = 10.0  # for a mutant, however quick the original is


@dataclass(frozen=True, eq=False)
class MutateOptions(KeptOptions, Computing):
    """The options of `dm.mutate`, validated."""

    OWNER: ClassVar[str] = "mutate"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("model", "relations", "operators", "limit", "seed")

    model: Annotated[
        ModuleType | FilePath,
        Option(
            "The program: a module, or its file ``*.py``. It either has a function ``learners()`` that returns the learners "
            "to test by name, or a single class with ``fit`` and ``predict``. For relations that are not about training, models "
            "and functions are tested, too: by name, or the single public function of the module. A function of numbers must also "
            "answer inside the domains of its relations, as in `dm.check`.",
            stored=False,
            expected="a module, or the path of a Python file",
            former_names=("program",),
        ),
    ]
    relations: Annotated[
        RelationsLike,
        Option(
            "The relations that count. By default all that every correct implementation satisfies: those of the estimator that "
            "a learner says it is `like`. For a relation that is not about training, a learner is fitted to the data first.",
            "RELATION",
            flag="relation",
            repeatable=True,
            help="A relation by name (MR-1.1), or module:object. Repeatable. The default is all that must hold.",
            stored=False,  # their names are
        ),
    ] = "auto"
    operators: Annotated[
        str | Sequence[str],
        Option(
            'The mutation operators: AOR, ROR, COR, SOR, LOR, ASR, CRP, RSR; ``"all"`` by default.',
            "OPERATOR",
            flag="operator",
            repeatable=True,
            help="AOR, ROR, COR, SOR, LOR, ASR, CRP or RSR. Repeatable. The default is all.",
        ),
    ] = "all"
    limit: Annotated[
        int | None,
        Option(
            "The number of mutants to try, drawn at random; all by default.",
            "N",
            low=1,
            help="Try at most N mutants, drawn at random.",
        ),
    ] = None
    _: KW_ONLY
    learners: Annotated[
        LearnerFactory | None,
        Option("Makes the learners, models or functions to test from the module, by name.", stored=False),
    ] = None
    like: Annotated[
        LearnerLike | None,
        Option(
            "An estimator of scikit-learn whose necessary relations the learners must satisfy, unless they name one "
            "themselves; or a function of NumPy or SciPy whose relations (`dm.relations_for`) a function must satisfy.",
            "OBJECT",
            help="The scikit-learn class whose algorithm it implements, or the function of NumPy or SciPy: "
            "sklearn.naive_bayes:GaussianNB, scipy.special:gamma.",
            stored=False,  # its name is
        ),
    ] = None
    data: Annotated[
        DataLike | str,
        Option(
            'The random data of Xie et al. (2011) (``"random"``), or rows of your own, with labels in the column `target`.',
            stored=False,
        ),
    ] = RANDOM_DATA
    target: Annotated[str | None, Option("The column of `data` that holds the label.", "COL")] = None
    inputs: Annotated[
        int,
        Option(
            "The number of inputs on which relations are checked.", "N", low=1, help="Number of inputs per relation."
        ),
    ] = 300
    compared: Annotated[
        int,
        Option(
            "The number of inputs on which answers are compared with those of the original.",
            "N",
            low=1,
            help="Number of inputs on which to compare answers with the original.",
        ),
    ] = 1000
    rows: Annotated[
        int,
        Option(
            "The maximum number of rows of a random training set; with `data`, the minimum number.",
            "N",
            low=1,
            help="Largest number of rows of a random training set.",
        ),
    ] = MAX_TRAINING_ROWS
    rival: Annotated[
        int | None,
        Option(
            "Cross-validate each mutant, too, on this many simulated data sets of each of three kinds.",
            "N",
            low=1,
            help="Also cross-validate, on N simulated data sets of each of three kinds.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        Option(
            'The number of child processes: ``workers=2`` is ``engine="processes:2"``.',
            low=1,
            high=MAX_WORKERS,
            stored=False,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        Option(
            f"Seconds that a mutant may take; by default {TIMEOUT_FACTOR:g} times what the original takes, and at least "
            f"{MIN_TIMEOUT_SECONDS:g}.",
            "SECONDS",
            help="Seconds per mutant.",
        ),
    ] = None
    memory: Annotated[
        int | str,
        Option(
            'Memory that a mutant may add to its process: bytes, or ``"512MB"``.',
            "SIZE",
            low=1,
            expected="a number of bytes, 1 or more, or a size such as '512MB'",
            value_type=str,
            help="Memory per mutant, e.g. 512MB.",
            parse=parse_size,
        ),
    ] = "1GB"
    fresh: Annotated[
        bool,
        Option(
            "Whether each mutant gets a process of its own. That is slower, but a mutant that changes a shared library then "
            "affects no other mutant.",
            help="Run every mutant in a new process: slower and safer.",
        ),
    ] = False
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The time or the number of mutants to spend: ``"1m"``, ``"100 runs"``. When it is spent, the mutants that were '
            "tried until then are returned.",
            "BUDGET",
            help='Time or mutants to spend: "1m", "30s", "100 runs".',
            parse=parse_budget,
        ),
    ] = None
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Raise `ArgumentError` for values that the types allow and mutants do not."""
        super().validate()
        if isinstance(self.memory, str):
            self.set(memory=parse_size(self.memory, "memory"))
        if self.workers is not None and self.engine is None:
            self.set(engine=f"processes:{self.workers}")
        if is_random(self.data):
            refuse_many_rows(self.OWNER, "rows", self.rows, RANDOM_ATTRIBUTE_COUNT)
        elif isinstance(self.data, str):
            raise ArgumentError(
                f"data must be a frame, the path of a CSV or Parquet file, or 'random'. Got {self.data!r}."
            )
        like: Any = self.like
        if like is not None and not find_function_name(like):
            validate_like(self.OWNER, like, ", or a function of NumPy or SciPy that dm.relations_for knows")

    def make_subject(self, execution: Execution[Any]) -> MutationPlan:
        """Return how to try the mutants; no code of the program is run."""
        relations: Sequence[MetamorphicRelation] | None = None
        like: Any = self.like
        is_like_function = like is not None and bool(find_function_name(like))
        if not isinstance(self.relations, str) or self.relations != "auto":
            relations = resolve_relations(self.relations, "relations", self.OWNER, "'auto', ")
        elif is_like_function:
            relations = list(relations_for(like).values())
        relations = None if relations is None else _add_answers_relation(relations)
        # random training sets if no relation needs those of the user
        needs_labels = relations is None or any(
            isinstance(relation, LearnerRelation) and relation.labelled for relation in relations
        )
        data = self.data if needs_labels else RANDOM_DATA
        return MutationPlan(
            program=read_program(self.model),
            inputs=TrainingSource.of(data, self.target, self.rows, self.inputs, self.seed),
            relations=relations,
            data=self.data,
            target=self.target,
            rows=self.rows,
            learners=self.learners,
            like=None if is_like_function else like,
            compared_inputs=self.compared,
            rules=None if self.rival is None else CrossValidationRules(self.rival, self.seed),
        )

    def describe_run(self, execution: Execution[MutationPlan]) -> dict[str, Any]:
        """Return the name of the program and the request, with the program and the data to compare."""
        plan = execution.subject
        like: Any = self.like
        names = {
            "relations": "auto" if plan.relations is None else [relation.name for relation in plan.relations],
            "like": None if like is None else find_function_name(like) or type(like).__name__,
        }
        return {
            "system": plan.program.name,
            "parameters": self.to_request() | names,
            "model": self.model,
            "seeds": self.data,
        }


def _add_answers_relation(relations: Sequence[MetamorphicRelation]) -> list[MetamorphicRelation]:
    """Add the relation that a numeric function answers inside its domains."""
    widths = [relation.domain[0].dimension for relation in relations if isinstance(relation, FunctionRelation)]
    answers = find_answers_relation(relations, widths[0]) if len(widths) == len(relations) else None
    return [*relations, answers] if answers is not None else list(relations)
