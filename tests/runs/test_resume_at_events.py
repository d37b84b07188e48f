"""A run of any game that broke off right after an act, a draw or an outcome resumes to the log of a whole one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from decimal import Decimal

import pytest

from harbor import ModelSettings, Simulated, resume, use
from harbor._core.log import acts
from harbor._core.log.acts import HOUSE, Allocated, AllocatedSealed, Paid, PaidSealed, Worth
from harbor._core.log.events import AnalystEvent, PrivateEvent, PublicEvent, SharedEvent
from harbor._core.log.log import difference, read_log
from harbor._core.plugins.finding import find, names
from harbor.testing._playing import names_of, table
from support.cases import some
from support.folders import paid
from support.plugins import remembering
from support.sealed import SEALED, Sealed

OWN = names("game")
AUDIENCES = (PublicEvent, PrivateEvent, SharedEvent, AnalystEvent)
TOLD = {
    kind
    for kind in vars(acts).values()
    if isinstance(kind, type) and issubclass(kind, AUDIENCES) and kind not in AUDIENCES
}
"""The types of events that tell acts, chance and outcomes."""
CLUMSY = ModelSettings(simulated=Simulated(unreadable_rate=0.2, low_bid_rate=0.2))


class Quiet(Sealed):
    """The sealed auction, sold in silence, with draws and a worth that are hidden."""

    def settle(self, last, actions, chance):
        if not actions:
            return [*super().settle(last, actions, chance), Worth({"vase": Decimal(50)})]
        chance.shuffle(list(self.worths))
        return [self._silent(event) for event in super().settle(last, actions, chance)]

    def _silent(self, event):
        match event:
            case Allocated(bidder=bidder, item=item):
                return AllocatedSealed((bidder,), bidder, item)
            case Paid(payer=payer, item=item, amount=amount):
                return PaidSealed((payer,), payer, HOUSE, item, amount)
        return event


QUIET = replace(
    SEALED,
    build=lambda settings, config: Quiet(SEALED.build(settings, config).worths),
    events=(*SEALED.events, AllocatedSealed, PaidSealed, Worth),
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    with remembering(monkeypatch):
        use(QUIET)
        yield


def interrupted(name, place):
    """Hold a game; keep what was on disk after the first and the last event of each type, in folders of its name."""
    game = find("game", name)
    first, *others = names_of(game)
    seats = [{"name": first, "model": "clumsy"}, *({"name": other, "rule": "rational"} for other in others)]
    auction = table(game, seats, {"reasks": 2}, seed=3).model_copy(update={"models": {"clumsy": CLUMSY}})
    kept = set()

    def copy(entry):
        if (kind := type(entry.event)) in TOLD:
            folder = place / ("last" if kind in kept else "first") / kind.__name__
            kept.add(kind)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(place / "whole", folder)

    auction.run(out=place / "whole", listen=copy)
    return kept


def log_of(folder):
    return [entry.event for entry in read_log(folder / "events.jsonl").entries]


@pytest.mark.parametrize("name", some([*OWN, SEALED.name], ("english", "water", SEALED.name)))
def test_a_game_that_broke_off_after_an_act_a_draw_or_an_outcome_resumes_to_the_whole_log(name, tmp_path):
    assert interrupted(name, tmp_path)
    whole, costs = log_of(tmp_path / "whole"), paid(tmp_path / "whole")
    for folder in tmp_path.glob("*st/*"):
        assert type(log_of(folder)[-1]).__name__ == folder.name
        resume(folder)
        assert not any(difference(old, new) for old, new in zip(whole, log_of(folder), strict=True)), folder
        assert paid(folder) == costs, folder


def test_every_type_of_act_draw_and_outcome_is_interrupted_in_some_game(tmp_path):
    assert set().union(*(interrupted(name, tmp_path / name) for name in [*OWN, SEALED.name])) == TOLD
