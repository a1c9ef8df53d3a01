"""Log the result of an audit to MLflow."""

from __future__ import annotations

from .._validation import import_optional
from ..core.result import LEVELS
from .result import AuditResult

FOLDER = "datamorphic"  # of the artifacts, and the prefix of metrics and tags
MAX_TAG_CHARACTERS = 5_000  # MLflow's limit


def log_result(result: AuditResult) -> None:
    """Log counts as metrics, the verdict as a tag, and the report as artifacts of the active run."""
    mlflow = import_optional("mlflow", "mlflow", "Logging to MLflow")
    levels = [finding.level for finding in result.findings]
    states = [outcome.state for outcome in result.outcomes]
    mlflow.log_metrics(
        {
            **{f"{FOLDER}.{level}_count": float(levels.count(level)) for level in LEVELS},
            f"{FOLDER}.passed_checks": float(states.count("passed")),
            f"{FOLDER}.calls": float(result.calls),
            f"{FOLDER}.seconds": result.seconds,
        }
    )
    verdict = {"passed": str(result.passed), "complete": str(result.complete)}
    tags = {"verdict": result.headline, **verdict, "seed": str(result.seed)}
    mlflow.set_tags({f"{FOLDER}.{name}": text[:MAX_TAG_CHARACTERS] for name, text in tags.items()})
    mlflow.log_text(result.to_html(), f"{FOLDER}/report.html")
    mlflow.log_text(result.to_json(), f"{FOLDER}/result.json")
