"""`dm.play`: run a script."""

from __future__ import annotations

from .._clock import read_clock
from .._text import pluralise
from ..core.capability import capability
from ..core.execute import Execution
from ..errors import Interrupted, OutOfBudget
from .options import PlannedScript, PlayOptions
from .persistence import VERB
from .player import ScriptPlayer
from .result import ScriptResult


@capability(PlayOptions, verb=VERB)
def play(options: PlayOptions, execution: Execution[PlannedScript]) -> ScriptResult:
    """Run a script of commands on a test pool.

    The script, and all scripts that it plays, are checked before the first command is run: names, numbers, files and
    repetitions. Nothing in a script is evaluated, and it can only read and write files in its own folder. The same script with the
    same seed writes the same files. When the budget is spent, the script ends.

    A resumed script restores its files to what they were when the run began, and runs its commands again with the stored answers of
    the system.

    Returns
    -------
    ScriptResult
        With ``.pool``, ``.tests``, ``.files``, ``.describe()``, ...

    Examples
    --------
    >>> import datamorphic as dm, tempfile, pathlib
    >>> script = pathlib.Path(tempfile.mkdtemp(), "box.scr")
    >>> _ = script.write_text("makeSeed([RandomValue200])\\nrandomTargetExplore(100,mid)\\nanalyse([saveStatistics])\\n")
    >>> result = dm.play(script, "Box 1", seed=3)
    >>> result.commands, result.files
    (3, ['ExpDataFile.csv'])
    """
    plan, pool, backup = execution.subject.plan, execution.subject.pool, execution.subject.backup
    if execution.session is not None:
        backup.save(plan.outputs)
        execution.cleanups.append(backup.discard)
    player, started_at, interrupted = ScriptPlayer(plan, pool, execution), read_clock(), False
    try:
        player.play()
    except Interrupted:
        interrupted = True
    except OutOfBudget:
        rest = f"{plan.commands - player.command_count:,} of {pluralise(plan.commands, 'command')}"
        execution.unfinished.append(f"{rest}, from {player.current_call} on")
    return ScriptResult(
        script=plan.name,
        commands=player.command_count,
        pool=pool,
        seed=options.seed,
        seconds=read_clock() - started_at,
        interrupted=interrupted,
        unfinished=execution.unfinished,
        total_commands=plan.commands,
    )
