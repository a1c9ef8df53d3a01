"""One relation put to one learner for an assert: fitted again and again, told in words, and remembered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, plural, short
from ..errors import ArgumentError, DataError
from ..relations.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from ..relations.learners import Learned, LearnerRelation, Training, check_learner
from ..relations.necessity import Stance
from ..relations.necessity import stance as stance_of
from ..space.describe import value_from_json, value_to_json
from ..strategies.flow import Budget
from .holding import Held
from .replaying import Memory

if TYPE_CHECKING:
    import pandas as pd

    from ..runs.failures import Failure

ROWS = 50  # of a training set: as in the study of the relations, and quick
CASES = 20  # test cases of a training set
CHANCE = 0.001  # how likely chance alone may make two distributions look different
MOST_TRIES = 40  # of smaller training sets
SHOWN = 12  # training rows of an example that are shown


@dataclass(frozen=True)
class Trial:
    """A training set and the number that a check of it starts from: the same again gives the same verdict."""

    data: Training
    seed: int


def trials(data: Any, target: str | None, cases: int, seed: int) -> Iterator[Trial]:
    """Yield training sets with test cases, `cases` in all: parts of the data, or random ones where none are given."""
    rng = np.random.default_rng(seed)
    made = random_training if data is None else _parts(data, target)
    while cases > 0:
        training = made(rng, min(cases, CASES))
        cases -= len(training.t)
        yield Trial(training, int(rng.integers(2**31)))


def random_training(rng: np.random.Generator, cases: int) -> Training:
    """Return the random data of the study: up to 50 rows of 4 numbers from 1 to 20, with labels L0, L1, L2 by chance."""
    import pandas as pd

    rows = int(rng.integers(20, ROWS + 1))
    frame = pd.DataFrame(rng.uniform(1, 20, (rows + cases, 4)), columns=["a0", "a1", "a2", "a3"])
    labels = np.array(["L0", "L1", "L2"])[rng.integers(3, size=rows)]
    return Training(frame[:rows], labels, frame[rows:].reset_index(drop=True))


def _parts(data: Any, target: str | None) -> Any:
    """Return a function that draws training sets from labelled data."""
    if not hasattr(data, "columns") or target is None:
        raise ArgumentError(
            "A relation about learning needs labelled data: give a frame, and target= to name the column of its labels."
        )
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {did_you_mean(target, data.columns)}")
    x, y = data.drop(columns=[target]).reset_index(drop=True), data[target].to_numpy()
    if len(x) < 2:
        raise DataError(
            f"A learner needs rows to learn from and a case to label. The data have {plural(len(x), 'row')}."
        )

    def part(rng: np.random.Generator, cases: int) -> Training:
        order = rng.permutation(len(x))
        tested = order[: min(cases, len(x) // 2)]
        rows = order[len(tested) : len(tested) + max(ROWS, len(x) // 2)]
        return Training(x.iloc[rows].reset_index(drop=True), y[rows], x.iloc[tested].reset_index(drop=True))

    return part


def held_by_learner(
    relation: LearnerRelation,
    learner: Any,
    stance: Stance,
    memory: Memory,
    *,
    data: Any = None,
    target: str | None = None,
    cases: int,
    seed: int,
    budget: Any = None,
    shrink: bool = True,
) -> Held:
    """Put a relation to a learner: what violated it before first, then new training sets.

    Without `shrink` no smaller example is looked for, and nothing is kept: for promises that nobody has to keep.
    """
    name, began, limit = relation.name, time.monotonic(), Budget.parse(budget)
    strictness = "class_exact" if stance.strictness == "expected_failure" else stance.strictness
    statistical = strictness.endswith("_stat")

    def judged(trial: Trial) -> Learned:
        rng = np.random.default_rng(trial.seed)
        found = check_learner(learner, relation, trial.data, rng, strictness=strictness)
        if stance.necessary and found.count(VIOLATED) and _only_elsewhere(name, learner, trial.data):
            found.verdicts[found.verdicts == VIOLATED] = INAPPLICABLE  # on these very data nobody promises it
        return found

    known = [] if statistical or not shrink else [(each, _restored(each)) for each in memory.recall(name)]
    still = [(failure, trial, judged(trial)) for failure, trial in known if trial is not None]
    found: list[tuple[Trial, Learned]] = []
    spent, rows = False, sum(_rows(each) for *_, each in still)
    for trial in trials(data, target, cases, seed):
        found.append((trial, judged(trial)))
        rows += _rows(found[-1][1])
        spent = (limit.seconds is not None and time.monotonic() - began > limit.seconds) or (
            limit.runs is not None and rows >= limit.runs
        )
        if spent:
            break
    violated, judgeable = (sum(each.count(v) for _, each in found) for v in (VIOLATED, HOLDS))
    judgeable += violated
    smallest, note = None, ""
    if statistical:
        violated, note = _differ([each for _, each in found], strictness)
    elif violated and shrink:
        first = next((trial, each) for trial, each in found if each.count(VIOLATED))
        smallest = _smallest(judged, *first)
    replayed = [(trial, each) for _, trial, each in still if each.count(VIOLATED)]
    tried = [(failure, each.count(VIOLATED) > 0) for failure, _, each in still]
    memory.learn(name, tried, [] if smallest is None else _kept(smallest[0]))
    shown = replayed[0] if replayed else smallest
    notes = [
        note,
        f"{len(replayed)} of {len(tried)} replayed" if tried else "",
        "the budget is spent" if spent else "",
    ]
    messages = [each.message for _, each in found if each.message]
    return Held(
        relation=name,
        says=relation.says,
        system=learner_text(learner),
        cases=judgeable,
        violated=violated,
        undefined=sum(each.count(UNDEFINED) for _, each in found),
        calls=rows,
        seconds=time.monotonic() - began,
        example="" if shown is None else _example(*shown),
        silent=messages[0] if messages else "",
        tried=len(tried),
        replayed=len(replayed),
        note=", ".join(filter(None, notes)),
        remark="" if stance.necessary else f"Not every right learner of its kind keeps it: {stance.reason}.",
    )


def _only_elsewhere(relation: str, learner: Any, data: Training) -> bool:
    """Tell whether a relation is necessary for a learner, but not on these data."""
    return stance_of(relation, learner).necessary and not stance_of(relation, learner, data).necessary


def learner_text(learner: Any) -> str:
    """Return a learner as its author would write it, on one line, the same in every process; or else its type's name."""
    try:
        text = " ".join(repr(learner).split())
    except Exception:  # it has a name whatever it says of itself
        text = ""
    lasting = " at 0x" not in text  # no place in memory, which is another the next time
    return text if 0 < len(text) <= 80 and lasting else type(learner).__name__


def _rows(found: Learned) -> int:
    """Return how many rows were predicted."""
    return len(found.data.t) + sum(len(each.t) for each in found.made)


def _differ(found: list[Learned], strictness: str) -> tuple[int, str]:
    """Return how many cases must count as violations: all that changed, if more changed one way than chance explains."""
    from scipy import stats

    known = [(each, np.flatnonzero(each.verdicts <= VIOLATED)) for each in found]
    before = np.concatenate([np.empty(0, object), *(each.expected[rows] for each, rows in known)])
    after = np.concatenate([np.empty(0, object), *(each.after[rows] for each, rows in known)])
    chance = 1.0
    if strictness == "score_stat":
        pairs = [
            (each.scores_before[rows], each.scores_after[rows])
            for each, rows in known
            if each.scores_before is not None and each.scores_after is not None and len(rows)
        ]
        if pairs and len({each.shape[1] for pair in pairs for each in pair}) == 1:
            first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
            tests = [stats.ks_2samp(a, b).pvalue for a, b in zip(first.T, second.T, strict=True)]
            chance = min(1.0, min(tests) * len(tests))  # the best of several tests
    elif len(before):
        labels = sorted({*before.tolist(), *after.tolist()}, key=str)
        counts = np.array([[np.sum(each == label) for label in labels] for each in (before, after)])
        chance = float(stats.chi2_contingency(counts).pvalue) if len(labels) > 1 else 1.0
    changed = sum(each.count(VIOLATED) for each in found)
    return (changed if chance < CHANCE else 0), f"{changed:,} changed, judged by their distribution"


# -- the smallest example --------------------------------------------------------------------------------------


def _smallest(judged: Any, trial: Trial, found: Learned) -> tuple[Trial, Learned]:
    """Return a violation with one test case, and as few training rows and attributes as it takes."""
    row = int(np.flatnonzero(found.verdicts == VIOLATED)[0])
    best, learned = trial, found
    tries = 0

    def violates(data: Training) -> bool:
        nonlocal best, learned, tries
        tries += 1
        again = judged(Trial(data, trial.seed))
        if again.count(VIOLATED):
            best, learned = Trial(data, trial.seed), again
            return True
        return False

    violates(replace(trial.data, t=trial.data.t.iloc[[row]]))
    for shrink, axis in ((_with_rows, 0), (_with_columns, 1)):
        pieces = 2
        while tries < MOST_TRIES and (many := best.data.x.shape[axis]) > 1:
            parts = np.array_split(np.arange(many), min(pieces, many))
            if any(violates(shrink(best.data, np.setdiff1d(np.arange(many), part))) for part in parts):
                pieces = max(2, pieces - 1)
            elif pieces >= many:
                break
            else:
                pieces *= 2
    return best, learned


def _with_rows(data: Training, rows: npt.NDArray[np.intp]) -> Training:
    return replace(data, x=data.x.iloc[rows].reset_index(drop=True), y=data.y[rows])


def _with_columns(data: Training, columns: npt.NDArray[np.intp]) -> Training:
    return replace(data, x=data.x.iloc[:, columns], t=data.t.iloc[:, columns])


def _example(trial: Trial, found: Learned) -> str:
    """Return a violation in lines: what the learner was trained on, the case, its two labels."""
    row = int(np.flatnonzero(found.verdicts == VIOLATED)[0])
    data, made = trial.data, found.made[found.follow_up[row]]
    lines = [f"trained on {plural(len(data.x), 'row')} of {plural(data.x.shape[1], 'attribute')}"]
    if len(data.x) <= SHOWN:
        lines += [f"  {_case(data.x, i)}: {short(label)}" for i, label in enumerate(data.y)]
    lines += [
        f"case     {_case(data.t, row)}",
        f"answer   {_plain(found.before[row])}",
        f"then     trained on {plural(len(made.x), 'row')} of {plural(made.x.shape[1], 'attribute')}, changed as promised",
        f"expected {_plain(found.expected[row])}",
        f"becomes  {_plain(found.after[row])}",
    ]
    return "\n".join(lines)


def _plain(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _case(frame: pd.DataFrame, row: int, most: int = 8) -> str:
    values = list(frame.iloc[row].items())
    told = ", ".join(f"{name}={short(value)}" for name, value in values[:most])
    return told + (", ..." if len(values) > most else "")


# -- violations as the store has them --------------------------------------------------------------------------


def _kept(trial: Trial) -> list[dict[str, Any]]:
    try:
        x, t = (
            [[value_to_json(value) for value in row] for row in frame.astype(object).itertuples(index=False)]
            for frame in (trial.data.x, trial.data.t)
        )
        y = [value_to_json(label) for label in trial.data.y.tolist()]
    except DataError:  # values that no file can hold
        return []
    columns = [str(name) for name in trial.data.x.columns]
    return [{"columns": columns, "x": x, "y": y, "t": t, "seed": trial.seed}]


def _restored(failure: Failure) -> Trial | None:
    import pandas as pd

    try:
        case = failure.case
        x, t = (
            pd.DataFrame(
                [[value_from_json(value) for value in row] for row in case[part]], columns=case["columns"]
            )
            for part in ("x", "t")
        )
        return Trial(Training(x, np.array([value_from_json(label) for label in case["y"]]), t), int(case["seed"]))
    except Exception:  # whatever values that were meant for something else may raise
        return None
