"""Selectors of relations and groups in plain Python: lists, loops, everything but the cuts made anew for each pair.

Random numbers are drawn in this order. First the relations are shuffled, from the last to the second one, a number each.
Then each of them has its first pair: a number a column. From then on: the candidates, a number a column, candidate after
candidate; for each relation a number that settles ties between its candidates; one that settles ties between relations.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


class Domain:
    """One domain of one relation, and the inputs that were executed there."""

    def __init__(self, box, scaled=False):
        self.low, self.high = (ends.tolist() for ends in box.edges)
        self.kind = box.kind.tolist()
        self.columns = range(len(self.low))
        self.wide = [j for j in self.columns if self.high[j] > self.low[j]]
        self.scale = [1.0] * len(self.low)
        for j in self.wide:
            if scaled and self.kind[j] != 2:
                self.scale[j] = 1 / (self.high[j] - self.low[j])
        self.executed = []

    def draw(self, rng):
        point = []
        for j in self.columns:
            value = self.low[j] + (self.high[j] - self.low[j]) * rng.random()
            if self.kind[j]:
                value = min(max(math.floor(value + 0.5), self.low[j] + 0.5), self.high[j] - 0.5)
            point.append(value)
        return point

    def cut_finer(self):
        pass


class Bisected(Domain):
    """All cells are halved, column after column, when none is empty or there are as many inputs as cells."""

    def __init__(self, box, scaled=False):
        super().__init__(box, scaled)
        self.parts = [1 for _ in self.columns]
        self.next = 0
        # what is known is kept until an input is added: minutes otherwise
        self.known, self.looked_at = (None, set()), 0

    def cell(self, point):
        return tuple(
            int(min(max((x - low) / (high - low) * parts, 0.0), parts - 1.0)) if high > low else 0
            for x, low, high, parts in zip(point, self.low, self.high, self.parts, strict=True)
        )

    @property
    def occupied(self):
        state = len(self.executed), *self.parts
        if self.known[0] != state:
            self.known = state, {self.cell(point) for point in self.executed}
        return self.known[1]

    def is_open(self, point):
        return self.cell(point) not in self.occupied

    def has_open_cells(self):
        return len(self.occupied) < math.prod(self.parts)

    def cut_finer(self):
        if self.looked_at == len(self.executed):
            return
        self.looked_at = len(self.executed)
        while self.wide and (not self.has_open_cells() or len(self.executed) >= math.prod(self.parts)):
            self.cut()

    def cut(self):
        while self.next not in self.wide:
            self.next = (self.next + 1) % len(self.parts)
        self.parts[self.next] *= 2
        self.next = (self.next + 1) % len(self.parts)

    def beside(self, point):
        """How far the occupied cells beside that of an input are away from it."""
        here, distances = self.cell(point), []
        for cell in self.occupied - {here}:
            steps = [there - at for there, at in zip(cell, here, strict=True)]
            if max(map(abs, steps)) > 1:
                continue
            squares = 0.0
            for j in self.columns:
                if steps[j]:
                    unit = (self.high[j] - self.low[j]) / self.parts[j]
                    edge = self.low[j] + (here[j] + (steps[j] > 0)) * unit
                    squares += ((point[j] - edge) * self.scale[j]) ** 2
            distances.append(math.sqrt(squares))
        return distances


class Iterated(Bisected):
    """One part more a column; a cell is open while it and those around it are empty."""

    wraps = False

    def cut(self):
        for j in self.wide:
            self.parts[j] += 1

    def around(self, cell):
        """The numbers of the parts around a cell, by column."""
        around = []
        for at, parts in zip(cell, self.parts, strict=True):
            near = {at - 1, at, at + 1}
            around.append({n % parts for n in near} if self.wraps else near & set(range(parts)))
        return around

    def is_open(self, point):
        here = self.cell(point)
        return not any(
            all(at in near for at, near in zip(here, self.around(taken), strict=True)) for taken in self.occupied
        )

    def has_open_cells(self):
        closed = np.zeros(self.parts, dtype=bool)
        for taken in self.occupied:
            closed[np.ix_(*map(sorted, self.around(taken)))] = True
        return not closed.all()


class Wrapped(Iterated):
    """As Iterated; cells at opposite edges are neighbours, too."""

    wraps = True


class Split(Domain):
    """Boxes split at the first input in each, along every column; between whole numbers, on the side with more room."""

    def volume(self, point):
        """The volume of the box an input lies in; nothing lies below a column without extent."""
        low, high, inside = list(self.low), list(self.high), self.executed
        while inside:
            at = [self.cut_at(j, inside[0][j], low[j], high[j]) for j in self.columns]
            above = [x >= a for x, a in zip(point, at, strict=True)]
            if not all(above[j] for j in self.columns if j not in self.wide):
                return 0.0
            inside = [other for other in inside[1:] if [x >= a for x, a in zip(other, at, strict=True)] == above]
            for j in self.columns:
                (low if above[j] else high)[j] = at[j]
        volume = 1.0
        for j in self.wide:
            volume *= (high[j] - low[j]) / (self.high[j] - self.low[j])
        return volume

    def cut_at(self, j, value, low, high):
        if self.kind[j]:
            value += 0.5 if value < (low + high) / 2 else -0.5
        return min(max(value, low), high)


class Distant(Domain):
    """Distances to executed inputs: Euclidean, and 1 for each category that differs; or Jaccard's, of sets of values."""

    jaccard = False

    def nearest(self, point):
        return min((self.distance(point, other) for other in self.executed), default=math.inf)

    def distance(self, point, other):
        if self.jaccard:
            one, two = ({(j, item[j]) for j in self.columns} for item in (point, other))
            return len(one ^ two) / len(one | two)
        squares = differing = 0.0
        for j in self.columns:
            if self.kind[j] == 2:
                differing += point[j] != other[j]
            else:
                squares += ((point[j] - other[j]) * self.scale[j]) ** 2
        return math.sqrt(squares) + differing


class Selection:
    """MRGS-ART: the pair with most of its inputs in empty cells."""

    domain, scaled = Bisected, False

    def __init__(self, relations, k, seed, published=False, data=None, metric="euclidean"):
        self.relations, self.k, self.published, self.data = relations, k, published, data
        self.executed = [0] * len(relations)
        self.rng = np.random.default_rng(seed)
        self.shared = Domain(relations[0].domain[0])
        self.sources = max(relation.sources for relation in relations)
        self.domains = [
            [self.domain(box, self.scaled and not published) for box in (*relation.domain, *relation.follow_domains())]
            for relation in relations
        ]
        for domain in itertools.chain(*self.domains):
            domain.jaccard = metric == "jaccard"

    def run(self, count):
        """The relation and the sources of each pair."""
        order = list(range(len(self.relations)))
        for i in reversed(range(1, len(order))):
            j = int(self.rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        pairs = [self.opening(relation) for relation in order][:count]
        while len(pairs) < count:
            pairs.append(self.next_pair())
        return [relation for relation, _ in pairs], [sources for _, sources in pairs]

    def opening(self, relation):
        self.cut_finer()
        (sources,) = self.candidates(1)
        self.execute(relation, self.inputs(relation, [sources])[0])
        return relation, sources

    def next_pair(self):
        self.cut_finer()
        candidates = self.candidates(self.k)
        chosen = []
        for number in range(len(self.relations)):
            rows = self.inputs(number, candidates)
            scores = [self.score(number, row) for row in rows]
            best = one_of_the_greatest(scores, self.rng.random())
            chosen.append((scores[best], best, rows[best]))
        relation = one_of_the_greatest(
            [(score, 0 if self.published else -self.executed[number]) for number, (score, _, _) in enumerate(chosen)],
            self.rng.random(),
        )
        least = min(self.executed)
        if not self.published and least < 0.9 * (sum(self.executed) / len(self.executed)) - 1:
            relation = self.executed.index(least)
        _, best, row = chosen[relation]
        self.execute(relation, row)
        return relation, candidates[best]

    def cut_finer(self):
        for domains in self.domains:
            for domain in domains:
                domain.cut_finer()

    def candidates(self, count):
        if self.data is not None:
            return [self.data[int(self.rng.random() * len(self.data))] for _ in range(count)]
        return [[x for _ in range(self.sources) for x in self.shared.draw(self.rng)] for _ in range(count)]

    def inputs(self, number, candidates):
        """The inputs of a relation for each candidate, one by one: sources, then follow-ups."""
        relation, domains = self.relations[number], self.domains[number]
        drawn = np.array(candidates)[:, : relation.width]
        rows = np.concatenate([drawn, relation.follow(drawn)], axis=1).tolist()
        ends = list(itertools.accumulate((len(domain.low) for domain in domains), initial=0))
        parts = [[row[begin:end] for begin, end in itertools.pairwise(ends)] for row in rows]
        return [
            [
                [x if math.isfinite(x) else low for x, low in zip(point, domain.low, strict=True)]
                for point, domain in zip(row, domains, strict=True)
            ]
            for row in parts
        ]

    def execute(self, relation, row):
        self.executed[relation] += 1
        for domain, point in zip(self.domains[relation], row, strict=True):
            domain.executed.append(point)

    def score(self, relation, row):
        pairs = list(zip(self.domains[relation], row, strict=True))
        total = 0.0
        for domain, point in pairs:
            total += self.worth(domain, point)
        first = total if self.published else total / len(pairs)
        return (first, *self.further(pairs, total))

    def worth(self, domain, point):
        return float(domain.is_open(point))

    def further(self, pairs, total):
        return ()


class Neighbours(Selection):
    """MRGS-ART+: then fewer occupied neighbours, then the greater mean distance to the nearest of them."""

    def further(self, pairs, total):
        beside = [domain.beside(point) for domain, point in pairs]
        nearest = [min(distances) for distances in beside if distances]
        away = 0.0
        for distance in nearest:
            away += distance
        occupied = sum(map(len, beside)) / (1 if self.published else len(pairs))
        return -occupied, away / len(nearest) if total > 0 and nearest else 0.0


class Iterative(Selection):
    """MRGS-IPART: cells with an occupied neighbour are closed, too."""

    domain = Iterated


class IterativeWrapped(Selection):
    """MRGS-IPART-fair: round the edges, too."""

    domain = Wrapped


class Volumes(Selection):
    """MRGS-RPART: the pair in the largest boxes."""

    domain = Split

    def worth(self, domain, point):
        return domain.volume(point)


class Distances(Selection):
    """The distance form."""

    domain, scaled = Distant, True

    def worth(self, domain, point):
        return domain.nearest(point)


class Random(Selection):
    """A number for the relation, one for each column; pair after pair."""

    def run(self, count):
        pairs = [(int(self.rng.random() * len(self.relations)), self.candidates(1)[0]) for _ in range(count)]
        return [relation for relation, _ in pairs], [sources for _, sources in pairs]


def one_of_the_greatest(scores, tie):
    equal = [i for i, score in enumerate(scores) if score == max(scores)]
    return equal[int(tie * len(equal))]


PLAIN = {
    "random": Random,
    "MRGS-ART": Selection,
    "MRGS-ART-fair": Selection,
    "MRGS-ART+": Neighbours,
    "MRGS-IPART": Iterative,
    "MRGS-IPART-fair": IterativeWrapped,
    "MRGS-RPART": Volumes,
    "MRGS-distance": Distances,
}
