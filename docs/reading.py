"""Lets the reference read what a mark says of itself: its words are an argument, not a docstring."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import griffe


class Marks(griffe.Extension):
    """Gives attributes made with ``Marker(kind, options, doc)`` their `doc` as docstring."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Look at one attribute; griffe calls this for every one it reads."""
        value = attr.value
        if isinstance(value, griffe.ExprCall) and str(value.function) == "Marker":
            words = ast.literal_eval(str(value.arguments[-1]))
            attr.docstring = griffe.Docstring(inspect.cleandoc(words), parent=attr)
            attr.value = None  # how it is made is of no use to a reader
