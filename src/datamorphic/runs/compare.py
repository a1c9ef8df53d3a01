"""How two stored runs differ in their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # SQLAlchemy is loaded when a store is opened
    from .run import Run

SETTINGS = ("verb", "system", "seed", "model_hash", "data_hash")
SETTING_GROUPS = ("parameters", "versions", "environment")
#: arguments on the command line that parameters do not repeat
REQUEST_SETTINGS = ("model", "data", "subject", "target", "seeds")


def compare_settings(first: Run, second: Run) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ between two runs, each with both values."""
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in SETTINGS}
    for group in SETTING_GROUPS:
        before, after = _flatten_request(getattr(first, group)), _flatten_request(getattr(second, group))
        pairs |= {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())}
    return {name: values for name, values in pairs.items() if values[0] != values[1]}


def _flatten_request(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the request replaced by those of its arguments that say something new."""
    request = settings.get("words", {})
    return {name: value for name, value in settings.items() if name != "words"} | {
        name: request[name] for name in REQUEST_SETTINGS if request.get(name) is not None
    }
