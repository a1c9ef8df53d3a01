"""All checks of an audit."""

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

#: In the order in which they run: a check comes after the checks that it needs.
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
