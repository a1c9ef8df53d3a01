"""The pytest plugin and the asserts, in runs of pytest of their own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from threading import Thread
from typing import ClassVar

import _pytest.stepwise  # noqa: F401
import hypothesis  # noqa: F401
import numpy as np
import pandas as pd
import pyarrow.parquet  # noqa: F401  # what runs of pytest inside this one need is loaded once, outside
import pytest
import scipy.stats  # noqa: F401
import sklearn.naive_bayes
import sklearn.tree

import datamorphic as dm
from datamorphic.errors import ArgumentError, MissingExtra
from datamorphic.exploration.io import write_front
from datamorphic.relations.learners.base import LearnerRelation
from datamorphic.relations.learners.necessity import Requirement
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.testing.assert_learner import check_learner_relation
from datamorphic.testing.assert_relation import AssertionOutcome
from datamorphic.testing.baselines import get_explore_options
from datamorphic.testing.profiles import PROFILES, Profile, get_settings, parse_profiles
from datamorphic.testing.replay import Memory

pytest_plugins = ["pytester"]

#: a model that is wrong at one of 2,000 cases, and a promise that shows it
RARE = """
    import numpy as np, pandas as pd, pytest
    import datamorphic as dm

    class Sign(dm.Relation):
        name = "sign"
        statement = "the sign of y makes no difference"

        def follow_up(self, frame, rng):
            return frame.assign(y=-frame.y)

    DATA = pd.DataFrame({"x": range(2000), "y": np.linspace(1, 2, 2000)})
    WRONG = 1234

    def model(frame):
        return np.where((frame.x == WRONG) & (frame.y < 0), "odd", "even")
"""


@pytest.fixture(autouse=True)
def _nobody_asks_for_a_profile(monkeypatch):
    monkeypatch.delenv("DATAMORPHIC_PROFILE", raising=False)


@pytest.fixture
def run(pytester):
    """Write a test file and run it; warnings are errors there too."""

    def run(code, *options, rest="", **named):
        if code is not None:
            pytester.makepyfile(test_it=f"{code}\n{rest}")
        return pytester.runpytest_inprocess("-W", "error", *options, **named)

    return run


REPLAYED = re.compile("replayed first|of [0-9]+ replayed")


def seed_in(result):
    return re.search(r"; seed (\d+)", result.stdout.str())[1]


# -- assert_holds ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_violation_shows_the_case_and_how_to_reproduce_it(run):
    result = run(
        RARE,
        rest="""
    def test_sign():
        dm.assert_holds(model, DATA, Sign, cases=2000)
    """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*model violates 'sign': the sign of y makes no difference.",
            "*1 of 2,000 cases violates it: 0.05% (<0.01% to 0.283% with 95% confidence).",
            "*case *x=1234, y=1.5*",
            "*answer *'even'",
            "*changed *y=-1.5*",
            "*becomes *'odd'",
            f"*To reproduce it: pytest test_it.py::test_sign --datamorphic-seed {seed_in(result)}",
        ]
    )
    assert "assert_relation.py" not in result.stdout.str()  # our own depths are hidden


@pytest.mark.slow
def test_the_rerun_command_reproduces_the_violation(run, pytester):
    code = """
    def test_noise():
        class Noise(dm.Relation):
            name, statement = "noise", "a little noise makes no difference"

            def follow_up(self, frame, rng):
                return frame.assign(y=frame.y + rng.normal(0, 0.05, len(frame)))

        dm.assert_holds(lambda frame: frame.y > 1.5, DATA, Noise, cases=400)
    """
    first = run(RARE, "-p", "no:cacheprovider", rest=code)
    line = re.search(r"To reproduce it: pytest (.*)", first.stdout.str())[1].split()
    again = run(None, "-p", "no:cacheprovider", *line)
    case = re.compile(r"^E +(?:case|changed|\d+ of) .*$", re.MULTILINE)
    assert case.findall(first.stdout.str()) == case.findall(again.stdout.str()) != []


@pytest.mark.slow
def test_all_violated_relations_are_reported(run):
    result = run(
        RARE,
        rest="""
    def counting(frame, seen=[0]):
        seen[0] += 1
        return np.full(len(frame), seen[0])

    def test_several():
        dm.assert_holds(counting, DATA, ["repeats", "row order", Sign()], cases=20)

    def test_fine():
        dm.assert_holds(model, DATA, ["repeats", "row order", "batches", "row labels"])
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*violates 'repeats'*", "*violates 'row order'*", "*violates 'sign'*"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("raise RuntimeError('boom')", "*no answer to 300 of 300 cases: RuntimeError: boom.*"),
        ("raise SystemExit(3)", "*no answer to 300 of 300 cases: SystemExit: 3.*"),
        ("return [1, 2]", "*no answer to 300 of 300 cases: *"),
    ],
)
def test_a_model_that_raises_fails_its_test_and_no_other(run, body, line):
    result = run(
        RARE,
        rest=f"""
    def broken(frame):
        {body}

    def test_broken():
        dm.assert_holds(broken, DATA, "repeats")

    def test_next():
        dm.assert_holds(model, DATA, "repeats")
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines([line])


def test_a_relation_that_raises_fails_its_test_and_no_other(run):
    result = run(
        RARE,
        rest="""
    class Broken(dm.Relation):
        def follow_up(self, frame, rng):
            return frame[:3]

    def test_broken():
        dm.assert_holds(model, DATA, Broken)

    def test_next():
        dm.assert_holds(model, DATA, "repeats")
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["*TestSystemError: follow_up of the relation '' returned 3 rows for 300 source cases.*"]
    )


def test_some_violations_may_be_tolerated(tmp_path):
    frame = pd.DataFrame({"x": range(100)})

    class Shift(dm.Relation):
        name = "shift"

        def follow_up(self, frame, rng):
            return frame.assign(x=frame.x + 1)

    store = tmp_path / "violations.sqlite"
    for _ in range(2):  # the second run replays the violation that the first one stored
        dm.assert_holds(lambda frame: frame.x > 50, frame, Shift, tolerated=0.01, store=store)
    with pytest.raises(AssertionError, match="1 of 100 cases violates it: 1%"):
        dm.assert_holds(lambda frame: frame.x > 50, frame, Shift, tolerated=0.009, store=store)
    with pytest.raises(AssertionError, match="1 case that violated it before still does"):
        dm.assert_holds(lambda frame: frame.x > 50, frame, Shift, store=store)


def test_an_assertion_that_tests_nothing_fails():
    frame = pd.DataFrame({"x": [0.5, 1.5]})

    class Never(dm.Relation):
        name = "never"

        def applies(self, frame):
            return np.zeros(len(frame), dtype=bool)

        def follow_up(self, frame, rng):
            return frame

    with pytest.raises(AssertionError, match="Nothing was tested: 'never': it applies to no case"):
        dm.assert_holds(lambda frame: frame.x > 1, frame, Never)
    with pytest.raises(AssertionError, match="'number types': no column has integers"):
        dm.assert_holds(lambda frame: frame.x > 1, frame, "number types")
    dm.assert_holds(lambda frame: frame.x > 1, frame, ["number types", "repeats"])  # one of them says something


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"relation": "row orders"}, "There is no relation 'row orders'. Did you mean 'row order'?"),
        ({"relation": "MR-9"}, "There is no relation 'MR-9'"),
        ({"relation": None}, "must be a relation, the name of one"),
        ({"relation": []}, "at least one relation"),
        ({"relation": "repeats", "tolerated": 1}, "a share from 0 to below 1"),
        ({"relation": "repeats", "cases": 0}, "The 'cases' parameter of assert_holds"),
        ({"relation": "repeats", "seed": -1}, "The 'seed' parameter of assert_holds"),
        ({"relation": "MR-1.2"}, "needs labelled data"),
    ],
)
def test_wrong_use_raises_a_helpful_error(arguments, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        dm.assert_holds(sklearn.naive_bayes.GaussianNB(), pd.DataFrame({"x": [1.0, 2.0]}), **arguments)


def test_cases_tried_within_the_budget_count():
    seen = []

    def model(frame):
        seen.append(len(frame))
        return frame.x > 0

    frame = pd.DataFrame({"x": np.linspace(-1, 1, 1000)})
    dm.assert_holds(model, frame, "repeats", cases=1000, budget="500 runs")
    assert 100 < sum(seen) <= 500
    with pytest.raises(ArgumentError, match="The budget 'soon' is not understood"):
        dm.assert_holds(model, frame, "repeats", budget="soon")
    with pytest.raises(AssertionError, match="the budget was spent before any answer"):
        dm.assert_holds(model, frame, "repeats", cases=1000, budget="3 runs")


def test_one_interrupt_ends_it(tmp_path):
    def model(frame):
        signal.raise_signal(signal.SIGINT)
        return frame.x > 0

    frame = pd.DataFrame({"x": [-1.0, 1.0]})
    dm.explore(lambda frame: frame.x > 0, frame, walks=3).save(tmp_path / "front.parquet")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            dm.assert_holds(model, frame, dm.invariant("x"))
        with pytest.raises(KeyboardInterrupt):
            dm.assert_front_unchanged(model, frame, tmp_path / "front.parquet")
    finally:
        signal.signal(signal.SIGINT, before)


# -- failures are kept and replayed ----------------------------------------------------------------------------


@pytest.mark.slow
def test_violations_are_replayed_first_until_they_are_fixed(run, pytester):
    code = """
    def test_sign():
        dm.assert_holds(model, DATA, Sign, cases=CASES)
    """
    run(RARE.replace("WRONG =", "CASES = 2000; WRONG ="), rest=code).assert_outcomes(failed=1)
    # one case by chance would hardly find it
    again = run(RARE.replace("WRONG =", "CASES = 1; WRONG ="), "--datamorphic-seed", "1", rest=code)
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(
        [
            "*2 cases that violated it before still do (replayed first).",
            "*None of 1 new case violates it.",
            "*case *x=1234, *",
            "*test_it.py::test_sign *2 of 2 replayed",
        ]
    )
    mended = run(RARE.replace("WRONG = 1234", "CASES = 1; WRONG = -1"), rest=code)
    mended.assert_outcomes(passed=1)
    mended.stdout.fnmatch_lines(["*0 of 2 replayed"])
    broken = run(RARE.replace("WRONG =", "CASES = 1; WRONG ="), "--datamorphic-seed", "1", rest=code)
    broken.assert_outcomes(passed=1)  # forgotten, as it was mended
    assert not REPLAYED.search(broken.stdout.str())


@pytest.mark.slow
def test_random_follow_ups_are_replayed_unchanged(run):
    code = """
    class Anything(dm.Relation):
        name, statement = "anything", "another y makes no difference"

        def follow_up(self, frame, rng):
            return frame.assign(y=rng.uniform(1, 2, len(frame)))

    def narrow(frame):
        return (frame.y > 1.7) & (frame.y < 1.71)

    def test_it():
        dm.assert_holds(narrow, DATA[:1000], Anything, cases=CASES, seed=SEED)
    """
    run(RARE, rest=code.replace("CASES", "1000").replace("SEED", "0")).assert_outcomes(failed=1)
    again = run(RARE, rest=code.replace("CASES", "1").replace("SEED", "5"))
    again.stdout.fnmatch_lines(["*that violated it before still do* (replayed first)."])


@pytest.mark.slow
def test_relations_of_batches_and_features_are_replayed(run):
    code = """
    def first_decides(frame):
        return np.full(len(frame), (frame.x.iloc[0] == WRONG) & (len(frame) > 1))

    def dips(frame):  # at one value of y, that of a row of the data
        return np.where((frame.x == WRONG) & (abs(frame.y - DATA.y[1235]) < 1e-6), 1.0, 5.0)

    def test_batch():
        dm.assert_holds(first_decides, DATA, "row order", cases=CASES, seed=0)

    def test_feature():
        dm.assert_holds(dips, DATA, dm.monotone("y", "up"), cases=CASES, seed=0)
    """
    # rows asked in other orders: with all rows of the data, one order begins with the wrong one
    batch = RARE.replace("DATA = ", "CASES = 2000; DATA = ").replace("range(2000)", "[1234, *range(1999)]")
    first = run(batch, rest=code)
    first.assert_outcomes(failed=2)
    again = run(batch.replace("CASES = 2000", "CASES = 2"), rest=code)
    again.assert_outcomes(failed=2)
    assert len(re.findall(r"E +\d+ cases? that violated it before still do", again.stdout.str())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("option", [("-p", "no:cacheprovider"), ("--cache-clear",)])
def test_without_a_cache_nothing_is_replayed(run, option):
    code = """
    def test_sign():
        dm.assert_holds(model, DATA, Sign, cases=2000)
    """
    for _ in range(2):
        result = run(RARE, *option, rest=code)
        result.assert_outcomes(failed=1)
        assert not REPLAYED.search(result.stdout.str())


def test_a_damaged_cache_is_ignored(run, pytester):
    pytester.path.joinpath(".pytest_cache/d/datamorphic").mkdir(parents=True)
    pytester.path.joinpath(".pytest_cache/d/datamorphic/failures.sqlite").write_bytes(b"this is no database" * 99)
    result = run(
        RARE,
        rest="""
    def test_sign():
        dm.assert_holds(model, DATA, Sign, cases=2000)

    def test_fine():
        dm.assert_holds(model, DATA, "repeats")
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*1 of 2,000 cases violates it*"])


def test_violations_are_kept_in_a_named_store_outside_pytest(tmp_path):
    class Never(dm.Relation):
        name = "never"

        def follow_up(self, frame, rng):
            return frame.assign(x=-frame.x)

    frame = pd.DataFrame({"x": [-1.0, 1.0], "kind": pd.Categorical(["a", "b"])})
    for message in ("2 of 2 cases violate it", "that violated it before still do"):
        with pytest.raises(AssertionError, match=message):
            dm.assert_holds(lambda frame: frame.x > 0, frame, Never, store=tmp_path / "runs.sqlite", name="one")
    dm.assert_holds(lambda frame: frame.x > 9, frame, Never, store=tmp_path / "runs.sqlite", name="other")
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        from datamorphic.runs import failures

        assert {failure.relation for failure in failures.recall_all(store)} == {"never"}


# -- options ---------------------------------------------------------------------------------------------------

SETTINGS = """
    import json
    from datamorphic.testing.profiles import get_settings

    def test_settings():
        now = get_settings()
        print("cases", now.cases, "seed", now.seed, "budget", now.budget, "update", now.update)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "variable", "ini", "line"),
    [
        ((), None, "", "cases 300 seed * budget None update False"),
        (("--datamorphic-profile", "ci"), None, "", "cases 100 seed 0 budget None update False"),
        (("--datamorphic-profile=thorough", "--datamorphic-seed=7"), None, "", "cases 3000 seed 7 *"),
        ((), "ci", "datamorphic_profile = thorough", "cases 100 seed 0 *"),
        (("--datamorphic-profile", "default"), "ci", "datamorphic_profile = thorough", "cases 300 *"),
        (
            (),
            None,
            "datamorphic_profile = thorough\ndatamorphic_seed = 3\ndatamorphic_budget = 2m",
            "cases 3000 seed 3 budget 2m *",
        ),
        (("--datamorphic-seed", "0"), None, "datamorphic_seed = 3", "cases 300 seed 0 *"),
        (("--datamorphic-budget", "30s", "--datamorphic-update"), None, "", "cases 300 * budget 30s update True"),
        (
            (),
            None,
            "datamorphic_profile = own\ndatamorphic_profiles =\n    own: cases=5, budget=10s, seed=4",
            "cases 5 seed 4 budget 10s *",
        ),
        ((), "own", "datamorphic_profiles =\n    own: cases=9", "cases 9 *"),
    ],
)
def test_options_variables_and_configuration(run, pytester, monkeypatch, options, variable, ini, line):
    if variable:
        monkeypatch.setenv("DATAMORPHIC_PROFILE", variable)
    pytester.makeini(f"[pytest]\n{ini}")
    result = run(SETTINGS, "-s", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*{line}"])


@pytest.mark.parametrize(
    ("options", "ini", "line"),
    [
        (("--datamorphic-profile", "cii"), "", "*There is no profile 'cii'. Did you mean 'ci'?*"),
        (("--datamorphic-seed", "-1"), "", "*--datamorphic-seed: invalid whole number value: '-1'*"),
        (("--datamorphic-budget", "soon"), "", "*The budget 'soon' is not understood*"),
        ((), "datamorphic_seed = x", "*datamorphic_seed must be a whole number, at least 0. Got 'x'.*"),
        ((), "datamorphic_profiles =\n    own: cases=0", "*'cases=0' in the profile 'own' is invalid*"),
        ((), "datamorphic_profiles =\n    own", "*The profile 'own' is invalid*"),
        ((), "datamorphic_profiles =\n    own: budget=soon", "*The budget 'soon' is not understood*"),
    ],
)
def test_invalid_options_are_reported_before_any_test_runs(run, pytester, options, ini, line):
    pytester.makeini(f"[pytest]\n{ini}")
    result = run(SETTINGS, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])


@pytest.mark.slow
def test_each_run_reports_a_new_seed(run):
    code = (
        RARE
        + """
    def test_fine():
        dm.assert_holds(model, DATA, "repeats")
    """
    )
    assert seed_in(run(code)) != seed_in(run(code))
    ci = run(code, "--datamorphic-profile=ci", "--datamorphic-budget=9s")
    assert seed_in(ci) == "0"
    ci.stdout.fnmatch_lines(["datamorphic: profile ci, budget 9s"])


def test_profiles_are_defined_in_one_place(monkeypatch):
    assert list(PROFILES) == ["ci", "default", "thorough"]
    assert PROFILES["ci"].seed == 0
    assert PROFILES["thorough"].cases == 10 * PROFILES["default"].cases > 10 * PROFILES["ci"].cases
    assert parse_profiles(["a: cases = 5", "b:"]) == {"a": Profile("a", 5), "b": Profile("b", 300)}
    monkeypatch.setattr("sys.modules", {k: v for k, v in sys.modules.items() if k != "_datamorphic_pytest"})
    assert (get_settings().cases, get_settings().seed, get_settings().test) == (300, 0, "")  # outside pytest
    monkeypatch.setenv("DATAMORPHIC_PROFILE", "thorough")
    assert get_settings().cases == 3000


def test_threads_of_a_test_know_which_test_they_are_in(request):
    names = []
    thread = Thread(target=lambda: names.append(get_settings().test))
    thread.start()
    thread.join()
    assert names == [request.node.nodeid]


# -- statistics ------------------------------------------------------------------------------------------------

TWO = (
    RARE
    + """
    def test_one():
        dm.assert_holds(model, DATA, ["repeats", "row order"], cases=50)

    def test_two():
        dm.assert_holds(model, DATA, Sign, cases=2000)
"""
)


def test_statistics_have_one_line_per_relation_violations_first(run):
    result = run(TWO, "--datamorphic-seed", "3")
    result.stdout.re_match_lines(
        [
            r"test +relation +cases +violated +calls +seconds$",
            r"test_it.py::test_two +sign +2,000 +1 +4,\d+ +\d+\.\d\d$",
            r"test_it.py::test_one +repeats +50 +0 +100 +\d+\.\d\d$",
            r"test_it.py::test_one +row order +50 +0 +300 +\d+\.\d\d$",
            r"3 checks, 2,100 cases, 1 violated, 4,\d+ calls; seed 3$",
        ]
    )


def test_assertions_in_fixtures_count(run):
    result = run(
        RARE,
        rest="""
    @pytest.fixture
    def around():
        dm.assert_holds(model, DATA, "repeats", cases=5)
        yield
        dm.assert_holds(model, DATA, "row order", cases=5)

    def test_it(around):
        pass
    """,
    )
    result.stdout.fnmatch_lines(
        ["test_it.py::test_it  repeats *", "test_it.py::test_it  row order *", "2 checks, 10 cases*"]
    )


@pytest.mark.slow
def test_quiet_runs_have_one_line_and_quieter_ones_none(run):
    quiet = run(TWO, "-q", "--datamorphic-seed", "3").stdout.str()
    assert re.search(r"^datamorphic: 3 checks, 2,1\d\d cases, \d violated, [\d,]+ calls; seed 3$", quiet, re.MULTILINE)
    assert "row order" not in quiet
    assert "datamorphic: " not in run(TWO, "-qq").stdout.str()
    assert "datamorphic" not in run("def test_other(): pass").stdout.str().partition("collected")[2]


@pytest.mark.slow
def test_long_statistics_are_cut_without_verbosity(run):
    code = (
        RARE
        + """
    @pytest.mark.parametrize("number", range(42))
    def test_many(number):
        dm.assert_holds(model, DATA[:20], "repeats", cases=1)
    """
    )
    run(code).stdout.fnmatch_lines(["... and 2 more: -v shows all", "42 checks, *"])
    assert run(code, "-v").stdout.str().count(" repeats ") == 42


@pytest.mark.slow
def test_under_xdist_statistics_come_back_and_workers_share_the_seed(run, pytester):
    result = run(TWO, "-n", "2", "--dist", "each")  # both workers make all tests
    seeds = re.findall(r"--datamorphic-seed (\d+)", result.stdout.str())
    result.stdout.fnmatch_lines([f"3 checks, 2,1*; seed {seeds[0]}"])
    assert len(seeds) >= 2  # where CI is set, pytest tells failures twice
    assert len(set(seeds)) == 1
    again = run(None)  # what both kept is there
    again.stdout.fnmatch_lines(["*that violated it before still do (replayed first).", "*2 of 2 replayed"])


# -- lazy, and harmless where it is not used -------------------------------------------------------------------


@pytest.mark.slow
def test_the_plugin_costs_nothing_where_it_is_not_used(tmp_path):
    code = """
import sys, pytest
class Look:
    def pytest_unconfigure(self):
        print("loaded", *sorted({m.partition(".")[0] for m in sys.modules}))
status = pytest.main(["--co", "-q", "-p", "no:hypothesispytest", sys.argv[1]], plugins=[Look()])
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    loaded = re.search(r"^loaded (.*)$", done.stdout, re.MULTILINE)[1].split()
    assert "_datamorphic_pytest" in loaded
    assert {"datamorphic", "numpy", "pandas", "sqlite3", "sklearn", "scipy"}.isdisjoint(loaded)


def test_asserts_work_without_pytest(monkeypatch):
    monkeypatch.setattr("_datamorphic_pytest._runs", [])
    frame = pd.DataFrame({"x": [-1.0, 1.0]})
    dm.assert_holds(lambda frame: frame.x > 0, frame, "repeats")
    with pytest.raises(AssertionError, match="To reproduce it: use seed=4"):
        dm.assert_holds(lambda frame: frame.x > 0, frame, dm.invariant("x"), seed=4)


def test_the_plugin_can_be_disabled(run):
    result = run("def test_fine(): pass", "-p", "no:datamorphic")
    result.assert_outcomes(passed=1)
    assert "--datamorphic-" not in result.stdout.str()


# -- assert_front_unchanged ------------------------------------------------------------------------------------

FRONT = """
    import datamorphic as dm

    SPACE = dm.Space([dm.Continuous("age", 0, 100), dm.Categorical("kind", ["a", "b"])])

    def model(frame):
        return frame.age > AGE

    def test_front():
        dm.assert_front_unchanged(
            model, SPACE, "front.parquet", walks=12, max_halvings=6, strategy="random_target", tolerance=TOLERANCE
        )
"""


@pytest.mark.slow
def test_a_changed_front_fails_and_can_be_updated(run, pytester):
    def front(age, *options, tolerance="None"):
        return run(FRONT.replace("AGE", age).replace("TOLERANCE", tolerance), *options)

    missing = front("18")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*There is no baseline 'front.parquet'. Create one *--datamorphic-update*"])
    creating = front("18", "--datamorphic-update")
    creating.assert_outcomes(passed=1)
    creating.stdout.fnmatch_lines(["*front front.parquet *the baseline was written"])
    written = pytester.path.joinpath("front.parquet").read_bytes()
    same = front("18")
    same.assert_outcomes(passed=1)
    same.stdout.re_match_lines([r".*front front.parquet +[1-9]\d* +0 "])
    moved = front("25")
    moved.assert_outcomes(failed=1)
    moved.stdout.fnmatch_lines(
        [
            "*The border of model differs from the baseline 'front.parquet'.",
            "*Cases to look at first*",
            "*replace the baseline: pytest test_it.py::test_front --datamorphic-update",
        ]
    )
    front("25", tolerance="0.2").assert_outcomes(passed=1)
    assert pytester.path.joinpath("front.parquet").read_bytes() == written
    front("25", "--datamorphic-update").stdout.fnmatch_lines(["*the baseline was replaced"])
    front("25").assert_outcomes(passed=1)
    assert sorted(path.name for path in pytester.path.iterdir() if "front" in path.name) == ["front.parquet"]


@pytest.mark.slow
def test_a_front_is_explored_as_its_baseline_was(tmp_path):
    file = tmp_path / "front.parquet"
    space = dm.Space([dm.Continuous("x", 0, 1)])
    how = {"walks": 10, "threshold": 0.7, "strategy": "random_target", "seed": 5, "walk_distance": 7, "delta": 0.001}
    dm.explore(lambda frame: frame.x * 2.0, space, **how).save(file)
    assert how.items() <= get_explore_options(dm.Front.load(file)).items()
    dm.assert_front_unchanged(lambda frame: frame.x * 2.0, baseline=file)  # the threshold is that of the baseline
    with pytest.raises(AssertionError, match="moved"):
        dm.assert_front_unchanged(lambda frame: frame.x * 2.5, baseline=file)
    dm.explore(dm.subjects["Box 1"], walks=40, seeds=20, strategy="random_target").save(file)
    dm.assert_front_unchanged(dm.subjects["Box 1"], baseline=file)
    with pytest.raises(AssertionError, match="The border of"):
        dm.assert_front_unchanged(dm.subjects["Box 2"], baseline=file)


def test_fronts_without_anything_to_compare_do_not_pass(tmp_path):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    front = dm.explore(lambda frame: np.ones(len(frame)), space, walks=0)
    write_front(front, tmp_path / "front.parquet", query_seeds=False)
    with pytest.raises(AssertionError, match="Nothing was tested"):
        dm.assert_front_unchanged(lambda frame: np.ones(len(frame)), baseline=tmp_path / "front.parquet", walks=0)


# -- assert_covers ---------------------------------------------------------------------------------------------


def test_coverage_is_asserted():
    iris = dm.data.load("iris")
    tree = sklearn.tree.DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
    tree.fit(iris.drop(columns="target"), iris["target"])
    dm.assert_covers(tree, iris, target="target", at_least=1)
    dm.assert_covers(tree, iris[:70], target="target", at_least=2 / 3)
    with pytest.raises(AssertionError) as caught:
        dm.assert_covers(tree, iris[:70], target="target", at_least=0.67)
    assert "reach 66.7% of the leaves. At least 67% are required" in str(caught.value)
    assert "petal width (cm) > 1.75" in str(caught.value)
    with pytest.raises(ArgumentError, match="at_least"):
        dm.assert_covers(tree, iris, target="target", at_least=1.1)


# -- learners --------------------------------------------------------------------------------------------------

MUST = Requirement(True, "class_exact", "it must")


class FirstColumn:
    """A learner that decides by its first column alone: another order of the attributes gives other labels."""

    def fit(self, x, y):
        self.edge_ = x.iloc[:, 0].median()
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return self.classes_[(x.iloc[:, 0].to_numpy() > self.edge_).astype(int)]


def held(relation, learner, requirement=MUST, **options):
    memory = (
        Memory(get_settings(), options.pop("store", "none.sqlite"), "learner") if "store" in options else _Nowhere()
    )
    return check_learner_relation(
        LEARNER_RELATIONS[relation], learner, requirement, memory, **{"cases": 40, "seed": 0} | options
    )


class _Nowhere(Memory):
    def __init__(self):
        self._location = None


@pytest.mark.slow
def test_a_violation_of_a_learner_is_shrunk_and_shown():
    outcome = held("MR-1.2", FirstColumn())
    assert outcome.is_failing()
    assert 0 < outcome.violated_count <= outcome.cases == 40
    rows, columns = map(int, re.search(r"trained on (\d+) rows? of (\d+) attribute", outcome.example).groups())
    assert rows <= 4
    assert columns == 2
    assert re.search(r"answer +'L\d'(\n.*)+\nexpected +'L\d'\nbecomes +'L\d'$", outcome.example)
    assert not held("refit", FirstColumn()).is_failing()


@pytest.mark.slow
def test_a_violation_of_a_learner_is_replayed(tmp_path):
    first = held("MR-1.2", FirstColumn(), store=tmp_path / "runs.sqlite")
    again = held("MR-1.2", FirstColumn(), store=tmp_path / "runs.sqlite", cases=1, seed=3)
    assert (first.replayed_count, again.tried_count, again.replayed_count) == (0, 1, 1)
    assert "before still does (replayed first)" in again.describe("")
    fine = held("MR-1.2", sklearn.naive_bayes.GaussianNB(), store=tmp_path / "runs.sqlite", cases=1)
    assert (fine.tried_count, fine.replayed_count, fine.is_failing()) == (1, 0, False)
    assert held("MR-1.2", FirstColumn(), store=tmp_path / "runs.sqlite", cases=1, seed=3).tried_count == 0


def test_an_unrepeatable_learner_is_judged_by_distribution():
    class Chance:
        calls = 0

        def fit(self, x, y):
            Chance.calls += 1
            self.rng = np.random.default_rng(Chance.calls)
            return self

        def predict(self, x):
            return self.rng.choice(["L0", "L1"], len(x))

    class Drifting(Chance):
        seen: ClassVar = set()

        def fit(self, x, y):
            self.share = 0.2 if x.tobytes() in Drifting.seen else 0.8
            Drifting.seen.add(x.tobytes())
            return super().fit(x, y)

        def predict(self, x):
            return np.where(self.rng.random(len(x)) < self.share, "L0", "L1")

    assert held("refit", Chance(), cases=200).is_failing()
    assert not held("refit", Chance(), Requirement(False, "class_stat", "chance"), cases=200).is_failing()
    # one case of each of the 50 training sets counts
    assert held("refit", Drifting(), Requirement(False, "class_stat", "chance"), cases=1_000).is_failing()


def test_the_random_data_are_those_of_xie_et_al():
    sizes = set()
    for seed in range(40):
        data = draw_random_training(np.random.default_rng(seed), 3)
        sizes.add(len(data.x))
        assert data.x.shape[1] == 4
        assert len(data.t) == 3
        assert 1 <= data.x.min() <= data.x.max() <= 20
        assert set(data.y) <= {"L0", "L1", "L2"}
    assert max(sizes) <= 50
    assert len(sizes) > 10


@pytest.mark.slow
def test_learners_are_tested_on_labelled_data_too():
    iris = dm.data.load("iris")
    dm.assert_holds(sklearn.naive_bayes.GaussianNB(), iris, ["MR-1.2", "refit"], target="target", cases=40, seed=0)
    with pytest.raises(AssertionError, match=r"violates 'MR-1\.2'"):
        dm.assert_holds(FirstColumn(), iris[50:], "MR-1.2", target="target", cases=40, seed=0)


QUICK = ("-o", "datamorphic_profiles=quick: cases=4, seed=0", "--datamorphic-profile=quick")
LEARNERS = """
    import numpy as np, pytest
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.naive_bayes import GaussianNB
    import datamorphic as dm

    class FirstColumn(ClassifierMixin, BaseEstimator):
        def fit(self, x, y):
            self.first, self.labels, self.classes_ = x.iloc[:, 0].to_numpy(), np.asarray(y), np.unique(y)
            return self

        def predict(self, x):
            return self.labels[np.abs(x.iloc[:, 0].to_numpy()[:, None] - self.first).argmin(axis=1)]

    class Raises(GaussianNB):
        def fit(self, x, y):
            raise ValueError("no way")
"""


@pytest.mark.slow
def test_one_test_per_learner_and_relation(run):
    result = run(
        LEARNERS,
        "-v",
        "-rx",
        *(word.replace("cases=4", "cases=1") for word in QUICK),
        rest="""
    @dm.parametrize_with_relations([KNeighborsClassifier(1), GaussianNB()])
    def test_them(learner, relation):
        assert str(relation).startswith(relation.name + ": ")
        relation(learner)
    """,
    )
    result.stdout.fnmatch_lines(
        [
            "*::test_them?KNeighborsClassifier(n_neighbors=1)-MR-1.2? PASSED*",
            "*::test_them?GaussianNB()-MR-1.2? PASSED*",
        ]
    )
    outcomes = result.parseoutcomes()
    assert "failed" not in outcomes
    assert sum(outcomes.values()) == 2 * len(LEARNER_RELATIONS)


@pytest.mark.slow
def test_hypotheses_are_reported_and_named_relations_are_strict(run):
    code = """
    @dm.parametrize_with_relations([FirstColumn()], RELATIONS)
    def test_them(learner, relation):
        relation(learner)
    """
    result = run(LEARNERS, "-k", "MR-1.2", *QUICK, rest=code.replace("RELATIONS", "'auto'"))
    result.assert_outcomes(passed=1, deselected=len(LEARNER_RELATIONS) - 1)
    result.stdout.re_match_lines([r".*MR-1\.2\] +MR-1\.2 +\d+ +[1-9]\d* .*a hypothesis only: it is unknown whether .*"])
    strict = run(LEARNERS, *QUICK, rest=code.replace("RELATIONS", "['MR-1.2']"))
    strict.assert_outcomes(failed=1)
    strict.stdout.fnmatch_lines(
        [
            "*FirstColumn() violates 'MR-1.2'*",
            "*A correct learner of this kind may violate it: it is unknown whether FirstColumn must satisfy MR-1.2.",
            "*trained on *",
            "*To reproduce it: pytest 'test_it.py::test_them?FirstColumn()-MR-1.2?' --datamorphic-seed 0 "
            "--datamorphic-profile quick",
        ]
    )


@pytest.mark.slow
def test_a_test_without_arguments_gets_the_assertion(run):
    result = run(
        LEARNERS,
        *QUICK,
        rest="""
    @dm.parametrize_with_relations([FirstColumn(), GaussianNB()], ["MR-1.2"])
    def test_them():
        pass

    class TestThem:
        @dm.parametrize_with_relations(GaussianNB(), "MR-1.2")
        def test_them(self, tmp_path, number=3):
            assert tmp_path.exists() and number == 3
    """,
    )
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["*FirstColumn() violates 'MR-1.2': the attributes in another order*"])


@pytest.mark.slow
def test_expected_failures_and_what_raises(run):
    result = run(
        LEARNERS,
        "-rxX",
        *QUICK,
        rest="""
    @dm.parametrize_with_relations(
        [FirstColumn(), GaussianNB()], ["MR-1.2"], expected_failures={"MR-1.2": "it looks at one column"}
    )
    def test_expected():
        pass

    @dm.parametrize_with_relations(
        [Raises(), GaussianNB()], ["refit"],
        expected_failures=lambda learner: {"refit": "never"} if type(learner) is GaussianNB else {},
    )
    def test_raises():
        pass

    @dm.parametrize_with_relations([GaussianNB()], ["refit"])
    def test_last():
        pass
    """,
    )
    result.assert_outcomes(xfailed=1, xpassed=2, failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*no answer to *: the learner failed on the source data: ValueError: no way.",
            "XFAIL *FirstColumn()-MR-1.2* - it looks at one column",
        ]
    )


@pytest.mark.slow
def test_known_violations_are_expected_failures(run, monkeypatch):
    def fails(relation, learner):
        return Requirement(False, "expected_failure", "known to fail")

    monkeypatch.setattr("datamorphic.testing.parametrize.find_requirement", fails)
    result = run(
        LEARNERS,
        "-rx",
        *QUICK,
        rest="""
    @dm.parametrize_with_relations([FirstColumn()], "MR-1.2")
    def test_them():
        pass
    """,
    )
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL * - known to fail"])


@pytest.mark.slow
def test_learners_without_a_stable_text_are_named_by_type(run):
    code = """
    class Plain(FirstColumn):
        def __repr__(self):
            return object.__repr__(self)

    class Wrapped(FirstColumn):
        def __repr__(self):
            return f"Pipeline({object.__repr__(self)})"

    class Mute(FirstColumn):
        def __repr__(self):
            raise ValueError

    @dm.parametrize_with_relations([Plain(), Plain(), Wrapped(), Mute()], "MR-1.2")
    def test_them():
        pass
    """
    quick = [word.replace("cases=4", "cases=1") for word in QUICK]
    result = run(LEARNERS, *quick, rest=code)
    result.assert_outcomes(failed=4)
    names = re.findall(r"To reproduce it: pytest '(\S+)'", result.stdout.str())
    for learner in ("Plain", "Wrapped", "Mute"):
        result.stdout.fnmatch_lines([f"*{learner} violates 'MR-1.2'*"])
        assert any(name.startswith(f"test_it.py::test_them[{learner}-MR-1.2") for name in names)
    again = run(LEARNERS, names[0], *quick, rest=code)  # the test is found, and what it found before is tried again
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*1 of 1 replayed*"])


@pytest.mark.slow
def test_inapplicable_relations_are_skipped(run):
    result = run(
        LEARNERS,
        "-rs",
        *QUICK,
        rest="""
    import pandas as pd

    @dm.parametrize_with_relations(
        [GaussianNB()], ["MR-1.1"], data=pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a"] * 3}), target="y"
    )
    def test_them():
        pass
    """,
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*MR-1.1 is not applicable: all training rows have the same class*"])


def test_user_defined_relations():
    class Backwards(LearnerRelation):
        name = "backwards"
        statement = "training rows in reverse order: the same labels"

        def follow_up(self, data, labels, rng):
            return type(data)(data.x[::-1], data.y[::-1], data.t)

    @dm.parametrize_with_relations([sklearn.naive_bayes.GaussianNB()], [Backwards])
    def test_them(learner, relation):
        relation(learner)

    (mark,) = test_them.pytestmark
    (test,) = mark.args[1]
    assert test.id == "GaussianNB()-backwards"
    learner, promise = test.values
    promise(learner, cases=20, seed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one learner"),
        (([sklearn.naive_bayes.GaussianNB],), "GaussianNB is a class, not a learner. Create one: GaussianNB()."),
        (([3],), "objects with fit and predict"),
        (([FirstColumn()], ["MR-1.3"]), "There is no relation 'MR-1.3'. Did you mean 'MR-1.2'?"),
        (([FirstColumn()], [3]), "'auto', a relation, the name of one"),
    ],
)
def test_invalid_learners_and_relations_are_rejected(arguments, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        dm.parametrize_with_relations(*arguments)


def test_invalid_options_of_parametrize_are_rejected(monkeypatch):
    frame = pd.DataFrame({"x": [1.0], "y": ["a"]})
    for named, message in (
        ({"target": "y"}, "there are no data"),
        ({"data": frame}, "Give the column of the labels as target="),
        ({"data": frame, "target": "z"}, "Give the column of the labels as target="),
        ({"expected_failures": {"MR-1.22": ""}}, "There is no relation 'MR-1.22' that could be expected to fail"),
        ({"expected_failures": ["MR-1.2"]}, "a mapping of names to reasons"),
    ):
        with pytest.raises(ArgumentError, match=re.escape(message)):
            dm.parametrize_with_relations([FirstColumn()], **named)
    with pytest.raises(ArgumentError, match="takes only 'learner'"):
        dm.parametrize_with_relations([FirstColumn()])(lambda learner: None)
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(MissingExtra, match="pip install pytest"):
        dm.parametrize_with_relations([FirstColumn()])


def test_the_text_of_an_outcome():
    replayed = AssertionOutcome(relation="r", says="s", system="m", cases=5, replayed_count=1)
    assert "None of 5 new cases violates it." in replayed.describe("")
    text = AssertionOutcome(
        relation="r", says="it holds", system="m", cases=5, undefined_count=5, unjudged_reason="NaN"
    ).describe("x")
    assert (
        text
        == "It is unknown whether m satisfies 'r': it holds.\nIt gave no answer to 5 of 10 cases: NaN.\nTo reproduce it: x"
    )
