"""Each planted defect is reported, above noise; a well-behaved model of the same data gets none of them."""

from __future__ import annotations

import pytest

import datamorphic as dm
from support.cases import LONG
from support.lending import (
    PROMISES,
    DependsOnBatch,
    DependsOnOrder,
    EverythingWrong,
    Lender,
    LooksAtGender,
    MovedBorder,
    NeverReviews,
    NotMonotone,
    SilentInACorner,
    people,
)

PEOPLE = people()
DEFECTS = {
    DependsOnOrder: "row order",
    DependsOnBatch: "batches",
    SilentInACorner: "answers",
    NotMonotone: "monotone",
    NeverReviews: "classes",
    MovedBorder: "baseline",
    LooksAtGender: "protected",
}


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    """The border of the well-behaved model, as it was saved with an earlier version."""
    path = tmp_path_factory.mktemp("baseline") / "front.parquet"
    dm.explore(Lender(PEOPLE), PEOPLE, target="decision", strategy="auto", walks=300, seed=99).save(path)
    return path


def list_checks(result):
    """The checks that found what is worse than advice, those of merged findings among them."""
    defects = [finding for finding in result.findings if finding.level != "advice"]
    return [piece.check for finding in defects for piece in (finding, *finding.evidence)]


def put_to_test(model, baseline, seed=0, **options):
    return dm.test(
        model,
        PEOPLE,
        "decision",
        protected=["gender"],
        expect=PROMISES,
        baseline=baseline,
        seed=seed,
        budget="5m",
        **options,
    )


#: one at a time those that EverythingWrong has not, and a silent corner, whose rows the others must not hide; all with LONG
ALONE = DEFECTS if LONG else (DependsOnBatch, LooksAtGender, SilentInACorner)


@pytest.mark.parametrize("defect", ALONE, ids=lambda kind: kind.__name__)
def test_a_planted_defect_is_reported_first(defect, baseline):
    result = put_to_test(defect(PEOPLE), baseline, **({} if LONG else {"only": [*DEFECTS.values()]}))
    assert DEFECTS[defect] in list_checks(result)
    assert not result.passed
    worst = [finding.level for finding in result.findings]
    assert worst == sorted(worst, key=("fault", "concern", "advice").index)  # noise, if any, comes last


def test_five_defects_at_once_are_five_findings(baseline):
    result = put_to_test(EverythingWrong(PEOPLE), baseline)
    assert {"row order", "answers", "monotone", "classes", "baseline"} <= set(list_checks(result))
    for finding in result.findings:
        assert finding.remedy
        assert finding.check in result.command(finding)
        assert finding.examples or finding.level == "advice" or finding.check == "classes"
    corner = next(finding for finding in result.findings if finding.about == "made")
    assert "income >" in corner.detail
    assert "debt >" in corner.detail


def test_a_well_behaved_model_gets_none_of_them_whatever_the_seed(baseline):
    model = Lender(PEOPLE)
    for seed in range(20 if LONG else 1):
        result = put_to_test(model, baseline, seed)
        wrong = [(finding.check, finding.detail) for finding in result.findings if finding.level != "advice"]
        assert not wrong, f"seed {seed}"
        assert all(outcome.state != "broke" for outcome in result.outcomes)
        ran = {outcome.check for outcome in result.outcomes if outcome.state == "passed"}
        assert {"row order", "answers", "monotone", "classes", "baseline", "protected"} <= ran
