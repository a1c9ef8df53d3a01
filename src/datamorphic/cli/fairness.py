"""The command ``datamorphic fairness``."""

from __future__ import annotations

from ..core.capability import get_capability
from ..risk.fairness.run import fairness as run_fairness
from .command import CapabilityCommand, make_command

COMMAND = CapabilityCommand(
    capability=get_capability(run_fairness),
    data_help="People, one per row: a CSV or Parquet file, or data:NAME.",
    files={"verdict": "Write the verdict as an HTML page that prints on one sheet."},
)

fairness = make_command(
    """Examine whether decisions depend on who people are, and print the findings.

    Would people get another decision with another gender or age and everything else the same? Does it take several of
    these together? Does another column stand in for a protected one? The exit code is 1 if something worse than advice
    is found.

    Examples: datamorphic fairness model.skops applicants.csv --target decision --protected gender --protected age --outcome approved;
    datamorphic fairness model.skops loans.csv --promises bank.promises --cutoff 0.1 --html fairness.html
    """,
    COMMAND,
)
