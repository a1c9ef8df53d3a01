"""Let the reference show what is made at run time: the documentation of decorators, and the parameters of capabilities."""

from __future__ import annotations

import ast
import importlib
import inspect
from typing import Any

import griffe

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
}


class DecoratorDocs(griffe.Extension):
    """Give attributes made with ``MarkDecorator(kind, options, doc)`` their `doc`, and capabilities their parameters."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Set the docstring of one attribute; griffe calls this for each."""
        value = attr.value
        if isinstance(value, griffe.ExprCall) and str(value.function) == "MarkDecorator":
            text = ast.literal_eval(str(value.arguments[-1]))
            attr.docstring = griffe.Docstring(inspect.cleandoc(text), parent=attr)
            attr.value = None  # readers do not need the constructor call

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give a function that is decorated with ``@capability(...)`` the parameters of its options."""
        if not any(str(decorator.value).startswith("capability(") for decorator in func.decorators):
            return
        function = getattr(importlib.import_module(func.module.path), func.name)
        func.docstring = griffe.Docstring(inspect.getdoc(function) or "", parent=func)
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    parameter.name,
                    annotation=str(parameter.annotation),
                    kind=KINDS[parameter.kind],
                    default=None if parameter.default is parameter.empty else repr(parameter.default),
                )
                for parameter in inspect.signature(function).parameters.values()
            )
        )
