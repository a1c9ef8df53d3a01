"""Make mutants of a module from its source text, and import them from memory.

Only `load_module` runs code. Call it in a process that may hang or crash.
"""

from __future__ import annotations

import ast
import copy
import dis
import importlib.util
import inspect
import itertools
import linecache
import os
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from .._files import to_local_path
from .._text import format_short, suggest_name
from .._typing import FilePath, SeedLike
from .._validation import reject, to_generator, validate_integer
from ..errors import ArgumentError, DataError
from .operators import OPERATORS, AstChange, find_changes


@dataclass(frozen=True)
class ModuleSource:
    """The source text of a module, its name, its package and its file."""

    text: str = field(repr=False)
    name: str
    package: str = ""
    file: str = ""


@dataclass(frozen=True)
class SourceMutant:
    """A module with one place changed."""

    id: str
    operator: str
    line: int
    column: int
    before: str  # the source of the place
    after: str
    function: str  # the qualified name of the enclosing function; empty for none
    lines: tuple[int, int] = field(repr=False)
    at_import: bool = False  # whether the place is executed when the module is imported
    same_as: str = ""  # what has the same bytecode: "original", or the id of an earlier mutant
    # the shared original as bytes, and the replacement of a span of it, so that a mutant needs little memory
    _original: bytes = field(default=b"", repr=False)
    _span: tuple[int, int] = field(default=(0, 0), repr=False)
    _patch: bytes = field(default=b"", repr=False)

    @property
    def source(self) -> str:
        """The source text of the mutant, with the same line numbers as the original."""
        start, end = self._span
        return (self._original[:start] + self._patch + self._original[end:]).decode()

    def is_reached(self, lines: Collection[int]) -> bool:
        """Return whether the changed statement is executed."""
        first, last = self.lines
        return self.at_import or any(line in lines for line in range(first, last + 1))

    def __str__(self) -> str:
        location = f"line {self.line}" + (f" in {self.function}" if self.function else "")
        return f"{self.id} {self.operator} {location}: {format_short(self.before)} -> {format_short(self.after)}"


# -- reading ---------------------------------------------------------------------------------------------------


def read_program(module_or_path: ModuleType | FilePath) -> ModuleSource:
    """Return the source of a file ``*.py`` or of an imported module; no code is run."""
    if isinstance(module_or_path, ModuleType):
        file = getattr(module_or_path, "__file__", None) or ""
        spec = getattr(module_or_path, "__spec__", None)
        package = (spec.parent if spec else getattr(module_or_path, "__package__", "")) or ""
        name = spec.name if spec else module_or_path.__name__
        if not file.endswith(".py"):
            try:  # it may be in an archive or in memory
                return ModuleSource(_normalise_newlines(inspect.getsource(module_or_path)), name, package, file)
            except (OSError, TypeError):
                raise DataError(
                    f"The module {name} has no Python source: it is compiled or built in. Give a module written in Python."
                ) from None
        return replace(read_program(file), name=name, package=package)
    if not isinstance(module_or_path, str | os.PathLike) or not os.fspath(module_or_path):
        reject("program", "mutate", "a module or the path of a file *.py", module_or_path)
    path = to_local_path(module_or_path, "module")
    if path.suffix != ".py":
        raise DataError(f"{path} is not a Python source file. Expected a name that ends in .py.")
    try:
        text = importlib.util.decode_source(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except (SyntaxError, UnicodeError) as error:
        raise DataError(f"{path} cannot be decoded as text: {error}.") from None
    return ModuleSource(_normalise_newlines(text), path.stem, "", str(path))


def _normalise_newlines(text: str) -> str:
    """Return a text with the line breaks that Python counts."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def _parse(text: str, name: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, name, "exec", dont_inherit=True)
            return tree
    except SyntaxError as error:
        location = f", line {error.lineno}" if error.lineno else ""
        raise DataError(f"{name} is not valid Python{location}: {error.msg}.") from None
    except ValueError as error:  # null bytes, in some versions of Python
        raise DataError(f"{name} is not valid Python: {error}.") from None
    except (RecursionError, MemoryError):
        raise DataError(f"{name} is nested too deeply to be parsed.") from None


# -- making ----------------------------------------------------------------------------------------------------


def make_mutants(
    text: str,
    operators: str | Sequence[str] = "all",
    *,
    limit: int | None = None,
    seed: SeedLike = 0,
    name: str = "the text",
) -> list[SourceMutant]:
    """Return the mutants of a module, in the order of its source text.

    A mutant has the same id for any choice of operators and limit. Mutants with the bytecode of the original, or of an
    earlier mutant, are marked (`same_as`); with a `limit`, that many of the others are drawn. Messages call the module `name`.
    """
    if isinstance(operators, str):
        operators = list(OPERATORS) if operators == "all" else [operators]
    for operator in operators:
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise ArgumentError(f"There is no mutation operator {operator!r}. {suggest_name(operator, OPERATORS)}")
    if not isinstance(text, str):
        reject("text", "make_mutants", "the text of a module", text)
    text = _normalise_newlines(text)
    try:
        mutants = list(_iter_mutants(text, _parse(text, name)))
    except RecursionError:
        raise DataError(f"{name} is nested too deeply to be changed.") from None
    candidates = [mutant for mutant in mutants if mutant.operator in operators]
    if limit is None:
        return candidates
    limit = validate_integer("limit", "make_mutants", limit, 1)
    distinct = [mutant for mutant in candidates if not mutant.same_as]
    places = to_generator("seed", "make_mutants", seed).permutation(len(distinct))[:limit]
    return [distinct[place] for place in sorted(places)]


def _iter_mutants(text: str, tree: ast.Module) -> Iterator[SourceMutant]:
    original = text.encode()
    starts = [0, *itertools.accumulate(len(line) + 1 for line in original.split(b"\n"))]
    known_code: dict[int, dict[Any, str]] = {}  # by line, then by bytecode: the id
    for number, change in enumerate(find_changes(tree), 1):
        span, patch = _make_patch(change, original, starts)
        mutant = SourceMutant(
            id=f"v{number}",
            operator=change.operator,
            line=change.before.lineno,
            column=change.before.col_offset + 1,
            before=ast.unparse(change.before),
            after=ast.unparse(change.after),
            function=change.function,
            lines=change.lines,
            at_import=not change.deferred,
            _original=original,
            _span=span,
            _patch=patch,
        )
        first_line, code = _compile_bytecode(tree, mutant.line)
        known_code.setdefault(first_line, {code: "original"})
        with _apply_change(change):
            first_line, code = _compile_bytecode(tree, mutant.line)
        twin = known_code[first_line].setdefault(code, mutant.id)
        yield mutant if twin == mutant.id else replace(mutant, same_as=twin)


@contextmanager
def _apply_change(change: AstChange) -> Iterator[None]:
    """Change the tree within the ``with`` block."""
    parent, before, after = change.parent, change.before, change.after
    for name, value in ast.iter_fields(parent):
        if value is before:
            setattr(parent, name, after)
            yield
            setattr(parent, name, before)
        elif isinstance(value, list) and any(node is before for node in value):
            setattr(parent, name, [after if node is before else node for node in value])
            yield
            setattr(parent, name, value)


def _make_patch(change: AstChange, original: bytes, starts: list[int]) -> tuple[tuple[int, int], bytes]:
    """Return the span of bytes that a change replaces, and the replacement."""

    def find_end(node: ast.expr) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    before, after = change.before, change.after
    if isinstance(before, ast.AugAssign):  # only the operator, which directly follows the target
        old = _format_operator(before)
        start = original.index(old, find_end(before.target))
        return (start, start + len(old)), _format_operator(after)
    assert isinstance(after, ast.expr)
    start, stop = starts[before.lineno - 1] + before.col_offset, find_end(before)
    patch = ast.unparse(after).encode()
    lines = original[start:stop].count(b"\n")
    # the replacement may need parentheses for precedence, and to contain line breaks
    tight = isinstance(change.parent, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Attribute | ast.Subscript | ast.Await)
    if lines or (tight and not isinstance(after, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)):
        patch = b"(" + patch + b"\n" * lines + b")"
    return (start, stop), patch


def _format_operator(node: ast.AST) -> bytes:
    """Return the operator of an assignment."""
    if not isinstance(node, ast.AugAssign):
        return b"="
    plain = ast.AugAssign(ast.Name("a", ast.Store()), node.op, ast.Name("b", ast.Load()))
    return ast.unparse(plain).split()[1].encode()


def _compile_bytecode(tree: ast.Module, line: int) -> tuple[int, Any]:
    """Return the first line and the bytecode of the code around a line."""
    statements = _find_statements(tree.body, line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return statements[0].lineno, _make_signature(compile(ast.Module(statements, []), "", "exec", dont_inherit=True))


def _find_statements(body: list[ast.stmt], line: int) -> list[ast.stmt]:
    """Return the statements of a line; of a class only these."""
    statements = [node for node in body if node.lineno <= line <= (node.end_lineno or node.lineno)]
    if len(statements) > 1 or not isinstance(statements[0], ast.ClassDef):
        return statements
    class_part = copy.copy(statements[0])
    class_part.body = _find_statements(class_part.body, line)
    return [ast.copy_location(class_part, class_part.body[0])]


def _make_signature(value: object) -> object:
    """Return a value that is equal for equal code and ignores line numbers.

    Only used constants count, since the compiler leaves some that no instruction needs.
    """
    if isinstance(value, CodeType):
        names = (value.co_name, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        shape = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        steps: list[Any] = []
        high = 0  # from EXTENDED_ARG instructions before this one
        for step, low in zip(value.co_code[::2], value.co_code[1::2], strict=True):
            argument = high | low
            high = argument << 8 if step == dis.EXTENDED_ARG else 0
            steps.append((step, _make_signature(value.co_consts[argument]) if step in dis.hasconst else low))
        return tuple(steps), value.co_exceptiontable, names, shape
    if isinstance(value, tuple):
        return tuple(_make_signature(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(_make_signature(item) for item in value)
    return type(value), repr(value)


# -- importing -------------------------------------------------------------------------------------------------

_module_numbers = itertools.count(1)


@contextmanager
def load_module(source: str, name: str, package: str = "") -> Iterator[ModuleType]:
    """Run a source text as a module that is registered within the ``with`` block.

    It is in ``sys.modules`` under a unique name, so that its objects can be pickled, and its source is known to
    `linecache`, so that tracebacks show its lines. With a `package`, relative imports work.
    """
    module_name = f"{package}._mutant_{next(_module_numbers)}_{name.rpartition('.')[2]}".lstrip(".")
    file, text = f"<{module_name}>", _normalise_newlines(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(text, file, "exec", dont_inherit=True)
    module = ModuleType(module_name)
    module.__file__, module.__package__, module.__spec__ = (file, package, ModuleSpec(module_name, None, origin=file))
    linecache.cache[file] = (len(text), None, [line + "\n" for line in text.split("\n")], file)
    sys.modules[module_name] = module
    try:
        exec(code, module.__dict__)
        yield module
    finally:
        sys.modules.pop(module_name, None)
        linecache.cache.pop(file, None)
