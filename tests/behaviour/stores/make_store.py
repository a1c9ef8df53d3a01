"""Make runs.sqlite.gz and expected.json with the installed version of datamorphic.

The store in the repository was made before the modules were renamed and must not be made again: it shows that runs of
that version can still be listed, shown and resumed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAUSE_SECONDS = "0.05"  # per batch, so that a run lasts long enough to be stopped midway
MIN_STORED_ANSWERS = 8  # journal entries before a run is stopped
EXPLORE = (
    "explore",
    "stored_system:StoredSystem",
    "--walks",
    "18",
    "--walk-distance",
    "8",
    "--steps",
    "8",
    "--seeds",
    "40",
    "--seed",
    "3",
    "--batch",
    "6",
)
OTHERS = (
    ("explore", "--subject", "Box 1", "--walks", "40", "--seeds", "20"),
    (
        "check",
        "sklearn.neighbors:KNeighborsClassifier",
        "--param",
        "n_neighbors=3",
        "--inputs",
        "10",
        "--relation",
        "MR-0",
        "--relation",
        "MR-1.1",
    ),
    ("test", "stored_system:StoredSystem", "--only", "answers", "--only", "repeats", "--only", "borders"),
    ("laws", "stored_system:FaultySystem", "--examples", "30"),
)


def start(folder: Path, *arguments: str, pause: str = "0") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DATAMORPHIC_STORE": "runs.sqlite", "STORED_SYSTEM_PAUSE": pause}
    command = [sys.executable, "-m", "datamorphic", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def stop_midway(folder: Path, number: int, stop: signal.Signals) -> None:
    """Start the exploration again and stop it once some of its answers are stored."""
    process = start(folder, *EXPLORE, pause=PAUSE_SECONDS)
    while process.poll() is None:
        time.sleep(0.02)
        with sqlite3.connect(folder / "runs.sqlite") as database:
            count = database.execute("select count(*) from answers where run = ?", (number,)).fetchone()[0]
        if count >= MIN_STORED_ANSWERS:
            process.send_signal(stop)
            break
    process.communicate()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="datamorphic-store-") as name:
        folder = Path(name)
        shutil.copy(FOLDER / "stored_system.py", folder)
        start(folder, *EXPLORE).communicate()
        stop_midway(folder, 2, signal.SIGKILL)
        stop_midway(folder, 3, signal.SIGINT)
        for arguments in OTHERS:
            start(folder, *arguments).communicate()
        run = json.loads(start(folder, "runs", "show", "1", "--json").communicate()[0])
        start(folder, "runs", "export", "1", "--to", "pairs.csv").communicate()
        listed = json.loads(start(folder, "runs", "list", "--json").communicate()[0])
        expected = {
            "runs": [[item["id"], item["verb"], item["state"]] for item in listed],
            "summary": {key: value for key, value in run["summary"].items() if key != "notes"},
            "pairs_sha256": hashlib.sha256((folder / "pairs.csv").read_bytes()).hexdigest(),
        }
        with sqlite3.connect(folder / "runs.sqlite") as database:
            database.execute("pragma wal_checkpoint(truncate)")
            database.execute("vacuum")
        database.close()
        (FOLDER / "expected.json").write_text(json.dumps(expected, indent=2) + "\n", encoding="utf-8")
        (FOLDER / "runs.sqlite.gz").write_bytes(gzip.compress((folder / "runs.sqlite").read_bytes(), mtime=0))
        shutil.rmtree(FOLDER / "runs.sqlite.files", ignore_errors=True)
        shutil.copytree(folder / "runs.sqlite.files", FOLDER / "runs.sqlite.files")


if __name__ == "__main__":
    main()
