"""`dm.compare`: what changed from one model to another, and for whom.

The room is below the audit, whose baseline check uses its judgement: nothing here imports ``audit`` (labels are compared
with ``space.labels``).
"""
