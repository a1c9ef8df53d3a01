"""Data sets, coded classifiers, reference learners and programs."""

from .sets import available, load

__all__ = ["available", "load"]
