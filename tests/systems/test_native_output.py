"""Output of systems can be held back, down to the descriptors."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from datamorphic.systems.native_output import hold_output


def write_natively():
    os.write(1, b"native out\n")
    os.write(2, b"native err\n")


def test_output_is_written_later_in_the_same_place(capfd):
    with hold_output():
        write_natively()
        assert capfd.readouterr() == ("", "")
    assert capfd.readouterr() == ("native out\n", "native err\n")


def test_output_can_be_dropped_and_comes_back_afterwards(capfd):
    with hold_output() as held:
        write_natively()
        held.drop()
    os.write(1, b"after\n")
    assert capfd.readouterr() == ("after\n", "")


@pytest.mark.parametrize(
    ("drop", "lines"), [(False, ["before", "native", "python", "after"]), (True, ["before", "after"])]
)
def test_what_python_prints_keeps_its_order(drop, lines):
    program = f"""
import os
from datamorphic.systems.native_output import hold_output

print("before")
with hold_output() as held:
    os.write(1, b"native\\n")
    print("python")
    held.dropped = {drop}
print("after")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == lines


def test_the_descriptors_come_back_after_an_error(capfd):
    def fail():
        with hold_output():
            os.write(2, b"before the error\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    os.write(2, b"after it\n")
    assert capfd.readouterr().err == "before the error\nafter it\n"


def test_streams_that_are_closed_or_absent_do_not_matter(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stdout", None)
    with hold_output():
        os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"
