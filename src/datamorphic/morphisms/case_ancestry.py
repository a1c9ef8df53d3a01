"""`CaseAncestry`: the cases that a test case was made from, and the morphisms that made them."""

from __future__ import annotations

import numpy as np

from .case_columns import NO_ORIGIN, CaseColumns


class CaseAncestry:
    """The ancestors of the cases of a set. The ids are sorted only once, for any number of queries."""

    def __init__(self, cases: CaseColumns) -> None:
        self._cases = cases
        self._order = np.argsort(cases.ids)
        self._sorted_ids = cases.ids[self._order]

    def find_row(self, case_id: int) -> int:
        """Return the row of a case, -1 if it is not in the set."""
        place = int(np.searchsorted(self._sorted_ids, case_id))
        is_known = place < len(self._sorted_ids) and int(self._sorted_ids[place]) == case_id
        return int(self._order[place]) if is_known else -1

    def find_ancestors(self, case_id: int) -> list[int]:
        """Return the ids of all ancestors of a case, from the nearest to the seed cases."""
        ancestors: dict[int, None] = {}
        generation = [case_id]
        while generation:
            rows = [row for ancestor in generation if (row := self.find_row(ancestor)) >= 0]
            parents = dict.fromkeys(parent for row in rows for parent in self._cases.origins[row].tolist())
            generation = [parent for parent in parents if parent != NO_ORIGIN and parent not in ancestors]
            ancestors |= dict.fromkeys(generation)
        return list(ancestors)

    def find_chain(self, case_id: int) -> list[str]:
        """Return the morphisms that made a case, from the seed maker on, along the first origins."""
        chain: list[str] = []
        visited: set[int] = set()
        while case_id != NO_ORIGIN and case_id not in visited:
            visited.add(case_id)
            row = self.find_row(case_id)
            if row < 0:
                chain.append("?")  # the case is not in the set
                break
            chain.append(self._cases.morphisms[self._cases.made_by[row]])
            case_id = int(self._cases.origins[row, 0])
        return chain[::-1]
