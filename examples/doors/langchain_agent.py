"""A LangChain agent with a tool, unchanged in a seat: `agent = "langchain_agent:agent"`."""

from __future__ import annotations

from langchain.agents import create_agent


def highest_sensible_bid(estimate: float, houses_left: int) -> float:
    """Tell how far to go for an item that is worth `estimate` to you."""
    return round(estimate * (0.95 if houses_left < 2 else 0.9))


RULES = "You bid at an auction for the highest profit. Use your tool, then answer in the form that you are asked for."
agent = create_agent("openai:gpt-4o-mini", tools=[highest_sensible_bid], system_prompt=RULES)
