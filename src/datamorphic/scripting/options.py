"""The options of `play`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._validation import validate_timeout


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """The options of `dm.play`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "play"

    timeout: float | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None:
            validate_timeout("timeout", self.OWNER, self.timeout)

    def to_request(self) -> dict[str, Any]:
        """Return the options as a run store keeps them, for comparison on resume."""
        return {"timeout": self.timeout}
