"""Let the reference show the documentation of decorators, which is an argument, not a docstring."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import griffe


class DecoratorDocs(griffe.Extension):
    """Give attributes made with ``MarkDecorator(kind, options, doc)`` their `doc` as docstring."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Set the docstring of one attribute; griffe calls this for each."""
        value = attr.value
        if isinstance(value, griffe.ExprCall) and str(value.function) == "MarkDecorator":
            text = ast.literal_eval(str(value.arguments[-1]))
            attr.docstring = griffe.Docstring(inspect.cleandoc(text), parent=attr)
            attr.value = None  # readers do not need the constructor call
