"""`TestPool`: a test system and its test cases; the methods are the commands of scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._clock import read_clock
from .._text import format_short, pluralise, quote_formula
from .._validation import check_types, validate_integer, validate_seed
from ..exploration.front import Front
from ..exploration.options import DEFAULT_HALVINGS, WalkOptions
from ..exploration.run import run_exploration
from ..morphisms.case_columns import CaseKind
from ..morphisms.case_files import CSV_SUFFIXES
from ..morphisms.case_statistics import compute_statistics
from ..morphisms.subject import SubjectUnderTest
from ..morphisms.system import TestSystem
from ..reporting.html import write_page
from . import names
from .call_commands import CallCommands
from .plots import MAX_PLOTS, PLOTS_FILE, build_plot, build_plots_page
from .pool_state import command, to_list
from .statistics_file import format_figures, format_heading, to_figures

DEFAULT_WALK_DISTANCE = 20


@check_types
class TestPool(CallCommands):
    """Test cases, the test system that makes and judges them, and the runs spent on them.

    Each method is a command of the script language; scripts call these methods, and `dm.record` writes them as a script.
    The commands that draw random numbers are counted: number k uses
    ``numpy.random.SeedSequence(seed, spawn_key=(k,))``, so that the same commands with the same seed give the same cases.

    Parameters
    ----------
    system : test system, its class or module, or str
        What is tested: a class with marked functions, a `TestSystem`, or a built-in name such as ``"Box 1"``.
    seed : int
        The random seed.
    folder : path, optional
        The folder that commands read from and write to; the current folder by default. Nothing outside is touched.
    maps : dict, optional
        Test systems by the names that `load_test_spec` may be called with.
    engine, timeout, progress
        As for `dm.explore`.

    Attributes
    ----------
    tests : TestSet
        The cases.
    runs : int
        The test cases executed since the pool was emptied.
    front : Front or None
        The result of the last exploration.
    explorations : list of dict
        The figures of all explorations.
    statistics : list of dict
        What `saveStatistics` saved, by the names of Morphy's columns.
    times : list of dict
        What `getTime` noted: the seconds since the pool was made, and the runs and cases until then.
    measures, judgements : list of dict
        What metrics measured, and how metamorphisms judged.
    messages, files : list
        The messages shown, and the files written.

    Examples
    --------
    >>> import datamorphic as dm
    >>> pool = dm.TestPool("Box 1", seed=1)
    >>> pool.make_seed(["RandomValue200"])
    >>> front = pool.random_target_explore(100, "mid")
    >>> len(pool.tests) == 200 + 2 * len(front), pool.runs == front.runs
    (True, True)
    """

    __test__ = False  # pytest would take the class for a test because of its name

    # -- exploring -----------------------------------------------------------------------------------------------------

    @command("randomTargetExplore")
    def random_target_explore(self, walks: int, midpoint: str | None = None) -> Front:
        """Search between two cases of the pool, drawn for each walk.

        Both cases of every border pair join the pool.
        """
        midpoints = [entry.name for entry in self.source.names.expand(names.MIDPOINT, to_list(midpoint))]
        return self._explore("random_target", walks, None, midpoints, DEFAULT_WALK_DISTANCE)

    @command("directedWalkExplore")
    def directed_walk_explore(
        self, moves: Sequence[str], walk_distance: int | None = None, walks: int | None = None
    ) -> Front:
        """Repeat each move from every case of the pool until the answer changes.

        Both cases of every border pair join the pool. `moves` names the moves, and the midpoint.
        Without `walks`, every case is a start for every move.
        """
        distance = DEFAULT_WALK_DISTANCE if walk_distance is None else walk_distance
        return self._explore("directed_walk", walks, moves, (), distance)

    @command("randomWalkExplore")
    def random_walk_explore(self, moves: Sequence[str], walk_distance: int, walks: int) -> Front:
        """Draw a move at each step until the answer changes.

        Both cases of every border pair join the pool. `moves` names the moves, and the midpoint.
        """
        return self._explore("random_walk", walks, moves, (), walk_distance)

    def _explore(
        self,
        strategy: str,
        walks: int | None,
        moves: Sequence[str] | None,
        midpoints: Sequence[str],
        walk_distance: int,
    ) -> Front:
        """Explore from the pool; `moves` may name the midpoint too, instead of `midpoints`."""
        tests, executor, rng = self._require_tests(), self._require_executor(), self._next_generator()
        book = self.source.names
        walk_moves: list[str] | None = None
        if moves is not None:
            entries = book.expand("datamorphism", to_list(moves))
            walk_moves = [entry.name for entry in entries if not book.is_midpoint(entry)]
            midpoints = [entry.name for entry in entries if book.is_midpoint(entry)]
        if walk_moves is not None and walks is None:
            walks = len(tests) * max(1, len(walk_moves))
        options = WalkOptions(
            strategy=strategy,
            walks=1 if walks is None else walks,
            max_halvings=DEFAULT_HALVINGS,
            walk_distance=walk_distance,
            moves=walk_moves,
            refine="bisect",
        )
        system = _choose_midpoint(self._get_moving_system(), midpoints)
        subject = SubjectUnderTest(name=self.source.spec, sut=executor, system=system, seeds=tests.inputs)
        front = run_exploration(subject, rng, options, self.drive, seed=self.seed)
        self._note_front(front, tests, midpoints[0] if midpoints else "midpoint")
        return front

    # -- analysing -----------------------------------------------------------------------------------------------------

    @command("analyse")
    def analyse(self, analysers: Sequence[str]) -> dict[str, Any]:
        """Run analysers, and return what the declared ones return, by name."""
        results: dict[str, Any] = {}
        for entry in self.source.names.expand("analyser", to_list(analysers)):
            if entry.provided:
                self._analyse_provided(entry.name)
                continue
            result = self.system.find("analyser", entry.name).evaluate_set(self.tests)
            results[entry.name] = result
            if result is not None:
                self._say(f"{entry.name}: {result}")
        return results

    def _analyse_provided(self, name: str) -> None:
        if name in self.source.models:
            self._start_model(name)
        elif name == names.STOP:
            self._stop_model()
        elif name == names.STATISTICS:
            statistics = compute_statistics(self.tests, self.runs)
            self.statistics.append(to_figures(statistics))
            self._append_figures(format_figures(statistics))
        elif name == names.HEAD:
            self._append_figures(format_heading(self.source.spec))
        elif name == names.NEW_LINE:
            self._append_figures("Average")
        elif name == names.VIEW:
            figures = to_figures(compute_statistics(self.tests, self.runs))
            cells = [f"{name} {format_short(value)}" for name, value in figures.items() if value is not None]
            self._say(", ".join(cells))
        elif name == names.TIME:
            self._note_time()
        elif name in (names.PLOT, names.PLOT_MUTANTS):
            self._plot(name)

    def _note_time(self) -> None:
        """Note the time since the pool was made, and show it."""
        seconds = read_clock() - self._started_at
        earlier = self.times[-1]["seconds"] if self.times else 0.0
        self.times.append({"seconds": seconds, "runs": self.runs, "cases": len(self.tests)})
        self._say(
            f"{names.TIME}: {seconds:.3f} s, {seconds - earlier:.3f} s more than before; {pluralise(self.runs, 'run')}, "
            f"{pluralise(len(self.tests), 'case')}"
        )

    def _plot(self, name: str) -> None:
        """Add a plot of the cases to the page of plots."""
        path = self.folder.find_target(PLOTS_FILE, self.file_folder, is_page=True)
        plots = self._plots.get(path, ())
        if len(plots) == MAX_PLOTS:
            self._say(f"{name}: {PLOTS_FILE} has {MAX_PLOTS} plots already, so this one is left out.")
            return
        tests = self.tests
        if name == names.PLOT_MUTANTS:
            tests = tests.filter(tests.kinds == CaseKind.MUTANT)
        plots = (*plots, build_plot(tests, len(plots) + 1, name))
        write_page(build_plots_page(self.source.spec, plots), path)
        self._plots[path] = plots
        self._note_file(path)

    # -- messages and files --------------------------------------------------------------------------------------------

    @command("displayMessage")
    @check_types
    def display_message(self, text: str) -> None:
        """Show a text."""
        self._say(text)

    @command("saveMessage")
    @check_types
    def save_message(self, file: str, text: str) -> None:
        """Append a line to a file; later statistics are appended to the same file."""
        is_table = Path(file).suffix.lower() in CSV_SUFFIXES
        self._append(file, ",".join(map(quote_formula, text.split(","))) if is_table else text, self.file_folder)
        self._statistics_file = self.folder.to_text(self.folder.resolve(file, self.file_folder))

    @command("setFilePath")
    @check_types
    def set_file_path(self, folder: str) -> None:
        """Set the folder of files, relative to the folder of the pool."""
        self.file_folder = self.folder.find_folder(folder)

    @command("setTestScriptPath")
    @check_types
    def set_test_script_path(self, folder: str) -> None:
        """Set the folder of played scripts, relative to the folder of the pool."""
        self.script_folder = self.folder.find_folder(folder)

    # -- random numbers and recording ----------------------------------------------------------------------------------

    @command("setSeed")
    def set_seed(self, seed: int, number: int | None = None) -> None:
        """Set the random seed, and how many random commands came before."""
        self.seed = validate_seed("seed", "set_seed", seed)
        self.random_commands = 0 if number is None else validate_integer("number", "set_seed", number)

    @command("startRecording")
    def start_recording(self) -> None:
        """Record the commands from here on."""
        self._recording_start, self._recording_end = len(self.history), None

    @command("stopRecording")
    @check_types
    def stop_recording(self, file: str | None = None) -> None:
        """Stop recording, and write the recorded commands if a file is named."""
        self._recording_end = len(self.history)
        if file is not None:
            self._write_script(file)

    @command("saveTestScript")
    @check_types
    def save_test_script(self, file: str) -> None:
        """Write the recorded commands to a file: all of them if recording was not started."""
        self._write_script(file)


def _choose_midpoint(system: TestSystem, midpoints: Sequence[str]) -> TestSystem:
    """Return a test system whose midpoint is the first of these, if any."""
    if not midpoints or system.midpoint is None or system.midpoint.name == midpoints[0]:
        return system
    morphisms = [m for m in system.datamorphisms.values() if m.arity == 1 or m.name == midpoints[0]]
    morphisms += list(system.case_filters.values())
    return TestSystem(system.name, morphisms, space=system.known_space(), distance=system.distance, sut=system.sut)
