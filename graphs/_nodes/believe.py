"""Beliefs of a bidder: about the auction, about rivals' next bids, and about rivals' profiles of itself.

Believe: after an item, update the belief about the auction; the truth corrects it. In other games (`contest-believe`):
after a day or run, forecast every rival's next bid.
Mirror: predict each rival's profile of the bidder (second-order theory of mind).

Source: Chen et al. 2023, sec. 3.2 (belief update and belief correction); for the mirror, Harbor sec. 4.5 and App. F.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from harbor._config.auction import Simulated
from harbor._config.thinking import MindSettings
from harbor._core.asking.asks import Pause
from harbor._core.log.thoughts import Belief, Believed, Expected, Mirrored, Win
from harbor._core.plugins.finding import find
from harbor._games.bidder_view import View
from harbor._games.english import facts, thought_facts
from harbor._games.game import Facts, Play, Values
from harbor._games.replies import BeliefReply, ForecastReply, MirrorReply, Row, names_each
from harbor._games.types_of_play import mirror as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import in_shares, read, records, told_in_percent
from harbor.personas._catalog.traits import in_percent

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update

CORRECTIONS = 4
"""Number of repeated asks with the errors of a belief. Source: Chen et al. 2023, their code."""


async def believe(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for the new belief, count its errors, and keep the truth, or the model's last answer."""
    view = state["view"]
    last = view.notes.get("believe")
    believed = view.place(last.closed[-1]) if last else 0
    news = view.results[believed:]  # more than one if an earlier update failed
    before, earlier = last.held if last else _at_the_opening(view), _long_over(view, believed)
    known = {
        "history": [facts.history(result) for result in news],
        "belief": facts.belief(before, earlier),
        "results": [facts.outcome(result) for result in news],
    }
    truth, who = view.truth(), context.switches.correct_beliefs
    asked = CORRECTIONS if who == "model" else 0
    answers = [one async for one in _answers(view, context, known, _apart(truth, earlier)[1], earlier, asked)]
    said, compared = answers[0]
    last = answers[-1][0]
    return context.emit(
        Believed(
            bidder=view.name,
            closed=tuple(result.item for result in news),
            said=said,
            errors_self=_count(compared, mine=True, right=False),
            errors_others=_count(compared, mine=False, right=False),
            fields_self=_count(compared, mine=True),
            fields_others=_count(compared, mine=False),
            held=truth if who == "house" else _joined(_apart(before, earlier)[0], last),
            corrections=len(answers) - 1,
            errors_self_again=sum(_count(later, mine=True, right=False) for _, later in answers[1:]),
            errors_others_again=sum(_count(later, mine=False, right=False) for _, later in answers[1:]),
        )
    )


async def _answers(
    view: View, context: NodeContext, known: Row, truth: Belief, earlier: Collection[str], corrections: int
) -> AsyncIterator[tuple[Belief, list[Field]]]:
    """Yield each belief with its comparison; ask again with the list of errors while there are any."""
    for left in range(corrections, -1, -1):
        reply = _as_belief(await context.ask(context.prompt(view, **known), BeliefReply))
        said = _apart(reply, earlier)[1]
        compared = compare(said, truth, view.name)
        yield said, compared
        wrong = [field.told() for field in compared if not field.right]
        if not wrong or not left:
            return
        known = {**known, "answer": facts.belief(said), "wrong": wrong, "corrections_left": left}


def _long_over(view: View, believed: int) -> set[str]:
    """Name the items that prompts no longer list."""
    own = view.mind.protocol == "native"
    return thought_facts.long_over(view) if own else facts.long_over(view.results[:believed])


class Field(NamedTuple):
    """A field of a belief, and whether it was right; `item` is empty except for a win."""

    kind: Literal["budget", "profit", "win"]
    bidder: str
    item: str
    mine: bool
    right: bool

    def told(self) -> dict[str, str]:
        """Return the name of the field, without its value."""
        return {"field": self.kind, "bidder": self.bidder, **({"item": self.item} if self.item else {})}


def _count(fields: Iterable[Field], *, mine: bool, right: bool | None = None) -> int:
    return sum(field.mine == mine and right in (None, field.right) for field in fields)


def compare(said: Belief, truth: Belief, me: str) -> list[Field]:
    """Compare a belief with the truth, field by field.

    Fields are the bidder's own budget, every bidder's profit, and every item won (in truth or belief) with its price.
    Names are compared exactly.
    """
    fields = [Field("budget", me, "", True, said.budget == truth.budget)]
    for bidder, profit in truth.profits.items():
        fields.append(Field("profit", bidder, "", bidder == me, said.profits.get(bidder) == profit))
    for bidder in {**truth.wins, **said.wins}:
        theirs, told = truth.wins.get(bidder, ()), said.wins.get(bidder, ())
        for item in dict.fromkeys(win.item for win in (*theirs, *told)):
            prices = [{win.price for win in wins if win.item == item} for wins in (theirs, told)]
            fields.append(Field("win", bidder, item, bidder == me, prices[0] == prices[1]))
    return fields


def _at_the_opening(view: View) -> Belief:
    profits = {bidder: Decimal(0) for bidder in view.bidders} if view.values_revealed else {}
    return Belief(budget=view.initial_budget, profits=profits, wins={})


def _apart(belief: Belief, items: Collection[str]) -> tuple[Belief, Belief]:
    """Split a belief: with its wins of these items alone, and with its other wins alone."""

    def part(among: bool) -> Belief:
        kept = {name: tuple(win for win in won if (win.item in items) == among) for name, won in belief.wins.items()}
        return replace(belief, wins={name: won for name, won in kept.items() if won})

    return part(True), part(False)


def _joined(earlier: Belief, later: Belief) -> Belief:
    """Return the later belief, with the earlier one's wins before its own."""
    bidders = {**earlier.wins, **later.wins}
    return replace(later, wins={name: (*earlier.wins.get(name, ()), *later.wins.get(name, ())) for name in bidders})


def _as_belief(reply: BeliefReply) -> Belief:
    wins: dict[str, list[Win]] = defaultdict(list)
    for win in reply.wins:
        wins[win.bidder].append(Win(win.item, win.price))
    return Belief(
        budget=reply.budget,
        profits={belief.bidder: belief.profit for belief in reply.profits},
        wins={bidder: tuple(won) for bidder, won in wins.items()},
    )


BELIEVE = ThoughtNode(
    name="believe",
    description="after an item, update the belief about the auction",
    occasions=("closed",),
    event=Believed,
    needs=("recall",),
    on=lambda mind, _: mind.believe,
    uses=("believe", "correct_beliefs"),
    reply=BeliefReply,
    fold=lambda _, event: event,
    tells=None,
    run=believe,
)


def _forecasts(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return the game's forecast for each rival."""
    play: Play = find("game", facts["game"]).play
    if play.forecast is None:
        raise ValueError(f"the game {facts['game']!r} expects nothing of rivals; give its play a forecast")
    forecasts = [{"rival": rival, "bid": round(play.forecast(rival, facts, settings), 2)} for rival in facts["rivals"]]
    return {"reasons": "Most will do what they did before, unless their situation forces them.", "forecasts": forecasts}


def _expected(reply: ForecastReply, view: View) -> Expected:
    """Return the forecast for each rival as an event, after the parts that have just closed."""
    bids = {forecast.rival: forecast.bid for forecast in reply.forecasts}
    return Expected(view.name, cast(Pause, view.now).closed[-1], bids)


EXPECT = ThoughtNode(
    name="contest-believe",
    description="after a day or run, forecast what every rival bids next",
    occasions=("closed",),
    event=Expected,
    step="believe",
    on=lambda mind, _: mind.believe,
    uses=("believe",),
    when=lambda view, _: bool(view.ahead.goes_on and view.ahead.rivals),
    prompt=PROMPTS / "contest_believe.md",
    facts=lambda view: {"rivals": list(view.ahead.rivals)},
    reply=ForecastReply,
    check=lambda reply, view: names_each((one.rival for one in reply.forecasts), view.ahead.rivals),
    conclude=_expected,
    fold=lambda _, event: event,
    tells=None,
    answer=_forecasts,
)


async def mirror(state: ThoughtState, context: NodeContext) -> Update:
    """Ask the model once how all rivals profile this bidder, given the items closed since its last answer."""
    view = state["view"]
    last = view.last(Mirrored, bidder=view.name)
    closed = [result.item for result in view.results[view.place(last.closed) if last else 0 :]]
    reply = await context.reply(view, closed)
    mirrored = []
    for profile in reply.profiles:
        weights, repaired = read(profile, view.catalog, view.mirrors.get(profile.rival, {}))
        mirrored.append(Mirrored(view.name, profile.rival, closed[-1], weights, repaired))
    return context.emit(*mirrored)


def _facts_of_mirror(view: View, items: Sequence[str]) -> Row:
    """Return the bidder's own acts in the closed parts, and its last estimate of rivals' profiles of itself."""
    old = view.mirrors
    return {
        "catalog": view.catalog,
        "records": records(view, view.name, items[-1]),
        "bidder": view.name,
        "profiles_of_you": [
            {"rival": rival, "shares_so_far": in_percent(old.get(rival, {}), view.catalog)} for rival in view.rivals
        ],
    }


def _unless_at_once(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Keep only the note if one node asks about all rivals at once."""
    return replace(node, occasions=()) if mind.judges_at_once else in_shares(node, mind)


MIRROR = ThoughtNode(
    name="mirror",
    description="after an item, predict how each rival profiles oneself",
    occasions=("closed",),
    event=Mirrored,
    needs=("recall",),
    on=lambda mind, _: mind.theory_of_mind == "second",
    uses=("theory_of_mind", "rivals"),
    when=lambda view, _: bool(view.rivals) and (view.goes_on or not view.mind.asks_shares),
    prompt=PROMPTS / "mirror.md",
    facts=_facts_of_mirror,
    reply=MirrorReply,
    adapt=_unless_at_once,
    check=lambda reply, view: names_each((profile.rival for profile in reply.profiles), view.rivals),
    fold=lambda before, event: {**(before or {}), event.rival: event.weights},
    shows=told_in_percent,
    fact="profiles_of_you",
    tells="`profiles_of_you` is how each rival probably profiles you: how likely each type of `catalog` is, in "
    "percent, from 0 (certainly not) to 100 (certainly).",
    answer=answer,
    run=mirror,
)
