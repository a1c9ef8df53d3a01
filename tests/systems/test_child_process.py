"""Child processes end with the process that started them, and not before."""

import builtins
import os
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky.process_executor import BrokenProcessPool

import datamorphic as dm
from datamorphic.systems.child_process import ChildProcess
from datamorphic.systems.isolation import IsolatedSystem


@pytest.mark.slow
def test_a_process_is_closed_while_python_ends(monkeypatch):
    child = ChildProcess()
    assert child.start(abs, -3).result(timeout=120) == 3

    this_thread, import_module = threading.get_ident(), builtins.__import__

    def refuse(*arguments, **options):
        if threading.get_ident() != this_thread:  # threads of libraries must still be able to import
            return import_module(*arguments, **options)
        raise ImportError("sys.meta_path is None, Python is likely shutting down")

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", refuse)  # as when Python ends
        child.kill()
    child.close()
    assert child.exit_code is not None


def send_part_of_the_answer():
    import os
    from multiprocessing.connection import Connection

    def send_part(connection, buffer):
        os.write(connection.fileno(), buffer[:3])
        os._exit(3)

    Connection._send = send_part
    return "lost"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of Windows are others")
def test_a_process_that_ends_within_its_answer_is_noticed():
    child = ChildProcess()
    try:
        assert child.start(abs, -3).result(timeout=120) == 3
        assert isinstance(child.submit(send_part_of_the_answer).exception(timeout=120), BrokenProcessPool)
    finally:
        child.close()
    assert child.exit_code == 3


HOARD = []


def hoard_and_answer(frame):
    """Keep 400 MB more at the first call, and take longer than the pool waits between looks at the memory."""
    if not HOARD:
        HOARD.append(np.ones(50_000_000))
    time.sleep(1.1)
    return frame["x"] > 0


@pytest.mark.slow
def test_a_child_whose_memory_grows_keeps_its_system():
    system = IsolatedSystem(dm.wrap(hoard_and_answer))
    try:
        answers = [system.execute(pd.DataFrame({"x": [1.0, -1.0]})).values.tolist() for _ in range(4)]
    finally:
        system.close()
    assert answers == [[True, False]] * 4
