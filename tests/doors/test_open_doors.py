"""Doors are opened with the room and closed with it, and each seat has a name of its own that resuming keeps."""

from __future__ import annotations

import pytest

from harbor import Auction, Bidder, Item, of_type, resume
from harbor._core.log.events import LogOpened, SaleClosed, SeatFailed
from harbor._doors.door import Door, Given
from harbor._doors.open_doors import seat_of
from support.breaking import Broken, breaking


class Counted(Door):
    """A door that counts what is done with it."""

    def __init__(self, breaks: bool = False) -> None:
        self.turns, self.closed, self.breaks = [], 0, breaks

    async def ask(self, turn) -> Given:
        assert not self.closed
        self.turns.append(turn.as_json())
        return Given("I withdraw.")

    async def close(self) -> None:
        self.closed += 1
        if self.breaks:
            raise OSError("no such process")


def sale(*names: str) -> Auction:
    return Auction(
        items=[Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "AB"],
        bidders=[Bidder("Ann", rule="minimum-raise"), *(Bidder(name, agent=True) for name in names)],
    )


def test_an_agent_that_has_the_methods_of_a_door_is_none():
    class Client:
        def ask(self, question):
            raise AssertionError("this is no turn")

        def close(self):
            raise AssertionError("this is not ours to close")

        def __call__(self, turn):
            return "I withdraw."

    run = sale("Tal").run(agents={"Tal": Client()})
    assert not of_type(run.log, SeatFailed)


def test_doors_are_closed_when_a_sale_breaks_off():
    door = Counted()
    with pytest.raises(Broken):
        sale("Tal").run(agents={"Tal": door}, listen=breaking(lambda _: bool(door.turns)))
    assert door.closed == 1


def test_a_door_that_can_not_be_closed_troubles_neither_the_sale_nor_the_others():
    result = sale("Tal", "Uma").run(agents={"Tal": Counted(breaks=True), "Uma": (other := Counted())})
    assert of_type(result.log, SaleClosed)
    assert other.closed == 1


def test_seats_have_names_apart_in_all_games():
    doors = [Counted() for _ in range(4)]
    for tal, uma in (doors[:2], doors[2:]):
        sale("Tal", "Uma").run(agents={"Tal": tal, "Uma": uma})
    assert len({turn["seat"] for door in doors for turn in door.turns}) == 4


def test_a_seat_keeps_its_name_and_is_told_everything_when_a_run_is_resumed(tmp_path):
    before, after = Counted(), Counted()
    with pytest.raises(Broken):
        sale("Tal").run(tmp_path / "run", agents={"Tal": before}, listen=breaking(lambda _: len(before.turns) == 1))
    log = resume(tmp_path / "run", agents={"Tal": after}).log
    [opened] = of_type(log, LogOpened)
    [turn] = after.turns[-1:]
    assert turn["seat"] == before.turns[0]["seat"] == seat_of(opened, "Tal")
    assert turn["new"] == len(turn["seen"])
