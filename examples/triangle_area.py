"""Would relations find a bug in a numeric program? Its mutants, killed by relations of its inputs and answers.

Run it with: python examples/triangle_area.py
"""

from __future__ import annotations

from pathlib import Path

import datamorphic as dm

PROGRAM = Path(__file__).parent / "programs" / "triangle_area.py"
TRIANGLES = {
    "domain": {"a": (1, 10), "b": (1, 10), "c": (1, 10)},
    "constraints": ["a + b > c", "b + c > a", "c + a > b"],  # numbers that are not the sides of a triangle have no area
    "relative": 1e-6,
    "absolute": 1e-9,
}
RELATIONS = [
    dm.FunctionRelation(
        name="swapped",
        statement="two sides change places: the same area",
        follow_up=lambda a, b: {"a": b, "b": a},
        **TRIANGLES,
    ),
    dm.FunctionRelation(
        name="rotated",
        statement="the first side comes last: the same area",
        follow_up=lambda a, b, c: {"a": b, "b": c, "c": a},
        **TRIANGLES,
    ),
    dm.FunctionRelation(
        name="doubled",
        statement="sides twice as long: four times the area",
        follow_up=lambda a, b, c: {"a": 2 * a, "b": 2 * b, "c": 2 * c},
        equal=lambda x, y: (4 * y[0], y[1]),
        **TRIANGLES,
    ),
]


def main():
    """Mutate the program with one relation, then with all."""
    few, all_three = (
        dm.mutate(PROGRAM, relations, inputs=50, compared=200) for relations in (RELATIONS[:1], RELATIONS)
    )
    print(f"Swapping alone: {few.headline}")
    print(all_three.describe())
    assert few.score < all_three.score


if __name__ == "__main__":
    main()
