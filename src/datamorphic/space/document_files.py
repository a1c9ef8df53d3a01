"""Reading of TOML, YAML and JSON files as plain data. Nothing in a file is evaluated."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from .._files import to_local_path
from .._typing import FilePath
from .._validation import import_optional
from ..errors import DataError


def read_document(path: FilePath, noun: str, example: str) -> dict[str, Any]:
    """Return what a TOML, YAML or JSON file declares; the ending of its name says which it is, and TOML is the default.

    Messages call the content `noun` and show an `example` of a line.
    """
    file = to_local_path(path, f"file of the {noun}")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise DataError(f"The {noun} cannot be read from {str(file)!r}: {reason}.") from None
    ending = file.suffix.lower()
    try:
        if ending in (".yaml", ".yml"):
            document = import_optional("yaml", "yaml", "Reading YAML").safe_load(text)
        else:
            document = json.loads(text) if ending == ".json" else tomllib.loads(text)
    except ImportError:
        raise
    except Exception as error:
        message = " ".join(str(error).split())
        kind = {".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}.get(ending, "TOML")
        raise DataError(f"{file.name} is not {kind} that can be read: {message}.") from None
    if not isinstance(document, dict):
        raise DataError(f"{file.name} must declare the {noun}, e.g. {example}. Got {str(document)[:80]!r}.")
    return document
