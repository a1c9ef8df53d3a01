"""The check "curves": the labels and the answers along every feature, and what it costs where they part.

`bins` groups the rows along a feature, `shapes` says in words how two curves differ, `costs` measures by how much a quick model
is better that sees what the tested one does not, `drawing` draws the curves, and `check` puts findings together.
"""
