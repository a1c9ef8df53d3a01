"""`dm.play`: run a script."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .._clock import read_clock
from .._typing import EngineLike, FilePath
from .._validation import check_types, validate_seed
from ..errors import ArgumentError, Interrupted
from ..runs.engines import PersistentEngine
from ..runs.interrupts import Interrupts
from ..runs.keep import StoreOptions, resolve_seed
from .options import PlayOptions
from .persistence import keep_script, restore_files
from .player import ScriptPlayer
from .pool import TestPool
from .result import ScriptResult
from .specs import SpecMap, to_script_system
from .validation import ScriptPlan, plan_script

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.session import Session
    from ..runs.store import Store


@check_types
def play(
    script: FilePath,
    test_system: object = None,
    *,
    maps: Mapping[str, object] | None = None,
    seed: int = 0,
    engine: EngineLike = None,
    timeout: float | None = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
    progress: bool | None = None,
) -> ScriptResult:
    """Run a script of commands on a test pool.

    The script, and all scripts that it plays, are checked before the first command is run: names, numbers, files and
    repetitions. Nothing in a script is evaluated, and it can only read and write files in its own folder.

    Parameters
    ----------
    script : str or path
        The script.
    test_system : test system, its class or module, or str, optional
        What is tested until the script loads another one: a class with marked functions, or a built-in name such as
        ``"Box 1"``.
    maps : dict, optional
        Test systems by the names that the script loads: ``{"RedWine_TestSpec.class": RedWine}``. The coded classifiers
        are known by the names of their published spec files.
    seed : int
        The random seed. The same script with the same seed writes the same files.
    engine : str or Dask client, optional
        What runs the system: this process by default, ``"processes:2"`` or ``"dask://host:port"``.
    timeout : float, optional
        The number of seconds after which a row without an answer counts as hanging.
    store : str, path or Store, optional
        The run store in which the run is kept, so that it can be resumed.
    resume : int, optional
        The number of the stored run to resume. Files are restored to what they were when the run began, and the commands
        are run again with the stored answers of the system.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.

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
    options = PlayOptions(timeout=timeout)
    validate_seed("seed", options.OWNER, seed)
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store, resume)
    if resume is not None and keep is None:
        raise ArgumentError(f"Run {resume} can only be resumed from its run store. Add store=...")
    path = Path(os.fspath(script))
    if keep is not None:
        seed = resolve_seed(seed, keep)
        restore_files(keep, path)
    specs = SpecMap(maps)
    system = specs.find(test_system) if isinstance(test_system, str) else None
    if system is None and test_system is not None:
        system = to_script_system(test_system)
    plan = plan_script(path, system, specs)
    pool = TestPool(
        system, seed=seed, folder=plan.folder.root, specs=specs, engine=engine, timeout=timeout, progress=progress
    )
    pool.show = lambda text: None  # the result lists all messages
    if keep is None:
        return _run(plan, pool, None)
    with Interrupts(), keep_script(keep, plan, pool, options) as session:
        result = _run(plan, pool, session)
        session.finish(result)
        return result


def _run(plan: ScriptPlan, pool: TestPool, session: Session | None) -> ScriptResult:
    pool.session = session
    plain_engine = pool.engine
    engine = pool.engine = PersistentEngine(plain_engine)  # processes are started once, not for every command
    seed, started_at = pool.seed, read_clock()
    player, interrupted = ScriptPlayer(plan, pool), False
    try:
        player.play()
    except Interrupted:
        interrupted = True
    finally:
        pool.session = None
        pool.engine = plain_engine
        engine.shut_down()
    return ScriptResult(
        script=plan.name,
        commands=player.command_count,
        pool=pool,
        seed=seed,
        seconds=read_clock() - started_at,
        interrupted=interrupted,
        total_commands=plan.commands,
    )
