"""The commands ``datamorphic cases ...``: test sets in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from . import options as opt
from .case_sets import (
    DEFAULT_ROWS,
    choose_system,
    describe_set,
    exit_if_interrupted,
    format_set_size,
    load_test_set,
    load_test_system,
    prepare_set_file,
    print_cases,
    print_invocation,
    print_statistics,
    select_by_conditions,
    to_id_array,
    to_records,
    write_and_print,
)
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

if TYPE_CHECKING:
    from ..morphisms.cases import TestSet

app = typer.Typer(
    name="cases",
    help="Work with test sets in files: show, filter, edit, execute and judge test cases, apply single morphisms."
    "\n\nA file is .parquet, .csv, or one of Morphy (.tcs or without an extension)."
    '\n\nExamples: datamorphic cases show tests.tcs --subject "Box 1"; datamorphic cases count tests.parquet --by label; '
    "datamorphic cases execute tests.csv --system my_tests:Loans --to done.csv",
    no_args_is_help=True,
)

SetFile = Annotated[Path, opt.argument("FILE", "A test set: .parquet, .csv, or .tcs (Morphy).")]
OutputFile = Annotated[
    Path | None, opt.option("FILE", "Write the test set here: .parquet, .csv or .tcs. Without it, cases are printed.")
]
SystemName = Annotated[
    str | None, opt.option("SYSTEM", "The test system, as module:Class, or a model file. It also gives the features.")
]
SubjectName = Annotated[str | None, opt.option("NAME", 'A built-in classifier as the test system, e.g. "Box 1".')]
SpaceData = Annotated[
    str | None,
    opt.option("DATA", "Real inputs (CSV, Parquet or data:NAME) that give the names and kinds of the features."),
]
RowCount = Annotated[int, opt.option("N", "Number of cases to print.", min=0)]
Conditions = Annotated[
    list[str] | None,
    opt.option("CONDITION", 'Only cases for which this holds, e.g. "output=red" or "income>=50". Repeatable.'),
]


# -- looking at test sets ----------------------------------------------------------------------------------------------


@app.command()
def show(
    file: SetFile,
    where: Conditions = None,
    case: Annotated[int | None, opt.option("ID", "Show this case with its ancestors.", "--id")] = None,
    rows: RowCount = DEFAULT_ROWS,
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Show the test cases of a file, or one of them with its ancestors.

    Examples: datamorphic cases show tests.parquet --where output=red; datamorphic cases show tests.tcs --id 12
    """
    tests, _ = load_test_set(file, system, subject, trust=trust, data=data, target=target)
    if case is not None:
        lineage = [case, *tests.lineage(case)]
        places = tests.rows_of(to_id_array(lineage))
        tests = tests.take(places[places >= 0])
    tests = select_by_conditions(tests, where)
    if as_json:
        print_json(describe_set(tests) | {"rows": to_records(tests.take(slice(0, rows)))})
    else:
        print_line(f"{file.name}: {format_set_size(tests)}")
        print_cases(tests, rows)


@app.command()
def count(
    file: SetFile,
    by: Annotated[str, opt.option("KEY", "What to count by: label, origin, morphism, kind or correctness.")] = "kind",
    where: Conditions = None,
    system: SystemName = None,
    subject: SubjectName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Count the test cases of a file by label, origin, morphism, kind or correctness.

    Example: datamorphic cases count tests.parquet --by correctness
    """
    tests, _ = load_test_set(file, system, subject, trust=trust)
    counts = select_by_conditions(tests, where).count_by(by)
    if as_json:
        pairs = [{"value": value, "cases": int(number)} for value, number in counts.items()]
        print_json({"by": by, "counts": pairs})
    else:
        print_table([by, "cases"], [["-" if value is None else value, number] for value, number in counts.items()])


@app.command()
def measure(
    file: SetFile,
    metric: Annotated[
        list[str] | None,
        opt.option(
            "NAME",
            "A metric of the set, such as label_balance or line_coverage, or one of the test system. Repeatable.",
        ),
    ] = None,
    code: opt.Code = None,
    runs: Annotated[
        int | None, opt.option("N", "How often the system was executed. The default is the number of outputs.", min=0)
    ] = None,
    where: Conditions = None,
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    trust: opt.Trust = False,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
) -> None:
    """Print the statistics of a test set: size, distances, correctness, failures and metrics.

    Examples: datamorphic cases measure tests.tcs --runs 3586; datamorphic cases measure tests.csv --system my_tests:Loans
    --metric label_balance; datamorphic cases measure tests.csv --system my_tests:Loans --metric line_coverage --code loans.py
    """
    from ..core.parsing import parse_names
    from ..morphisms.case_statistics import compute_statistics
    from ..morphisms.invocation import invoke

    prepare_output_files(html, junit)
    with redirect_user_output():
        tests, test_system = load_test_set(file, system, subject, trust=trust, data=data, target=target)
        tests = select_by_conditions(tests, where)
        statistics = compute_statistics(tests, runs, system=test_system, name=file.name)
        owner = choose_system(test_system, tests)
        words: dict[str, Any] = {
            "kind": "set_metric",
            "code": None if code is None else parse_names(code, "--code"),
            "progress": False,
        }
        metrics = {name: invoke(owner, name, tests, **words).answer for name in metric or ()}
    if as_json:
        print_json(statistics.document() | {"metrics": metrics})
    else:
        print_text(statistics.describe())
        for name, value in metrics.items():
            print_line(f"{name}: {value:.6g}")
    write_exports(statistics, {"html": html, "junit": junit}, silent=as_json)


# -- changing test sets ------------------------------------------------------------------------------------------------


@app.command("filter")
def filter_cases(
    file: SetFile,
    where: Conditions = None,
    unique: Annotated[bool, opt.flag("--unique", "Keep only the first case of each input.")] = False,
    to: OutputFile = None,
    system: SystemName = None,
    subject: SubjectName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Keep some of the test cases of a file: those that satisfy all conditions.

    Examples: datamorphic cases filter tests.parquet --where "output=red" --to red.parquet;
    datamorphic cases filter tests.csv --unique --to small.csv
    """
    prepare_set_file(to)
    tests, _ = load_test_set(file, system, subject, trust=trust)
    tests = select_by_conditions(tests, where)
    write_and_print(tests.drop_duplicates() if unique else tests, to, as_json)


@app.command()
def sort(
    file: SetFile,
    by: Annotated[str, opt.option("KEY", "A feature, or id, label, morphism, kind, correctness or origin.")],
    descending: Annotated[bool, opt.flag("--descending", "The largest value first.")] = False,
    to: OutputFile = None,
    system: SystemName = None,
    subject: SubjectName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Sort the test cases of a file.

    Example: datamorphic cases sort tests.parquet --by label --to sorted.parquet
    """
    prepare_set_file(to)
    tests, _ = load_test_set(file, system, subject, trust=trust)
    write_and_print(tests.sort_by(by, descending=descending), to, as_json)


@app.command()
def merge(
    files: Annotated[list[Path], opt.argument("FILE...", "The test sets, of one space.")],
    keep_duplicates: Annotated[
        bool, opt.flag("--keep-duplicates", "Keep cases whose input an earlier file has as well.")
    ] = False,
    to: OutputFile = None,
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Join the test cases of several files. Cases of later files with the input of an earlier one are left out.

    Example: datamorphic cases merge monday.tcs tuesday.tcs --subject "Box 1" --to week.tcs
    """
    prepare_set_file(to)
    space = None
    merged: TestSet | None = None
    for file in files:
        tests, _ = load_test_set(file, system, subject, trust=trust, data=data, target=target, space=space)
        space = tests.space  # later files without a space of their own are read with that of the first
        merged = tests if merged is None else merged.merge(tests, keep_duplicates=keep_duplicates)
    assert merged is not None  # the parser demands at least one file
    write_and_print(merged, to, as_json)


@app.command()
def edit(
    file: SetFile,
    case: Annotated[int, opt.option("ID", "The id of the case.", "--id")],
    values: Annotated[
        list[str], opt.option("FEATURE=VALUE", "A new value of a feature, e.g. income=50. Repeatable.", "--set")
    ],
    to: OutputFile = None,
    system: SystemName = None,
    subject: SubjectName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Change the input of one test case. It keeps its id, and has no output afterwards.

    Example: datamorphic cases edit tests.csv --id 12 --set income=50 --to tests.csv
    """
    from ..morphisms.text_values import parse_input_values

    prepare_set_file(to)
    tests, _ = load_test_set(file, system, subject, trust=trust)
    pairs = dict(opt.parse_pair(text, "--set", "FEATURE=VALUE") for text in values)
    edited = tests.edit(case, parse_input_values(tests.space, pairs, "--set"))
    if to is None:
        edited = edited.take(edited.ids == case)
    write_and_print(edited, to, as_json)


@app.command()
def convert(
    file: SetFile,
    to: Annotated[Path, opt.argument("TO", "The file to write: .parquet, .csv, or .tcs (Morphy).")],
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Write a test set in another format. The names of the features come from a system, from data, or from the file.

    Example: datamorphic cases convert RedWineTrainingData.tcs wine.parquet --data data:red_wine --target target
    """
    prepare_set_file(to)
    tests, _ = load_test_set(file, system, subject, trust=trust, data=data, target=target)
    write_and_print(tests, to, as_json)


# -- invoking the test system ------------------------------------------------------------------------------------------


@app.command()
def execute(
    file: SetFile,
    to: OutputFile = None,
    only_missing: Annotated[
        bool, opt.flag("--only-missing", "Execute only cases without an output, for example after Ctrl-C.")
    ] = False,
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    budget: opt.Budget = None,
    timeout: opt.Timeout = None,
    batch: opt.Batch = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Execute the system under test on the test cases of a file, and write them with their outputs.

    After Ctrl-C, or when the budget is spent, the outputs obtained until then are written.

    Example: datamorphic cases execute tests.csv --system my_tests:Loans --to done.csv
    """
    from ..runs.driver import CallCounter
    from ..runs.engines import make_engine
    from ..runs.interrupts import Interrupts

    prepare_set_file(to)
    tally = CallCounter()
    with redirect_user_output(), Interrupts():
        tests, test_system = load_test_set(
            file, system, subject, trust=trust, data=data, target=target, needs_system=True
        )
        tests = choose_system(test_system, tests).execute(
            tests,
            only_missing=only_missing,
            engine=make_engine(engine, workers),
            budget=budget,
            timeout=timeout,
            batch=batch,
            tally=tally,
        )
    write_and_print(tests, to, as_json, {"runs": tally.runs, "calls": tally.calls, "seconds": tally.seconds})
    exit_if_interrupted(tally)


@app.command()
def judge(
    file: SetFile,
    to: OutputFile = None,
    system: SystemName = None,
    subject: SubjectName = None,
    trust: opt.Trust = False,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    as_json: opt.Json = False,
) -> None:
    """Judge executed test cases by the metamorphisms of a test system. The exit code is 1 if a case is incorrect.

    Example: datamorphic cases judge done.csv --system my_tests:Loans --to judged.csv --html judged.html
    """
    from ..morphisms.case_statistics import compute_statistics

    prepare_set_file(to)
    prepare_output_files(html, junit)
    with redirect_user_output():
        tests, test_system = load_test_set(file, system, subject, trust=trust, needs_system=True)
        if tests.outputs is None:
            raise UsageError(
                f"The cases of {file} have no outputs. Execute them first: "
                f"datamorphic cases execute {file} --system module:Class --to FILE"
            )
        owner = choose_system(test_system, tests)
        tests = owner.judge(tests)
        verdicts = owner.check(tests)
        statistics = compute_statistics(tests, system=owner, verdicts=verdicts, name=file.name)
        if to is not None:
            tests.save(to, verdicts=verdicts)
    print_statistics(statistics, {"html": html, "junit": junit}, to, as_json)
    if statistics.incorrect:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command()
def apply(
    morphism: Annotated[str, opt.argument("MORPHISM", "Its name, in any style: RandomValues is random_values.")],
    file: Annotated[Path | None, opt.argument("FILE", "The test set. A seed maker needs none.")] = None,
    kind: Annotated[
        str | None, opt.option("KIND", "Its kind, if several have that name: datamorphism, set_metric, ...")
    ] = None,
    n: Annotated[
        int | None, opt.option("N", "Number of seed cases, if the seed maker takes one.", "--n", min=1)
    ] = None,
    where: Conditions = None,
    to: OutputFile = None,
    rows: RowCount = DEFAULT_ROWS,
    system: SystemName = None,
    subject: SubjectName = None,
    data: SpaceData = None,
    target: opt.Target = None,
    seed: opt.Seed = 0,
    budget: opt.Budget = None,
    timeout: opt.Timeout = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    trust: opt.Trust = False,
    as_json: opt.Json = False,
) -> None:
    """Invoke one morphism of a test system: seed maker, datamorphism, metric, filter, executor, analyser, metamorphism.

    Seed makers and datamorphisms add cases, filters leave cases out, the executor gives outputs, and a metamorphism judges
    the cases: the exit code is 1 if one violates it. Metrics and analysers print their value.

    Examples: datamorphic cases apply random_values --subject "Box 1" --to seeds.tcs;
    datamorphic cases apply upward seeds.tcs --subject "Box 1" --to tests.tcs;
    datamorphic cases apply mean_nearest_distance tests.tcs --subject "Box 1"
    """
    from ..morphisms.invocation import invoke
    from ..runs.engines import make_engine
    from ..runs.interrupts import Interrupts

    prepare_set_file(to)
    with redirect_user_output(), Interrupts():
        tests: TestSet | None = None
        if file is None:
            test_system = load_test_system(system, subject, trust, None)
        else:
            tests, test_system = load_test_set(file, system, subject, trust=trust, data=data, target=target)
            test_system = choose_system(test_system, tests)
            tests = select_by_conditions(tests, where)
        if test_system is None:
            raise UsageError("Say which test system has this morphism: --system module:Class, or --subject NAME.")
        invocation = invoke(
            test_system,
            morphism,
            tests,
            kind=kind,
            n=n,
            seed=seed,
            engine=make_engine(engine, workers),
            budget=budget,
            timeout=timeout,
        )
        if to is not None and invocation.tests is not None:
            invocation.tests.save(to)
    print_invocation(invocation, to, rows, as_json)
    exit_if_interrupted(invocation.tally)
    if invocation.kind == "metamorphism" and invocation.values is not None and (invocation.values == "violated").any():
        raise typer.Exit(ExitCode.FINDINGS)
