"""An agent of the Microsoft Agent Framework in a seat: `agent = "agent_framework_agent:bid"`."""

from __future__ import annotations

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient

agent = Agent(OpenAIChatClient(model="gpt-4o-mini"), instructions="You bid at an auction for the highest profit.")


async def bid(turn: dict) -> dict:
    """Answer in words."""
    reply = await agent.run(f"{turn['so_far']} {turn['words']}")
    used = reply.usage_details
    tokens = {"input_tokens": used["input_token_count"], "output_tokens": used["output_token_count"]}
    return {"words": reply.text, "usage": [{"model": "openai:gpt-4o-mini", **tokens}]}
