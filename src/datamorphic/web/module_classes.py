"""Find test systems in Python files without importing them."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from .._text import pluralise
from ..errors import UsageError
from .folder import ServedFolder

#: the decorators of morphisms, with their names for people
MORPHISM_DECORATORS = {
    "seed_maker": "seed maker",
    "datamorphism": "datamorphism",
    "executor": "executor",
    "metamorphism": "metamorphism",
    "case_filter": "filter",
    "set_filter": "filter",
    "case_metric": "metric",
    "set_metric": "metric",
    "analyser": "analyser",
}
MAX_MODULES_READ = 200
MAX_MODULE_BYTES = 500_000


@dataclass(frozen=True, kw_only=True)
class TestSystemClass:
    """A class of a module whose methods are marked as morphisms."""

    __test__ = False  # for pytest, which would collect it

    file: str  # relative to the folder
    name: str
    summary: str  # what it has, such as "1 executor, 4 datamorphisms"


def read_sources(folder: ServedFolder) -> list[tuple[str, str]]:
    """Return the modules of a folder that name a decorator of morphisms, each with its source."""
    sources: list[tuple[str, str]] = []
    for file in folder.list_modules()[:MAX_MODULES_READ]:
        try:
            path = folder.find_file(file)
            source = path.read_text(encoding="utf-8") if path.stat().st_size <= MAX_MODULE_BYTES else ""
        except (OSError, UnicodeError, UsageError):
            continue
        if any(name in source for name in MORPHISM_DECORATORS):
            sources.append((file, source))
    return sources


def find_classes(file: str, source: str) -> list[TestSystemClass]:
    """Return the classes of a source text that have morphisms. The source is parsed, and not run.

    Examples
    --------
    >>> find_classes("wine.py", "class RedWine:\\n    @dm.executor\\n    def classify(self, wine): ...")
    [TestSystemClass(file='wine.py', name='RedWine', summary='1 executor')]
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    marks_by_class: dict[str, dict[str, list[str]]] = {}  # then by method
    classes = []
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        marks: dict[str, list[str]] = {}
        for base in reversed(node.bases):
            marks |= marks_by_class.get(base.id, {}) if isinstance(base, ast.Name) else {}
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                marks[item.name] = _list_marks(item)
        marks_by_class[node.name] = marks
        counts = Counter(kind for kinds in marks.values() for kind in kinds)
        if counts and not node.name.startswith("_"):
            summary = ", ".join(pluralise(count, kind) for kind, count in counts.items())
            classes.append(TestSystemClass(file=file, name=node.name, summary=summary))
    return classes


def _list_marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the kinds of morphism that the decorators of a method name."""
    marks = []
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
        if name in MORPHISM_DECORATORS:
            marks.append(MORPHISM_DECORATORS[name])
    return marks
