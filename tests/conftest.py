"""Shared fixtures."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer.testing
from _pytest.doctest import DoctestModule
from _pytest.pathlib import import_path
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import datamorphic as dm
from datamorphic._clock import use_clock
from datamorphic.data import sets
from datamorphic.errors import DataError
from support.clock import CpuClock, HangClock, ManualClock
from support.needs import explain_missing

gc.disable()  # until the tests are collected: nothing made before goes away

# Whatever a test leaves in the temporary directory goes away with the session. Workers share the folder of the process
# that started them, and other users may enter it: a PostgreSQL server does not run as root.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _FOLDER = tempfile.TemporaryDirectory(prefix="datamorphic-tests-", ignore_cleanup_errors=True)
    os.chmod(_FOLDER.name, 0o755)
    os.environ["TMPDIR"] = tempfile.tempdir = _FOLDER.name

# In the background of a shell, Ctrl-C is ignored, and tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Commands keep their runs in the user's data folder by default. Those of the tests stay out of it.
os.environ["DATAMORPHIC_STORE"] = os.path.join(tempfile.mkdtemp(prefix="store-"), "runs.sqlite")

# Real data sets may lie beside a checkout; the package itself does not look there. Without them, tests skip.
_LOCAL_DATA = Path(__file__).parents[2] / "shared" / "data"
if _LOCAL_DATA.is_dir():
    os.environ.setdefault(sets.HOME_VARIABLE, str(_LOCAL_DATA))

# CliRunner builds the parsers of all commands again for each call, which takes longer than most of the commands.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# A busy machine draws and answers slowly, which is no failure. DATAMORPHIC_LONG searches longer.
settings.register_profile(
    "datamorphic",
    deadline=None,
    max_examples=500 if "DATAMORPHIC_LONG" in os.environ else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("datamorphic")
if (
    "DATAMORPHIC_LONG" not in os.environ
):  # reads the source of all modules for constants to draw: seconds in every process
    providers.is_local_module_file = lambda path: False
COMPILER = pytest.StashKey[subprocess.Popen]()
THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Rewriting the asserts of all test files takes ten seconds in every process, so the outcome is kept for the next run even
# where $PYTHONDONTWRITEBYTECODE is set. What tests import later is not: they write modules, change them, and read them again.
_WITHOUT_BYTECODE = sys.dont_write_bytecode
sys.dont_write_bytecode = False


@pytest.fixture(scope="session", autouse=True)
def _no_downloads():
    """Skip a test that needs a real data set that is missing: no test uses the network."""
    import sklearn.datasets

    names = {number: name for name, number in sets.OPENML.items()}

    def skip(*, data_id, **options):
        pytest.skip(f"{names[data_id]}.csv is missing: set ${sets.HOME_VARIABLE} to a folder that has it")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.datasets, "fetch_openml", skip)
        yield


@pytest.fixture(scope="session")
def real_data():
    """Load a real data set by name, or skip if it is missing."""

    def load_or_skip(name):
        try:
            return dm.data.load(name)
        except DataError as error:  # OpenML does not have it
            pytest.skip(str(error))

    return load_or_skip


@pytest.fixture(scope="session", autouse=True)
def _remembered_reference_models():
    """Fit the reference model of an audit once for the same data: a third of the time of small audits."""
    from datamorphic.audit import context

    fit, models = context.fit_reference_model, {}

    def fit_once(inputs, labels, rows, *, numeric, seed, seconds=None, dates=()):
        features = [(feature.kind, feature.high) for feature in inputs.space.features]
        key = pickle.dumps((inputs.codes, features, labels, rows, numeric, seed, dates))
        if key not in models:
            models[key] = fit(inputs, labels, rows, numeric=numeric, seed=seed, seconds=seconds, dates=dates)
        return models[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "fit_reference_model", fit_once)
        yield


@pytest.fixture
def clock():
    """A clock that advances only when the test moves it."""
    with use_clock(ManualClock()) as clock:
        yield clock


@pytest.fixture
def cpu_clock():
    """A clock that advances only while this process computes."""
    with use_clock(CpuClock()):
        yield


@pytest.fixture
def hang_clock(tmp_path):
    """A clock by which only what hangs takes long: what writes the file `hang_clock.path`, and then waits for ever."""
    with use_clock(HangClock(tmp_path / "hangs")) as clock:
        yield clock


@pytest.fixture
def mixed():
    """A small space with every kind of feature."""
    return dm.Space(
        [dm.Continuous("x", 0, 6.28, step=0.2), dm.Integer("n", 0, 10), dm.Categorical("c", ["a", "b", "c"])]
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Skip a test whose fixtures need what is missing: a package of an extra, or a POSIX system."""
    return (yield from _skip_without_needs())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test that needs what is missing, see `pytest_runtest_setup`."""
    return (yield from _skip_without_needs())


def _skip_without_needs():
    try:
        return (yield)
    except (ImportError, AttributeError, dm.errors.DatamorphicError) as error:
        if reason := explain_missing(error):
            pytest.skip(reason)
        raise


SLOW_EXAMPLES = {  # in docstrings, where they cannot be marked
    "datamorphic.mutation.run.mutate",
    "datamorphic.relations.check.run.check",
}


COMPILED_TESTS = (
    "tests/hunting/",
    "tests/relations/test_function.py::test_a_declared_domain",
    "tests/reference/test_selection",
    "tests/reference/test_groups",
    "tests/quality/test_group",
    "tests/test_docs.py::test_the_code_runs[README",
    "tests/test_docs.py::test_the_code_runs[docs/guides/hunting",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Begin to import at another file in each process, or all would rewrite the asserts of the same files at once."""
    if not hasattr(session.config, "workerinput"):
        return
    files = [
        path
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))
        if not any(pytest_ignore_collect(part, session.config) for part in (path, path.parent))
    ]
    worker = session.config.workerinput
    first = int(worker["workerid"].removeprefix("gw")) * len(files) // worker["workercount"]
    for path in files[first:] if first else ():
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting the file says it again
            import_path(path, mode="importlib", root=session.config.rootpath, consider_namespace_packages=False)


FOLDER_MARKS = {"integration": ["integration"], "quality": ["quality", "slow"], "behaviour": ["slow"]}


SLOW_FILE = re.compile(r"^pytestmark = (\[\s*)?(pytest\.mark\.\w+, )*pytest\.mark\.slow", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """Spare the import of files whose tests are all deselected."""
    selection = config.getoption("markexpr")
    if selection == "not studio":
        return collection_path.name.startswith("test_studio") or None
    if selection != "not slow":
        return None
    if collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return bool(SLOW_FILE.search(collection_path.read_text(encoding="utf-8"))) or None
    return "slow" in FOLDER_MARKS.get(collection_path.name, ()) or None


class Docstrings:
    """Search docstrings only in modules with examples, and in no tests. (Hooks of this file do not see the package.)"""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path):
        collectors = yield
        if file_path.suffix == ".py" and "tests" not in file_path.parts and b">>>" in file_path.read_bytes():
            return collectors
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_collection_modifyitems(config, items):
    """Mark tests by their folder: those of real systems, of seeded statistical claims, and of recorded behaviour."""
    if hasattr(config, "workerinput"):  # last, when the kernels are compiled: or every process would compile them
        items.sort(key=lambda item: item.nodeid.startswith(COMPILED_TESTS))
    tests = Path(__file__).parent
    for item in items:
        for mark in FOLDER_MARKS.get(
            item.path.relative_to(tests).parts[0] if item.path.is_relative_to(tests) else "", ()
        ):
            item.add_marker(mark)
        if item.name in SLOW_EXAMPLES:
            item.add_marker("slow")


def pytest_collection_finish():
    """Spare the garbage collector the objects of imports and of thousands of tests: a tenth of the time of all tests."""
    sys.dont_write_bytecode = _WITHOUT_BYTECODE
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_configure(config):
    """Where several processes share the work: one thread each, and the kernels compiled while the first tests run."""
    config.pluginmanager.register(Docstrings())
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        gc.enable()  # this process collects no tests
        for variable in THREAD_LIMITS:  # threads of two workers would wait for each other, at ten times the cost
            os.environ.setdefault(variable, "1")
        script = Path(__file__).parent.joinpath("support/compile_kernels.py")
        untraced = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        config.stash[COMPILER] = subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL, env=untraced)


def pytest_unconfigure(config):
    compiler = config.stash.get(COMPILER, None)
    if compiler is not None:
        compiler.kill()
        compiler.wait()
