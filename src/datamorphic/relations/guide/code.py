"""Write a relation, or a pattern that was derived, as a Python module with a test.

Everything that a user answered is written as a literal, or in a comment without line breaks, so that nothing in it can become
code.
"""

from __future__ import annotations

import keyword
import math
import re
import sys
import sysconfig
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...reporting.python_code import format_comment, format_literal, format_path, to_slug
from ...reporting.text import to_one_line
from ...space.features import Categorical, Feature, Integer
from ...space.table_files import find_csv_options
from ...space.text_feature import Text
from ...systems.files import PICKLE_SUFFIXES, is_model_file
from ..patterns.pattern import ParentEdge, PatternKind
from ..patterns.relation import ChainedInput, InputPattern, OutputPattern, PatternRelation
from .parameters import read_parameters
from .steps import NONE
from .systems import TEST_CASES, GuidedSystem

LINE_CHARACTERS = 120  # that a formatter allows
MAX_LINE_CHARACTERS = 140  # that a linter allows
EXAMPLE_PREFIX = "example:"  # of the name of a system that ships with the package
CASES_NAME = "cases"  # the data of such a system
MAX_EXTRA_COLUMNS = 20  # that are dropped by name; otherwise the inputs are listed


@dataclass(frozen=True, kw_only=True)
class DerivedPattern:
    """A pattern that was derived from one of the catalogue."""

    name: str
    kind: PatternKind
    scope: str
    definition: str
    way: str  # "lower", "raise" or "same": its abstraction, compared with the pattern it comes from
    edges: tuple[ParentEdge, ...]
    children: tuple[str, ...] = ()  # the patterns that it is more abstract than
    input: InputPattern | None = None  # whose parameters become part of the pattern
    output: OutputPattern | None = None

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "name": self.name,
            "kind": self.kind,
            "scope": self.scope,
            "definition": self.definition,
            "abstraction": self.way,
            "parents": [edge.parent for edge in self.edges],
            "children": list(self.children),
        }


# -- the relation ------------------------------------------------------------------------------------------------------


def format_relation_module(system: GuidedSystem, relation: PatternRelation, file: Path, tolerated: float = 0.0) -> str:
    """Return the module of a relation: the system, its inputs, the relation and the test."""
    folder = file.absolute().parent
    model_lines, uses_sys = _format_model(system, folder)
    data_lines, uses_pandas = _format_data(system, folder)
    uses_here = any("HERE" in line for line in [*model_lines, *data_lines])
    imports = [
        *(["import pkgutil"] if any("pkgutil." in line for line in model_lines) else []),
        *(["import sys"] if uses_sys else []),
        *(["from pathlib import Path"] if uses_here or any("Path(" in line for line in model_lines) else []),
    ]
    tolerance = f", tolerated={format_literal(tolerated)}" if tolerated else ""
    lines = [
        '"""A metamorphic relation, written with `datamorphic guide`. Change it as you like.',
        "",
        f"Run it with: pytest {to_one_line(file.name)}",
        '"""',
        "",
        *imports,
        *([""] if imports else []),
        "import datamorphic as dm",
        *(["import pandas as pd"] if uses_pandas else []),
        "",
        *(["HERE = Path(__file__).parent"] if uses_here else []),
        *(model_lines if uses_here else model_lines[1:]),
        *data_lines,
        "",
        *_format_statement(relation),
        *format_relation_code(relation),
        "",
        "",
        "def test_the_relation_holds():",
        '    """The system keeps the relation on cases that are drawn from the data."""',
        f"    dm.assert_holds(SYSTEM, CASES, RELATION, cases={TEST_CASES}, seed={system.seed}{tolerance})",
    ]
    return "\n".join(lines) + "\n"


def format_relation_code(relation: PatternRelation) -> list[str]:
    """Return the lines that build a relation from its patterns."""
    named = [
        format_literal(relation.name),
        f"promise={format_literal(relation.promise)}",
        f"domain={format_literal(relation.domain)}",
    ]
    if relation.needs:
        named.append(f"needs={format_literal(tuple(relation.needs))}")
    return [
        *format_call("CHANGE = ", *_format_side(relation.input, "input")),
        *format_call("EXPECTATION = ", *_format_side(relation.output, "output")),
        *format_call("RELATION = ", "(CHANGE >> EXPECTATION).named", named),
    ]


def _format_side(instance: InputPattern | OutputPattern, side: str) -> tuple[str, list[str]]:
    assert not isinstance(instance, ChainedInput)
    arguments = [f"{name}={format_literal(value)}" for name, value in read_parameters(instance).items()]
    return f"dm.patterns[{format_literal(instance.pattern)}].{side}", arguments


def format_call(start: str, function: str, arguments: Sequence[str]) -> list[str]:
    """Return a call as lines: on one line, else all arguments on the next line, else one argument per line.

    Examples
    --------
    >>> format_call("x = ", "f", ["a=1", "b=2"])
    ['x = f(a=1, b=2)']
    """
    line = f"{start}{function}({', '.join(arguments)})"
    if len(line) <= LINE_CHARACTERS:
        return [line]
    together = f"    {', '.join(arguments)}"
    if len(together) <= LINE_CHARACTERS:
        return [f"{start}{function}(", together, ")"]
    return [f"{start}{function}(", *(f"    {argument},{_exempt(argument)}" for argument in arguments), ")"]


def _exempt(argument: str) -> str:
    """Return the mark that lets a long literal stand, which cannot be broken."""
    return "  # noqa: E501" if len(argument) + 5 > MAX_LINE_CHARACTERS else ""


def _format_statement(relation: PatternRelation) -> list[str]:
    lines: list[str] = []
    for line in str(relation).split("\n"):
        start = "# " + " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(to_one_line(line), 110, initial_indent=start, subsequent_indent=start)
    return lines


# -- the system and its inputs -----------------------------------------------------------------------------------------


def _format_model(system: GuidedSystem, folder: Path) -> tuple[list[str], bool]:
    """Return the lines of the system under test, and whether they need the module sys."""
    name = system.model_name
    path_lines: list[str] = []
    if name.startswith(EXAMPLE_PREFIX):
        title, _, fault = name.removeprefix(EXAMPLE_PREFIX).partition(" with ")
        code = f"dm.data.example_systems[{format_literal(title)}]"
        code += f".with_fault({format_literal(fault)})" if fault else ""
    elif is_model_file(name):
        is_pickle = Path(name).suffix.lower() in PICKLE_SUFFIXES
        trust = ", trust=True" if system.trust and (is_pickle or Path(name).suffix.lower() == ".skops") else ""
        code = f"dm.wrap({format_path(name, folder)}{trust})"
    else:
        root = _find_module_root(name.partition(":")[0])
        if root is not None:
            path = format_path(str(root), folder)
            text = "str(HERE)" if root == folder else f"str({path})"
            path_lines = [f"sys.path.insert(0, {text})  # the folder of the module"]
        code = f"pkgutil.resolve_name({format_literal(name)})"
    if system.outcome is None:
        return [*path_lines, "", "# The system under test.", f"SYSTEM = {code}"], bool(path_lines)
    label = system.outcomes_text
    model_code = code if code.startswith("dm.wrap(") else f"dm.wrap({code})"
    return [
        *path_lines,
        "",
        f"MODEL = {model_code}",
        "",
        "",
        "def answer(frame):",
        '    """Return the probability of one class for every row."""',
        f"    return MODEL.execute(frame, scores=True).scores[:, {system.outcome}]",
        "",
        "",
        format_comment(f"The system under test answers the probability of {to_one_line(label)}.", 0),
        "SYSTEM = answer",
    ], bool(path_lines)


def _find_module_root(module: str) -> Path | None:
    """Return the folder from which a module was imported; None if it is installed, or was not imported."""
    origin = getattr(sys.modules.get(module), "__file__", None)
    if origin is None:
        return None
    file = Path(origin).absolute()
    root = file.parents[module.count(".") + (file.stem == "__init__")]
    return None if str(root) in sysconfig.get_paths().values() else root


def _format_data(system: GuidedSystem, folder: Path) -> tuple[list[str], bool]:
    """Return the lines of the inputs, and whether they need pandas."""
    name = system.data_name
    uses_pandas = False
    if name == NONE:
        features = [_format_feature(feature) for feature in system.subject.seeds.space.features]
        lines = format_call("CASES = ", "dm.Space", [f"[{', '.join(features)}]"])
        return ["", "# The inputs, from which cases are drawn.", *lines], False
    if name == CASES_NAME:
        code = "SYSTEM.cases"
    elif name.startswith("data:"):
        code = f"dm.data.load({format_literal(name.removeprefix('data:'))})"
    else:
        uses_pandas = True
        if name.lower().endswith((".parquet", ".pq")):
            code = f"pd.read_parquet({format_path(name, folder)})"
        else:
            options = "".join(f", {key}={format_literal(value)}" for key, value in _find_options(name).items())
            code = f"pd.read_csv({format_path(name, folder)}{options})"
    assert system.frame is not None
    names = system.input_names
    extra = [str(column) for column in system.frame.columns if column not in names]
    lines = [f"CASES = {code}"]
    if len(extra) > MAX_EXTRA_COLUMNS:
        lines += format_call("CASES = ", "CASES.filter", [format_literal(names)])
    elif extra:
        lines += format_call("CASES = ", "CASES.drop", [f"columns={format_literal(extra)}"])
    for column, (low, high) in system.ranges.items():
        literal = format_literal(column)
        lines.append(f"CASES = CASES[CASES[{literal}].between({format_literal(low)}, {format_literal(high)})]")
    return ["", "# The inputs, from which cases are drawn.", *lines], uses_pandas


def _find_options(name: str) -> dict[str, Any]:
    try:
        return find_csv_options(name)
    except (OSError, UnicodeError):  # the file was removed or replaced in the meantime
        return {}


def _format_feature(feature: Feature) -> str:
    name = format_literal(feature.name)
    if isinstance(feature, Text):
        return f"dm.Text({name})"
    if isinstance(feature, Categorical):
        return f"dm.Categorical({name}, {format_literal(list(feature.values))})"
    kind = "Integer" if isinstance(feature, Integer) else "Continuous"
    low, high = (round(end) if kind == "Integer" else end for end in (feature.low, feature.high))
    return f"dm.{kind}({name}, {format_literal(low)}, {format_literal(high)})"


# -- a derived pattern -------------------------------------------------------------------------------------------------


def format_pattern_module(pattern: DerivedPattern, file: Path) -> str:
    """Return the module of a derived pattern: its classes, its entry, the catalogue with it, and a test."""
    classes: list[str] = []
    sides: list[str] = []
    imports: list[str] = []
    uses_any = False
    for side, instance in (("input", pattern.input), ("output", pattern.output)):
        if instance is None:
            continue
        base, name = type(instance).__name__, f"{_to_class_name(pattern.name)}{side.capitalize()}"
        fixed = list_fixed_parameters(instance)
        types = {parameter: _to_type(value) for parameter, value in fixed.items()}
        uses_any = uses_any or any("Any" in kind for kind in types.values())
        imports.append(f"from datamorphic.relations.patterns.{side}s import {base}")
        sides.append(f"{side}s={name}")
        classes += [
            "@dataclass(frozen=True, kw_only=True)",
            f"class {name}({base}):",
            f'    """The {side} side of the pattern, with what is fixed about it."""',
            "",
            f"    pattern = {format_literal(pattern.name)}",
            *(f"    {parameter}: {types[parameter]} = {format_literal(value)}" for parameter, value in fixed.items()),
            "",
            "",
        ]
    edges = [
        f"ParentEdge({format_literal(edge.parent)}, True, {format_literal(edge.source)})" for edge in pattern.edges
    ]
    arguments = [
        f"name={format_literal(pattern.name)}",
        f"kind={format_literal(pattern.kind)}",
        f"scope={format_literal(pattern.scope)}",
        f"definition={format_literal(pattern.definition)}",
        'reference="derived with datamorphic guide"',
        *([f"edges=({', '.join(edges)},)"] if edges else []),
        *sides,
    ]
    dataclass_names = ["dataclass"] if classes else []
    dataclass_names += ["replace"] if pattern.children else []
    catalogue_imports = ["PatternCatalogue"] if pattern.children else []
    lines = [
        '"""A pattern of metamorphic relations, derived with `datamorphic guide`. Change it as you like.',
        "",
        f"Run it with: pytest {to_one_line(file.name)}",
        '"""',
        "",
        *([f"from dataclasses import {', '.join(dataclass_names)}"] if dataclass_names else []),
        *(["from typing import Any"] if uses_any else []),
        *([""] if dataclass_names or uses_any else []),
        "import datamorphic as dm",
        *(f"from datamorphic.relations.patterns.catalogue import {name}" for name in catalogue_imports),
        *sorted(imports),
        f"from datamorphic.relations.patterns.pattern import {'ParentEdge, ' if edges or pattern.children else ''}Pattern",
        *(["", ""] if classes else [""]),
        *classes,
        *format_call("PATTERN = ", "Pattern", arguments),
        *_format_catalogue(pattern),
        "",
        "",
        "def test_the_pattern_is_in_the_catalogue():",
        '    """The catalogue finds the pattern, below its super-patterns and above its sub-patterns."""',
        "    assert CATALOGUE[PATTERN.name] is PATTERN",
        "    for edge in PATTERN.edges:",
        "        assert PATTERN.name in CATALOGUE.find_children(edge.parent)",
        *(["    assert set(CHILDREN) <= set(CATALOGUE.find_children(PATTERN.name))"] if pattern.children else []),
    ]
    return "\n".join(lines) + "\n"


def list_fixed_parameters(instance: InputPattern | OutputPattern) -> dict[str, Any]:
    """Return the parameters that become part of a derived pattern: all that neither name columns nor are mappings.

    Examples
    --------
    >>> import datamorphic as dm
    >>> list_fixed_parameters(dm.patterns["Monotone"].input(columns=("score",), factor=1.1))
    {'factor': 1.1}
    """
    names = ("columns", "column", "text", "filter", "direction")
    is_input = isinstance(instance, InputPattern)
    return {
        name: value
        for name, value in read_parameters(instance).items()
        if not (is_input and name in names) and name != "column" and not isinstance(value, Mapping | list)
    }


def _format_catalogue(pattern: DerivedPattern) -> list[str]:
    if not pattern.children:
        return ["CATALOGUE = dm.patterns.add(PATTERN)"]
    return [
        f"CHILDREN = {format_literal(tuple(pattern.children))}",
        'EDGE = ParentEdge(PATTERN.name, True, "derived with datamorphic guide")',
        "CATALOGUE = PatternCatalogue(",
        "    [",
        "        *(",
        "            replace(known, edges=(*known.edges, EDGE)) if known.name in CHILDREN else known",
        "            for known in dm.patterns.values()",
        "        ),",
        "        PATTERN,",
        "    ]",
        ")",
    ]


def _to_type(value: Any) -> str:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return "float" if kind is int else kind.__name__
    return "tuple[Any, ...]" if isinstance(value, tuple) else "Any"


def _to_class_name(text: str) -> str:
    name = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", text))[:40]
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"New{name}"


def suggest_file(name: str, ending: str = "") -> str:
    """Return the name of the file of a relation.

    Examples
    --------
    >>> suggest_file("credit.HMR1")
    'test_credit_hmr1.py'
    """
    return f"test_{to_slug(name)}{ending}.py"


def round_up(share: float, digits: int = 3) -> float:
    """Return a share rounded up, so that today's violations are tolerated."""
    return math.ceil(share * 10**digits) / 10**digits
