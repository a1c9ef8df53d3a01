"""Names and modules that are imported on first use."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from datamorphic._lazy import LazyModule, pd


def test_a_lazy_module_has_the_names_of_the_module():
    import pandas

    assert pd.DataFrame is pandas.DataFrame
    assert pd.api.types.is_numeric_dtype is pandas.api.types.is_numeric_dtype
    with pytest.raises(AttributeError, match="no_such_name"):
        pd.no_such_name  # noqa: B018


def test_looking_at_a_lazy_module_does_not_import_it():
    module = LazyModule("no_such_module")
    assert inspect.ismodule(module)
    assert not hasattr(module, "__wrapped__")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        module.name  # noqa: B018


def test_modules_that_use_pandas_do_not_import_it():
    code = "import sys, datamorphic.space.space, datamorphic.hunting.result; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
