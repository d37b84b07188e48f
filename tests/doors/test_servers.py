"""Agents behind URLs, for real: each is a server on loopback that a stranger might have written."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Flag
from threading import Thread

import pytest

from harbor._config.agents import AgentServer
from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable, Withdraw
from harbor._core.log.acts import Acted
from harbor._core.log.events import BidderSeated
from harbor._doors.door import LONGEST_ANSWER, DoorFailed, SeatTurns
from harbor._doors.servers import ServerDoor

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
SEEN = [BidderSeated("Ann", Decimal(500), {}, "profit")]
KEY = "abc-DEF-123-ghi-789"
WITHDRAW = b'{"action": "withdraw"}'
Reply = Callable[[BaseHTTPRequestHandler, bytes], None]


@contextmanager
def serving(reply: Reply) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            reply(self, self.rfile.read(int(self.headers["content-length"])))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/bid"
        finally:  # else its thread spins on a closed socket until the process ends
            server.shutdown()


def send(handler, body, status=200, **headers):
    handler.send_response(status)
    for name, value in ({"content_type": "application/json", "content_length": len(body)} | headers).items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()
    handler.wfile.write(body)


def sending(body, status=200, **headers):
    return lambda handler, _: send(handler, body, status, **headers)


@asynccontextmanager
async def seated(url, **settings):
    door = ServerDoor(AgentServer(url=url, **settings))
    turns, seen = SeatTurns("english", "s1"), list(SEEN)

    async def ask():
        turn = turns.of(ASK, seen)
        seen.append(Acted("Ben", "Vase", Bid(Decimal(len(seen)))))
        return (await door.ask(turn)).answer

    try:
        yield ask
    finally:
        await door.close()


async def answers(reply, times=1, **settings):
    with serving(reply) as url:
        async with seated(url, **settings) as ask:
            return [await ask() for _ in range(times)]


async def test_a_server_is_posted_each_turn_over_a_connection_of_its_own_and_answers_with_an_object_or_words():
    visitors = set()

    def bid(handler, body):
        visitors.add(handler.client_address)
        turn = json.loads(body)
        answer = {"turn": turn["turn"], "action": "bid", "amount": 100 + len(turn["seen"])}
        send(handler, json.dumps(answer).encode())

    assert await answers(bid, 3) == [Bid(Decimal(amount)) for amount in (101, 102, 103)]
    assert len(visitors) == 3
    assert await answers(sending(b"I bid $120.", content_type="text/plain; charset=utf-8")) == ["I bid $120."]
    assert await answers(sending(WITHDRAW, content_type="text/plain")) == [Withdraw()]
    assert await answers(sending(b'{"words": "I bid $120."}')) == ["I bid $120."]


async def test_the_key_of_a_server_goes_there_as_a_bearer_token_and_nobody_elses_does(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", f"{KEY}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-house-alone")
    heard = []

    def listen(handler, _):
        heard.append(dict(handler.headers))
        send(handler, WITHDRAW)

    await answers(listen, api_key_env="AGENT_KEY")
    await answers(listen)
    assert heard[0]["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in heard[1]
    assert "sk-of-the-house" not in str(heard)


# ---------------------------------------------------------------- what is no answer


HOSTILE = [
    (b"I bid $120.", {}, "Expecting value"),
    (b'{"action": "\xff"}', {}, "can't decode"),
    (b"I bid \xff", {"content_type": "text/plain"}, "can't decode"),
    (b'{"turn": 0, "action": "withdraw"}', {}, "answers an earlier turn, and this is turn 1"),
    (b"<html>Hello</html>", {"content_type": "text/html"}, "a body of type 'text/html' is not read"),
    (gzip.compress(WITHDRAW), {"content_encoding": "gzip"}, "a compressed body is not read"),
]


async def test_a_body_that_is_no_answer_or_has_no_end_is_a_failed_bid_that_says_why():
    bodies = [(sending(body, **headers), why) for body, headers, why in HOSTILE]
    endless = flooding(b"content-type: application/json\r\n\r\n", b"x" * 2**20)
    for reply, why in [*bodies, (endless, f"more than {LONGEST_ANSWER:,} bytes")]:
        [answer] = await answers(reply)
        assert isinstance(answer, Unreadable)
        assert why in answer.reason
        assert len(answer.reason) <= 300


def flooding(start, more):
    """Build a reply that never ends: its start, and then more for ever."""

    def flood(handler, _):
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + start)
            while True:
                handler.wfile.write(more)
        except OSError:
            handler.close_connection = True

    return flood


# ---------------------------------------------------------------- servers that fail


async def failure(reply, **settings):
    with pytest.raises(DoorFailed) as failed:
        await answers(reply, **settings)
    assert "\n" not in str(failed.value)
    return str(failed.value)


async def test_an_address_where_nobody_listens_is_told():
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/bid"
    async with seated(url) as ask:
        with pytest.raises(DoorFailed, match=r"gives no answer \(ConnectError: .*; start it, or mend its addr") as one:
            await ask()
    assert url in str(one.value)


async def test_an_error_is_told_with_its_status_and_a_web_page_is_not_quoted():
    page = b"<html>\n<h1>Internal Server Error</h1></html>"
    told = await failure(sending(page, status=500, content_type="text/html; charset=utf-8"))
    assert told.endswith("/bid answers 500 Internal Server Error")
    told = await failure(sending(b'{"detail":\n "no such route"}', status=404))
    assert told.endswith("""answers 404 Not Found: '{"detail": "no such route"}'""")


async def test_a_redirect_is_not_followed_and_takes_no_key_along(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", KEY)
    visitors = []
    with serving(lambda handler, _: visitors.append(dict(handler.headers))) as there:
        told = await failure(sending(b"", status=307, location=there), api_key_env="AGENT_KEY")
    assert f"it is at {there!r}; give that address" in told
    assert visitors == []


async def test_no_piece_of_a_key_that_a_server_repeats_is_told(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", KEY)
    bad_key = sending(f"bad key ...{KEY[4:]}".encode(), status=401)
    for echo in (bad_key, sending(b"", status=302, location=f"http://127.0.0.1/?{KEY}")):
        told = await failure(echo, api_key_env="AGENT_KEY")
        assert "[redacted]" in told
        assert "DEF-123" not in told
    [answer] = await answers(sending(b"", content_type=f"text/{KEY}"), api_key_env="AGENT_KEY")
    assert "DEF-123" not in answer.reason


def break_off(handler, _):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
    handler.close_connection = True


async def test_what_is_no_reply_of_a_server_is_told_and_not_read_to_its_end():
    headers_without_an_end = flooding(b"", b"x-more: " + b"x" * 2**16 + b"\r\n")
    no_http = lambda handler, _: handler.wfile.write(b"\x00\xff hello\r\n\r\n")  # noqa: E731
    for reply in (break_off, no_http, headers_without_an_end):
        assert "RemoteProtocolError" in await failure(reply)


async def test_a_slow_server_can_be_given_up_and_asked_again():
    given_up, turns = Flag(), []

    def slow(handler, body):
        turns.append(json.loads(body)["turn"])
        if len(turns) == 1:
            break_off(handler, body)
            handler.wfile.flush()
            given_up.wait()
        else:
            send(handler, b'{"turn": 2, "words": "second"}')

    with serving(slow) as url:
        async with seated(url) as ask:
            first = asyncio.ensure_future(ask())
            while not turns:
                await asyncio.sleep(0)
            first.cancel()
            await asyncio.wait({first})
            assert first.cancelled()
            given_up.set()
            assert await ask() == "second"
