"""Findings from measurements: what is unfair, how certain that is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._text import join_names
from ...core.result import DEFAULT_CONFIDENCE, LEVELS, Finding, Level, Measure, to_plain
from .effects import AttributeEffect, CombinationEffect, CounterfactualCase
from .groups import GroupTable
from .proxies import Proxy
from .wording import Wording, shorten_names

FindingKind = Literal["attribute", "probability", "combination", "stand-in", "gap"]
MIN_INTERACTION_RATIO = 0.5  # of the effect that attributes have together to that of one alone
MIN_GAP = 0.05  # between the shares of two groups, worth a remark


@dataclass(frozen=True, kw_only=True)
class FairnessFinding(Finding):
    """One way in which decisions depend on who people are."""

    check: FindingKind
    about: str = ""
    confidence: float = DEFAULT_CONFIDENCE  # that of the intervals
    attributes: tuple[str, ...]
    share: Measure | None = None  # of people concerned
    examples: tuple[CounterfactualCase, ...] = ()

    @property
    def kind(self) -> FindingKind:
        """What the decisions depend on; the same as `check`."""
        return self.check

    @property
    def example(self) -> CounterfactualCase | None:
        """The first example."""
        return self.examples[0] if self.examples else None

    def document(self) -> dict[str, Any]:
        """Return the finding as a JSON-serialisable dict."""
        names = ("kind", "level", "attributes", "title", "detail", "remedy", "share", "columns", "example")
        return {name: to_plain(getattr(self, name)) for name in names}


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Turn measurements into findings by thresholds, and put them into words."""

    threshold: float
    min_effect: float  # in the unit of the levels
    wording: Wording

    def judge(
        self,
        effects: Sequence[AttributeEffect],
        combinations: Sequence[CombinationEffect],
        proxies: Sequence[Proxy],
        tables: Sequence[GroupTable],
    ) -> list[FairnessFinding]:
        """Return the findings, worst first."""
        findings: list[FairnessFinding] = []
        joint_attributes: set[str] = set()  # that matter only together with others
        for combination in combinations:
            finding = self.judge_combination(combination, effects)
            if finding is not None:
                findings.append(finding)
                limit = max(self.min_effect, MIN_INTERACTION_RATIO * abs(combination.interaction.value))
                members = [effect for effect in effects if effect.attribute in combination.attributes]
                joint_attributes |= {effect.attribute for effect in members if effect.net_effect < limit}
        for effect in effects:
            if effect.attribute not in joint_attributes:
                findings += filter(None, [self.judge_attribute(effect)])
        findings += [self._describe_proxy(proxy) for proxy in proxies]
        causes = {name for finding in findings for name in finding.attributes}
        findings += filter(None, [self._judge_gap(table) for table in tables if not causes & set(table.attributes)])
        return sorted(findings, key=lambda finding: LEVELS.index(finding.level))

    # -- attributes --------------------------------------------------------------------------------------------------

    def judge_attribute(self, effect: AttributeEffect) -> FairnessFinding | None:
        """Return a finding if decisions, or probabilities, depend on an attribute."""
        name, share, words = effect.attribute, effect.share, self.wording
        if not effect.is_input:
            return None
        only = "only" if not effect.judges_repaired else "only (with the columns that belong to it)"
        if share.value > 0:
            level: Level = "advice"
            if share.value > self.threshold:
                level = "fault" if share.low > self.threshold else "concern"
            detail = (
                f"If {only} their {name} were different, {words.format_people(share)} would get {words.another_answer}."
                f"{self._describe_largest_swap(effect)}{_describe_left_out(effect)}"
            )
            return FairnessFinding(
                check="attribute",
                level=level,
                attributes=(name,),
                title=f"{words.subject} depends on {name}",
                detail=detail,
                remedy=f"Decide whether {name} may count here. If not, train the model without it, look for stand-ins, and "
                "examine it again.",
                share=share,
                examples=() if effect.example is None else (effect.example,),
            )
        if effect.strong_share.low > self.threshold:
            return FairnessFinding(
                check="probability",
                level="concern",
                attributes=(name,),
                title=f"The probability behind the decision depends on {name}",
                detail=f"If {only} their {name} were different, nobody would get {words.another_answer}, but the probability of "
                f"{words.format_people(effect.strong_share)} would move by one percentage point or more.",
                remedy=f"Train the model without {name}, unless it may count here: with another cutoff, decisions would change.",
                share=effect.strong_share,
                examples=() if effect.example is None else (effect.example,),
            )
        return None

    def _describe_largest_swap(self, effect: AttributeEffect) -> str:
        swaps = [swap for swap in effect.swaps if swap.effect.excludes_zero and swap.changed]
        if not swaps:
            return ""
        largest = max(swaps, key=lambda swap: abs(swap.effect.value))
        text = self.wording.format_effect(
            f"people with {effect.attribute} {largest.source}",
            f"as {largest.target}",
            largest.effect.value,
            largest.effect,
        )
        return f" The largest effect: {text}."

    # -- combinations ------------------------------------------------------------------------------------------------

    def judge_combination(
        self, effect: CombinationEffect, effects: Sequence[AttributeEffect]
    ) -> FairnessFinding | None:
        """Return a finding if attributes have an effect together that none has alone."""
        size = abs(effect.interaction.value)
        if not effect.interaction.excludes_zero or size < self.min_effect:
            return None
        if size < MIN_INTERACTION_RATIO * effect.main_effect:
            return None
        words = self.wording
        names = " and ".join(effect.attributes)
        known = {label: level for label, level in effect.levels.items() if level == level}
        low, high = min(known, key=lambda label: known[label]), max(known, key=lambda label: known[label])
        alone = ""
        net_effects = [item.net_effect for item in effects if item.attribute in effect.attributes]
        if net_effects and max(net_effects) < self.min_effect:
            alone = f" On average, neither {' nor '.join(effect.attributes)} makes a difference alone."
        together = ""
        if effect.only_together.value > self.threshold:
            together = (
                f" {words.format_people(effect.only_together)} would get {words.another_answer} only if all of "
                "these were different."
            )
        return FairnessFinding(
            check="combination",
            level="fault",
            attributes=effect.attributes,
            title=f"{words.subject} depends on {names} together",
            detail=f"With everything else as it is: if everybody were {low}, {words.format_level(known[low])}; if everybody were "
            f"{high}, {words.format_level(known[high])}.{alone}{together}",
            remedy=f"Look at the groups of {names} together, not one by one. Train the model without these columns, unless they "
            "may count here.",
            share=effect.only_together,
            examples=() if effect.example is None else (effect.example,),
        )

    # -- stand-ins and gaps ------------------------------------------------------------------------------------------

    def _describe_proxy(self, proxy: Proxy) -> FairnessFinding:
        words = self.wording
        assert proxy.effect is not None
        columns = shorten_names(proxy.columns)
        verb = "stand in" if len(proxy.columns) > 1 else "stands in"
        who = f"people with {proxy.attribute} {proxy.group}"
        effect_text = words.format_effect(who, f"with the {columns} of others", -proxy.effect.value, proxy.effect)
        several = len(proxy.columns) > 1
        tells = "tell" if several else "tells"
        sake, pronoun = ("their", "them") if several else ("its", "it")
        column_list = f" The columns: {join_names(proxy.columns)}." if columns != join_names(proxy.columns) else ""
        return FairnessFinding(
            check="stand-in",
            level="concern",
            attributes=proxy.attributes,
            title=f"{columns} {verb} for {proxy.attribute}",
            detail=f"{columns} {tells} {who} from others in {100 * proxy.separation.value:.0f} of 100 pairs (guessing would give 50). "
            f"{effect_text[0].upper()}{effect_text[1:]}.{column_list}",
            remedy=f"Decide whether {columns} may count for {sake} own sake. If not, train the model without {pronoun}; if so, write "
            "down why.",
            columns=proxy.columns,
        )

    def _judge_gap(self, table: GroupTable) -> FairnessFinding | None:
        gap = table.gap
        if gap is None or gap.low < self.wording.scale(MIN_GAP):
            return None
        words = self.wording
        rows = {row.label: row for row in table.rows}
        return FairnessFinding(
            check="gap",
            level="advice",
            attributes=table.attributes,
            title=f"Groups of {table.title} fare differently, and no column explains it",
            detail=f"Of {table.highest}, {words.format_level(rows[table.highest].level.value)}; of {table.lowest}, "
            f"{words.format_level(rows[table.lowest].level.value)}. The groups may differ in things that may count.",
            remedy="Ask whether the columns that the groups differ in may count for the decision.",
        )


def _describe_left_out(effect: AttributeEffect) -> str:
    """Return who is not counted, because other columns would have to change as well."""
    if effect.judges_repaired or not effect.tied_columns:
        return ""
    return f" Not counted: people whose {join_names(effect.tied_columns)} would have to change as well."
