"""The main job: everything that applies to a model, one page of findings."""

from __future__ import annotations

from .adequacy import ADEQUACY
from .answering import ANSWERS
from .borders import BASELINE, BORDERS
from .checks import Check
from .classes import CLASSES
from .declared import INVARIANT, MONOTONE, PROTECTED
from .health import BATCHES, REPEATS
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
    ADEQUACY,
    LEARNING,
)
