"""The test systems that scripts name: what `loadTestSpec` and ``--map`` stand for."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from .._text import suggest_name
from .._validation import reject
from ..data.learners import FURTHER_MODELS, REFERENCE_MODELS, REFERENCE_SETS, reference_model, reference_space
from ..data.sets import TARGET, load
from ..data.subjects import RULES, subjects
from ..errors import TestSystemError, UsageError
from ..morphisms.decorators import MorphismMark
from ..morphisms.morphism import Morphism, normalise_name
from ..morphisms.stock import derive
from ..morphisms.system import TestSystem
from .names import NameBook

ModelSource = object | Callable[[], object]
_SUFFIX = re.compile(r"\.(class|java|py|jar)$", re.IGNORECASE)
#: other names of features in the published scripts, normalised
FEATURE_ALIASES = {"red_wine": {"sulphatesl": "sulphates"}}
#: the names of the test systems in the published scripts, by data set
CASE_STUDY_SPECS = {
    "red_wine": ("RedWine_TestSpec", "RedWineQuality"),
    "mushroom": ("Mushroom_TestSpec",),
    "bank_churners": ("BankChurners_TestSpec", "Bank"),
}


@dataclass(frozen=True, kw_only=True)
class ScriptSystem:
    """A test system as scripts use it: with its name, and the models it can start."""

    spec: str
    system: TestSystem
    models: Mapping[str, ModelSource] = field(default_factory=dict)
    model: str | None = None  # the model that is started at the beginning
    aliases: dict[str, str] = field(default_factory=dict)
    origin: object = None  # what it was made from, to notice changes of its code

    @cached_property
    def names(self) -> NameBook:
        """The names that scripts may use."""
        return NameBook(system=self.system, models=list(self.models), aliases=self.aliases)

    def explain_missing_executor(self) -> str:
        """Return the message for a command that queries the system while there is none."""
        remedy = "Mark the function that queries it with @executor."
        if self.models:
            remedy = f"Start a model first: analyse([start_{next(iter(self.models))}_Invoker])."
        return f"{self.spec} has no system under test here. {remedy}"

    def load_model(self, name: str) -> Any:
        """Return a model; it is made now if it is given by a function."""
        source = self.models[name]
        is_maker = inspect.isroutine(source) or isinstance(source, partial)
        return source() if is_maker and callable(source) else source


def to_script_system(source: object, spec: str | None = None) -> ScriptSystem:
    """Return the test system of a class, instance, module or built-in name."""
    if isinstance(source, ScriptSystem):
        return source
    if isinstance(source, str):
        return SpecMap().find(source)
    if isinstance(source, TestSystem):
        return ScriptSystem(spec=spec or source.name, system=source)
    instance = source
    if inspect.isclass(source):
        try:
            instance = source()
        except (Exception, SystemExit):
            instance = source  # `collect` reports it
    system = TestSystem.collect(instance)
    models = getattr(instance, "models", None) or {}
    if not isinstance(models, Mapping):
        raise TestSystemError(f"{system.name}.models must be a dict of models by name. It is {models!r}.")
    return ScriptSystem(
        spec=spec or system.name, system=system, models={str(name): m for name, m in models.items()}, origin=source
    )


class SpecMap:
    """Test systems by the names of their spec files: built-in, or of a map."""

    def __init__(self, maps: Mapping[str, object] | None = None) -> None:
        self._sources: dict[str, tuple[str, Callable[[], ScriptSystem]]] = {}
        for name in RULES:
            kind, _, number = name.partition(" ")
            short = {"Triangle": "Tri"}.get(kind, kind)
            for spec in (name, f"{short}Test{number}", f"{kind}Test{number}"):
                self._add(spec, name, partial(_load_subject, name))
        for data, specs in CASE_STUDY_SPECS.items():
            for spec in (data, *specs):
                self._add(spec, data, partial(build_case_study, data))
        for spec, source in (maps or {}).items():
            if not isinstance(spec, str):
                reject("maps", "TestPool", "a dict with names of spec files as keys", spec)
            self._add(spec, get_spec_name(spec), partial(to_script_system, source, get_spec_name(spec)))
        self._loaded: dict[str, ScriptSystem] = {}

    def _add(self, spec: str, name: str, make: Callable[[], ScriptSystem]) -> None:
        self._sources[normalise_name(get_spec_name(spec))] = name, make

    def add(self, source: ScriptSystem) -> None:
        """Let scripts name a test system that is already loaded."""
        self._add(source.spec, source.spec, lambda: source)

    def to_system(self, source: object) -> ScriptSystem:
        """Return the test system that a name of the map, a class, an instance or a module stands for."""
        return self.find(source) if isinstance(source, str) else to_script_system(source)

    def find(self, spec: str) -> ScriptSystem:
        """Return the test system of a name; folders and extension do not matter."""
        key = normalise_name(get_spec_name(spec))
        if key not in self._sources:
            known = dict.fromkeys(name for name, _ in self._sources.values())
            option = shlex.quote(f"{get_spec_name(spec)[:60]}=module:Class")
            raise UsageError(
                f"No test system is known for {spec[:100]!r}. {suggest_name(get_spec_name(spec)[:100], known)} "
                f"If it is yours, say where it is: --map {option} (maps={{...}} in Python)."
            )
        name, make = self._sources[key]
        if name not in self._loaded:
            self._loaded[name] = make()
        return self._loaded[name]


def get_spec_name(text: str) -> str:
    """Return the name of a spec without folders and extension.

    Examples
    --------
    >>> get_spec_name("file:C:\\\\tests\\\\bin\\\\BoxTest1.class")
    'BoxTest1'
    """
    return _SUFFIX.sub("", re.split(r"[/\\]", text.strip())[-1])


def _load_subject(name: str) -> ScriptSystem:
    return ScriptSystem(spec=name, system=subjects[name])


def build_case_study(data: str, model: str | None = None) -> ScriptSystem:
    """Return the test system of a published case study.

    `data` is "red_wine", "mushroom" or "bank_churners". Its seed maker `TrainingData` makes all rows of the data set.
    """
    if data not in REFERENCE_SETS:
        raise UsageError(f"There is no case study {data!r}. {suggest_name(data, REFERENCE_SETS)}")
    frame = load(data)
    space = reference_space(data, frame)
    inputs = frame.drop(columns=TARGET)
    seed_maker = Morphism.from_function(
        "TrainingData", MorphismMark(kind="seed_maker"), lambda: inputs.copy(), f"{data}.TrainingData"
    )
    system = TestSystem(data, [seed_maker, *derive(space).datamorphisms.values()], space=space)
    models: dict[str, ModelSource] = {
        name: partial(reference_model, data, name, frame) for name in (*REFERENCE_MODELS, *FURTHER_MODELS)
    }
    models["Stack"] = models["Stack1"]  # its name in the scripts
    return ScriptSystem(spec=data, system=system, models=models, model=model, aliases=FEATURE_ALIASES.get(data, {}))
