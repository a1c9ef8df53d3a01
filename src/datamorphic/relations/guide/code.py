"""Write a relation, or a pattern that was derived, as a Python module with a test.

Everything that a user answered is written as a literal, or in a comment without line breaks, so that nothing in it can become
code.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...reporting.python_code import (
    format_comment,
    format_data,
    format_literal,
    format_module_folder,
    format_path,
    render_module,
    to_class_name,
    to_slug,
)
from ...reporting.text import to_one_line
from ...space.features import Categorical, Feature, Integer
from ...space.text_feature import Text
from ...systems.files import PICKLE_SUFFIXES, is_model_file, is_python_name
from ..patterns.pattern import ParentEdge, PatternKind
from ..patterns.relation import ChainedInput, InputPattern, OutputPattern, PatternRelation
from .parameters import read_parameters
from .steps import NONE
from .systems import TEST_CASES, GuidedSystem

LINE_CHARACTERS = 120  # that a formatter allows
MAX_LINE_CHARACTERS = 140  # that a linter allows
EXAMPLE_PREFIX = "example:"  # of the name of a system that ships with the package
CASES_NAME = "cases"  # the data of such a system
MAX_CLASS_CHARACTERS = 40
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
    model, module_folder = _format_model(system, folder)
    cases = _format_cases(system, folder)
    outcome = system.outcome
    if outcome is not None and not model.startswith("dm.wrap("):
        model = f"dm.wrap({model})"
    return render_module(
        "relation",
        "A metamorphic relation, written with `datamorphic guide`. Change it as you like.",
        [f"Run it with: pytest {to_one_line(file.name)}"],
        uses_here=any("HERE" in code for code in (module_folder, model, *cases)),
        module_folder=module_folder,
        model=model,
        outcome=outcome,
        outcome_comment=""
        if outcome is None
        else format_comment(
            f"The system under test answers the probability of {to_one_line(system.outcomes_text)}.", 0
        ),
        cases=cases,
        relation=[*_format_statement(relation), *format_relation_code(relation)],
        test_cases=TEST_CASES,
        seed=system.seed,
        tolerance=f", tolerated={format_literal(tolerated)}" if tolerated else "",
    )


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


def _format_model(system: GuidedSystem, folder: Path) -> tuple[str, str]:
    """Return the code of the system under test, and that of the folder of its module; empty if it needs none."""
    name = system.model_name
    if name.startswith(EXAMPLE_PREFIX):
        title, _, fault = name.removeprefix(EXAMPLE_PREFIX).partition(" with ")
        code = f"dm.data.example_systems[{format_literal(title)}]"
        return code + (f".with_fault({format_literal(fault)})" if fault else ""), ""
    if is_python_name(name):
        return f"dm.wrap({format_literal(name)})", ""
    if is_model_file(name):
        suffix = Path(name).suffix.lower()
        trust = ", trust=True" if system.trust and (suffix in PICKLE_SUFFIXES or suffix == ".skops") else ""
        return f"dm.wrap({format_path(name, folder)}{trust})", ""
    return f"pkgutil.resolve_name({format_literal(name)})", format_module_folder(name.partition(":")[0], folder)


def _format_cases(system: GuidedSystem, folder: Path) -> list[str]:
    """Return the lines that make the inputs."""
    name = system.data_name
    if name == NONE:
        features = [_format_feature(feature) for feature in system.subject.seeds.space.features]
        return format_call("CASES = ", "dm.Space", [f"[{', '.join(features)}]"])
    assert system.frame is not None
    names = system.input_names
    extra = [str(column) for column in system.frame.columns if column not in names]
    lines = [f"CASES = {'SYSTEM.cases' if name == CASES_NAME else format_data(name, folder)}"]
    if len(extra) > MAX_EXTRA_COLUMNS:
        lines += format_call("CASES = ", "CASES.filter", [format_literal(names)])
    elif extra:
        lines += format_call("CASES = ", "CASES.drop", [f"columns={format_literal(extra)}"])
    for column, (low, high) in system.ranges.items():
        literal = format_literal(column)
        lines.append(f"CASES = CASES[CASES[{literal}].between({format_literal(low)}, {format_literal(high)})]")
    return lines


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
    sides = []
    modules = {}
    for side, instance in (("input", pattern.input), ("output", pattern.output)):
        if instance is not None:
            base = type(instance).__name__
            modules[base] = f"datamorphic.relations.patterns.{side}s"
            fixed = list_fixed_parameters(instance).items()
            sides.append(
                {
                    "side": side,
                    "name": f"{to_class_name(pattern.name, 'New', MAX_CLASS_CHARACTERS)}{side.capitalize()}",
                    "base": base,
                    "parameters": [f"{name}: {_to_type(value)} = {format_literal(value)}" for name, value in fixed],
                }
            )
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
        *(f"{side['side']}s={side['name']}" for side in sides),
    ]
    return render_module(
        "pattern",
        "A pattern of metamorphic relations, derived with `datamorphic guide`. Change it as you like.",
        [f"Run it with: pytest {to_one_line(file.name)}"],
        modules,
        name=format_literal(pattern.name),
        sides=sides,
        pattern=format_call("PATTERN = ", "Pattern", arguments),
        children=format_literal(tuple(pattern.children)) if pattern.children else "",
    )


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


def _to_type(value: Any) -> str:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return "float" if kind is int else kind.__name__
    return "tuple[Any, ...]" if isinstance(value, tuple) else "Any"


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
