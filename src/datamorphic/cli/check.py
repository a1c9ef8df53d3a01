"""The command ``datamorphic check``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as opt
from .console import prepare_output_files, print_json, print_text, redirect_user_output, write_exports
from .exit_codes import ExitCode, choose_exit_code
from .load import choose_model_and_data, load_data, load_learner, load_named, load_space, to_absolute_path
from .stores import RunNotice, format_store_option, open_store

if TYPE_CHECKING:
    from ..relations.base import Relation


def check(
    model: Annotated[
        str | None,
        opt.argument("MODEL", 'A learner (module:object), a model file, a service (.toml), or "weka:IBk -K 3".'),
    ] = None,
    inputs: opt.DataArgument = None,
    data: opt.Data = None,
    target: opt.Target = None,
    relation: Annotated[
        list[str] | None,
        opt.option(
            "RELATION",
            "A relation: its name (MR-1.1, 'text.typo of review', image.noise), module:object, or 'necessary'. Repeatable. The "
            "default is all that apply.",
        ),
    ] = None,
    cases: opt.InputCount = 300,
    rows: Annotated[int, opt.option("N", "Largest number of rows of a random training set.", min=1)] = 50,
    param: opt.LearnerParameters = None,
    like: opt.LikeLearner = None,
    expect_failure: Annotated[
        list[str] | None, opt.option("RELATION=REASON", "A relation whose violation is not a fault. Repeatable.")
    ] = None,
    strictness: Annotated[
        list[str] | None,
        opt.option(
            "RELATION=HOW",
            "How to judge a relation of learners: class_exact, score_exact, class_stat or score_stat. Repeatable.",
        ),
    ] = None,
    count_ties: Annotated[bool, opt.flag("--count-ties", "Also count violations that depend on a tie.")] = False,
    no_shrink: Annotated[
        bool, opt.flag("--no-shrink", "Report violations as they are, not the smallest ones.")
    ] = False,
    budget: opt.Budget = None,
    allow_incomplete: opt.AllowIncomplete = False,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    space: opt.SpaceFile = None,
    kind: opt.KindHints = None,
    feature_step: opt.StepHints = None,
    bounds: opt.BoundHints = None,
    order: opt.OrderHints = None,
    timeout: opt.Timeout = None,
    batch: opt.Batch = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    store: opt.StoreUrl = None,
    trust: opt.Trust = False,
    scalar: opt.Scalar = False,
    classes: opt.Classes = None,
    name: opt.SystemName = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Check metamorphic relations of a learner or a model on many inputs.

    MODEL is a learner or a class of learners (module:object), a model file, the description of a service (.toml), or
    "weka:IBk -K 3". Without DATA a learner is trained on random data. The exit code is 1 if it violates a
    relation that every correct implementation satisfies, and 4 if it does not, but the budget did not suffice.

    Examples: datamorphic check sklearn.neighbors:KNeighborsClassifier --param n_neighbors=3;
    datamorphic check "weka:NaiveBayes" --inputs 300 --html relations.html;
    datamorphic check model.skops customers.csv --target churned --relation necessary
    """
    from ..relations.check.api import check as check_relations
    from ..relations.learner.sampling import RANDOM_DATA
    from ..runs.engines import make_engine

    model, data_name = choose_model_and_data(model, inputs, None, data, target)
    prepare_output_files(html, junit)
    expected_failures = dict(
        opt.parse_pair(text, "--expect-failure", "RELATION=REASON") for text in expect_failure or ()
    )
    strictness_by_relation = dict(opt.parse_pair(text, "--strictness", "RELATION=HOW") for text in strictness or ())
    request: dict[str, Any] = {
        "model": to_absolute_path(model),
        "data": to_absolute_path(data_name),
        "target": target,
        "seed": seed,
        "param": param or [],
    }
    hints: dict[str, Any] = dict(opt.parse_hints(kind, feature_step, bounds, order).to_dict())
    if hints:
        request[opt.HINTS_KEY] = hints
    request |= opt.collect_options(space=space and os.path.abspath(space), name=name)
    with open_store(store) as run_store:
        notice = RunNotice(run_store, format_store_option(store), resumable=False)
        with redirect_user_output(), notice:
            learner, options = load_learner(model, param, trust)
            frame = None if data_name is None else load_data(data_name)
            report = check_relations(
                learner,
                RANDOM_DATA if frame is None and space is None else frame,
                _load_relations(relation),
                target,
                cases,
                seed,
                make_engine(engine, workers),
                like=None if like is None else load_learner(like, None, False)[0],
                strictness=strictness_by_relation,
                expected_failures=expected_failures,
                rows=rows,
                ties="count" if count_ties else "aside",
                budget=budget,
                timeout=timeout,
                batch=batch,
                shrink=not no_shrink,
                store=notice.make_store_options(request),
                scalar=scalar,
                classes=opt.parse_classes(classes),
                name=name,
                space=load_space(space, frame, target, learner, options),
                **hints,
                **options,
            )
        if as_json:
            print_json(report.document() | {"run": notice.run})
        else:
            print_text(report.describe(), passed=report.passed)
        report = replace(report, incomplete_allowed=allow_incomplete)
        write_exports(report, {"html": html, "junit": junit}, silent=as_json)
        if not as_json:
            notice.print_end()
    unanswered = any(entry.undefined for entry in report.entries) and not any(entry.judged for entry in report.entries)
    if unanswered and not report.interrupted and not report.faults:
        raise typer.Exit(ExitCode.SYSTEM_FAILED)
    incomplete = not report.complete and not allow_incomplete
    raise typer.Exit(
        choose_exit_code(interrupted=report.interrupted, failed=bool(report.faults), incomplete=incomplete)
    )


def _load_relations(names: list[str] | None) -> str | list[str | Relation]:
    if not names:
        return "auto"
    if names == ["necessary"]:
        return "necessary"
    return [load_named(name) for name in names]
