"""Hunt violations by systems with a space, such as models and services."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, DataError
from ..relations.base import Relation
from ..relations.box import Box, Floats
from ..relations.function import FunctionRelation
from ..runs.flow import Flow, Query
from ..space.points import Points
from ..space.space import Space
from .loop import HuntSteps


def validate_columns(relation: FunctionRelation, space: Space) -> FunctionRelation:
    """Return a relation; raise if its inputs do not have the columns of the space."""
    widths = {box.dimension for box in relation.follow_domains()}
    if relation.given is None:
        widths |= {box.dimension for box in relation.domain}
    if widths != {len(space.names)}:
        raise ArgumentError(
            f"Inputs of the relation {relation.name!r} have {sorted(widths)} columns, but the system takes "
            f"{len(space.names)}: {', '.join(map(str, space.names[:6]))}. Give the relation the space of the system."
        )
    return relation


def to_flow(steps: HuntSteps, space: Space) -> Flow[None]:
    """Return the steps of a trial as a flow of queries about points of a space."""
    try:
        query = next(steps)
        while True:
            outputs = yield Query(Points(space, query.inputs), progress=query.progress, note="hunting", fresh=True)
            query = steps.send((outputs.values, outputs.ok))
    except StopIteration:
        return None


def to_function_relation(relation: Relation, space: Space) -> FunctionRelation:
    """Return a relation about cases of a frame as one about codes of a space.

    A relation that draws random numbers draws the same for every batch, so that a group does not depend on the batch
    it is in.
    """
    if relation.whole or type(relation).follow_up is Relation.follow_up:
        raise ArgumentError(
            f"The relation {relation.name!r} does not make one follow-up from one case. Check it with dm.check, or "
            "hunt with a relation that has follow_up()."
        )

    def make_follow_ups(codes: Floats) -> Floats:
        frame = space.frame(Points(space, codes.reshape(len(codes), -1)))
        follow_ups = relation.follow_up(frame.copy(), np.random.default_rng(0))
        try:
            return space.points(follow_ups).codes
        except DataError as error:
            raise ArgumentError(
                f"Follow-ups of the relation {relation.name!r} leave the space of the model, but a hunt stays in it: "
                f"{error}"
            ) from None

    def is_applicable(x: list[Any], _: list[Any]) -> Any:
        return relation.applies(space.frame(Points(space, x[0].reshape(len(x[0]), -1))))

    return FunctionRelation(
        name=relation.name,
        says=relation.says,
        domain=Box.of(space, f"the relation {relation.name!r}"),
        follow_up=make_follow_ups,
        follow_domain=[Box.of(space)],
        expects=lambda _, y: np.asarray(relation.expects(y[0], y[1])).astype(bool),
        applies=is_applicable,
        necessary=relation.necessary,
    )
