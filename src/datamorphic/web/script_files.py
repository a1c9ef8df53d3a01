"""The scripts of a person: those recorded, those saved in the workspace, and those of the served folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .._files import write_file
from ..errors import UsageError
from ..scripting.grammar import MAX_SCRIPT_BYTES
from .folder import SCRIPT_SUFFIXES, ServedFolder
from .pool_client import RECORDED_FILE

_SCRIPT_NAME = re.compile(r"\w[\w .()+-]{0,80}")


@dataclass(frozen=True)
class ScriptFiles:
    """Reads and writes scripts; only `saved` ones are written."""

    saved: ServedFolder
    served: ServedFolder

    def list_choices(self) -> dict[str, str]:
        """Return the scripts that can be opened: a key with the place, and a label for people."""
        choices = {"recorded:": "Recorded commands"}
        choices |= {
            f"saved:{name}": name
            for name in self.saved.list_scripts()
            if name != RECORDED_FILE and not name.startswith(".")
        }
        choices |= {f"served:{name}": f"{name} (served folder)" for name in self.served.list_scripts()}
        return choices

    def read(self, key: str) -> str:
        """Return the text of a script; the key is one of `list_choices`."""
        place, _, name = key.partition(":")
        folders = {"saved": self.saved, "served": self.served}
        if place not in folders or not name.lower().endswith(SCRIPT_SUFFIXES):
            raise UsageError(f"{key[:100]!r} is not a script. Choose one from the list.")
        path = folders[place].find_file(name)
        if path.stat().st_size > MAX_SCRIPT_BYTES:
            raise UsageError(f"{name!r} has more than {MAX_SCRIPT_BYTES:,} bytes, which no script may have.")
        try:
            return path.read_text(encoding="utf-8").replace("\r\n", "\n")
        except (OSError, ValueError):
            raise UsageError(f"{name!r} cannot be read as UTF-8 text.") from None

    def save(self, name: str, text: str) -> str:
        """Write a script of the workspace, and return its key."""
        path = self.saved.root / clean_name(name)
        if path.is_symlink():
            raise UsageError(f"{path.name!r} is a link. Choose another name.")
        if len(text.encode()) > MAX_SCRIPT_BYTES:
            raise UsageError(
                f"A script has at most {MAX_SCRIPT_BYTES:,} bytes. Split it, and join the parts with playTestScript."
            )
        write_file(path, text, "script")
        return f"saved:{path.name}"

    def remove(self, key: str) -> None:
        """Delete a script of the workspace."""
        place, _, name = key.partition(":")
        if place != "saved":
            raise UsageError("Only scripts that were saved here can be deleted.")
        self.saved.find_file(clean_name(name)).unlink()


def clean_name(name: str) -> str:
    """Return the name of a script file, or raise.

    Examples
    --------
    >>> clean_name("borders of box 2")
    'borders of box 2.scr'
    """
    stem = re.sub(r"\.scr$", "", name.strip(), flags=re.IGNORECASE)
    if not _SCRIPT_NAME.fullmatch(stem):
        raise UsageError(
            f"{name[:60]!r} is not a name for a script. Use letters, digits, spaces, - and _, such as 'borders'."
        )
    file = Path(f"{stem}.scr").name
    if file == RECORDED_FILE:
        raise UsageError(f"{RECORDED_FILE!r} is written by every command. Choose another name.")
    return file
