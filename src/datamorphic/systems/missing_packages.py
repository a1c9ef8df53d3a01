"""Errors about packages that a model needs and that are not installed: the user's to install, in one line."""

from __future__ import annotations

import importlib.util

from ..errors import ModelError

#: Packages whose name at PyPI is not that of the module.
PACKAGE_BY_MODULE = {
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "PIL": "pillow",
    "yaml": "PyYAML",
    "skimage": "scikit-image",
    "imblearn": "imbalanced-learn",
    "sentence_transformers": "sentence-transformers",
    "category_encoders": "category-encoders",
    "sklearn_pandas": "sklearn-pandas",
    "tensorflow_addons": "tensorflow-addons",
}


class MissingPackage(ModelError, ImportError):
    """A model needs a package that is not installed; the message names it."""


def build_missing_package_error(error: ImportError, subject: str) -> ModelError:
    """Return the error for the user: the package to install, or the version that does not fit.

    `subject` begins the sentence: "model.pkl needs".
    """
    module = error.name or ""
    top = module.partition(".")[0]
    if not top:
        return MissingPackage(f"{subject} a package that cannot be imported: {error}. Install what it was made with.")
    package = PACKAGE_BY_MODULE.get(top, top)
    if _is_installed(top):
        version = _find_version(package)
        what = f"the module {module!r}" if module != top else "something"
        return MissingPackage(
            f"{subject} {what} of the package {package!r}, which the installed version{version} does not have ({error}). "
            "Install the version it was made with."
        )
    return MissingPackage(
        f"{subject} the package {package!r}, which is not installed. Install it: pip install {package}"
    )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _find_version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f" {version(package)}"
    except PackageNotFoundError:
        return ""
