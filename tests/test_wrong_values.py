"""Wrong values of every parameter of every public function: the call works, or one line of our own says what is wrong."""

from __future__ import annotations

import functools
import inspect
import math
import re
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
import datamorphic.testing
from datamorphic.data import knn
from datamorphic.errors import DatamorphicError
from datamorphic.exploration.diff.diff import Difference
from datamorphic.hunting.generators import make_generator
from datamorphic.hunting.result import Hunt
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.morphisms.decorators import MarkDecorator
from datamorphic.relations.check.result import CheckReport
from datamorphic.relations.patterns import inputs, outputs
from datamorphic.systems.base import Executor
from datamorphic.trees.coverage.coverage import Coverage
from datamorphic.trees.coverage.mutation import MutationScore
from datamorphic.trees.forest import Forest
from support.cases import LONG, in_one_test, thin
from support.public_names import list_public_names

ROWS = np.arange(24.0)
FRAME = pd.DataFrame({"x": ROWS % 5, "n": (ROWS % 7).astype(int), "c": np.where(ROWS % 2 == 0, "a", "b")})
INPUTS, LABELS = FRAME[["x", "n"]], (ROWS % 3).astype(int) % 2
SPACE = dm.Space([dm.Continuous("x", 0, 4), dm.Integer("n", 0, 6)])
POINTS = SPACE.sample(5, seed=0, points=True)
TRIPLING = dm.programs["tanh"].relations["tripling"]
TREE = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(INPUTS, LABELS)
LOAN_FILE = Path(__file__).parent / "data" / "loans" / "files" / "sample_orig_2018.txt"
PRODUCTS = pd.DataFrame({"title": ["red wine", "white wine", "old book"]})


class Model:
    """Answers at once, so that calls that work are cheap."""

    classes_ = np.array([0, 1])

    def predict(self, frame):
        return (np.asarray(frame["x"]) > 2).astype(int)


def above(frame):
    return np.asarray(frame["x"]) > 2


#: what no parameter, or hardly one, takes
WRONG_VALUES = {
    "None": None,
    "nan": math.nan,
    "inf": math.inf,
    "minus one": -1,
    "zero": 0,
    "huge": 10**30,
    "enormous": 10**400,
    "half": 0.5,
    "true": True,
    "empty text": "",
    "unknown word": "no such",
    "number in a text": "1",
    "NUL": "a\0b",
    "bytes": b"x",
    "empty list": [],
    "list of a number": [1],
    "list of lists": [["x"], ["y", {}]],
    "list of None": [None],
    "dict": {"no such": 1},
    "dict of numbers": {1: [2]},
    "set": {"x", 2},
    "object": object(),
    "array": np.array([1.0, 2.0]),
    "matrix": np.ones((2, 3, 4)),
    "frame": pd.DataFrame({"no such": [1, 2]}),
    "function": lambda value: value,
    "class": int,
    "complex": 1j,
    "date": pd.Timestamp("2026-01-02"),
    "not available": pd.NA,
}

#: valid values by the name of the parameter, for those that are required or whose default takes long
VALUES = {
    "boxes": 5,
    "cases": 5,
    "data": INPUTS,
    "documents": PRODUCTS,
    "domain": (0, 10),
    "examples": 3,
    "executor": dm.wrap(Model(), space=SPACE),
    "feature": "x",
    "features": SPACE.features,
    "follow_up": lambda x: 3 * x,
    "frame": FRAME,
    "function": above,
    "group": ["x", "n"],
    "high": 4,
    "inputs": 5,
    "learner": Model(),
    "learners": KNeighborsClassifier(3),
    "length": 5,
    "low": 0,
    "model": Model(),
    "n": 5,
    "name": "x",
    "order": [1, 0],
    "parts": [POINTS, POINTS],
    "points": POINTS,
    "program": knn,
    "progress": False,
    "relation": TRIPLING,
    "repeats": 1,
    "repetitions": 1,
    "seeds": 8,
    "source": dm.subjects["Box 1"],
    "sut": dm.programs["tanh"],
    "system": "Box 1",
    "table": INPUTS,
    "test_system": dm.subjects["Box 1"],
    "tree": TREE,
    "trial": 10,
    "trials": 2,
    "values": ["a", "b"],
    "walks": 10,
}


def get_values(name, folder):
    """Return valid values of some parameters of a function, as far as they are not those of all functions."""
    special = {
        "Affine": {"matrix": np.eye(2), "offset": np.zeros(2)},
        "Affine.of": {"matrix": np.eye(2)},
        "Affine.scaled": {"factor": 2.0, "dimension": 2},
        "AuditResult.from_json": lambda: {"text": write_result()},
        "Audio": {"name": "call", "length": 5, "rate": 8_000},
        "Box": {"low": np.zeros(2), "high": np.ones(2), "kind": np.zeros(2, dtype=np.int8)},
        "Box.of": {"given": (0, 10)},
        "Front.load": lambda: {"path": save_front(folder), "model": None},
        "HttpService": {"url": "http://localhost:1/predict", "name": None},
        "LearnerRelation": {},
        "NumberRange.from_distribution": {"distribution": "normal(0, 1)", "owner": "f"},
        "NumberRange.of": {"declared": (0, 10), "name": "x", "owner": "f"},
        "Outputs.concat": {"parts": [dm.Outputs.of(np.ones(2))] * 2},
        "Outputs.of": {"values": np.ones(2)},
        "Pattern": {
            "kind": "input",
            "scope": "any",
            "definition": "An input.",
            "reference": "none",
            "inputs": None,
            "examples": (),
        },
        "PatternRelation": {"input": inputs.Add(columns=("x",)), "output": outputs.Equal(), "domain": ""},
        "Space.from_arrays": {"array": np.ones((3, 2))},
        "Store.open": {"url": folder / "runs.sqlite"},
        "TestPool": {"folder": folder},
        "TestSet.concat": {"sets": [make_tests()]},
        "TestSet.from_parquet": lambda: {"path": save_tests(folder)},
        "TestSet.load": lambda: {"path": save_tests(folder)},
        "TestSet.of_seeds": {"inputs": POINTS},
        "TestSystem.draft_from_java": lambda: {"path": write_specification(folder)},
        "TestSystem": {"morphisms": [], "sut": None},
        "Text": {"examples": ["a text"]},
        "ValhallaRouter": {"extract": folder / "none.osm.pbf"},
        "Weka": {"options": "trees.J48"},
        "assert_covers": {"at_least": 0.01},
        "assert_front_unchanged": lambda: {"data": SPACE, "baseline": save_front(folder)},
        "assert_holds": {"relation": "row order", "seed": 0},
        "check": {"relations": ["row order"]},
        "compare_traces": {
            "function": lambda x: x,
            "relations": dm.FunctionRelation(name="t", domain=(0, 1), follow_up=lambda x: x),
        },
        "combine": {"model": dm.subjects["Box 1"], "order": None, "seeds": 3, "datamorphisms": ["upward"]},
        "compare": {"old": above, "new": above, "data": FRAME[["x", "c"]], "reference": None},
        "compute_statistics": {"tests": make_tests(), "system": None},
        "cover": {"model": TREE},
        "credit": {"model": None, "data": make_loans(), "ladder": "logistic_regression"},
        "data.default_probability": {"loans": make_loans()},
        "data.ExampleSystem": {
            "domain": "any",
            "summary": "A system.",
            "make": lambda faults: above,
            "make_cases": lambda: FRAME,
            "faults": {},
        },
        "data.load": {"name": "iris"},
        "data.read_freddie_mac": {"origination": LOAN_FILE},
        "data.read_loan_book": lambda: {"path": save_loans(folder)},
        "data.replace_sentinels": {"loans": make_loans()},
        "explore": {"data": SPACE},
        "fairness": {
            "model": above,
            "data": pd.concat([FRAME[["x", "c"]]] * 5, ignore_index=True),
            "protected": ["c"],
            "outcome": True,
            "rows": 50,
        },
        "find_constraints": {"data": FRAME},
        "rank_learners": {
            "learners": [KNeighborsClassifier(3)],
            "data": INPUTS.assign(y=LABELS),
            "target": "y",
            "relations": ["MR-0"],
            "inputs": 2,
        },
        "read_forest": {"model": TREE},
        "generate": {"generator": "RT"},
        "hunt": {"model": dm.programs["tanh"], "relations": "tripling", "generator": "RT", "budget": 20, "data": None},
        "inputs.AffineChange": {"amount": 1.0},
        "laws": {"model": SPACE, "data": None},
        "mutate": {"operators": ["ASR"], "limit": 1, "compared": 5, "inputs": 3, "data": "random", "learners": None},
        "optimise": {"model": dm.subjects["Box 2"], "seeds": 5, "max_cycles": 2, "tree": None},
        "parametrize_with_relations": {"relations": ["MR-0"], "data": None},
        "parse_pattern_relation": {"text": "Additive: columns = x; amount = 1 >> Additive: amount = 1", "model": above},
        "plan": {"data": SPACE},
        "play": lambda: {"script": write_script(folder), "model": "Box 1"},
        "read_pmml": lambda: {"path": save_tree(folder)},
        "read_space": lambda: {"path": write_space(folder), "data": None},
        "record": {"path": folder / "session.scr"},
        "relations_for": {"model": np.sin},
        "route_relations": {"places": {"Kiasma": (60.1716, 24.9367), "Ateneum": (60.17, 24.9443)}},
        "select": {"model": TREE, "data": INPUTS.assign(y=LABELS), "target": "y"},
        "simulate": {"relation": None, "generator": "RT", "rate": 0.1, "budget": 20, "workers": 1},
        "study": {"name": "002-1", "data": None},
        "test": {"only": ["answers"], "budget": "0.2s"},
        "testing.check_generator": {"make": lambda seed: make_generator("RT", TRIPLING, seed=seed), "groups": 5},
        "testing.check_selector": {"make": SELECTORS["random"], "relations": [TRIPLING] * 2, "opens": False},
        "wrap": {"space": SPACE, "data": None},
        "write_pmml": {"model": TREE, "path": folder / "tree.pmml"},
    }.get(name, {})
    return special() if callable(special) else special


@cache
def make_loans():
    return dm.data.make_loan_book(400, seed=0)


@cache
def make_tests():
    system = dm.subjects["Box 1"]
    seeds = system.make_seeds(n=5)
    return dm.TestSet.concat([seeds, system.mutate("upward", seeds)])


@cache
def make_violated_report():
    return dm.check(above, SPACE, [dm.monotone("x", "down")], inputs=20, progress=False)


@cache
def make_mutation_score():
    return dm.cover(TREE, INPUTS, criterion="DTMT")


@cache
def write_result():
    return dm.test(Model(), INPUTS, only=["answers"], budget="0.2s", progress=False).to_json()


def save(path, write):
    if not path.exists():
        write(path)
    return path


def save_front(folder):
    front = folder / "front.parquet"
    return save(front, lambda path: dm.explore(Model(), SPACE, walks=5, progress=False).save(path))


def save_tests(folder):
    return save(folder / "tests.parquet", make_tests().to_parquet)


def save_loans(folder):
    return save(folder / "loans.csv", lambda path: make_loans().to_csv(path, index=False))


def save_tree(folder):
    return save(folder / "tree.pmml", lambda path: dm.trees.write_pmml(TREE, path))


def write_script(folder):
    return save(
        folder / "box.scr", lambda path: path.write_text("makeSeed([RandomValue20])\nrandomTargetExplore(5,mid)\n")
    )


def write_specification(folder):
    java = "class Moves {\n    @Datamorphism\n    public TestCase up(TestCase seed) { return seed; }\n}\n"
    return save(folder / "Moves.java", lambda path: path.write_text(java))


def write_space(folder):
    return save(
        folder / "space.toml",
        lambda path: path.write_text('[features]\nx = {kind = "continuous", low = 0, high = 4}\n'),
    )


#: required parameters of patterns
PATTERN_VALUES = {
    "alternatives": ("red", "white"),
    "change": lambda frame: frame,
    "column": "x",
    "columns": ("x", "n"),
    "direction": "up",
    "directions": {"up": "down", "down": "up"},
    "element": "not",
    "elements": ("not", "very"),
    "filter": "department",
    "forms": {"good": "fine"},
    "parts": (0, 1),
    "relation": "subset",
    "text": "query",
    "values": ("a", "b"),
    "words": {"wine": "drinks"},
}


# -- methods -----------------------------------------------------------------------------------------------------------


def make_pool(folder):
    pool = dm.TestPool("Box 1", folder=folder, progress=False)
    pool.make_seed(["RandomValue20"])
    return pool


class CheckedBox:
    """The test system of a subject with a metamorphism."""

    space = dm.subjects["Box 1"].space

    @dm.seed_maker
    def draw(self, n, rng):
        return self.space.sample(n, seed=rng)

    @dm.datamorphism
    def upward(self, frame):
        return frame.assign(y=np.minimum(frame["y"] + 0.1, 1))

    @dm.executor
    def answer(self, frame):
        return frame["x"] > 0.5

    @dm.metamorphism
    def keeps(self, frame, answers):
        return np.ones(len(frame), dtype=bool)


SYSTEM = dm.TestSystem.collect(CheckedBox)


@cache
def make_result(name):
    """Return what a public function returns for valid values."""
    return call(name, Path.cwd())


COMBINING = {"seed_makers": ["RandomValue5"], "datamorphisms": ["upward", "leftward"]}
OPTIMISING = {"datamorphisms": ["upward"], "max_cycles": 2}
EXPORTING = {name: {} for name in ("describe", "page", "to_html", "to_json", "to_junit", "to_markdown")}
#: classes with their public methods: what makes an object, and valid arguments of each method
METHODS = {
    dm.relations.Affine: (
        lambda _: dm.relations.Affine.scaled(2.0, 2),
        {"image": {"box": dm.relations.Box.of([(0, 1)] * 2)}},
    ),
    dm.results.AuditResult: (
        lambda _: make_result("test"),
        {
            "at_least": {"level": "advice"},
            "code": {},
            "command": {},
            "to_pytest": {"path": "test_model.py"},
            "to_sarif": {},
            **EXPORTING,
        },
    ),
    dm.relations.Box: (
        lambda _: dm.relations.Box.of([(0, 1)] * 2),
        {
            "contains": {"points": np.ones((3, 2))},
            "meet": {"other": dm.relations.Box.of([(0, 1)] * 2)},
            "same": {"other": dm.relations.Box.of([(0, 1)] * 2)},
            "sample": {"count": 5, "rng": np.random.default_rng(0)},
        },
    ),
    dm.results.CombinationResult: (lambda _: make_result("combine"), {"chain": {"case_id": 4}}),
    dm.results.CreditReport: (
        lambda _: make_result("credit"),
        {"compare_auc": {"first": "logistic regression", "second": "logistic regression"}, "to_verdict": {}},
    ),
    dm.results.FairnessReport: (
        lambda _: make_result("fairness"),
        {"find_state": {"attribute": "c"}, "get_effect": {"attribute": "c"}, "to_verdict": {}},
    ),
    dm.Front: (
        lambda _: make_result("explore"),
        {
            "attach": {"model": Model()},
            "augment": {"data": INPUTS.assign(y=LABELS), "target": "y"},
            "capability_interval": {},
            "cost_interval": {"samples": 5},
            "diff": lambda: {"other": make_result("explore")},
            "estimate": {"walks": 5},
            "nearest": {"cases": INPUTS.head(2)},
            "plot": {"x": "x", "y": "n"},
            "save": {"path": "front.parquet"},
            **EXPORTING,
        },
    ),
    dm.FunctionRelation: (
        lambda _: TRIPLING,
        {
            "over": {"domain": (0, 1)},
            "within": {"domain": (0, 1)},
            "drawn_from": {"distributions": {"x": "normal(0, 1)"}, "names": ("x",)},
            "named": {"name": "tripled", "statement": "s"},
            "draw_sources": {"count": 5, "rng": np.random.default_rng(0)},
        },
    ),
    dm.relations.InputPattern: (
        lambda _: inputs.Add(columns=("x",)),
        {"then": {"following": inputs.Negate(columns=("x",))}, "where": {"x": 1}},
    ),
    dm.relations.NumberRange: (
        lambda _: dm.relations.NumberRange(0, 10),
        {"draw": {"count": 5, "rng": np.random.default_rng(0)}, "to_feature": {"name": "n"}},
    ),
    dm.results.Optimisation: (
        lambda _: make_result("optimise"),
        {
            "describe_metric": {"name": "mean_nearest_distance"},
            "measure": lambda: {"tests": make_result("optimise").tests},
        },
    ),
    dm.relations.Pattern: (
        lambda _: dm.patterns["Symmetry"],
        {"input": {"columns": ("x", "n")}, "parameters": {"side": "input"}},
    ),
    dm.PatternRelation: (lambda _: inputs.Add(columns=("x",)) >> outputs.Equal(), {"named": {"name": "a name"}}),
    dm.Space: (
        lambda _: SPACE,
        {
            "distance": {"a": INPUTS, "b": INPUTS},
            "down": {"a": INPUTS, "feature": "x"},
            "frame": {"points": POINTS},
            "midpoint": {"a": INPUTS, "b": INPUTS},
            "move": {"a": INPUTS, "kind": "up", "feature": "x"},
            "path": {"a": INPUTS.head(1), "b": INPUTS.tail(1), "delta": 0.1},
            "points": {"data": INPUTS},
            "position": {"name": "x"},
            "reach": {"name": "x"},
            "sample": {"n": 5},
            "up": {"a": INPUTS, "feature": "x"},
            "valid": {"data": INPUTS},
            "with_constraints": {"constraints": []},
        },
    ),
    dm.systems.SqliteSearch: (
        lambda _: dm.systems.SqliteSearch(PRODUCTS),
        {"execute": {"data": pd.DataFrame({"query": ["wine"]})}, "search": {"query": "wine"}},
    ),
    dm.TestPool: (
        make_pool,
        {
            "analyse": {"analysers": ["saveStatistics"]},
            "combinatorial_complete": COMBINING,
            "count_combinations": {"strategy": "kOrderComplete", "datamorphisms": ["upward"], "order": 2},
            "directed_walk_explore": {"moves": ["upward", "mid"], "walks": 2},
            "display_message": {"text": "a text"},
            "edit_test_case": {"case_id": 1, "feature": "x", "value": 1},
            "execute_test_cases": {"case_id": 1},
            "first_order_mutant_complete": COMBINING,
            "ga_optimize_filter": OPTIMISING,
            "ga_optimize_random_removal": OPTIMISING,
            "ga_optimize_strongest_mutant": OPTIMISING,
            "ga_optimize_weakest_removal": OPTIMISING,
            "k_order_complete": {**COMBINING, "order": 1},
            "load_test_set": lambda: {"file": save_tests(Path.cwd()).name},
            "load_test_spec": {"spec": "Box 2"},
            "make_mutant": {"datamorphisms": ["upward"]},
            "make_mutants_1st_order_complete": {"datamorphisms": ["upward"]},
            "make_seed": {"makers": ["RandomValue5"]},
            "make_seed_sequence": {"number": 5},
            "measure_test_set": {"metrics": ["AvgDistance"]},
            "permutation_complete": COMBINING,
            "random_target_explore": {"walks": 2},
            "random_walk_explore": {"moves": ["upward", "mid"], "walk_distance": 2, "walks": 2},
            "save_message": {"file": "message.txt", "text": "a text"},
            "save_test_result": {"file": "pool.parquet"},
            "save_test_script": {"file": "saved.scr"},
            "set_file_path": {"folder": "."},
            "set_seed": {"seed": 1},
            "set_test_script_path": {"folder": "."},
            "stop_recording": {},
            "take_cases": lambda: {"tests": make_tests()},
            "test_case_filter": {"filters": ["TooClose"]},
            "test_set_filter": {"filters": ["sparse"]},
        },
    ),
    dm.TestSet: (
        lambda _: make_tests(),
        {
            "count_by": {"key": "kind"},
            "edit": {"case_id": 1, "values": {}},
            "filter": {"keep": np.ones(10, dtype=bool)},
            "lineage": {"case_id": 1},
            "merge": lambda: {"other": make_tests()},
            "renumbered": {"first_id": 5},
            "save": {"path": "tests.csv"},
            "sort_by": {"key": "id"},
            "to_parquet": {"path": "tests.parquet"},
        },
    ),
    dm.TestSystem: (
        lambda _: SYSTEM,
        {
            "check": lambda: {"tests": SYSTEM.execute(make_tests(), progress=False)},
            "execute": lambda: {"tests": make_tests(), "progress": False},
            "find": {"kind": "datamorphism", "name": "upward"},
            "find_by_name": {"name": "upward"},
            "judge": lambda: {"tests": SYSTEM.execute(make_tests(), progress=False)},
            "make_seeds": {"n": 5},
            "mutate": lambda: {"name": "upward", "*": [make_tests()]},
        },
    ),
    CheckReport: (lambda _: make_violated_report(), {"list_type_meanings": {}, "shrunk": {"number": 0}}),
    Coverage: (
        lambda _: make_result("cover"),
        {
            "example": {"leaf": 0},
            "fix": {"n": 5},
            "place": {"leaf": 0},
            "rule": {"leaf": 0},
            "test_cases": {},
            "to_svg": {},
            "uncovered": {},
        },
    ),
    MutationScore: (
        lambda _: make_mutation_score(),
        {
            "change": {"mutant": 0},
            "example": {"mutant": 0},
            "fix": {"n": 5},
            "place": {"mutant": 0},
            "to_svg": {},
            "uncovered": {},
            "why": {"mutant": 0},
        },
    ),
    Difference: (lambda _: make_result("explore").diff(make_result("explore")), {"first": {}}),
    Forest: (lambda _: dm.trees.read_forest(TREE), {"predict": {"matrix": INPUTS}, "scores": {"matrix": INPUTS}}),
    Hunt: (lambda _: make_result("hunt"), {"e_measure": {"groups": 5}, "p_measure": {"groups": 5}}),
    Executor: (lambda _: dm.wrap(Model(), space=SPACE), {"execute": {"data": INPUTS}}),
}


# -- the functions -----------------------------------------------------------------------------------------------------

#: values that are not tried, and why
SKIPPED = {
    ("timeout", "half"): "valid, and starts processes",
    ("limit", "None"): "valid, and tests all mutants",
    ("make", "function"): "a function of the user, whose errors are its own",
    ("make", "class"): "a function of the user, whose errors are its own",
    ("learners", "function"): "a function of the user, whose errors are its own",
}

#: functions and classes that are not called, and why
EXEMPT = {
    **dict.fromkeys(
        (
            *(name for name in dm.results.__all__ if name != "Correctness"),
            "Result",
            "Result.from_json",
            "CheckReport.from_sessions",
            "Measure.from_counts",
        ),
        "a record that a function returns; nobody else makes one",
    ),
    **dict.fromkeys(
        (
            "Outputs",
            "Outputs.concat",
            "Outputs.from_table",
            "Outputs.of",
            "Points",
            "Points.concat",
            "TestSet",
            "Training",
        ),
        "columns that are made for every batch, of values that were validated before",
    ),
    **dict.fromkeys(("Correctness", "Status"), "an enumeration, whose look-up is Python's own"),
    "Store": "made by Store.open",
}


def find_functions():
    """Return all public functions and classes by their names: also those of modules, and constructors of classes."""
    functions = {}
    names = list_public_names()
    for prefix, module in {"testing": datamorphic.testing, "data": dm.data, "errors": dm.errors}.items():
        names |= {f"{prefix}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    for name, public in names.items():
        if isinstance(public, MarkDecorator) or inspect.isfunction(public) or inspect.isclass(public):
            functions[name] = public
        if inspect.isclass(public):
            functions |= {
                f"{name}.{method}": getattr(public, method)
                for method in dir(public)
                if not method.startswith("_")
                and isinstance(inspect.getattr_static(public, method), classmethod | staticmethod)
            }
    functions |= {
        f"{side}.{name}": pattern
        for side, module in {"inputs": inputs, "outputs": outputs}.items()
        for name, pattern in vars(module).items()
        if inspect.isclass(pattern) and pattern.__module__ == module.__name__ and not name.startswith("_")
    }
    functions = {
        name: function for name, function in functions.items() if name not in EXEMPT and list_parameters(function)
    }
    methods = {f"{cls.__name__}.{name}": BoundLater(cls, name) for cls, (_, names) in METHODS.items() for name in names}
    return functions | methods


class BoundLater:
    """A method of an object that is made when it is called."""

    def __init__(self, cls, name):
        self.cls, self.name = cls, name
        self.signature = inspect.signature(functools.partial(getattr(cls, name), None))

    def get_values(self):
        values = METHODS[self.cls][1][self.name]
        return values() if callable(values) else values

    def bind(self, folder):
        return getattr(METHODS[self.cls][0](folder), self.name)


def list_parameters(function):
    if isinstance(function, MarkDecorator):
        return list(function.options)
    signature = function.signature if isinstance(function, BoundLater) else inspect.signature(function)
    return [
        "no_such_option" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_POSITIONAL
    ]


FUNCTIONS = find_functions()


def call(name, folder, /, **changed):
    """Call a function with valid values, except for those that are changed."""
    function = FUNCTIONS[name]
    if isinstance(function, MarkDecorator):
        return function(**changed)(above)
    if isinstance(function, BoundLater):
        arguments = function.get_values() | changed
        first = [
            arguments.pop(parameter.name)
            for parameter in function.signature.parameters.values()
            if parameter.name in arguments
            and (
                parameter.kind is parameter.POSITIONAL_ONLY
                or ("*" in arguments and parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
            )
        ]
        return function.bind(folder)(*first, *arguments.pop("*", ()), **arguments)
    special = get_values(name, folder)
    if name.startswith(("inputs.", "outputs.")):
        special = PATTERN_VALUES | special
    arguments = {
        parameter: special.get(parameter, VALUES.get(parameter))
        for parameter, details in inspect.signature(function).parameters.items()
        if parameter in special
        or (parameter in VALUES and (details.default is details.empty or not isinstance(VALUES[parameter], str)))
    }
    result = function(**arguments | changed)
    if isinstance(result, AbstractContextManager) and not isinstance(result, dm.Store):
        with result:
            pass
    return result


#: functions that start processes if nothing is wrong; without much time they get only what is always wrong
COSTLY = ("mutate",)
VALUES_PER_PARAMETER = 3
PARAMETERS = [(name, parameter) for name, function in FUNCTIONS.items() for parameter in list_parameters(function)]
CASES = [
    (name, parameter, value)
    for (name, parameter), value in thin(PARAMETERS, list(WRONG_VALUES), keep=VALUES_PER_PARAMETER)
    if (parameter, value) not in SKIPPED and (LONG or name not in COSTLY)
] + [(name, parameter, "object") for name, parameter in PARAMETERS if name in COSTLY and not LONG]

#: other words for a parameter in messages
WORDS = {
    "a": "values per case|rows|Column|data",
    "b": "values per case|rows|Column|data",
    "brightness": "amount",
    "case_id": "id",
    "cases": "values per case|Column|data",
    "classes": "class",
    "data": "rows|[Cc]olumn|relation|inputs|case|move",
    "expected_failures": "expected to fail",
    "given": "domain",
    "later": "data",
    "keep": "filter",
    "key": "Sorting|counted",
    "length": "values",
    "loans": "frame",
    "matrix": "columns",
    "midpoint": "datamorphism",
    "model": "system|inputs to start from",
    "moves": "datamorphism",
    "near": "columns",
    "noise": "amount",
    "outcome": "class",
    "path": "file|read",
    "seed_makers": "seed maker",
    "seeds": "case|data|Column",
    "shift": "columns|positions",
    "source": "test system",
    "surrogate": "data|target|rows",
    "sut": "system",
    "target": "labels",
    "url": "run store",
    "reading": "run store",
    "uses_outputs": "outputs",
    "values": "categories|feature",
    "warp": "amount",
    "column_steps": "steps",
}


def explain_wrong_outcome(name, parameter, value, folder):
    """Call a function with a wrong value; return what is wrong about the outcome, or None."""
    expected_errors = DatamorphicError
    if name.startswith(("assert_", "testing.")):
        expected_errors = (DatamorphicError, AssertionError)
    try:
        call(name, folder, **{parameter: WRONG_VALUES[value]})
    except expected_errors as error:
        message = str(error)
        if isinstance(error, AssertionError):
            return None
        if "\n" in message or not message:
            return f"the message has not one line: {message!r}"
        wrong_value = WRONG_VALUES[value]
        quoted = (
            repr(wrong_value)[:12],
            type(wrong_value).__name__,
            getattr(wrong_value, "__name__", str(wrong_value)[:12]),
        )
        words = f"{parameter.removesuffix('s')}|{WORDS.get(parameter, parameter)}"
        if not re.search(words, message) and not any(text and text in message for text in quoted):
            return f"the message names neither the parameter nor the value: {message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """An empty folder, where files that a call may write do no harm."""
    folder = tmp_path_factory.mktemp("wrong_values")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@in_one_test("name", [name for name in FUNCTIONS if name not in COSTLY])
def test_valid_values_work(name, folder):
    call(name, folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_value_is_a_clear_error(name, folder):
    wrong = [
        f"{name}({parameter}={value}): {outcome}"
        for called, parameter, value in CASES
        if called == name and (outcome := explain_wrong_outcome(name, parameter, value, folder))
    ]
    assert not wrong, "\n".join(wrong)


#: methods that are not tried: of some classes, and of all classes
UNTRIED_CLASSES = {
    "called by runs, with what was validated before": (
        "ApertiumTranslator Categorical ClusterRelation AllowedCombinations Continuous HttpService Integer LearnerRelation OneHot "
        "OutputPattern Relation Rule TantivySearch Text"
    ),
    "made for every batch, of values that were validated before": "Audio Image Outputs Points Sequence Training",
    "need a map, or a Java runtime": "ValhallaRouter Weka",
    "its methods take numbers of stored runs": "Store",
    "another name of AuditResult": "Result",
    "records; what all results have is tried with Front": (
        "CaseStatistics GeneratedGroups LawReport LearnerRanking Measure ModelComparison Mutation ScriptResult Selection "
        "Simulation Study StudyOverview TreeExperiment ViolationRegion"
    ),
}
UNTRIED_METHODS = {
    "every result has them: see Front": EXPORTING,
    "called by runs, with what was validated before": {
        *[
            "adopt_names",
            "with_tree",
            "answer",
            "answers",
            "applies",
            "batch",
            "check_columns",
            "decide",
            "end",
            "expects",
            "explain_violation",
            "find_order",
            "fitted_to",
            "follow",
        ],
        *[
            "find_shares",
            "find_smallest_violations",
            "follow_inputs",
            "follow_up",
            "follow_ups",
            "join_values",
            "judge_all",
            "make",
            "make_from_answers",
        ],
        *[
            "measure_violations",
            "preimage",
            "read_states",
            "source_inputs",
            "take_quantiles",
            "with_distribution",
            "split",
            "system",
            "find_obstacle",
            "why_not",
            "draw_inputs",
            "with_rows",
            "with_tolerance",
            "query_groups",
            "list_input_boxes",
            "find_input_widths",
            "check_rows",
            "keep_unrecorded_cases",
        ],
        *[
            "satisfied",
            "decode",
            "decode_value",
            "grow",
            "mutants",
            "rows_of",
            "take",
            "with_correctness",
            "with_outputs",
            "frame_with",
            "executed",
        ],
    },
    "texts for pages": {"headline"},
    "have no fixed parameters": {"combine_with", "explore_with", "optimise_with", "output"},
    "judged by a test system, see there": {"check_metamorphisms"},
    "called by runs, or tried for another class": {"check", "judge", "test_cases"},
}


def list_methods(cls):
    """Return the names of the public methods of a class that have parameters."""
    return {
        name
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
        and not isinstance(inspect.getattr_static(cls, name), staticmethod)
        and len(inspect.signature(method).parameters) > 1
    }


def test_every_public_method_is_tried():
    public = list_public_names()
    classes = {name for name, thing in public.items() if inspect.isclass(thing) and list_methods(thing)}
    exempt = {name for names in UNTRIED_CLASSES.values() for name in names.split()}
    assert classes == exempt | {cls.__name__ for cls in METHODS if cls.__name__ in public}
    known = {name for names in UNTRIED_METHODS.values() for name in names}
    missing = [
        f"{cls.__name__}.{name}"
        for cls, (_, tried) in METHODS.items()
        for name in list_methods(cls) - set(tried) - known
    ]
    assert not missing, f"give valid values of each, or a reason not to: {missing}"


def test_exemptions_exist():
    names = {name.partition(".")[0] for name in EXEMPT}
    assert names <= set(list_public_names())
    assert {parameter for parameter, _ in SKIPPED} | set(WORDS) <= {parameter for _, parameter in PARAMETERS}
