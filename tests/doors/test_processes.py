"""Agents in processes of their own, for real: each is a short program that a stranger might have written."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from harbor import AgentCommand, Auction, Bidder, Item, of_type
from harbor._config.agents import FLUSH
from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable, Withdraw
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.events import BidderSeated, SeatFailed
from harbor._doors import processes
from harbor._doors.door import LONGEST_ANSWER, DoorFailed, SeatTurns
from harbor._doors.processes import ProcessDoor
from harbor._games.english.events import ItemSold
from support.every_door import STEADY

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
SEEN = [BidderSeated("Ann", Decimal(500), {}, "profit")]
EACH = """
import json, os, sys, time
for line in sys.stdin:
    turn = json.loads(line)
    {answer}
    sys.stdout.flush()
"""


class Table:
    """A seat at a door: each turn tells one bid more."""

    def __init__(self, door):
        self.door, self.turns, self.seen = door, SeatTurns("english", "s1"), list(SEEN)

    async def ask(self, attempt=1):
        turn = self.turns.of(ASK._replace(attempt=attempt), self.seen)
        self.seen.append(Acted("Ben", "Vase", Bid(Decimal(len(self.seen)))))
        return (await self.door.ask(turn)).answer

    async def question(self):
        """Ask as the house does, again after a failed bid; return the answer, and the turns of the question."""
        first = len(self.seen)
        for attempt in (1, 2, 3, 4):
            if not isinstance(answer := await self.ask(attempt), Unreadable):
                return answer, range(first, len(self.seen))
        raise AssertionError(answer.reason)

    async def asked_in_vain(self):
        """Ask, and give up once the turn is sent."""
        number, asked = len(self.seen), asyncio.ensure_future(self.ask())
        while self.door._owed[-1:] != [number]:
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait({asked})
        assert asked.cancelled()


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", 0.2)


def python(program):
    return AgentCommand(command=(sys.executable, "-c", dedent(program)))


def answering(answer):
    return python(EACH.format(answer=answer))


@asynccontextmanager
async def seated(settings):
    door = ProcessDoor(settings)
    try:
        yield Table(door)
    finally:
        await door.close()


async def answers(settings, times=1):
    async with seated(settings) as table:
        return [await table.ask() for _ in range(times)]


async def test_a_process_is_sent_each_turn_and_answers_with_a_line():
    answer = "print(json.dumps({'turn': turn['turn'], 'action': 'bid', 'amount': 100 + len(turn['seen'])}))"
    assert await answers(answering(answer), 3) == [Bid(Decimal(amount)) for amount in (101, 102, 103)]


async def test_a_process_lives_from_its_first_turn_to_the_end_of_the_sale():
    async with seated(answering("print(json.dumps({'words': str(os.getpid())}))")) as table:
        [one, other] = [await table.ask(), await table.ask()]
        assert one == other
        assert psutil.pid_exists(int(one))
    assert not psutil.pid_exists(int(one))


async def test_a_process_may_answer_one_turn_and_end_also_without_a_line_end():
    once = "import json; print(json.dumps({'words': str(json.loads(input())['turn'])}), end='')"
    assert await answers(python(once), 3) == ["1", "2", "3"]


# ---------------------------------------------------------------- what it is given


async def test_a_process_has_only_the_usual_variables_and_those_that_are_named(monkeypatch):
    monkeypatch.setenv("NAMED", "this one")
    monkeypatch.setenv("SOME_API_KEY", "sk-of-the-house-alone")
    settings = answering("print(json.dumps({'words': ' '.join(os.environ)}))")
    [words] = await answers(settings.model_copy(update={"env": ("NAMED",)}))
    assert {"NAMED", "PATH"} <= set(words.split())
    assert "SOME_API_KEY" not in words


async def test_a_process_has_no_file_and_no_terminal_of_the_house():
    if Path("/proc/self/fd").exists():
        with Path(__file__).open() as kept:
            os.set_inheritable(kept.fileno(), True)
            answer = "print(json.dumps({'words': ' '.join(sorted(os.listdir('/proc/self/fd')))}))"
            assert await answers(answering(answer)) == ["0 1 2 3"]  # 3 is the listing's own


# ---------------------------------------------------------------- what is no answer


HOSTILE = {
    "a print": ("Thinking ...", "'Thinking ...' is no answer"),
    "a list": ("[1]", "it is JSON, but no object"),
    "two objects": ('{"action": "withdraw"} {"action": "withdraw"}', "Extra data"),
    "a deep object": ('{"a":' * 12_000, "nested too deeply"),
    "a huge number": ('{"action": "bid", "amount": ' + "9" * 5_000 + "}", "is no answer"),
    "a name twice": ('{"action": "bid", "action": "withdraw"}', "a name is there twice"),
    "NaN": ('{"action": "bid", "amount": NaN}', "NaN is no JSON"),
    "a turn to come": ('{"turn": 99, "action": "withdraw"}', "answers the turn '99', and this is turn 1"),
    "a turn that is true": ('{"turn": true, "action": "withdraw"}', "its turn is 'True', and has to be a number: 1"),
}


@pytest.mark.parametrize(("line", "why"), HOSTILE.values(), ids=HOSTILE)
async def test_a_line_that_is_no_answer_is_a_failed_bid_that_says_why(line, why):
    [answer] = await answers(answering(f"print({line!r})" if len(line) < 99 else f"print({line[:9]!r} + {line[9:]!r})"))
    assert isinstance(answer, Unreadable)
    assert why in answer.reason
    assert answer.reason.endswith("write one object of JSON per turn to stdout, and write logs to stderr")
    assert len(answer.reason) <= 300


INVALID = {
    "an amount beyond all floats": """print('{"action": "bid", "amount": 1e999}')""",
    "an amount that is an object": """print('{"action": "bid", "amount": {"a": 1}}')""",
    "no UTF-8": r"""sys.stdout.buffer.write(b'{"action": "\xff\xfe"}\n')""",
}


@pytest.mark.parametrize("does", INVALID.values(), ids=INVALID)
async def test_an_object_that_is_no_answer_is_a_failed_bid(does):
    [answer] = await answers(answering(does))
    assert isinstance(answer, Unreadable)
    assert len(answer.reason) <= 300


UNTIDY = {
    "a print before each answer": ("", "print('debug'); print(json.dumps({answer}))"),
    "a print after each answer": ("", "print(json.dumps({answer})); print('debug')"),
    "a banner": ("print('Bidder 2.0 is ready', flush=True)", "print(json.dumps({answer}))"),
    "a doubled answer": ("", "print(json.dumps({answer})); print(json.dumps({answer}))"),
    "no answer now and then": ("", "print('I bid!' if turn['turn'] % 3 == 1 else json.dumps({answer}))"),
    "no answer at first": ("told = []", "told.append(1); print(json.dumps({answer}) if told[1:] else 'I bid!')"),
}


@pytest.mark.parametrize("number", ["", "'turn': turn['turn'], "], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize(("start", "each"), UNTIDY.values(), ids=UNTIDY)
async def test_an_untidy_process_takes_part_and_none_of_its_answers_is_taken_for_that_to_another_question(
    start, each, number
):
    answer = f"{{{number}'words': str(turn['turn'])}}"
    program = EACH.format(answer=each.format(answer=answer))
    async with seated(python(f"{start}\n{program}")) as table, asyncio.timeout(30):
        for _ in "123":
            answer, turns = await table.question()
            assert int(answer) in turns


async def test_a_process_that_owes_an_answer_is_replaced_before_the_next_question_unless_it_numbers_them():
    answer = "print('I bid!' if turn['turn'] == 1 else json.dumps({'words': str(os.getpid())}))"
    async with seated(answering(answer)) as table:
        [first, _], [second, _] = [await table.question(), await table.question()]
        assert first != second
        assert [second] == [str(pid) for pid in children()]
    answer = "print('debug'); print(json.dumps({'turn': turn['turn'], 'words': str(os.getpid())}))"
    async with seated(answering(answer)) as table:
        assert len({(await table.question())[0] for _ in "123"}) == 1


async def test_what_a_process_that_reads_nothing_prints_for_ever_is_no_answer_and_fills_no_memory():
    async with seated(AgentCommand(command=("yes",))) as table, asyncio.timeout(30):
        for turn in "123":
            answer = await table.ask()
            assert isinstance(answer, Unreadable)
            assert turn != "1" or "'y' is no answer" in answer.reason
            assert len(table.door._process._output._buffer) <= 4 * LONGEST_ANSWER


async def test_a_line_without_an_end_is_not_read_to_its_end_and_its_process_is_replaced(tmp_path):
    first = tmp_path / "first"
    program = f"""
    import json, os, sys
    if not os.path.exists({str(first)!r}):
        open({str(first)!r}, 'w').close()
        while True:
            sys.stdout.write('x' * 2 ** 20)
    for line in sys.stdin:
        print('{{"action": "withdraw"}}', flush=True)
    """
    [flood, after] = await answers(python(program), 2)
    assert f"more than {LONGEST_ANSWER:,} bytes" in flood.reason
    assert after == Withdraw()


# ---------------------------------------------------------------- late, twice, out of turn


async def test_a_late_answer_is_dropped_with_its_number_or_without(tmp_path):
    for number in ("'turn': turn['turn'], ", ""):
        gate = tmp_path / f"gate{len(number)}"
        os.mkfifo(gate)
        wait = f"turn['turn'] == 1 and open({str(gate)!r}).read()"
        answer = f"{wait}; print(json.dumps({{{number}'words': str(turn['turn'])}}))"
        async with seated(answering(answer)) as table:
            await table.asked_in_vain()
            second = asyncio.ensure_future(table.ask())
            await asyncio.to_thread(gate.write_text, "go on")
            assert await second == "2"
            assert await table.ask() == "3"


async def test_a_process_that_reads_nothing_is_replaced_before_it_fills_the_memory():
    async with seated(python("import time; time.sleep(3600)")) as table:
        table.seen += [Acted("B" * 80, "V" * 80, Bid(Decimal(1)))] * 2_000
        await table.asked_in_vain()
        [first] = children()
        await table.asked_in_vain()
        [second] = children()
    assert first != second
    assert children() == []


# ---------------------------------------------------------------- death


STACK = """
node:internal/modules/cjs/loader:1147
Error: Cannot find module 'nowhere'
{frames}
  code: 'MODULE_NOT_FOUND'
""".format(frames="    at Module._load (node:internal/modules/cjs/loader:985:27)\n" * 20)


async def failure(settings):
    """Return why a process gives no answer."""
    async with seated(settings) as table:
        with pytest.raises(DoorFailed) as failed:
            await table.ask()
    return str(failed.value)


DEATHS = {
    "no program": (AgentCommand(command=("no-such-here",)), r"'no-such-here' can't be started \(No such file or dir"),
    "no permission": (AgentCommand(command=(os.devnull,)), r"can't be started \(Permission denied\)"),
    "its last words": (python("import sys; sys.exit('no module named\\n bidding')"),
                       "exit code 1 before it answered; .* ends in 'no module named bidding'"),
    "an error above its stack": (
        python(f"import sys; sys.exit({STACK!r})"), r"Cannot find module 'nowhere' code: 'MODULE_NOT_FOUND'\"$"
    ),
    "a kill": (answering("os.kill(os.getpid(), 9)"), "was ended by SIGKILL"),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "why"), DEATHS.values(), ids=DEATHS)
async def test_a_process_that_does_not_start_or_dies_is_told_with_the_reason_and_without_its_stack(settings, why):
    assert re.search(why, await failure(settings))


@pytest.mark.parametrize(("set_", "name"), [("", "OPENAI_API_KEY"), ("x", "MY_SHOP")])
async def test_a_process_that_misses_a_variable_tells_how_it_is_passed_on(set_, name, monkeypatch):
    monkeypatch.setenv(name, set_) if set_ else monkeypatch.delenv(name, raising=False)
    told = await failure(python(f"import os; os.environ[{name!r}]"))
    assert f"name this one in its settings, as env = ['{name}']" in told


async def test_a_process_that_closes_its_output_and_goes_on_is_told_and_replaced():
    async with seated(python("import os, time; os.close(1); time.sleep(3600)")) as table:
        for _ in "12":
            with pytest.raises(DoorFailed, match="closed its standard output"):
                await table.ask()
            assert len(children()) == 1
    assert children() == []


async def test_a_process_that_died_is_started_again_and_told_all_that_was_seen(tmp_path):
    dead = tmp_path / "dead"
    answer = f"os.path.exists({str(dead)!r}) or (open({str(dead)!r}, 'w'), os._exit(3))"
    async with seated(answering(f"{answer}; print(json.dumps({{'words': str(len(turn['seen']))}}))")) as table:
        with pytest.raises(DoorFailed, match="exit code 3"):
            await table.ask()
        assert await table.ask() == "2"


async def test_a_process_is_not_stopped_by_what_it_writes_to_stderr():
    answer = "sys.stderr.write('x' * 2 ** 20); print('{\"action\": \"withdraw\"}')"
    assert await answers(answering(answer)) == [Withdraw()]


async def test_no_piece_of_a_key_is_told_from_stderr_or_stdout(monkeypatch):
    monkeypatch.setenv("FOR_THE_AGENT", "abc-DEF-123-ghi-789")
    programs = ("import os, sys; sys.exit('refused: ' + os.environ['FOR_THE_AGENT'][4:])",
                EACH.format(answer="print('key', os.environ['FOR_THE_AGENT'])"))  # fmt: skip
    fails, echoes = (python(one).model_copy(update={"env": ("FOR_THE_AGENT",)}) for one in programs)
    told = await failure(fails)
    assert "DEF-123" not in told
    assert "refused: [redacted]" in told
    [answer] = await answers(echoes)
    assert "DEF-123" not in answer.reason


# ---------------------------------------------------------------- the end


STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
child = os.fork()
if child == 0:
    while True:
        time.sleep(3600)
sys.stdin.readline()
print('{"words": "%d %d"}' % (os.getpid(), child), flush=True)
while True:
    time.sleep(3600)
"""


async def test_a_process_that_ignores_its_end_is_killed_with_all_that_it_started():
    [words] = await answers(python(STUBBORN))
    assert all(map(ends, words.split()))


async def test_what_a_process_leaves_behind_is_killed_also_if_it_holds_its_output_open():
    leaving = """
    import os, sys, time
    if (child := os.fork()) == 0:
        time.sleep(3600)
    sys.stdin.readline()
    print('{"words": "%d"}' % child, flush=True)
    """
    left = await answers(python(leaving), 2)
    assert len({*left}) == 2
    assert all(map(ends, left))


async def test_a_seat_that_is_given_up_in_the_middle_of_its_end_leaves_nothing_behind():
    door = ProcessDoor(python(STUBBORN))
    words = await Table(door).ask()
    ending = asyncio.ensure_future(door.close())
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})
    assert ending.cancelled()
    assert all(map(ends, words.split()))


async def test_all_agents_can_be_killed_on_the_spot_with_all_that_they_started():
    before = {*processes._RUNNING}  # of a loop that was closed before it was told that its process had ended
    async with seated(python(STUBBORN)) as one, seated(python(STUBBORN)) as other:
        words = f"{await one.ask()} {await other.ask()}"
        processes.kill_agents()
        assert all(map(ends, words.split()))
    assert not processes._RUNNING - before


def test_a_sale_with_all_kinds_of_broken_agents_ends_and_sells_to_the_one_that_answers():
    bidders = [
        Bidder("Deaf", agent=python("import time; time.sleep(3600)"), timeout_seconds=0.5),
        Bidder("Chatty", agent=answering("print('Let me think about that ...')")),
        Bidder("Dying", agent=python("raise SystemExit('no model, no bid')")),
        Bidder("Well", agent=AgentCommand(command=STEADY)),
    ]
    items = [Item(name="Vase", start=100, true_value=400), Item(name="Jug", start=200, true_value=300)]
    log = Auction(items=items, bidders=bidders).run().log
    assert [sold.winner for sold in of_type(log, ItemSold)] == ["Well", "Well"]
    failures = {one.bidder: (one.kind, one.detail) for one in of_type(log, SeatFailed)}
    assert failures["Deaf"] == ("timeout", f"no answer within 0.5 s{FLUSH}")
    assert "ended with exit code 1" in failures["Dying"][1]
    assert "its stderr ends in 'no model, no bid'" in failures["Dying"][1]
    reasons = [one.reason for one in of_type(log, Tried) if one.bidder == "Chatty"]
    assert ["'Let me think about that ...' is no answer" in reason for reason in reasons] == [True] * len(reasons) != []
    gone = {one.bidder: one.act.reason for one in of_type(log, Acted) if isinstance(one.act, Withdraw)}
    assert (gone["Chatty"], gone["Deaf"]) == ("failed bids", "fault")
    assert children() == []


def ends(pid):
    """Wait for a process that was killed to be gone."""
    nap = threading.Event()
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE:
            nap.wait(0.01)
    return True


def children():
    return [child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
