"""The page Relations: check metamorphic relations of the chosen model, or of a learner of scikit-learn."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..._text import pluralize
from ...relations.credit import CREDIT_RANGES, CREDIT_RELATIONS
from ...relations.learner.sklearn import LEARNER_RELATIONS
from ...relations.predictor import PREDICTOR_RELATIONS
from ..columns import SubjectColumns, read_columns
from ..commands import build_arguments
from ..components.command_form import CommandForm
from ..components.errors import show_errors
from ..components.job_list import JobList
from ..components.later_part import build_later
from ..components.report_parts import build_report_parts, prepare_parts
from ..layout import build_frame
from ..studio import Studio
from ..subject import ChosenSubject
from ..workspaces import Workspace

ADDRESS, TITLE = "/relations", "Relations"
NECESSARY = "necessary"
#: learners of scikit-learn whose necessary relations are known, by their class
LEARNERS = {
    "sklearn.neighbors:KNeighborsClassifier": "k nearest neighbours",
    "sklearn.naive_bayes:GaussianNB": "naive Bayes",
    "sklearn.tree:DecisionTreeClassifier": "decision tree",
    "sklearn.ensemble:RandomForestClassifier": "random forest",
    "sklearn.ensemble:GradientBoostingClassifier": "gradient boosting",
    "sklearn.linear_model:LogisticRegression": "logistic regression",
    "sklearn.svm:SVC": "support vector machine",
    "sklearn.neighbors:NearestCentroid": "nearest centroid",
}
CHOSEN = ""  # the model that is chosen on the page Start
TRAINABLE_SUFFIXES = (".skops", ".joblib", ".pkl", ".pickle")
DEFAULT_REASON = "declared in the studio"
BUDGETS = ("10s", "30s", "1m", "5m", "30m", "10000 runs", "100000 runs")
DEFAULT_VALUES = {"cases": 100, "budget": "1m"}
LABELS = {
    "cases": "Inputs per relation",
    "count_ties": "Also count violations that depend on a tie",
    "rows": "Rows of a random training set, at most",
    "budget": "Budget",
    "seed": "Seed",
}


def register(studio: Studio) -> None:
    """Add the page."""

    @ui.page(ADDRESS)
    def build_page() -> None:
        workspace = studio.get_workspace()
        prepare_parts()
        with build_frame(
            workspace,
            TITLE,
            "Change inputs in known ways, and see whether the answers change as they must. A violation of a relation that every "
            "correct implementation satisfies is a fault; the others show how the algorithm behaves.",
        ):
            build_later(
                "Reading the columns of the data",
                functools.partial(read_columns, workspace.subject),
                functools.partial(RelationPage, workspace),
            )


class RelationPage:
    """The form, and the checks of this person."""

    def __init__(self, workspace: Workspace, columns: SubjectColumns) -> None:
        self.workspace, self._columns = workspace, columns
        subjects = {key: f"{name} of scikit-learn, trained on random data" for key, name in LEARNERS.items()}
        is_model = workspace.subject.kind in ("files", "module")
        if is_model:
            subjects = {CHOSEN: f"the chosen model: {workspace.subject.name}", **subjects}
        else:
            ui.label("Models of your own appear here when they are chosen on the page Start.").classes("muted")
        first = next(iter(subjects))
        self.subject = (
            ui.select(subjects, label="What to check", value=first, on_change=self._list_relations)
            .props("outlined dense")
            .classes("w-full")
        )
        self.relations = (
            ui.select(
                {}, label="Relations (all that apply, if none is chosen)", multiple=True, value=[], clearable=True
            )
            .props("outlined dense use-chips")
            .classes("w-full")
        )
        self.only_necessary = ui.checkbox(
            "Only relations that every correct implementation satisfies"
        ).bind_enabled_from(self.relations, "value", lambda value: not value)
        with ui.element("div").classes("form-grid"):
            self.expected = ui.select(
                {}, label="Relations whose violations are expected", multiple=True, value=[], clearable=True
            ).props("outlined dense use-chips")
            self.reason = ui.input("Why they are expected", value=DEFAULT_REASON).props("outlined dense")
        self.form = CommandForm(
            "check",
            ["cases", "budget", "seed", "count_ties"],
            ["rows"],
            choices={"budget": BUDGETS},
            values=DEFAULT_VALUES,
            labels=LABELS,
        )
        self._list_relations()
        ui.button("Check", icon="play_arrow", on_click=self._start)
        self.jobs = JobList(workspace, ADDRESS, build_report_parts, noun="check")

    def _list_relations(self) -> None:
        """Offer the relations that apply to what is checked."""
        if self.subject.value == CHOSEN:
            statements = list_relations(self.workspace.subject, self._columns)
        else:
            statements = {name: relation.says for name, relation in LEARNER_RELATIONS.items()}
        self._known = tuple(statements)
        self.relations.set_options({name: f"{name}: {says}" for name, says in statements.items()}, value=[])
        self.expected.set_options(list(statements), value=[])

    def _start(self) -> None:
        with show_errors():
            learner = str(self.subject.value)
            words = self.workspace.subject.arguments if learner == CHOSEN else [learner]
            name = self.workspace.subject.name if learner == CHOSEN else LEARNERS[learner]
            chosen = list(self.relations.value or [])
            options = build_relation_arguments(
                chosen or ([NECESSARY] if self.only_necessary.value else []),
                dict.fromkeys(self.expected.value or [], str(self.reason.value or DEFAULT_REASON)),
                self._known,
            )
            what = pluralize(len(chosen), "relation") if chosen else "relations"
            job = self.workspace.start_job(
                "check",
                [*words, *options, *self.form.arguments],
                title=f"{what[:1].upper()}{what[1:]} of {name}",
                page=ADDRESS,
            )
            self.jobs.show(job)


def list_relations(subject: ChosenSubject, columns: SubjectColumns) -> dict[str, str]:
    """Return the statements of the relations that apply to a model, by name.

    Relations of learners train the model again, which needs the column with the label. Relations of credit models need their
    columns.
    """
    relations: dict[str, Any] = dict(PREDICTOR_RELATIONS)
    is_trainable = subject.kind == "module" or subject.model.lower().endswith(TRAINABLE_SUFFIXES)
    if subject.target and is_trainable:
        relations |= LEARNER_RELATIONS
    if set(CREDIT_RANGES) <= set(columns.features):
        relations |= CREDIT_RELATIONS
    return {name: relation.says for name, relation in relations.items()}


def build_relation_arguments(
    relations: Sequence[str], expected_failures: Mapping[str, str], known: Sequence[str]
) -> list[str]:
    """Return the arguments for relations and expected failures; only known ones can be named.

    Examples
    --------
    >>> build_relation_arguments(["row order"], {"batches": "known"}, ["row order", "batches"])
    ['--relation=row order', '--expect-failure=batches=known']
    """
    failures = [f"{name}={' '.join(reason.split())}" for name, reason in expected_failures.items() if name in known]
    return build_arguments(
        "check", {"relation": list(relations), "expect_failure": failures}, choices={"relation": [*known, NECESSARY]}
    )
