"""The original and its mutants in child processes: whatever their code does, it is reported and does no harm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError, StoreError, SystemFailed
from ..runs.jobs import JobCrash, JobError, JobOutcome, JobOutOfMemory, JobPool, JobSuccess, JobTimeout
from ..space.labels import to_object_array
from ..space.outputs import Outputs
from ..systems.base import ResourceSystem, ScoreRequest
from .child import MutantOutcome, MutationPlan, OriginalOutcome, study_mutant, study_original
from .forge import SourceMutant

ORIGINAL_TIMEOUT_SECONDS = 600.0
JOB_KINDS: dict[str, Any] = {kind.state: kind for kind in (JobSuccess, JobError, JobTimeout, JobOutOfMemory, JobCrash)}


def observe_original(plan: MutationPlan, timeout: float | None) -> OriginalOutcome:
    """Return the behaviour of the original."""
    name, seconds = plan.program.name, max(ORIGINAL_TIMEOUT_SECONDS, timeout or 0.0)
    with JobPool(study_original, seconds=seconds, output="nothing") as pool:
        job = pool.run(plan)
    if not isinstance(job, JobSuccess):
        reason = job.message if isinstance(job, JobError) else job.state
        raise SystemFailed(f"The original program {name} cannot be tested: {reason}.")
    original: OriginalOutcome = job.value
    if not any(original.relations.values()):
        raise ArgumentError(
            f"It is unknown which relations the learners of {name} must satisfy. Name the estimator whose algorithm they "
            "implement (like=, or an attribute `like`), or the relations that must hold."
        )
    return original


class MutantSystem(ResourceSystem):
    """Answers the numbers of mutants with their behaviour, as JSON, so that it is stored like the answers of a model.

    A batch are points with one column, the numbers.
    """

    batch_rows = 1  # each mutant is stored when it is done
    resource_names = ("_pool",)

    def __init__(
        self, plan: MutationPlan, original: OriginalOutcome, mutants: Sequence[SourceMutant], **limits: Any
    ) -> None:
        self.name = plan.program.name
        self._plan, self._original, self._mutants, self._limits = plan, original, mutants, limits
        self._create_resources()

    def _create_resources(self) -> None:
        self._pool = JobPool(study_mutant, output="nothing", **self._limits)

    def close(self) -> None:
        """End the child processes."""
        self._pool.__exit__()
        self._create_resources()

    def answer(self, batch: Any, scores: ScoreRequest) -> Outputs:
        """Run mutants, one after the other."""
        mutants = [self._mutants[int(number)] for number in batch.codes[:, 0]]
        jobs = [self._pool.run((self._plan, self._original, mutant.source)) for mutant in mutants]
        return Outputs.of(to_object_array([format_job(job) for job in jobs]))


def format_job(job: JobOutcome) -> str:
    """Return the outcome of a mutant as JSON."""
    fields = {"value": job.value.document()} if isinstance(job, JobSuccess) else vars(job)
    return json.dumps({"state": job.state, **fields})


def read_jobs(outputs: Outputs) -> list[JobOutcome]:
    """Return the outcomes of mutants from the answers of a `MutantSystem`."""
    jobs: list[JobOutcome] = []
    for row, text in enumerate(outputs.values):
        if not outputs.ok[row]:
            jobs.append(JobError(outputs.messages.get(row, "it has no outcome")))
            continue
        try:
            fields = json.loads(text)
            kind = JOB_KINDS[fields.pop("state")]
            jobs.append(
                JobSuccess(MutantOutcome.from_document(**fields["value"])) if kind is JobSuccess else kind(**fields)
            )
        except (TypeError, ValueError, LookupError) as error:
            raise StoreError(f"The stored outcome of a mutant is damaged: {error}.") from None
    return jobs
