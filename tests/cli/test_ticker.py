"""What the live board shows beside the board: prices as bars, and who thinks for how long."""

from __future__ import annotations

from decimal import Decimal

from harbor._cli.display.screen import Ticker
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import Acted
from harbor._core.log.events import BiddersAsked
from harbor._games.english.events import ItemOpened, RoundClosed

OPENED = ItemOpened("Lot", Decimal(100), Decimal(10))


def told(*events, at=0.0):
    ticker = Ticker()
    for event in events:
        ticker.note(event, at)
    return ticker


def closed(*prices):
    return [RoundClosed("Lot", number, "Ann", Decimal(price)) for number, price in enumerate(prices, 1)]


def test_the_prices_of_an_item_are_bars_from_the_lowest_to_the_highest():
    assert told(OPENED).prices() == ""
    assert told(OPENED, *closed(150, 170)).prices() == "price $100 ▁▆█ $170"
    assert told(OPENED, *closed(150), OPENED).prices() == ""


def test_who_thinks_is_told_with_whole_seconds_until_it_answers():
    asked = BiddersAsked("Lot", 1, 1, ("Ann", "Ben", "Cho"))
    assert told(asked).thinking(0.9) == ""
    assert told(asked).thinking(2.5) == "thinking: Ann 2 s, Ben 2 s, Cho 2 s"
    answered = [asked, Acted("Ann", "Lot", Bid(Decimal(100))), Acted("Ben", "Lot", Withdraw())]
    assert told(*answered).thinking(3) == "thinking: Cho 3 s"
    assert told(asked, *closed(150)).thinking(3) == ""
