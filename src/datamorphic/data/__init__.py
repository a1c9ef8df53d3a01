"""Data sets by name, and the coded subjects."""

from .sets import available, load

__all__ = ["available", "load"]
