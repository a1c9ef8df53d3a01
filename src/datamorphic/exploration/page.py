"""A front as a page: what was found, where, how good it is, and which pairs to look at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from .._lazy import pd
from .._text import format_percent, format_short, pluralise
from ..reporting.document import Drawing, Page, Section, Table
from ..space.blocks import Image, PlacedBlock
from ..space.points import Points
from .changes import Rows, format_answers, format_changes, format_value, name_feature
from .front import Front
from .front_data import count_borders

if TYPE_CHECKING:
    from .small_changes import SmallChanges

MAX_BORDERS = 30  # rows of the table of borders
MAX_FEATURES = 20  # rows of the table of features
MAX_UNUSED_FEATURES = 10  # names of features that never differ
MAX_EXAMPLE_PAIRS = 12
MAX_CHANGES_PER_EXAMPLE = 6
MAX_INCIDENTS = 10
MAX_LISTED_BORDERS = 6
MAX_LISTED_FEATURES = 3
MAX_FEATURES_PER_CASE = 6
MIN_DECIDING_SHARE = 0.5  # of the pairs; at fewer, several features together decide


def build_front_page(front: Front, brief: bool = False, view: str = "auto", seed: int = 0) -> Page:
    """Build the page of a front; with `brief`, the short form for terminals: figures, an example, remarks and rounds.

    `view` is one of `VIEWS`, and `seed` that of t-SNE and UMAP.
    """
    yield_text = f"{pluralise(len(front), 'border pair')} from" if len(front) else "No border was found by"
    remarks = "\n".join(f"• {remark}" for remark in collect_remarks(front))
    facts = [*_list_figures(front), ("For example", format_example(front)), ("Worth knowing", remarks)]
    return Page(
        title=f"Where the answers of {front.subject} change",
        subject=front.subject,
        verdict=f"{yield_text} {pluralise(front.walks, 'walk')} ({front.strategy.replace('_', ' ')})",
        state="plain" if len(front) else "bad",
        facts=[(term, text) for term, text in facts if text],
        lead="Each pair is two nearly equal inputs with different answers: a border of the system runs between them. "
        "No known right answer was needed to find it. Whether the border lies where it should is for you to judge.",
        sections=[*([] if brief else _build_sections(front, view, seed)), *_build_rounds(front)],
    )


def _list_figures(front: Front) -> list[tuple[str, str]]:
    """Return capability, cost, borders and deciding features as terms and values."""
    low, high = map(format_percent, front.capability_interval())
    capability = ("Capability", f"{format_percent(front.capability)} of walks (95% interval {low} to {high})")
    seconds = "" if math.isnan(front.seconds) else f", {front.seconds:.2g} s"
    calls = f"{pluralise(front.runs, 'run')}, {pluralise(front.calls, 'model call')}{seconds}"
    if not len(front):
        return [capability, ("Cost", calls)]
    low_cost, high_cost = front.cost_interval()
    interval = f"{low_cost:.2f} to {'infinity' if math.isinf(high_cost) else f'{high_cost:.2f}'}"
    borders = ", ".join(
        f"{kind} ({count:,})" for kind, count in islice(count_borders(front).items(), MAX_LISTED_BORDERS)
    )
    return [
        capability,
        ("Cost", f"{front.cost:.2f} runs per border point ({interval}); {calls}"),
        ("Borders", borders),
        _format_features(front),
    ]


def _format_features(front: Front) -> tuple[str, str]:
    """Return the deciding features; without a system, those in which the two cases differ most."""
    top = front.deciding_features[:MAX_LISTED_FEATURES]
    if all(math.isnan(row.decides) for row in top):
        shares = ", ".join(f"{name_feature(front.space, row.feature)} ({row.share:.0%})" for row in top)
        return "Features that differ most", f"{shares} of the distance"
    decides = ", ".join(
        f"{name_feature(front.space, row.feature)} ({row.decides:.0%})" for row in top if row.decides > 0
    )
    return "Deciding features", f"{decides} of pairs, each alone" if decides else "none alone"


def collect_remarks(front: Front, *, about_workers: bool = True) -> list[str]:
    """Return what a reader should know before relying on the figures, and whether workers were idle."""
    remarks = list(front.notes)
    if front.exhausted:
        reason = "The search was interrupted" if front.interrupted else "The budget ended the search"
        remarks.append(f"{reason}. The pairs found until then are kept.")
    workers, batches = front.tally.workers, front.tally.max_batches
    if about_workers and workers > batches > 0:
        remarks.append(
            f"{workers} workers shared at most {pluralise(batches, 'batch', 'batches')} at a time. Use a smaller "
            "batch= or more walks to keep all of them busy."
        )
    if front.tally.retried_failures is not None:
        failing_count, fixed_count = front.tally.retried_failures
        cases = pluralise(failing_count + fixed_count, "case")
        remarks.append(
            f"{cases} that failed in earlier runs went first: {failing_count:,} still fail, {fixed_count:,} do not."
        )
    if front.lost:
        remarks.append(f"{pluralise(front.lost, 'walk')} ended where the system gave no answer.")
    unstable = front.tally.health.unstable_cases
    if unstable:
        values = list(unstable[0]["case"].items())[:MAX_FEATURES_PER_CASE]
        case = ", ".join(f"{name} {format_value(value)}" for name, value in values)
        answers = " and ".join(format_answers([unstable[0]["first"], unstable[0]["second"]]))
        remarks.append(
            f"Asked twice, the system gave two answers to {len(unstable):,} of the cases tried: to {case} it "
            f"answered {answers}. Pairs may be noise."
        )
    if len(front.measured) < len(front):
        remarks.append(
            f"The distance from a real input was measured for {len(front.measured):,} of the pairs, evenly chosen."
        )
    if front.slopes:
        remarks.append(f"{pluralise(front.slopes, 'steep slope')} looked like a jump at first, but had none.")
    return remarks


def format_example(front: Front) -> str:
    """Return the most plausible pair as text."""
    if not len(front):
        return ""
    row = int(np.nanargmin(front.plausibility))
    a, b = front.a.take(slice(row, row + 1)), front.b.take(slice(row, row + 1))
    answer_change = f"{format_short(front.a_output[row])} becomes {format_short(front.b_output[row])}"
    return f"{answer_change} with {format_changes(a, b, MAX_LISTED_FEATURES)[0]}"


def _build_sections(front: Front, view: str, seed: int) -> list[Section]:
    from .views import build_view_sections

    sections = build_view_sections(front, view, seed)
    if len(front):
        small_changes = build_small_changes(front)
        sections += build_pair_pictures(front)
        sections += [_build_class_pairs(front), *([] if small_changes is None else [small_changes])]
        sections += [build_plausible_pairs(front), *_build_deciding_sections(front)]
    return [*sections, _build_quality(front), *_build_incidents(front)]


def _build_class_pairs(front: Front) -> Section:
    counts, distances = front.border_counts, pd.DataFrame({"gap": front.distance, "real": front.plausibility})
    medians = distances.groupby(np.array(front.borders, dtype=object)).median()
    rows = [
        [kind, f"{count:,}", format_percent(count / len(front)), *map(_format_number, medians.loc[kind])]
        for kind, count in counts.head(MAX_BORDERS).items()
    ]
    omission = f" The {len(counts) - MAX_BORDERS} rarest are left out." if len(counts) > MAX_BORDERS else ""
    return Section(
        heading=f"{pluralise(len(counts), 'pair')} of classes meet{'s' if len(counts) == 1 else ''}",
        text="Borders between classes that nobody would confuse are worth a look, however rare. A border far from real "
        f"inputs matters less. Distances are medians over all pairs, as shares of the features' ranges.{omission}",
        table=Table(columns=["border", "pairs", "share", "gap of the two cases", "from a real input"], rows=rows),
    )


def _rank_plausible_pairs(front: Front, limit: int) -> Rows:
    """Return the numbers of the most plausible pairs, one border after the other, so that each border is shown."""
    order = np.argsort(front.plausibility, kind="stable")
    scale = np.array([feature.scale for feature in front.space.features])
    places = pd.DataFrame(np.round(front.a.codes[order] * scale, 2))  # two pairs nearer than that look the same
    kinds = pd.Series([front.borders[row] for row in order])
    order = order[~places.assign(kind=kinds).duplicated().to_numpy()]
    kinds = pd.Series([front.borders[row] for row in order])
    turn = kinds.groupby(kinds).cumcount()
    return order[np.argsort(turn.to_numpy(), kind="stable")][:limit]


def build_pair_pictures(front: Front) -> list[Section]:
    """Build the section of border pairs as pictures, one per kind of images or sequences."""
    from ..reporting.block_pictures import MAX_PICTURE_PAIRS

    rows = _rank_plausible_pairs(front, MAX_PICTURE_PAIRS)
    before, after = front.a.take(rows), front.b.take(rows)
    titles = [f"pair {row}" for row in rows.tolist()]
    answers = [format_answers(outputs[rows]) for outputs in (front.a_output, front.b_output)]
    return [
        Section(
            heading=f"Border pairs as {placed_block.block.noun}s",
            text=f"The most plausible pairs, each border in turn: two nearly equal {placed_block.block.noun}s with different "
            "answers, which are written above them.",
            drawing=draw_pairs(placed_block, before, after, answers[0], answers[1], titles),
        )
        for placed_block in front.space.blocks
    ]


def draw_pairs(
    placed_block: PlacedBlock,
    before: Points,
    after: Points,
    answers: Sequence[str],
    becomes: Sequence[str],
    titles: Sequence[str],
) -> Drawing:
    """Return pairs of cases as pictures of one block."""
    from ..reporting.block_pictures import PicturePair, build_pair_drawing, describe_briefly

    firsts, seconds = placed_block.select(before.codes), placed_block.select(after.codes)
    captions = [
        describe_briefly(placed_block.block, first, second) for first, second in zip(firsts, seconds, strict=True)
    ]
    columns = zip(firsts, seconds, answers, becomes, titles, captions, strict=True)
    pairs = [
        PicturePair(
            before=first, after=second, first_title=f"{title}: {answer}", second_title=new_answer, caption=caption
        )
        for first, second, answer, new_answer, title, caption in columns
    ]
    return build_pair_drawing(placed_block, pairs)


def _build_deciding_sections(front: Front) -> list[Section]:
    """Build the section of deciding features; of images, a map of the pixels in which the pairs differ."""
    from ..reporting.block_pictures import build_map_drawing

    if not front.space.blocks:
        return [build_deciding_features(front)]
    sections = []
    shares = front.deciding().set_index("feature")["share"]
    for placed_block in front.space.blocks:
        if not isinstance(placed_block.block, Image):
            continue
        values = shares.reindex(placed_block.names).fillna(0).to_numpy(dtype=np.float64)
        largest = placed_block.block.describe_position(int(values.argmax()))
        alt = f"The pixels of {placed_block.block.name} by their share of the distance of the pairs; most: {largest}."
        sections.append(
            Section(
                heading=f"Where the {placed_block.block.noun}s of the pairs differ: most in {largest}",
                text="The share of each pixel of the distance between the two inputs of the pairs. The darker, the larger.",
                drawing=build_map_drawing(placed_block.block, values, placed_block.block.name, alt),
            )
        )
    return sections


def build_plausible_pairs(front: Front) -> Section:
    """Build the section of the most plausible pairs, each border in turn."""
    chosen_rows = _rank_plausible_pairs(front, MAX_EXAMPLE_PAIRS)
    changes = format_changes(front.a.take(chosen_rows), front.b.take(chosen_rows), MAX_CHANGES_PER_EXAMPLE)
    answers = (format_answers(outputs[chosen_rows]) for outputs in (front.a_output, front.b_output))
    distances = map(_format_number, front.plausibility[chosen_rows])
    rows = [list(row) for row in zip(chosen_rows.tolist(), *answers, changes, distances, strict=True)]
    return Section(
        heading="The most plausible pairs",
        text="The pairs nearest to a real input, one per border in turn, with the changes from one case to the "
        "other: all other features are equal. Pairs are numbered from 0, as in the file of a saved front.",
        table=Table(columns=["pair", "answer", "becomes", "when", "from a real input"], rows=rows),
    )


def build_small_changes(front: Front) -> Section | None:
    """Build the section of small changes of real rows that change the answer; None if none can be confirmed."""
    from .small_changes import find_small_changes

    changes = find_small_changes(front, _rank_plausible_pairs(front, MAX_EXAMPLE_PAIRS))
    if changes is None or not len(changes):
        return None
    texts = format_changes(changes.before, changes.after, MAX_CHANGES_PER_EXAMPLE)
    answers = (format_answers(values) for values in (changes.answer, changes.becomes))
    rows = [list(row) for row in zip(changes.seed_rows.tolist(), *answers, texts, strict=True)]
    return Section(
        heading="Small changes of real inputs that change the answer",
        text="Real inputs next to a border, and a change of as few features as was found that leads across it. The model "
        "confirmed each of them. Please judge whether such a change should matter. Inputs are numbered from 0.",
        table=Table(columns=["input", "answer", "becomes", "when"], rows=rows),
        drawing=_draw_small_changes(changes),
    )


def _draw_small_changes(changes: SmallChanges) -> Drawing | None:
    """Return small changes as pictures, if the inputs hold images or sequences."""
    blocks = changes.before.space.blocks
    if not blocks:
        return None
    answers, becomes = format_answers(changes.answer), format_answers(changes.becomes)
    titles = [f"input {row}" for row in changes.seed_rows.tolist()]
    return draw_pairs(blocks[0], changes.before, changes.after, answers, becomes, titles)


def build_deciding_features(front: Front) -> Section:
    """Build the section of the features that decide at the border."""
    table = front.deciding()
    decides_known = table["decides"].notna().all()
    top_features = table[table["differs"] > 0].head(MAX_FEATURES)
    unused = [format_short(name) for name in table.loc[table["differs"] == 0, "feature"]]
    ellipsis = ", ..." if len(unused) > MAX_UNUSED_FEATURES else ""
    unused_note = f" Never: {', '.join(unused[:MAX_UNUSED_FEATURES])}{ellipsis}." if unused else ""
    shares = [*(["decides"] if decides_known else []), "differs", "share"]
    rows = [
        [row.feature, *(format_percent(getattr(row, share)) for share in shares)] for row in top_features.itertuples()
    ]
    columns = ["feature", *(["decides at"] if decides_known else []), "differs in", "share of the distance"]
    differs = f"The share of pairs whose two inputs differ in a feature, and its share of their distance.{unused_note}"
    if decides_known:
        top = top_features.iloc[0]
        meaning = "A feature decides at a pair where restoring its old value alone restores the old answer."
        if not top["decides"]:  # every pair needs several features: a ranking would be arbitrary
            heading = "No feature decides alone: the answer changes only where several change together"
            rows.sort(key=lambda row: -top_features.set_index("feature")["share"][row[0]])
        elif table["decides"].sum() < MIN_DECIDING_SHARE:  # a bound on the pairs at which any of them decides
            heading = f"Mostly several features decide together; alone, {rows[0][0]} decides most often"
        else:
            heading = f"Which features decide: {rows[0][0]} most of all"
        text = f"{meaning} {differs}"
    else:
        heading = f"In which features the two inputs differ: {rows[0][0]} most"
        text = f"{differs} Which features decide is not known: the system is not attached, or could not be queried."
    return Section(heading=heading, text=text, table=Table(columns=columns, rows=rows))


def _build_quality(front: Front) -> Section:
    rows = [
        [name, _format_number(row["value"]), _format_number(row["per_1000_calls"]), row["meaning"]]
        for name, row in front.quality().iterrows()
    ]
    return Section(
        heading="How good the search was",
        text=f"{pluralise(front.calls, 'model call')} for {pluralise(front.mutants, 'new test case')}.",
        table=Table(columns=["measure", "value", "per 1,000 calls", "meaning"], rows=rows),
    )


def _build_rounds(front: Front) -> list[Section]:
    """Build the section of the rounds in which strategies were chosen, if there were any."""
    names = ("round", "strategy", "walks", "pairs", "new", "runs")
    rows = [[choice[name] for name in names] for choice in front.choices]
    table = Table(columns=[*names[:4], "new cells", "runs"], rows=rows, main_rows=len(rows))
    return [Section(heading="Rounds", text="", table=table)] if rows else []


def _build_incidents(front: Front) -> list[Section]:
    """Build the section of inputs without a valid answer, if there are any."""
    incidents = front.incidents
    if incidents is None or not len(incidents):
        return []
    heading, table = f"{pluralise(len(incidents), 'input')} got no valid answer", build_table(incidents, MAX_INCIDENTS)
    return [Section(heading=heading, text=f"The first {len(table.rows)} of them.", state="bad", table=table)]


def build_table(frame: pd.DataFrame, limit: int) -> Table:
    """Return the first rows of a frame as a table."""
    rows = [[format_short(value) for value in row] for row in frame.head(limit).itertuples(index=False)]
    return Table(columns=[str(name) for name in frame.columns], rows=rows)


def _format_number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"
