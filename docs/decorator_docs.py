"""Let the reference show what is made at run time: the documentation of decorators, and the parameters of capabilities."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import griffe

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: griffe.ParameterKind.var_keyword,
}


class DecoratorDocs(griffe.Extension):
    """Show attributes made with ``MarkDecorator(kind, options, doc)``, methods made from others, and capabilities as they are called."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Set the docstring of an attribute, or make a function of it; griffe calls this for each."""
        value = attr.value
        maker = str(value.function) if isinstance(value, griffe.ExprCall) else ""
        if maker == "MarkDecorator":
            text = ast.literal_eval(str(value.arguments[-1]))
            attr.docstring = griffe.Docstring(inspect.cleandoc(text), parent=attr)
            attr.value = None  # readers do not need the constructor call
        elif maker == "make_strategy_command":
            method = griffe.Function(attr.name, lineno=attr.lineno, endlineno=attr.endlineno)
            attr.parent.set_member(attr.name, method)
            owner = getattr(importlib.import_module(attr.module.path), attr.parent.name)
            _describe(method, getattr(owner, attr.name))

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give a function that is decorated with ``@capability(...)`` the parameters of its options."""
        if any(str(decorator.value).startswith("capability(") for decorator in func.decorators):
            _describe(func, getattr(importlib.import_module(func.module.path), func.name))


def _describe(func: griffe.Function, function: Callable[..., Any]) -> None:
    """Give a function the documentation and the parameters that it has at run time."""
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
