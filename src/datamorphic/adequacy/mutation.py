"""How many mutants of trees some rows kill, which live and why, and rows that would kill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import plural, whole_number
from ..errors import DataError
from ..runs.progress import Progress
from ..trees.covering import greedy, smallest
from ..trees.forest import Forest
from ..trees.joint import Together, by_value
from ..trees.kills import Kills, killers_of, kills_of
from ..trees.live import Lives, Solver
from ..trees.model import OPERATORS, Nodes
from ..trees.mutants import KINDS, NEIGHBOURS, Mutants, PerNode, mutants_of, mutated, told_change
from ..trees.rules import rule
from .coverage import MOST_MADE, Coverage, stacked
from .shown import Drawn

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

SHOWN = 5
AT_ONCE = 50  # mutants that rows are made for before it is seen what else these kill
MORE = 3  # times as many rows are made as are wanted, to choose from
LOOKED_THROUGH = 2_000  # live mutants up to which all are explained in words


@dataclass(frozen=True, eq=False)
class MutationScore(Drawn):
    """Which mutants of a tree, or of the trees of a forest, are killed by some rows.

    Mutants are numbered over all trees: those of the first tree node by node, in pre-order, then those of the second.

    Attributes
    ----------
    forest : Forest
        The trees.
    leaves : Coverage
        Which leaves the same rows reach.
    of : tuple of Mutants
        The mutants of each tree.
    counts : array of int
        How many rows kill each mutant.
    joint : bool
        Whether a mutant is killed when the whole forest answers differently, rather than the tree that was changed.
    tolerance : float
        How far apart answers that are numbers may be and count as the same.
    notes : sequence of str
        What was decided on the way.
    """

    forest: Forest
    leaves: Coverage
    of: tuple[Mutants, ...]
    counts: Nodes
    joint: bool = False
    tolerance: float = 0.0
    notes: tuple[str, ...] = ()
    criterion: str = "DTMT"
    _solvers: dict[int, Solver] = field(default_factory=dict, repr=False)
    _lives: dict[int, Lives] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"MutationScore({self._told})"

    @property
    def _told(self) -> str:
        trees = f" of {len(self.of):,} trees" if len(self.of) > 1 else ""
        killed = int(self.killed.sum())
        return f"{killed:,} of {plural(len(self.counts), 'mutant')}{trees} killed, {100 * self.score:.2f} %"

    # -- figures ---------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """How many rows were given."""
        return self.leaves.rows

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Which mutants are killed."""
        return self.counts > 0

    @property
    def covered(self) -> npt.NDArray[np.bool_]:
        """The same, by the name it has for all criteria."""
        return self.killed

    @property
    def live(self) -> Nodes:
        """The numbers of those that are not."""
        return np.flatnonzero(~self.killed)

    @property
    def score(self) -> float:
        """The share of all mutants that is killed."""
        return float(self.killed.mean())

    share = score

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the mutants that is killed, tree by tree; NaN for a tree without any."""
        starts = self._starts
        return np.array([self.killed[a:b].mean() if b > a else np.nan for a, b in pairwise(starts)])

    @cached_property
    def _starts(self) -> Nodes:
        return np.concatenate([[0], np.cumsum([len(each) for each in self.of])]).astype(np.intp)

    def place(self, mutant: int) -> tuple[int, int]:
        """Return which tree a mutant is of, and its number among those of this tree."""
        mutant = whole_number("mutant", "MutationScore", mutant, high=len(self.counts) - 1)
        tree = int(np.searchsorted(self._starts, mutant, side="right")) - 1
        return tree, mutant - int(self._starts[tree])

    def change(self, mutant: int) -> str:
        """Return what a mutant changes, in words."""
        tree, number = self.place(mutant)
        return told_change(self.leaves.trees[tree], self.of[tree], number, self.leaves.categories)

    @cached_property
    def mutants(self) -> pd.DataFrame:
        """All mutants, indexed by number.

        ``tree``, ``node``, ``feature``, ``before`` and ``operator`` (the comparison before and after), ``threshold``
        (the constant after), ``kind`` ("ORRN" or "Cccr"), ``killed``, ``killers`` (how many rows kill it) and
        ``equivalent``: whether it answers as the tree does to all the rows. Whether it does so to every possible
        input is what `why` tells.
        """
        import pandas as pd

        parts = []
        for number, (tree, mutants) in enumerate(zip(self.leaves.trees, self.of, strict=True)):
            names, operators = np.array(tree.names, dtype=object), np.array(OPERATORS, dtype=object)
            parts.append(
                pd.DataFrame(
                    {
                        "tree": number,
                        "node": mutants.node,
                        "feature": names[tree.feature[mutants.node]],
                        "before": operators[tree.operator[mutants.node]],
                        "operator": operators[mutants.operator],
                        "threshold": mutants.threshold if tree.told is None else tree.told[mutants.donor],
                        "kind": np.array(KINDS, dtype=object)[mutants.kind],
                    }
                )
            )
        frame = pd.concat(parts, ignore_index=True)
        frame.index.name = "mutant"
        return frame.assign(killed=self.killed, killers=self.counts, equivalent=~self.killed)

    # -- those that live -------------------------------------------------------------------------------

    def _solver(self, tree: int) -> Solver:
        if tree not in self._solvers:
            source = self.leaves.trees[tree]
            tolerance = 0.0 if self.joint else self.tolerance
            self._solvers[tree] = Solver(
                by_value(source) if self.joint else source, self.leaves.frame, self.leaves.inputs, tolerance
            )
        return self._solvers[tree]

    def why(self, mutant: int) -> Lives:
        """Return why a mutant is not killed, and whether any input could."""
        tree, number = self.place(mutant)
        if self.killed[mutant]:
            return Lives(True, f"it does not: {plural(int(self.counts[mutant]), 'row')} kill it")
        if mutant not in self._lives:
            found = self._solver(tree).lives(self.of[tree], number)
            if self.joint and found.killable:
                found = Lives(None, "no row of the data changes the answer of the whole forest", found.where)
            self._lives[mutant] = found
        return self._lives[mutant]

    def uncovered(self, n: int | None = 10) -> pd.DataFrame:
        """Return mutants that are not killed, at most `n` of them, those first that a row could kill.

        Returns
        -------
        DataFrame
            Indexed by the number of the mutant: ``tree``, ``node``, ``kind``, ``change`` (what it changes, in words),
            ``where`` (which rows come by), ``killable`` (True, False if it is proved that no possible input kills it,
            None where that is not known) and ``why``.
        """
        import pandas as pd

        live = self.live
        if n is not None:
            whole_number("n", "MutationScore.uncovered", n)
        known = live[:LOOKED_THROUGH].tolist()
        order = sorted(known, key=lambda each: {True: 0, None: 1, False: 2}[self.why(each).killable])
        chosen = np.array(order[:n] if n is not None else [*order, *live[LOOKED_THROUGH:].tolist()], dtype=np.intp)
        at = [self.place(int(each)) for each in chosen]
        nodes = [(tree, int(self.of[tree].node[number])) for tree, number in at]
        return pd.DataFrame(
            {
                "tree": np.array([tree for tree, _ in at], dtype=np.intp),
                "node": np.array([node for _, node in nodes], dtype=np.intp),
                "kind": pd.Series([KINDS[self.of[t].kind[i]] for t, i in at], index=chosen, dtype=object),
                "change": pd.Series([self.change(int(each)) for each in chosen], index=chosen, dtype=object),
                "where": pd.Series(
                    [
                        rule(
                            self.leaves.trees[t],
                            node,
                            missing=self.leaves.missing,
                            categories=self.leaves.categories,
                        )
                        for t, node in nodes
                    ],
                    index=chosen,
                    dtype=object,
                ),
                "killable": pd.Series(
                    [self.why(int(each)).killable for each in chosen], index=chosen, dtype=object
                ),
                "why": pd.Series([self.why(int(each)).why for each in chosen], index=chosen, dtype=object),
            },
            index=pd.Index(chosen, name="mutant"),
        )

    def example(self, mutant: int) -> pd.DataFrame:
        """Return a row that kills a mutant, as near as can be to a real one.

        The row was sent through the tree and its mutant: they do answer differently.

        Raises
        ------
        DataError
            If no row that fits does.
        """
        tree, number = self.place(mutant)
        made = self._solver(tree).row(self.of[tree], number, self.why(mutant))
        if self.joint and not self._kills_all(tree, number, made):
            raise DataError(
                f"No row was found that changes the answer of the whole forest when {self.change(mutant)} in tree {tree}: "
                "the other trees outvote it."
            )
        return made

    def _kills_all(self, tree: int, number: int, made: pd.DataFrame) -> bool:
        from dataclasses import replace

        trees = list(self.forest.trees)
        trees[tree] = mutated(trees[tree], self.of[tree], number)
        seen = self.leaves.inputs.seen(made)
        forests = self.forest, replace(self.forest, trees=tuple(trees))
        before, after = (each.decide(each.scores(seen)) for each in forests)
        return bool((np.abs(before - after) > self.tolerance).any())

    def fix(self, n: int = MOST_MADE) -> pd.DataFrame:
        """Return rows that kill live mutants, at most `n`; those that kill what others of them kill are left out."""
        from scipy.sparse import hstack

        whole_number("n", "MutationScore.fix", n)
        made: list[pd.DataFrame] = []
        kills: list[csr_array] = []
        open_ = ~self.killed
        with Progress(f"rows that kill mutants of {self.forest.owner}") as shown:
            for some in _in_parts(self.live.tolist(), AT_ONCE):
                shown.show(f"{sum(map(len, made)):,} made", some[0] / len(open_))
                rows = self._killing([each for each in some if open_[each]])
                if len(rows):
                    made.append(rows)
                    kills.append(self._kills(rows))
                    open_[np.flatnonzero(kills[-1].sum(axis=1))] = False
                if sum(map(len, made)) >= MORE * n:
                    break
        if not made:
            return self.leaves.frame.iloc[:0]
        told = hstack(kills).tocsr()[self.live]
        chosen, _ = smallest(told)
        if len(chosen) > n:
            chosen = greedy(told[np.flatnonzero(np.diff(told.indptr))])[:n]  # those first that kill most
        return stacked(made, self.leaves.frame).iloc[chosen].reset_index(drop=True)

    def _killing(self, mutants: list[int]) -> pd.DataFrame:
        """Return a row that kills each of some mutants, where there is one."""
        made: list[pd.DataFrame] = []
        for mutant in mutants:
            if self.why(mutant).killable is not False:
                with suppress(DataError):
                    made.append(self.example(mutant))
        return stacked(made, self.leaves.frame)

    def _kills(self, rows: pd.DataFrame) -> csr_array:
        """Return which of some rows kill which mutants."""
        from scipy.sparse import vstack

        seen = self.leaves.inputs.seen(rows)
        found = kills_by_tree(self.forest, seen, self.of, self.joint, self.tolerance)
        return vstack([each.matrix() for each in found]).tocsr()

    @cached_property
    def proved(self) -> int:
        """How many of those that live answer as the tree does to every possible input: nothing can kill them."""
        return sum(self.why(int(each)).killable is False for each in self.live)

    def describe(self, n: int = SHOWN) -> str:
        """Return all that in words, with at most `n` mutants that live and leaves that are not reached."""
        how = ", the whole forest's answer" if self.joint else ""
        lines = [f"{self._told}, by {plural(self.rows, 'row')} ({self.criterion}{how})."]
        if len(self.of) > 1:
            shares = 100 * self.shares[~np.isnan(self.shares)]
            lines.append(f"Tree by tree from {shares.min():.1f} % to {shares.max():.1f} %.")
        if len(self.live):
            lines += self._of_the_living(n)
        absent = self.leaves.uncovered(n)
        if len(absent):
            lines.append(f"{self.leaves._told}. Not reached:")
            lines += [f"  {row.rule} -> {row.answer}" for row in absent.itertuples()]
            more = int((~self.leaves.covered).sum()) - len(absent)
            lines += [f"  and {more:,} more."] if more else []
        return "\n".join([*lines, *self.notes])

    def _of_the_living(self, n: int) -> list[str]:
        if len(self.live) > LOOKED_THROUGH:
            return [f"{len(self.live):,} live: too many to explain each. uncovered() tells of some."]
        can = sum(self.why(int(each)).killable is True for each in self.live)
        most = 100 * (1 - self.proved / len(self.counts))
        lines = [
            f"{len(self.live):,} live: {self.proved:,} answer as the tree does to every possible input, so no more than "
            f"{most:.2f} % can be killed; {can:,} could be killed by rows that are not there."
        ]
        for row in self.uncovered(n).itertuples():
            tree = f"tree {row.tree}, " if len(self.of) > 1 else ""
            where = "" if row.where == "always" else f" (where {row.where})"
            lines.append(f"  mutant {row.Index}: {tree}{row.change}{where}: {row.why}")
        return lines


def _in_parts(listed: list[int], size: int) -> Iterator[list[int]]:
    return (listed[start : start + size] for start in range(0, len(listed), size))


def kills_by_tree(
    forest: Forest, matrix: Any, of: Sequence[Mutants], joint: bool, tolerance: float
) -> Iterator[Kills]:
    """Yield the kills of each tree's mutants in turn."""
    together = Together(forest, matrix, tolerance) if joint else None
    for number, (tree, mutants) in enumerate(zip(forest.trees, of, strict=True)):
        if together is not None:
            yield together.kills(number, mutants)
        else:
            yield kills_of(tree, matrix, mutants, tolerance=tolerance)


def measure_kills(
    forest: Forest,
    leaves: Coverage,
    *,
    per_node: PerNode = NEIGHBOURS,
    joint: bool = False,
    tolerance: float = 0.0,
    notes: tuple[str, ...] = (),
    keep: Callable[[Kills], None] | None = None,
    progress: bool | None = None,
) -> MutationScore:
    """Return which mutants of a forest's trees are killed by the rows whose coverage is given.

    `keep` gets the kills of each tree in turn.
    """
    of = tuple(mutants_of(tree, per_node) for tree in forest.trees)
    seen = leaves.inputs.seen(leaves.frame)
    counts: list[Nodes] = []
    with Progress(forest.owner, progress) as shown:

        def done(count: Nodes) -> None:
            counts.append(count)
            shown.show(f"mutants of {len(counts):,} trees", len(counts) / len(of))

        if keep is None and not joint:
            for tree, mutants in zip(forest.trees, of, strict=True):
                done(killers_of(tree, seen, mutants, tolerance=tolerance))
        else:
            for kills in kills_by_tree(forest, seen, of, joint, tolerance):
                done(kills.counts)
                if keep is not None:
                    keep(kills)
    return MutationScore(forest, leaves, of, np.concatenate(counts), joint, tolerance, notes)
