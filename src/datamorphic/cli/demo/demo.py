"""The demo: a classifier anybody can train in a second, tested in every way that applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import format_short
from ...audit.api import test
from ...audit.result import AuditResult
from ...data.sets import load
from ...exploration.front import Front
from ...exploration.options import ExploreOptions
from ...morphisms.law_result import LawReport
from ...morphisms.law_runner import check_laws
from ...morphisms.options import LawOptions
from ...morphisms.stock import derive
from ...morphisms.subject import SubjectUnderTest
from ...runs.driver import CallCounter, drive
from ...runs.flow import ask
from ...space.space import Path, Space
from ...systems.base import Executor
from ...systems.wrap import wrap
from ...trees.coverage.api import cover
from ...trees.coverage.mutation import MutationScore
from .fault import PlantedFault, plant_fault
from .hunt import HuntRace, race_generators
from .resume import ResumedRun, interrupt_and_resume

if TYPE_CHECKING:
    import pandas as pd

    from ...space.outputs import Outputs

CLASSES = ("malignant", "benign")
#: features of which more must never make a malignant tumour less likely: expectations of the demo
MONOTONE_FEATURES = ("worst radius", "worst concavity", "mean compactness")


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Everything the demo computed.

    Attributes
    ----------
    path, outputs : Path, Outputs
        A walk from a malignant to a benign tumour, and the answers along it.
    flip : DataFrame
        The smallest change that alters the answer for one patient.
    tests, extra : MutationScore, DataFrame
        How well held-out patients test a decision tree, and patients that would test it better.
    """

    space: Space
    sut: Executor
    rows: int
    accuracy: float
    audit: AuditResult
    laws: LawReport
    path: Path
    outputs: Outputs
    cost: CallCounter
    resumed: ResumedRun
    flip: pd.DataFrame
    fault: PlantedFault
    race: HuntRace
    tests: MutationScore
    extra: pd.DataFrame

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
    inputs: Any = frame.drop(columns="target")
    labels = np.array(CLASSES)[frame["target"].to_numpy()]
    train, unseen, train_labels, unseen_labels = train_test_split(inputs, labels, random_state=seed % 2**32)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, train_labels)

    space = Space.from_frame(inputs)
    sut = wrap(model, space=space, name="logistic regression")
    audit = test(
        model,
        inputs.assign(diagnosis=labels),
        "diagnosis",
        expect={"monotone": dict.fromkeys(MONOTONE_FEATURES, "up"), "towards": "malignant"},
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
    least_certain = int(np.argmin(np.abs(model.decision_function(unseen))))
    return Demo(
        space=space,
        sut=sut,
        rows=len(inputs),
        accuracy=float(model.score(unseen, unseen_labels)),
        audit=audit,
        laws=check_laws(derive(space, sut), LawOptions(examples=200, seed=seed)),
        path=path,
        outputs=outputs,
        cost=cost,
        resumed=interrupt_and_resume(subject, seed, ExploreOptions(walks=200)),
        flip=front.nearest(unseen.iloc[[least_certain]]),
        fault=plant_fault(seed),
        race=race_generators(seed),
        tests=tests,
        extra=tests.fix(),
    )
