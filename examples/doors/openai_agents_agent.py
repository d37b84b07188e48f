"""An agent of the OpenAI Agents SDK in a seat: `agent = "openai_agents_agent:bid"`."""

from __future__ import annotations

from agents import Agent, Runner

agent = Agent("bidder", instructions="You bid at an auction for the highest profit.", model="gpt-4o-mini")


async def bid(turn: dict) -> dict:
    """Answer in words."""
    result = await Runner.run(agent, f"{turn['so_far']} {turn['words']}")
    used = result.context_wrapper.usage
    usage = {"model": f"openai:{agent.model}", "input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
    return {"words": result.final_output, "usage": [usage]}
