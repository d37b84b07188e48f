"""The verdict on an experiment in plain English: a sentence per planned comparison, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.findings import Analysis, Correlation, Difference, VarianceShare
from harbor.evaluation._analysis.levels import is_found
from harbor.evaluation._analysis.variance import shares_say
from harbor.evaluation._experiments.design import EVERYONE, Experiment
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.measurement import metric_or_none
from harbor.evaluation._report.tabular.formatting import (
    equation_of_p,
    in_draws,
    unit_of,
    write,
    write_interval,
    write_p,
)
from harbor.evaluation._report.tabular.tables import few_games, label_of, own_noise, played_on, sides_of

MOST_UNEVEN = 2
"""The greatest number of sentences in a headline on sides that lack games."""
TOLD_BY_NAME = ("dollars", "number", "count")
"""Units that a sentence need not name: the number has its sign, or is a plain number."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence on a finding, and one on its limits.

    `shown`: a planned comparison shows a difference at 5 % after Holm's correction. `tested` is false if the data allow
    no test. `uneven` is a sentence if one side lacks more games than the other, with the largest effect of these games.
    """

    finding: str
    limit: str
    shown: bool = False
    tested: bool = True
    uneven: str = ""

    def __str__(self) -> str:
        return f"{self.finding} {self.limit}".rstrip()


def verdicts(results: Results, analysis: Analysis) -> list[Verdict]:
    """Return a verdict on each planned comparison; for a design without comparisons, on its main finding.

    Limits that hold for all of them are in `caveats`.
    """
    family = len(analysis.differences)
    if family:
        return [_verdict(one, family, results.experiment) for one in analysis.differences]
    return [*_main(results.experiment, analysis), Verdict("No comparison was planned, so nothing was tested.", "")]


def headline(found: list[Verdict], analysis: Analysis) -> str:
    """Count planned comparisons that differ or have no test, and name uneven sides; "" if none was planned."""
    if not analysis.differences:
        return ""
    uneven = dict.fromkeys(one.uneven for one in found if one.uneven)
    return " ".join([_count(found, len(analysis.differences)), *list(uneven)[:MOST_UNEVEN]])


def _count(found: list[Verdict], family: int) -> str:
    shown, untested = sum(one.shown for one in found), sum(not one.tested for one in found)
    if untested == family:
        which = "The planned comparison" if family == 1 else f"None of the {family} planned comparisons"
        return f"{which} could {'not ' if family == 1 else ''}be tested."
    if family == 1:
        return f"The planned comparison {'shows a' if shown else 'shows no'} difference at the 5 % level."
    which = f"{shown} of {family} planned comparisons {'shows' if shown == 1 else 'show'}"
    told = which if shown else f"None of the {family} planned comparisons shows"
    without = f" {untested} of them could not be tested." if untested else ""
    return f"{told} a difference at the 5 % level after Holm's correction.{without}"


def caveats(results: Results) -> list[str]:
    """Return the limits of the verdict that hold for all comparisons."""
    games = len(results.records)
    simulated = sum(game.simulated for game in results.records)
    missing = games - len(results.of("finished"))
    said = [
        f"Simulated bidders played in {simulated} of {games} games: the numbers say nothing about language models."
        if simulated
        else "",
        f"{missing} of {games} games are not finished or failed; they count as missing." if missing else "",
        f"Few games: {few}." if (few := few_games(results)) else "",
        own_noise(results),
        played_on(results),
        _imported(results),
    ]
    return [one for one in said if one]


def _imported(results: Results) -> str:
    calls, imported = (sum(getattr(one, name) for one in results.records) for name in ("calls", "imported_calls"))
    said = f"Imported replies answered {imported:,} of {calls:,} calls"
    return f"{said}: that models gave them is the word of who wrote the file." if imported else ""


def _verdict(one: Difference, family: int, experiment: Experiment) -> Verdict:
    sides = sides_of(one.of, one.against, experiment)
    of, against, shared = f"“{_spoken(sides.of)}”", f"“{_spoken(sides.against)}”", _spoken(sides.shared)
    where = f" ({shared})" if shared and shared != EVERYONE else ""
    metric = _named(one.metric) if one.of.metric == one.against.metric else "Difference"
    subject = f"{metric}{_in_unit(one.metric)}{where}: {of}"
    uneven = _uneven(one, of, against)
    if one.mean is None:
        why = one.note or "no pair of games has both values"
        return Verdict(f"{subject} could not be compared with {against}: {why}.", "", tested=False, uneven=uneven)
    if one.mean == 0 and one.draws in (0, one.pairs) and one.note.endswith("values are equal"):
        finding = f"{subject} gave exactly what {against} gave, in each of {_games(one)}."
        return Verdict(finding, _limit(one), tested=one.p is not None, uneven=uneven)
    found = f"{subject} {_size(one)} {against} on average over {_games(one)}{_tested(one, family)}."
    return Verdict(found, _limit(one), is_found(one.p_holm), one.p is not None, uneven)


def _uneven(one: Difference, of: str, against: str) -> str:
    """Say which side lacks more games, and the limits of the difference for any values of these. "" if neither does."""
    if one.missing_of == one.missing_against:
        return ""
    lacked = [counted(count, "game") if count else "none" for count in (one.missing_of, one.missing_against)]
    lacking = f"Of {of} are missing {lacked[0]}, of {against} {lacked[1]}"
    if one.worst_low is None or one.worst_high is None:
        return f"{lacking}, which may make the difference."
    limits = write_interval(one.worst_low, one.worst_high, unit_of(one.metric))
    return f"{lacking}: whatever they gave, the mean difference of {_spoken(one.metric)} over all is in {limits}."


def _in_unit(metric: str) -> str:
    unit = unit_of(metric)
    return "" if unit in TOLD_BY_NAME or unit in metric else f" in {unit}" if unit == "nats" else f" ({unit})"


def _size(one: Difference) -> str:
    if not one.mean:
        return "did not differ from"
    size = write(abs(one.mean), unit_of(one.metric))
    if not any(digit in "123456789" for digit in size):
        return "hardly differed from"
    return f"was {size} {'higher' if one.mean > 0 else 'lower'} than"


def _games(one: Difference) -> str:
    """Count games (or pairs of games, if the sides are in different cells), and the missing ones."""
    within = (one.of.arm, one.of.condition) == (one.against.arm, one.against.condition)
    games = ("game" if within else "pair of games") if one.pairs == 1 else "games" if within else "pairs of games"
    return f"{one.pairs} {games}{in_draws(one.pairs, one.draws)}{f' ({one.missing} missing)' if one.missing else ''}"


def _tested(one: Difference, family: int) -> str:
    if one.p is None:
        return ""
    g = f"{write(one.effect, 'number')} {write_interval(one.effect_low, one.effect_high, 'number')}".rstrip()
    effect = "" if one.effect is None else f"; Hedges' g {g}"
    after = f", {write_p(one.p_holm)} after Holm for {family} comparisons" if family > 1 else ""
    interval = write_interval(one.low, one.high, unit_of(one.metric))
    within = f"95 % interval {interval}; " if interval else ""
    return f" ({within}{one.method}: {equation_of_p(one.p)}{after}{effect})"


def _limit(one: Difference) -> str:
    """Return the limits of a comparison."""
    if one.p is None:
        return f"There is neither an interval nor a test: {one.note}."
    said = "" if not one.note else f" Note: {one.note}."
    if one.low is None or one.high is None:
        said = f" There is no interval: {one.note}."
    if is_found(one.p_holm):
        return f"The difference is shown at the 5 % level.{said}"
    if one.low is None or one.high is None:
        return f"The test does not show it, nor that there is no difference.{said}"
    if one.low <= 0 <= one.high:
        return f"The interval includes 0: this does not show that there is no difference.{said}"
    return f"The interval leaves out 0, but p after Holm is not below 0.05: it may be chance.{said}"


def _main(experiment: Experiment, analysis: Analysis) -> list[Verdict]:
    """Return the main finding of a design without comparisons: the largest shares of variance, or a correlation."""
    split = [one for one in analysis.variance if one.share is not None and one.source != "rest"]
    if split:
        first = [one for one in split if (one.metric, one.bidder) == (split[0].metric, split[0].bidder)]
        return [_most(sorted(first, key=lambda one: -(one.share or 0)))]
    if unknown := shares_say(analysis.variance):
        return [Verdict(unknown, "")]
    return [_together(one, experiment) for one in analysis.correlations if one.bidder == EVERYONE and one.rho]


def _most(found: list[VarianceShare]) -> Verdict:
    told = [f"{one.source} {write(one.share, 'share')} {_between(one)}".rstrip() for one in found[:3]]
    whose = "" if found[0].bidder in ("", EVERYONE) else f" of {found[0].bidder}"
    finding = f"Shares of the variance of {_named(found[0].metric).lower()}{whose} over games: {', '.join(told)}."
    return Verdict(finding, "These describe the games of this design; they are no test.")


def _together(one: Correlation, experiment: Experiment) -> Verdict:
    where = f"{label_of(experiment, 'arm', one.arm)}, {label_of(experiment, 'condition', one.condition)}"
    rho = f"Spearman's rho {write(one.rho, 'correlation')} {_between(one)}".rstrip()
    return Verdict(
        f"{_spoken(one.name)} ({where}): {rho} over {one.games} games{in_draws(one.games, one.draws)}.",
        "It was not tested as planned.",
    )


def _between(one: Correlation | VarianceShare) -> str:
    unit = "correlation" if isinstance(one, Correlation) else "share"
    return write_interval(one.low, one.high, unit)


def _named(metric: str) -> str:
    name = _spoken(metric if metric_or_none(metric) is None else metric.rpartition(":")[2])
    return name[:1].upper() + name[1:]


def _spoken(name: str) -> str:
    return name.replace("_", " ")
