"""The main job: everything that applies to a model, one page of findings."""

from __future__ import annotations

from .adequacy import ADEQUACY
from .borders import BASELINE, BORDERS
from .checks import Check
from .declared import INVARIANT, MONOTONE, PROTECTED
from .health import ANSWERS, BATCHES, CLASSES, REPEATS
from .learning import LEARNING
from .systems import METAMORPHISMS

#: in the order they are made: what others stand on first
CHECKS: tuple[Check, ...] = (
    REPEATS,
    ANSWERS,
    *BATCHES,
    MONOTONE,
    INVARIANT,
    PROTECTED,
    METAMORPHISMS,
    BORDERS,
    CLASSES,
    BASELINE,
    LEARNING,
    ADEQUACY,
)
