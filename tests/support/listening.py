"""A listener behind a door of each kind: it keeps the words that it hears, and acts as instructed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any

from harbor._config.agents import AgentCommand, AgentServer
from support.every_door import Policy, chain, client, speaker
from support.steady import Handler

RELAY = """
import sys
from urllib.request import urlopen
for line in sys.stdin:
    print(urlopen({url!r}, line.encode()).read().decode(), flush=True)
"""
"""A program that lets a server answer each line."""


class Listener:
    """Keeps, for each turn, all the words that it has heard so far."""

    def __init__(self, acts: Sequence[Mapping[str, Any]]) -> None:
        self.heard: list[str] = []
        self._acts = iter(acts)

    def __call__(self, turn: Mapping[str, Any]) -> dict[str, Any]:
        """Take a turn. A turn that does not repeat earlier words continues them."""
        before = turn.get("so_far", self.heard[-1] if self.heard else "")
        self.heard.append(f"{before} {turn['words']}".strip())
        return dict(next(self._acts))


def _conversation(answer: Policy) -> Any:
    """Make a graph that gets the whole conversation as a message."""
    from langgraph.graph import MessagesState, StateGraph

    def decide(state: MessagesState) -> dict[str, Any]:
        acted = answer({"so_far": "", "words": state["messages"][-1].text})
        return {"messages": [("ai", json.dumps(acted))]}

    made = StateGraph(MessagesState)
    made.add_node("decide", decide)
    made.set_entry_point("decide")
    made.set_finish_point("decide")
    return made.compile()


@contextmanager
def _server(answer: Policy) -> Iterator[AgentServer]:
    """Serve the answer on a free port."""

    class Listening(Handler):
        policy = staticmethod(answer)

    with ThreadingHTTPServer(("127.0.0.1", 0), Listening) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield AgentServer(url=f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()


@contextmanager
def _program(answer: Policy) -> Iterator[AgentCommand]:
    with _server(answer) as server:
        yield AgentCommand(command=(sys.executable, "-c", RELAY.format(url=server.url)))


LISTENING: dict[str, Callable[[Policy], AbstractContextManager[Any]]] = {
    "a function": nullcontext,
    "a chain": lambda answer: nullcontext(chain(answer)),
    "a conversation": lambda answer: nullcontext(_conversation(answer)),
    "an AutoGen agent": lambda answer: nullcontext(speaker(answer)),
    "a program": _program,
    "a server": _server,
    "an MCP client": lambda answer: nullcontext(client(answer)),
}
"""An agent behind each door. Each exists while its context is open."""
