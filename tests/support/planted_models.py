"""Results of check-ups made by hand: one as a bank might get it, one in which every text is hostile."""

from __future__ import annotations

import numpy as np

from datamorphic.audit.outcome import Outcome
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import Example, Finding
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
        title="Where answers of credit.skops change: 260 pairs",
        subtitle="the two directions keep 71% of the variance of the inputs",
        x_axis=Axis("direction 1: income + 0.8 assets − 0.3 debt"),
        y_axis=Axis("direction 2: age + 0.4 years employed"),
        x=at.tolist(),
        y=(0.35 * at + rng.normal(0, 1_500, 260)).tolist(),
        groups=kinds.tolist(),
        notes=[
            f"{kind}: income {x:,.0f} -> {x + 1:,.0f}; everything else is equal"
            for kind, x in zip(kinds, at, strict=True)
        ],
        behind=(income.tolist(), debt.tolist()),
    )


def sweep_picture() -> Line:
    steps = np.arange(20_000, 80_001, 2_000)
    values = 1 / (1 + np.exp(-(steps - 42_000) / 6_000)) - 0.35 * np.exp(-(((steps - 60_000) / 4_000) ** 2))
    return Line(
        title="The score for “approved” as income rises, for one applicant",
        x_label="income",
        y_label="score for approved",
        values=np.round(values, 4).tolist(),
        bands=np.where(values > 0.5, "approved", "declined").tolist(),
        notes=[f"income {step:,}" for step in steps],
        steps=steps.tolist(),
    )


def example() -> AuditResult:
    """A check-up with findings of every level, pictures, checks that did not run and one that broke."""
    case = {
        "age": 41,
        "income": 58_000,
        "debt": 12_500.0,
        "gender": "female",
        "card": "Gold",
        "years employed": 7,
        "assets": 230_000,
        "children": 2,
        "region": "north",
        "phone": None,
    }
    protected = Finding(
        check="protected",
        about="gender",
        title="The answer depends on gender alone",
        level="concern",
        confidence=1.0,
        detail="37 of 1,000 applicants get another answer when nothing but gender is changed.",
        remedy="Train without the feature and what stands for it, or show that the law allows it; then test again.",
        cases=37,
        cases_tried=1_000,
        examples=(
            Example(
                text="gender from female to male: declined becomes approved",
                case=case,
                answer="declined",
                changed={"gender": "male"},
                new_answer="approved",
            ),
            Example(text="gender from male to female, at income 31,200: approved becomes declined"),
            Example(text="gender from male to female, at income 29,900: approved becomes referred"),
        ),
    )
    order = Finding(
        check="column order",
        about="",
        title="The answer depends on the order of the columns",
        level="fault",
        confidence=1.0,
        detail="The model was given the same rows with their columns in another order, by name.",
        remedy="Select the columns by name before predicting, e.g. frame[model.feature_names_in_].",
        cases=288,
        cases_tried=300,
        examples=(
            Example(
                text="the same applicant, columns reversed: approved becomes declined",
                case=case,
                answer="approved",
                changed={},
                new_answer="declined",
            ),
        ),
    )
    falls = Finding(
        check="monotone",
        about="income",
        title="A higher income turns an approval into a refusal",
        level="concern",
        confidence=0.93,
        detail="Along 12 of 400 sweeps the score for approved falls by more than rounding.",
        remedy="Constrain the model (monotonic_cst in scikit-learn's gradient boosting), or declare where it may fall.",
        cases=12,
        cases_tried=400,
        examples=(
            Example(
                text="income from 58,000 to 60,000: approved becomes declined",
                case=case,
                answer="approved",
                changed={"income": 60_000},
                new_answer="declined",
            ),
        ),
    )
    gaps = Finding(
        check="adequacy",
        about="",
        title="A third of the leaves are never reached by the data",
        level="advice",
        confidence=0.8,
        detail="112 of 340 leaves get no row of the data that the model was tested with.",
        remedy="Add the rows that dm.select proposes to the test data.",
    )
    pairs = Table(
        columns=["border", "pairs", "share", "from a real input"],
        rows=[
            ["approved | declined", "1,182", "70.4%", "0.031"],
            ["declined | referred", "98", "17.7%", "–"],
            ["approved | referred", "9", "11.9%", "0.12"],
        ],
    )
    outcomes = (
        Outcome(
            check="answers",
            asks="Does it answer every input?",
            state="passed",
            why="1,000 rows of data and 2,000 made ones",
            seconds=1.21,
            calls=3_000,
        ),
        Outcome(
            check="repeats",
            asks="Does it say the same when asked twice?",
            state="passed",
            why="1,000 rows",
            seconds=0.4,
            calls=1_000,
        ),
        Outcome(
            check="column order",
            asks="Does the order of the columns matter?",
            state="found",
            why="300 rows",
            findings=(order,),
            seconds=0.31,
            calls=600,
        ),
        Outcome(
            check="monotone",
            asks="Does the score rise with what it should rise with?",
            state="found",
            why="400 sweeps over income",
            findings=(falls,),
            sections=(
                Section(
                    heading="One applicant, rising income",
                    text="Around 60,000 the score falls although income rises.",
                    state="warn",
                    picture=sweep_picture(),
                ),
            ),
            seconds=4.52,
            calls=12_400,
        ),
        Outcome(
            check="protected",
            asks="Does a protected feature matter?",
            state="found",
            why="1,000 rows, gender exchanged",
            findings=(protected,),
            seconds=0.92,
            calls=2_000,
        ),
        Outcome(
            check="borders",
            asks="Where does the answer change?",
            state="passed",
            why="1,289 border pairs",
            findings=(),
            sections=(
                Section(
                    heading="Where the answer changes",
                    text="Each point is a pair of nearly equal applicants that are told different things.",
                    table=pairs,
                    picture=income_picture(),
                ),
            ),
            seconds=22.4,
            calls=48_211,
        ),
        Outcome(
            check="adequacy",
            asks="Does the data reach every part of the trees?",
            state="found",
            why="40 trees",
            findings=(gaps,),
            seconds=3.0,
            calls=0,
        ),
        Outcome(
            check="baseline",
            asks="Has the border moved?",
            state="not run",
            why="no baseline was given: baseline= or --baseline",
        ),
        Outcome(
            check="learning",
            asks="Does the learner keep its promises?",
            state="not run",
            why="a fitted model cannot be trained again",
        ),
        Outcome(
            check="row labels",
            asks="Do the labels of the rows matter?",
            state="broke",
            why="the model took longer than 10 s for a batch",
            seconds=10.0,
            calls=200,
        ),
    )
    return AuditResult(
        subject="credit.skops",
        kind="a fitted classifier of 3 classes (GradientBoostingClassifier)",
        data="applicants.csv: 1,000 rows, 10 features",
        outcomes=outcomes,
        seed=7,
        budget="1m",
        seconds=43.21,
        calls=67_411,
        words={
            "model": "models/credit.skops",
            "data": "applicants.csv",
            "target": "decision",
            "protected": ["gender"],
            "from_files": True,
        },
        notes=(
            "“decision” was taken for the target, as it was asked for.",
            "phone is missing in 12 rows: missing was taken for a value of its own.",
        ),
        versions={"python": "3.11.9", "datamorphic": "0.1.0", "numpy": "2.4.0", "scikit-learn": "1.9.0"},
    )


def hostile() -> AuditResult:
    """A check-up in which every text that users or their systems choose is hostile."""
    texts = list(EVIL.values())

    def evil(i: int) -> str:
        return texts[i % len(texts)]

    outcomes = []
    for i in range(len(texts)):
        word = evil(i)
        example = Example(
            text=word,
            case={word: evil(i + 1), "x": 1.5},
            answer=word,
            changed={word: evil(i + 2)},
            new_answer=evil(i + 3),
        )
        levels = ("fault", "concern", "advice")
        finding = Finding(
            check=word,
            about=word,
            title=word,
            level=levels[i % 3],
            confidence=0.5,
            detail=word,
            remedy=word,
            cases=3,
            cases_tried=10,
            examples=(example, example),
        )  # type: ignore[arg-type]
        scatter = Scatter(
            title=word,
            subtitle=word,
            x_axis=Axis(word),
            y_axis=Axis(word, [word, "b"]),
            x=[0.0, 1.0],
            y=[0.0, 1.0],
            groups=[word, "b"],
            notes=[word, word],
        )
        line = Line(title=word, x_label=word, y_label=word, values=[0.1, 0.9], bands=[word, "b"], notes=[word, "two"])
        section = Section(
            heading=word,
            text=word,
            state="bad",
            table=Table(columns=[word, "n"], rows=[[word, 1], [evil(i + 1), "2"]]),
            picture=scatter if i % 2 else line,
        )
        outcomes.append(
            Outcome(
                check=word,
                asks=word,
                state="found",
                why=word,
                findings=(finding,),
                sections=(section,),
                seconds=0.1,
                calls=1,
            )
        )
    outcomes.append(Outcome(check="skipped " + texts[0], asks=texts[0], state="not run", why=texts[6]))
    outcomes.append(Outcome(check="broken " + texts[0], asks=texts[0], state="broke", why=texts[4]))
    everything = " ".join(texts)
    words = {"model": everything, "data": everything, "target": everything, "from_files": True}
    versions = {everything: everything}
    return AuditResult(
        subject=everything,
        kind=everything,
        data=everything,
        outcomes=tuple(outcomes),
        seed=1,
        budget=everything,
        seconds=1.0,
        calls=1,
        words=words,
        notes=tuple(texts),
        versions=versions,
    )
