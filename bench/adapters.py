"""The processor time of a turn of each agent in examples/doors: its package's, Harbor's, and no model's.

Run it with the packages of `make check-doors`: `.venv-doors/bin/python bench/adapters.py`.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, Popen
from time import process_time

from harbor._core.log.acts import Signal

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "doors")]
TURNS = 100
NAMES = ("plain_function:bid", "langchain_agent:agent", "pydantic_ai_agent:bid", "openai_agents_agent:bid")
SERVE = """import sys, pytest, support.adapters
with support.adapters.hosted(pytest.MonkeyPatch()) as server:
    print(server.openai_url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def hosted_elsewhere() -> Iterator[None]:
    """Serve as OpenAI in another process, whose time does not count."""
    with Popen([sys.executable, "-c", SERVE], stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT / "tests") as server:
        assert server.stdout
        os.environ |= {"OPENAI_BASE_URL": server.stdout.readline().strip(), "OPENAI_API_KEY": "nobody's"}
        os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
        yield
        server.communicate()


async def time_of_a_turn(agent: object) -> float:
    """Return the seconds of processor time of this process and of the agent's process, if it has one."""
    from harbor._core.asking.asks import Amount, Ask
    from harbor._doors.door import SeatTurns
    from harbor._doors.open_doors import open_door
    from harbor.events import BidderSeated, ItemOpened

    estimates = {"Vase": Decimal(440)}
    seen = (
        BidderSeated("Ann", Decimal(500), {}, "profit"),
        Signal("Ann", estimates, noisy=True),
        ItemOpened("Vase", Decimal(100), Decimal(10)),
    )
    turns, ask = SeatTurns("english", "s1"), Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
    door = open_door(agent)
    for _ in range(5):
        await door.ask(turns.of(ask, seen))
    before = process_time()
    for _ in range(TURNS):
        given = await door.ask(turns.of(ask, seen))
        assert "100" in str(given.answer), given
    spent = process_time() - before
    await door.close()
    return spent / TURNS + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime / TURNS


def main() -> None:
    """Print a line for each agent."""
    from harbor._config.agents import AgentCommand

    with hosted_elsewhere():
        for name in (*NAMES, "agent_framework_agent:bid"):
            module, _, member = name.partition(":")
            spent = asyncio.run(time_of_a_turn(getattr(import_module(module), member)))
            print(f"{name:32}{spent * 1000:8.1f} ms", flush=True)
        node = AgentCommand(command=("node", str(ROOT / "examples" / "doors" / "bidder.mjs")))
        print(f"{'bidder.mjs':32}{asyncio.run(time_of_a_turn(node)) * 1000:8.1f} ms")


if __name__ == "__main__":
    main()
