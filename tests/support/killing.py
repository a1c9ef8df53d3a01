"""Starts explorations in processes of their own, kills them at random moments, goes on with them, and compares.

A program of its own, so that it can fork after everything is imported: a kill then costs a tenth of a second.
Prints one JSON document.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

import numpy as np

import datamorphic as dm
from datamorphic.errors import StoreError
from datamorphic.exploration.persistence import load_front
from datamorphic.runs import journal
from datamorphic.runs.store import Store

PAUSE = 0.004  # seconds a batch takes
journal.WRITE_INTERVAL_SECONDS = OFTEN = 0.02  # not 0.1 s: the runs are as short
BATCH = 6  # rows; few, so that a run is much longer than what a kill may lose
LOST = (OFTEN / PAUSE + 2) * BATCH  # answered since the last time that answers were written, and under way
SPACE = dm.Space(
    [dm.Continuous("x", 0, 6, step=0.3), dm.Integer("n", 0, 40, step=2), dm.Categorical("c", ["a", "b", "d"])]
)
WAYS = [
    {"strategy": "random_walk"},
    {"strategy": "auto"},
    {"strategy": "random_target", "pool": "growing"},
    {"strategy": "directed_walk", "refine": "bisect"},
]


class Slow:
    """Answers slowly, fails in a corner, and writes down every row it was asked, once it has the answer."""

    classes_ = np.array(["blue", "red"])

    def __init__(self, log):
        self.log = log

    def predict(self, frame):
        if ((frame["x"] > 5.8) & (frame["n"] == 7)).any():
            raise ValueError("no wine is like this")
        time.sleep(PAUSE)
        answer = np.where(np.sin(frame["x"]) * 20 + (frame["c"] == "b") * 5 > frame["n"] - 15, "red", "blue")
        with open(self.log, "ab", buffering=0) as file:
            file.write("".join(f"{key}\n" for key in keys(frame)).encode())
        return answer


def keys(frame):
    return (hashlib.md5(repr(row).encode()).hexdigest()[:12] for row in frame.itertuples(index=False))


def run(store, log, way, resume=None):
    return dm.explore(
        Slow(log),
        SPACE,
        walks=18,
        walk_distance=8,
        max_halvings=8,
        seeds=40,
        seed=3,
        batch=BATCH,
        store=store,
        resume=resume,
        progress=False,
        **way,
    )


def in_a_process(store, log, way, resume=None, rows=None):
    """Run in a forked process, and kill it once so many rows were answered; tell whether it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            run(store, log, way, resume)
            os._exit(0)
        except StoreError as error:
            os.write(2, f"{error}\n".encode())
            os._exit(4)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(5)
    over = 0
    while rows is not None and not over:
        if answered(log) >= rows:
            time.sleep(PAUSE * random.random())  # anywhere between two batches
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(PAUSE / 4)
        over, status = os.waitpid(child, os.WNOHANG)
    if not over:
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, f"the run ended with {os.WEXITSTATUS(status)}"
    return True


def newest(url):
    with Store.open(url) as store:
        runs = store.runs()
        return runs[-1] if runs else None


def outcome(url, run):
    with Store.open(url) as store:
        stored_run, front = store.run(run), load_front(store, run)
        assert next(store.entries(run), None) is None  # a finished run needs no journal
    return {
        "pairs": hashlib.sha256(front.pairs.to_csv().encode()).hexdigest(),
        "file": [file.sha256 for file in stored_run.artifacts],
        "verdicts": stored_run.verdicts,
        "summary": stored_run.summary,
        "calls": stored_run.calls,
        "runs": stored_run.runs,
    }


def count_queries(log):
    return Counter(Path(log).read_text().split()) if Path(log).exists() else Counter()


def answered(log):
    return log.stat().st_size // 13 if log.exists() else 0  # a line a row


def main(url, folder, kills, seed):
    random.seed(seed)
    folder = Path(folder)
    whole = []  # here: what is imported now need not be after every fork
    ways = WAYS[:kills]
    for number, way in enumerate(ways):
        log = folder / f"whole-{number}"
        run(url, log, way)
        whole.append((outcome(url, newest(url).id), count_queries(log)))
    record = {"rows": min(rows.total() for _, rows in whole), "may be lost": LOST}
    record |= {"kills": 0, "not begun": 0, "finished before": 0, "shares": [], "asked twice": [], "different": []}
    for trial in count():
        if record["kills"] >= kills:
            break
        number = trial % len(ways)
        way, (expected, rows) = ways[number], whole[number]
        share = (trial + random.random()) / kills % 1  # early, late and in between, whatever the machine does
        log, before = folder / f"cut-{trial}", newest(url).id
        done = in_a_process(url, log, way, rows=share * rows.total())
        this = newest(url)
        if this.id == before:
            record["not begun"] += 1
            continue
        cuts = 0
        while not done and newest(url).state != "finished":  # every second one is killed again while it goes on
            cuts += 1
            already = answered(log)
            record["shares"].append(round(already / rows.total(), 2))
            left = max(0, rows.total() - already)
            again = already + left * random.random() if cuts == 1 and trial // len(ways) % 2 else None
            done = in_a_process(url, log, way, this.id, again)
        if not cuts:
            record["finished before"] += 1
        if outcome(url, this.id) != expected:
            record["different"].append([number, outcome(url, this.id), expected])
        record["asked twice"].append(sum((count_queries(log) - rows).values()) / max(1, cuts))
        record["kills"] += cuts
    print(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
