"""The command ``datamorphic hunt``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from .._text import pluralise
from ..core.capability import get_capability
from ..errors import SystemFailed, UsageError
from ..hunting.result import Hunt
from ..hunting.run import hunt as find_violations
from . import options as opt
from .command import CapabilityCommand, make_command
from .load import (
    EXAMPLE_PREFIX,
    PROGRAM_PREFIX,
    load_data,
    load_example,
    load_named,
    load_object,
    load_space,
    load_system,
    to_absolute_path,
)


@dataclass(frozen=True, kw_only=True)
class HuntCommand(CapabilityCommand):
    """Hunting, whose relations are arguments, too; a program has its own."""

    @property
    def request_keys(self) -> list[str]:
        """The keys of a stored request."""
        return ["model", *super().request_keys]

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the system, the relations and the data."""
        return [
            ("program_or_model", Annotated[str, opt.argument("SYSTEM", self.model_help)], inspect.Parameter.empty),
            (
                "relations",
                Annotated[
                    list[str] | None,
                    opt.argument(
                        "RELATIONS",
                        "What must hold: names of relations of the program (the default is all), of texts, images or credit models "
                        "(text.typo of review, image.noise, credit.HMR1), or module:object.",
                    ),
                ],
                None,
            ),
            (
                "promise",
                Annotated[
                    list[str] | None,
                    opt.option(
                        "LINE",
                        "For a model, a line of a promises file: 'income: raises approved', 'age: does not matter', 'rise: income x "
                        "1.1 raises approved'. Repeatable.",
                    ),
                ],
                None,
            ),
            (
                "pattern",
                Annotated[
                    list[str] | None,
                    opt.option(
                        "LINE",
                        "A relation made of patterns: 'Conjunctive Conditions: column = brand; values = Acme >> Subset'; datamorphic "
                        "patterns NAME lists the parameters. Repeatable.",
                    ),
                ],
                None,
            ),
            ("data", Annotated[str | None, opt.option("DATA", self.data_help)], None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is hunted out of the values of the command."""
        words = {
            "model": to_absolute_path(values.pop("program_or_model")),
            "data": to_absolute_path(values.pop("data")),
        }
        lists = {name: values.pop(name) for name in ("relations", "promise", "pattern")}
        return words | {name: items for name, items in lists.items() if items}

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the system with its relations, data and space, and generators of other modules."""
        text, data, space = words["model"], words.get("data"), words.get("space")
        names, promises = words.get("relations") or [], words.get("promise") or []
        lines = words.get("pattern") or []
        example = load_example(text)
        system, values = (example, {}) if example is not None else _load_system_to_hunt(text, data, space, trust)
        if (promises or lines) and data is None and space is None and example is None:
            flag = "--promise" if promises else "--pattern"
            if text.startswith(PROGRAM_PREFIX):
                raise UsageError(
                    f"{flag} is about named columns, and a program has none. Name relations of the program, or make one with "
                    "dm.FunctionRelation: datamorphic hunt program:NAME module:relation."
                )
            raise UsageError(f"{flag} is about the columns of a model. Add --data FILE, or --space FILE.")
        frame = load_data(data) if data is not None else None if example is None else example.cases
        relations = _build_promised_relations(promises) if promises else []
        if lines:
            from ..relations.guide.specification import parse_pattern_relation
            from ..systems.wrap import wrap

            model = wrap(system, **values) if values else system
            inputs = frame if frame is not None else load_space(space, None, None, system)
            relations += [parse_pattern_relation(line, model, inputs, target=words.get("target")) for line in lines]
        choices = {name: load_named(words[name]) for name in ("generator", "selector") if words.get(name)}
        if words.get("name"):
            values = values | {"name": words["name"]}
        return {
            "model": system,
            "relations": _load_relations(text, names, relations, has_own_relations=text.startswith(PROGRAM_PREFIX)),
            "data": frame,
            "space": load_space(space, frame, words.get("target"), system),
            **choices,
            **values,
        }

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return what is imported: the system unless it is a program, and relations, generators and selectors of modules."""
        names = [words.get("generator"), words.get("selector"), *(words.get("relations") or [])]
        system = str(words["model"])
        modules = [] if system.startswith((PROGRAM_PREFIX, EXAMPLE_PREFIX)) else [system]
        return [*modules, *(str(name) for name in names if name is not None and ":" in str(name))]

    def build_arguments(self, words: Mapping[str, Any], seed: object) -> list[str]:
        """Return the arguments of the command line that does the same: relations follow the system."""
        others = {name: word for name, word in words.items() if name not in ("relations", "data")}
        system, *options = super().build_arguments(others, seed)
        data = ["--data", str(words["data"])] if words.get("data") else []
        return [system, *(words.get("relations") or []), *data, *options]

    def interpret(self, result: Hunt, face: dict[str, Any]) -> dict[str, Any]:
        """Raise if the function answered nothing at all."""
        if result.failed >= result.calls > 0:
            raise SystemFailed(
                f"{result.name} answered none of {pluralise(result.failed, 'input')}. "
                f"The most frequent error: {result.failure_message}"
            )
        return face

    def write_files(self, result: Hunt, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the report; of a function, it shows where relations are violated."""
        super().write_files(result, {"junit": files["junit"]})
        if files["html"] is not None:
            result.to_html(files["html"], system=result.function)


def load_program(text: str) -> Any:
    """Return the program that ``program:NAME`` names, or its mutant: ``program:NAME/MUTANT``."""
    from ..data.programs import programs

    name, slash, mutant_id = text.removeprefix(PROGRAM_PREFIX).partition("/")
    return programs[name].mutants[mutant_id] if slash else programs[name]


def _load_system_to_hunt(text: str, data: str | None, space: str | None, trust: bool) -> tuple[Any, dict[str, Any]]:
    """Return the system, and options to wrap it with."""
    if text.startswith(PROGRAM_PREFIX):
        if data is not None or space is not None:
            raise UsageError("A program has its own inputs. Leave --data and --space out.")
        program = load_program(text)
        return program, {"name": program.name}
    from ..systems.base import Executor

    system, options = load_system(text, None, trust)
    is_model = isinstance(system, str | Executor) or hasattr(system, "predict")
    if not callable(system) and not is_model:
        raise UsageError(
            f"{text!r} is of type {type(system).__name__}, neither a function nor a model. Name one of them: "
            "module:function."
        )
    if is_model and data is None and space is None:
        raise UsageError(f"The inputs of the model {text!r} are not known. Add --data FILE, or --space FILE.")
    return system, options


def _load_relations(
    program_or_model: str, names: list[str], relations: list[Any], *, has_own_relations: bool
) -> list[Any] | None:
    """Return relations by name, those of the module of the function, and others; None for all of a program."""
    from ..relations.algebra.base import Relation
    from ..relations.catalogue.registry import find_relation

    if not names and not relations:
        if not has_own_relations:
            raise UsageError(
                "Say which relations must hold: datamorphic hunt SYSTEM module:relation, or --promise 'income: raises "
                "approved' for a model, or --pattern. Make a relation with dm.FunctionRelation."
            )
        return None
    for name in names:
        if has_own_relations and ":" not in name:
            relations.append(name)  # the program knows it
            continue
        if not has_own_relations and isinstance(registered := find_relation(name), Relation):
            relations.append(registered)
            continue
        module, colon, _ = program_or_model.partition(":")
        if ":" not in name and not colon:
            raise UsageError(f"{name!r} is not understood. Write module:relation, as in my_tests:doubling.")
        relation = load_object(name if ":" in name else f"{module}:{name}")
        if isinstance(relation, dict):
            relation = list(relation.values())
        relations += relation if isinstance(relation, list | tuple) else [relation]
    return relations


def _build_promised_relations(lines: list[str]) -> list[Any]:
    """Return the relations of lines of a promises file: named changes, directions, and columns that must not matter."""
    from ..relations.catalogue.promises import parse_promises

    promises = parse_promises("\n".join(" ".join(line.split()) for line in lines), "--promise")
    return [*promises.build_relations().values(), *promises.build_column_relations().values()]


COMMAND = HuntCommand(
    capability=get_capability(find_violations),
    model_help="program:NAME, program:NAME/MUTANT or module:function; with --data a model file or module:object; or example:NAME.",
    data_help="For a model, its real inputs: a CSV or Parquet file, or data:NAME (data:iris).",
)

hunt = make_command(
    """Search for violations of relations with as few executions as possible.

    Groups of inputs are generated, executed and judged. The exit code is 1 if a relation is violated.

    Examples: datamorphic hunt program:tanh/emu10; datamorphic hunt program:sin Sin1 Sin2 --selector MRGS-ART --budget
    1000; datamorphic hunt program:tanh/branch3.1 tripling --generator MT-BART --trials 20 --html hunt.html; datamorphic hunt
    model.skops --data loans.csv --target approved --promise "income: raises approved"
    """,
    COMMAND,
)
