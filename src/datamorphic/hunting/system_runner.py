"""Hunt violations by systems with a space, such as models and services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError, DataError
from ..relations.algebra.base import ROUNDING_TOLERANCE, Relation
from ..relations.algebra.box import Box, Floats
from ..relations.algebra.change import ChangeRelation
from ..relations.algebra.domain import RangeDomain, parse_domain
from ..relations.algebra.function import FunctionRelation, read_columns
from ..runs.flow import Flow, Query
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from .loop import HuntSteps


def validate_columns(relation: FunctionRelation, space: Space) -> FunctionRelation:
    """Return a relation; raise if its inputs do not have the columns of the space."""
    if (widths := relation.find_input_widths()) != {len(space.names)}:
        raise ArgumentError(
            f"Inputs of the relation {relation.name!r} have {sorted(widths)} columns, but the system takes "
            f"{len(space.names)}: {', '.join(map(str, space.names[:6]))}. Give the relation the space of the system."
        )
    return relation


#: returns what relations compare of the outputs of a system: its answers, or the probabilities of a class
OutputReader = Callable[[Outputs], npt.NDArray[Any]]


def to_flow(steps: HuntSteps, space: Space, read_outputs: OutputReader = read_columns) -> Flow[None]:
    """Return the steps of a trial as a flow of queries about points of a space."""
    needs_scores = read_outputs is not read_columns
    try:
        query = next(steps)
        while True:
            batch = Points(space, query.inputs)
            outputs = yield Query(
                batch, scores="only" if needs_scores else False, progress=query.progress, note="hunting", fresh=True
            )
            query = steps.send((read_outputs(outputs), outputs.ok))
    except StopIteration:
        return None


def to_function_relation(relation: Relation, space: Space) -> FunctionRelation:
    """Return a relation about cases of a frame as one about codes of a space.

    A relation that draws random numbers draws the same for every batch, so that a group does not depend on the batch
    it is in.
    """
    if relation.whole or type(relation).follow_up is Relation.follow_up:
        raise ArgumentError(
            f"The relation {relation.name!r} does not make one follow-up from one case, so sources cannot be drawn. Hunt among "
            "rows of data, hunt(..., data=...), or check it with dm.check."
        )

    def make_follow_ups(codes: Floats) -> Floats:
        frame = space.frame(Points(space, codes.reshape(len(codes), -1)))
        follow_ups = relation.follow_up(frame.copy(), np.random.default_rng(0))
        try:
            return space.points(follow_ups).codes
        except DataError as error:
            raise ArgumentError(
                f"Follow-ups of the relation {relation.name!r} leave the space of the model, but a hunt stays in it, unless "
                f"sources are rows of data (generator='rows'): {error}"
            ) from None

    def is_applicable(x: list[Any], _: list[Any]) -> Any:
        return relation.applies(space.frame(Points(space, x[0].reshape(len(x[0]), -1))))

    return FunctionRelation(
        name=relation.name,
        statement=relation.statement,
        domain=parse_domain(space, (), f"the relation {relation.name!r}"),
        follow_up=make_follow_ups,
        follow_domain=[Box.of(space)],
        expects=lambda _, y: np.asarray(relation.expects(y[0], y[1])).astype(bool),
        applies=is_applicable,
        necessary=relation.necessary,
    )


# -- relations about changes of columns -------------------------------------------------------------------------


def fit_changes(relations: Sequence[object], sut: Executor, space: Space) -> list[ChangeRelation]:
    """Return relations about changes fitted to a system; none if there are no such relations.

    They compare probabilities, other relations compare answers, so that both kinds cannot be in one hunt.
    """
    changes = [relation for relation in relations if isinstance(relation, ChangeRelation)]
    if not changes:
        return []
    if len(changes) < len(relations):
        other = next(relation for relation in relations if not isinstance(relation, ChangeRelation))
        raise ArgumentError(
            f"The relation {changes[0].name!r} compares probabilities, {getattr(other, 'name', other)!r} compares answers. "
            "Hunt with each kind of relation alone."
        )
    inputs = Points(space, np.empty((0, len(space))))
    fitted_relations = []
    for relation in changes:
        relation.find_obstacle(sut, inputs)
        fitted_relations.append(relation.fitted_to(sut, inputs))
    first = fitted_relations[0]
    for relation in fitted_relations[1:]:
        if relation.outcome != first.outcome:
            raise ArgumentError(
                f"The relation {first.name!r} is about the class {first.outcome!r}, {relation.name!r} about "
                f"{relation.outcome!r}. Hunt with the relations of one class."
            )
    return fitted_relations


def find_source_box(relations: Sequence[ChangeRelation], space: Space) -> Box:
    """Return the box of a space, with the changed columns in their ranges; sentinels lie outside."""
    box = Box.of(space, f"the relation {relations[0].name!r}")
    low, high = box.low.copy(), box.high.copy()
    for change in (change for relation in relations for change in relation.changes):
        feature, column = space[change.column], space.position(change.column)
        if feature.numeric:
            low[column], high[column] = max(low[column], change.low), min(high[column], change.high)
            if low[column] > high[column]:
                raise ArgumentError(
                    f"No value of {change.column!r} between {feature.low:g} and {feature.high:g} lies in the range "
                    f"[{change.low:g}, {change.high:g}] of the change {change}."
                )
    narrow_box = Box(low, high, box.kind)
    has_constraints = space.constraints and space.keeps_constraints
    return RangeDomain.constrain(narrow_box, space) if has_constraints else narrow_box


def to_change_function(relation: ChangeRelation, space: Space, box: Box) -> FunctionRelation:
    """Return a fitted relation about changes as one about codes of a space and probabilities."""

    def make_follow_ups(codes: Floats) -> Floats:
        return relation.change_points(Points(space, codes.reshape(len(codes), -1))).points.codes

    def is_applicable(x: list[Any], _: list[Any]) -> Any:
        return ~relation.change_points(Points(space, x[0].reshape(len(x[0]), -1))).inapplicable

    ends = np.stack([box.low, box.high])
    images = make_follow_ups(ends)  # every change of a column is monotone
    condition: dict[str, Any] = {
        "down": {"at_most": lambda _, y: (y[1], y[0])},
        "up": {"at_most": lambda _, y: (y[0], y[1])},
        "same": {"equal": lambda _, y: (y[0], y[1])},
    }[relation.direction]
    return FunctionRelation(
        name=relation.name,
        statement=relation.statement,
        domain=box,
        follow_up=make_follow_ups,
        follow_domain=[Box(images.min(axis=0), images.max(axis=0), box.kind)],
        applies=is_applicable,
        necessary=relation.necessary,
        tolerance=max(ROUNDING_TOLERANCE, relation.tolerance),
        **condition,
    )
