"""A third-party package with a model and an agent, and the user's settings that name them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

MODEL = """
from harbor import Model


def make(settings, seed):
    from harbor import SimulatedChat

    class Chatty(SimulatedChat):
        @property
        def _llm_type(self):
            return "chatty"

    return Chatty(seed=seed)


CHATTY = Model(name="chatty", description="the built-in model under another name", make=make)
SILENT = Model(name="silent", description="no chat model", make=lambda settings, seed: 3)
KEYLESS = Model(name="keyless", description="a model without its key", make=lambda settings, seed: settings.key)
HEADLESS = Model(name="headless", description="lacks what makes it")
"""
AGENT = """
import re

from harbor import Agent


def make(bidder):
    from autogen_agentchat.agents import BaseChatAgent
    from autogen_agentchat.base import Response
    from autogen_agentchat.messages import TextMessage

    class Clerk(BaseChatAgent):
        @property
        def produced_message_types(self):
            return (TextMessage,)

        async def on_messages(self, messages, cancellation_token):
            least = re.search(r"at least \\$([\\d,.]*\\d)", messages[-1].to_text())
            words = f"I bid ${least[1]}" if least else "Ready."
            return Response(chat_message=TextMessage(content=words, source="clerk"))

        async def on_reset(self, cancellation_token):
            pass

    return Clerk("clerk", bidder)


CLERK = Agent(name="clerk", description="bids the least it may", make=make)
GHOST = Agent(name="ghost", description="no agent", make=lambda bidder: bidder)
CLUMSY = Agent(name="clumsy", description="breaks", make=lambda bidder: 1 / 0)
"""
AUCTION = """
items = {{count = 2}}
[[bidders]]
name = "Ann"
{player}
[[bidders]]
name = "Ben"
rule = "minimum-raise"
"""
EXPERIMENT = """
name = "foreign"
title = "Models and agents of a stranger's"
question = "Do they play?"
source = "nobody"
repeats = 2
metrics = ["profit"]
auction.items = {{count = 2}}
[[auction.bidders]]
name = "Ann"
[[auction.bidders]]
name = "Ben"
rule = "minimum-raise"
[[arms]]
name = "model"
auction.bidders.Ann = {{ model = "{package}.chat:CHATTY" }}
[[arms]]
name = "agent"
auction.bidders.Ann = {{ agent = "{package}.clerk:CLERK" }}
"""


def package(folder: Path, name: str) -> str:
    """Write the package and return its name."""
    home = folder / name
    home.mkdir(parents=True)
    for file, text in {"__init__.py": "", "chat.py": MODEL, "clerk.py": AGENT}.items():
        (home / file).write_text(dedent(text), encoding="utf-8")
    return name
