"""The options of `cover` and `select`."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar

from ..._lazy import pd
from ..._typing import DataLike, ModelLike
from ..._validation import reject
from ...core.execute import Execution
from ...core.groups import SEED
from ...core.options import Option
from ...errors import ArgumentError
from ...morphisms.model_options import ModelOptions
from ...morphisms.subject import SubjectUnderTest
from ...runs.fingerprint import compute_data_hash
from ...space.options import SpaceOptions
from ...space.points import Points
from ...space.space import Space
from ..boundaries import STEP, Offset, validate_offset
from ..mutants import NEIGHBOURS, PerNode, validate_per_node

CRITERIA = ("DTC", "BVA", "DTMT")
BASES = LEAF_ROWS, ANY_ROWS = ("leaf", "any")  # the rows from which boundary rows are made
OFFSET_HELP = "For BVA, the distance to a limit: step, unit, or a share of the spacing of values, e.g. 0.5"


def parse_offset(text: str) -> Offset:
    """Return a distance to a limit: a share, or a name."""
    with suppress(ValueError):
        return float(text)
    return text


def parse_per_node(text: str) -> PerNode:
    """Return a number of constants, a name, or None for all."""
    with suppress(ValueError):
        return int(text)
    return None if text == "all" else text


CRITERION = Option(
    "What has to be covered: every leaf; every leaf by a row at its limits; every mutant of a decision by a row for "
    "which its answer differs.",
    "NAME",
    choices=CRITERIA,
    help="DTC: every leaf. BVA: every leaf, by a row at its limits. DTMT: every mutant of a decision.",
    parse=str.upper,
)
TARGET = Option(
    "The column of the label, which is not an input.", "COL", help="The column of DATA that holds the label."
)


@dataclass(frozen=True, eq=False)
class CoverOptions(ModelOptions):
    """The options of `dm.cover`, validated."""

    OWNER: ClassVar[str] = "cover"

    model: Annotated[
        ModelLike,
        Option(
            "A fitted decision tree, random forest, extra trees, gradient boosting (the histogram kind too), AdaBoost or "
            "bagging of trees of scikit-learn; a model of XGBoost, LightGBM or CatBoost; a pipeline of scalers and imputers "
            "that ends in one of these; trees read from PMML; the path of a file with one of these; or a surrogate.",
            stored=False,
        ),
    ]
    data: Annotated[
        DataLike,
        Option(
            "The rows, for example a test set. Columns that are not inputs are ignored if the model knows its columns.",
            stored=False,
        ),
    ]
    _: KW_ONLY
    criterion: Annotated[str, CRITERION] = "DTC"
    target: Annotated[str | None, TARGET] = None
    offset: Annotated[
        Offset,
        Option(
            'For "BVA", how near to a limit a value must lie: see `dm.select`.',
            "OFFSET",
            help=f"{OFFSET_HELP}.",
            parse=parse_offset,
        ),
    ] = STEP
    per_node: Annotated[
        PerNode,
        Option(
            'For "DTMT", the constants that replace the one of a decision: those of the nodes before and after it that '
            'compare the same column ("neighbours"); at most so many different ones; or all (None).',
            "CONSTANTS",
            help="For DTMT, the constants to put into a decision: neighbours, at most N of them, or all.",
            parse=parse_per_node,
            former_flag="constants",
        ),
    ] = NEIGHBOURS
    joint: Annotated[
        bool | None,
        Option(
            'For "DTMT" and a forest: whether the answer of the whole forest must differ, or that of the mutated tree. By '
            "default the whole forest if its trees only add to a score.",
            help="For DTMT and forests: a mutant is killed if the forest (--joint) or its own tree (--each) answers "
            "differently.",
            flag="joint/--each",
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        Option(
            'For "DTMT" and models that answer numbers: answers that differ by more than this count as different.',
            "VALUE",
            low=0,
            expected="a number, 0 or more",
            help="For DTMT and numbers: the smallest difference that counts.",
        ),
    ] = None
    surrogate: Annotated[
        bool | DataLike,
        Option(
            "Whether to fit a tree to the answers of a model without trees, and to use that tree. The result reports how "
            "often both agree. Preferably pass the rows to fit it to, other than `data`: for example the training data. With "
            "a space, the model also answers random inputs. Only a surrogate needs model calls: `engine`, `batch` and "
            "`timeout` are about these.",
            help="For a model without trees: fit a tree to its answers and use that.",
            flag_value=True,
            stored=False,  # a hash of the rows is
        ),
    ] = False
    seed: Annotated[int, SEED] = 0

    def validate(self) -> None:
        """Raise `ArgumentError` for values that the types allow and the trees do not."""
        super().validate()
        validate_offset(self.offset, self.OWNER, beyond=self.OWNER == "select")
        validate_per_node(self.per_node, self.OWNER)
        if self.surrogate is False and (self.classes is not None or self.scalar):
            name = "scalar" if self.scalar else "classes"
            raise ArgumentError(f"{name}= is about the answers of a model, and trees are read. Leave it out.")

    def make_subject(self, execution: Execution[Any]) -> SubjectUnderTest | None:
        """Return the model that a surrogate is fitted to, with its moves and seed cases; None if its trees are read."""
        if self.surrogate is False:
            return None
        background: Any = self.data if self.surrogate is True else self.surrogate
        return self.build_subject(
            execution, background, self.target, space=self.infer_space(), space_options=SpaceOptions()
        )

    def infer_space(self) -> Space | None:
        """Return the space that is given, or the one that the hints infer from the data."""
        if not self.hints:
            return self.space
        frame = self.data.frame if isinstance(self.data, Points) else self.data
        if not isinstance(frame, pd.DataFrame):
            names = ", ".join(self.hints.to_dict())
            reject("data", self.OWNER, f"a DataFrame, since hints are given ({names})", self.data)
        return self.hints.infer_space(frame, target=self.target)

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options; of the rows that a surrogate is fitted to, a hash."""
        rows = self.surrogate
        return super().to_request() | {"surrogate": rows if isinstance(rows, bool) else compute_data_hash(rows)}

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return the name of the model and the request, with the model and the rows to compare."""
        model: Any = self.model
        name = os.path.basename(model) if isinstance(model, str | os.PathLike) else type(model).__name__
        return {
            "system": self.name or getattr(model, "owner", name),
            "parameters": self.to_request(),
            "model": model,
            "seeds": self.data,
        }


@dataclass(frozen=True, eq=False)
class SelectOptions(CoverOptions):
    """The options of `dm.select`, validated."""

    OWNER: ClassVar[str] = "select"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("model", "data", "criterion", "target", "minimal", "seed")

    data: Annotated[DataLike, Option("The rows to choose from.", stored=False)]
    criterion: Annotated[
        str,
        replace(
            CRITERION,
            text='"DTC" (decision-tree coverage): one row per leaf. "BVA" (boundary values): one row per leaf, made from a real '
            'row by setting every column on the path just inside one of its limits. "DTMT" (mutation): one row per mutant of '
            "a decision, for which the answer of the mutant differs.",
        ),
    ] = "DTC"
    target: Annotated[
        str | None, replace(TARGET, text=f"{TARGET.text} In rows that are made, it holds the answer of the model.")
    ] = None
    minimal: Annotated[
        bool,
        Option(
            'Whether to search for the smallest set, rather than to choose at random as published. Has no effect for "BVA".',
            help="Search for the smallest set of rows instead of a random one.",
        ),
    ] = False
    _: KW_ONLY
    offset: Annotated[
        Offset,
        Option(
            'For "BVA", how far inside a limit: one representable "step", one "unit", or a share of the usual spacing of the '
            'column\'s values. Integers stay integers. "beyond" draws values beyond the limits instead.',
            "OFFSET",
            help=f"{OFFSET_HELP}; or beyond, to draw values beyond the limits.",
            parse=parse_offset,
        ),
    ] = STEP
    base: Annotated[
        str,
        Option(
            'For "BVA", the rows that are moved to the limits: one that reaches the "leaf", so that it keeps its other columns; or "any" '
            "row of the data, so that its other columns are new to the leaf, too.",
            "ROWS",
            choices=BASES,
            help="For BVA, the rows to move to the limits: one that reaches the leaf, or any.",
        ),
    ] = LEAF_ROWS
