"""Results of check-ups made by hand: one as a bank might get it, one in which every text is hostile."""

from __future__ import annotations

import numpy as np

from datamorphic.audit.finding import Example, Finding, Outcome
from datamorphic.audit.result import AuditResult
from datamorphic.reporting.document import Axis, Line, Scatter, Section, Table

#: what names, labels and messages may hold, in the worst case
EVIL = {
    "script": "<script>document.title='owned'</script>",
    "image": '"><img src=x onerror="document.title=\'owned\'">',
    "attribute": "' onmouseover='document.title=1' x='",
    "template": "{{ 7 * 7 }}{% raw %}",
    "ansi": "\x1b[31mred\x1b]0;title\x07",
    "cdata": "]]><x>&amp;&#0;",
    "nul": "a\x00b\x0b\x7f\x85c",
    "surrogate": "half \ud83d of it",
    "emoji": "👩‍🚀 naïve ½ Ω 中文",
    "bidi": "safe \u202egnp.exe",
    "lines": "one\r\ntwo\n\n# three\n- four\n| five |",
    "markdown": "![x](http://a.b/c.png) [y](javascript:1) **b** `c` | d | @someone #12 https://e.f www.g.h a@b.cd $x$ ~~s~~",
    "comment": "<!-- --> </script> </style> <details>",
    "long": "Wort" * 500,
    "var": "var(--bad)",
}


def income_picture() -> Scatter:
    rng = np.random.default_rng(1)
    income, debt = rng.lognormal(10.4, 0.5, 400), rng.gamma(2, 6_000, 400)
    at = rng.uniform(12_000, 90_000, 260)
    kinds = np.where(
        rng.random(260) < 0.7,
        "approved | declined",
        np.where(rng.random(260) < 0.6, "declined | referred", "approved | referred"),
    )
    return Scatter(
        "Where answers of credit.skops change: 260 pairs",
        "the two directions keep 71 % of the variance of the inputs",
        Axis("direction 1: income + 0.8 assets − 0.3 debt"),
        Axis("direction 2: age + 0.4 years employed"),
        at.tolist(),
        (0.35 * at + rng.normal(0, 1_500, 260)).tolist(),
        kinds.tolist(),
        [f"{kind}: income {x:,.0f} -> {x + 1:,.0f}; everything else is equal" for kind, x in zip(kinds, at, strict=True)],
        (income.tolist(), debt.tolist()),
    )  # fmt: skip


def sweep_picture() -> Line:
    steps = np.arange(20_000, 80_001, 2_000)
    values = 1 / (1 + np.exp(-(steps - 42_000) / 6_000)) - 0.35 * np.exp(-(((steps - 60_000) / 4_000) ** 2))
    return Line(
        "The score for “approved” as income rises, for one applicant",
        "income",
        "score for approved",
        np.round(values, 4).tolist(),
        np.where(values > 0.5, "approved", "declined").tolist(),
        [f"income {step:,}" for step in steps],
        steps=steps.tolist(),
    )


def example() -> AuditResult:
    """A check-up with findings of every level, pictures, checks that did not run and one that broke."""
    case = {"age": 41, "income": 58_000, "debt": 12_500.0, "gender": "female", "card": "Gold", "years employed": 7,
            "assets": 230_000, "children": 2, "region": "north", "phone": None}  # fmt: skip
    protected = Finding(
        "protected", "gender", "The answer depends on gender alone", "concern", 1.0,
        "37 of 1,000 applicants get another answer when nothing but gender is changed.",
        "Train without the feature and what stands for it, or show that the law allows it; then test again.", 37, 1_000,
        (Example("gender from female to male: declined becomes approved", case, "declined", {"gender": "male"}, "approved"),
         Example("gender from male to female, at income 31,200: approved becomes declined"),
         Example("gender from male to female, at income 29,900: approved becomes referred")),
    )  # fmt: skip
    order = Finding(
        "column order", "", "The answer depends on the order of the columns", "fault", 1.0,
        "The model was given the same rows with their columns in another order, by name.",
        "Select the columns by name before predicting, e.g. frame[model.feature_names_in_].", 288, 300,
        (Example("the same applicant, columns reversed: approved becomes declined", case, "approved", {}, "declined"),),
    )  # fmt: skip
    falls = Finding(
        "monotone", "income", "A higher income turns an approval into a refusal", "concern", 0.93,
        "Along 12 of 400 sweeps the score for approved falls by more than rounding.",
        "Constrain the model (monotonic_cst in scikit-learn's gradient boosting), or declare where it may fall.", 12, 400,
        (Example("income from 58,000 to 60,000: approved becomes declined", case, "approved", {"income": 60_000}, "declined"),),
    )  # fmt: skip
    gaps = Finding(
        "adequacy", "", "A third of the leaves are never reached by the data", "advice", 0.8,
        "112 of 340 leaves get no row of the data that the model was tested with.",
        "Add the rows that dm.select proposes to the test data.",
    )  # fmt: skip
    pairs = Table(
        ["border", "pairs", "share", "from a real input"],
        [["approved | declined", "1,182", "70.4 %", "0.031"], ["declined | referred", "98", "17.7 %", "–"], ["approved | referred", "9", "11.9 %", "0.12"]],
    )  # fmt: skip
    outcomes = (
        Outcome("answers", "Does it answer every input?", "passed", "1,000 rows of data and 2,000 made ones", seconds=1.21, calls=3_000),
        Outcome("repeats", "Does it say the same when asked twice?", "passed", "1,000 rows", seconds=0.4, calls=1_000),
        Outcome("column order", "Does the order of the columns matter?", "found", "300 rows", (order,), seconds=0.31, calls=600),
        Outcome("monotone", "Does the score rise with what it should rise with?", "found", "400 sweeps over income", (falls,),
                (Section("One applicant, rising income", "Around 60,000 the score falls although income rises.", "warn", picture=sweep_picture()),), 4.52, 12_400),
        Outcome("protected", "Does a protected feature matter?", "found", "1,000 rows, gender exchanged", (protected,), seconds=0.92, calls=2_000),
        Outcome("borders", "Where does the answer change?", "passed", "1,289 border pairs", (),
                (Section("Where the answer changes", "Each point is a pair of nearly equal applicants that are told different things.",
                         table=pairs, picture=income_picture()),), 22.4, 48_211),
        Outcome("adequacy", "Does the data reach every part of the trees?", "found", "40 trees", (gaps,), seconds=3.0, calls=0),
        Outcome("baseline", "Has the border moved?", "not run", "no baseline was given: baseline= or --baseline"),
        Outcome("learning", "Does the learner keep its promises?", "not run", "a fitted model cannot be trained again"),
        Outcome("row labels", "Do the labels of the rows matter?", "broke", "the model took longer than 10 s for a batch", seconds=10.0, calls=200),
    )  # fmt: skip
    return AuditResult(
        "credit.skops",
        "a fitted classifier of 3 classes (GradientBoostingClassifier)",
        "applicants.csv: 1,000 rows, 10 features",
        outcomes,
        7,
        "1m",
        43.21,
        67_411,
        {"model": "models/credit.skops", "data": "applicants.csv", "target": "decision", "protected": ["gender"], "from_files": True},
        ("“decision” was taken for the target, as it was asked for.", "phone is missing in 12 rows: missing was taken for a value of its own."),
        {"python": "3.11.9", "datamorphic": "0.1.0", "numpy": "2.4.0", "scikit-learn": "1.9.0"},
    )  # fmt: skip


def hostile() -> AuditResult:
    """A check-up in which every text that users or their systems choose is hostile."""
    texts = list(EVIL.values())

    def evil(i: int) -> str:
        return texts[i % len(texts)]

    outcomes = []
    for i in range(len(texts)):
        word = evil(i)
        example = Example(word, {word: evil(i + 1), "x": 1.5}, word, {word: evil(i + 2)}, evil(i + 3))
        levels = ("fault", "concern", "advice")
        finding = Finding(word, word, word, levels[i % 3], 0.5, word, word, 3, 10, (example, example))  # type: ignore[arg-type]
        scatter = Scatter(
            word, word, Axis(word), Axis(word, [word, "b"]), [0.0, 1.0], [0.0, 1.0], [word, "b"], [word, word]
        )
        line = Line(word, word, word, [0.1, 0.9], [word, "b"], [word, "two"])
        section = Section(
            word, word, "bad", Table([word, "n"], [[word, 1], [evil(i + 1), "2"]]), scatter if i % 2 else line
        )
        outcomes.append(Outcome(word, word, "found", word, (finding,), (section,), 0.1, 1))
    outcomes.append(Outcome("skipped " + texts[0], texts[0], "not run", texts[6]))
    outcomes.append(Outcome("broken " + texts[0], texts[0], "broke", texts[4]))
    everything = " ".join(texts)
    words = {"model": everything, "data": everything, "target": everything, "from_files": True}
    versions = {everything: everything}
    return AuditResult(
        everything, everything, everything, tuple(outcomes), 1, everything, 1.0, 1, words, tuple(texts), versions
    )
