"""The names that a script may use with a test system.

Morphy's published scripts call seed makers, metrics, filters and analysers that belong to its examples: `RandomValue200`,
`ResetTestSuite`, `saveStatistics`. Besides the morphisms of the test system, a pool provides these for every test system
that does not declare its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .._text import suggest_name
from ..errors import TestSystemError
from ..morphisms.morphism import normalise_name
from ..morphisms.system import TestSystem
from ..systems.code_recorder import CODE_METRICS
from .commands import ALL, MAX_COUNT

RESET, STATISTICS, VIEW, HEAD, NEW_LINE = (
    "ResetTestSuite",
    "saveStatistics",
    "viewStatistics",
    "saveMessageHead",
    "saveMessageNL",
)
STOP = "stop_Invoker"
TIME, PLOT, PLOT_MUTANTS = "getTime", "visualiseAll", "visualiseMutants"
#: the names that every test system has, by kind of morphism
PROVIDED_NAMES: dict[str, tuple[str, ...]] = {
    "seed_maker": (RESET,),
    "analyser": (STATISTICS, VIEW, HEAD, NEW_LINE, STOP, TIME, PLOT, PLOT_MUTANTS),
    "set_metric": ("AvgDistance", "StdDistance", "LabelBalance", *CODE_METRICS),
    "set_filter": ("sparse", "dropDuplicates"),
    "case_filter": ("TooClose",),
}
FITNESS = "fitness"  # the kind of the metrics that an optimisation lets grow
MIDPOINT = "midpoint"  # the kind of the datamorphisms that make one case of two
#: the options of explore, combine and optimise that name morphisms, and of which kind
OPTION_MORPHISMS = {
    "moves": "datamorphism",
    "datamorphisms": "datamorphism",
    "filters": "set_filter",
    "metric": FITNESS,
}
#: the stock metrics of an optimisation, by the names that scripts may use
FITNESS_NAMES = {
    "AvgDistance": "mean_nearest_distance",
    "mean_nearest_distance": "mean_nearest_distance",
    "diversity": "mean_nearest_distance",
    "border_coverage": "border_coverage",
    "leaf_coverage": "leaf_coverage",
    "mutation_score": "mutation_score",
    "label_balance": "label_balance",
    **{name: name for name in CODE_METRICS},
}
#: names with a number in them, by kind of morphism
NUMBERED_NAMES = {
    "seed_maker": {
        "RandomValue<N>": re.compile(r"randomvalues?(\d{1,9})"),
        "Select<N>RandomTestCases": re.compile(r"select(\d{1,9})randomtestcases?"),
    }
}
_START = re.compile(r"start(.+)invoker")
MIDPOINT_NAMES = ("mid", "midpoint")
DEFAULT_STATISTICS_FILE = "ExpDataFile.csv"  # as published; where no message names another


@dataclass(frozen=True)
class ScriptName:
    """A morphism that a script names: declared, or provided by the pool."""

    name: str
    provided: bool = False
    number: int = 0  # of a numbered name


@dataclass(frozen=True, kw_only=True)
class NameBook:
    """The names of a test system."""

    system: TestSystem
    models: Sequence[str] = ()  # the models that start_<model>_Invoker starts
    aliases: dict[str, str] = field(default_factory=dict)  # other names of features, normalised

    _known: dict[tuple[str, str], ScriptName] = field(default_factory=dict, repr=False, compare=False)

    def find(self, kind: str, name: str) -> ScriptName:
        """Return the morphism of a name; raise `TestSystemError` if there is none."""
        key = kind, name
        if key not in self._known:
            self._known[key] = self._find(kind, name)
        return self._known[key]

    def _find(self, kind: str, name: str) -> ScriptName:
        if kind == "datamorphism":
            return self._find_datamorphism(name)
        if kind == MIDPOINT:
            return self._find_midpoint(name)
        if kind == FITNESS:
            return self._find_fitness(name)
        declared = self._list_declared(kind)
        if (match := _find_match(name, declared)) is not None:
            return ScriptName(match)
        key = normalise_name(name)
        if (match := _find_match(name, PROVIDED_NAMES.get(kind, ()))) is not None:
            return ScriptName(match, True)
        for text, pattern in NUMBERED_NAMES.get(kind, {}).items():
            if number := pattern.fullmatch(key):
                if int(number[1]) > MAX_COUNT:
                    raise TestSystemError(f"{name!r} asks for too many cases. At most {MAX_COUNT:,} are made at once.")
                return ScriptName(text, True, int(number[1]))
        if kind == "analyser" and (start := _START.fullmatch(key)):
            return ScriptName(self._find_model(start[1], name), True)
        known = [*declared, *PROVIDED_NAMES.get(kind, ()), *NUMBERED_NAMES.get(kind, {})]
        if kind == "analyser":
            known += [f"start_{model}_Invoker" for model in self.models]
        noun = kind.replace("_", " ")
        if not known:
            raise TestSystemError(
                f"{self.system.name} has no {noun} at all, so none named {name[:60]!r}. Mark a function with @{kind}."
            )
        raise TestSystemError(
            f"{self.system.name} has no {noun} named {name[:60]!r}. {suggest_name(name[:100], known)}"
        )

    def expand(self, kind: str, names: Iterable[str]) -> list[ScriptName]:
        """Return the morphisms of names; ALL is every declared one of the kind."""
        result: list[ScriptName] = []
        for name in names:
            if name.upper() == ALL:
                result += map(ScriptName, self._list_all(kind))
            else:
                result.append(self.find(kind, name))
        return result

    def expand_option(self, option: str, names: Iterable[str]) -> list[str]:
        """Return the morphisms that an option of explore, combine or optimise names."""
        entries = self.expand(OPTION_MORPHISMS[option], names)
        if option == "moves":
            entries = [entry for entry in entries if not self.is_midpoint(entry)]
            if not entries:
                raise TestSystemError(f"moves needs at least one move. {suggest_name('', self.list_moves())}")
        for entry in entries:
            if option == "filters" and entry.provided:
                raise TestSystemError(
                    f"{self.system.name} does not declare the filter {entry.name!r}. Use testSetFilter([{entry.name}]) instead."
                )
        return [entry.name for entry in entries]

    def is_midpoint(self, name: ScriptName) -> bool:
        """Return whether a datamorphism makes one case from two, so is not a move."""
        return name.name in self._list_midpoints()

    def _list_all(self, kind: str) -> list[str]:
        if kind == MIDPOINT:
            return self._list_midpoints()
        if kind == "datamorphism":
            has_moves = any(morphism.arity == 1 for morphism in self.system.datamorphisms.values())
            midpoints = [name for name in self._list_midpoints() if not has_moves or name in self.system.datamorphisms]
            return [*self.list_moves(), *midpoints]
        return self._list_declared(kind)

    def _list_declared(self, kind: str) -> list[str]:
        return list(getattr(self.system, "set_metrics" if kind == FITNESS else f"{kind}s"))

    def list_moves(self) -> list[str]:
        """Return the names of the moves, by default those of the space."""
        declared = [name for name, morphism in self.system.datamorphisms.items() if morphism.arity == 1]
        return declared or [f"{kind}_{feature}" for kind, feature in self.system.known_space().move_names]

    def _list_midpoints(self) -> list[str]:
        declared = [name for name, morphism in self.system.datamorphisms.items() if morphism.arity > 1]
        return declared or ["midpoint"]

    def _find_datamorphism(self, name: str) -> ScriptName:
        moves, midpoints = self.list_moves(), self._list_midpoints()
        if (match := _find_match(name, [*moves, *midpoints])) is not None:
            return ScriptName(match)
        key = normalise_name(name)
        if key in MIDPOINT_NAMES and (self.system.midpoint is not None or midpoints == ["midpoint"]):
            return ScriptName("midpoint" if self.system.midpoint is None else self.system.midpoint.name)
        for move in moves:  # derived moves are called up_<feature>, in Morphy's examples <feature>Up
            kind, _, feature = move.partition("_")
            feature_key = normalise_name(feature)
            keys = {feature_key, *(alias for alias, target in self.aliases.items() if target == feature_key)}
            kind_key = normalise_name(kind)
            if key in {k + kind_key for k in keys} | {kind_key + k for k in keys}:
                return ScriptName(move)
        hint = suggest_name(name[:100], [*moves, *midpoints])
        raise TestSystemError(f"{self.system.name} has no datamorphism named {name[:60]!r}. {hint}")

    def _find_midpoint(self, name: str) -> ScriptName:
        entry = self._find_datamorphism(name)
        if not self.is_midpoint(entry):
            raise TestSystemError(
                f"{entry.name!r} is a move, which makes one case from another. Name a midpoint, which makes one case from "
                f"two: {', '.join(map(repr, self._list_midpoints()))}."
            )
        return entry

    def _find_fitness(self, name: str) -> ScriptName:
        if (match := _find_match(name, self.system.set_metrics)) is not None:
            return ScriptName(match)
        if (match := _find_match(name, FITNESS_NAMES)) is not None:
            return ScriptName(FITNESS_NAMES[match])
        hint = suggest_name(name[:100], [*self.system.set_metrics, *FITNESS_NAMES])
        raise TestSystemError(f"There is no metric {name[:60]!r} to optimise. {hint}")

    def _find_model(self, key: str, name: str) -> str:
        for model in self.models:
            if normalise_name(model) == key:
                return model
        if not self.models:
            raise TestSystemError(
                f"{self.system.name} has no models that {name[:60]!r} could start. Give the test system an attribute "
                "models = {name: model}, or an @analyser of that name."
            )
        raise TestSystemError(f"{self.system.name} has no model {key!r} to start. {suggest_name(key, self.models)}")


def _find_match(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that equals a name, apart from its style of case."""
    candidates = list(known)
    if name in candidates:
        return name
    key = normalise_name(name)
    return next((candidate for candidate in candidates if normalise_name(candidate) == key), None)
