"""The page Relations: check metamorphic relations of the chosen model, or of a learner of scikit-learn."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...errors import UsageError
from ...relations.catalogue.credit import CREDIT_RANGES, CREDIT_RELATIONS
from ...relations.catalogue.image import FLIPS
from ...relations.catalogue.predictor import PREDICTOR_RELATIONS
from ...relations.catalogue.registry import CHOSEN_BY_NAME, COLUMN_MARK
from ...relations.learners.sklearn import LEARNER_RELATIONS
from ..columns import SubjectColumns, read_columns
from ..commands import build_arguments
from ..components.command_form import CommandForm
from ..components.elements import build_later, show_errors
from ..components.job_list import JobList
from ..components.report_parts import build_report_parts
from ..subject import ChosenSubject
from ..workspaces import Workspace

ADDRESS = "/relations"
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
FLIP_NAMES = tuple(f"image.flip {way}" for way in FLIPS)  # a relation only for whoever declares that it does not matter
CHOSEN = ""  # the model that is chosen on the page Start
TRAINABLE_SUFFIXES = (".skops", ".joblib", ".pkl", ".pickle")
DEFAULT_REASON = "declared in the studio"
#: how relations of learners are judged
STRICTNESS_NAMES = {
    "class_exact": "the labels must be the same",
    "score_exact": "the labels and the scores must be the same",
    "class_stat": "the labels must have the same distribution",
    "score_stat": "the scores must have the same distribution",
}
BUDGETS = ("10s", "30s", "1m", "5m", "30m", "10000 runs", "100000 runs")
DEFAULT_VALUES = {"inputs": 100, "budget": "1m"}
LABELS = {"budget": "Budget", "seed": "Seed"}


def build_relations(workspace: Workspace) -> None:
    """Build the page."""
    read = functools.partial(read_columns, workspace.subject)
    build_later("Reading the columns of the data", read, functools.partial(RelationPage, workspace))


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
        self.subject = ui.select(subjects, label="What to check", value=first, on_change=self._list_relations).classes(
            "w-full"
        )
        self.relations = (
            ui.select(
                {},
                label="Relations (all that apply, if none is chosen)",
                multiple=True,
                value=[],
                clearable=True,
                on_change=self._list_judged,
            )
            .props("use-chips")
            .classes("w-full")
        )
        self.note = ui.label().classes("muted")
        self.only_necessary = ui.checkbox(
            "Only relations that every correct implementation satisfies"
        ).bind_enabled_from(self.relations, "value", lambda value: not value)
        with ui.expansion("Judge some relations differently").classes("w-full") as self.judgements:
            ui.label(
                "A table says which relations an algorithm must satisfy, and how strictly: exactly, or, for algorithms that draw "
                "random numbers, in distribution over many trainings."
            ).classes("muted")
            with ui.element("div").classes("form-grid"):
                self.judged = ui.select(
                    [], label="Relations with another strictness", multiple=True, value=[], clearable=True
                ).props("use-chips")
                self.strictness = ui.select(STRICTNESS_NAMES, label="How strictly", value=next(iter(STRICTNESS_NAMES)))
                self.expected = ui.select(
                    [], label="Relations whose violations are expected", multiple=True, value=[], clearable=True
                ).props("use-chips")
                self.reason = ui.input("Why they are expected", value=DEFAULT_REASON)
        self.form = CommandForm(
            "check",
            ["inputs", "budget", "seed", "ties"],
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
        own_names: tuple[str, ...] = ()
        if self.subject.value == CHOSEN:
            statements = list_relations(self.workspace.subject, self._columns)
            own_names = tuple(list_input_relations(self._columns))
        else:
            statements = {name: relation.statement for name, relation in LEARNER_RELATIONS.items()}
        self._known = tuple(statements)
        self.relations.set_options(
            {name: f"{name}: {says}" for name, says in statements.items()},
            value=[name for name in own_names if name not in FLIP_NAMES],
        )
        kinds = [noun for noun in ("texts", "images", "sequences") if getattr(self._columns, noun)]
        self.note.set_text(
            f"The inputs are {' and '.join(kinds)}. Changes that should not matter are chosen; remove those that may."
            if own_names
            else ""
        )
        self.note.set_visibility(bool(own_names))
        self._list_judged()

    def _list_judged(self) -> None:
        """Offer the checked relations of learners, which are the ones with a strictness."""
        chosen = list(self.relations.value or self._known)
        names = [name for name in chosen if name in LEARNER_RELATIONS and name in self._known]
        for select in (self.judged, self.expected):
            select.set_options(names, value=[name for name in select.value or [] if name in names])
        self.judgements.set_visibility(bool(names))

    def _start(self) -> None:
        with show_errors():
            learner = str(self.subject.value)
            words = self.workspace.subject.arguments if learner == CHOSEN else [learner]
            name = self.workspace.subject.name if learner == CHOSEN else LEARNERS[learner]
            chosen = list(self.relations.value or [])
            if self.strictness.value not in STRICTNESS_NAMES:
                raise UsageError("Choose how strictly the relations are judged.")
            options = build_relation_arguments(
                chosen or ([NECESSARY] if self.only_necessary.value else []),
                dict.fromkeys(self.expected.value or [], str(self.reason.value or DEFAULT_REASON)),
                self._known,
                dict.fromkeys(self.judged.value or [], str(self.strictness.value)),
            )
            what = pluralise(len(chosen), "relation") if chosen else "relations"
            job = self.workspace.start_job(
                "check",
                [*words, *options, *self.form.arguments],
                title=f"{what[:1].upper()}{what[1:]} of {name}",
                page=ADDRESS,
            )
            self.jobs.show(job)


def list_relations(subject: ChosenSubject, columns: SubjectColumns) -> dict[str, str]:
    """Return the statements of the relations that apply to a model, by name.

    Relations of texts, images and sequences come first, if the model has such inputs. Relations of learners train the model again,
    which needs the column with the label, and inputs that are numbers or categories. Relations of credit models need their
    columns.
    """
    own_relations = list_input_relations(columns)
    relations: dict[str, Any] = dict(PREDICTOR_RELATIONS)
    is_trainable = subject.kind == "module" or subject.model.lower().endswith(TRAINABLE_SUFFIXES)
    if subject.target and is_trainable and not own_relations:
        relations |= LEARNER_RELATIONS
    if set(CREDIT_RANGES) <= set(columns.features):
        relations |= CREDIT_RELATIONS
    return own_relations | {name: relation.statement for name, relation in relations.items()}


def list_input_relations(columns: SubjectColumns) -> dict[str, str]:
    """Return the statements of the relations of texts, images and sequences that the columns hold, by name.

    Examples
    --------
    >>> list(list_input_relations(SubjectColumns(texts=("review",))))[:2]
    ['text.letter case of review', 'text.punctuation of review']
    """
    relations: dict[str, str] = {}
    for column in columns.texts:
        for name, relation in CHOSEN_BY_NAME["text"](column=column).items():
            relations[f"{name}{COLUMN_MARK}{column}"] = relation.statement
    for kind, names in (("image", columns.images), ("sequence", columns.sequences)):
        if names:
            relations |= {name: relation.statement for name, relation in CHOSEN_BY_NAME[kind]().items()}
    return relations


def build_relation_arguments(
    relations: Sequence[str],
    expected_failures: Mapping[str, str],
    known: Sequence[str],
    strictness: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the arguments for relations, expected failures and strictness; only known ones can be named.

    Examples
    --------
    >>> build_relation_arguments(["row order"], {"batches": "known"}, ["row order", "batches"])
    ['--relation=row order', '--expect-failure=batches=known']
    """
    failures = [f"{name}={' '.join(reason.split())}" for name, reason in expected_failures.items() if name in known]
    judged = [f"{name}={how}" for name, how in (strictness or {}).items() if name in known]
    return build_arguments(
        "check",
        {"relations": list(relations), "expected_failures": failures, "strictness": judged},
        choices={"relations": [*known, NECESSARY]},
    )
