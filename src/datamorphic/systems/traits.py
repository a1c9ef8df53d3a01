"""What a learner says about itself: its kind, and the data that it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

LearnerKind = Literal["classifier", "regressor", "clusterer", "transformer", "outlier detector", ""]
_KIND_BY_TAG: dict[str, LearnerKind] = {
    "classifier": "classifier",
    "regressor": "regressor",
    "clusterer": "clusterer",
    "outlier_detector": "outlier detector",
}
# classes of other libraries that keep the conventions of scikit-learn and name what they draw at random
KNOWN_LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost", "imblearn", "interpret")


@dataclass(frozen=True, kw_only=True)
class LearnerTraits:
    """The kind of a learner, and the data that it accepts, as far as it says so.

    Attributes
    ----------
    kind : str
        "classifier", "regressor", "clusterer", "transformer" or "outlier detector"; empty if it does not say.
    library : str
        The top-level package of its class.
    repeatable : bool
        Whether it declares that a fixed ``random_state`` makes it deterministic.
    """

    kind: LearnerKind = ""
    library: str = ""
    accepts_missing: bool = False
    positive_inputs: bool = False
    positive_targets: bool = False
    one_column: bool = False
    two_classes: bool = False
    several_targets: bool = False  # whether the target must have several columns
    tables: bool = True  # whether its inputs are tables
    repeatable: bool = False

    def __post_init__(self) -> None:
        assert self.kind in get_args(LearnerKind)

    @property
    def labelled(self) -> bool:
        """Whether its answers are labels that occur in the training data."""
        return self.kind in ("classifier", "")

    @property
    def is_known_library(self) -> bool:
        """Whether its class belongs to a library that keeps the conventions of scikit-learn."""
        return self.library in KNOWN_LIBRARIES


def read_traits(learner: object) -> LearnerTraits:
    """Return what a learner says about itself by the tags of scikit-learn; those of its class, if it is not fitted."""
    library = str(getattr(learner, "home_module", type(learner).__module__)).partition(".")[0]
    if not hasattr(learner, "__sklearn_tags__"):
        return LearnerTraits(library=library)
    from sklearn.utils import get_tags

    try:
        tags = get_tags(learner)
    except Exception:  # a part of it is missing or does not follow the conventions
        return LearnerTraits(library=library)
    kind = _KIND_BY_TAG.get(str(tags.estimator_type), "")
    if kind in ("", "clusterer") and is_transformer(learner):
        kind = "transformer"
    classifier_tags = tags.classifier_tags
    return LearnerTraits(
        kind=kind,
        library=library,
        accepts_missing=bool(tags.input_tags.allow_nan),
        positive_inputs=bool(tags.input_tags.positive_only),
        positive_targets=bool(tags.target_tags.positive_only),
        one_column=bool(tags.input_tags.one_d_array),
        two_classes=classifier_tags is not None and not classifier_tags.multi_class,
        several_targets=not tags.target_tags.single_output,
        tables=bool(tags.input_tags.two_d_array or tags.input_tags.one_d_array) and not tags.input_tags.pairwise,
        repeatable=not tags.non_deterministic,
    )


def has_method(learner: object, name: str) -> bool:
    """Return whether a learner has a method, at least once it is fitted: its last part may decide whether it has ``predict``."""
    try:
        getattr(learner, name)
    except AttributeError as error:
        cause = error.__cause__
        if not isinstance(cause, AttributeError) or not cause.name:
            return False
        return cause.obj is None or cause.name.endswith("_")  # `fit` chooses that part if none is given, or sets it
    return True


def is_transformer(learner: Any) -> bool:
    """Return whether a learner changes rows instead of labelling them."""
    kind = type(learner)
    return (
        hasattr(learner, "fit")
        and (hasattr(kind, "transform") or hasattr(learner, "transform"))
        and not any(has_method(learner, method) for method in ("predict", "fit_predict"))
    )
