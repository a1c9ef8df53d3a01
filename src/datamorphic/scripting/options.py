"""The options of `play`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from .._typing import FilePath, ModelLike
from ..core.execute import CapabilityOptions, Execution
from ..core.groups import SEED
from ..core.options import Option
from .persistence import FileBackup, hash_files, restore_files
from .pool import TestPool
from .specs import SpecMap
from .validation import ScriptPlan, plan_script


@dataclass(frozen=True, eq=False)
class PlannedScript:
    """A script that was checked, with the pool that its commands change, and the copies of its files."""

    plan: ScriptPlan
    pool: TestPool
    backup: FileBackup


@dataclass(frozen=True, eq=False)
class PlayOptions(CapabilityOptions):
    """The options of `dm.play`, validated."""

    OWNER: ClassVar[str] = "play"

    script: Annotated[FilePath, Option("The script.", stored=False)]  # its name and its text are
    model: Annotated[
        ModelLike | None,
        Option(
            "What is tested until the script loads another one: a test system, its class or module, or a built-in name such as "
            '``"Box 1"``.',
            former_names=("test_system",),
            stored=False,
        ),
    ] = None
    _: KW_ONLY
    maps: Annotated[
        Mapping[str, object] | None,
        Option(
            'Test systems by the names that the script loads: ``{"RedWine_TestSpec.class": RedWine}``. The coded classifiers '
            "are known by the names of their published spec files.",
            "SPEC=MODULE:CLASS",
            flag="map",
            help="The test system that loadTestSpec(SPEC) loads. Repeatable.",
            repeatable=True,
            stored=False,
        ),
    ] = None
    seed: Annotated[int, SEED] = 0

    def make_plan(self, *, needs_system: bool = True) -> ScriptPlan:
        """Check the script, and return its plan; a wrong script raises `ScriptError` with line and column."""
        specs = SpecMap(self.maps)
        system = None if self.model is None else specs.to_system(self.model)
        return plan_script(Path(os.fspath(self.script)), system, specs, needs_system=needs_system)

    def make_subject(self, execution: Execution[Any]) -> PlannedScript:
        """Return the script with its pool; the files of a resumed run become what they were when it began."""
        stored_run = execution.read_stored_run()
        token = secrets.token_hex(8) if stored_run is None else restore_files(stored_run, self.script)
        plan = self.make_plan()
        settings: dict[str, Any] = {"engine": self.engine, "timeout": self.timeout, "progress": self.progress}
        pool = TestPool(plan.system, seed=self.seed, folder=plan.folder.root, specs=plan.specs, **settings)
        pool.show = lambda text: None  # the result lists all messages
        return PlannedScript(plan, pool, FileBackup(plan.folder, token))

    def describe_run(self, execution: Execution[PlannedScript]) -> dict[str, Any]:
        """Return what a run store keeps; of the scripts and of the files that they read, hashes."""
        plan, backup = execution.subject.plan, execution.subject.backup
        inputs = hash_files(plan, plan.inputs)
        facts = {
            "script": plan.name,
            "commands": plan.commands,
            "scripts": hash_files(plan, set(plan.scripts)),
            "inputs": inputs,
            "backup": backup.token,
        }
        system = plan.system
        return {
            "system": plan.name if system is None else f"{plan.name} ({system.spec})",
            "parameters": self.to_request() | facts,
            "model": None if system is None else system.origin,
            "seeds": json.dumps(inputs),
        }
