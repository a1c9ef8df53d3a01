"""Mutation score: the mutants of trees that rows kill, and rows for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ..._validation import check_types, validate_integer
from ...core.execute import Execution
from ...errors import DataError
from ...reporting.export import FilePath, load_renderer, write_export
from ...runs.progress import Progress
from ..forest import Forest
from ..kills import ForestAnswers, RowKills, answer_by_value, count_killers, find_kills
from ..mutants import MUTANT_KINDS, NEIGHBOURS, Mutants, PerNode, build_mutant, format_change, generate_mutants
from ..rules import format_rule
from ..set_cover import find_greedy_cover, find_smallest_cover
from ..solver import MutantSolver, Survival
from ..tree import OPERATORS, Nodes
from .coverage import MAX_FIX_ROWS, Coverage, stack_frames
from .result import MAX_DOCUMENT_ITEMS, DrawableResult

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MUTANTS_PER_BATCH = 50  # rows are made for so many mutants before checking which others they kill
CANDIDATE_ROWS_FACTOR = 3  # rows made per row wanted, to choose from
MAX_EXPLAINED_MUTANTS = 2_000


@dataclass(frozen=True, eq=False, kw_only=True)
class MutationScore(DrawableResult):
    """The mutants of a tree, or of the trees of a forest, that rows kill.

    A mutant is a tree with one decision changed. Mutants are numbered over all trees: first those of the first tree,
    node by node in pre-order, then those of the second.

    Attributes
    ----------
    forest, leaves : Forest, Coverage
        The trees, and the leaves that the same rows reach.
    of : tuple of Mutants
        The mutants of each tree.
    counts : array of int
        How many rows kill each mutant.
    joint : bool
        Whether a mutant counts as killed when the answer of the whole forest changes, not that of the mutated tree.
    tolerance : float
        The largest difference between two numbers that count as the same answer.
    """

    _PAGE: ClassVar[str] = "trees.coverage.page:build_mutation_page"

    forest: Forest
    leaves: Coverage
    of: tuple[Mutants, ...]
    joint: bool = False
    tolerance: float = 0.0
    criterion: str = "DTMT"
    _solvers: dict[int, MutantSolver] = field(default_factory=dict, repr=False)
    _survivals: dict[int, Survival] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"MutationScore({self.summary})"

    @property
    def summary(self) -> str:
        """The figures in one line."""
        trees = f" of {len(self.of):,} trees" if len(self.of) > 1 else ""
        killed = int(self.killed.sum())
        return f"{killed:,} of {pluralise(len(self.counts), 'mutant')}{trees} killed, {format_percent(self.score)}"

    def headline(self, subject: str = "The tests") -> str:
        """Return the number of killed mutants as a sentence about a plural subject."""
        killed, mutants = int(self.killed.sum()), pluralise(len(self.counts), "mutant")
        text = f"{subject} kill {killed:,} of {mutants} ({format_percent(self.score)})"
        return f"{text}; no possible input kills the others" if len(self.live) and not self.unmet else text

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict with at most 100 leaves and 100 mutants."""
        explained = self.explained
        return self.leaves.document() | self._collect(
            *("criterion", "share", "shares", "notes", "complete", "unfinished", "score", "joint", "tolerance"),
            headline=self.headline(),
            mutants={
                "all": len(self.counts),
                "killed": len(self.counts) - len(self.live),
                "live": len(self.live),
                "proved_equivalent": self.proved if explained else None,
                "killable": self.killable if explained else None,
            },
            live=self.uncovered(MAX_DOCUMENT_ITEMS).reset_index(),
            leaf_share=self.leaves.share,
            leaf_shares=self.leaves.shares,
        )

    def _export_name(self) -> str:
        return self.leaves.inputs.owner

    def _get_drawn(self) -> tuple[Any, ...]:
        return self.leaves, self

    # -- figures ---------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.leaves.rows

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Whether each mutant is killed; the same as `covered`."""
        return self.covered

    @property
    def live(self) -> Nodes:
        """The numbers of the mutants that no row kills."""
        return np.flatnonzero(~self.killed)

    score = DrawableResult.share

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of mutants that are killed, per tree; NaN for a tree without mutants."""
        return np.array([self.killed[a:b].mean() if b > a else np.nan for a, b in pairwise(self._starts)])

    def _count_by_tree(self) -> list[int]:
        return list(map(len, self.of))

    def place(self, mutant: int) -> tuple[int, int]:
        """Return the tree of a mutant, and its number among the mutants of that tree."""
        return self._locate("mutant", mutant)

    def change(self, mutant: int) -> str:
        """Return the change that a mutant makes, as text."""
        tree, number = self.place(mutant)
        return format_change(self.leaves.trees[tree], self.of[tree], number, self.leaves.categories)

    @cached_property
    def mutants(self) -> pd.DataFrame:
        """All mutants, indexed by number.

        ``tree``, ``node``, ``feature``, ``before`` and ``operator`` (the comparison before and after the change),
        ``threshold`` (the constant after it), ``kind`` ("ORRN" or "Cccr"), ``killed``, ``killers`` (how many rows
        kill it) and ``equivalent``: whether it answers like the tree for all the rows. `why` says whether it does so
        for every possible input.
        """
        operators, kinds = np.array(OPERATORS, dtype=object), np.array(MUTANT_KINDS, dtype=object)
        parts = []
        for number, (tree, mutants) in enumerate(zip(self.leaves.trees, self.of, strict=True)):
            thresholds = tree.threshold if tree.data_thresholds is None else tree.data_thresholds
            columns = {
                "tree": number,
                "node": mutants.node,
                "feature": np.array(tree.names, dtype=object)[tree.feature[mutants.node]],
                "before": operators[tree.operator[mutants.node]],
                "operator": operators[mutants.operator],
                "threshold": thresholds[mutants.donor],
                "kind": kinds[mutants.kind],
            }
            parts.append(pd.DataFrame(columns))
        frame = pd.concat(parts, ignore_index=True)
        frame.index.name = "mutant"
        return frame.assign(killed=self.killed, killers=self.counts, equivalent=~self.killed)

    @check_types
    def to_svg(self, path: FilePath | None = None, tree: int = 0, *, mutant: int | None = None) -> str:
        """Return one tree as SVG, and write it to `path` if given; with a `mutant`, the mutant beside its tree.

        See `Coverage.to_svg`. The decision that the mutant changes is framed in both, and the numbers of rows show which leaves
        gain and lose rows.
        """
        if mutant is None:
            return super().to_svg(path, tree)
        svg: str = load_renderer("trees.coverage.draw:format_mutant_svg")(
            self, validate_integer("mutant", "to_svg", mutant)
        )
        return write_export(svg, path, "SVG file")

    # -- live mutants ----------------------------------------------------------------------------------

    def _get_solver(self, tree: int) -> MutantSolver:
        if tree not in self._solvers:
            source, tolerance = self.leaves.trees[tree], self.tolerance
            if self.joint:
                source, tolerance = answer_by_value(source), 0.0
            self._solvers[tree] = MutantSolver(source, self.leaves.frame, self.leaves.inputs, tolerance)
        return self._solvers[tree]

    def why(self, mutant: int) -> Survival:
        """Explain why a mutant is not killed, and whether any input could kill it."""
        tree, number = self.place(mutant)
        if self.killed[mutant]:
            return Survival(True, f"it does not survive: {pluralise(int(self.counts[mutant]), 'row')} kill it")
        if mutant not in self._survivals:
            survival = self._get_solver(tree).explain_survival(self.of[tree], number)
            if self.joint and survival.killable:
                survival = Survival(None, "no row of the data changes the answer of the whole forest", survival.where)
            self._survivals[mutant] = survival
        return self._survivals[mutant]

    def uncovered(self, n: int | None = 10) -> pd.DataFrame:
        """Return at most `n` live mutants, those that a row could kill first.

        Returns
        -------
        DataFrame
            Indexed by the number of the mutant: ``tree``, ``node``, ``kind``, ``change`` (as text), ``where`` (the
            conditions to reach the node), ``killable`` (True; False if no possible input kills it, which is proved;
            None if unknown) and ``why``.
        """
        live = self.live.tolist()
        if n is not None:
            validate_integer("n", "MutationScore.uncovered", n)
        explained = live[:MAX_EXPLAINED_MUTANTS]
        order = sorted(explained, key=lambda mutant: {True: 0, None: 1, False: 2}[self.why(mutant).killable])
        chosen = order[:n] if n is not None else [*order, *live[MAX_EXPLAINED_MUTANTS:]]
        rows = []
        for mutant in chosen:
            tree, number = self.place(mutant)
            node, survival = int(self.of[tree].node[number]), self.why(mutant)
            kind, change = MUTANT_KINDS[self.of[tree].kind[number]], self.change(mutant)
            leaves = self.leaves
            where = format_rule(leaves.trees[tree], node, missing=leaves.missing, categories=leaves.categories)
            rows.append((tree, node, kind, change, where, survival.killable, survival.why))
        index = pd.Index(np.array(chosen, dtype=np.intp), name="mutant")
        columns = ["tree", "node", "kind", "change", "where", "killable", "why"]
        return pd.DataFrame(rows, index=index, columns=columns, dtype=object).astype({"tree": np.intp, "node": np.intp})

    def example(self, mutant: int) -> pd.DataFrame:
        """Return a row that kills a mutant, as similar as possible to a real row.

        The row has been sent through the tree and its mutant: their answers differ.

        Raises
        ------
        DataError
            If no allowed row kills the mutant.
        """
        tree, number = self.place(mutant)
        row = self._get_solver(tree).find_killing_row(self.of[tree], number, self.why(mutant))
        if self.joint and not self._is_killing_forest(tree, number, row):
            raise DataError(
                f"No row was found that changes the answer of the whole forest when {self.change(mutant)} in tree {tree}: "
                "the other trees outvote it."
            )
        return row

    def _is_killing_forest(self, tree: int, number: int, row: pd.DataFrame) -> bool:
        """Return whether a row changes the answer of the whole forest."""
        trees = list(self.forest.trees)
        trees[tree] = build_mutant(trees[tree], self.of[tree], number)
        matrix = self.leaves.inputs.to_tree_matrix(row)
        forests = self.forest, replace(self.forest, trees=tuple(trees))
        before, after = (forest.decide(forest.scores(matrix)) for forest in forests)
        return bool((np.abs(before - after) > self.tolerance).any())

    def fix(self, n: int = MAX_FIX_ROWS) -> pd.DataFrame:
        """Return at most `n` rows that kill live mutants, without redundant ones."""
        from scipy.sparse import hstack, vstack

        validate_integer("n", "MutationScore.fix", n)
        frames: list[pd.DataFrame] = []
        kills: list[csr_array] = []
        is_open = ~self.killed
        with Progress(f"rows that kill mutants of {self.forest.owner}") as progress:
            for start in range(0, len(self.live), MUTANTS_PER_BATCH):
                batch = self.live[start : start + MUTANTS_PER_BATCH].tolist()
                progress.show(f"{sum(map(len, frames)):,} made", batch[0] / len(is_open))
                made_rows: list[pd.DataFrame] = []
                for mutant in batch:
                    if is_open[mutant] and self.why(mutant).killable is not False:
                        with suppress(DataError):
                            made_rows.append(self.example(mutant))
                if made_rows:
                    rows = stack_frames(made_rows, self.leaves.frame)
                    matrix = self.leaves.inputs.to_tree_matrix(rows)
                    tree_kills = find_kills_by_tree(self.forest, matrix, self.of, self.joint, self.tolerance)
                    frames.append(rows)
                    kills.append(vstack([kills_of_tree.to_matrix() for kills_of_tree in tree_kills]).tocsr())
                    is_open[np.flatnonzero(kills[-1].sum(axis=1))] = False
                if sum(map(len, frames)) >= CANDIDATE_ROWS_FACTOR * n:
                    break
        if not frames:
            return self.leaves.frame.iloc[:0]
        kill_matrix = hstack(kills).tocsr()[self.live]
        chosen, _ = find_smallest_cover(kill_matrix)
        if len(chosen) > n:
            killable = np.flatnonzero(np.diff(kill_matrix.indptr))
            chosen = find_greedy_cover(kill_matrix[killable])[:n]  # rows that kill the most mutants come first
        return stack_frames(frames, self.leaves.frame).iloc[chosen].reset_index(drop=True)

    def with_rows(self, rows: pd.DataFrame) -> MutationScore:
        """Return the score of the rows and additional ones."""
        leaves = self.leaves.with_rows(rows)
        return measure_kills(
            self.forest, leaves, mutants_by_tree=self.of, joint=self.joint, tolerance=self.tolerance, notes=self.notes
        )

    @cached_property
    def proved(self) -> int:
        """The number of live mutants that no possible input can kill."""
        return sum(self.why(int(mutant)).killable is False for mutant in self.live)

    @cached_property
    def killable(self) -> int:
        """The number of live mutants that some possible input is known to kill."""
        return sum(self.why(int(mutant)).killable is True for mutant in self.live)

    @property
    def explained(self) -> bool:
        """Whether there are few enough live mutants to explain all of them."""
        return len(self.live) <= MAX_EXPLAINED_MUTANTS

    @property
    def unmet(self) -> int:
        """The number of live mutants that are not proved equivalent."""
        return len(self.live) - (self.proved if self.explained else 0)


def find_kills_by_tree(
    forest: Forest, matrix: npt.ArrayLike, mutants_by_tree: Sequence[Mutants], joint: bool, tolerance: float
) -> Iterator[RowKills]:
    """Yield the kills of each tree's mutants."""
    if joint:
        answers = ForestAnswers(forest, matrix, tolerance)
        yield from (answers.find_kills(number, mutants) for number, mutants in enumerate(mutants_by_tree))
    else:
        for tree, mutants in zip(forest.trees, mutants_by_tree, strict=True):
            yield find_kills(tree, matrix, mutants, tolerance=tolerance)


def measure_kills(
    forest: Forest,
    leaves: Coverage,
    *,
    per_node: PerNode = NEIGHBOURS,
    mutants_by_tree: tuple[Mutants, ...] | None = None,
    joint: bool = False,
    tolerance: float = 0.0,
    notes: tuple[str, ...] = (),
    on_kills: Callable[[RowKills], None] | None = None,
    progress: bool | None = None,
    execution: Execution[Any] | None = None,
) -> MutationScore:
    """Measure which mutants the rows of a coverage kill; `on_kills` is called with the kills of each tree.

    If the budget of an execution is spent, the mutants of the other trees are left out.
    """
    if mutants_by_tree is None:
        mutants_by_tree = tuple(generate_mutants(tree, per_node) for tree in forest.trees)
    matrix = leaves.inputs.to_tree_matrix(leaves.frame)
    counts: list[Nodes] = []
    all_kills = find_kills_by_tree(forest, matrix, mutants_by_tree, joint, tolerance)
    with Progress(forest.owner, progress) as progress_bar:
        for tree, mutants in zip(forest.trees, mutants_by_tree, strict=True):
            if on_kills is None and not joint:
                counts.append(count_killers(tree, matrix, mutants, tolerance=tolerance))
            else:
                kills = next(all_kills)
                counts.append(kills.counts)
                if on_kills is not None:
                    on_kills(kills)
            progress_bar.show(f"mutants of {len(counts):,} trees", len(counts) / len(mutants_by_tree))
            if execution is not None and len(counts) < len(mutants_by_tree):
                question = f"the mutants of {len(mutants_by_tree) - len(counts):,} of {len(mutants_by_tree):,} trees"
                if not execution.attempt(question, execution.is_going_on, False):
                    break
    left_out = len(mutants_by_tree) - len(counts)
    mutants_by_tree = (*mutants_by_tree[: len(counts)], *(Mutants.empty() for _ in range(left_out)))
    return MutationScore(
        forest=forest,
        leaves=leaves,
        of=mutants_by_tree,
        counts=np.concatenate(counts),
        joint=joint,
        tolerance=tolerance,
        notes=notes,
    )
