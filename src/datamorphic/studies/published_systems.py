"""The three case studies as they ran: test systems, strategies and models that differ from what is published.

The test systems work on rows of numbers, and categories are positions. What they do was read from the programs that the authors
publish, and from the figures in print; errata.csv says what differs in words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.learners import (
    BANK_CONTINUOUS,
    BANK_INTEGERS,
    BANK_ORDERS,
    MUSHROOM_LETTERS,
    WINE_STEPS,
    ignore_convergence_warnings,
    learns_from_part,
    make_reference_estimator,
    training_rows,
)
from ..data.sets import TARGET, load
from .early_regression import EarlyLogisticRegression
from .workload import Figures, Job, Scale, make_seed_sequence

Rows = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Answer = Callable[[Rows], npt.NDArray[Any]]

STEPS_PER_WALK = 20
MAX_HALVINGS_PER_PAIR = 20
FOLDS = 10

#: limits of the moves of wines, feature by feature
WINE_LOW = np.array([4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 8], dtype=float)
WINE_HIGH = np.array([16, 2, 2, 16, 1, 100, 300, 2, 5, 3, 18], dtype=float)
FREE_DIOXIDE, TOTAL_DIOXIDE = 5, 6  # columns of wines

UNKNOWN = "?"  # the stalk root of mushrooms that no model learned from
LOST_FEATURES = ("stalk-root", "stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "ring-type")
#: features of mushroom seeds of which one letter was kept, with its position
HALF_LOST_FEATURES = {"stalk-surface-below-ring": ("y", 8), "veil-color": ("o", 1), "ring-number": ("n", 4)}
#: positions of letters in the training rows that are others than in the seeds
TRAINING_POSITIONS = {"ring-number": {"t": 3}, "ring-type": {"l": 2, "n": 3, "p": 4}}


@dataclass(frozen=True, kw_only=True)
class PublishedSystem:
    """A test system on rows of numbers: seed cases, moves in numbered directions, and a midpoint."""

    seeds: Rows
    directions: int  # two per feature: up, down
    move: Callable[[Rows, Indices], Rows]
    find_midpoint: Callable[[Rows, Rows], Rows]


@cache
def make_system(data: str) -> PublishedSystem:
    """Return the test system of a case study."""
    return {"red_wine": _make_wines, "mushroom": _make_mushrooms, "bank_churners": _make_customers}[data]()


# -- red wine --------------------------------------------------------------------------------------------------------


def _make_wines() -> PublishedSystem:
    steps = np.array(list(WINE_STEPS.values()))

    def move(rows: Rows, directions: Indices) -> Rows:
        place = np.arange(len(rows)), directions // 2
        moved = rows.copy()
        value = rows[place] + np.where(directions % 2, -1, 1) * steps[place[1]]
        moved[place] = np.clip(value, WINE_LOW[place[1]], WINE_HIGH[place[1]])
        return moved

    def find_midpoint(a: Rows, b: Rows) -> Rows:
        middle = (a + b) / 2
        middle[:, TOTAL_DIOXIDE] = (a[:, TOTAL_DIOXIDE] + b[:, FREE_DIOXIDE]) / 2
        return middle

    seeds = load("red_wine")[list(WINE_STEPS)].to_numpy(float)
    return PublishedSystem(seeds=seeds, directions=2 * len(steps), move=move, find_midpoint=find_midpoint)


# -- mushrooms -------------------------------------------------------------------------------------------------------


def _find_position(column: str, letter: str, *, training: bool = False) -> float:
    """Return the position of a letter; an unknown one is at the first."""
    changed = TRAINING_POSITIONS.get(column, {}) if training else {}
    return changed.get(letter, max(0, MUSHROOM_LETTERS[column].replace(UNKNOWN, "").find(letter)))


def _read_seed(column: str, letter: str) -> float:
    """Return the code of a letter in the seed cases, most of which had lost features."""
    if column in LOST_FEATURES:
        return 0.0
    if column in HALF_LOST_FEATURES:
        known, code = HALF_LOST_FEATURES[column]
        return float(code if letter == known else 0)
    return _find_position(column, letter)


def _encode_mushrooms(frame: Any, encode: Callable[[str, str], float]) -> Rows:
    """Return mushrooms as numbers."""
    columns = []
    for column in MUSHROOM_LETTERS:
        codes = {letter: encode(column, letter) for letter in frame[column].unique()}
        columns.append(frame[column].map(codes).to_numpy(float))
    return np.column_stack(columns)


def _make_mushrooms() -> PublishedSystem:
    sizes = np.array([len(letters.replace(UNKNOWN, "")) for letters in MUSHROOM_LETTERS.values()])

    def move(rows: Rows, directions: Indices) -> Rows:
        place = np.arange(len(rows)), directions // 2
        moved, value = rows.copy(), rows[place]
        highest = np.maximum(sizes[place[1]] - 1, value)
        moved[place] = np.clip(value + np.where(directions % 2, -1, 1), 0, highest)
        return moved

    return PublishedSystem(
        seeds=_encode_mushrooms(load("mushroom"), _read_seed),
        directions=2 * len(sizes),
        move=move,
        find_midpoint=_mix_categories,
    )


def _mix_categories(a: Rows, b: Rows) -> Rows:
    """Return rows whose differing features are those of the second and of the first row, in turn."""
    differing = a != b
    return np.where(differing & (np.cumsum(differing, axis=1) % 2 == 1), b, a)


# -- customers of a bank ---------------------------------------------------------------------------------------------


def _encode_customers(frame: Any) -> Rows:
    columns = [
        frame[column].map({value: position for position, value in enumerate(order)}).to_numpy(float)
        for column, order in BANK_ORDERS.items()
    ]
    columns += [frame[column].to_numpy(float) for column in (*BANK_INTEGERS, *BANK_CONTINUOUS)]
    return np.column_stack(columns)


def _make_customers() -> PublishedSystem:
    numbers = np.array([*BANK_INTEGERS.values(), *BANK_CONTINUOUS.values()], dtype=float)
    first_integer, first_real = len(BANK_ORDERS), len(BANK_ORDERS) + len(BANK_INTEGERS)
    low = np.concatenate([np.zeros(first_integer), numbers[:, 0]])
    high = np.concatenate([[len(order) - 1 for order in BANK_ORDERS.values()], numbers[:, 1]])
    step = np.concatenate([np.ones(first_integer), numbers[:, 2]])
    kind = np.searchsorted([first_integer, first_real], np.arange(len(low)), side="right")

    def move(rows: Rows, directions: Indices) -> Rows:
        feature = directions // 2
        place = np.arange(len(rows)), feature
        moved = np.where(kind == kind[feature][:, None], rows, 0.0)  # features of the other kinds are reset
        value, upward = rows[place], directions % 2 == 0
        shifted = value + np.where(upward, 1, -1) * step[feature]
        inside = np.where(upward, np.minimum(shifted, high[feature]), np.maximum(shifted, low[feature]))
        category = np.where(
            upward, np.where(value < high[feature], shifted, value), np.where(value > 0, shifted, value)
        )
        moved[place] = np.where(feature < first_integer, category, inside)
        return moved

    def find_midpoint(a: Rows, b: Rows) -> Rows:
        middle = (a + b) / 2
        middle[:, first_integer:first_real] = np.trunc(middle[:, first_integer:first_real])
        middle[:, :first_integer] = _mix_categories(a[:, :first_integer], b[:, :first_integer])
        return middle

    seeds = _encode_customers(load("bank_churners"))
    seeds[:, list(BANK_ORDERS).index("Card_Category")] = 0
    seeds[:, first_integer:first_real] = np.trunc(seeds[:, first_integer:first_real])
    seeds[:, first_real:] = np.column_stack([seeds[:, -1], *[np.zeros(len(seeds))] * 2])  # all were read into the first
    return PublishedSystem(seeds=seeds, directions=2 * len(low), move=move, find_midpoint=find_midpoint)


# -- models ----------------------------------------------------------------------------------------------------------


@cache
def fit_model(data: str, model: str, fold_seed: int) -> Answer:
    """Return the answers of a model as the last round of its cross-validation left it."""
    from sklearn.model_selection import KFold

    frame = load(data)
    rows = training_rows(data, frame)[learns_from_part(model)]
    if data == "mushroom":
        inputs = _encode_mushrooms(rows, lambda column, letter: _find_position(column, letter, training=True))
    else:
        inputs = _encode_customers(rows) if data == "bank_churners" else rows[list(WINE_STEPS)].to_numpy(float)
    labels = rows[TARGET].to_numpy()
    *_, (training, _) = KFold(FOLDS, shuffle=True, random_state=fold_seed).split(inputs)
    with ignore_convergence_warnings():
        fitted = make_reference_estimator(model, regression=EarlyLogisticRegression).fit(
            inputs[training], labels[training]
        )
    answer: Answer = fitted.predict
    return answer


# -- strategies ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reenactment(Job):
    """An exploration of a case study by the published test system and tool."""

    strategy: str
    subject: str
    data: str
    walks: int

    printed_repetitions = 10

    @property
    def label(self) -> str:
        """The subject and its data."""
        return f"{self.subject} {self.data}, as originally run"

    @property
    def weight(self) -> int:
        """The number of walks."""
        return self.walks

    def repetitions(self, scale: Scale) -> int:
        """Return the number of repetitions, each with a model of its own."""
        return max(scale.slow, -(-scale.data_walks // self.walks))

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Explore and return the figures."""
        sequence = make_seed_sequence(self, seed, repetition)
        answer = fit_model(self.data, self.subject, MODELS_PER_STUDY * seed + repetition % MODELS_PER_STUDY)
        system, rng = make_system(self.data), np.random.default_rng(sequence)
        return EXPLORERS[self.strategy](system, answer, self.walks, rng)


MODELS_PER_STUDY = 20  # of each kind: further repetitions use them again


def explore_random_target(system: PublishedSystem, answer: Answer, walks: int, rng: np.random.Generator) -> Figures:
    """Return the figures of random target.

    An end is a mutant if refinement made it; the second one only if both are."""
    starts, targets = rng.integers(0, len(system.seeds), (2, walks))
    runs = len(np.unique([starts, targets]))
    a, b = system.seeds[starts], system.seeds[targets]
    answers = answer(a)
    unlike = answers != answer(b)
    halvings, new_a, new_b = _refine(system, answer, a[unlike], b[unlike], answers[unlike])
    return {"walks": walks, "runs": runs + halvings, "mutants": float(new_a.sum() + (new_a & new_b).sum())}


def explore_directed_walk(system: PublishedSystem, answer: Answer, walks: int, rng: np.random.Generator) -> Figures:
    """Return the figures of directed walks from rows in every direction; a walk ends where nothing moves."""
    rows = rng.choice(len(system.seeds), walks, replace=False)
    starts = np.repeat(rows, system.directions)
    directions = np.tile(np.arange(system.directions), walks)
    runs, mutants = _walk(system, answer, starts, lambda _, walking: directions[walking], ends_at_limits=True)
    return {"walks": len(starts), "runs": runs + walks, "mutants": mutants}


def explore_random_walk(system: PublishedSystem, answer: Answer, walks: int, rng: np.random.Generator) -> Figures:
    """Return the figures of random walks; one draw in n + 1 keeps the direction, which is the first one at the start."""
    starts = rng.integers(0, len(system.seeds) - 1, walks)
    directions = np.zeros(walks, dtype=np.intp)

    def choose_directions(step: int, walking: Indices) -> Indices:
        drawn = rng.integers(0, system.directions + 1, len(walking))
        directions[walking] = np.where(drawn < system.directions, drawn, directions[walking])
        return directions[walking]

    runs, mutants = _walk(system, answer, starts, choose_directions, ends_at_limits=False)
    return {"walks": walks, "runs": runs + len(np.unique(starts)), "mutants": mutants}


EXPLORERS = {
    "random_target": explore_random_target,
    "directed_walk": explore_directed_walk,
    "random_walk": explore_random_walk,
}


def _walk(
    system: PublishedSystem,
    answer: Answer,
    starts: Indices,
    choose_directions: Callable[[int, Indices], Indices],
    *,
    ends_at_limits: bool,
) -> tuple[float, float]:
    """Return the runs and the mutants of walks in lock step: ends of pairs that the walk or the refinement made."""
    places, walking = system.seeds[starts], np.arange(len(starts))
    answers = answer(places)
    runs, before, after, answers_before, moved_once = 0, [], [], [], []
    for step in range(STEPS_PER_WALK):
        moved = system.move(places[walking], choose_directions(step, walking))
        if ends_at_limits:
            moves = (moved != places[walking]).any(axis=1)
            walking, moved = walking[moves], moved[moves]
        if not len(walking):
            break
        runs += len(walking)
        changed = answer(moved) != answers[walking]
        pair = walking[changed]
        before.append(places[pair])
        after.append(moved[changed])
        answers_before.append(answers[pair])
        moved_once.append(np.full(len(pair), step > 0))
        places[walking] = moved
        walking = walking[~changed]
    if not before:
        return float(runs), 0.0
    a, b = np.concatenate(before), np.concatenate(after)
    halvings, new_a, new_b = _refine(system, answer, a, b, np.concatenate(answers_before))
    new_a |= np.concatenate(moved_once)
    return float(runs + halvings), float(new_a.sum() + len(new_b))


def _refine(
    system: PublishedSystem, answer: Answer, a: Rows, b: Rows, answers: npt.NDArray[Any]
) -> tuple[int, Mask, Mask]:
    """Return the runs of halving pairs until the midpoint is an end, and which first and second ends are new."""
    a, b = a.copy(), b.copy()
    new_a, new_b = np.zeros(len(a), dtype=bool), np.zeros(len(a), dtype=bool)
    runs, active = 0, np.arange(len(a))
    for _ in range(MAX_HALVINGS_PER_PAIR):
        middle = system.find_midpoint(a[active], b[active])
        inside = ((middle != a[active]).any(axis=1)) & ((middle != b[active]).any(axis=1))
        active, middle = active[inside], middle[inside]
        if not len(active):
            break
        runs += len(active)
        differs = answer(middle) != answers[active]
        b[active[differs]], a[active[~differs]] = middle[differs], middle[~differs]
        new_b[active[differs]] = True
        new_a[active[~differs]] = True
    return runs, new_a, new_b
