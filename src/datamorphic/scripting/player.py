"""Run the commands of a checked script on a test pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.execute import Execution
from ..errors import Interrupted, OutOfBudget, ScriptError, SystemFailed, UsageError
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from .folder import read_script
from .formatter import format_call
from .pool import TestPool
from .structure import Repetition, Statement, Step, StepBuilder
from .validation import MAX_COMMANDS, ScriptPlan

MAX_CALL_CHARACTERS = 60  # that are shown


class ScriptPlayer:
    """Runs a plan: each command calls its method of the pool, within the budget of the `execution`, if there is one."""

    def __init__(self, plan: ScriptPlan, pool: TestPool, execution: Execution[Any] | None = None) -> None:
        self.plan, self.pool, self._execution = plan, pool, execution
        self.command_count = 0  # commands that were run
        self.current_call = ""  # the command that is run

    def play(self) -> None:
        """Run all commands; an error says where in the script it happened."""
        pool, execution = self.pool, self._execution
        own_engine, own_drive = pool.engine, pool.drive
        if execution is not None:
            pool.engine, pool.drive = execution.engine, execution.drive
        try:
            with Interrupts() as interrupts, Progress(self.plan.name, pool.progress) as progress:
                self._interrupts, self._progress = interrupts, progress
                self._play_steps(self.plan.steps)
        finally:
            pool.engine, pool.drive = own_engine, own_drive

    def _play_steps(self, steps: list[Step]) -> None:
        for step in steps:
            if isinstance(step, Repetition):
                for _ in range(step.times):
                    self._play_steps(step.steps)
            elif step.command.name == "playTestScript":
                path = self.pool.folder.find_file(str(step.values[0]), self.pool.script_folder)
                self._play_steps(self.plan.scripts[path] if path in self.plan.scripts else self._read_recording(path))
            else:
                self._run(step)

    def _read_recording(self, path: Path) -> list[Step]:
        """Return the commands that the script itself has recorded, none of which plays or repeats others."""
        builder = StepBuilder(self.pool.folder.to_text(path))
        read_script(path, builder.file, builder.add)
        steps = builder.finish()
        self.plan.commands += len(steps)
        return steps

    def _run(self, statement: Statement) -> None:
        if self.command_count >= MAX_COMMANDS:
            raise statement.fail(
                f"More than {MAX_COMMANDS:,} commands were run, including recorded ones. Play recordings less often."
            )
        if self._interrupts.is_stopped():
            raise Interrupted("interrupted")
        share = 1 / max(1, self.plan.commands)
        self.current_call = format_call(statement.call)[:MAX_CALL_CHARACTERS]
        self._progress.show(self.current_call, self.command_count * share)
        execution = self._execution
        if execution is not None:
            execution.part = self.command_count * share, share
            execution.is_going_on()
        try:
            getattr(self.pool, statement.command.method)(*statement.values)
        except (ScriptError, OutOfBudget):
            raise
        except UsageError as error:
            if execution is not None and execution.is_spent:
                raise OutOfBudget(str(error)) from error
            raise statement.fail(str(error)) from error
        except SystemFailed as error:
            raise SystemFailed(str(statement.fail(str(error)))) from error
        if execution is not None and execution.is_spent:
            raise OutOfBudget("the budget is spent")
        self.command_count += 1
