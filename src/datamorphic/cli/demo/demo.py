"""``datamorphic demo``: what the toolkit does, on a model anybody can train in a second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import format_short, pluralize
from ...audit.api import test
from ...audit.page import build_page
from ...audit.result import AuditResult
from ...data.sets import load
from ...exploration.front import Front
from ...exploration.options import ExploreOptions
from ...morphisms.law_result import LawReport
from ...morphisms.law_runner import check_laws
from ...morphisms.options import LawOptions
from ...morphisms.stock import derive
from ...morphisms.subject import SubjectUnderTest
from ...reporting.document import Line, Page, Section, Table
from ...runs.driver import CallCounter, drive
from ...runs.flow import ask
from ...space.space import Path, Space
from ...systems.base import Executor
from ...systems.wrap import wrap
from ...trees.coverage.api import cover
from ...trees.coverage.draw import draw_tree
from ...trees.coverage.mutation import MutationScore
from .fault import Planted, planted_and_found
from .hunt import GENERATORS, Race, raced
from .resume import Resumed, cut_and_resumed

if TYPE_CHECKING:
    import pandas as pd

    from ...space.outputs import Outputs

TITLE = "A first look at a classifier"
CLASSES = ("malignant", "benign")
PROMISED = ("worst radius", "worst concavity", "mean compactness")  # the more of it, the more malignant


@dataclass(frozen=True)
class Demo:
    """Everything the demo found out."""

    space: Space
    sut: Executor
    rows: int
    accuracy: float
    result: AuditResult
    laws: LawReport
    path: Path
    walked: Outputs
    cost: CallCounter
    resumed: Resumed
    flip: pd.DataFrame
    planted: Planted
    race: Race
    tests: MutationScore
    extra: pd.DataFrame

    @property
    def front(self) -> Front:
        """The border that was found."""
        assert self.result.front is not None
        return self.result.front

    @property
    def changes(self) -> list[int]:
        """The steps of the walk at which the answer changes."""
        labels = self.walked.values
        return np.flatnonzero(labels[1:] != labels[:-1]).tolist()

    def told_change(self, step: int) -> str:
        """Return one change of the answer in words."""
        before, after = self.path.walk().frame.iloc[step], self.path.walk().frame.iloc[step + 1]
        moved = [name for name in self.space.names if before[name] != after[name]]
        values = ", ".join(
            f"{name} from {format_short(before[name])} to {format_short(after[name])}" for name in moved[:3]
        )
        more = f" (and {len(moved) - 3} more)" if len(moved) > 3 else ""
        labels = self.walked.values
        return f"step {step + 1} changes {values}{more}: {labels[step]} becomes {labels[step + 1]}"

    def report(self) -> Page:
        """Return the page: what the check-up found, and a closer look."""
        page = build_page(self.result)
        return replace(
            page, title=TITLE, lead=f"{self.lead} {page.lead}", sections=[*page.sections, self.closer_look()]
        )

    @property
    def lead(self) -> str:
        """What was tested, for somebody who has never seen this."""
        return (
            f"A {self.sut.name} was trained to tell malignant from benign tumours (569 patients, 30 measurements; the "
            f"data set ships with scikit-learn). On patients it had not seen it is right in {self.accuracy:.1%} of "
            f"cases. A physician might expect that {_listed(PROMISED)} speak for a malignant one, and never against it: so "
            "that was declared."
        )

    def closer_look(self) -> Section:
        """Return what a check-up does not show by itself."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.space.kinds.items() if count)
        features = Table(columns=["feature", "domain"], rows=[[f.name, f.describe()] for f in self.space.features])
        return Section(
            heading="A closer look",
            text="One patient, one walk, and what all of this stands on.",
            parts=[
                self._flip_section(),
                self._walk_section(),
                self._laws_section(),
                self._tests_section(),
                self._planted_section(),
                self._race_section(),
                self._resumed_section(),
                Section(
                    heading=f"The space of inputs: {kinds} features",
                    text="Read from the training data: kinds, bounds, and a step of a twentieth of each range.",
                    table=features,
                ),
            ],
            anchor="closer",
        )

    def _flip_section(self) -> Section:
        case = self.flip.iloc[0]
        changes = case["change"].split(", ")  # no measurement has a comma in its name
        more = f", and {pluralize(len(changes) - 3, 'smaller change')}" if len(changes) > 3 else ""
        return Section(
            heading=f"What would change the answer for one patient: from {case['answer']} to {case['becomes']}",
            text="The smallest change that was found, and that the model confirms: "
            f"{', '.join(changes[:3])}{more}. If a change that small should not matter, this is where to look.",
        )

    def _walk_section(self) -> Section:
        scores = self.walked.scores
        assert scores is not None
        walk = Line(
            title="Decision value along the walk, step by step",
            x_label="step of the walk",
            y_label=f"decision value for {self.sut.labels[1] if self.sut.labels else 'the second class'}",
            values=np.round(scores[:, 1], 4).tolist(),
            bands=[str(label) for label in self.walked.values],
            notes=["the start", *self.path.moves],
        )
        told = "\n".join(f"• {self.told_change(step)}" for step in self.changes)
        return Section(
            heading=f"From a malignant to a benign tumour in {pluralize(len(self.path), 'small step')}: the answer changes "
            f"{_times(len(self.changes))}",
            text="Two patients from opposite classes; one is turned into the other feature by feature. Where the answer "
            f"changes, two nearly equal patients are told different things:\n{told}",
            picture=walk,
        )

    def _laws_section(self) -> Section:
        columns = ["law", "what it says", "outcome"] + ["counter-example"] * (not self.laws.holds)
        rows = [[r.law, r.says, r.state, r.words][: len(columns)] for r in self.laws.results]
        held = "Moves and distances keep their laws" if self.laws.holds else "A law of the test system is broken"
        return Section(
            heading=held,
            text=f"Exploration is only as good as the steps it takes. {self.laws.examples} triples of points were tried "
            "against each law.",
            state="good" if self.laws.holds else "bad",
            table=Table(columns=columns, rows=rows),
        )

    def _tests_section(self) -> Section:
        found = self.tests
        killed, live = int(found.killed.sum()), found.uncovered(4)
        rows = [[row.change, row.why] for row in live.itertuples()]
        return Section(
            heading=f"Is the test set good enough for a tree? It kills {killed} of {len(found.counts)} mutants",
            text=f"A decision tree was trained on the same patients. {found.rows} patients were held out to test it: they reach "
            f"{int(found.leaves.covered.sum())} of its {found.leaves.leaves} leaves. Then one decision at a time was "
            f"changed: {killed} such mutants answer differently to one of these patients at least; {found.proved} can be "
            "told from the tree by no patient there could be, which is proved; "
            f"{pluralize(len(self.extra), 'made-up patient')} would tell all others. The report has the tree drawn.",
            state="good" if killed + found.proved == len(found.counts) else "warn",
            table=Table(columns=["what is changed", "why nobody notices"], rows=rows),
            drawing=draw_tree(found.leaves, found),
        )

    def _planted_section(self) -> Section:
        mutant, report = self.planted.mutant, self.planted.report
        found = self.planted.found
        example = next(iter(report.examples.values()), None)
        lines = (
            "" if example is None else "\n".join(f"• {line.strip()}" for line in example.describe().split("\n"))
        )
        return Section(
            heading=f"A bug planted in a learner is found: it breaks {len(found)} of {len(report.entries)} promises",
            text=f"In a nearest-neighbour learner one sign was changed: {mutant.before} became {mutant.after}. Trained on random "
            "data and on the same data changed in a known way, nobody knowing a right answer, it contradicts itself: "
            f"{', '.join(found)}. The smallest training data that show it:\n{lines}",
            state="good" if found else "bad",
        )

    def _race_section(self) -> Section:
        race = self.race
        rows = []
        for name in GENERATORS:
            mean = race.mean(name)
            rows.append([name, f"{mean.value:.0f}", f"{mean.low:.0f} to {mean.high:.0f}"])
        trials = len(next(iter(race.hunts.values())).trials)
        return Section(
            heading=f"A wrong program is found out with {race.ratio:.0%} of the tries that random testing needs",
            text=f"In a program for tanh {race.change}. Nobody knows tanh(x) by heart, but tanh(3x) follows from it. "
            "SFIDMT-ART keeps inputs far from those that were tried, the tripled ones too. "
            f"{trials} hunts each, groups of x and 3x until the first contradiction:",
            state="good" if race.ratio < 1 else "warn",
            table=Table(columns=["who chooses", "groups, mean", "95 % interval"], rows=rows),
        )

    def _resumed_section(self) -> Section:
        found = self.resumed
        same = "the same front, byte for byte" if found.same else "another front"
        return Section(
            heading=f"A run that was cut short goes on: {same}",
            text=f"The exploration was made a second time and cut short after {pluralize(found.before, 'row')}; resumed, it "
            f"asked the model for the other {found.after:,}. Without the cut it asks for {found.whole:,}. Every run of "
            "the command line can be resumed: datamorphic runs list, datamorphic runs resume ID.",
            state="good" if found.same and found.before + found.after == found.whole else "bad",
        )


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"more of {', '.join(most)} or {last}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def run_demo(seed: int = 0) -> Demo:
    """Train a classifier, test it with everything that applies, and return what was found."""
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
    expected = {"monotone": dict.fromkeys(PROMISED, "up"), "towards": "malignant"}
    labelled = inputs.assign(diagnosis=labels)
    result = test(
        model, labelled, "diagnosis", expect=expected, seed=seed, name=sut.name, space=space, progress=False
    )

    tree = DecisionTreeClassifier(random_state=seed % 2**32).fit(train, train_labels)
    tests = cover(tree, unseen, criterion="DTMT", progress=False)
    assert isinstance(tests, MutationScore)

    cost = CallCounter()
    asked = model.predict(inputs)
    start = inputs.iloc[int(np.argmax(asked == "malignant"))]
    target = inputs.iloc[int(np.argmax(asked == "benign"))]
    path = space.path(start, target)
    walked = drive(ask(path.walk(), scores=True, note="walking"), sut, tally=cost)
    prepared = SubjectUnderTest(name=sut.name, sut=sut, system=derive(space, sut), seeds=space.points(inputs))
    unsure = int(np.argmin(np.abs(model.decision_function(unseen))))  # the one the model is least sure of
    front = result.front
    assert front is not None
    return Demo(
        space,
        sut,
        len(inputs),
        float(model.score(unseen, unseen_labels)),
        result,
        check_laws(derive(space, sut), LawOptions(examples=200, seed=seed)),
        path,
        walked,
        cost,
        cut_and_resumed(prepared, seed, ExploreOptions(walks=200)),
        front.nearest(unseen.iloc[[unsure]]),
        planted_and_found(seed),
        raced(seed),
        tests,
        tests.fix(),
    )
