"""All checks of an audit."""

from __future__ import annotations

from ..check import Check
from .adequacy import ADEQUACY
from .answers import ANSWERS
from .audio import SOUNDS
from .borders import BASELINE, BORDERS
from .classes import CLASSES
from .curves.check import CURVES
from .declared import INVARIANT, MONOTONE, PROTECTED
from .dependence import DEPENDENCE
from .drift.check import DRIFT
from .edges import EDGES
from .health import BATCHES, REPEATS
from .identifiers import DUPLICATES, IDENTIFIERS
from .image import PIXELS
from .interface import INTERFACE
from .leaks.check import LEAKS
from .learner import LEARNING
from .memorisation import MEMORISATION
from .metamorphisms import METAMORPHISMS
from .numbers import NUMBERS
from .recall import RECALL
from .repairs.check import REPAIRS
from .response.check import RESPONSE
from .scores import CALIBRATION, SCORES
from .slices import SLICES
from .suggestions import SUGGESTIONS
from .table.check import TABLE
from .text import TEXTS

#: In the order in which they run: cheap ones that tell much first, then what the user declared, then what takes many queries,
#: and at last what is about the test set and the algorithm. A check comes after the checks that it needs.
CHECKS: tuple[Check, ...] = (
    REPEATS,
    ANSWERS,
    *BATCHES,
    TABLE,
    DUPLICATES,
    IDENTIFIERS,
    SCORES,
    MONOTONE,
    INVARIANT,
    PROTECTED,
    METAMORPHISMS,
    LEAKS,
    PIXELS,
    SOUNDS,
    TEXTS,
    INTERFACE,
    EDGES,
    CURVES,
    DEPENDENCE,
    RESPONSE,
    REPAIRS,
    SLICES,
    DRIFT,
    NUMBERS,
    CALIBRATION,
    MEMORISATION,
    SUGGESTIONS,
    BORDERS,
    CLASSES,
    RECALL,
    BASELINE,
    ADEQUACY,
    LEARNING,
)
