"""Run the examples of the README with whatever datamorphic is installed, and print how long each of them takes.

They run in a folder and with a home of their own, so nothing is compiled or cached before: these are the times of a first use.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
LIMIT_SECONDS = 10
#: the commands that need neither an extra nor a file of the reader's beyond those of `write_files`, with their exit codes
COMMANDS = {
    "datamorphic demo": 0,
    "datamorphic test my_package.models:score data.csv --target label --html report.html": 0,
    "datamorphic patterns": 0,
    "datamorphic laws my_tests:Wines": 1,
    "datamorphic script session.scr": 0,
}
MODEL = """
def score(frame):
    return ["no" if x + y < 1 else "yes" for x, y in zip(frame["x"], frame["y"])]
"""


def find_examples() -> Iterator[tuple[str, str]]:
    """Yield the blocks of Python and the commands of the README in their order, each with its kind."""
    text = README.read_text(encoding="utf-8")
    for match in re.finditer(r"```python\n(.*?)```|(?:\$ |`)(datamorphic [^`\n]+)", text, flags=re.DOTALL):
        if match[1]:
            yield "python", match[1]
        elif match[2] in COMMANDS:
            yield "command", match[2]


def write_files() -> None:
    """Write a model and data like those of a reader."""
    Path("my_package").mkdir()
    Path("my_package/models.py").write_text(MODEL)
    rows = [(i % 17 / 17, i % 23 / 23) for i in range(300)]
    lines = [f"{x:.3f},{y:.3f},{'no' if x + y < 1 else 'yes'}" for x, y in rows]
    Path("data.csv").write_text("\n".join(["x,y,label", *lines]))


def run_command(command: str) -> None:
    """Run a command of the package that this Python has."""
    program = Path(sys.executable).with_name("datamorphic")
    done = subprocess.run([program, *shlex.split(command)[1:]], capture_output=True, text=True)
    assert done.returncode == COMMANDS[command], f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


def time_example(title: str, run: Callable[[], object]) -> None:
    """Run an example and print how long it took."""
    start, cpu_start = time.perf_counter(), sum(os.times()[:4])
    with redirect_stdout(io.StringIO()):
        run()
    seconds, cpu_seconds = time.perf_counter() - start, sum(os.times()[:4]) - cpu_start
    remark = f"  over {LIMIT_SECONDS} s" if seconds > LIMIT_SECONDS else ""
    print(f"{seconds:6.1f} s ({cpu_seconds:4.1f} s of CPU)  {title}{remark}", flush=True)


def run_examples() -> None:
    """Run all examples in the current folder; the blocks of Python share their variables."""
    write_files()
    names: dict[str, object] = {"__name__": "__main__"}
    examples = list(find_examples())
    commands = {text for kind, text in examples if kind == "command"}
    assert commands == set(COMMANDS), f"not in the README: {set(COMMANDS) - commands}"
    for kind, text in examples:
        if kind == "command":
            time_example(text, lambda text=text: run_command(text))
            continue
        if "class Wines" in text:
            Path("my_tests.py").write_text(f"import datamorphic as dm\n\n{text}")
        call = re.search(r"dm\.(?!data|subjects|patterns|FunctionRelation)\w+\(|result\.front", text)
        code = compile(text, str(README), "exec")
        time_example(f"Python: {call[0] if call else text[:40]}", lambda code=code: exec(code, names))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR", "DATAMORPHIC_STORE"):
            os.environ.pop(variable, None)
        os.environ["HOME"] = folder
        os.chdir(folder)
        run_examples()
        print(f"report.html: {Path('report.html').stat().st_size:,} bytes")
        os.chdir("/")
