"""Every verb runs through one door: it is stored, resumed after a kill, computed on engines, limited and exported alike."""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from datamorphic.data.loans.book import make_loan_book
from datamorphic.runs.store import Store
from support.cases import LONG

pytestmark = pytest.mark.slow

#: A model that decides by income and gender, and once ends its process without warning: at the call that the file names,
#: counted over all processes, since an engine has as many as the machine has cores.
MODULE = """
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

import datamorphic as dm
from datamorphic.morphisms.stock import derive

def stop_if_ordered():
    with open("calls", "ab") as file:
        file.write(b"x")
        file.flush()
        calls = file.tell()  # what this process appended ends there, whoever appends beside it
    with suppress(FileNotFoundError):  # another process may be the one
        word, number = Path("order").read_text().split()
        if calls == int(number):
            Path("order").unlink()
            if word == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)


def decide(frame):
    stop_if_ordered()
    return np.where(frame.income - 15 * (frame.gender == "f") > 40, "yes", "no")


def square(x):
    stop_if_ordered()
    return x * x


def mirror(x):
    stop_if_ordered()
    return 1 - x


even = dm.FunctionRelation(name="even", domain=(-10, 10), follow_up=dm.relations.Affine.scaled(-1, 1))
mirrored = dm.FunctionRelation(name="mirrored", domain=[(0, 1), (0, 1)], follow_up=mirror)


class Loans:
    space = dm.Space([dm.Continuous("income", 0, 200), dm.Categorical("gender", ["f", "m"])])

    @dm.seed_maker
    def people(self):
        return pd.read_csv("people.csv")

    @dm.datamorphism
    def richer(self, people):
        return people.assign(income=people.income + 20)

    @dm.datamorphism
    def male(self, people):
        return people.assign(gender="m")

    @dm.metamorphism
    def yes_stays_yes(self, case, origin):
        return (origin.output != "yes") | (case.output == "yes")

    @dm.executor
    def decide(self, people):
        return decide(people)


sound_system = derive(Loans.space, dm.wrap(decide, space=Loans.space))
"""

#: A learner, apart from the model: its commands take a second longer to import scikit-learn.
LEARNING_MODULE = """
import numpy as np
from sklearn.neighbors import NearestCentroid

import deciding


class Learner:
    # predicts the class with the nearest mean; a fit is a call
    like = NearestCentroid()

    def fit(self, X, y):
        deciding.stop_if_ordered()
        self.classes_ = np.unique(y)
        self.means = [np.asarray(X)[np.asarray(y) == label].mean(axis=0) for label in self.classes_]
        return self

    def predict(self, X):
        distances = [((np.asarray(X) - mean) ** 2).sum(axis=1) for mean in self.means]
        return self.classes_[np.argmin(distances, axis=0)]
"""

#: A program whose mutants are tried in child processes. The one that imports it when the file says so ends their parent, or hangs.
PROGRAM = """
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import trap

trap.enter()


class Nearest:
    like = KNeighborsClassifier(1)

    def fit(self, x, y):
        self.x, self.y = np.asarray(x, float), np.asarray(y)
        return self

    def predict(self, x):
        gaps = np.asarray(x, float)[:, None, :] - self.x[None, :, :]
        return self.y[(gaps * gaps).sum(axis=2).argmin(axis=1)]
"""

TRAP_MODULE = """
import os
import signal
import time
from contextlib import suppress
from pathlib import Path


def enter():
    with open("imports", "a") as file:
        file.write("x")
    with suppress(FileNotFoundError):  # another process may be the one
        word, number = Path("order").read_text().split()
        if len(Path("imports").read_text()) == int(number):
            Path("order").unlink()
            if word == "kill":
                os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
"""

#: The command with a study of its own, whose jobs end their process or hang: at the measurement that the file names.
STUDY_MODULE = """
from datamorphic.cli.main import main
from datamorphic.studies.catalogue import STUDIES, StudyEntry

import counting

STUDIES["counting"] = StudyEntry("Counts", "nothing", {"": counting.build_rows}, lambda scale: "all")
main()
"""
COUNTING_MODULE = """
import time
from dataclasses import dataclass
from pathlib import Path

from datamorphic.studies.rows import Row
from datamorphic.studies.workload import Job

import deciding


@dataclass(frozen=True)
class Counting(Job):
    number: int

    def _compute_figures(self, seed):
        order = Path("order").read_text() if Path("order").exists() else ""
        if order == f"hang {self.number}":
            time.sleep(60)  # as often as it is tried: one that hung among others is tried again alone
        elif not order.startswith("hang"):
            deciding.stop_if_ordered()
        return {"square": self.number**2 + seed}


def build_rows(bench):
    jobs = [Counting(number) for number in range(9)]
    return [Row(str(job.number), "square", job.number**2, bench.figure(job, "square")) for job in jobs]
"""

#: The command with trees that end its process: at the training that the file names.
TRAINING_MODULE = """
import os
import signal
from pathlib import Path

from datamorphic.cli.main import main
from datamorphic.risk.credit import ladder

trainings = 0


class KillingTrees(ladder.TreeFamily):
    def answer(self, training, inputs, seed):
        global trainings
        trainings += 1
        order = Path("order")
        if order.exists() and order.read_text() == f"kill {trainings}":
            order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().answer(training, inputs, seed)


ladder.FAMILIES["decision_tree"] = KillingTrees()
main()
"""


SCRIPT = """
makeSeed([people])
repeat(3)
    randomTargetExplore(10)
    analyse([saveStatistics])
endRepeat()
makeMutant([richer])
executeTestCases()
checkMetamorphisms()
"""


@dataclass(frozen=True)
class Verb:
    """A command to try, with the call of the model at which its process is killed."""

    arguments: tuple[str, ...]
    kill_at: int
    exit_code: int = 0  # of the whole run
    small_budget: str | None = "500 runs"  # enough to begin; None if the verb has no end that a budget could cut off
    batch_options: tuple[str, ...] = ("--batch", "50")  # so that something is stored before the kill
    stored_verb: str = ""  # if it is not that of the command
    #: False if nothing is queried, or only by this process: engines and time-outs have no meaning
    has_engine: bool = True
    module: str = "datamorphic"  # that has the command
    misses_rows: bool = (
        False  # whether a row that hangs leaves the result incomplete: a figure of a study is missing then
    )


VERBS = {
    "fairness": Verb(("fairness", "deciding:decide", "people.csv", "--protected", "gender", "--outcome", "yes"), 3, 1),
    "combine": Verb(("combine", "deciding:Loans", "--strategy", "permutations"), 6),
    "laws": Verb(("laws", "deciding:sound_system"), 60, small_budget="700 runs"),
    "check": Verb(("check", "deciding:decide", "people.csv"), 4),
    "check of a learner": Verb(("check", "learning:Learner", "--inputs", "40", "--relation", "necessary"), 100),
    "test": Verb(("test", "deciding:decide", "people.csv", "--batch", "50", "--budget", "100000 runs"), 25),
    "optimise": Verb(
        ("optimise", "deciding:Loans", "--metric=label_balance", "--strategy=weakest_removal", "--max-cycles=5"),
        4,
        small_budget=None,
    ),
    "explore": Verb(("explore", "deciding:decide", "people.csv", "--walks", "60"), 6, small_budget=None),
    "plan": Verb(("explore", "deciding:decide", "people.csv", "--plan", "--walks", "200"), 100, stored_verb="plan"),
    "cover": Verb(("cover", "deciding:decide", "people.csv", "--surrogate"), 6),
    "hunt": Verb(
        ("hunt", "deciding:decide", "--data=people.csv", "--promise=income: raises yes", "--trials=40", "--budget=200"),
        6,
        small_budget="0.001s",
    ),
    "hunt in a function": Verb(
        ("hunt", "deciding:square", "even", "--trials=3", "--generator=MT-RT", "--budget=2000"),
        6,
        small_budget="0.001s",
        has_engine=False,
    ),
    "generate": Verb(
        ("generate", "deciding:mirrored", "--n=40"), 3, small_budget=None, has_engine=False, batch_options=()
    ),
    "simulate": Verb(
        ("simulate", "--relation=deciding:mirrored", "--generator=MT-RT", "--generator=SFIDMT-ART", "--trials=120"),
        40,
        small_budget="0.001s",
    ),
    "script": Verb(("script", "walks.scr", "--system", "deciding:Loans"), 12, 1),
    "select": Verb(("select", "deciding:decide", "people.csv", "--surrogate"), 6),
    # an import that a mutant makes kills; what is stored is always one mutant
    "mutate": Verb(
        ("mutate", "program.py", "--limit", "5", "--inputs", "5", "--compared", "20"),
        6,
        small_budget="2 runs",
        batch_options=(),
    ),
    "study": Verb(
        ("study", "counting"), 5, small_budget="3 runs", batch_options=(), module="studying", misses_rows=True
    ),
    "compare": Verb(("compare", "deciding:decide", "deciding:decide", "people.csv"), 3, small_budget="300 runs"),
    "credit": Verb(
        (
            *("credit", "deciding:decide", "people.csv", "--also", "other=deciding:decide"),
            *("--promises", "bank.promises", "--batch", "50"),
        ),
        12,
        4,  # 200 people are too few for a verdict
    ),
}
#: what differs between two runs that found the same
FLEETING = ("seconds", "seconds_per_row", "seconds_per_pair", "run", "f_times", "generation_seconds", "html")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in a process of its own, in a folder with a model and people."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    modules = {"deciding": MODULE, "learning": LEARNING_MODULE, "program": PROGRAM, "trap": TRAP_MODULE}
    for name, text in (modules | {"studying": STUDY_MODULE, "counting": COUNTING_MODULE}).items():
        (tmp_path / f"{name}.py").write_text(text)
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"income": rng.uniform(10, 90, 200).round(1), "gender": rng.choice(["f", "m"], 200)})
    people.to_csv("people.csv", index=False)
    (tmp_path / "walks.scr").write_text(SCRIPT)
    (tmp_path / "bank.promises").write_text("outcome: no\nincome: lowers no\n")

    def run(*arguments, code, module="datamorphic"):
        command = [sys.executable, "-m", module, *map(str, arguments)]
        process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert process.returncode == code, process.stdout + process.stderr
        return process.stdout

    return run


def order(word, number):
    """Have the model kill its process, or hang, at a call from now on."""
    for counter in ("calls", "imports"):
        Path(counter).unlink(missing_ok=True)
    with open("order", "w") as file:
        file.write(f"{word} {number}")


def read(output):
    """Return what a command printed as JSON, without what differs between equal runs."""
    return drop_fleeting(json.loads(output))


def drop_fleeting(value):
    if isinstance(value, list):
        return [drop_fleeting(item) for item in value]
    if isinstance(value, dict):
        return {name: drop_fleeting(item) for name, item in value.items() if name not in FLEETING}
    return value


@dataclass(frozen=True)
class WholeRun:
    """What an undisturbed run printed and wrote."""

    document: dict
    report: str
    junit: str


WHOLE_RUNS = {}  # once per process: a command takes seconds


def run_whole(call, verb):
    """Return an undisturbed run of a verb."""
    if verb not in WHOLE_RUNS:
        case = VERBS[verb]
        files = ("--html=report.html", "--junit=junit.xml")
        arguments = (*case.arguments, *files, "--store=none", "--json")
        document = read(call(*arguments, code=case.exit_code, module=case.module))
        WHOLE_RUNS[verb] = WholeRun(document, Path("report.html").read_text(), Path("junit.xml").read_text())
    return WHOLE_RUNS[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_is_reported_and_a_killed_one_resumed_with_the_same_result(call, verb):
    case = VERBS[verb]
    whole = run_whole(call, verb)
    assert "<html" in whole.report
    assert "<testsuite" in whole.junit
    order("kill", case.kill_at)
    call(*case.arguments, *case.batch_options, "--json", code=-signal.SIGKILL, module=case.module)
    with Store.open() as store:
        assert [(run.verb, run.state) for run in store.runs()] == [(case.stored_verb or case.arguments[0], "killed")]
    resumed = read(call("runs", "resume", 1, "--json", code=case.exit_code, module=case.module))
    assert resumed == whole.document
    with Store.open() as store:
        assert [run.state for run in store.runs()] == ["finished"]


#: engines and time-outs are the same code for all verbs, and each test takes many seconds
DISTRIBUTED_VERBS = [
    verb
    for verb, case in VERBS.items()
    if case.has_engine and (LONG or verb in ("check of a learner", "explore", "study"))
]


@pytest.mark.parametrize("verb", DISTRIBUTED_VERBS)
def test_engines_give_the_same_result(call, verb):
    case = VERBS[verb]
    arguments = (*case.arguments, "--workers=2", "--store=none", "--json")
    parallel = read(call(*arguments, code=case.exit_code, module=case.module))
    assert parallel == run_whole(call, verb).document


@pytest.mark.parametrize("verb", DISTRIBUTED_VERBS)
def test_a_row_that_hangs_does_not_stop_the_run(call, verb):
    case = VERBS[verb]
    order("hang", 3)
    exit_code = 4 if case.misses_rows else case.exit_code
    call(*case.arguments, *case.batch_options, "--timeout=5", "--store=none", code=exit_code, module=case.module)
    assert case.misses_rows or not Path("order").exists(), "no row hung"


@pytest.mark.parametrize("verb", [verb for verb, case in VERBS.items() if case.small_budget is not None])
def test_a_spent_budget_is_incomplete(call, verb):
    case = VERBS[verb]
    # the last of two budgets counts
    arguments = (*case.arguments, "--budget", case.small_budget, "--json")
    document = json.loads(call(*arguments, code=4, module=case.module))
    assert not document["complete"]
    assert document["unfinished"]


def test_what_is_incomplete_may_be_allowed(call):
    case = VERBS["fairness"]
    call(*case.arguments, "--budget", case.small_budget, "--allow-incomplete", code=0)


def test_an_optimisation_ends_with_its_budget(call):
    document = json.loads(call(*VERBS["optimise"].arguments, "--budget=210 runs", "--json", code=0))
    assert (document["stopped"], document["executions"]) == ("budget", 210)


def test_an_exploration_ends_with_its_budget(call):
    document = json.loads(call(*VERBS["explore"].arguments, "--budget=400 runs", "--json", code=0))
    assert 0 < document["runs"] <= 400
    assert document["pairs"] > 0


def test_mutants_that_are_done_are_not_tried_again(call):
    def count_imports():
        return len(Path("imports").read_text())

    case = VERBS["mutate"]
    document = json.loads(call(*case.arguments, "--json", code=0))
    run_mutants = len(document["mutants"]) - document["states"].get("equivalent: same bytecode", 0)
    assert count_imports() == 2 + run_mutants
    order("kill", 6)  # the fourth mutant kills
    call(*case.arguments, "--json", code=-signal.SIGKILL)
    call("runs", "resume", 2, "--json", code=0)
    # the original is imported twice by each; the last mutants before the kill may not have been written yet
    assert count_imports() < 6 + 2 + run_mutants


def test_a_killed_training_is_resumed_with_the_same_result(call, tmp_path):
    (tmp_path / "training.py").write_text(TRAINING_MODULE)
    make_loan_book(800, seed=0).to_csv("loans.csv", index=False)
    arguments = ("credit", "loans.csv", "--ladder=logistic_regression,decision_tree", "--repetitions=2", "--json")
    whole = read(call(*arguments, code=0, module="training"))
    order("kill", 5)  # the second tree of the second repetition
    call(*arguments, code=-signal.SIGKILL, module="training")
    order("kill", 4)  # the trees of the first repetition are stored, so there are at most three left
    assert read(call("runs", "resume", 2, "--json", code=0, module="training")) == whole
