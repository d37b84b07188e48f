"""A Pydantic AI agent in a seat: `agent = "pydantic_ai_agent:bid"`."""

from __future__ import annotations

from pydantic_ai import Agent, StructuredDict

MODEL = "openai:gpt-4o-mini"
agent = Agent(MODEL, instructions="You bid at an auction for the highest profit.")


async def bid(turn: dict) -> dict:
    """Answer in the turn's schema, in any game."""
    form = StructuredDict(turn["answer"]["anyOf"][0], name="answer")
    result = await agent.run(f"{turn['so_far']} {turn['words']}", output_type=form)
    used = result.usage
    usage = {"model": MODEL, "input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
    return {**result.output, "usage": [usage]}
