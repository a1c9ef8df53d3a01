"""Forged model files are refused: they end a child process, never this one."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ModelError, UntrustedError
from datamorphic.systems import file_trial
from datamorphic.systems.files import load_model
from datamorphic.trees.read import load_trees

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(200, 3)), columns=["a", "b", "c"])
LABELS = (FRAME.a + FRAME.b * FRAME.c > 0).astype(int)


def write_model(file):
    """Write a small model in the format of a suffix."""
    if file.suffix in (".json", ".ubj"):
        pytest.importorskip("xgboost").XGBClassifier(n_estimators=3, n_jobs=1).fit(FRAME, LABELS).save_model(file)
    elif file.suffix == ".txt":
        model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1)
        model.fit(FRAME, LABELS).booster_.save_model(file)
    elif file.suffix == ".cbm":
        model = pytest.importorskip("catboost").CatBoostClassifier(
            iterations=3, verbose=False, allow_writing_files=False, thread_count=1
        )
        model.fit(FRAME, LABELS).save_model(str(file))
    else:
        from sklearn.ensemble import RandomForestClassifier

        pytest.importorskip("onnxruntime")
        matrix = FRAME.to_numpy(dtype=np.float32)
        model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(matrix, LABELS)
        file.write_bytes(pytest.importorskip("skl2onnx").to_onnx(model, matrix[:1]).SerializeToString())
    return file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "pattern", "replacement"),
    [
        (".json", rb'"split_indices":\[\d+', b'"split_indices":[1000000000'),
        (".json", rb'"left_children":\[\d+', b'"left_children":[100000'),
        (".txt", rb"split_feature=(\d)", rb"split_feature=\g<1>0000000"),
        (".txt", rb"left_child=(\d)", rb"left_child=\g<1>5"),
        (".txt", rb"num_leaves=(\d+)", rb"num_leaves=\g<1>7"),
    ],
)
def test_forged_indices_are_refused_without_trust(tmp_path, suffix, pattern, replacement):
    file = write_model(tmp_path / f"model{suffix}")
    assert len(dm.wrap(file).execute(FRAME).values) == len(FRAME)
    forged = re.sub(pattern, replacement, file.read_bytes(), count=1)
    assert forged != file.read_bytes()
    file.write_bytes(forged)
    for load in (load_model, load_trees):
        with pytest.raises(UntrustedError, match=rf"^model{suffix} is damaged or forged: .*trust=True \(--trust"):
            load(file)


FUZZ = """
import random, sys
from pathlib import Path
import pandas as pd
import datamorphic as dm

file, frame = Path(sys.argv[1]), pd.read_pickle(sys.argv[2])
content = file.read_bytes()
outcomes = []
for seed in range(int(sys.argv[3])):
    rng = random.Random(seed)
    forged = bytearray(content)
    for _ in range(rng.choice([1, 2, 4])):
        place = rng.randrange(len(forged))
        digits = [i for i in range(place, len(forged)) if chr(forged[i]).isdigit()]
        if file.suffix in (".json", ".txt") and digits:
            forged[digits[0] : digits[0]] = rng.choice([b"9", b"-", b"99999", b"2147483647"])
        else:
            forged[place : place + 4] = rng.choice([0, 1, 99, 2**31 - 1, 2**32 - 1]).to_bytes(4, rng.choice(["little", "big"]))
    file.write_bytes(forged)
    try:
        dm.wrap(file).execute(frame)
        outcomes.append("answers")
    except dm.errors.DatamorphicError:
        outcomes.append("refused")
    except Exception:  # of the library, when it predicts
        outcomes.append("raises")
print(len(outcomes), outcomes.count("refused"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".json", ".ubj", ".txt", ".cbm", ".onnx"])
def test_fuzzed_files_never_end_the_process(tmp_path, suffix):
    file = write_model(tmp_path / f"model{suffix}")
    FRAME.to_pickle(tmp_path / "rows.pkl")
    command = [sys.executable, "-c", FUZZ, str(file), str(tmp_path / "rows.pkl"), "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    count, refused = map(int, done.stdout.split())
    assert count == 6
    assert refused > 0


def test_a_file_is_tried_once_and_again_when_it_changes(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    calls = []

    class Child:
        def start(self, function, *arguments):
            return self

        submit = start

        def result(self, timeout):
            calls.append(timeout)

        def close(self):
            pass

    monkeypatch.setattr(file_trial, "ChildProcess", Child)
    file = tmp_path / "model.onnx"
    for content in (b"1", b"1", b"2"):
        file.write_bytes(content)
        file_trial.try_file(file)
    assert len(calls) == 4  # the start and the trial, for two contents


@pytest.mark.parametrize(
    ("error", "message"),
    [(TimeoutError(), "took more than 60 s"), (MemoryError(), "takes too much memory")],
    ids=["time", "memory"],
)
def test_a_file_that_takes_too_much_is_refused(tmp_path, monkeypatch, error, message):
    pytest.importorskip("onnxruntime")

    class Child:
        def start(self, function, *arguments):
            return self

        submit = start

        def result(self, timeout):
            raise error

        def close(self):
            pass

    monkeypatch.setattr(file_trial, "ChildProcess", Child)
    file = tmp_path / "model.onnx"
    file.write_bytes(b"anything")
    with pytest.raises(UntrustedError, match=message):
        file_trial.try_file(file)


def test_trust_needs_no_trial(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(file_trial, "ChildProcess", None)  # calling it would raise
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be read as a model"):
        load_model(tmp_path / "model.onnx", trust=True)
