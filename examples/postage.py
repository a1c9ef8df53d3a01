"""A function that is no model: what a parcel costs. Nobody learned it, and it can be wrong all the same.

Run it with: python examples/postage.py
"""

from __future__ import annotations

import datamorphic as dm

space = dm.Space(
    [
        dm.Continuous("weight", 0.1, 30, step=0.5),  # kilograms
        dm.Continuous("length", 10, 120, step=5),  # centimetres
        dm.Categorical("to", ["home", "neighbours", "world"]),
    ]
)


def postage(weight: float, length: float, to: str) -> float:
    """Return the price of a parcel."""
    price = {"home": 4.0, "neighbours": 9.0, "world": 16.0}[to]
    if weight > 10:
        price = 1.2 * weight - 6 + price  # should have been 1.2 * weight, or the tenth kilogram costs more
    elif weight > 2:
        price += 0.9 * weight
    return round(price + (5 if length > 60 else 0), 2)


class TwoParcels(dm.Relation):
    """One parcel is never dearer than two half as heavy."""

    name = "two parcels"
    statement = "a parcel costs no more than twice one of half the weight"

    def follow_up(self, frame, rng):
        """Return the parcel of half the weight."""
        return frame.assign(weight=(frame.weight / 2).clip(0.1))

    def expects(self, before, after):
        """Compare the prices."""
        return before <= 2 * after


heavier = dm.monotone("weight", "up")
result = dm.test(postage, space, expect={"relations": [heavier, TwoParcels()]}, scalar=True)
print(result.describe())

broken = {finding.about or finding.check: finding for finding in result.findings}
print()
for finding in result.findings:
    print(f"{finding.level}: {finding.title}")
    for example in finding.examples[:1]:
        print(f"  {example.text}")
assert any("weight" in finding.title for finding in result.findings)
