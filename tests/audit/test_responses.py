"""Responses: sweeps of real rows along every feature, measured once per audit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datamorphic.audit.check import CheckBudget
from datamorphic.audit.context import BudgetClock, CheckContext
from datamorphic.audit.expectations import parse_expectations
from datamorphic.audit.responses import AnswerCodes, compute_levels, encode_truth, get_real_answers, measure_responses
from datamorphic.errors import OutOfBudget
from datamorphic.morphisms.subject import build_subject
from datamorphic.runs.flow import Budget
from datamorphic.space.options import SpaceOptions

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"x": RNG.uniform(0, 10, 300), "n": RNG.integers(0, 4, 300), "c": RNG.choice(["a", "b", "c"], 300)}
)


def make_context(model, frame=FRAME, truth=None, **options):
    subject = build_subject(
        model,
        frame,
        rng=np.random.default_rng(0),
        owner="test",
        space_options=SpaceOptions(kinds={"n": "integer"}),
        **options,
    )
    context = CheckContext(
        subject=subject, expectations=parse_expectations(None), clock=BudgetClock(Budget()), truth=truth
    )
    context.measure_pace()
    return context


def decide(frame):
    return np.where((frame["x"] > 5) & (frame["c"] != "b"), "yes", "no")


def test_every_feature_is_swept_once_for_all_checks():
    context = make_context(decide)
    budget = CheckBudget(Budget())
    responses = measure_responses(context, budget)
    calls = budget.counter.calls
    assert measure_responses(context, budget) is responses
    assert budget.counter.calls == calls
    assert responses.complete
    assert len(responses.inputs) == 200
    assert (responses["x"].values[0], responses["x"].values[-1]) == (FRAME["x"].min(), FRAME["x"].max())
    assert responses["n"].values.tolist() == [0, 1, 2, 3]
    assert responses["c"].values.tolist() == [0, 1, 2]
    frame = responses.inputs.frame
    for response in responses:
        for j in (0, len(response.values) - 1):
            codes = responses.inputs.codes.copy()
            codes[:, response.column] = response.values[j]
            swept = type(responses.inputs)(context.space, codes).frame
            assert (np.array(responses.codes.labels)[response.answers[:, j].astype(int)] == decide(swept)).all()
    assert (responses["x"].changed == (frame["c"] != "b")).all()
    assert not responses["n"].score_changed.any()


def test_rows_without_an_answer_are_nan():
    context = make_context(lambda frame: [None if x > 5 else "yes" for x in frame["x"]])
    responses = measure_responses(context, CheckBudget(Budget()))
    assert (np.isnan(responses["x"].answers) == (responses["x"].values > 5)).all()
    assert not responses["x"].changed.any()


def test_directions_hold_for_nearly_all_rows():
    context = make_context(lambda frame: 2.0 * frame["x"].to_numpy() - (frame["n"] == 2) + 0.5)
    (direction,) = measure_responses(context, CheckBudget(Budget())).find_directions()
    assert (direction.feature, direction.sign, direction.towards) == ("x", 1, None)
    assert direction.rows == direction.of == 200


def test_a_small_budget_gives_fewer_rows_or_none():
    context = make_context(decide)
    assert 10 <= len(measure_responses(context, CheckBudget(Budget(runs=1500))).inputs) < 100
    with pytest.raises(OutOfBudget):
        measure_responses(make_context(decide), CheckBudget(Budget(runs=50)))


def test_labels_are_compared_as_text_and_truth_as_numbers():
    codes = AnswerCodes(False, [0, 1])
    assert (
        codes.encode([True, False]).tolist() == codes.encode([1.0, 0.0]).tolist() == codes.encode(["1", "0"]).tolist()
    )
    assert np.isnan(codes.encode(np.array([1, 0]), np.array([False, True]))[0])
    mixed = np.array([(0.5, 0.5), None, "x"], dtype=object)
    assert len(AnswerCodes(False).encode(mixed)) == 3
    context = make_context(decide, truth=np.where(FRAME["x"] > 5, "yes", "no"))
    responses = measure_responses(context, CheckBudget(Budget()))
    assert set(np.unique(encode_truth(context, responses))) == {0.0, 1.0}
    context.truth = np.where(FRAME["x"] > 5, "A", "B")
    assert encode_truth(context, responses) is None


def test_real_answers_come_from_the_check_that_asked_for_them():
    context = make_context(decide)
    responses = measure_responses(context, CheckBudget(Budget()))
    rows, answers = get_real_answers(context, CheckBudget(Budget()), responses, 50)
    assert len(rows) == len(answers) == 50
    context.queries = context.inputs
    context.answers = context.sut.execute(context.inputs)
    budget = CheckBudget(Budget())
    rows, answers = get_real_answers(context, budget, responses, 50)
    assert budget.counter.calls == 0
    assert (np.array(responses.codes.labels)[answers.astype(int)] == decide(FRAME)).all()


def test_decision_values_become_levels():
    assert compute_levels(np.array([[-1.0, 1.0]]), "decision")[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert compute_levels(np.array([[0.2, 0.8]]), "probability").tolist() == [[0.2, 0.8]]
    assert compute_levels(np.array([[0.2, 0.8, 1.0]]), "pairwise") is None
