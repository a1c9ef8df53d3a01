"""All checks of an audit."""

from __future__ import annotations

from ..check import Check
from .adequacy import ADEQUACY
from .answers import ANSWERS
from .borders import BASELINE, BORDERS
from .classes import CLASSES
from .declared import INVARIANT, MONOTONE, PROTECTED
from .dependence import DEPENDENCE
from .health import BATCHES, REPEATS
from .identifiers import DUPLICATES, IDENTIFIERS, LEAKS
from .interface import INTERFACE
from .learner import LEARNING
from .memorisation import MEMORISATION
from .metamorphisms import METAMORPHISMS
from .response import RESPONSE
from .scores import CALIBRATION, SCORES
from .slices import SLICES
from .suggestions import SUGGESTIONS

#: In the order in which they run: a check comes after the checks that it needs.
CHECKS: tuple[Check, ...] = (
    REPEATS,
    ANSWERS,
    *BATCHES,
    DUPLICATES,
    IDENTIFIERS,
    LEAKS,
    INTERFACE,
    SCORES,
    CALIBRATION,
    SLICES,
    MEMORISATION,
    MONOTONE,
    INVARIANT,
    PROTECTED,
    DEPENDENCE,
    RESPONSE,
    METAMORPHISMS,
    SUGGESTIONS,
    BORDERS,
    CLASSES,
    BASELINE,
    ADEQUACY,
    LEARNING,
)
