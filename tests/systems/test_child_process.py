"""Child processes end with the process that started them."""

import builtins

import pytest

from datamorphic.systems.child_process import ChildProcess


@pytest.mark.slow
def test_a_process_is_closed_while_python_ends(monkeypatch):
    child = ChildProcess()
    assert child.start(abs, -3).result() == 3

    def refuse(*arguments, **options):
        raise ImportError("sys.meta_path is None, Python is likely shutting down")

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", refuse)  # as when Python ends
        child.kill()
    child.close()
    assert child.exit_code is not None
