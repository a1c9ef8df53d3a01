"""Check the shape of the response along each number: shared cuts, islands and single values that the data do not support.

Trees cut at one value for many rows, and real data rise and fall, so that a cut alone is no defect. A cut is reported
if the labels speak against it: real rows on one side are answered better with the value just on the other side of the
cut (their other values as they are) than with their own value. A learned cut fails this test, because it was learned to
answer those rows better. Without labels there is evidence of two kinds: a single value that is treated unlike all values
around it, although the data have no rows to learn that from, and a smooth model that jumps back against its own trend.
"""
