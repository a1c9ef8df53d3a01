"""The pages Hunts, Relations, Trees and Studies: what their forms become, and what they read from earlier jobs."""

import json

import pandas as pd
import pytest

from datamorphic.errors import UsageError
from datamorphic.studies.charts import draw_comparison_chart
from datamorphic.web.columns import SubjectColumns
from datamorphic.web.jobs import RESULT_FILE, StudioJob

pytest.importorskip("nicegui", reason="pip install 'datamorphic[web]'")

from datamorphic.relations.catalogue.promises import parse_promises
from datamorphic.web.pages.hunts import (
    build_model_words,
    build_promise,
    build_system_words,
    explain,
    explain_missing_relations,
    list_expected_promises,
    list_model_relations,
    parse_hunt,
)
from datamorphic.web.pages.relations import LEARNERS, build_relation_arguments, list_relations
from datamorphic.web.pages.trees import summarise_coverage
from datamorphic.web.subject import ChosenSubject

# -- hunts -----------------------------------------------------------------------------------------------------------


def test_a_hunt_names_programs_mutants_and_relations_of_the_library_only():
    words = build_system_words("Sin", "m1", ["Sin1", "Sin13"])
    assert parse_hunt([*words, "--trials=3"]) == ("Sin", "m1", ["Sin1", "Sin13"])
    assert build_system_words("Sin", "", []) == ["program:Sin"]


@pytest.mark.parametrize(
    ("program", "mutant", "relations"),
    [
        ("os:system", "", []),
        ("Sin", "m99", []),
        ("Sin", "", ["os:system"]),
        ("Sin", "../x", []),
        ("Sin", "", ["--data=x"]),
    ],
)
def test_anything_else_is_refused(program, mutant, relations):
    with pytest.raises(UsageError):
        build_system_words(program, mutant, relations)


def test_generators_are_explained_by_their_documentation():
    class Documented:
        """Choose something.

        More.
        """

    assert explain(Documented) == "Choose something."


def test_a_model_is_hunted_by_promises_and_known_relations():
    subject = _choose()
    known = list_model_relations(SubjectColumns(features=("review",), texts=("review",)))
    words = build_model_words(subject, ["text.typo of review"], known, ['"age": does not matter'])
    assert words == [
        *("m.skops", "text.typo of review", "--data=d.csv", "--target=y"),
        '--promise="age": does not matter',
    ]
    with pytest.raises(UsageError, match="Add a promise first"):
        build_model_words(subject, [], known, [])
    with pytest.raises(UsageError, match="There is no relation 'os:system'"):
        build_model_words(subject, ["os:system"], known, [])
    assert "credit.HMR1" in list_model_relations(SubjectColumns(features=("credit_score", "dti", "ltv")))
    assert not any("flip" in name for name in list_model_relations(SubjectColumns(images=("digit",))))


@pytest.mark.parametrize("column", ["income", "a, b", 'q"x', "a: b", "a x 2", "outcome", "raises y", "<b>", "`k"])
def test_a_promise_names_its_column_and_nothing_else(column):
    for options in ({}, {"change": "x", "amount": 1.1}, {"change": "+", "amount": -3}):
        promises = parse_promises(build_promise(column, "lowers", "yes, no", **options))
        columns = [*promises.columns, *(change.changes[0].column for change in promises.changes.values())]
        assert (columns, promises.outcome) == ([column], "yes, no")


def test_promises_that_cannot_be_written_are_refused():
    for arguments in (('a"`b', "raises"), ("a\nb", "raises"), ("a", "ruins"), ("a", "raises", "", "x", "much")):
        with pytest.raises(UsageError):
            build_promise(*arguments)


def test_expectations_of_a_subject_are_its_first_promises():
    columns = SubjectColumns(features=("income",), classes=("no", "yes"))
    expectations = {"monotone": ["income=down", "age=up"], "protected": ["gender"], "towards": "yes"}
    assert list_expected_promises(expectations, columns) == ["income: lowers yes"]


def test_what_cannot_be_hunted_is_explained():
    assert "No relation of Box 2 is known" in explain_missing_relations(ChosenSubject.of_demo("Box 2"))
    assert "metamorphisms" in explain_missing_relations(ChosenSubject(kind="module", name="Wine"))
    assert explain_missing_relations(_choose()) == ""


# -- relations -------------------------------------------------------------------------------------------------------


def _choose(model="m.skops", target="y"):
    return ChosenSubject(kind="files", name="m", model=model, data="d.csv", target=target)


def test_relations_are_offered_where_they_apply():
    plain = SubjectColumns(features=("a",))
    credit = SubjectColumns(features=("credit_score", "dti", "ltv"))
    assert {"row order", "MR-1.1"} <= set(list_relations(_choose(), plain))
    assert "MR-1.1" not in list_relations(_choose(target=""), plain)  # training needs labels
    assert "MR-1.1" not in list_relations(_choose("m.onnx"), plain)  # and a model that can be trained
    assert "credit.HMR1" in list_relations(_choose(), credit)
    assert "credit.HMR1" not in list_relations(_choose(), plain)


def test_relations_and_reasons_become_one_word_each():
    known = ["MR-1.1", "row order"]
    words = build_relation_arguments(["MR-1.1"], {"row order": "as it\nis", "unknown": "x"}, known)
    assert words == ["--relation=MR-1.1", "--expect-failure=row order=as it is"]
    assert build_relation_arguments(["necessary"], {}, known) == ["--relation=necessary"]
    with pytest.raises(UsageError, match="one from the list"):
        build_relation_arguments(["os:system"], {}, known)


def test_learners_can_be_imported():
    from datamorphic.cli.load import load_object
    from datamorphic.relations.learners.necessity import is_known_learner

    assert all(is_known_learner(load_object(name)()) for name in LEARNERS)


# -- trees -----------------------------------------------------------------------------------------------------------


def _write_job(folder, number, document, *, command="cover", subject=("m", "d")):
    job_folder = folder / str(number)
    job_folder.mkdir()
    (job_folder / RESULT_FILE).write_text(json.dumps(document))
    html = f"--html={job_folder / 'report.html'}"
    return StudioJob(
        number=number, title="", arguments=[command, *subject, "--json", html], folder=job_folder, state="finished"
    )


def test_the_newest_figures_of_each_criterion(tmp_path):
    base = {"rows": 400, "leaves": 22, "headline": "The tests kill 87 of 114 mutants (76.3%)"}
    jobs = [
        _write_job(tmp_path, 4, base | {"criterion": "DTMT", "covered": 22, "share": 0.763, "mutants": {}}),
        _write_job(tmp_path, 3, base | {"criterion": "DTC", "covered": 22, "share": 1.0}),
        _write_job(tmp_path, 2, base | {"criterion": "DTC", "covered": 1, "share": 0.1}),
        _write_job(tmp_path, 1, base | {"criterion": "BVA", "covered": 1, "share": 0.1}, subject=("other", "d")),
    ]
    assert summarise_coverage(jobs, ["m", "d"]) == [
        ("DTC", "400", "22 of 22 leaves", "100%"),
        ("DTMT", "400", "kill 87 of 114 mutants", "76.3%"),
    ]
    assert jobs[0].own_arguments == ["m", "d"]
    assert jobs[0].command == "datamorphic cover m d"


# -- studies ---------------------------------------------------------------------------------------------------------


def test_the_chart_of_a_study_has_a_point_per_figure():
    rows = pd.DataFrame(
        {
            "row": ["a"] * 6,
            "column": "<runs>",
            "published": [1.0, 10.0, 100.0, 1000.0, float("nan"), 5.0],
            "ours": [1.0, 11.0, 90.0, 1000.0, 2.0, float("inf")],
            "note": "",
        }
    )
    chart = draw_comparison_chart(rows)
    assert sum(shape.kind == "bar" for shape in chart.shapes if hasattr(shape, "note")) == 4
    assert "logarithmic" in chart.caption
    assert draw_comparison_chart(rows.head(3)) is None


def test_models_of_texts_and_images_have_relations_of_their_own():
    columns = SubjectColumns(features=("review", "title"), texts=("review", "title"))
    names = list(list_relations(_choose(), columns))
    assert {"text.typo of review", "text.typo of title", "row order"} <= set(names)
    assert "MR-1.1" not in names  # texts are not trained on again
    names = list(list_relations(_choose(), SubjectColumns(features=("digit",), images=("digit",))))
    assert {"image.noise", "image.flip left-right"} <= set(names)


def test_strictness_of_known_relations_only():
    words = build_relation_arguments([], {}, ["MR-1.1"], {"MR-1.1": "class_stat", "MR-9": "class_stat"})
    assert words == ["--strictness=MR-1.1=class_stat"]
