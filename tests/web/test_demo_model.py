"""The demo: its model needs no trust, and has the mistakes that the page names."""

import pytest

from datamorphic.systems.wrap import wrap
from datamorphic.web.demo_model import TARGET, make_demo_files, make_loans


@pytest.mark.slow
def test_the_demo_has_its_mistakes(tmp_path):
    pytest.importorskip("skops", reason="pip install 'datamorphic[skops]'")
    model_path, _, target = make_demo_files(tmp_path)
    assert target == TARGET
    written = model_path.read_bytes()
    assert make_demo_files(tmp_path)[0].read_bytes() == written  # made once
    model, inputs = wrap(str(model_path)), make_loans().drop(columns=TARGET)
    answers = model.execute(inputs).values
    women = inputs.assign(gender="female")
    flips = model.execute(women).values != model.execute(inputs.assign(gender="male")).values
    assert flips.mean() > 0.05
    assert (model.execute(inputs.assign(application=70_000)).values != answers).any()
