"""Judge the difference of two fronts as `dm.compare` judges two models: by their answers to real inputs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from ..exploration.diff.diff import Difference
from ..exploration.diff.ranking import classify_changes
from ..exploration.front_data import FrontData, query_quietly
from ..runs.flow import ask
from ..space.labels import to_label_keys
from ..space.outputs import Outputs
from ..systems.score_leads import compute_leads, prefer_probabilities
from .groups import Floats
from .judgement import ChangeJudgement, judge_changes


def judge_difference(change: Difference, seed: int = 0, tolerance: float | None = None) -> ChangeJudgement | None:
    """Return whether the changed answers to real inputs are more than training again explains, and for which group.

    The attached systems are queried for their scores. For a front from a file, those that the file holds are used. Answers about
    which the new model is undecided by at most `tolerance` do not count. None is returned without real inputs whose two answers are known.
    """
    inputs = change.inputs
    if inputs is None or inputs.old is None or inputs.new is None or not len(inputs.points):
        return None
    differ, _, _ = classify_changes(inputs.border, inputs.old, inputs.new)
    changed = differ & ~inputs.near
    answers = to_label_keys(inputs.old.to_objects())
    old_leads = _find_leads(change.old, inputs.old, change, answers)
    new_leads = _find_leads(change.new, inputs.new, change, answers)
    if tolerance is not None and new_leads is not None:
        changed &= ~(np.abs(new_leads) <= tolerance)
    margins = old_leads if old_leads is not None else new_leads
    losses = None if old_leads is None or new_leads is None else old_leads - new_leads
    return judge_changes(inputs.points, changed, None if margins is None else np.abs(margins), losses=losses, seed=seed)


def _find_leads(
    front: FrontData, outputs: Outputs, change: Difference, answers: npt.NDArray[np.object_]
) -> Floats | None:
    """Return how far the old answers are ahead in the scores of one of the systems; None if it has none."""
    assert change.inputs is not None
    if front.sut is None:
        leads = front.seed_leads
        return leads if leads is not None and len(leads) == len(outputs) else None
    if front.sut.labels is None or front.sut.score_kind is None:
        return None
    system = prefer_probabilities(front.sut)
    scored = query_quietly(front, ask(change.inputs.points, scores=True, note="comparing"), system)
    return None if scored is None else compute_leads(scored, system.labels, answers)


def describe_judgement(judgement: ChangeJudgement | None) -> str:
    """Return a judgement in one sentence."""
    if judgement is None:
        return (
            "The models were not queried, so only the places of the borders were compared, which shows large changes only. "
            "To see for which rows the answers changed: datamorphic compare OLD NEW DATA"
        )
    rows = f"{judgement.changed:,} of {pluralise(judgement.rows, 'real input')}"
    if judgement.groups:
        group = judgement.groups[0]
        return (
            f"{rows} get another answer, more than training again explains where {group.text}: {group.changed:,} of "
            f"{pluralise(group.all_changed, 'change')}."
        )
    if judgement.is_more_than_chance:
        return f"{rows} get another answer, more than training again with another seed explains."
    return f"{rows} get another answer, no more than training again with another seed explains."
