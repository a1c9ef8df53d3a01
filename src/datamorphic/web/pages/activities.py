"""The page Activities: make, filter, execute, judge and explore with the cases of a test pool, by clicks.

Every button runs a command of the script language on the pool of the person, so that the page Scripts has a script of it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...errors import UsageError
from ...runs.progress import format_duration
from ...scripting.formatter import format_names, quote_text
from ...scripting.grammar import replace_control_characters
from ...synthesis.combination.chains import format_size
from ...synthesis.optimisation.options import SearchOptions
from ..components.case_table_view import CaseTableView
from ..components.elements import build_heading, show_errors
from ..components.front_plot import FrontPlot
from ..components.name_list import NameList
from ..components.pool_panel import PoolPanel
from ..pool_client import PoolClient, PoolFailure
from ..workspaces import Workspace

_FILE_NAME = re.compile(r"\w[\w .()+-]{0,80}\.(csv|parquet|tcs)")
HALVINGS = 20  # of the distance of a border pair, per walk

COMBINATIONS = {
    "firstOrderMutantComplete": "every datamorphism once",
    "combinatorialComplete": "every subset of the datamorphisms",
    "permutationComplete": "every order of every subset",
    "kOrderComplete": "all sequences up to a length",
}
OPTIMISATIONS = {
    "GAOptimizeFilter": "add mutants, then filter",
    "GAOptimizeWeakestRemoval": "remove the cases that contribute least",
    "GAOptimizeStrongestMutant": "the strongest mutants replace the weakest cases",
    "GAOptimizeRandomRemoval": "remove random cases",
}
TRIAL_CASES = 100  # new cases of the trial that an estimate is made from
STOCK_FITNESS = ("AvgDistance", "border_coverage", "label_balance")


class ActivitiesPage:
    """The forms, the messages, the border pairs and the test set of a pool."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pool: PoolClient = workspace.pool
        self._table: CaseTableView | None = None
        self._names: dict[str, Any] = {}
        self._front_shown: Any = None
        self._list_files: Callable[[], object] = lambda: None
        self._root = ui.element("div").classes("w-full stack")
        with self._root:
            if self._pool.state:
                self._build()
            else:
                with ui.element("div").classes("row"):
                    ui.spinner()
                    ui.label(f"Starting the test pool of {workspace.subject.name}").props('role="status"')
                ui.timer(0.05, self._open, once=True)

    async def _open(self) -> None:
        try:
            await self._pool.open()
        except PoolFailure as failure:
            self._root.clear()
            with self._root:
                ui.label(str(failure)).classes("error").props('role="alert"')
                ui.link("Choose something else to test.", "/")
            return
        self._root.clear()
        with self._root:
            self._build()

    def _build(self) -> None:
        with ui.element("div").classes("row w-full"):
            with ui.element("div").classes("grow"):
                self._panel = PoolPanel(self._pool, self._refresh)
            self._seed = ui.number("Seed", value=self._pool.seed, min=0, precision=0)
            self._seed.classes("short-number").tooltip("The same commands with the same seed give the same cases.")
            ui.button("Start over", icon="restart_alt", on_click=self._start_over).props("outline")
        self._lost = ui.element("div").classes("w-full")
        with ui.element("div").classes("activities-grid"):
            self._forms = ui.element("section").classes("card").props('aria-label="Commands"')
            with ui.element("section").classes("card messages-card").props('aria-label="Messages of commands"'):
                with ui.element("div").classes("row"):
                    build_heading("Messages")
                    ui.space()
                    ui.link("Open the script", "/scripts")
                self._panel.build_messages()
        with ui.element("section").classes("card w-full front-card") as self._front_card:
            build_heading("Border pairs of the last exploration")
            self._front = ui.element("div").classes("w-full")
        with ui.element("section").classes("card w-full"):
            with ui.element("div").classes("row"):
                build_heading("Test set")
                ui.space()
                ui.button("Empty the pool", icon="delete_outline", on_click=lambda: self._run("clean()")).props(
                    "flat dense"
                )
            self._table = CaseTableView(self._pool)
        self._front_card.set_visibility(False)

    async def _refresh(self) -> None:
        """Show what a command has changed."""
        if not self._pool.state:
            return
        if self._pool.state.get("names") != self._names:
            self._names = self._pool.state["names"]
            self._forms.clear()
            with self._forms:
                self._build_forms()
        if self._pool.running is not None:
            return
        self._list_files()
        self._show_lost_script()
        if self._table is not None:
            await self._table.refresh()
        await self._show_front()

    def _show_lost_script(self) -> None:
        self._lost.clear()
        script = self._pool.lost_script
        if not script or self._pool.state.get("cases"):
            return
        with self._lost, ui.element("div").classes("notice row"):
            ui.label("The cases of your last session are gone, but its commands were recorded.")
            ui.button("Make them again", icon="replay", on_click=lambda: self._replay(script)).props("outline dense")

    def _start_over(self) -> None:
        with show_errors():
            try:
                seed = int(self._seed.value)
            except (TypeError, ValueError):
                raise UsageError("Enter a whole number as the seed.") from None
            self._pool.start_over(max(0, seed))

    def _replay(self, script: str) -> None:
        with show_errors():
            self._pool.start_replay(script, "the last session")

    async def _show_front(self) -> None:
        summary = self._pool.state.get("front")
        front_state = (self._pool.state.get("explorations"), summary)
        if front_state == self._front_shown:
            return
        self._front_shown = front_state
        self._front_card.set_visibility(summary is not None)
        self._front.clear()
        if summary is None:
            return
        with show_errors():
            reply = await self._pool.ask("front")
            with self._front:
                show_front(self._workspace, reply)

    # -- forms ---------------------------------------------------------------------------------------------------------

    def _build_forms(self) -> None:
        build_heading("Commands")
        with ui.tabs().props("dense align=left narrow-indicator no-caps inline-label") as tabs:
            ui.tab("cases", "Cases")
            ui.tab("explore", "Explore")
            ui.tab("combine", "Combine")
            ui.tab("optimise", "Optimise")
        with ui.tab_panels(tabs, value="cases", animated=False).classes("w-full"):
            with ui.tab_panel("cases"):
                self._build_case_forms()
            with ui.tab_panel("explore"):
                self._build_exploration_forms()
            with ui.tab_panel("combine"):
                self._build_combination_form()
            with ui.tab_panel("optimise"):
                self._build_optimisation_form()

    def _build_case_forms(self) -> None:
        moves = self._names["datamorphism"]["declared"]
        datamorphisms = {**self._names["datamorphism"], "declared": [*moves, *self._get_midpoints()]}
        makers = self._names["seed_maker"]
        checked_maker = "DataRows" if "DataRows" in makers["declared"] else "RandomValue<N>"
        with ui.element("div").classes("activity-cards"):
            self._build_list("Seed makers", makers, "makeSeed", "Make seed cases", "seed maker", [checked_maker])
            self._build_list("Datamorphisms", datamorphisms, "makeMutant", "Make mutants", "datamorphism")
            with _build_card("Execute"):
                ui.label("Query the system for the cases without an output.").classes("muted")
                ui.button("Execute", icon="play_arrow", on_click=lambda: self._run("executeTestCases()"))
            self._build_list(
                "Metamorphisms",
                self._names["metamorphism"],
                "checkMetamorphisms",
                "Judge the cases",
                "metamorphism",
                self._names["metamorphism"]["declared"],
            )
            self._build_list("Case filters", self._names["case_filter"], "testCaseFilter", "Keep what passes", "filter")
            self._build_list("Set filters", self._names["set_filter"], "testSetFilter", "Filter the set", "filter")
            self._build_list("Metrics", self._names["set_metric"], "measureTestSet", "Measure the set", "metric")
            self._build_list("Analysers", self._names["analyser"], "analyse", "Analyse", "analyser")
            with _build_card("Files"):
                self._build_file_forms()

    def _build_file_forms(self) -> None:
        """Build the forms that save the test set, and load or download what was saved."""
        folder = self._workspace.scripts

        def list_files() -> list[str]:
            return [path.name for path in sorted(folder.root.iterdir()) if _FILE_NAME.fullmatch(path.name)]

        name = ui.input("Save as", value="cases.csv").tooltip("The extension is .csv, .parquet or .tcs (Morphy)")
        files = ui.select(list_files(), label="Saved files")
        self._list_files = lambda: files.set_options(list_files())

        def find_chosen() -> Path:
            if not files.value or not _FILE_NAME.fullmatch(str(files.value)):
                raise UsageError("Choose one of the saved files.")
            return folder.find_file(str(files.value))

        def save() -> None:
            if not _FILE_NAME.fullmatch(str(name.value or "")):
                raise UsageError("Name a file with the extension .csv, .parquet or .tcs, such as cases.csv.")
            self._pool.start(f"saveTestResult({quote_text(str(name.value))})")

        def load() -> None:
            self._pool.start(f"loadTestSet({quote_text(find_chosen().name)})")

        def download() -> None:
            ui.download.file(find_chosen())

        def run(action: Callable[[], None]) -> None:
            with show_errors():
                action()

        with ui.element("div").classes("row file-buttons"):
            ui.button("Save", on_click=lambda: run(save)).props('aria-label="Save the test set"')
            ui.button("Load", on_click=lambda: run(load)).props('outline aria-label="Load the file"')
            ui.button("Download", on_click=lambda: run(download)).props('outline aria-label="Download the file"')

    def _build_list(
        self, title: str, names: dict[str, Any], command: str, button: str, noun: str, checked: Sequence[str] = ()
    ) -> None:
        with _build_card(title):
            name_list = NameList(title, names, checked=checked, noun=noun)
            if any(names.values()):
                ui.button(button, on_click=lambda: self._run_built(lambda: f"{command}({_format(name_list.selected)})"))

    def _build_exploration_forms(self) -> None:
        ui.label("Search for border pairs: nearly equal cases with different outputs. Both join the test set.").classes(
            "muted"
        )
        with ui.element("div").classes("activity-cards wide"):
            with _build_card("Random target"):
                ui.label("Search between two cases of the pool, drawn for each walk.").classes("muted")
                target_walks = _build_number("Walks", 1_000)
                target_midpoint = _build_choice("Midpoint", self._get_midpoints())
                ui.button(
                    "Search between cases",
                    on_click=lambda: self._run_built(
                        lambda: (
                            f"randomTargetExplore({_read_count(target_walks)};{quote_text(str(target_midpoint.value))})"
                        )
                    ),
                )
            with _build_card("Random walk"):
                ui.label("Draw a move at each step, until the output changes.").classes("muted")
                walk_moves = self._build_moves("Moves of the random walk")
                walk_walks = _build_number("Walks", 1_000)
                walk_distance = _build_number("Walk distance", 20)
                estimate = ui.label().classes("muted")

                def show_estimate() -> None:
                    walks, distance = walk_walks.value or 0, walk_distance.value or 0
                    estimate.set_text(f"At most {int(walks * (distance + HALVINGS)):,} runs of the system")

                walk_walks.on_value_change(show_estimate)
                walk_distance.on_value_change(show_estimate)
                show_estimate()
                ui.button(
                    "Walk at random",
                    on_click=lambda: self._run_built(
                        lambda: (
                            f"randomWalkExplore({self._read_moves(walk_moves)};{_read_count(walk_distance)};"
                            f"{_read_count(walk_walks)})"
                        )
                    ),
                )
            with _build_card("Directed walk"):
                ui.label("Repeat each move from every case of the pool, until the output changes.").classes("muted")
                directed_moves = self._build_moves("Moves of the directed walk")
                directed_walks = _build_number("Walks (empty: every case and move)", None)
                directed_distance = _build_number("Walk distance", 20)

                def build_directed() -> str:
                    arguments = [self._read_moves(directed_moves), _read_count(directed_distance)]
                    if directed_walks.value:
                        arguments.append(_read_count(directed_walks))
                    return f"directedWalkExplore({';'.join(arguments)})"

                ui.button("Walk in one direction", on_click=lambda: self._run_built(build_directed))

    def _build_combination_form(self) -> None:
        ui.label("Apply datamorphisms in combination to the original cases; execute and judge the new cases.").classes(
            "muted"
        )
        names = self._names
        with ui.element("div").classes("form-grid"):
            strategy = _build_choice("Combination", COMBINATIONS, "firstOrderMutantComplete")
            order = _build_number("Longest sequence", 2)
            order.bind_visibility_from(strategy, "value", value="kOrderComplete")
            makers = _build_choices(
                "Seed makers (none: the pool as it is)",
                [*self._names["seed_maker"]["declared"], "RandomValue50", "RandomValue200"],
            )
            moves = _build_choices("Datamorphisms", [*names["datamorphism"]["declared"], *self._get_midpoints()])
            moves.set_value(names["datamorphism"]["declared"][:4])
            filters = _build_choices(
                "Set filters", [*names["set_filter"]["declared"], *names["set_filter"]["provided"]]
            )
            metamorphisms = _build_choices("Metamorphisms (none: all)", names["metamorphism"]["declared"])
            budget = _build_number("Largest number of new cases", 10_000)

        def build(seed_makers: Sequence[str], limit: str) -> str:
            if not moves.value:
                raise UsageError("Select at least one datamorphism.")
            arguments = [_read_count(order)] if strategy.value == "kOrderComplete" else []
            arguments += [_format(seed_makers), _format(moves.value)]
            arguments.append(_format(filters.value) if filters.value else '""')
            arguments.append(_format(metamorphisms.value) if metamorphisms.value else '""')
            return f"{_choose(strategy, COMBINATIONS)}({';'.join([*arguments, limit] if limit else arguments)})"

        def read_limit() -> str:
            return _read_count(budget) if budget.value else ""

        async def estimate() -> None:
            reply = await self._pool.ask(
                "estimate",
                text=build([], str(TRIAL_CASES)),
                makers=_format(makers.value) if makers.value else "",
                combination={
                    "strategy": _choose(strategy, COMBINATIONS),
                    "moves": list(moves.value),
                    "order": int(_read_count(order)) if strategy.value == "kOrderComplete" else None,
                },
            )
            estimate_text.set_text(describe_combination(reply, int(read_limit() or 0)))

        with ui.element("div").classes("row"):
            ui.button("Combine", on_click=lambda: self._run_built(lambda: build(makers.value or [], read_limit())))
            self._build_estimate_button(estimate)
        estimate_text = ui.label().classes("muted").props('role="status"')

    def _build_optimisation_form(self) -> None:
        ui.label("Improve the test set at equal size, so that its metrics grow.").classes("muted")
        names = self._names
        with ui.element("div").classes("form-grid"):
            strategy = _build_choice("Method", OPTIMISATIONS, "GAOptimizeFilter")
            moves = _build_choices("Datamorphisms", [*names["datamorphism"]["declared"], *self._get_midpoints()])
            moves.set_value(names["datamorphism"]["declared"][:4])
            metrics = _build_choices("Metrics to increase", [*STOCK_FITNESS, *names["set_metric"]["declared"]])
            metrics.set_value(["AvgDistance"])
            steps = _build_number("Steps", 20)
            mutant_ratio = _build_ratio("Mutant ratio")
            remove_ratio = _build_ratio("Remove ratio")
            change_rate = _build_ratio("Change rate")

        def build(step_count: str) -> str:
            if not moves.value or not metrics.value:
                raise UsageError("Select at least one datamorphism and one metric.")
            arguments = [_format(moves.value), _format(metrics.value), step_count]
            arguments += [
                '""' if item.value is None else repr(float(item.value))
                for item in (mutant_ratio, remove_ratio, change_rate)
            ]
            while arguments[-1] == '""':
                arguments.pop()
            return f"{_choose(strategy, OPTIMISATIONS)}({';'.join(arguments)})"

        async def estimate() -> None:
            reply = await self._pool.ask("estimate", text=build("1"))
            ratio = SearchOptions().mutant_ratio if mutant_ratio.value is None else float(mutant_ratio.value)
            estimate_text.set_text(describe_optimisation(reply, int(_read_count(steps)), ratio))

        with ui.element("div").classes("row"):
            ui.button("Optimise", on_click=lambda: self._run_built(lambda: build(_read_count(steps))))
            self._build_estimate_button(estimate)
        estimate_text = ui.label().classes("muted").props('role="status"')

    def _build_estimate_button(self, estimate: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            with show_errors():
                if self._pool.running is not None:
                    raise UsageError("A command is running. Estimate when it has ended.")
                button.props("loading")
                try:
                    await estimate()
                finally:
                    button.props(remove="loading")

        button = ui.button("Estimate size and time", icon="timer", on_click=run).props("outline")

    def _get_midpoints(self) -> list[str]:
        return list(self._names["midpoint"]["declared"])

    def _build_moves(self, title: str) -> NameList:
        moves = self._names["datamorphism"]
        return NameList(title, moves, checked=moves["declared"], noun="move")

    def _read_moves(self, moves: NameList) -> str:
        return _format([*moves.selected, *self._get_midpoints()[:1]])

    # -- commands ------------------------------------------------------------------------------------------------------

    def _run_built(self, build: Callable[[], str]) -> None:
        with show_errors():
            self._pool.start(build())

    def _run(self, command: str) -> None:
        with show_errors():
            self._pool.start(command)


def show_front(workspace: Workspace, reply: dict[str, Any]) -> None:
    """Show the border pairs in the file that the process of the pool has written."""
    ui.label(
        f"{reply['pairs']:,} pairs found by {reply['strategy'].replace('_', ' ')} in {reply['walks']:,} walks "
        f"and {reply['runs']:,} runs."
    )
    if reply["pairs"]:
        FrontPlot(workspace, Path(reply["path"]))


def describe_combination(estimate: Mapping[str, Any], limit: int) -> str:
    """Return the size and the time of a combination in words; `limit` is the largest number of new cases, 0 for none.

    Examples
    --------
    >>> describe_combination({"size": 800, "cases": 200, "new_cases": 100, "seconds": 0.5}, 10_000)
    'At most 800 new cases from 200 cases, in about 4 s. A trial with 100 new cases took 0.5 s.'
    """
    size, new_cases = estimate["size"], estimate["new_cases"]
    new_count = min(size, limit) if limit else size
    seconds = estimate["seconds"] * max(1.0, new_count / max(1, new_cases))
    what = f"At most {pluralise(new_count, 'new case')} from {pluralise(estimate['cases'], 'case')}"
    if new_count < size:
        what = f"There are {format_size(size)} combinations, of which {new_count:,} are drawn at random"
    trial = f"A trial with {pluralise(new_cases, 'new case')} took {estimate['seconds']:.1f} s."
    return f"{what}, in about {format_duration(seconds)}. {trial}"


def describe_optimisation(estimate: Mapping[str, Any], steps: int, mutant_ratio: float) -> str:
    """Return the size and the time of an optimisation in words, from a trial with one step.

    Examples
    --------
    >>> describe_optimisation({"cases": 200, "seconds": 0.25}, 20, 0.5)
    'At most 20 steps with 100 new cases each, 2,000 in all, in about 5 s. It ends sooner when the metrics stop growing.'
    """
    new_cases = max(1, round(mutant_ratio * estimate["cases"]))
    return (
        f"At most {pluralise(steps, 'step')} with {pluralise(new_cases, 'new case')} each, {steps * new_cases:,} in all, in about "
        f"{format_duration(estimate['seconds'] * steps)}. It ends sooner when the metrics stop growing."
    )


def _build_card(title: str) -> Any:
    card = ui.element("div").classes("activity")
    with card:
        build_heading(title, 3)
    return card


def _build_number(label: str, value: int | None) -> Any:
    return ui.number(label, value=value, min=1, max=10_000_000, precision=0)


def _build_ratio(label: str) -> Any:
    return ui.number(f"{label} (empty: default)", value=None, min=0, max=100, step=0.05)


def _build_choice(label: str, choices: Any, value: str | None = None) -> Any:
    options = choices if isinstance(choices, dict) else list(choices)
    return ui.select(options, label=label, value=value or next(iter(options), None))


def _build_choices(label: str, choices: Sequence[str]) -> Any:
    return ui.select(list(choices), label=label, multiple=True, value=[], clearable=True)


def _choose(element: Any, choices: dict[str, str]) -> str:
    """Return the value of a list; a page can send anything."""
    if element.value not in choices:
        raise UsageError("Choose one from the list.")
    return str(element.value)


def _read_count(element: Any) -> str:
    try:
        count = int(element.value)
    except (TypeError, ValueError):
        raise UsageError(
            f"{element.props.get('label', 'A number')} is missing. Enter a whole number of at least 1."
        ) from None
    if count < 1:
        raise UsageError("Enter a whole number of at least 1.")
    return str(count)


def _format(names: Sequence[str]) -> str:
    return format_names(replace_control_characters(str(name)) for name in names)
