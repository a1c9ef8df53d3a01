"""Credit relations: 10,000 applicants x HMR1 to HMR5, models of 100 trees, one core, against bare predictions."""

from __future__ import annotations

import warnings

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

import datamorphic as dm
from benchmarks.timing import line, seconds
from datamorphic.relations.catalogue.credit import credit_relations

APPLICANTS, TREES, TARGET_SECONDS = 10_000, 100, 2.0


def main():
    with threadpool_limits(1):  # models with threads of their own wait for each other on a busy machine
        measure()


def measure():
    book = dm.data.make_loan_book(20_000, seed=0)
    loans, outcomes = book.drop(columns="default"), book["default"]
    codes = [name for name in loans if not pd.api.types.is_numeric_dtype(loans[name])]
    learners = {
        "gradient boosting": GradientBoostingClassifier(n_estimators=TREES, random_state=0),
        "histogram boosting": HistGradientBoostingClassifier(max_iter=TREES, early_stopping=False, random_state=0),
        "random forest, leaves of 20": RandomForestClassifier(TREES, min_samples_leaf=20, random_state=0),
    }
    relations = credit_relations()
    applicants = loans.iloc[-APPLICANTS:]
    rows = pd.concat([applicants, *(relation.change(applicants).frame for relation in relations.values())])
    for name, learner in learners.items():
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), codes), remainder="passthrough"
        )
        model = make_pipeline(encoder, learner).fit(loans.iloc[:-APPLICANTS], outcomes.iloc[:-APPLICANTS])

        def run(model=model):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dm.errors.DatamorphicWarning)  # columns of few whole numbers
                dm.check(model, applicants, list(relations.values()), inputs=APPLICANTS, shrink=False, progress=False)

        bare = seconds(lambda model=model: model.predict_proba(rows))
        took = seconds(run)
        verdict = "kept" if took < TARGET_SECONDS else "MISSED"
        note = f"{took / bare:.2f} x the bare predictions of {len(rows):,} rows; target {TARGET_SECONDS:g} s {verdict}"
        line(f"{name}, {TREES} trees", f"{took:.2f} s", note)
    took = seconds(lambda: [relation.change(applicants) for relation in relations.values()])
    line("the five changes alone", f"{1000 * took:.1f} ms", f"{5 * APPLICANTS / took:,.0f} rows/s")


if __name__ == "__main__":
    main()
