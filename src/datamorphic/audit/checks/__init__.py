"""The main job: everything that applies to a model, one page of findings."""

from __future__ import annotations

from ..check import Check
from .adequacy import ADEQUACY
from .answers import ANSWERS
from .borders import BASELINE, BORDERS
from .classes import CLASSES
from .declared import INVARIANT, MONOTONE, PROTECTED
from .health import BATCHES, REPEATS
from .learner import LEARNING
from .metamorphisms import METAMORPHISMS

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
    ADEQUACY,
    LEARNING,
)
