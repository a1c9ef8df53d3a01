"""`Engine`: the base class of all engines, which runs a system in this process."""

from __future__ import annotations

from collections.abc import Sequence

from ..systems.base import Executor
from ..systems.isolation import IsolatedSystem


class Engine:
    """Runs a system in this process; the base class of all engines.

    An engine opens lanes to a system. A lane is an executor that reaches the system, in this process or elsewhere,
    and is used by one thread at a time. `open_lanes` is called once per run, with the system and the seconds that a
    batch may take. `close` is called when the run ends, for whatever reason.

    The same seed gives the same result on all engines: queries are cut into pieces that do not depend on the
    number of lanes, and lanes use no randomness.
    """

    name = "serial"
    workers = 1
    _lanes: Sequence[Executor] = ()

    def open_lanes(self, system: Executor, timeout: float | None) -> Sequence[Executor]:
        """Return the lanes to the system."""
        self._lanes = [system] if timeout is None else [IsolatedSystem(system, timeout)]
        return self._lanes

    def close(self) -> None:
        """End the processes that belong to this run."""
        for lane in self._lanes:
            if isinstance(lane, IsolatedSystem):
                lane.shut_down()

    def __repr__(self) -> str:
        return f"<engine {self.name}>"
