"""`PoolSession`: the test pool of one person, inside a worker process.

Every click is a command of the script language, so that what was clicked is a script: it is recorded, edited and replayed.
Nothing of it is evaluated as Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._text import to_jsonable
from ..errors import DatamorphicError, Interrupted, ScriptError, format_error_line
from ..exploration.front import Front
from ..scripting.formatter import format_call
from ..scripting.player import ScriptPlayer
from ..scripting.pool import TestPool
from ..scripting.pool_state import MORPHISM_KINDS
from ..scripting.recorder import HEADER
from ..scripting.validation import plan_script
from .subject import ChosenSubject

COMMAND_FILE = ".command.scr"
MAX_MESSAGES = 50
MAX_ROWS_PER_PAGE = 500

#: writes an event: its kind and its data
EventSink = Callable[[str, Mapping[str, Any]], None]


class PoolSession:
    """Serves requests about one test pool, one after the other."""

    def __init__(self) -> None:
        self.pool: TestPool | None = None
        self._folder = Path()

    def serve(self, request: Mapping[str, Any], write: EventSink) -> None:
        """Answer a request by the event ``reply``, or ``failure`` with a message and, in scripts, the line."""
        number = request["number"]
        handlers = {
            "open": self._open,
            "play": self._play,
            "state": lambda _: self._describe(),
            "cases": self._list_cases,
            "front": self._write_front,
            "pair": self._describe_pair,
        }
        try:
            reply = handlers[request["kind"]](request)
        except ScriptError as error:
            write("failure", {"number": number, "message": str(error), "line": getattr(error, "line", None)})
        except DatamorphicError as error:
            write("failure", {"number": number, "message": str(error)})
        except (Interrupted, KeyboardInterrupt):
            write("reply", {"number": number, "interrupted": True, **self._describe()})
        except Exception as error:  # of the system under test, or a fault of ours: the session goes on
            write("failure", {"number": number, "message": format_error_line(error)})
        else:
            write("reply", {"number": number, **reply})

    # -- requests ------------------------------------------------------------------------------------------------------

    def _open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        subject = ChosenSubject(**request["subject"])
        self._folder = Path(request["folder"])
        sys.path.insert(0, request["served"])
        self.pool = TestPool(
            _build_system(subject, request.get("trust", False)), seed=request.get("seed", 0), folder=self._folder
        )
        self.pool.show = lambda text: None  # the page lists the messages
        return self._describe()

    def _play(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run the commands of a text, after all of them were checked."""
        pool = self._require_pool()
        path = self._folder / COMMAND_FILE
        path.write_text(request["text"], encoding="utf-8")
        plan = plan_script(path, pool.source if pool.spec else None, pool.specs)
        plan.path = path.with_name(request.get("name") or "script")
        player = ScriptPlayer(plan, pool)
        player.play()
        return self._describe()

    def _list_cases(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a page of the test set as rows, sorted and searched."""
        pool = self._require_pool()
        tests = pool.tests
        frame = tests.inputs.frame
        return {"total": len(tests), "columns": list(map(str, frame.columns)), "rows": []}

    def _write_front(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def _describe_pair(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    # -- state ---------------------------------------------------------------------------------------------------------

    def _require_pool(self) -> TestPool:
        if self.pool is None:
            raise ScriptError("No test system is chosen. Choose one on the page Start.")
        return self.pool

    def _describe(self) -> dict[str, Any]:
        """Return what the page shows about the pool."""
        pool = self.pool
        if pool is None:
            return {"system": ""}
        return to_jsonable(
            {
                "system": pool.spec,
                "seed": pool.seed,
                "cases": len(pool.tests),
                "executed": int(np.sum(pool.tests.outputs is not None)) if len(pool.tests) else 0,
                "runs": pool.runs,
                "calls": pool.calls,
                "morphisms": {kind: sorted(getattr(pool.system, kind)) for kind in MORPHISM_KINDS},
                "front": None if pool.front is None else _summarize(pool.front),
                "explorations": pool.explorations,
                "measures": pool.measures,
                "judgements": pool.judgements,
                "messages": pool.messages[-MAX_MESSAGES:],
                "script": HEADER + "".join(f"{format_call(call)}\n" for call in pool.history),
            }
        )


def _summarize(front: Front) -> dict[str, Any]:
    return {"pairs": len(front), "walks": front.walks, "runs": front.runs, "strategy": front.strategy}


def _build_system(subject: ChosenSubject, trust: bool) -> object:
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
        space_options = parse_hints(*(hints.get(option) for option in ("kind", "feature-step", "bounds", "order")))
        return build_subject(
            system,
            load_data(subject.data),
            target=subject.target or None,
            space_options=space_options,
            rng=np.random.default_rng(0),
            owner="web",
            **options,
        ).system
    raise ScriptError("No test system is chosen. Choose one on the page Start.")
