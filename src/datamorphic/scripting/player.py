"""Run the commands of a checked script on a test pool."""

from __future__ import annotations

from ..errors import Interrupted, ScriptError, SystemFailed, UsageError
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from .formatter import format_call
from .pool import TestPool
from .structure import Repetition, Statement, Step
from .validation import ScriptPlan

MAX_PROGRESS_CHARACTERS = 60


class ScriptPlayer:
    """Runs a plan: each command calls its method of the pool."""

    def __init__(self, plan: ScriptPlan, pool: TestPool) -> None:
        self.plan, self.pool = plan, pool
        self.command_count = 0  # commands that were run
        self._total_calls = self._total_runs = 0

    def play(self) -> None:
        """Run all commands; an error says where in the script it happened."""
        with Interrupts() as interrupts, Progress(self.plan.name, self.pool.progress) as progress:
            self._interrupts, self._progress = interrupts, progress
            self._play_steps(self.plan.steps)

    def _play_steps(self, steps: list[Step]) -> None:
        for step in steps:
            if isinstance(step, Repetition):
                for _ in range(step.times):
                    self._play_steps(step.steps)
            elif step.command.name == "playTestScript":
                path = self.pool.folder.find_file(str(step.values[0]), self.pool.script_folder)
                self._play_steps(self.plan.scripts[path])
            else:
                self._run(step)

    def _run(self, statement: Statement) -> None:
        if self._interrupts.is_stopped():
            raise Interrupted("interrupted")
        share = 1 / max(1, self.plan.commands)
        text = format_call(statement.call)[:MAX_PROGRESS_CHARACTERS]
        self._progress.show(text, self.command_count * share)
        runs_before, calls_before = self.pool.runs, self.pool.calls
        journal = None if self.pool.session is None else self.pool.session.journal
        if journal is not None:
            journal.begin_part(self.command_count * share, share, self._total_runs, self._total_calls)
        try:
            getattr(self.pool, statement.command.method)(*statement.values)
        except (ScriptError, Interrupted):
            raise
        except UsageError as error:
            raise statement.fail(str(error)) from error
        except SystemFailed as error:
            raise SystemFailed(str(statement.fail(str(error)))) from error
        self.command_count += 1
        self._total_runs += max(0, self.pool.runs - runs_before)
        self._total_calls += self.pool.calls - calls_before
