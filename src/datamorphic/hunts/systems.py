"""Hunts on systems whose inputs are those of a space: models, services, anything `wrap` takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, DataError
from ..morphisms.subject import subject_of
from ..relations.base import Relation
from ..relations.boxes import Box, Floats
from ..relations.numeric import FunctionRelation
from ..runs.drive import Tally, drive
from ..space.points import Points
from ..space.space import Space
from ..strategies.flow import Flow, Question
from ..sut.base import Executor
from .hunting import Asking


def space_of(sut: Any, data: Any, space: Space | None, target: str | None) -> tuple[Executor, Space]:
    """Return the system, and the space of its inputs."""
    subject = subject_of(sut, data, target=target, space=space, seeds=1, rng=np.random.default_rng(0))
    return subject.sut, subject.seeds.space


def asked_once(executor: Executor, space: Space, inputs: Floats) -> Any:
    """Return what a system answers to some inputs, beside the questions of a hunt."""
    return executor.execute(Points(space, inputs)).values


def hunted(steps: Asking, executor: Executor, space: Space, **driving: Any) -> int:
    """Have a hunt answered by a system, through a run: guarded, within a time-out; return how many calls it took."""
    tally = Tally()
    drive(_flow(steps, space), executor, tally=tally, **driving)
    return tally.calls


def fitting(relation: FunctionRelation, space: Space) -> FunctionRelation:
    """Return a relation if its inputs are those of a space; raise `ArgumentError` otherwise."""
    widths = {box.dimension for box in relation.follow_domains()}
    if relation.given is None:
        widths |= {box.dimension for box in relation.domain}
    if widths != {len(space.names)}:
        raise ArgumentError(
            f"Inputs of the relation {relation.name!r} have {sorted(widths)} columns, and the system takes "
            f"{len(space.names)}: {', '.join(map(str, space.names[:6]))}. Give the relation the space of the system."
        )
    return relation


def _flow(steps: Asking, space: Space) -> Flow[None]:
    try:
        ask = next(steps)
        while True:
            outputs = yield Question(Points(space, ask.inputs), done=ask.done, note="hunting", fresh=True)
            ask = steps.send((outputs.values, outputs.ok))
    except StopIteration:
        return None


def framed(relation: Relation, space: Space) -> FunctionRelation:
    """Return a relation about cases of a frame as one about codes of a space, so that generators can choose them.

    One that draws random numbers draws the same for every batch: a group must be the same whenever it is made.
    """
    if relation.whole or type(relation).follow_up is Relation.follow_up:
        raise ArgumentError(
            f"The relation {relation.name!r} does not make one follow-up from one case. Check it with dm.check, or hunt "
            "with a relation that has follow_up()."
        )

    def follow(codes: Floats) -> Floats:
        frame = space.frame(Points(space, codes.reshape(len(codes), -1)))
        made = relation.follow_up(frame.copy(), np.random.default_rng(0))
        try:
            return space.points(made).codes
        except DataError as error:
            raise ArgumentError(
                f"Follow-ups of the relation {relation.name!r} leave the space of the model, where a hunt cannot go: "
                f"{error}"
            ) from None

    def applies(x: list[Any], _: list[Any]) -> Any:
        return relation.applies(space.frame(Points(space, x[0].reshape(len(x[0]), -1))))

    return FunctionRelation(
        name=relation.name,
        says=relation.says,
        domain=Box.of(space, f"the relation {relation.name!r}"),
        follow_up=follow,
        follow_domain=[Box.of(space)],
        expects=lambda _, y: np.asarray(relation.expects(y[0], y[1])).astype(bool),
        applies=applies,
        necessary=relation.necessary,
    )
