"""`dm.compare`: say what changed from one model to another, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_percent, pluralise
from ..core.capability import capability
from ..core.execute import Execution
from ..core.result import LEVELS, Finding, count_rows
from ..errors import DataError
from ..exploration.diff.diff import Difference
from ..exploration.options import WalkOptions
from ..exploration.run import run_exploration
from ..relations.algebra.base import VIOLATED
from ..relations.catalogue.promises import Promises
from ..relations.check.runner import run_relation_check
from ..runs.flow import Budget
from ..space.labels import to_label_key, to_label_keys
from ..space.outputs import Outputs
from ..systems.score_leads import are_probabilities, compute_leads
from .context import VERSIONS, ComparisonContext, Version
from .directions import DirectionChange, measure_directions
from .disagreement.search import find_disagreements
from .findings import (
    GroupReport,
    build_class_findings,
    build_direction_findings,
    build_error_findings,
    build_group_finding,
    build_missing_finding,
    build_overall_finding,
    find_transitions,
)
from .groups import Floats, Mask
from .judgement import ChanceLevel, ChangedGroup, ChangeJudgement, judge_changes
from .measures import (
    FigurePair,
    compare_classes,
    compare_means_of_pairs,
    compare_numbers,
    compare_probabilities,
    measure_calibration,
)
from .noise import measure_chance
from .options import CompareOptions
from .result import ModelComparison

SAME_BUDGET_SECONDS = 20.0  # to search for disagreements beyond the rows of the data
BORDER_BUDGET_SHARE = 0.25  # of what is left
BORDER_WALKS = 150
MAX_BORDER_SEEDS = 2_000
PROMISE_ROWS = 500
NUMBER_TOLERANCE = 0.25  # of the standard deviation of the old answers: by more, a number has changed
NO_TRAINING_DATA = "No training data were given (reference=)."
RULE_WITH_SCORES = (
    "Chance was judged by a rule: training again moves the scores of all rows at random, "
    "so it changes answers where the model is undecided, and shifts the scores of no group one way."
)
RULE_WITHOUT_SCORES = (
    "The models give no probabilities, so chance was judged by a rule: training again "
    "changes few answers, and in no group many more than elsewhere."
)
RULE_FOR_NUMBERS = (
    "Chance was judged by a rule: training again moves numbers a little, and in no group all of them one way."
)


@capability(CompareOptions)
def compare(options: CompareOptions, execution: Execution[ComparisonContext]) -> ModelComparison:
    """Compare two models: what changed, for whom, and is it more than training again with another seed?

    Both models answer the same rows. Which rows get another answer, and is there a group, in words, in which these are more
    than elsewhere? With labels: is it for the better or the worse, overall, per class and in the group, with paired tests? Where
    did the borders between the answers move? With ``same=True``, the two must answer alike, and every difference is a fault.

    Returns
    -------
    ModelComparison
        ``.findings``, ``.groups``, ``.rows``, ``.figures``, ``.passed``; ``.describe()``, ``.to_html("comparison.html")``,
        ``.to_json()``, ``.to_junit()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, datamorphic as dm
    >>> rng = np.random.default_rng(0)
    >>> loans = pd.DataFrame({"age": rng.integers(20, 80, 800), "income": rng.integers(10, 90, 800)})
    >>> def old(frame):
    ...     return np.where(frame.income > 40, "yes", "no")
    >>> def new(frame):
    ...     return np.where((frame.income > 40) & (frame.age > 26), "yes", "no")
    >>> [group.text for group in dm.compare(old, new, loans).groups]
    ['age ≤ 25 and income > 43']
    """
    context = execution.subject
    if options.same:
        return _compare_twins(options, context)
    question = "the answers to the given rows"
    if not execution.attempt(question, lambda: all(len(context.get_answers(version)) for version in VERSIONS), False):
        return _build_result(options, context, [])
    return _ComparisonOfAnswers(options, context).run()


def _compare_twins(options: CompareOptions, context: ComparisonContext) -> ModelComparison:
    """Search for differences between two systems that must answer alike."""
    execution = context.execution
    budget = execution.remaining_budget.narrow(Budget(seconds=SAME_BUDGET_SECONDS))
    no_findings: list[Finding] = []
    question = "differences beyond the rows of the data"
    findings = execution.attempt(question, partial(find_disagreements, context, budget), no_findings)
    return _build_result(options, context, findings)


class _ComparisonOfAnswers:
    """The measurements of one comparison, in order."""

    def __init__(self, options: CompareOptions, context: ComparisonContext) -> None:
        self.options, self.context, self.execution = options, context, context.execution
        self.numbers = context.has_numeric_answers
        self.old, self.new = context.get_answers("old"), context.get_answers("new")
        self.notes: list[str] = []
        self.both = self.old.ok & self.new.ok
        if not self.both.any():
            raise DataError("No row is answered by both models. See what they answer: datamorphic test MODEL DATA.")
        self.keys = {"old": self._read_keys(self.old), "new": self._read_keys(self.new)}
        self.truth: npt.NDArray[np.object_] | None = None
        if context.truth is not None and not self.numbers:
            self.truth = to_label_keys(context.truth)
            self._validate_labels()
        self.tolerance = self._choose_tolerance()
        self.changed = self._find_changed()

    # -- what changed --------------------------------------------------------------------------------------------------

    def _read_keys(self, outputs: Outputs) -> npt.NDArray[np.object_]:
        return to_label_keys(outputs.to_objects())

    def _read_numbers(self, outputs: Outputs) -> Floats:
        return np.array([np.nan if value is None else value for value in outputs.to_objects()], dtype=np.float64)

    def _validate_labels(self) -> None:
        assert self.truth is not None
        labels = self.context.labels
        classes = {to_label_key(label) for version in VERSIONS for label in labels[version]}
        classes |= {key for keys in self.keys.values() for key in keys.tolist() if key is not None}
        if not classes & set(self.truth.tolist()):
            self.truth = None
            self.notes.append(
                "The labels of the data are not classes of the models, so the answers were not compared with them. Give the names of "
                "the classes: classes= (--classes on the command line)."
            )

    def _choose_tolerance(self) -> float:
        if not self.numbers:
            return 0.0
        if self.options.tolerance is not None:
            return self.options.tolerance
        values = self._read_numbers(self.old)[self.both]
        return NUMBER_TOLERANCE * float(np.std(values[np.isfinite(values)])) if len(values) else 0.0

    def _find_changed(self) -> Mask:
        if self.numbers:
            difference = np.abs(self._read_numbers(self.new) - self._read_numbers(self.old))
            return self.both & (np.nan_to_num(difference, nan=np.inf) > self.tolerance)
        return np.asarray(self.both & (self.keys["old"] != self.keys["new"]), dtype=bool)

    # -- is it more than chance ----------------------------------------------------------------------------------------

    def _measure_margins(self) -> tuple[Floats | None, Floats | None]:
        """Return the margins of the answers of the old model, and what they lose with the new one; None if unknown."""
        if self.numbers:
            old, new = self._read_numbers(self.old), self._read_numbers(self.new)
            spread = float(np.nanstd(old[self.both])) or 1.0
            return None, np.where(self.both, (new - old) / spread, np.nan)
        labels = self.context.labels
        leads = [
            compute_leads(outputs, labels[version] or None, self.keys["old"])
            for version, outputs in zip(VERSIONS, (self.old, self.new), strict=True)
        ]
        known = [part for part in leads if part is not None]
        if not known:
            return None, None
        losses = np.where(self.both, known[0] - known[1], np.nan) if len(known) == len(leads) else None
        return np.abs(known[0]), losses

    def run(self) -> ModelComparison:
        """Measure everything, and return the result."""
        options, context, execution = self.options, self.context, self.execution
        nothing: tuple[ChanceLevel | None, str] = (None, "")
        chance, basis = (
            execution.attempt("how much changes by chance", partial(measure_chance, context), nothing)
            if not self.numbers
            else nothing
        )
        margins, losses = self._measure_margins()
        judgement = judge_changes(
            context.inputs,
            self.changed,
            margins,
            losses=losses,
            seed=context.seed,
            formats=context.formats,
            chance=chance,
        )
        rule = RULE_FOR_NUMBERS if self.numbers else RULE_WITHOUT_SCORES if margins is None else RULE_WITH_SCORES
        if chance is None:
            basis = f"{basis or NO_TRAINING_DATA} {rule}"
        figures = self._measure_figures()
        no_directions: list[DirectionChange] = []
        promises = options.promises if isinstance(options.promises, Promises) else None
        outcome = None if promises is None else promises.outcome
        directions = (
            execution.attempt("the directions of numbers", partial(measure_directions, context, outcome), no_directions)
            if self.changed.any()
            else no_directions
        )
        findings = self._build_findings(judgement, figures, directions)
        if promises is not None:
            findings += execution.attempt("the promises", partial(_compare_promises, context, promises), [])
        difference = execution.attempt("where the borders moved", self._compare_borders, None)
        return _build_result(
            options,
            context,
            findings,
            rows=self._build_rows(),
            judgement=judgement,
            chance=chance,
            basis=basis,
            figures=tuple(figures),
            directions=tuple(directions),
            calibration=self._measure_calibration(),
            difference=difference,
            notes=self.notes,
        )

    # -- for the better or the worse -----------------------------------------------------------------------------------

    def _measure_figures(self) -> list[FigurePair]:
        if self.numbers:
            truth = self._read_true_numbers()
            return (
                []
                if truth is None
                else compare_numbers(truth, self._read_numbers(self.old), self._read_numbers(self.new))
            )
        if self.truth is None:
            return []
        both = self.both
        figures = compare_classes(self.truth[both], self.keys["old"][both], self.keys["new"][both])
        classes = self._find_common_classes()
        if classes:
            assert self.old.scores is not None
            assert self.new.scores is not None
            figures += compare_probabilities(self.truth[both], classes, self.old.scores[both], self.new.scores[both])
        return figures

    def _read_true_numbers(self) -> Floats | None:
        if self.context.truth is None:
            return None
        return np.asarray(pd.to_numeric(pd.Series(self.context.truth), errors="coerce").to_numpy(dtype=np.float64))

    def _find_common_classes(self) -> list[str]:
        """Return the classes whose probabilities both models give; empty if they do not."""
        labels = self.context.labels
        classes = [to_label_key(label) for label in labels["old"]]
        outputs = (self.old, self.new)
        has_scores = all(
            part.scores is not None
            and part.scores.shape[1] == len(classes)
            and are_probabilities(part.scores[self.both])
            for part in outputs
        )
        return classes if has_scores and classes == [to_label_key(label) for label in labels["new"]] else []

    def _measure_calibration(self) -> dict[str, float | None]:
        classes = self._find_common_classes()
        if self.truth is None or not classes:
            return {}
        return {
            version: measure_calibration(self.truth, classes, outputs.scores)
            for version, outputs in (("old", self.old), ("new", self.new))
            if outputs.scores is not None
        }

    def _measure_group_errors(self, inside: Mask) -> FigurePair | None:
        """Return the errors of both models in a group; None without labels."""
        rows = inside & self.both
        if self.numbers:
            truth = self._read_true_numbers()
            if truth is None:
                return None
            rows = rows & np.isfinite(truth)
            old, new = (np.abs(self._read_numbers(part) - truth)[rows] for part in (self.old, self.new))
            return compare_means_of_pairs("mean absolute error", old, new, better="down", is_share=False)
        if self.truth is None:
            return None
        rows = rows & np.array([key is not None for key in self.truth], dtype=bool)
        old, new = ((self.keys[version][rows] != self.truth[rows]).astype(np.float64) for version in VERSIONS)
        return compare_means_of_pairs("wrong answers", old, new, better="down")

    # -- findings ------------------------------------------------------------------------------------------------------

    def _build_findings(
        self, judgement: ChangeJudgement, figures: Sequence[FigurePair], directions: Sequence[DirectionChange]
    ) -> list[Finding]:
        from .page import draw_direction, draw_group

        findings = [
            build_group_finding(
                GroupReport(
                    group=group,
                    errors=self._measure_group_errors(group.inside),
                    transitions=self._find_transitions(group),
                    sections=tuple(draw_group(self.context, group, self.changed)),
                ),
                judgement,
            )
            for group in judgement.groups
        ]
        has_group_concern = any(finding.level == "concern" for finding in findings)
        errors = next((figure for figure in figures if figure.is_error), None)
        error_findings = build_error_findings(figures, has_group_concern)
        tolerance_text = f"{self.tolerance:.3g}"
        direction_findings = build_direction_findings(directions, partial(draw_direction, formats=self.context.formats))
        overall = build_overall_finding(judgement, errors, self.numbers, tolerance_text, bool(direction_findings))
        findings += [*error_findings, *direction_findings]
        findings += [overall] if overall is not None else []
        lost, gained = int((self.old.ok & ~self.new.ok).sum()), int((~self.old.ok & self.new.ok).sum())
        findings += build_missing_finding(lost, gained, len(self.old))
        if not self.numbers:
            labels = self.context.labels
            old, new = ([to_label_key(label) for label in labels[version]] for version in VERSIONS)
            if old and new:
                findings += build_class_findings(old, new, len(self.old))
        return findings

    def _find_transitions(self, group: ChangedGroup) -> list[tuple[str, str, int]]:
        if self.numbers:
            return []
        return find_transitions(self.keys["old"], self.keys["new"], self.changed & group.inside)

    def _build_rows(self) -> pd.DataFrame:
        """Return the rows whose answer changed, or that only one model answers."""
        changed = self.changed | (self.old.ok != self.new.ok)
        frame = self.context.frame[changed]
        return frame.assign(old_answer=self.old.to_objects()[changed], new_answer=self.new.to_objects()[changed])

    # -- borders -------------------------------------------------------------------------------------------------------

    def _compare_borders(self) -> Difference | None:
        """Explore the borders of both models, and compare them."""
        context = self.context
        if context.space.blocks or not self.changed.any():
            return None
        seconds = context.seconds_left
        budget = Budget(seconds=None if seconds is None else BORDER_BUDGET_SHARE / 2 * seconds)
        threshold = float(np.nanmedian(self._read_numbers(self.old))) if self.numbers else None
        fronts = []
        for version in VERSIONS:
            subject = context.get_limited_subject(version, MAX_BORDER_SEEDS)
            options = WalkOptions(
                strategy="random_target",
                walks=BORDER_WALKS,
                budget=budget if seconds is not None else None,
                threshold=threshold,
            )
            rng = np.random.default_rng(context.seed)
            fronts.append(run_exploration(subject, rng, options, self.execution.drive, seed=context.seed))
        difference = fronts[0].diff(fronts[1])
        self.execution.counter.calls += difference.calls
        return difference


def _compare_promises(context: ComparisonContext, promises: Promises) -> list[Finding]:
    """Return the promises that the old model keeps and the new one breaks."""
    outcome = promises.find_label(context.labels["new"])
    promises.validate(context.space, context.new.sut.labels, [])
    findings = []
    rows = np.random.default_rng(context.seed).permutation(len(context.inputs))[:PROMISE_ROWS]
    inputs = context.inputs.take(rows)
    relations = promises.build_column_relations(outcome) | promises.build_relations(outcome)
    for name, relation in relations.items():
        counts: dict[Version, tuple[int, int]] = {}
        for version in VERSIONS:
            sut = context.get_subject(version).sut
            if relation.find_obstacle(sut, inputs):
                break
            checked = run_relation_check(
                relation,
                sut,
                inputs,
                seed=context.seed,
                budget=context.execution.remaining_budget,
                engine=context.execution.engine,
            )
            counts[version] = (checked.groups.count(VIOLATED), checked.groups.judged_count)
        if len(counts) < len(VERSIONS) or counts["old"][0] or not counts["new"][0]:
            continue
        line = promises.find_line(name)
        violated, judged = counts["new"]
        findings.append(
            Finding(
                check="compare",
                about=name,
                title=f"The promise about {name} was kept before and is broken now",
                level="fault",
                confidence=1.0,
                detail=f"{relation.statement} (line {line} of {promises.file}). The old model keeps it for all of "
                f"{pluralise(counts['old'][1], 'row')}, and the new one breaks it for {format_percent(violated / max(1, judged))}.",
                remedy="Train the new model so that it keeps the promise, or withdraw the promise.",
                columns=(name,) if name in context.space.names else (),
                inputs="changed",
                **count_rows(violated, judged),
            )
        )
    return findings


def _build_result(
    options: CompareOptions,
    context: ComparisonContext,
    findings: Sequence[Finding],
    *,
    rows: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    **measurements: object,
) -> ModelComparison:
    execution = context.execution
    empty = context.frame.iloc[:0].assign(old_answer=None, new_answer=None)
    old, new = context.old.name, context.new.name
    return ModelComparison(
        old=f"{old} (old)" if old == new else old,
        new=f"{new} (new)" if old == new else new,
        findings=tuple(
            sorted(findings, key=lambda finding: LEVELS.index(finding.level))
        ),  # in each level, groups first
        rows=empty if rows is None else rows,
        row_count=len(context.inputs),
        same=options.same,
        seed=options.seed,
        request=options.command,
        target=context.target,
        notes=[*context.notes, *notes],
        seconds_per_row={str(version): seconds for version, seconds in context.seconds_per_row.items()},
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
        calls=execution.counter.calls,
        seconds=execution.seconds,
        **measurements,  # type: ignore[arg-type]  # named as the fields
    )
