"""`Pattern`: an entry of the catalogue of metamorphic relation patterns."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..._text import suggest_name
from ..._validation import validate_choice
from ...errors import ArgumentError

if TYPE_CHECKING:
    from .relation import InputPattern, OutputPattern, PatternRelation

PatternKind = Literal["MRP", "MRIP", "MROP"]
Side = Literal["input", "output"]
SIDES: tuple[Side, ...] = ("input", "output")

#: what the three kinds of patterns are
KINDS: dict[str, str] = {
    "MRP": "relation pattern: inputs and outputs",
    "MRIP": "input pattern: how follow-up inputs come from source inputs",
    "MROP": "output pattern: how the outputs relate",
}


@dataclass(frozen=True)
class ParentEdge:
    """The link from a pattern to a more abstract one."""

    parent: str
    inferred: bool = False  # whether we inferred it; otherwise the words of Ying (2024, chapter 6) state it
    source: str = ""  # the section that states it, or the reason for inferring it


@dataclass(frozen=True, kw_only=True)
class PatternParameter:
    """A parameter of an executable pattern, for documentation and for the guide."""

    name: str
    help: str
    type: str  # as annotated
    required: bool
    default: Any = None


@dataclass(frozen=True, kw_only=True)
class PatternExample:
    """A relation that follows from a pattern, with a system that satisfies it and a fault that violates it.

    The system is one of ``dm.data.example_systems``, by name.
    """

    relation: PatternRelation
    system: str
    fault: str  # the name of the fault of that system which violates the relation


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A pattern of metamorphic relations: what many relations have in common.

    Attributes
    ----------
    name : str
        As in the literature.
    kind : {"MRP", "MRIP", "MROP"}
        A pattern of whole relations (MRP), of inputs (MRIP), or of outputs (MROP).
    scope : str
        The systems it was proposed for. It may fit others, too.
    definition : str
        What its relations have in common, in one sentence.
    edges : tuple of ParentEdge
        Its more abstract patterns.
    reference : str
        Who proposed it.

    Examples
    --------
    >>> import datamorphic as dm
    >>> pattern = dm.patterns["Conjunctive Conditions"]
    >>> pattern.kind, pattern.scope, pattern.parents
    ('MRP', 'query-based systems', ('Subset',))
    """

    name: str
    kind: PatternKind
    scope: str
    definition: str
    reference: str
    edges: tuple[ParentEdge, ...] = ()
    inputs: type[InputPattern] | None = None  # makes its input patterns
    outputs: type[OutputPattern] | None = None  # makes its output patterns
    partners: tuple[str, ...] = ()  # patterns whose other side usually goes with it
    examples: tuple[PatternExample, ...] = ()
    note: str = ""  # what to know about it, such as a misprint

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of its more abstract patterns."""
        return tuple(edge.parent for edge in self.edges)

    def input(self, **parameters: Any) -> InputPattern:
        """Return an input pattern with parameters; see `parameters`.

        Examples
        --------
        >>> import datamorphic as dm
        >>> dm.patterns["Additive"].input(columns=("x",), amount=2.5).describe()
        'x is increased by 2.5'
        """
        if self.inputs is None:
            raise ArgumentError(
                f"{self.name} says nothing about inputs. Use the input pattern of another one: {_list_names(self.partners)}."
            )
        return self.inputs(**self._check(parameters, "input"))

    def output(self, **parameters: Any) -> OutputPattern:
        """Return an output pattern with parameters; see `parameters`.

        Examples
        --------
        >>> import datamorphic as dm
        >>> dm.patterns["Similar"].output(at_least=0.9).describe()
        'the answers are the same or similar (at least 0.9)'
        """
        if self.outputs is None:
            raise ArgumentError(
                f"{self.name} says nothing about outputs. Use the output pattern of another one: {_list_names(self.partners)}."
            )
        return self.outputs(**self._check(parameters, "output"))

    def parameters(self, side: Side) -> list[PatternParameter]:
        """Return the parameters of `input` or `output`.

        Examples
        --------
        >>> import datamorphic as dm
        >>> [(p.name, p.required) for p in dm.patterns["Conjunctive Conditions"].parameters("input")]
        [('column', True), ('values', True), ('unset', False)]
        """
        validate_choice("side", "Pattern.parameters", side, ("input", "output"))
        maker = self.inputs if side == "input" else self.outputs
        if maker is None:
            return []
        parameters = []
        for item in dataclasses.fields(maker):
            required = item.default is dataclasses.MISSING
            parameters.append(
                PatternParameter(
                    name=item.name,
                    help=item.metadata.get("help", ""),
                    type=str(item.type),
                    required=required,
                    default=None if required else item.default,
                )
            )
        return sorted(parameters, key=lambda parameter: not parameter.required)

    def _check(self, parameters: dict[str, Any], side: Side) -> dict[str, Any]:
        known = self.parameters(side)
        names = [parameter.name for parameter in known]
        for name in parameters:
            if name not in names:
                raise ArgumentError(
                    f"The {side} pattern of {self.name} has no parameter {name!r}. {suggest_name(name, names)}"
                )
        for parameter in known:
            if parameter.required and parameter.name not in parameters:
                raise ArgumentError(
                    f"The {side} pattern of {self.name} needs the parameter {parameter.name}. {parameter.help}"
                )
        return parameters

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, {self.scope}): {self.definition}"


def _list_names(names: tuple[str, ...]) -> str:
    return ", ".join(f"dm.patterns[{name!r}]" for name in names) or "`datamorphic patterns` lists them"
