"""`PoolSession`: the test pool of one person, inside a worker process.

Every click is a command of the script language, so that what was clicked is a script: it is recorded, edited and replayed.
Nothing of it is evaluated as Python.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_file
from .._text import pluralise, to_jsonable
from ..cli.console import to_option_words
from ..errors import DatamorphicError, Interrupted, ScriptError, format_error_line
from ..exploration.front import Front
from ..exploration.io import write_front
from ..morphisms.case_columns import CaseKind
from ..morphisms.decorators import MorphismMark
from ..morphisms.morphism import Morphism
from ..morphisms.system import TestSystem
from ..scripting.formatter import format_call
from ..scripting.grammar import Call
from ..scripting.names import MIDPOINT_NAMES, NUMBERED_NAMES, PROVIDED_NAMES, NameBook
from ..scripting.player import ScriptPlayer
from ..scripting.pool import TestPool
from ..scripting.recorder import HEADER
from ..scripting.validation import ScriptPlan, plan_script
from .case_table import CaseTable
from .interruption import allow_interrupts
from .subject import ChosenSubject

COMMAND_FILE = ".command.scr"
FRONT_FOLDER = ".fronts"
MAX_FRONTS_KEPT = 3
MAX_MESSAGES = 50
DATA_ROWS = "DataRows"  # the seed maker with the rows of the data of a model
#: the kinds of morphisms that a page lists
LISTED_KINDS = ("seed_maker", "datamorphism", "metamorphism", "case_filter", "set_filter", "set_metric", "analyser")
_NOTHING = {"cases": 0, "executed": 0, "runs": 0, "explorations": 0, "files": 0}
#: provided names that the page has no use for: it shows times and plots itself
UNLISTED_NAMES = ("getTime", "visualiseAll", "visualiseMutants")

#: writes an event: its kind and its data
EventSink = Callable[[str, Mapping[str, Any]], None]


class PoolSession:
    """Serves requests about one test pool, one after the other."""

    def __init__(self) -> None:
        self.pool: TestPool | None = None
        self._folder = Path()
        self._source: object = None
        self._setup: list[Call] = []
        self._table: CaseTable | None = None
        self._front_number = 0
        self._written_front: tuple[Front, Path] | None = None
        self._replayed_pool: TestPool | None = None

    def serve(self, request: Mapping[str, Any], write: EventSink) -> None:
        """Answer a request by the event ``reply``, or ``failure`` with a message and, in scripts, the line."""
        number = request["number"]
        handlers: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "open": self._open,
            "play": self._play,
            "state": lambda _: self._describe(),
            "check": self._check,
            "replay": self._replay,
            "adopt": self._adopt,
            "cases": lambda request: self._get_table().list_rows(request),
            "case": lambda request: self._get_table().describe_case(int(request["id"])),
            "front": self._write_front,
            "estimate": self._estimate,
        }
        try:
            with allow_interrupts():
                reply = handlers[request["kind"]](request)
        except ScriptError as error:
            write("failure", {"number": number, "message": error.problem, "line": error.line, "column": error.column})
        except (Interrupted, KeyboardInterrupt):
            write("reply", {"number": number, "interrupted": True, **self._describe()})
        except DatamorphicError as error:
            write("failure", {"number": number, "message": to_option_words(str(error))})
        except Exception as error:  # of the system under test, or a fault of ours: the session goes on
            write("failure", {"number": number, "message": format_error_line(error)})
        else:
            write("reply", {"number": number, **reply})

    # -- requests ------------------------------------------------------------------------------------------------------

    def _open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        subject = ChosenSubject(**request["subject"])
        self._folder = Path(request["folder"])
        sys.path.insert(0, request["served"])
        self._source = build_system(subject, request.get("trust", False))
        self.pool = self._make_pool(request.get("seed", 0))
        self._setup = self.pool.build_setup_calls()
        return self._describe()

    def _make_pool(self, seed: int) -> TestPool:
        pool = TestPool(self._source, seed=seed, folder=self._folder)
        pool.show = lambda text: None  # the page lists the messages
        return pool

    def _play(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run the commands of a text, after all of them were checked."""
        pool = self._require_pool()
        plan = self._plan(request, pool)
        message_count, begin_time = len(pool.messages), time.monotonic()
        before = self._count(pool)
        interrupted = False
        try:
            ScriptPlayer(plan, pool).play()
        except (Interrupted, KeyboardInterrupt):
            interrupted = True
            if pool.has_unrecorded_cases:
                pool.keep_unrecorded_cases(self._choose_file("stopped", "parquet"))
        outcome = self._describe_change(before, self._count(pool), time.monotonic() - begin_time, pool)
        messages = pool.messages[message_count:][-MAX_MESSAGES:]
        return {**self._describe(), "interrupted": interrupted, "outcome": outcome, "new_messages": messages}

    def _check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Check a script without running it: all problems that are found, with line and column."""
        try:
            plan = self._plan(request, self._require_pool())
        except ScriptError as error:
            problems = getattr(error, "problems", None) or [error]
            return {
                "problems": [
                    {"line": problem.line, "column": problem.column, "message": problem.problem} for problem in problems
                ]
            }
        except DatamorphicError as error:
            return {"problems": [{"line": 1, "column": 1, "message": str(error)}]}
        return {"problems": [], "commands": plan.commands}

    def _replay(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a script on a fresh pool with the seed that this pool began with, and compare the two."""
        pool = self._require_pool()
        fresh_pool = self._make_pool(int(request.get("seed", 0)))
        plan = self._plan(request, fresh_pool)
        self._replayed_pool, begin_time = None, time.monotonic()
        ScriptPlayer(plan, fresh_pool).play()
        self._replayed_pool = fresh_pool
        adopted = not len(pool.tests)
        comparison = {**compare_pools(pool, fresh_pool), "adopted": adopted}
        if adopted:
            self._adopt({})
        outcome = self._describe_change(_NOTHING, self._count(fresh_pool), time.monotonic() - begin_time, fresh_pool)
        return {**self._describe(), "comparison": comparison, "outcome": outcome}

    def _adopt(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Make the pool of the last replay the pool."""
        if self._replayed_pool is None:
            raise ScriptError("No script was replayed. Replay one first.")
        self.pool, self._replayed_pool, self._table = self._replayed_pool, None, None
        history = self.pool.history
        if [format_call(call) for call in history[: len(self._setup)]] == list(map(format_call, self._setup)):
            del history[: len(self._setup)]  # they are written before every recorded script
        return self._describe()

    def _estimate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Try a command on a copy of the pool: what it costs, and for a combination how many new cases there can be.

        `text` is the command, small enough for a trial; `makers` are the seed makers that come before it.
        """
        pool = self._require_pool()
        trial_pool = self._make_pool(pool.seed)
        trial_pool.take_cases(pool.tests)
        size = None
        if combination := request.get("combination"):
            if request["makers"]:
                ScriptPlayer(self._plan({"text": f"makeSeed({request['makers']})"}, trial_pool), trial_pool).play()
            size = trial_pool.count_combinations(combination["strategy"], combination["moves"], combination["order"])
        case_count, mutant_count = len(trial_pool.tests), _count_mutants(trial_pool)
        begin_time = time.monotonic()
        ScriptPlayer(self._plan(request, trial_pool), trial_pool).play()
        seconds = time.monotonic() - begin_time
        new_cases = _count_mutants(trial_pool) - mutant_count
        return {"size": size, "cases": case_count, "new_cases": new_cases, "seconds": seconds}

    def _write_front(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Write the border pairs of the last exploration to a file, and return its path."""
        front = self._require_pool().front
        if front is None:
            return {"path": None, "pairs": 0}
        if self._written_front is None or self._written_front[0] is not front:
            folder = self._folder / FRONT_FOLDER
            folder.mkdir(exist_ok=True)
            self._front_number += 1
            path = (
                folder / f"front-{time.time_ns()}.parquet"
            )  # another name for another front: readers keep what they read
            write_front(front, path, query_seeds=False)
            for old_path in sorted(folder.glob("front-*.parquet"))[:-MAX_FRONTS_KEPT]:
                with contextlib.suppress(OSError):
                    old_path.unlink()
            self._written_front = front, path
        return {"path": str(self._written_front[1]), **_summarise(front)}

    # -- state ---------------------------------------------------------------------------------------------------------

    def _require_pool(self) -> TestPool:
        if self.pool is None:
            raise ScriptError("No test system is chosen. Choose one on the page Start.")
        return self.pool

    def _plan(self, request: Mapping[str, Any], pool: TestPool) -> ScriptPlan:
        path = self._folder / COMMAND_FILE
        write_file(path, str(request["text"]), "script")
        plan = plan_script(path, pool.source if pool.spec else None, pool.specs)
        plan.path = path.with_name(request.get("name") or "script")
        return plan

    def _choose_file(self, stem: str, suffix: str) -> str:
        number = 1
        while (self._folder / f"{stem}-{number}.{suffix}").exists():
            number += 1
        return f"{stem}-{number}.{suffix}"

    def _get_table(self) -> CaseTable:
        """Return the table of the cases as they are now."""
        pool = self._require_pool()
        judged = list(dict.fromkeys(judgement["metamorphism"] for judgement in pool.judgements))
        judged = [name for name in judged if name in pool.system.metamorphisms]
        if self._table is None or self._table.tests is not pool.tests or self._table.judged_names != judged:
            self._table = CaseTable(pool.tests, pool.system, judged)
        return self._table

    def _count(self, pool: TestPool) -> dict[str, Any]:
        return {
            "cases": len(pool.tests),
            "executed": 0 if pool.tests.outputs is None else int(pool.tests.outputs.ok.sum()),
            "runs": pool.runs,
            "explorations": len(pool.explorations),
            "files": len(pool.files),
        }

    def _describe_change(
        self, before: Mapping[str, Any], after: Mapping[str, Any], seconds: float, pool: TestPool
    ) -> str:
        """Return what commands changed in a pool, in words."""
        parts = []
        if pairs := [exploration["pairs"] for exploration in pool.explorations[before["explorations"] :]]:
            parts.append(pluralise(sum(pairs), "border pair"))
        added = after["cases"] - before["cases"]
        if added:
            parts.append(f"{pluralise(abs(added), 'case')} {'added' if added > 0 else 'removed'}")
        if after["runs"] > before["runs"]:
            parts.append(pluralise(after["runs"] - before["runs"], "run"))
        if files := pool.files[before["files"] :]:
            parts.append(f"written: {', '.join(path.name for path in files)}")
        return f"{', '.join(parts) or 'done'} ({seconds:.1f} s)"

    def _describe(self) -> dict[str, Any]:
        """Return what the page shows about the pool."""
        pool = self.pool
        if pool is None:
            return {"system": ""}
        return to_jsonable(
            {
                "system": pool.spec,
                "seed": pool.seed,
                **self._count(pool),
                "calls": pool.calls,
                "names": list_names(pool.source.names),
                "features": [
                    {"name": str(feature.name), "text": feature.describe()} for feature in pool.space.features[:50]
                ],
                "can_adopt": self._replayed_pool is not None,
                "front": None if pool.front is None else _summarise(pool.front),
                "explorations": pool.explorations,
                "measures": pool.measures[-MAX_MESSAGES:],
                "judgements": pool.judgements[-MAX_MESSAGES:],
                "messages": pool.messages[-MAX_MESSAGES:],
                "script": HEADER + "".join(f"{format_call(call)}\n" for call in (*self._setup, *pool.history)),
            }
        )


def list_names(book: NameBook) -> dict[str, dict[str, Any]]:
    """Return the morphisms that commands may name, by kind: declared, provided for all systems, and those with a number."""
    names: dict[str, dict[str, Any]] = {}
    for kind in LISTED_KINDS:
        declared = [entry.name for entry in book.expand(kind, ["ALL"])]
        provided = [name for name in PROVIDED_NAMES.get(kind, ()) if name not in UNLISTED_NAMES]
        if kind == "analyser":
            provided = [name for name in provided if name != "stop_Invoker" or book.models]
            provided += [f"start_{model}_Invoker" for model in book.models]
        names[kind] = {"declared": declared, "provided": provided, "numbered": list(NUMBERED_NAMES.get(kind, {}))}
    moves = book.list_moves()
    midpoints = [name for name in names["datamorphism"]["declared"] if name not in moves]
    names["datamorphism"] = {"declared": moves, "provided": [], "numbered": []}
    names["midpoint"] = {"declared": midpoints or [MIDPOINT_NAMES[0]], "provided": [], "numbered": []}
    return names


def compare_pools(pool: TestPool, other: TestPool) -> dict[str, Any]:
    """Return whether a replay gave the same cases and the same border pairs."""
    comparison: dict[str, Any] = {"cases": [len(pool.tests), len(other.tests)]}
    comparison["same_cases"] = _are_equal(
        (pool.tests.inputs.codes, pool.tests.ids, pool.tests.origins),
        (other.tests.inputs.codes, other.tests.ids, other.tests.origins),
    ) and _have_equal_outputs(pool, other)
    fronts = [pool.front, other.front]
    comparison["pairs"] = [None if front is None else len(front) for front in fronts]
    comparison["same_front"] = None
    if pool.front is not None and other.front is not None:
        columns = [
            (front.a.codes, front.b.codes, front.a_output.astype(str), front.b_output.astype(str), front.walk)
            for front in (pool.front, other.front)
        ]
        comparison["same_front"] = _are_equal(*columns)
    return comparison


def _are_equal(columns: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(
        np.array_equal(column, other, equal_nan=column.dtype.kind == "f" and other.dtype.kind == "f")
        for column, other in zip(columns, others, strict=True)
    )


def _have_equal_outputs(pool: TestPool, other: TestPool) -> bool:
    ours, theirs = pool.tests.outputs, other.tests.outputs
    if ours is None or theirs is None:
        return ours is theirs
    return _are_equal((ours.ok, ours.to_objects().astype(str)), (theirs.ok, theirs.to_objects().astype(str)))


def _count_mutants(pool: TestPool) -> int:
    return int((pool.tests.kinds == CaseKind.MUTANT).sum())


def _summarise(front: Front) -> dict[str, Any]:
    return {"pairs": len(front), "walks": front.walks, "runs": front.runs, "strategy": front.strategy}


def build_system(subject: ChosenSubject, trust: bool) -> object:
    """Return the test system of a subject: a name, a class, or moves derived from the data of a model."""
    if subject.kind == "demo":
        return subject.subject
    if subject.kind == "module":
        from ..cli.load import load_object

        return load_object(subject.model)
    if subject.kind == "files":
        from ..cli.load import load_data, load_system
        from ..cli.options import parse_hints
        from ..morphisms.subject import build_subject

        system, options = load_system(subject.model, None, trust)
        hints = {
            option: [f"{name}={value}" for name, value in values.items()] for option, values in subject.hints.items()
        }
        space_options = parse_hints(*(hints.get(option) for option in ("kind", "column-step", "bounds", "order")))
        built = build_subject(
            system,
            load_data(subject.data),
            target=subject.target or None,
            space_options=space_options,
            rng=np.random.default_rng(0),
            owner="web",
            **options,
        )
        rows = built.seeds
        maker = Morphism.from_function(
            DATA_ROWS, MorphismMark(kind="seed_maker"), lambda: rows.frame, f"{subject.name}.{DATA_ROWS}"
        )
        derived = built.system
        morphisms = [maker, *derived.datamorphisms.values()]
        return TestSystem(subject.name, morphisms, space=rows.space, distance=derived.distance, sut=built.sut)
    raise ScriptError("No test system is chosen. Choose one on the page Start.")
