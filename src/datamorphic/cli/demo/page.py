"""The page of the demo: the audit of the classifier, and a closer look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..._text import format_percent, pluralise
from ...audit.page import build_page as build_audit_page
from ...exploration.page import build_pair_pictures
from ...hunting.measures import estimate
from ...relations.check.result import CheckReport
from ...reporting.document import Line, Page, Section, Table
from ...risk.credit.page import format_verdict
from ...trees.coverage.draw import draw_tree
from .demo import GENERATORS, MISREAD_FACTOR, MISREAD_FEATURE, MONOTONE_FEATURES, PRODUCTS, Demo

TITLE = "A first look at a classifier"
MAX_LISTED_MUTANTS = 4


def build_page(demo: Demo) -> Page:
    """Return the page of the audit with a closer look added."""
    page = build_audit_page(demo.audit)
    return replace(
        page, title=TITLE, lead=f"{format_lead(demo)} {page.lead}", sections=[*page.sections, build_closer_look(demo)]
    )


def format_lead(demo: Demo) -> str:
    """Return what was tested, for a newcomer."""
    *first_features, last_feature = MONOTONE_FEATURES
    return (
        f"A {demo.sut.name} was trained to distinguish malignant from benign tumours ({demo.rows} patients, "
        f"{len(demo.space)} measurements; the data ship with scikit-learn). It is correct for {format_percent(demo.accuracy)} of "
        "the patients it was not trained on. "
        f"A physician would expect that a larger {', '.join(first_features)} or {last_feature} never makes a malignant "
        "tumour less likely, so the demo declares this expectation."
    )


def build_closer_look(demo: Demo) -> Section:
    """Return the section with what an audit alone does not show."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in demo.space.kinds.items() if count)
    return Section(
        heading="A closer look",
        text="One patient, one walk, and the foundations of the results above.",
        parts=[
            _build_service_section(demo),
            _build_flip_section(demo),
            _build_walk_section(demo),
            _build_combination_section(demo),
            _build_laws_section(demo),
            _build_tests_section(demo),
            _build_fault_section(demo),
            _build_library_section(demo),
            _build_race_section(demo),
            _build_loans_section(demo),
            _build_digits_section(demo),
            _build_search_section(demo),
            _build_resume_section(demo),
            Section(
                heading=f"The space of inputs: {kinds} features",
                text="Inferred from the training data: kinds, bounds, and a step of a twentieth of each range.",
                table=Table(
                    columns=["feature", "domain"],
                    rows=[[feature.name, feature.describe()] for feature in demo.space.features],
                ),
            ),
        ],
        anchor="closer",
    )


def _build_service_section(demo: Demo) -> Section:
    findings = demo.served.findings
    cause = findings[0].title if findings else "no cause was found"
    return Section(
        heading="A service between the data and the model makes an error, and the cause is named",
        text=f"The same classifier was tested behind a service that sends {MISREAD_FEATURE} in another unit, {MISREAD_FACTOR} times as "
        "large. The test does not know this. It tries simple changes of the inputs and answers, and keeps one that is confirmed on "
        f"other patients:\n• {cause}",
        state="good" if findings else "bad",
    )


def _build_flip_section(demo: Demo) -> Section:
    case = demo.flip.iloc[0]
    changes = case["change"].split(", ")  # no measurement has a comma in its name
    more = f", and {pluralise(len(changes) - 3, 'smaller change')}" if len(changes) > 3 else ""
    return Section(
        heading=f"What would change the answer for one patient from {case['answer']} to {case['becomes']}",
        text=f"The smallest change that was found and confirmed by the model: {', '.join(changes[:3])}{more}. If such a "
        "small change should not matter, look here first.",
    )


def _build_walk_section(demo: Demo) -> Section:
    scores = demo.outputs.scores
    assert scores is not None
    picture = Line(
        title="Decision value along the walk, step by step",
        x_label="step of the walk",
        y_label=f"decision value for {demo.sut.labels[1] if demo.sut.labels else 'the second class'}",
        values=np.round(scores[:, 1], 4).tolist(),
        bands=[str(label) for label in demo.outputs.values],
        notes=["the start", *demo.path.moves],
    )
    changes = "\n".join(f"• {demo.format_change(step)}" for step in demo.changes)
    times = {1: "once", 2: "twice"}.get(len(demo.changes), f"{len(demo.changes)} times")
    return Section(
        heading=f"From a malignant to a benign tumour in {pluralise(len(demo.path), 'small step')}: the answer changes {times}",
        text="A malignant case is turned into a benign one, feature by feature. Where the answer changes, "
        f"two nearly equal patients get different answers:\n{changes}",
        picture=picture,
    )


def _build_combination_section(demo: Demo) -> Section:
    combination = demo.combination
    chains = combination.violations.get("shortest", pd.Series(dtype=object)).value_counts()
    count = len(combination.violations)
    outcome = f"{count} flip the diagnosis" if count else "none flips the diagnosis"
    return Section(
        heading=f"From {combination.seed_count} patients to {combination.case_count} tests: {outcome}",
        text="Measurements are rounded, taken with a device that is one per cent off, or lost and filled in. Every combination of "
        "these errors was tried. Nobody knows the right diagnosis, but an error should not change it.",
        state="warn" if count else "good",
        table=Table(
            columns=["the fewest errors that flip it", "tests"],
            rows=[[str(chain), str(tests)] for chain, tests in chains.items()],
        ),
    )


def _build_laws_section(demo: Demo) -> Section:
    columns = ["law", "what it says", "outcome"]
    if not demo.laws.holds:
        columns.append("counter-example")
    rows = [[result.law, result.says, result.state, result.words][: len(columns)] for result in demo.laws.results]
    return Section(
        heading="Moves and distances satisfy their laws" if demo.laws.holds else "A law of the test system is broken",
        text=f"Exploration relies on its moves. {demo.laws.examples} triples of points were tried for each law.",
        state="good" if demo.laws.holds else "bad",
        table=Table(columns=columns, rows=rows),
    )


def _build_tests_section(demo: Demo) -> Section:
    score = demo.tests
    killed_count, live_mutants = int(score.killed.sum()), score.uncovered(MAX_LISTED_MUTANTS)
    return Section(
        heading=f"Is the test set good enough for a tree? It kills {killed_count} of {len(score.counts)} mutants",
        text=f"A decision tree was trained on the same patients, and {score.rows} patients were held out to test it. They "
        f"reach {int(score.leaves.covered.sum())} of its {score.leaves.leaves} leaves. Each mutant of the tree changes one "
        f"decision: {killed_count} mutants answer differently for at least one of these patients, and {score.proved} "
        "provably answer like the tree for every possible patient. "
        f"{pluralise(len(demo.extra), 'generated patient')} would kill all others. The tree is drawn below.",
        state="good" if killed_count + score.proved == len(score.counts) else "warn",
        table=Table(
            columns=["mutant", "why it survives"], rows=[[row.change, row.why] for row in live_mutants.itertuples()]
        ),
        drawing=draw_tree(score.leaves, score),
    )


def _build_fault_section(demo: Demo) -> Section:
    mutant, report, violated_relations = demo.mutant, demo.mutant_report, demo.fault_detectors
    return Section(
        heading=f"A bug planted in a learner is found: it violates {len(violated_relations)} of {len(report.entries)} "
        "relations",
        text=f"One operator of a nearest-neighbour learner was changed: {mutant.before} became {mutant.after}. It was trained "
        "on random data and on the same data changed in a known way. Nobody knows the right answers, but its answers "
        f"contradict each other: {', '.join(violated_relations)}. The smallest training data that show it:\n"
        + _format_first_example(report),
        state="good" if violated_relations else "bad",
    )


def _build_library_section(demo: Demo) -> Section:
    report = demo.distribution
    violated = f"The first relation that is violated: {report.faults[0].says}. " if report.faults else ""
    return Section(
        heading=f"A distribution of a library: {report.headline}",
        text=f"{report.subject} was not changed. What its functions answer must fit together: a cdf never falls, cdf and sf add up to 1, a "
        f"quantile leads back to its probability. {violated}The gallery of the documentation shows bugs of released libraries that were "
        "found in this way.\n" + _format_first_example(report),
        state="warn" if report.faults else "good",
    )


def _format_first_example(report: CheckReport) -> str:
    example = next(iter(report.examples.values()), None)
    return "" if example is None else "\n".join(f"• {line.strip()}" for line in example.describe().split("\n"))


def _build_race_section(demo: Demo) -> Section:
    race = demo.race
    rows = []
    for name in GENERATORS:
        mean = estimate(race.hunts[name].f_measures)
        rows.append([name, f"{mean.value:.0f}", f"{mean.low:.0f} to {mean.high:.0f}"])
    trials = len(next(iter(race.hunts.values())).trials)
    means = ", ".join(f"{mean} with {name}" for name, mean, _ in rows)
    return Section(
        heading=f"A faulty program is found with {race.ratio:.0%} of the groups that random testing needs",
        text=f"A bug was planted in a program for tanh: {race.change}. No right answer is needed to find it, because "
        "tanh(3x) can be computed from tanh(x). "
        "SFIDMT-ART keeps new inputs, and the tripled ones, far from those already tried. "
        f"The mean number of groups (x, 3x) until the first violation, from {trials} hunts each: {means}.",
        state="good" if race.ratio < 1 else "warn",
        table=Table(columns=["generator", "groups, mean", "95% interval"], rows=rows),
    )


def _build_loans_section(demo: Demo) -> Section:
    report = demo.loans
    rejected_count, count = len(report.choice.rejections), len(report.models)
    rows = [
        [
            model.name,
            "-" if model.auc is None else f"{model.auc.value:.3f}",
            format_percent(model.strong_share.value),
            "rejected" if model.name in report.choice.rejections else "usable",
        ]
        for model in report.models
    ]
    return Section(
        heading=f"Models that decide about loans: {rejected_count} of {count} break what every lender expects",
        text="A better credit score, less debt or a smaller loan must never raise the risk that a model sees. "
        f"{pluralise(count, 'model')} learned from synthetic loans, and each answered for held-out applicants before and after "
        f"such a change. {format_verdict(report)} All of it, on your loans: datamorphic credit --data loans.csv.",
        state="good" if report.passed else "warn",
        table=Table(columns=["model", "AUC", "applicants with a clearly higher risk", "verdict"], rows=rows),
    )


def _build_digits_section(demo: Demo) -> Section:
    front = demo.digits
    [pictures] = build_pair_pictures(front)
    return Section(
        heading=f"Images, too: {pluralise(len(front), 'pair')} of digits that look the same and get different answers",
        text="A classifier of handwritten digits was explored from one image to another. Each pair is two images with different "
        "answers and hardly a difference between them, which the third picture shows. Texts, sequences of numbers and mixed "
        "tables are explored in the same way.",
        drawing=pictures.drawing,
    )


def _build_search_section(demo: Demo) -> Section:
    report = demo.search
    violated_entries = [entry for entry in report.entries if entry.violated]
    rows = [[entry.relation, entry.says, f"{entry.violated} of {entry.judged}"] for entry in report.entries]
    return Section(
        heading=f"Not only classifiers: a search engine breaks {len(violated_entries)} of {len(report.entries)} expectations of its users",
        text=f"A shop of {PRODUCTS:,} products was searched with SQLite's full-text search. Nobody knows how many products it should find "
        'for "men\'s hats". But another sorting rule should find as many, a filter no more, and "hats for men" the same. '
        "search.MR1 is necessary. The others are hypotheses: where they are violated, a user learns how the "
        "engine reads a query.",
        state="warn" if violated_entries else "good",
        table=Table(columns=["relation", "expectation", "violated"], rows=rows),
    )


def _build_resume_section(demo: Demo) -> Section:
    run = demo.resumed
    outcome = "the same front, byte for byte" if run.same else "a different front"
    return Section(
        heading=f"An interrupted run is resumed: {outcome}",
        text=f"An exploration of the model was interrupted after {pluralise(run.before, 'row')}. When it was resumed, the "
        f"model computed the other {run.after:,}. Without the interruption it computes {run.whole:,}. Every run "
        "of the command line can be resumed: datamorphic runs list, datamorphic runs resume ID.",
        state="good" if run.same and run.before + run.after == run.whole else "bad",
    )
