"""The generators of groups as the definitions have them: one group after the other, everything looked at again each time.

Random numbers are drawn one by one, in the order the kernels document: for each source and each candidate its numbers,
then one number that decides among equals. No code is shared with the kernels; of a relation only its domains and its
follow-ups are asked.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.stats import qmc

NUMBER, WHOLE, CATEGORY = range(3)


class Domain:
    """The columns of one input: between which limits values are drawn (half a unit beyond whole ones), and their kinds."""

    def __init__(self, box, scaled):
        margin = [0.0 if kind == NUMBER else 0.5 for kind in box.kind]
        self.low = [float(value) - more for value, more in zip(box.low, margin, strict=True)]
        self.high = [float(value) + more for value, more in zip(box.high, margin, strict=True)]
        self.kind = [int(kind) for kind in box.kind]
        self.columns = len(self.kind)
        #: columns that shells and zones are measured in
        self.wide = [j for j in range(self.columns) if self.high[j] > self.low[j] and self.kind[j] != CATEGORY]
        self.scale = [
            1 / (self.high[j] - self.low[j]) if scaled and j in self.wide else 1.0 for j in range(self.columns)
        ]

    def settled(self, j, value):
        """A value as its column holds it."""
        if self.kind[j] == NUMBER:
            return value
        return min(max(math.floor(value + 0.5), self.low[j] + 0.5), self.high[j] - 0.5)

    def uniform(self, rng):
        return [self.settled(j, self.low[j] + (self.high[j] - self.low[j]) * rng.random()) for j in range(self.columns)]

    def distances(self, points, others):
        """How far each point is from each of the others: Euclidean, and 1 for each category that differs."""
        squares = differing = np.zeros((len(points), len(others)))
        for j in range(self.columns):
            if self.kind[j] == CATEGORY:
                differing = differing + (points[:, None, j] != others[None, :, j])
            else:
                apart = (points[:, None, j] - others[None, :, j]) * self.scale[j]
                squares = squares + apart * apart
        return np.sqrt(squares) + differing

    # -- shells ----------------------------------------------------------------------------------------------------

    def share(self, point):
        """The volume of the box about the centre on whose surface a point lies, as a share of the whole."""
        norm = 0.0
        for j in self.wide:
            half = (self.high[j] - self.low[j]) / 2
            norm = max(norm, abs(point[j] - self.low[j] - half) / half)
        # multiplied: powers differ in their last digit from library to library, and whole numbers lie on borders of shells
        return math.prod([norm] * len(self.wide)) if self.wide else 0.0

    def occupied(self, number, shares):
        """The shells of `number` in which there is something; what lies on the surface of the domain is in the last one."""
        return set(np.floor(np.minimum(shares, 1 - 2.0**-53) * number).astype(int).tolist())

    def in_an_empty_shell(self, rng, number, occupied):
        """A point from a random empty one of `number` shells."""
        while (shell := int(rng.random() * number)) in occupied:
            pass
        size = len(self.wide)
        share = (shell + rng.random()) / number
        norm = share ** (1.0 / size) if size else 0.0
        side = int(rng.random() * 2 * size)
        point = []
        for j in range(self.columns):
            half = (self.high[j] - self.low[j]) / 2
            if j not in self.wide:
                value = self.low[j] + 2 * half * rng.random()
            elif self.wide.index(j) == side // 2:
                value = self.low[j] + half + half * (norm if side % 2 else -norm)
            else:
                value = self.low[j] + half + half * (norm * (2 * rng.random() - 1))
            point.append(self.settled(j, value))
        return point


class Plain:
    """What all have in common: candidates are drawn, one is chosen, and counts as executed."""

    k = 10
    alone = False

    def __init__(self, relation, count, seed, k=None, scaled=False):
        self.relation = relation
        self.rng = np.random.default_rng(seed)
        self.count = count
        self.k = k or self.k
        self.single = not hasattr(relation, "follow_up")
        sources = [relation] if self.single else relation.domain
        follow_ups = [] if self.single or self.alone else relation.follow_domains()
        self.sources = [Domain(box, scaled) for box in sources]
        self.domains = self.sources + [Domain(box, scaled) for box in follow_ups]
        self.ends = np.cumsum([0, *(domain.columns for domain in self.domains)]).tolist()
        self.width = self.ends[len(self.sources)]
        self.rows = np.zeros((0, self.ends[-1]))
        self.prepare()

    def prepare(self):
        pass

    def part(self, rows, slot):
        return rows[:, self.ends[slot] : self.ends[slot + 1]]

    def executed(self, slot):
        return self.part(self.rows, slot)

    @property
    def follow_slots(self):
        return range(len(self.sources), len(self.domains))

    def run(self):
        """The groups, sources and follow-ups side by side."""
        groups = []
        for _ in range(self.count):
            rows, follow_ups = self.with_follow_ups(self.candidates())
            chosen = self.choose(rows, self.rng.random())
            self.execute(rows[chosen])
            groups.append(np.concatenate([rows[chosen, : self.width], follow_ups[chosen]]))
        groups = np.array(groups)
        if self.alone and not self.single:
            sources = groups[:, : self.width]
            groups = np.concatenate([sources, self.relation.follow(sources)], axis=1)
        return groups

    def with_follow_ups(self, sources):
        """Candidates as rows, what is no number at the lower limit of its column; and their follow-ups as they are."""
        if self.single or self.alone:
            return sources, sources[:, :0]
        follow_ups = self.relation.follow(sources)
        low = [value for slot in self.follow_slots for value in self.domains[slot].low]
        return np.concatenate([sources, np.where(np.isfinite(follow_ups), follow_ups, low)], axis=1), follow_ups

    def execute(self, row):
        self.rows = np.concatenate([self.rows, row[None]])

    def candidates(self):
        """Source by source, candidate after candidate."""
        parts = [np.array([self.draw(slot) for _ in range(self.k)]) for slot in range(len(self.sources))]
        return np.concatenate(parts, axis=1)

    def draw(self, slot):
        return self.sources[slot].uniform(self.rng)

    def choose(self, rows, tie):
        return one_of_the_greatest(self.scores(rows) if len(self.rows) else np.zeros(self.k), tie)

    def nearest(self, rows, slot):
        return self.domains[slot].distances(self.part(rows, slot), self.executed(slot)).min(axis=1)


def one_of_the_greatest(scores, tie):
    best = [i for i, score in enumerate(scores) if score == max(scores)]
    return best[int(tie * len(best))]


# -- random -------------------------------------------------------------------------------------------------------


class Random(Plain):
    """MT-RT: no candidates, nothing chosen."""

    k, alone = 1, True

    def run(self):
        sources = np.array(
            [[x for domain in self.sources for x in domain.uniform(self.rng)] for _ in range(self.count)]
        )
        return sources if self.single else np.concatenate([sources, self.relation.follow(sources)], axis=1)


class Sequence(Plain):
    """The first so many points of a sequence of SciPy's, all at once."""

    k, alone = 1, True

    def __init__(self, relation, count, seed, kind, **options):
        self.kind = kind
        super().__init__(relation, count, seed, **options)

    def run(self):
        places = self.kind(self.width, scramble=True, rng=self.rng).random(2 ** math.ceil(math.log2(self.count)))[
            : self.count
        ]
        sources = np.array(
            [
                [
                    domain.settled(j, domain.low[j] + (domain.high[j] - domain.low[j]) * place[self.ends[slot] + j])
                    for slot, domain in enumerate(self.sources)
                    for j in range(domain.columns)
                ]
                for place in places
            ]
        )
        return sources if self.single else np.concatenate([sources, self.relation.follow(sources)], axis=1)


# -- by distances -------------------------------------------------------------------------------------------------


class FSCS(Plain):
    """The source farthest from the executed sources."""

    alone = True

    def scores(self, rows):
        return sum(self.nearest(rows, slot) for slot in range(len(self.domains)))


class Zones(FSCS):
    """RRT: the first uniform source outside all zones, after so many the farthest; zones make up 1.5 of the domain."""

    k = 1

    def __init__(self, relation, count, seed, tries=100, **options):
        self.tries = tries
        super().__init__(relation, count, seed, **options)

    def draw(self, slot):
        domain = self.sources[slot]
        if not len(self.rows):
            return domain.uniform(self.rng)
        size = len(domain.wide)
        volume = math.prod((domain.high[j] - domain.low[j]) * domain.scale[j] for j in domain.wide)
        ball = math.pi ** (size / 2) / math.gamma(size / 2 + 1)
        radius = (1.5 * volume / (len(self.rows) * ball)) ** (1.0 / size) if size else 0.0
        best, farthest = None, -1.0
        for _ in range(0, self.tries, 10):
            # ten at a time, as one at a time takes minutes; random numbers that one would not have drawn are given back
            before = self.rng.bit_generator.state
            points = [domain.uniform(self.rng) for _ in range(10)]
            distances = domain.distances(np.array(points), self.executed(slot)).min(axis=1).tolist()
            for i, (point, apart) in enumerate(zip(points, distances, strict=True)):
                if apart > radius:
                    self.rng.bit_generator.state = before
                    self.rng.random((i + 1) * domain.columns)
                    return point
                if apart > farthest:
                    best, farthest = point, apart
        return best


class Shells(FSCS):
    """FSCS by edge and centre: candidates from empty shells, one shell more than executed sources."""

    def prepare(self):
        self.shares = [[] for _ in self.sources]

    def candidates(self):
        number = len(self.rows) + 1
        self.occupied = [domain.occupied(number, seen) for domain, seen in zip(self.sources, self.shares, strict=True)]
        return super().candidates()

    def draw(self, slot):
        return self.sources[slot].in_an_empty_shell(self.rng, len(self.rows) + 1, self.occupied[slot])

    def execute(self, row):
        super().execute(row)
        for slot, domain in enumerate(self.sources):
            self.shares[slot].append(domain.share(self.executed(slot)[-1].tolist()))


class SFIDMT(Shells):
    """The group whose inputs are farthest from the executed ones of their own domains; joint: from the nearest group."""

    alone = False

    def __init__(self, relation, count, seed, joint=False, **options):
        self.joint = joint
        super().__init__(relation, count, seed, **options)

    def scores(self, rows):
        if not self.joint:
            return super().scores(rows)
        slots = range(len(self.domains))
        return sum(self.domains[slot].distances(self.part(rows, slot), self.executed(slot)) for slot in slots).min(
            axis=1
        )


class Profile(Plain):
    """TP-ART: a candidate is as likely as its inputs are far from the executed ones of their own domains."""

    def choose(self, rows, tie):
        if not len(self.rows):
            return int(tie * self.k)
        scores = [sum(float(self.nearest(rows, slot)[i]) for slot in range(len(self.domains))) for i in range(self.k)]
        heights = list(itertools.accumulate(scores))
        if not heights[-1] > 0:
            return int(tie * self.k)
        return min(sum(height <= tie * heights[-1] for height in heights), self.k - 1)


class Evolution(Plain):
    """SB-ART: five generations of candidates; the best of the last one."""

    generations = 5

    def scores(self, rows):
        return sum(self.nearest(rows, slot) for slot in range(len(self.domains)))

    def candidates(self):
        sources = super().candidates()
        for _ in range(self.generations if len(self.rows) else 0):
            scores = self.scores(self.with_follow_ups(sources)[0]).tolist()
            children = self.children(sources, scores)
            fitness = self.scores(self.with_follow_ups(children)[0]).tolist()
            children[fitness.index(min(fitness))] = sources[scores.index(max(scores))]
            sources = children
        return sources

    def children(self, sources, scores):
        fathers, mothers = ([self.winner(scores) for _ in range(self.k)] for _ in range(2))
        inherits, mutates = ([[self.rng.random() for _ in range(self.width)] for _ in range(self.k)] for _ in range(2))
        fresh = np.array([[x for source in self.sources for x in source.uniform(self.rng)] for _ in range(self.k)])
        children = np.zeros_like(sources)
        for i in range(self.k):
            for j in range(self.width):
                parent = fathers[i] if inherits[i][j] < 0.5 else mothers[i]
                children[i, j] = fresh[i, j] if mutates[i][j] < 1 / self.width else sources[parent, j]
        return children

    def winner(self, scores):
        first, second = (int(self.rng.random() * self.k) for _ in range(2))
        return first if scores[first] >= scores[second] else second


class MTART(Plain):
    """One pool of all executed inputs: d1 and d3 are distances to it, d2 those within a group."""

    def __init__(self, relation, count, seed, of="Min", strategy=1, **options):
        self.of, self.strategy = of, strategy
        super().__init__(relation, count, seed, **options)

    def prepare(self):
        self.shares = [[] for _ in self.sources]

    @property
    def pool(self):
        """All executed inputs, group by group."""
        return self.rows.reshape(-1, self.domains[0].columns)

    def execute(self, row):
        super().execute(row)
        for slot, source in enumerate(self.sources):
            for point in row.reshape(len(self.domains), -1).tolist():
                if all(low <= x <= high for low, x, high in zip(source.low, point, source.high, strict=True)):
                    self.shares[slot].append(source.share(point))

    def candidates(self):
        number = len(self.pool) + 1
        self.occupied = [domain.occupied(number, seen) for domain, seen in zip(self.sources, self.shares, strict=True)]
        return super().candidates()

    def draw(self, slot):
        return self.sources[slot].in_an_empty_shell(self.rng, len(self.pool) + 1, self.occupied[slot])

    def together(self, numbers):
        """The least, the greatest or the mean of some numbers; sums are made from the first to the last."""
        if self.of == "Avg":
            return np.cumsum(numbers, axis=-1)[..., -1] / np.shape(numbers)[-1]
        return np.min(numbers, axis=-1) if self.of == "Min" else np.max(numbers, axis=-1)

    def choose(self, rows, tie):
        if not len(self.rows):  # the first group is a uniform one
            return int(tie * self.k)
        inputs = [self.part(rows, slot) for slot in range(len(self.domains))]
        measure = self.domains[0].distances
        to_pool = [self.together(measure(item, self.pool)) for item in inputs]
        d1 = self.together(np.array(to_pool[: len(self.sources)]).T)
        d3 = self.together(np.array(to_pool[len(self.sources) :]).T) if len(self.follow_slots) else d1
        d13 = self.together(np.array([d1, d3]).T)
        pairs = [np.diag(measure(a, b)) for a, b in itertools.combinations(inputs, 2)]
        d2 = self.together(np.array(pairs).T) if pairs else np.zeros(self.k)
        first, second = (d13, d2) if self.strategy == 1 else (d2, d13)
        equal = [i for i in range(self.k) if first[i] >= max(first) - 1e-6]
        best = [i for i in equal if second[i] == max(second[j] for j in equal)]
        return best[int(tie * len(best))]


# -- by equal cells -----------------------------------------------------------------------------------------------


class Grid:
    """A domain cut into equal cells, and the cells that are open for a group.

    Cells are numbered, the last column fastest. Open ones stand in a list from which one is drawn, so its order counts:
    ascending after each cut, then executed inputs close cells one after the other (each the cells around it, in
    ascending steps), and a closed cell leaves its place to the last one.
    """

    def __init__(self, domain, how, drawn):
        self.domain, self.how, self.drawn = domain, how, drawn
        self.low, self.high = np.array(domain.low), np.array(domain.high)
        self.wide = np.flatnonzero(self.high > self.low).tolist()
        self.parts = np.ones(domain.columns, dtype=np.int64)
        self.axis = 0
        self.list_open(self.fill(np.zeros((0, domain.columns))))

    def fill(self, points):
        """Have the cells closed that executed inputs close, from the first to the last."""
        self.total = math.prod(self.parts.tolist())
        self.is_closed = np.zeros(self.total, dtype=bool)
        self.filed = self.cells(points)
        closed = self.around(self.filed)
        self.is_closed[closed] = True
        return closed

    def cells(self, points):
        """The cell of each point, a number a column; the outermost one for points outside."""
        width = np.where(self.high > self.low, self.high - self.low, np.inf)
        return np.minimum(np.maximum((points - self.low) / width * self.parts, 0), self.parts - 1).astype(np.int64)

    def around(self, cells):
        """The numbers of the cells that inputs in some cells close, from the first to the last."""
        numbers, inside = np.zeros((len(cells), 1), dtype=np.int64), np.ones((len(cells), 1), dtype=bool)
        steps = np.array([0] if self.how == "bisection" else [-1, 0, 1])
        for j, parts in enumerate(self.parts.tolist()):
            beside = cells[:, j, None] + steps
            if self.how == "wrapped":
                beside %= parts
            allowed = (beside >= 0) & (beside < parts)
            size = (len(cells), numbers.shape[1] * len(steps))
            numbers = (numbers[:, :, None] * parts + beside[:, None, :]).reshape(size)
            inside = (inside[:, :, None] & allowed[:, None, :]).reshape(size)
        return numbers[inside]

    def list_open(self, closed):
        """List the open cells after a cut."""
        self.open = list(range(self.total))
        self.place = list(self.open)
        self.unlist(closed)

    def unlist(self, closed):
        for number in dict.fromkeys(closed.tolist()):
            place = self.place[number]
            if place >= 0:
                last = self.open.pop()
                self.place[number] = -1
                if last != number:
                    self.open[place] = last
                    self.place[last] = place

    def execute(self, point):
        cell = self.cells(point[None])
        self.filed = np.concatenate([self.filed, cell])
        closed = self.around(cell)
        self.is_closed[closed] = True
        if self.drawn:
            self.unlist(closed)

    def cut(self, points):
        """Cut finer as long as no cell is open, or as many inputs were executed as there are cells."""
        closed = None
        while self.wide and (self.is_closed.all() or len(points) >= self.total):
            if self.how == "bisection":
                while self.axis not in self.wide:
                    self.axis = (self.axis + 1) % self.domain.columns
                self.parts[self.axis] *= 2
                self.axis = (self.axis + 1) % self.domain.columns
            else:
                self.parts[self.wide] += 1
            closed = self.fill(points)
        if self.drawn and closed is not None:
            self.list_open(closed)

    def draw_cell(self, rng):
        drawn = rng.random()
        number = self.open[int(drawn * len(self.open))] if self.open else int(drawn * self.total)
        return np.unravel_index(number, self.parts.tolist())

    def draw_in(self, rng, cell):
        point = []
        for j, parts in enumerate(self.parts.tolist()):
            low = self.domain.low[j]
            value = low + (self.domain.high[j] - low) * ((int(cell[j]) + rng.random()) / parts)
            point.append(self.domain.settled(j, value))
        return point

    def near(self, points, steps):
        """Whether each executed input lies in the cell of each point, or at most so many steps beside it."""
        here, there = self.cells(points), self.filed
        near = np.ones((len(here), len(there)), dtype=bool)
        for j, parts in enumerate(self.parts.tolist()):
            apart = np.abs(here[:, None, j] - there[None, :, j])
            near &= (np.minimum(apart, parts - apart) if self.how == "wrapped" else apart) <= steps
        return near

    def closed(self, points):
        """Whether an executed input lies in the cell of each point; by iteration also in one next to it."""
        return self.near(points, 0 if self.how == "bisection" else 1).any(axis=1)


class Cells(Plain):
    """MT-BART and its kin: candidates from an open cell of each source domain."""

    k = 4
    how = "bisection"

    def prepare(self):
        self.grids = [Grid(domain, self.how, domain in self.sources) for domain in self.domains]

    def candidates(self):
        for slot, grid in enumerate(self.grids):
            grid.cut(self.executed(slot))
        drawn = [grid.draw_cell(self.rng) for grid in self.grids[: len(self.sources)]]
        parts = [
            np.array([grid.draw_in(self.rng, cell) for _ in range(self.k)])
            for grid, cell in zip(self.grids, drawn, strict=False)
        ]
        return np.concatenate(parts, axis=1)

    def execute(self, row):
        super().execute(row)
        for slot, grid in enumerate(self.grids):
            grid.execute(self.executed(slot)[-1])

    def scores(self, rows):
        """1 where all follow-ups lie in open cells."""
        closed = [self.grids[slot].closed(self.part(rows, slot)) for slot in self.follow_slots]
        return ~np.any(closed, axis=0) if closed else np.ones(self.k)


class WrappedCells(Cells):
    """MT-IPART."""

    how = "wrapped"


class DistantCells(Cells):
    """SFIDMT-BART: the more inputs with nothing executed around them the better, then the farther from what there is."""

    k = 10

    def scores(self, rows):
        lonely, total = np.zeros(self.k), np.zeros(self.k)
        for slot, grid in enumerate(self.grids):
            points, executed = self.part(rows, slot), self.executed(slot)
            apart = np.where(grid.near(points, 1), grid.domain.distances(points, executed), np.inf).min(axis=1)
            lonely += apart == np.inf
            total += np.where(apart == np.inf, 0.0, apart)
        total[lonely < lonely.max()] = -1
        return total


class SingleCells(Cells):
    """BART."""

    k, alone = 1, True


class SingleIteration(SingleCells):
    """IPART: edges do not wrap."""

    how = "iteration"


# -- by boxes that are split --------------------------------------------------------------------------------------


class Boxes:
    """A domain that executed inputs split; every box reaches from `since` up to, and not including, `until`.

    The outermost boxes reach beyond the domain, so that every input lies in one. No two boxes of random inputs have the
    same volume, unless it is none; so there is one largest box.
    """

    def __init__(self, domain, room):
        low, high = np.array([domain.low]), np.array([domain.high])
        self.width = high - low
        wide = self.width[0] > 0
        #: which children lie above the point, and which below it, column by column
        self.above = np.array(list(itertools.product(*((False, True) if item else (False,) for item in wide))))
        self.below = ~self.above & wide
        most = 1 + room * len(self.above)
        self.low, self.high, self.since, self.until = np.zeros((4, domain.columns, most))
        self.volume = np.zeros(most)
        self.count = 1
        self.put([0], low, high, np.full_like(low, -np.inf), np.full_like(low, np.inf))

    def put(self, where, low, high, since, until):
        """Write boxes, a row each."""
        self.low[:, where], self.high[:, where] = low.T, high.T
        self.since[:, where], self.until[:, where] = since.T, until.T
        volume = np.ones(len(low))
        for j, width in enumerate(self.width[0]):
            if width > 0:
                volume *= (high[:, j] - low[:, j]) / width
        self.volume[where] = volume

    def largest(self):
        return int(np.argmax(self.volume[: self.count]))

    def box_of(self, point):
        """The one box that reaches to a point."""
        left = np.flatnonzero((self.since[0, : self.count] <= point[0]) & (point[0] < self.until[0, : self.count]))
        for since, until, value in zip(self.since[1:], self.until[1:], point[1:], strict=True):
            left = left[(since[left] <= value) & (value < until[left])]
        (box,) = left
        return int(box)

    def split(self, point):
        """Put two parts along every wide column in the place of the box a point lies in."""
        box = self.box_of(point)
        low, high = self.low[:, box], self.high[:, box]
        at = np.minimum(np.maximum(point, low), high)
        where = [box, *range(self.count, self.count + len(self.above) - 1)]
        self.count += len(self.above) - 1
        self.put(
            where,
            np.where(self.above, at, low),
            np.where(self.below, at, high),
            np.where(self.above, at, self.since[:, box]),
            np.where(self.below, at, self.until[:, box]),
        )


class Splitting(Plain):
    """MT-RPART: candidates from the largest box of each source; follow-ups should lie in the largest of theirs."""

    k = 4

    def prepare(self):
        self.boxes = [Boxes(domain, self.count) for domain in self.domains]

    def draw(self, slot):
        boxes, domain = self.boxes[slot], self.domains[slot]
        box = boxes.largest()
        return [
            domain.settled(j, low + (high - low) * self.rng.random())
            for j, (low, high) in enumerate(zip(boxes.low[:, box].tolist(), boxes.high[:, box].tolist(), strict=True))
        ]

    def execute(self, row):
        super().execute(row)
        for slot, boxes in enumerate(self.boxes):
            boxes.split(self.executed(slot)[-1])

    def scores(self, rows):
        inside = np.ones(self.k, dtype=bool)
        for slot in self.follow_slots:
            boxes, points = self.boxes[slot], self.part(rows, slot)
            box = boxes.largest()
            inside &= ((boxes.since[:, box] <= points) & (points < boxes.until[:, box])).all(axis=1)
        return inside


class SingleSplitting(Splitting):
    """RPART."""

    k, alone = 1, True


PLAIN = {
    "MT-RT": (Random, {}),
    "RT": (Random, {}),
    "Sobol": (Sequence, {"kind": qmc.Sobol}),
    "Halton": (Sequence, {"kind": qmc.Halton}),
    "FSCS-ART": (FSCS, {}),
    "FSCS": (FSCS, {}),
    "FSCS-EC": (Shells, {}),
    "MD-ART": (Shells, {}),
    "RRT": (Zones, {}),
    "SFIDMT-ART": (SFIDMT, {}),
    "SFIDMT-ART-joint": (SFIDMT, {"joint": True}),
    **{f"MT-ART-{of}": (MTART, {"of": of}) for of in ("Min", "Avg", "Max")},
    **{f"MT-ART-{of}-2": (MTART, {"of": of, "strategy": 2}) for of in ("Min", "Avg", "Max")},
    "TP-ART": (Profile, {}),
    "SB-ART": (Evolution, {}),
    "MT-BART": (Cells, {}),
    "MT-IPART": (WrappedCells, {}),
    "SFIDMT-BART": (DistantCells, {}),
    "BART": (SingleCells, {}),
    "IPART": (SingleIteration, {}),
    "MT-RPART": (Splitting, {}),
    "RPART": (SingleSplitting, {}),
}


def plain_groups(name, relation, count, seed, known=(), **options):
    """The first groups of a generator, sources and follow-ups side by side; `known` sources were executed before."""
    kind, implied = PLAIN[name]
    generator = kind(relation, count + len(known), seed, **implied, **options)
    if len(known):
        for row in generator.with_follow_ups(np.array(known))[0]:
            generator.execute(row)
    generator.count = count
    return generator.run()
