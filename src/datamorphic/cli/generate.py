"""The command ``datamorphic generate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from ..core.capability import get_capability
from ..errors import UsageError
from ..hunting.generation import GeneratedGroups
from ..hunting.generation import generate as generate_groups
from . import options as opt
from .command import CapabilityCommand, make_command
from .console import write_rows
from .load import PROGRAM_PREFIX, load_named, load_object

if TYPE_CHECKING:
    from ..relations.algebra.function import FunctionRelation


@dataclass(frozen=True, kw_only=True)
class GenerateCommand(CapabilityCommand):
    """Generating groups of a relation, or single inputs."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the relation, or the limits of inputs."""
        return [
            ("relation", Annotated[str | None, opt.argument("RELATION", self.model_help)], None),
            (
                "domain",
                Annotated[
                    list[str] | None,
                    opt.option(
                        "LOW,HIGH",
                        "Instead of RELATION: the limits of one input, with a name if there are constraints: a=0,10. Repeat it for "
                        "each input.",
                    ),
                ],
                None,
            ),
            (
                "constraint",
                Annotated[
                    list[str] | None,
                    opt.option("TEXT", 'With --domain: what the inputs satisfy, e.g. "a + b > c". Repeatable.'),
                ],
                None,
            ),
        ]

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return none: nothing can be incomplete."""
        return []

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the relation or the limits out of the values of the command."""
        relation, domain = values.pop("relation"), values.pop("domain")
        if (relation is None) == (not domain):
            raise UsageError(
                "Say what to generate, one of: a relation (program:NAME/RELATION or module:object) or --domain LOW,HIGH. "
                f"Got {'neither' if relation is None else 'both'}."
            )
        constraints = values.pop("constraint")
        if constraints and not domain:
            raise UsageError(
                "--constraint restricts the inputs of --domain, which is missing. Add it: --domain NAME=LOW,HIGH."
            )
        return {"relation": relation, "domain": domain or None} | ({"constraint": constraints} if constraints else {})

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the relation or the limits, and the generator if it is one of a module."""
        relation = words.get("relation")
        values: dict[str, Any] = {
            "relation": _parse_domain(words["domain"], words.get("constraint") or [])
            if relation is None
            else load_function_relation(relation)
        }
        return values | ({"generator": load_named(words["generator"])} if words.get("generator") else {})

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return what is imported: relations and generators of modules."""
        return list_imported(words.get("relation"), words.get("generator"))

    def build_arguments(self, words: Mapping[str, Any], seed: object) -> list[str]:
        """Return the arguments of the command line that does the same: the relation is the first."""
        others = {name: word for name, word in words.items() if name != "relation"}
        return [*([words["relation"]] if words.get("relation") else []), *super().build_arguments(others, seed)]

    def run_request(self, words: Mapping[str, Any], *arguments: Any, **settings: Any) -> None:
        """Run what the command was called with; the JSON document repeats it."""
        named = {name: words.get(name) for name in ("relation", "domain", "generator")}
        super().run_request(words, *arguments, named=named, file=settings.get("out"), **settings)

    def build_document(
        self,
        result: GeneratedGroups,
        *,
        named: Mapping[str, Any] = MappingProxyType({}),
        file: Path | None = None,
        **face: Any,
    ) -> dict[str, Any]:
        """Return what was requested, and the groups or the file that has them."""
        document = result.document() | {name: value for name, value in named.items() if name != "generator" or value}
        if file is not None:
            del document["groups"]
            document["file"] = str(file)
        return document

    def write_files(self, result: GeneratedGroups, files: Mapping[str, Path | None], **face: Any) -> None:
        """Write the groups, and reports."""
        super().write_files(result, {name: file for name, file in files.items() if name != "out"})
        if files["out"] is not None:
            write_rows(result.table, files["out"])


def load_function_relation(text: str) -> FunctionRelation:
    """Return the relation that ``program:NAME/RELATION`` or ``module:object`` names."""
    from ..relations.algebra.function import FunctionRelation

    if text.startswith(PROGRAM_PREFIX):
        from ..data.programs import programs

        name, slash, relation_name = text.removeprefix(PROGRAM_PREFIX).partition("/")
        relations = programs[name].relations
        if not slash:
            raise UsageError(
                f"Say which relation of {name!r}, for example {PROGRAM_PREFIX}{name}/{next(iter(relations))}."
            )
        return relations[relation_name]
    relation = load_object(text)
    if not isinstance(relation, FunctionRelation):
        raise UsageError(f"{text!r} is of type {type(relation).__name__}. Name a FunctionRelation: module:relation.")
    return relation


def list_imported(*names: Any) -> list[str]:
    """Return those of some names that are imported: they name a module, not a program or something built in."""
    return [str(name) for name in names if name and ":" in str(name) and not str(name).startswith(PROGRAM_PREFIX)]


def _parse_domain(texts: list[str], constraints: list[str]) -> Any:
    """Return the domain of single inputs: pairs of limits, or ranges by name with constraints."""
    from ..relations.algebra.domain import RangeDomain

    named = [text.partition("=") for text in texts]
    if not constraints and not any(equals for _, equals, _ in named):
        return [_parse_limits(text) for text in texts]
    if not all(equals for _, equals, _ in named):
        raise UsageError(f"Give every input a name, as in --domain a=0,10. Got {', '.join(map(repr, texts))}.")
    ranges = {name.strip(): _parse_limits(limits) for name, _, limits in named}
    return RangeDomain.build(ranges, constraints, "--domain")


def _parse_limits(text: str) -> tuple[float, float]:
    low, _, high = text.partition(",")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f"--domain takes two numbers, as in 0,1. Got {text!r}.") from None


COMMAND = GenerateCommand(
    capability=get_capability(generate_groups),
    model_help="program:NAME/RELATION, or module:object.",
    files={"out": "Write the groups to this CSV or Parquet file."},
)

generate = make_command(
    """Generate well-spread groups of a relation, or single inputs. Nothing is executed.

    The file has one row per group, with columns source_... and follow_up_....

    Examples: datamorphic generate program:tanh/tripling --generator MT-BART --n 100 --out groups.csv; datamorphic generate
    --domain 0,1 --domain 0,1 --generator IPART --n 20; datamorphic generate --domain a=0,1 --domain b=0,1 --constraint
    "a + b < 1" --n 20
    """,
    COMMAND,
)
