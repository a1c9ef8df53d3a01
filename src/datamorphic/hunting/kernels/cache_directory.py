"""Where compiled kernels are kept for later processes.

They are filed by a hash of their sources, not by where the package is installed or by its version, so that an upgrade that
leaves them as they are keeps them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ...relations import box

MAX_DAYS_UNUSED = 30  # of compiled kernels of another version


@cache
def prepare_cache_directory() -> Path | None:
    """Create the directory of compiled kernels; return None if it is not writable.

    Kernels of other versions that were not used for a month are removed.
    """
    from platformdirs import user_cache_path

    custom_base = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(custom_base) if custom_base else user_cache_path("datamorphic", appauthor=False)
    directory = base / "kernels" / _hash_sources()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".writable").touch()
    except OSError:
        return None
    with suppress(OSError):  # another process may remove the same directories
        for marker in directory.parent.glob("*/.writable"):
            if marker.stat().st_mtime < time.time() - MAX_DAYS_UNUSED * 24 * 3600:
                shutil.rmtree(marker.parent, ignore_errors=True)
    return directory


def name_cache_file(function: Callable[..., Any]) -> str:
    """Return the name of the files of a kernel in the cache, without endings."""
    return f"{function.__name__}.{sys.implementation.cache_tag}"


def _hash_sources() -> str:
    """Return a hash of all kernel modules, which are compiled into each other, and of the constants they import."""
    digest = hashlib.blake2b(repr((box.NUMBER, box.WHOLE, box.CATEGORY)).encode(), digest_size=12)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
