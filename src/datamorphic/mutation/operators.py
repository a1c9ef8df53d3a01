"""Mutation operators: all changes of one place of a syntax tree.

The names are those of the literature: AOR, ROR, COR, SOR, LOR and ASR replace arithmetic, relational, conditional,
shift, logical and augmented assignment operators; CRP replaces constants, RSR returned values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

OPERATORS = {
    "AOR": "arithmetic operator replaced, or a minus dropped",
    "ROR": "relational operator replaced",
    "COR": "and, or, not: replaced, dropped or added",
    "SOR": "shift operator replaced",
    "LOR": "bitwise logical operator replaced or dropped",
    "ASR": "augmented assignment replaced, also by a plain one",
    "CRP": "constant replaced",
    "RSR": "returned value replaced",
}

#: the replacements of each operator: those of C and Java by all others, Python's own also by related ones
_BINARY_OPERATORS: dict[str, dict[type[ast.operator], tuple[type[ast.operator], ...]]] = {
    "AOR": {
        ast.Add: (ast.Sub, ast.Mult, ast.Div, ast.Mod),
        ast.Sub: (ast.Add, ast.Mult, ast.Div, ast.Mod),
        ast.Mult: (ast.Add, ast.Sub, ast.Div, ast.Mod, ast.Pow),
        ast.Div: (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod),
        ast.FloorDiv: (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod),
        ast.Mod: (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv),
        ast.Pow: (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod),
        ast.MatMult: (ast.Mult,),
    },
    "SOR": {ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,)},
    "LOR": {
        ast.BitAnd: (ast.BitOr, ast.BitXor),
        ast.BitOr: (ast.BitAnd, ast.BitXor),
        ast.BitXor: (ast.BitAnd, ast.BitOr),
    },
}
_ORDER_OPERATORS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_OPPOSITE_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_DROPPABLE_OPERATORS: dict[type[ast.unaryop], str] = {ast.USub: "AOR", ast.Invert: "LOR", ast.Not: "COR"}
#: expressions that may be numbers
_NUMERIC_NODES = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Await)
#: fields that are not mutated: annotations, decorators, base classes, patterns of a match
_IGNORED_FIELDS = {"annotation", "returns", "decorator_list", "bases", "type_params", "pattern"}


@dataclass(frozen=True, eq=False)
class AstChange:
    """One place of a syntax tree, and its replacement in the mutant."""

    operator: str
    before: ast.expr | ast.AugAssign
    after: ast.expr | ast.AugAssign | ast.Assign
    parent: ast.AST
    function: str  # the qualified name of the enclosing function
    lines: tuple[int, int]  # the first and last line of the statement, or of the head of a compound statement
    deferred: bool  # whether it is not executed on import


@dataclass(frozen=True)
class _NodeContext:
    parent: ast.AST
    function: str = ""
    lines: tuple[int, int] = (1, 1)
    local: tuple[str, ...] = ()
    deferred: bool = False


def find_changes(tree: ast.Module) -> list[AstChange]:
    """Return all changes of a module, by line, column and operator.

    Not changed are annotations, decorators, docstrings, f-strings, ``__all__``, code that only runs for a type checker or as
    a script, the function ``learners`` and properties ``like``, which say what is to be tested.
    """
    order = list(OPERATORS)
    return sorted(
        _walk(tree, _NodeContext(tree)),
        key=lambda change: (change.before.lineno, change.before.col_offset, order.index(change.operator)),
    )


def _walk(node: ast.AST, context: _NodeContext) -> Iterator[AstChange]:
    if _is_ignored(node, context):
        return
    if isinstance(node, ast.stmt | ast.ExceptHandler):
        context = replace(context, lines=_find_head_lines(node))
    inner = replace(context, parent=node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inner = replace(inner, function=f"{context.function}.{node.name}".lstrip("."), local=())
    body_context = inner
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        body_context = replace(inner, local=_list_local_names(node), deferred=True)
    for operator, before, after in _iter_replacements(node, context):
        if not hasattr(after, "lineno"):
            ast.fix_missing_locations(ast.copy_location(after, before))
        parent = context.parent if before is node else node
        yield AstChange(operator, before, after, parent, context.function, context.lines, context.deferred)
    if _to_number(node) is not None:
        return  # the constant in a negative number is not a place of its own
    for field, value in ast.iter_fields(node):
        if field in _IGNORED_FIELDS or (field == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, body_context if field == "body" else inner)


def _is_ignored(node: ast.AST, context: _NodeContext) -> bool:
    """Return whether a node does not affect what is computed."""
    if isinstance(node, ast.FunctionDef):  # learners() and like say what is to be tested
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        return (node.name == "learners" and isinstance(context.parent, ast.Module)) or (
            node.name == "like" and "property" in decorators
        )
    if isinstance(node, ast.If):
        test = node.test.left if isinstance(node.test, ast.Compare) else node.test
        return ast.unparse(test).rpartition(".")[2] == "TYPE_CHECKING" or ast.unparse(test) == "__name__"
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
    # f-strings, template strings and type aliases; some of these nodes exist in newer versions of Python only
    return type(node).__name__ in ("JoinedStr", "TemplateStr", "TypeAlias")


def _find_head_lines(node: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.lineno, node.end_lineno or node.lineno
    first = body[0].pattern if isinstance(node, ast.Match) else body[0]
    return node.lineno, max(node.lineno, first.lineno - 1)


def _list_local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return the names of the arguments and variables of a function, sorted."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = {argument.arg for argument in arguments} - {"self", "cls"}
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        if not isinstance(node, (*scopes, *comprehensions)):
            pending += ast.iter_child_nodes(node)
    return tuple(sorted(names))


# -- the operators ---------------------------------------------------------------------------------------------

Replacement = tuple[str, ast.expr | ast.AugAssign, ast.expr | ast.AugAssign | ast.Assign]


def _iter_replacements(node: ast.AST, context: _NodeContext) -> Iterator[Replacement]:
    """Yield the replacements of a node, each with the name of the operator."""
    number = _to_number(node)
    if isinstance(node, ast.expr) and number is not None:
        for new in dict.fromkeys([number + 1, number - 1, type(number)(0), type(number)(1), -number]):
            if new != number:  # Python parses a negative number as a minus and a number
                yield "CRP", node, ast.Constant(new) if new >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-new))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "CRP", node, ast.Constant(not node.value)
    elif isinstance(node, ast.BinOp):
        yield from _replace_arithmetic(node)
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _DROPPABLE_OPERATORS:
        yield _DROPPABLE_OPERATORS[type(node.op)], node, node.operand
    elif isinstance(node, ast.Compare):
        yield from _replace_comparisons(node)
    elif isinstance(node, ast.BoolOp):
        yield "COR", node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.AugAssign):
        yield from _replace_assignment(node)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _replace_return_value(node.value, context)
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        yield from _negate([node.test])
    elif isinstance(node, ast.BoolOp):
        yield from _negate(node.values)
    elif isinstance(node, ast.comprehension):
        yield from _negate(node.ifs)


def _to_number(node: ast.AST | None) -> int | float | None:
    """Return the number that a node stands for; None if it is not a number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _to_number(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return None if isinstance(node.value, bool) else node.value
    return None


def _replace_arithmetic(node: ast.BinOp) -> Iterator[Replacement]:
    if _is_sequence(node.left) or _is_sequence(node.right):
        return  # sequences support + and * only; every other operator would just raise
    for name, table in _BINARY_OPERATORS.items():
        for operator in table.get(type(node.op), ()):
            yield name, node, ast.BinOp(node.left, operator(), node.right)


def _is_sequence(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return text or isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)


def _replace_comparisons(node: ast.Compare) -> Iterator[Replacement]:
    for place, comparison in enumerate(node.ops):
        kind = type(comparison)
        opposite = _OPPOSITE_OPERATORS.get(kind)
        for replacement in _ORDER_OPERATORS if opposite is None else (opposite,):
            if replacement is not kind:
                operators = [*node.ops[:place], replacement(), *node.ops[place + 1 :]]
                yield "ROR", node, ast.Compare(node.left, operators, node.comparators)


def _negate(conditions: list[ast.expr]) -> Iterator[Replacement]:
    """Yield conditions negated, unless another operator does that."""
    for condition in conditions:
        done = isinstance(condition, ast.Constant) or (isinstance(condition, ast.Compare) and len(condition.ops) == 1)
        if not done and not (isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)):
            yield "COR", condition, ast.UnaryOp(ast.Not(), condition)


def _replace_assignment(node: ast.AugAssign) -> Iterator[Replacement]:
    for table in _BINARY_OPERATORS.values():
        for operator in table.get(type(node.op), ()):
            yield "ASR", node, ast.AugAssign(node.target, operator(), node.value)
    yield "ASR", node, ast.Assign([node.target], node.value)


def _replace_return_value(value: ast.expr, context: _NodeContext) -> Iterator[Replacement]:
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        return
    yield "RSR", value, ast.Constant(None)
    # other operators change constants and conditions; only an expression that may be a number is negated
    is_self = isinstance(value, ast.Name) and value.id in ("self", "cls")
    if isinstance(value, _NUMERIC_NODES) and _to_number(value) is None and not is_self:
        yield "RSR", value, ast.Constant(0)
        yield "RSR", value, ast.UnaryOp(ast.USub(), value)
    if isinstance(value, ast.Name) and value.id in context.local:
        for name in context.local:
            if name != value.id:
                yield "RSR", value, ast.Name(name, ast.Load())
