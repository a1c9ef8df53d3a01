"""Requests that cannot end: every whole number of every public function, far too large, under limits of time and memory."""

from __future__ import annotations

import inspect
import math
import os
import re
import select
import signal
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic import _estimates
from datamorphic._estimates import WorkPace, measure_memory, refuse_too_large
from datamorphic.cli.main import app
from datamorphic.data import knn
from datamorphic.errors import ArgumentError, DatamorphicError
from datamorphic.mutation import run as mutation_run
from support.cases import LONG, in_one_test
from support.public_names import list_public_names

HUGE = 10**12
CPU_SECONDS, WALL_SECONDS = 10, 120  # that a call may take; other processes may be busy
MEMORY_BYTES = 3 << 30  # that a call may add
ROWS = np.arange(24.0)
FRAME = pd.DataFrame({"x": ROWS % 5, "n": (ROWS % 7).astype(int), "c": np.where(ROWS % 2 == 0, "a", "b")})
INPUTS = FRAME[["x", "n"]]
SPACE = dm.Space([dm.Continuous("x", 0, 4), dm.Integer("n", 0, 6)])
LINE = dm.Space([dm.Continuous("x", 0, 4)])
DOCUMENTS = pd.DataFrame({"title": ["red wine", "white wine", "old book"]})
QUIET = {"progress": False}


class Model:
    classes_ = np.array([0, 1])

    def predict(self, frame):
        return (np.asarray(frame["x"]) > 2).astype(int)


def above(frame):
    return np.asarray(frame["x"]) > 2


def always(frame):
    return np.zeros(len(frame), dtype=int)


def double(x):
    return 2 * x


TRIPLING = dm.programs["tanh"].relations["tripling"]
LABELLED = INPUTS.assign(label=ROWS % 2)


@cache
def prepare(name):
    """Return what several calls share."""
    if name == "front":
        return dm.explore(Model(), SPACE, "random_target", walks=5, progress=False)
    if name == "loans":
        return dm.data.make_loan_book(1000)
    if name == "tree":
        return DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(INPUTS, ROWS % 2)
    return dm.subjects["Box 1"].make_seeds(n=5)


def call_pool(name):
    """Return a function that calls a method of a test pool with some cases."""

    def call(**options):
        pool = dm.TestPool("Box 1", **QUIET)
        pool.make_seed(["RandomValue20"])
        return getattr(pool, name)(**options)

    return call


COMBINING = {"seed_makers": ["RandomValue5"], "datamorphisms": ["upward", "leftward"]}
#: a cheap call of every public function with whole numbers among its parameters: the function, and its arguments
CALLS = {
    "test": lambda: (dm.test, {"model": Model(), "data": INPUTS, "only": ["answers"], "budget": "0.2s", **QUIET}),
    "explore": lambda: (
        dm.explore,
        {"model": Model(), "data": SPACE, "strategy": "random_target", "walks": 4, "seeds": 8, **QUIET},
    ),
    "plan": lambda: (dm.plan, {"model": Model(), "data": LINE, "walks": 10, "trial": 10, "seeds": 8}),
    "hunt": lambda: (
        dm.hunt,
        # of several trials: 10^12 groups alone take about a week, the limit
        {"model": dm.programs["tanh"], "relations": "tripling", "generator": "RT", "budget": 20, "trials": 4, **QUIET},
    ),
    "generate": lambda: (dm.generate, {"relation": TRIPLING, "generator": "RT", "n": 5}),
    "simulate": lambda: (
        dm.simulate,
        {"generator": "RT", "region": "point", "rate": 0.1, "trials": 2, "workers": 1, **QUIET},
    ),
    "laws": lambda: (dm.laws, {"model": SPACE, "examples": 3, **QUIET}),
    "check": lambda: (dm.check, {"model": KNeighborsClassifier(3), "relations": ["MR-0"], "inputs": 5, **QUIET}),
    "combine": lambda: (
        dm.combine,
        {
            "model": dm.subjects["Box 1"],
            "strategy": "sequences",
            "order": 2,
            "seeds": 3,
            "datamorphisms": ["upward", "leftward"],
            **QUIET,
        },
    ),
    "optimise": lambda: (dm.optimise, {"model": dm.subjects["Box 2"], "seeds": 5, "max_cycles": 2, **QUIET}),
    "cover": lambda: (dm.cover, {"model": prepare("tree"), "data": INPUTS, **QUIET}),
    "select": lambda: (dm.select, {"model": prepare("tree"), "data": INPUTS.assign(y=ROWS % 2), "target": "y"}),
    "fairness": lambda: (
        dm.fairness,
        {"model": above, "data": pd.concat([FRAME] * 5), "protected": ["c"], "outcome": True, "rows": 50},
    ),
    "compare": lambda: (dm.compare, {"old": above, "new": above, "data": FRAME, **QUIET}),
    "credit": lambda: (
        dm.credit,
        {"data": prepare("loans"), "ladder": "logistic_regression", "repetitions": 1, "repeats": 1, **QUIET},
    ),
    "assert_holds": lambda: (dm.assert_holds, {"model": Model(), "data": INPUTS, "relation": "row order", "cases": 5}),
    "rank_learners": lambda: (
        dm.relations.rank_learners,
        {
            "learners": [KNeighborsClassifier(3)],
            "data": LABELLED,
            "target": "label",
            "relations": ["MR-0"],
            "inputs": 5,
        },
    ),
    "compare_traces": lambda: (dm.relations.compare_traces, {"function": double, "relations": TRIPLING}),
    "compute_statistics": lambda: (dm.compute_statistics, {"tests": prepare("tests")}),
    "audio_relations": lambda: (dm.relations.audio_relations, {}),
    "image_relations": lambda: (dm.relations.image_relations, {}),
    "sequence_relations": lambda: (dm.relations.sequence_relations, {}),
    "route_relations": lambda: (
        dm.relations.route_relations,
        {"places": {"Kiasma": (60.1716, 24.9367), "Ateneum": (60.17, 24.9443)}},
    ),
    "data.make_loan_book": lambda: (dm.data.make_loan_book, {"n": 5}),
    "data.make_product_queries": lambda: (dm.data.make_product_queries, {"n": 5}),
    "data.make_products": lambda: (dm.data.make_products, {"n": 5}),
    "Affine.scaled": lambda: (dm.relations.Affine.scaled, {"factor": 2.0, "dimension": 2}),
    "ApertiumTranslator": lambda: (dm.systems.ApertiumTranslator, {}),
    "Box.sample": lambda: (dm.relations.Box.of([(0, 1)]).sample, {"count": 5, "rng": np.random.default_rng(0)}),
    "Front.cost_interval": lambda: (prepare("front").cost_interval, {"samples": 5}),
    "Front.estimate": lambda: (prepare("front").estimate, {"walks": 5}),
    "Front.nearest": lambda: (prepare("front").nearest, {"cases": INPUTS.head(1)}),
    "FunctionRelation": lambda: (
        dm.FunctionRelation,
        {"name": "f", "domain": (0, 1), "follow_up": lambda x: x, "equal": None},
    ),
    "FunctionRelation.draw_sources": lambda: (TRIPLING.draw_sources, {"count": 5, "rng": np.random.default_rng(0)}),
    "HttpService": lambda: (dm.systems.HttpService, {"url": "http://localhost:1/predict"}),
    "Audio": lambda: (dm.Audio, {"name": "call", "length": 5, "rate": 8_000}),
    "NumberRange.draw": lambda: (dm.relations.NumberRange(0, 1).draw, {"count": 5, "rng": np.random.default_rng(0)}),
    "Sequence": lambda: (dm.Sequence, {"name": "wave", "length": 5, "low": 0, "high": 1}),
    "Space.sample": lambda: (SPACE.sample, {"n": 5}),
    "SqliteSearch": lambda: (dm.systems.SqliteSearch, {"documents": DOCUMENTS}),
    "TantivySearch": lambda: (dm.systems.TantivySearch, {"documents": DOCUMENTS}),
    "TestPool": lambda: (dm.TestPool, {"system": "Box 1", **QUIET}),
    "TestPool.combinatorial_complete": lambda: (call_pool("combinatorial_complete"), COMBINING),
    "TestPool.count_combinations": lambda: (
        call_pool("count_combinations"),
        {"strategy": "kOrderComplete", "datamorphisms": ["upward"], "order": 2},
    ),
    "TestPool.directed_walk_explore": lambda: (
        call_pool("directed_walk_explore"),
        {"moves": ["upward", "mid"], "walks": 2},
    ),
    "TestPool.first_order_mutant_complete": lambda: (call_pool("first_order_mutant_complete"), COMBINING),
    **{
        f"TestPool.ga_optimize_{name}": lambda name=name: (
            call_pool(f"ga_optimize_{name}"),
            {"datamorphisms": ["upward"], "max_cycles": 2},
        )
        for name in ("filter", "random_removal", "strongest_mutant", "weakest_removal")
    },
    "TestPool.k_order_complete": lambda: (call_pool("k_order_complete"), {**COMBINING, "order": 1}),
    "TestPool.permutation_complete": lambda: (call_pool("permutation_complete"), COMBINING),
    "TestPool.random_target_explore": lambda: (call_pool("random_target_explore"), {"walks": 2}),
    "TestPool.random_walk_explore": lambda: (
        call_pool("random_walk_explore"),
        {"moves": ["upward", "mid"], "walk_distance": 2, "walks": 2},
    ),
    "TestPool.set_seed": lambda: (call_pool("set_seed"), {"seed": 1}),
    "TestSystem.execute": lambda: (dm.subjects["Box 1"].execute, {"tests": prepare("tests"), **QUIET}),
    "TestSystem.make_seeds": lambda: (dm.subjects["Box 1"].make_seeds, {"n": 5}),
    "TestSystem.mutate": lambda: (
        lambda **options: dm.subjects["Box 1"].mutate("upward", prepare("tests"), **options),
        {},
    ),
}
#: what compiles kernels at its first call
COMPILING = ("hunt", "generate", "simulate")
#: parameters that say which one, not how many
NAMING = {"case_id", "direction", "first_id", "moved", "number", "part", "position", "resume", "run", "seed_shift"}
#: parameters that many functions share and pass on; tried where there is time
CHEAP = {"seed", "batch"}
#: what is not called, with the reason
EXEMPT = {
    **dict.fromkeys((*dm.results.__all__, "Result"), "results, which functions make"),
    "Image": "its shape is not one number; the number of its values is limited as for Sequence",
    "Store": "its methods take numbers of stored runs",
    "ValhallaRouter.draw_routes": "needs a map",
    "data.default_probability": "takes a year",
    "mutate": "starts processes, which a forked process cannot; see below",
    "play": "its whole number is a seed",
    "study": "its whole number is a seed",
}


def is_whole_number(parameter):
    types = str(parameter.annotation).split(" | ")
    return bool({"int", "SeedLike", "Budget"} & set(types)) and parameter.name not in NAMING


def list_public_functions():
    """Yield the names of all public functions, classes and methods, with what they are."""
    for name, thing in list_public_names().items():
        if name == "data":
            yield from ((f"data.{part}", getattr(thing, part)) for part in thing.__all__)
        elif inspect.isclass(thing):
            yield name, thing
            methods = inspect.getmembers(thing, lambda member: inspect.isfunction(member) or inspect.ismethod(member))
            yield from ((f"{name}.{part}", method) for part, method in methods if not part.startswith("_"))
        elif callable(thing) and not inspect.ismodule(thing):
            yield name, thing


def list_numbers():
    """Return the names of the whole numbers of every public function."""
    numbers = {}
    for name, function in list_public_functions():
        parameters = inspect.signature(function).parameters.values() if callable(function) else ()
        if names := [parameter.name for parameter in parameters if is_whole_number(parameter)]:
            numbers[name] = names
    return numbers


NUMBERS = list_numbers()


def call_within_limits(function, arguments):
    """Call a function in a process of its own with limits; return its error in words, or an empty text."""
    reader, writer = os.pipe()
    import resource  # POSIX only

    process = os.fork()
    if process == 0:
        text = ""
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
            cpu_limit = math.ceil(sum(os.times()[:2])) + CPU_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit))
            _estimates.MIN_TIMED_SECONDS = 0.1
            function(**arguments)
        except BaseException as error:
            ours = isinstance(error, DatamorphicError) and "Unable to allocate" not in str(error)
            text = f"{'a clear error' if ours else type(error).__name__}: {error}"
        os.write(writer, f"ended {text}".encode())
        os._exit(0)
    os.close(writer)
    try:
        ready, _, _ = select.select([reader], [], [], WALL_SECONDS)
        outcome = os.read(reader, 10_000).decode() if ready else ""
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reader)
    return outcome.removeprefix("ended").strip() if outcome else "does not end"


needs_fork = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory, and how to read them, are those of Linux"
)


def test_every_whole_number_is_tried():
    missing = [
        name for name in NUMBERS if name not in CALLS and name.split(".")[0] not in EXEMPT and name not in EXEMPT
    ]
    assert not missing, f"give a call of each, or a reason not to: {missing}"
    assert not set(CALLS) - set(NUMBERS), "these have no whole numbers"


@needs_fork
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_a_huge_number_ends(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments = CALLS[name]()
    if name in COMPILING:
        function(**arguments)  # compiling counts as time of the limited process
    assert call_within_limits(function, arguments) == "", "the call must work with small numbers"
    wrong = []
    for number in NUMBERS[name]:
        outcome = call_within_limits(function, {**arguments, number: HUGE}) if LONG or number not in CHEAP else ""
        if outcome and not outcome.startswith("a clear error"):
            wrong.append(f"{name}({number}={HUGE}): {outcome}")
    assert not wrong, "\n".join(wrong)


SAME = dm.FunctionRelation(
    name="same", domain=(0, 2), follow_up=dm.relations.Affine.scaled(0.5, 1), equal=lambda x, y: (y[0], y[1])
)


@cache
def compile_kernels():
    """Compile the kernels of requests here, since compiling counts as time of the limited process."""
    dm.hunt(dm.programs["tanh"], "tripling", "RT", budget=20, trials=2, progress=False)
    dm.hunt(Model(), SAME, space=LINE, budget=20, progress=False)
    dm.simulate("RT", rate=0.1, trials=2, workers=1, progress=False)
    dm.simulate(selector="Random", trials=2, progress=False)
    dm.generate([(0, 1)], "IPART", n=200)


#: other kinds of requests that cannot end: the sizes multiply, or depend on other parameters
REQUESTS = {
    "walks that make the pool grow": lambda: dm.explore(
        Model(), SPACE, walks=4 * 10**8, pool="growing", strategy="random_walk", progress=False
    ),
    "as many runs as walks": lambda: dm.explore(Model(), SPACE, walks=HUGE, budget=HUGE, progress=False),
    "groups of several trials": lambda: dm.hunt(dm.programs["tanh"], "tripling", "RT", budget=10**9, trials=10**6),
    "groups of a model": lambda: dm.hunt(Model(), SAME, space=LINE, budget=HUGE, progress=False),
    "trials": lambda: dm.simulate("RT", rate=0.01, trials=10**12, workers=1, progress=False),
    "trials of a selector": lambda: dm.simulate(selector="Random", trials=10**12, progress=False),
    "a region that is hardly ever hit": lambda: dm.simulate("RT", rate=1e-12, trials=100, budget=HUGE, progress=False),
    "groups that are compared with all others": lambda: dm.generate([(0, 1)], "IPART", n=10**9 // 2),
    "steps without an end of patience": lambda: dm.optimise(
        dm.subjects["Box 2"], seeds=5, max_cycles=HUGE, patience=HUGE, progress=False
    ),
    "examples": lambda: dm.laws(SPACE, examples=10**9 // 2, progress=False),
    "inputs drawn from a space": lambda: dm.check(Model(), SPACE, ["row order"], inputs=HUGE, progress=False),
    "inputs of a clusterer": lambda: dm.check(KMeans(2), "random", inputs=HUGE, progress=False),
    "random training sets": lambda: dm.check(KNeighborsClassifier(), "random", rows=HUGE, progress=False),
    "chains": lambda: dm.combine(
        dm.subjects["Box 1"], "kOrderComplete", order=29, seeds=3, budget=10**9, datamorphisms=["upward", "leftward"]
    ),
}


@needs_fork
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_cannot_end_is_refused_with_an_estimate(name):
    compile_kernels()
    assert re.search(
        r"^a clear error: .*=[\d,]+.* would (take|need) about [\d,]+ .*Reduce ", call_within_limits(REQUESTS[name], {})
    )


def test_examples_that_are_refused_once_are_no_counterexample(monkeypatch):
    shares = []

    def note(pace, share):
        shares.append(share)
        if len(shares) == 30:  # and never again, as on a machine that was busy for a moment
            raise ArgumentError("too many")

    monkeypatch.setattr(WorkPace, "note", note)
    with pytest.raises(ArgumentError, match="too many"):
        dm.laws(SPACE, examples=100, progress=False)
    assert len(shares) == 30


def answer_slowly(row):
    time.sleep(1e-4)
    return row["x"] > 2


class SlowSystem:
    """Answers 10,000 rows a second at most, 100 at a time."""

    space = SPACE

    @dm.executor(scalar=True)
    def run(self, row):
        return answer_slowly(row)

    @dm.datamorphism
    def right(self, frame):
        return frame.assign(x=(frame["x"] + 0.1) % 4)


def make_cases(n):
    return dm.TestSet.of_seeds(SPACE.sample(n, seed=0, points=True))


def play_slowly(n, folder):
    """Execute n cases by a script."""
    tests = folder / "tests.parquet"
    make_cases(n).to_parquet(tests)
    (folder / "slow.scr").write_text("loadTestSet(tests.parquet)\nexecuteTestCases()\n")
    return dm.play(folder / "slow.scr", dm.TestSystem.collect(SlowSystem), progress=False)


#: requests for n answers of a slow system, and what their errors suggest
SLOW = {
    "check": (
        lambda n, _: dm.check(answer_slowly, SPACE, ["row order"], inputs=n, scalar=True, progress=False),
        "check with inputs=50,000 would take about .*Reduce inputs, or limit the time with budget='1h'.",
    ),
    "execute": (
        lambda n, _: dm.TestSystem.collect(SlowSystem).execute(make_cases(n), progress=False),
        "execute with tests=50,000 would take about .*Reduce tests, or limit the time with budget='1h'.",
    ),
    "combine": (
        lambda n, _: dm.combine(SlowSystem, seeds=n, progress=False),
        "combine with seeds=50,000 would take about .*Reduce seeds, or draw some of the cases with budget=1000 ",
    ),
    "combine some": (
        lambda n, _: dm.combine(SlowSystem, "kOrderComplete", order=9, seeds=n, budget=n, progress=False),
        "combine with budget=50,000 would take about .*Reduce budget.",
    ),
    "script": (play_slowly, "slow.scr:2:1: executeTestCases with cases=50,000 would take about .*Reduce cases."),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_system_is_timed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(_estimates, "MIN_TIMED_SECONDS", 0.01)
    monkeypatch.setattr(_estimates, "MAX_SECONDS", 4)
    request, message = SLOW[name]
    request(100, tmp_path)
    with pytest.raises(DatamorphicError, match=message):
        request(50_000, tmp_path)


def test_only_the_rows_that_are_queried_count(monkeypatch):
    monkeypatch.setattr(_estimates, "MIN_TIMED_SECONDS", 0.001)
    monkeypatch.setattr(_estimates, "MAX_SECONDS", 4)
    report = dm.check(
        answer_slowly, SPACE, ["column order", "row labels"], inputs=50_000, batch=10, scalar=True, progress=False
    )
    assert report.runs <= 200, "these relations take 50 of the inputs"
    system, equal_cases = dm.TestSystem.collect(SlowSystem), make_cases(500).take(np.arange(50_000) % 500)
    assert system.execute(equal_cases, progress=False).outputs.ok.all()


#: what a budget of time ends, with its result
BUDGETED = {
    "explore": lambda: dm.explore(Model(), SPACE, walks=HUGE, walk_distance=HUGE, budget="0.3s", progress=False),
    "walks that meet no border": lambda: dm.explore(always, SPACE, walks=HUGE, walk_distance=HUGE, budget="0.3s"),
    "optimise": lambda: dm.optimise(dm.subjects["Box 2"], seeds=5, max_cycles=HUGE, patience=HUGE, budget="0.3s"),
    "check": lambda: dm.check(KNeighborsClassifier(3), relations=["MR-0"], inputs=HUGE, budget="0.3s"),
    "credit": lambda: dm.credit(data=prepare("loans"), ladder="logistic_regression", repetitions=HUGE, budget="1s"),
}


@needs_fork
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BUDGETED)
def test_a_budget_of_time_ends_any_request(name):
    assert call_within_limits(BUDGETED[name], {}) == ""


def test_mutants_on_too_many_cases_are_refused(monkeypatch):
    studied = []

    def study_original(plan, timeout):
        studied.append((plan.inputs.count, plan.compared_inputs))
        time.sleep(0.002 * plan.inputs.count)

    monkeypatch.setattr(mutation_run, "observe_original", study_original)
    with pytest.raises(
        ArgumentError, match=r"mutate with inputs=1,000,000,000,000 would take about .* years\. Reduce inputs\."
    ):
        dm.mutate(knn, operators=["ASR"], limit=1, inputs=HUGE, compared=5, progress=False)
    assert studied == [(1, 1), (100, 1)]
    with pytest.raises(ArgumentError, match="'workers' parameter of mutate"):
        dm.mutate(knn, workers=HUGE)
    with pytest.raises(ArgumentError, match="mutate with rows=1,000,000,000,000 would need about"):
        dm.mutate(knn, rows=HUGE)


#: commands, and what their error says
COMMANDS = [
    (["explore", "--subject", "Box 1", "--walks", str(HUGE)], "Reduce walks, or limit the time with --budget 1h."),
    (["explore", "--subject", "Box 1", "--seeds", str(HUGE)], "Reduce seeds."),
    (["laws", "--subject", "Box 1", "--examples", str(HUGE)], "Reduce examples."),
    (
        # a fast machine executes 10^12 groups within the week that is allowed
        ["hunt", "program:tanh", "tripling", "--generator", "RT", "--budget", str(1000 * HUGE)],
        "Reduce budget, or leave budget out",
    ),
    (["simulate", "--trials", str(HUGE)], "Reduce trials."),
    (["generate", "program:tanh/tripling", "--n", str(HUGE)], "Reduce n."),
    (["combine", "--subject", "Box 1", "--seeds", str(HUGE)], "Reduce seeds."),
    (["optimise", "--subject", "Box 2", "--seeds", str(HUGE)], "Reduce seeds."),
    (["cases", "apply", "random_values", "--subject", "Box 1", "--n", str(HUGE)], "Reduce n."),
]


def refuse_command(arguments, remedy):
    """Run a command that must end with a suggestion."""
    _estimates.MIN_TIMED_SECONDS = 0.05
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(r"datamorphic: \w+ with .*=[\d,]+ would (take|need) about .*\n", result.stderr)
    assert remedy in result.stderr


@needs_fork
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@in_one_test("arguments, remedy", COMMANDS)
def test_commands_refuse_what_cannot_end(arguments, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compile_kernels()
    assert call_within_limits(refuse_command, {"arguments": arguments, "remedy": remedy}) == ""


#: commands of scripts, and what their errors suggest
SCRIPTS = {
    f"explore(walks={HUGE})": "Reduce walks, or limit the time with budget=1h.",
    "randomTargetExplore(10000000,mid)": "Reduce walks, or limit the time with explore(seeds=pool;budget=1h).",
    "GAOptimizeFilter([upward];[AvgDistance];10000000)": (
        "Reduce max_cycles, or limit the time with optimise(seeds=pool;budget=1h)."
    ),
    "kOrderComplete(25;[RandomValue5];[upward,leftward])": "To draw some at random, add budget=10000. Or",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", SCRIPTS)
def test_scripts_say_what_a_script_can_write(command, tmp_path, monkeypatch):
    monkeypatch.setattr(_estimates, "MIN_TIMED_SECONDS", 0.01)
    monkeypatch.setattr(_estimates, "MAX_SECONDS", 2)
    script = tmp_path / "box.scr"
    script.write_text(f"makeSeed([RandomValue20])\n{command}\n")
    result = CliRunner().invoke(app, ["script", str(script), "--subject", "Box 1", "--store", "none"])
    assert result.exit_code == 2
    assert SCRIPTS[command] in result.stderr


# -- the estimate ------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that a test sets."""
    times = [0.0]
    monkeypatch.setattr(_estimates, "read_clock", lambda: times[0])
    return times


def test_the_first_part_does_not_count(clock):
    pace = WorkPace("explore", {"walks": 10**6})
    clock[0] = 3600.0  # compiling
    pace.note(1e-6)
    clock[0] = 3602.0
    pace.note(1e-5)


def test_the_rest_is_estimated_from_the_second_part(clock):
    pace = WorkPace("explore", {"walks": 10**6})
    pace.note(0.0)
    clock[0] = 0.5
    pace.note(1e-9)  # too short to tell
    clock[0] = 10.0
    with pytest.raises(
        ArgumentError, match=r"^explore with walks=1,000,000 would take about 116 days\. Reduce walks\.$"
    ):
        pace.note(1e-6)


def test_work_that_was_begun_counts_as_done(clock):
    pace = WorkPace("explore", {"walks": 10**6}, measure=lambda: 1e-3)
    pace.note(0.0)
    clock[0] = 500.0
    pace.note(1e-6)
    clock[0] = 700.0
    with pytest.raises(ArgumentError, match="8 days"):
        pace.note(1e-6)


def test_nothing_is_refused_after_an_hour(clock):
    pace = WorkPace("explore", {"walks": 10})
    pace.note(0.0)
    clock[0] = 3601.0
    pace.note(0.1)
    clock[0] = 1e9
    pace.note(0.2)


def test_a_container_limits_the_memory(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(_estimates, "CONTAINER_LIMITS", (tmp_path / "memory.max", tmp_path / "none"))
    whole = measure_memory()
    (tmp_path / "memory.max").write_text("1000000000\n")
    assert measure_memory() == 1e9 < whole
    refuse_too_large("simulate", {"trials": 10**8}, memory=8e8)
    with pytest.raises(ArgumentError, match=r"would need about 8 GB of memory, and this computer has 1 GB\. Reduce"):
        refuse_too_large("simulate", {"trials": 10**9}, memory=8e9)


def test_unknown_memory_is_said_to_be_unknown(monkeypatch):
    monkeypatch.delattr(os, "sysconf")  # as on Windows
    monkeypatch.setattr(_estimates, "CONTAINER_LIMITS", ())
    assert measure_memory() is None
    refuse_too_large("simulate", {"trials": 10**9}, memory=8e9)
    with pytest.raises(
        ArgumentError,
        match=r"would need about 8,000 GB of memory, and this computer does not report how much it has; assumed are 1,000 GB\. Red",
    ):
        refuse_too_large("simulate", {"trials": 10**12}, memory=8e12)


def test_what_cannot_be_reduced_is_not_named():
    with pytest.raises(
        ArgumentError, match=r"^hunt with budget=1,000,000 would take about 116 days\. Reduce budget\.$"
    ):
        refuse_too_large("hunt", {"trials": 1, "budget": 10**6}, seconds=1e7)
