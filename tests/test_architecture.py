"""The layout: which room imports which, no circles, unique class names, and a test for every module."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import datamorphic

PACKAGE = "datamorphic"
ROOT = Path(datamorphic.__file__).parent
TESTS = Path(__file__).parent

#: Modules that every room may import.
FOUNDATION = [
    "_text",
    "errors",
    "_registry",
    "_clock",
    "_files",
    "_tables",
    "_typing",
    "_validation",
    "_estimates",
    "_stats",
    "_deprecation",
    "_lazy",
    "_version",
]

#: Rooms from the core to the faces. A room imports only from rooms before it.
CORE = ["space", "systems", "runs", "reporting", "core", "morphisms"]
CAPABILITIES = [
    "exploration",
    "relations",
    "trees",
    "mutation",
    "hunting",
    "synthesis",
    "comparison",
    "audit",
    "data",
    "risk",
    "scripting",
]
FACES = ["studies", "results", "testing", "cli", "web", "__main__"]
ORDER = [*FOUNDATION, *CORE, *CAPABILITIES, *FACES]

#: Capabilities that build on another one. Everything else between capabilities is a mistake.
ALLOWED_BETWEEN_CAPABILITIES = {
    ("mutation", "relations"),  # relations kill the mutants of programs
    ("hunting", "relations"),  # groups are the cases of a relation
    ("synthesis", "exploration"),  # what a border is,
    ("synthesis", "trees"),  # and what a tree covers, are metrics of test sets
    ("comparison", "exploration"),  # borders of both models are compared,
    ("comparison", "relations"),  # and promises that one of them breaks
    ("audit", "comparison"),  # the baseline is judged as two models are,
    ("audit", "exploration"),  # the check-up explores borders,
    ("audit", "relations"),  # checks relations
    ("audit", "trees"),  # and judges test sets
    ("data", "relations"),  # programs carry their relations
    ("data", "mutation"),  # and their mutants
    ("risk", "relations"),  # what a model about people and money must keep,
    ("risk", "data"),  # on loan books
    ("scripting", "exploration"),  # scripts explore,
    ("scripting", "synthesis"),  # combine and optimise,
    ("scripting", "data"),  # and name the subjects that ship with the package
}

MAX_ARROWS = 155  # between folders

#: Words that are no names of modules: they do not say what the module holds.
UNCLEAR_MODULES = {
    "told",
    "shown",
    "asked",
    "asking",
    "standing",
    "unless",
    "stances",
    "further",
    "smaller",
    "given",
    "manners",
    "keeping",
    "words",
    "learned",
    "learning",
    "examining",
}


@cache
def find_modules() -> dict[str, Path]:
    """Map dotted module names to files."""
    modules = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = (PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


@cache
def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


#: Imports, wherever they are. To parse all files takes seconds.
IMPORT = re.compile(r"^ *(?:from (\.*)([\w.]*) import (\([^)]*\)|.+)|import (.+))$", flags=re.MULTILINE)
ALIAS = re.compile(r"([\w.]+)(?: as \w+)?(?:,|\s|\)|#.*|$)+")


@cache
def read_imports(path: Path) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return the imports of a file: how many folders up, from which module, and which names."""
    return [
        (len(dots), source, tuple(ALIAS.findall(re.sub(r"#.*", "", names or modules).strip("()"))))
        for dots, source, names, modules in IMPORT.findall(read_text(path))
    ]


@cache
def find_imports(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports: anywhere in it, lazily or for types only."""
    path = find_modules()[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    imports = set()
    for level, source, names in read_imports(path):
        base = [*(package[: len(package) - level + 1] if level else []), *([source] if source else [])]
        for name in names:
            submodule = ".".join([*base, name])
            imports.add(submodule if submodule in find_modules() else ".".join(base))
    return frozenset(name for name in imports if name in find_modules()) - {module, PACKAGE}


@cache
def find_named_modules(module: str) -> frozenset[str]:
    """Return the modules that a module, or a table that it reads, names: ``"hunting.page:build_page"``, ``"readers.xgboost"``."""
    package = module if find_modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    path = find_modules()[module]
    tables = [table for name in re.findall(r'"(\w+\.toml)"', read_text(path)) for table in path.parent.rglob(name)]
    texts = re.findall(r"\"([\w.]+)[:\"]", "".join(map(read_text, [path, *tables])))
    names = {f"{base}.{text}" for text in texts for base in (PACKAGE, package)}
    return frozenset(names & find_modules().keys())


def find_room(module: str) -> str:
    return module.split(".")[1]


def find_arrows() -> dict[tuple[str, str], set[str]]:
    """Map pairs of rooms to the modules of the first that import from the second."""
    arrows = defaultdict(set)
    for module in find_modules():
        if module in (PACKAGE, f"{PACKAGE}.results"):  # lists of public names
            continue
        for imported in find_imports(module):
            if find_room(imported) != find_room(module):
                arrows[find_room(module), find_room(imported)].add(module)
    return dict(arrows)


def find_circles() -> list[set[str]]:
    """Return the strongly connected components of more than one module, by Tarjan's algorithm."""
    indices: dict[str, int] = {}
    lows: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(module: str) -> None:
        indices[module] = lows[module] = len(indices)
        stack.append(module)
        for imported in sorted(find_imports(module)):
            if imported not in indices:
                visit(imported)
                lows[module] = min(lows[module], lows[imported])
            elif imported in stack:
                lows[module] = min(lows[module], indices[imported])
        if lows[module] == indices[module]:
            component = set()
            while module not in component:
                component.add(stack.pop())
            if len(component) > 1:
                circles.append(component)

    for module in find_modules():
        if module != PACKAGE and module not in indices:
            visit(module)
    return circles


def test_every_room_has_a_place_in_the_order():
    rooms = {find_room(module) for module in find_modules() if module != PACKAGE}
    assert rooms <= set(ORDER), "add the room to ORDER and to ARCHITECTURE.md"


def is_allowed(here: str, there: str) -> bool:
    """Return whether modules of one room may import modules of another."""
    if here in CAPABILITIES and there in CAPABILITIES and here != there:
        return (here, there) in ALLOWED_BETWEEN_CAPABILITIES and ORDER.index(there) < ORDER.index(here)
    return there == here or ORDER.index(there) < ORDER.index(here)


def test_imports_point_to_earlier_rooms():
    wrong = [
        f"{module} may not import {imported}"
        for module in find_modules()
        if module != PACKAGE
        for imported in sorted(find_imports(module))
        if not is_allowed(find_room(module), find_room(imported))
    ]
    assert not wrong, "\n".join(wrong)


def test_allowed_arrows_between_capabilities_exist():
    unused = ALLOWED_BETWEEN_CAPABILITIES - set(find_arrows())
    assert not unused, f"nobody needs {unused}: remove them"


def test_rooms_depend_on_few_others():
    arrows = [arrow for arrow in find_arrows() if not set(arrow) & set(FOUNDATION)]
    assert len(arrows) <= MAX_ARROWS


def test_no_circles():
    circles = find_circles()
    assert not circles, "\n".join(", ".join(sorted(circle)) for circle in circles)


def test_the_import_reader_sees_lazy_and_typing_imports():
    assert f"{PACKAGE}.reporting.html" in find_imports(f"{PACKAGE}.reporting.export")  # in a method
    assert f"{PACKAGE}.reporting.document" in find_imports(f"{PACKAGE}.reporting.export")  # for types


def test_class_names_are_unique():
    places = defaultdict(list)
    for module, path in find_modules().items():
        for name in re.findall(r"^ *class (\w+)[(:]", read_text(path), flags=re.MULTILINE):
            places[name].append(module)
    repeated = {name: modules for name, modules in places.items() if len(modules) > 1}
    assert places
    assert not repeated


def test_no_folder_is_named_like_a_public_function():
    functions = {name for name in datamorphic.__all__ if not isinstance(getattr(datamorphic, name), type(datamorphic))}
    assert not functions & {path.name for path in ROOT.iterdir() if path.is_dir()}


def test_modules_have_clear_names():
    assert not {path.stem for path in find_modules().values()} & UNCLEAR_MODULES


UNCLEAR_VARIABLES = ("each", "found", "told", "said", "given", "kept", "made", "asked", "shown")
#: Names that users know: attributes of results, parameters of public functions and of methods that users override.
PUBLIC_VARIABLES = {
    ("Hunt", "kept"),
    ("Simulation", "found"),
    ("of", "given"),
    *((method, "made") for method in ("expected", "read_expected", "renamed", "change")),
}
#: What stands where one of these variables is assigned or declared, and in few other places.
UNCLEAR_VARIABLE = re.compile(rf"\b(?:{'|'.join(UNCLEAR_VARIABLES)})\b(?= *(?::?=[^=]|[-+*/|&]=|[:,)\]]| in\b))")


def find_unclear_variables(text: str) -> list[tuple[str, str]]:
    """Return (function or class, variable) for the variables and parameters whose names do not say what they hold."""
    variables = []

    def visit(node: ast.AST, owner: str) -> None:
        name = None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            owner = node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            name = node.name
        if name in UNCLEAR_VARIABLES:
            variables.append((owner, name))
        for child in ast.iter_child_nodes(node):
            visit(child, owner)

    if UNCLEAR_VARIABLE.search(text):  # or it need not be parsed
        visit(ast.parse(text), "")
    return variables


def test_no_formatting_is_skipped():
    for path in find_modules().values():
        assert "fmt: skip" not in read_text(path), path


def test_variables_are_named_after_what_they_hold():
    paths = [*find_modules().values(), *TESTS.rglob("*.py")]
    unclear = {
        f"{path.name}: {name} in {owner or 'the module'}"
        for path in paths
        for owner, name in find_unclear_variables(read_text(path))
        if (owner, name) not in PUBLIC_VARIABLES
    }
    assert not unclear, "\n".join(sorted(unclear))


def test_unclear_variables_are_found_wherever_they_are_bound():
    for line in (
        "made = 1",
        "a, made = b",
        "[made] = b",
        "made: int = 1",
        "made += 1",
        "made |= {1}",
        "if made := b: pass",
        "for i, made in b: pass",
        "[made for made in b]",
        "lambda *made: b",
        "def f(*, made=1): pass",
        "def f(**made): pass",
        "with b as made: pass",
        "try: pass\nexcept Exception as made: pass",
        "match b:\n    case [*made]: pass",
    ):
        assert [name for _, name in find_unclear_variables(line)] == ["made"], line
    assert find_unclear_variables("a.made = b(made=1) + made  # made: in vain") == []
    assert find_unclear_variables("class A:\n    def f(self, made): pass") == [("f", "made")]


def test_few_parameters_are_untyped():
    parameters = [
        annotation
        for path in find_modules().values()
        for signature in re.findall(r"^ *(?:async )?def \w+\((.*?)\)(?: -> .*)?:$", read_text(path), re.M | re.S)
        for annotation in re.findall(r"\b\w+: ([^,=]+)", signature)
    ]
    untyped = sum(annotation.strip() == "Any" for annotation in parameters)
    assert 0 < untyped < 0.04 * len(parameters), f"{untyped} of {len(parameters)} parameters are Any"


@pytest.mark.slow
def test_every_module_is_reached_by_a_test_of_its_room():
    """A module counts as reached if a test of its room imports it, or a module that imports it, directly or not."""
    public = {name: f"{PACKAGE}.{home or name}" for name, home in datamorphic._MODULES.items()}
    missing = []
    for room in (name for name in ORDER if (ROOT / name).is_dir()):
        reached = set()
        for path in [
            *(TESTS / room).rglob("*.py"),
            *(TESTS / "integration").rglob("*.py"),
            *(TESTS / "quality").rglob("*.py"),
        ]:
            reached.update(public.get(name, "") for name in re.findall(r"\bdm\.(\w+)", read_text(path)))
            for _, source, names in read_imports(path):
                if source.startswith(PACKAGE):
                    reached |= {source, *(f"{source}.{name}" for name in names)}
            if "datamorphic" in read_text(path) and room == "cli":
                reached.add(f"{PACKAGE}.cli.main")
        queue = [module for module in reached if module in find_modules() and module != PACKAGE]
        seen = set(queue)
        while queue:
            module = queue.pop()
            for imported in find_imports(module) | find_named_modules(module):
                if imported not in seen:
                    seen.add(imported)
                    queue.append(imported)
        missing += [
            module
            for module, path in find_modules().items()
            if module.startswith(f"{PACKAGE}.{room}.") and path.name != "__init__.py" and module not in seen
        ]
    assert not missing


#: Lines that write a file past `_files`, which keeps the previous file if writing fails.
FILE_WRITING = re.compile(
    r"""\.write_(?:text|bytes)\(|\bopen\([^)\n]*["'][wax]b?\+?["']|\bos\.(?:replace|rename)\(|shutil\.(?:copy|move)"""
    r"|\.(?:write_table|savez|to_pickle|to_(?:csv|parquet)(?=\([^)\n]*index))\b|\b(?:json|joblib|pickle)\.dump\("
)
#: Modules with such lines: what they write is not a file that anybody keeps.
OTHER_WRITERS = {
    "datamorphic.systems.router": "files in a temporary folder",
    "datamorphic.web.worker": "the streams of a process, and /proc",
    "datamorphic.web.workspaces": "the draft that `write_file` gives to a function",
    "datamorphic.runs.journal": "a digest",
}


def test_one_module_writes_all_files():
    lines = [
        f"{module}: {line.strip()}"
        for module, path in find_modules().items()
        for line in read_text(path).splitlines()
        if FILE_WRITING.search(line) and "write_file(" not in line and ">>>" not in line
        if module != f"{PACKAGE}._files" and module not in OTHER_WRITERS
    ]
    assert lines == []
