"""Where compiled kernels are kept for later processes.

The directory is named by a hash of their sources, because numba looks only at the file of the kernel itself to see whether compiled
code is still valid, and not at those of its helpers.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from ...relations.algebra import box

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


def _hash_sources() -> str:
    """Return a hash of all kernel modules, which are compiled into each other, and of the constants they import."""
    digest = hashlib.blake2b(repr((box.NUMBER, box.WHOLE, box.CATEGORY)).encode(), digest_size=12)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
