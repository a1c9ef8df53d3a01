"""Test sets on the command line: loading them with their test system, and printing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._text import format_short, pluralise, to_jsonable
from ..errors import UsageError
from .console import (
    prepare_output_files,
    print_json,
    print_line,
    print_table,
    print_text,
    redirect_user_output,
    write_exports,
)
from .exit_codes import ExitCode
from .load import load_data, load_system

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..morphisms.case_statistics import CaseStatistics
    from ..morphisms.cases import TestSet
    from ..morphisms.invocation import Invocation
    from ..morphisms.system import TestSystem
    from ..runs.driver import CallCounter
    from ..space.space import Space

MAX_PRINTED_FEATURES = 8
DEFAULT_ROWS = 20


def prepare_set_file(file: Path | None) -> None:
    """Raise an error before anything is computed if no test set can be written to a file."""
    validate_set_file(file)
    prepare_output_files(file)


def validate_set_file(file: Path | None) -> None:
    """Raise an error if the name of a file says no format of test sets."""
    from ..morphisms.case_files import validate_suffix

    if file is not None:
        validate_suffix(file)


# -- loading -----------------------------------------------------------------------------------------------------------


def load_test_set(
    file: Path,
    system: str | None,
    subject: str | None,
    *,
    trust: bool,
    data: str | None = None,
    target: str | None = None,
    space: Space | None = None,
    needs_system: bool = False,
) -> tuple[TestSet, TestSystem | None]:
    """Return the cases of a file, and the test system if one is named.

    The space is that of `data` or of the test system, else `space`, else the one that the file has or suggests.
    """
    from ..morphisms.cases import TestSet
    from ..space.space import Space

    if needs_system and system is None and subject is None:
        raise UsageError("Say which test system to use: --system module:Class, or --subject NAME.")
    if target is not None and data is None:
        raise UsageError("--target names a column of --data, but no data are given. Add --data FILE.")
    if data is not None:
        space = Space.from_frame(load_data(data), target=target, moves="open")
    with redirect_user_output():
        test_system = None
        if system is not None or subject is not None:
            test_system = load_test_system(system, subject, trust, lambda: TestSet.load(file, space).space)
        if test_system is not None and data is None:
            space = test_system.known_space()
        return TestSet.load(file, space), test_system


def load_test_system(
    system: str | None, subject: str | None, trust: bool, find_space: Callable[[], Space] | None
) -> TestSystem | None:
    """Return a test system by name. For a model, it is derived from the space of the test set."""
    from ..morphisms.stock import derive
    from ..morphisms.system import TestSystem, has_morphisms
    from ..systems.wrap import wrap

    if system is None and subject is None:
        return None
    source, options = load_system(system, subject, trust)
    if not hasattr(source, "fit") and has_morphisms(source):
        return TestSystem.collect(source)
    if find_space is None:
        raise UsageError(
            f"{system} is a model, not a test system: it has no morphisms of its own. Add a file with test cases."
        )
    space = find_space()
    return derive(space, wrap(source, space=space, **options))


def choose_system(system: TestSystem | None, tests: TestSet) -> TestSystem:
    """Return the test system, or the one that is derived from the space of the cases."""
    from ..morphisms.stock import derive

    return derive(tests.space, name="The test set") if system is None else system


def select_by_conditions(tests: TestSet, conditions: list[str] | None) -> TestSet:
    """Return the cases that satisfy all conditions."""
    from ..morphisms.case_conditions import select_cases

    return tests.filter(select_cases(tests, conditions)) if conditions else tests


def to_id_array(ids: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return ids as an array for the methods of a test set."""
    import numpy as np

    return np.array(ids, dtype=np.int64)


# -- printing ----------------------------------------------------------------------------------------------------------


def write_and_print(tests: TestSet, to: Path | None, as_json: bool, figures: Mapping[str, Any] | None = None) -> None:
    """Write the test set if a file is named, and say what it holds."""
    if to is not None:
        tests.save(to)
    if as_json:
        document = describe_set(tests) | dict(figures or {}) | {"file": None if to is None else str(to)}
        print_json(document | ({"rows": to_records(tests)} if to is None else {}))
        return
    print_line(f"{format_set_size(tests)}{'' if to is None else f', written to {to}'}")
    if figures:
        print_line(f"{pluralise(figures['runs'], 'run')}, {pluralise(figures['calls'], 'model call')}")
    if to is None:
        print_cases(tests, DEFAULT_ROWS)


def print_statistics(
    statistics: CaseStatistics, files: Mapping[str, Path | None], to: Path | None, as_json: bool
) -> None:
    """Print statistics, and write them to the files that are named."""
    if as_json:
        print_json(statistics.document() | {"file": None if to is None else str(to)})
    else:
        print_text(statistics.describe(), passed=not statistics.incorrect)
        if to is not None:
            print_line(f"The test set: {to}")
    write_exports(statistics, files, silent=as_json)


def print_invocation(invocation: Invocation, to: Path | None, rows: int, as_json: bool) -> None:
    """Print the result of a morphism."""
    tests = invocation.tests
    answer = invocation.answer
    if hasattr(answer, "document") and hasattr(answer, "describe"):
        answer = answer.document() if as_json else answer.describe()
    is_frame = hasattr(answer, "to_dict") and hasattr(answer, "columns")
    if is_frame and as_json:
        answer = answer.to_dict("records")
    if as_json:
        document: dict[str, Any] = {"morphism": invocation.name, "kind": invocation.kind}
        document |= {} if tests is None else describe_set(tests)
        document |= {"file": None if to is None else str(to), "answer": to_jsonable(answer)}
        if invocation.values is not None and tests is not None:
            numbered_values = zip(tests.ids.tolist(), invocation.values.tolist(), strict=True)
            document["values"] = [{"id": case_id, "value": value} for case_id, value in numbered_values]
        if invocation.changed and to is None and tests is not None:
            document["rows"] = to_records(tests)
        print_json(document)
        return
    if is_frame:
        print_table(list(map(str, answer.columns)), answer.head(rows).astype(object).to_numpy().tolist())
        if len(answer) > rows:
            print_line(f"... and {pluralise(len(answer) - rows, 'more row')}")
    elif answer is not None:
        text = str(answer)
        print_text(text if "\n" in text else f"{invocation.name}: {text}")
    if invocation.kind == "metamorphism" and invocation.values is not None:
        holds, violated = (int((invocation.values == word).sum()) for word in ("holds", "violated"))
        print_line(f"{invocation.name}: holds for {pluralise(holds, 'case')}, violated by {violated:,}")
    elif invocation.values is not None and tests is not None:
        pairs = list(zip(tests.ids.tolist(), invocation.values.tolist(), strict=True))
        print_table(["id", invocation.name], pairs[:rows])
        if len(pairs) > rows:
            print_line(f"... and {pluralise(len(pairs) - rows, 'more case')}")
    if invocation.changed and tests is not None:
        print_line(f"{format_set_size(tests)}{'' if to is None else f', written to {to}'}")
        if to is None and invocation.kind != "metamorphism":
            print_cases(tests, rows)


def exit_if_interrupted(tally: CallCounter) -> None:
    """End with the exit code of Ctrl-C if the user stopped the execution."""
    if tally.interrupted:
        typer.echo("datamorphic: interrupted. Continue with: datamorphic cases execute FILE --only-missing", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED)


def describe_set(tests: TestSet) -> dict[str, Any]:
    """Return the size of a test set as JSON data."""
    kinds = tests.count_by("kind")
    executed = 0 if tests.outputs is None else int(tests.outputs.ok.sum())
    return {
        "cases": len(tests),
        "originals": int(kinds.get("original", 0)),
        "mutants": int(kinds.get("mutant", 0)),
        "executed": executed,
        "features": list(map(str, tests.space.names)),
    }


def format_set_size(tests: TestSet) -> str:
    """Return the size of a test set in words."""
    facts = describe_set(tests)
    kinds = f"{facts['originals']:,} original, {pluralise(facts['mutants'], 'mutant')}"
    return f"{pluralise(len(tests), 'case')} ({kinds}, {facts['executed']:,} executed)"


def to_records(tests: TestSet) -> list[dict[str, Any]]:
    """Return the cases as JSON data, one dict per case."""
    from ..morphisms.case_columns import NO_ORIGIN, CaseKind, Correctness

    outputs = [None] * len(tests) if tests.outputs is None else tests.outputs.to_objects().tolist()
    columns = zip(
        tests.ids.tolist(),
        tests.input.astype(object).to_dict("records"),
        outputs,
        tests.kinds.tolist(),
        tests.made_by_names.tolist(),
        tests.origins.tolist(),
        tests.correctness.tolist(),
        strict=True,
    )
    return [
        {
            "id": case_id,
            "input": values,
            "output": output,
            "kind": CaseKind(kind).name.lower(),
            "morphism": morphism,
            "origins": [origin for origin in origins if origin != NO_ORIGIN],
            "correctness": Correctness(correctness).text,
        }
        for case_id, values, output, kind, morphism, origins, correctness in columns
    ]


def print_cases(tests: TestSet, rows: int) -> None:
    """Print the first cases as a table."""
    features = list(tests.space.names)[:MAX_PRINTED_FEATURES]
    more_features = len(tests.space.names) > len(features)
    records = to_records(tests.take(slice(0, rows)))
    table = [
        [
            record["id"],
            *(format_short(record["input"][name]) for name in features),
            *(["..."] if more_features else []),
            "-" if record["output"] is None else record["output"],
            record["morphism"],
            " ".join(map(str, record["origins"])) or "-",
            record["correctness"],
        ]
        for record in records
    ]
    if not table:
        return
    names = [*map(str, features), *(["..."] if more_features else [])]
    print_table(["id", *names, "output", "made by", "from", "correctness"], table)
    if len(tests) > rows:
        print_line(f"... and {pluralise(len(tests) - rows, 'more case')}")
